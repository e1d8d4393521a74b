"""Compare-and-swap against programs that take no lock: compare, *exchange* the new file with the old, examine
the old one, and put it back if it is not what was compared.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Container
from contextlib import suppress
from typing import NamedTuple

from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.durable import Root
from worldfs.base.errors import Conflict, Exists
from worldfs.base.file_lock import FileLock
from worldfs.base.messages import coded
from worldfs.base.syscalls import start_writeback

from .displaced_files import DisplacedFiles
from .file_versions import FileVersions
from .revision import of
from .store_interface import ABSENT, ANY, Expected

_Looks = tuple[int, int, int, int]


class PendingSwap(NamedTuple):
    """A pending swap: the stat of the old file, its revision, and the new content."""

    place: DirEntryRef
    seen: os.stat_result | None
    old: str | None
    data: bytes
    expect: Expected
    new: str


class SwapDrafts:
    """Swaps whose drafts are written: (draft, swap), and their open files."""

    def __init__(self) -> None:
        self.begun: list[tuple[DirEntryRef, PendingSwap]] = []
        self.fds: list[int] = []

    @property
    def key(self) -> str:
        """The key of the next one to be placed."""
        return self.begun[0][1].place.path if self.begun else ""


class CompareAndSwap:
    """`lock`: the store's, held around each exchange. `guarded`: keys whose files carry the store's stamp."""

    def __init__(
        self,
        root: Root,
        aside: DisplacedFiles,
        guarded: Container[str],
        lock: FileLock,
        versions: FileVersions,
    ) -> None:
        self.root, self.aside, self.guarded, self._lock, self._versions = root, aside, guarded, lock, versions
        self._last_reads: dict[str, tuple[_Looks, str]] = {}  # guarded keys as they were last read

    def record_read(self, key: str, info: os.stat_result, revision: str) -> None:
        """Record a file's stat and revision when it was read: while the stat is the same it is not read again."""
        if key in self.guarded:
            self._last_reads[key] = _looks(info), revision

    def stamp(self, key: str, revision: str) -> str:
        """The stamp of a file of that key, which marks it as written by this store."""
        return revision if key in self.guarded else ""

    def put(self, place: DirEntryRef, data: bytes, before: os.stat_result | None, expect: Expected, new: str) -> None:
        """Without the last sync. `before`: the stat of the old file. `Conflict`, `Exists`."""
        old = self._revision(place, before)
        self.compare(place, old, expect)  # early: a lost race should cost no fsync
        draft = self.root.draft(place, data, before, stamp=self.stamp(place.path, new))
        self.replace(draft, PendingSwap(place, before, old, data, expect, new))

    def write_draft(
        self, drafts: SwapDrafts, place: DirEntryRef, data: bytes, before: os.stat_result | None, expect: Expected
    ) -> None:
        """Write a draft, and start its sync."""
        old = self._revision(place, before)
        self.compare(place, old, expect)
        draft, fd = self.root.begin(place, before)
        drafts.fds.append(fd)
        swap = PendingSwap(place, before, old, data, expect, of(data))
        drafts.begun.append((draft, swap))
        self.root.fill(draft, fd, data)
        if place.path in self.guarded:
            self.root.disk.stamp(fd, swap.new.encode(), draft.path)
        start_writeback(fd)

    def _revision(self, place: DirEntryRef, seen: os.stat_result | None) -> str | None:
        """The revision of the present file; known without reading while its stat is as it was at the last read."""
        if seen is None:
            return None
        met = self._last_reads.get(place.path)
        if met is not None and met[0] == _looks(seen):
            return met[1]
        data = self.root.read_at(place)
        return None if data is None else of(data)

    def replace(self, draft: DirEntryRef, swap: PendingSwap) -> None:
        """Replace the old file by a finished draft, if it is still the one that was compared."""
        place, seen, old, _, expect, new = swap
        try:
            with self._lock:
                if not _same(seen, self.root.lstat(place)):
                    found = self.root.read_at(place)
                    old = None if found is None else of(found)
                    self.compare(place, old, expect)
                at = self._versions.next_time(place.path) if self._versions.keeps(place.path) else 0
                if old is None:
                    self.root.rename(draft, place, "new")
                else:
                    self._exchange(draft, swap, old, at)
                if at:
                    self._versions.note(place.path, at, new, swap.data, old)
                self.aside.review_due()
        except FileExistsError:
            self.root.drop(draft)
            return self._again(swap)  # a foreign program created it
        except OSError as error:
            self.root.drop(draft)
            if error.errno != errno.EXDEV:
                raise
            return self._again(swap)  # now with its draft in the same directory
        except Exception:
            self.root.drop(draft)
            raise
        self.root.disk.replaces += 1

    def _exchange(self, draft: DirEntryRef, swap: PendingSwap, old: str, at: int) -> None:
        """Exchange the draft with the present file, and check that this was the one compared."""
        place, expect, new = swap.place, swap.expect, swap.new
        here = self.root.apart(place)  # on another file system nothing can be displaced: exchange in place, and check
        aside = draft if here else self.aside.new_entry(place.path, old, new, at)
        if not here:
            try:
                self.root.rename(draft, aside)
            except FileNotFoundError:  # another program removed the directory
                aside = self.aside.new_entry(place.path, old, new, at, anew=True)
                self.root.rename(draft, aside)
        try:
            self.root.rename(aside, place, "swap")
        except OSError as error:
            if not here:
                self.root.rename(aside, draft)
            if error.errno == errno.ENOSYS:
                return self._replace_linked(draft, aside, place)
            if error.errno != errno.ENOENT:
                raise
            if expect is ANY:  # a foreign program removed it
                return self.root.rename(draft, place, "new")
            raise self.changed(place, expect) from None
        held = not here and self.aside.tracks(place.path)
        data, busy = self.aside.examine(aside, ask=not held)
        if data is not None and of(data) == old:
            if held:
                return self.aside.track(aside)
            if here and at:
                self._versions.sync(place.path)
            return self.root.drop(aside) if here else self.aside.release(aside, len(data), busy)
        if expect is ANY and not here:  # a foreign edit in this instant is reported by its writer's close, or here
            self.aside.review(aside.name)
            return
        # Our file was in place for an instant: a foreign write to it, or over it, is reported, not lost. A program that
        # read it may replace the edit without having seen it, so of guarded keys that is kept and reported as well.
        second = self.aside.second_name(aside, place.path, new) if held and data is not None else None
        self.root.rename(second or aside, place, "swap")
        if here:
            self.root.drop(aside)
        else:
            for name in (one.name for one in (second, aside) if one is not None):
                self.aside.review(name)
        raise self.changed(place, expect)

    def _replace_linked(self, draft: DirEntryRef, aside: DirEntryRef, place: DirEntryRef) -> None:
        """Without the exchanging rename: the old file gets a second name first. A foreign rename between the two
        calls goes unnoticed; a foreign edit of the old file does not."""
        if aside is not draft:
            with suppress(FileNotFoundError):  # a foreign program removed it
                self.root.link(place, aside)
        self.root.rename(draft, place, "over")
        if aside is not draft:
            self.aside.review(aside.name)

    def compare(self, place: DirEntryRef, found: str | None, expect: Expected) -> None:
        if expect is ABSENT and found is not None:
            raise Exists(coded("tree.exists"), path=place.path, op="write")
        if isinstance(expect, str) and found != expect:
            raise self.changed(place, expect)

    def changed(self, place: DirEntryRef, expect: Expected) -> Conflict:
        return Conflict(
            coded("tree.changed"),
            path=place.path,
            op="write",
            expected=coded("tree.revision", revision=str(expect)),
            fix=coded("tree.read_again"),
        )

    def _again(self, swap: PendingSwap) -> None:
        self.put(swap.place, swap.data, file_at(self.root, swap.place, "write"), swap.expect, swap.new)


def file_at(root: Root, place: DirEntryRef, op: str) -> os.stat_result | None:
    """The stat of the entry, if it is a file; `OSError` EISDIR for a directory."""
    info = root.status(place, op)
    if info is not None and stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return info


def _same(one: os.stat_result | None, two: os.stat_result | None) -> bool:
    """Whether a file's stat is unchanged. A write within one tick of the clock is missed here, not by the exchange."""
    if one is None or two is None:
        return one is two
    return _looks(one) == _looks(two)


def _looks(info: os.stat_result) -> _Looks:
    return info.st_ino, info.st_mtime_ns, info.st_size, info.st_ctime_ns
