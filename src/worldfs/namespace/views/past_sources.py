"""What is known of one path's past: by a log of versions, by times that the file carries, or by its last change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Protocol

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded
from worldfs.storage.dated_versions import DatedVersions
from worldfs.storage.plain_files import PlainFileInfo, PlainFiles
from worldfs.storage.store_interface import Store
from worldfs.storage.versioned_files import PastFile, PastKind, VersionedFiles
from worldfs.tree.verb_values import Stat

from ..past_time import NO_PAST, time_name

TICK_NS: Final = 10_000_000  # a file system's time of a change may be so much before the change
_REASONS: Final = {
    PastKind.UNKNOWN: "tree.past_unknown",
    PastKind.THINNED: "tree.past_thinned",
    PastKind.LOST: "tree.past_lost",
}


class PastSource(Protocol):
    """`stat` and `read` raise `NotFound` where there was no such file, `BadInput` where it is not known what it was."""

    def stat(self, at_ns: int) -> Stat: ...

    def read(self, at_ns: int) -> bytes: ...

    def times(self) -> Iterator[int]:
        """When it was changed, newest first, without removals."""
        ...


class VersionedPath(NamedTuple):
    """A path whose versions are kept, and where. `render`: makes a computed file of the document's version."""

    path: str
    store: VersionedFiles
    key: str
    render: Callable[[bytes], bytes] | None = None

    def stat(self, at_ns: int) -> Stat:
        return _stat(self._at(at_ns))

    def read(self, at_ns: int) -> bytes:
        return self._at(at_ns).data or b""

    def _at(self, at_ns: int) -> PastFile:
        past = _known(self.store.version_at(self.key, at_ns), self.path, at_ns)
        return past if self.render is None else past._replace(data=self.render(past.data or b""))

    def times(self) -> Iterator[int]:
        return (at for at, revision in self.store.versions(self.key) if revision)


class DatedPath(NamedTuple):
    """A computed file whose source carries its own times."""

    path: str
    versions: DatedVersions

    def stat(self, at_ns: int) -> Stat:
        return _stat(_known(self.versions.at(at_ns), self.path, at_ns))

    def read(self, at_ns: int) -> bytes:
        return _known(self.versions.at(at_ns), self.path, at_ns).data or b""

    def times(self) -> Iterator[int]:
        return self.versions.times()


class UnchangedPath(NamedTuple):
    """A file of which no versions are kept: it is what it was since the file system has last seen a change of it."""

    path: str
    store: Store
    key: str

    def stat(self, at_ns: int) -> Stat:
        info = self._info(at_ns)
        return Stat(False, info.size, mtime_ms=info.mtime_ms)

    def read(self, at_ns: int) -> bytes:
        info, stored = self._info(at_ns), self.store.get(self.key)
        if stored is None or self._info(at_ns) != info:  # changed while it was read
            raise self._unknown(at_ns)
        return stored.data

    def times(self) -> Iterator[int]:
        info = self._present()
        return iter(() if info is None else (info.changed_ns + TICK_NS,))

    def _info(self, at_ns: int) -> PlainFileInfo:
        info = self._present()
        if info is None or info.changed_ns + TICK_NS > at_ns:
            raise self._unknown(at_ns if info is None else info.changed_ns)
        return info

    def _present(self) -> PlainFileInfo | None:
        return self.store.info(self.key) if isinstance(self.store, PlainFiles) else None

    def _unknown(self, at_ns: int) -> BadInput:
        return BadInput(coded("tree.past_changed", time=time_name(at_ns)), path=self.path, op="read", code=NO_PAST)


def _known(past: PastFile, path: str, at_ns: int) -> PastFile:
    if past.kind is PastKind.FOUND:
        return past
    if past.kind is PastKind.ABSENT:
        raise NotFound(coded("tree.past_absent", time=time_name(at_ns)), path=path, op="read")
    raise BadInput(coded(_REASONS[past.kind], time=time_name(past.at_ns)), path=path, op="read", code=NO_PAST)


def _stat(past: PastFile) -> Stat:
    return Stat(False, len(past.data or b""), revision=past.revision, mtime_ms=past.at_ns // 1_000_000)
