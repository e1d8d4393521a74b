"""The port of a store that keeps what its files were: what one said at a time, and its versions.

It is an optional interface: a caller asks `isinstance(store, VersionedFiles)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple


class PastKind(Enum):
    FOUND = "found"
    ABSENT = "absent"  # there was no such file
    UNKNOWN = "unknown"  # nothing was recorded before `at_ns`
    THINNED = "thinned"  # what there was before `at_ns` had to go
    LOST = "lost"  # there was a version since `at_ns`, whose bytes are not kept


class PastFile(NamedTuple):
    """What a file was at a time. `at_ns`: since when, in ns since 1970."""

    kind: PastKind
    at_ns: int = 0
    revision: str = ""
    data: bytes | None = None


class VersionedFiles(ABC):
    @abstractmethod
    def keeps_versions(self, key: str) -> bool: ...

    @abstractmethod
    def version_at(self, key: str, at_ns: int) -> PastFile:
        """What a key was at a time, in ns since 1970: the version written last of those not after it."""

    @abstractmethod
    def versions(self, key: str) -> Iterator[tuple[int, str]]:
        """Time and revision of each version that is kept, newest first; revision "": it was removed then."""

    @abstractmethod
    def versioned_keys(self) -> Sequence[str]:
        """The keys of which there are versions, sorted; those of which nothing is left but versions, too."""

    @abstractmethod
    def see_version(self, key: str) -> bool:
        """Note what another program made of a key, as it is now; whether that was new."""
