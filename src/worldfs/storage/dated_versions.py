"""The versions of one file whose source carries its own times, so that no log of versions is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .revision import of
from .versioned_files import PastFile, PastKind


class DatedVersion(NamedTuple):
    """What the file says since `at_ns`. `render` None: that is not known."""

    at_ns: int
    render: Callable[[], bytes] | None


class DatedVersions:
    """`versions`: in the order in which they were written. Before the first there was no file."""

    def __init__(self, versions: Sequence[DatedVersion]) -> None:
        self._versions = versions

    def at(self, at_ns: int) -> PastFile:
        """The version written last of those not after it: a clock that went back hides nothing that came later."""
        for version in reversed(self._versions):
            if version.at_ns <= at_ns:
                if version.render is None:
                    return PastFile(PastKind.LOST, version.at_ns)
                data = version.render()
                return PastFile(PastKind.FOUND, version.at_ns, of(data), data)
        return PastFile(PastKind.ABSENT, self._versions[0].at_ns if self._versions else 0)

    def times(self) -> Iterator[int]:
        """When it was changed, newest first; several changes of one instant are one."""
        last = None
        for version in reversed(self._versions):
            if version.at_ns != last:
                yield (last := version.at_ns)
