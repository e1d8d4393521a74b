"""The store on a disk: plain files below one directory, readable and writable by any other program."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from worldfs.base.clock import Clock, SystemClock
from worldfs.base.dir_reader import FEW_FOLDERS, OPEN_FOLDERS, DirEntryRef, check_path, path_error
from worldfs.base.durable import DRAFT, Disk, Root
from worldfs.base.errors import BadInput, Exists, NotFound, Unsafe, UserError, WorldError
from worldfs.base.file_lock import FileLock
from worldfs.base.messages import coded

from . import displaced_files, file_versions, trash
from .displaced_files import DisplacedFiles
from .file_versions import FileVersions
from .foreign_edits import ForeignEdits
from .lease import KERNEL_LEASE
from .plain_files import PlainFileInfo, PlainFiles
from .revision import PRIVATE_DIR, of
from .root_lock import RootLock
from .store_interface import ABSENT, ANY, Expected, Store, StoredValue, StoreWatch
from .swap import CompareAndSwap, SwapDrafts, file_at
from .trash import Trash
from .versioned_files import PastFile, VersionedFiles

LOCK = f"{PRIVATE_DIR}/store.lock"
SCRATCH = f"{PRIVATE_DIR}/drafts"
GROUP = 128  # drafts open at a time
OWN = (LOCK, SCRATCH, trash.HOME, displaced_files.HOME, file_versions.HOME, file_versions.REPLACED, KERNEL_LEASE)
_BELOW_OWN = tuple(f"{own}/" for own in OWN)


class DiskStore(Store, ForeignEdits, PlainFiles, VersionedFiles):
    """Keys are paths below `root`. Opening removes the temporary files of dead writers, and changes nothing else.

    `guarded`: keys that foreign programs edit (ACTION.md); every replacement of them, whatever it expects, keeps the
    old file until no program can write to it any more. Compare-and-swap does so for every key. Our own writes are
    stamped as such.
    `versioned`: keys of which every version is kept, as far as `history_bytes` allow.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        disk: Disk | None = None,
        *,
        guarded: Container[str] = frozenset(),
        versioned: Container[str] = frozenset(),
        history_bytes: int = file_versions.BUDGET,
        clock: Clock | None = None,
        few_files: bool = False,
    ) -> None:
        """`few_files`: keep few files open, because many stores are open at once."""
        self.disk = disk or Disk()
        self.clock = clock or SystemClock()
        self.root = Root(root, self.disk, scratch=SCRATCH, folders=FEW_FOLDERS if few_files else OPEN_FOLDERS)
        self.root.sweep()
        # compare and rename are one step among all stores of this root
        self.lock = FileLock(self.root, LOCK, kept=not few_files)
        self.guarded = guarded
        self.trash = Trash(self.root, self.clock)
        self.history = FileVersions(self.root, versioned, self.clock, history_bytes, few_files=few_files)
        self.aside = DisplacedFiles(self.root, guarded, self.trash, self.clock, self.history)
        self.swaps = CompareAndSwap(self.root, self.aside, guarded, self.lock, self.history)

    def close(self) -> None:
        with self.lock.mutex:
            self.lock.close()
            self.history.close()
            self.root.close()

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, key: str) -> StoredValue | None:
        check_path(key, op="read")
        try:
            place = self.root.locate(key)
            found = None if place is None else self.root.read_with_stat(place)
        except OSError as error:
            raise path_error(error, key, "read") from error
        if found is None:
            return None
        data, info = found
        revision = of(data)
        self.swaps.record_read(key, info, revision)
        return StoredValue(data, revision)

    def probe(self, key: str) -> str | None:
        check_path(key, op="stat")
        try:
            place = self.root.locate(key)
            info = None if place is None else self.root.status(place)
        except OSError as error:
            raise path_error(error, key, "stat") from error
        return None if info is None else f"{info.st_mtime_ns}.{info.st_size}.{info.st_ino}.{info.st_ctime_ns}"

    def list(self, prefix: str) -> list[str]:
        return _names(self.root, prefix, lambda entry: True)

    def present(self, prefix: str) -> Sequence[str]:
        return _names(self.root, prefix, _has_key)

    def is_directory(self, key: str) -> bool | None:
        try:
            check_path(key, op="stat")
            place = self.root.locate(key)
            info = None if place is None else self.root.status(place)
        except UserError:
            return None
        except OSError as error:
            if isinstance(wrong := path_error(error, key, "stat"), UserError):  # a file or a link is above it
                return None
            raise wrong from error
        return None if info is None else stat.S_ISDIR(info.st_mode)

    # -- writing ---------------------------------------------------------------------------------------------------

    def put(self, key: str, data: bytes, expect: Expected = ANY, *, durable: bool = True) -> str:
        self._check(key, "write")
        new = of(data)
        try:
            place = self.root.ensure_parent(key)
            before = file_at(self.root, place, "write")
            if self.history.keeps(key):
                self.swaps.put(place, data, before, expect, new)
            elif expect is ABSENT:
                if before is not None:
                    raise Exists(coded("tree.exists"), path=key, op="write")
                self.root.put_at(place, data, None, "new", stamp=self.swaps.stamp(key, new))
            elif expect is ANY and key not in self.guarded:
                self.root.put_at(place, data, before, "over", alone=lambda: self.lock)
            else:
                self.swaps.put(place, data, before, expect, new)
            self._settle([place] if durable else [])
        except FileExistsError:
            raise Exists(coded("tree.exists"), path=key, op="write") from None
        except OSError as error:
            raise path_error(error, key, "write") from error
        return new

    def ours(self, key: str) -> str | None:
        return self.root.stamp(key)

    def put_many(self, items: Iterable[tuple[str, bytes]]) -> Sequence[str | None]:
        rest = iter(items)
        made: list[str | None] = []
        while group := list(islice(rest, GROUP)):
            made += self._put_group(group)
        return made

    def swap_many(self, items: Sequence[tuple[str, bytes, Expected]], *, durable: bool = True) -> Sequence[str]:
        """Several compare-and-swaps that share their syncs: all drafts are written before the first rename.

        In order; each is all or nothing. `Conflict` at the first that changed: those before it are in place.
        `durable=False`: as for `put`.
        """
        return self.place_many(self.prepare_many(items), durable=durable)

    def prepare_many(self, items: Sequence[tuple[str, bytes, Expected]]) -> SwapDrafts:
        """The first part of `swap_many`: compare, write, start the sync. Then `place_many`, or `drop_many`."""
        drafts = SwapDrafts()
        key = ""
        try:
            for key, data, expect in items:
                self._check(key, "write")
                place = self.root.ensure_parent(key)
                self.swaps.write_draft(drafts, place, data, file_at(self.root, place, "write"), expect)
        except OSError as error:
            self.drop_many(drafts)
            raise path_error(error, key, "write") from error
        except Exception:
            self.drop_many(drafts)
            raise
        return drafts

    def finish_many(self, drafts: SwapDrafts) -> None:
        """The second part, for a caller that acts before the placing: the drafts are durable when it returns."""
        fds, drafts.fds = drafts.fds, []  # `finish` closes them in any case
        key = drafts.key
        try:
            self.root.finish([draft for draft, _ in drafts.begun] if fds else [], fds, begun=True)
        except OSError as error:
            self.drop_many(drafts)
            raise path_error(error, key, "write") from error

    def place_many(self, drafts: SwapDrafts, *, durable: bool = True) -> Sequence[str]:
        """The last part: what it raises, and whether it is durable, as `swap_many` says."""
        self.finish_many(drafts)
        begun, key = drafts.begun, ""
        places = [swap.place for _, swap in begun]
        try:
            revisions = []
            with self.lock:
                while begun:
                    draft, swap = begun.pop(0)
                    key = swap.place.path
                    self.swaps.replace(draft, swap)
                    revisions.append(swap.new)
            self._settle(places if durable else [])
            return revisions
        except OSError as error:
            raise path_error(error, key, "write") from error
        finally:
            self.drop_many(drafts)

    def drop_many(self, drafts: SwapDrafts) -> None:
        """Remove the drafts that were not placed."""
        for fd in drafts.fds:
            os.close(fd)
        for draft, _ in drafts.begun:
            self.root.drop(draft)
        drafts.fds, drafts.begun = [], []

    def _put_group(self, group: Sequence[tuple[str, bytes]]) -> Sequence[str | None]:
        for key, _ in group:
            self._check(key, "write")
        key = ""
        made: list[str | None] = [None] * len(group)
        wanted: list[tuple[int, DirEntryRef, bytes]] = []
        try:
            for index, (key, data) in enumerate(group):
                place = self.root.ensure_parent(key)
                if self.history.keeps(key):
                    with suppress(Exists):
                        made[index] = self.put(key, data, ABSENT)
                elif file_at(self.root, place, "write") is None:
                    wanted.append((index, place, data))
            done = self.root.put_group([(place, data) for _, place, data in wanted])
        except OSError as error:
            raise path_error(error, key, "write") from error
        for (index, _, data), new in zip(wanted, done, strict=True):
            if new:
                made[index] = of(data)
        return made

    def delete(self, key: str, expect: Expected = ANY, *, durable: bool = True) -> None:
        self._check(key, "delete")
        try:
            place = self.root.locate(key)
            info = None if place is None else file_at(self.root, place, "delete")
            if place is None or info is None:
                raise NotFound(coded("tree.no_file"), path=key, op="delete")
            with self.lock:
                if not durable:
                    self.disk.unlink(place.folder.fd, place.name, place.path)  # the store's own waste
                elif expect is ANY and key not in self.guarded and not self.history.keeps(key):
                    self.trash.discard(place, info.st_size)
                else:
                    self._take(place, expect)
            if durable:
                self.root.sync(place)
        except OSError as error:
            raise path_error(error, key, "delete") from error

    @property
    def directory(self) -> str:
        return self.root.path

    def info(self, key: str) -> PlainFileInfo | None:
        try:
            place = self.root.locate(key)
            info = None if place is None else self.root.status(place)
        except OSError as error:
            raise path_error(error, key, "stat") from error
        return None if info is None else PlainFileInfo(info.st_size, info.st_mtime_ns // 1_000_000, info.st_ctime_ns)

    def touch(self, key: str, mtime_ms: int) -> None:
        self._check(key, "touch")
        try:
            place = self.root.locate(key)
            fd = None if place is None else self.root.open(place)
            if fd is None:
                raise NotFound(coded("tree.no_file"), path=key, op="touch")
            try:
                self.disk.utime(fd, key, mtime_ms * 1_000_000)
            finally:
                os.close(fd)
        except OSError as error:
            raise path_error(error, key, "touch") from error

    def mkdir(self, prefix: str) -> None:
        self._check(prefix, "mkdir")
        try:
            place = self.root.ensure_parent(prefix)
            self.disk.mkdir(place.folder.fd, place.name, place.path, 0o755)
            self.root.sync(place)
        except FileExistsError:
            raise Exists(coded("tree.exists"), path=prefix, op="mkdir") from None
        except OSError as error:
            raise path_error(error, prefix, "mkdir") from error

    def rmdir(self, prefix: str) -> None:
        self._check(prefix, "remove")
        try:
            place = self.root.locate(prefix)
            if place is not None:
                with suppress(FileNotFoundError):
                    self.disk.rmdir(place.folder.fd, place.name, place.path)
                self.root.sync(place)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                raise BadInput(coded("tree.not_empty"), path=prefix, op="remove") from None
            raise path_error(error, prefix, "remove") from error

    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        self._check(source, "move")
        self._check(target, "move")
        if target.startswith(f"{source}/"):
            raise BadInput(coded("tree.into_itself"), path=target, op="move")
        try:
            old = self.root.locate(source)
            if old is None or self.root.status(old, "move") is None:
                raise NotFound(coded("tree.no_file"), path=source, op="move")
            new = self.root.ensure_parent(target)
            with self.lock:
                if self.root.lstat(new) is None:
                    self.history.note_move(source, target)
                self.root.rename(old, new, "new")
            if durable:
                self.root.sync(new, old)
        except FileExistsError:
            raise Exists(coded("tree.exists"), path=target, op="move") from None
        except OSError as error:
            raise path_error(error, source, "move") from error

    def append(self, key: str, data: bytes, *, durable: bool = True) -> None:
        self._check(key, "append")
        self.root.append(key, data, durable=durable)

    def reserve(self, key: str, size: int) -> None:
        self._check(key, "append")
        self.root.reserve(key, size)

    def lease(self, name: str, purpose: str = "", *, clock: Clock | None = None) -> RootLock:
        check_path(name, op="lease")
        return RootLock(self.root.path, purpose, clock=clock or self.clock, disk=self.disk, key=name)

    # -- versions --------------------------------------------------------------------------------------------------

    def keeps_versions(self, key: str) -> bool:
        return self.history.keeps(key)

    def version_at(self, key: str, at_ns: int) -> PastFile:
        check_path(key, op="read")
        try:
            return self.history.at(key, at_ns)
        except OSError as error:
            raise path_error(error, key, "read") from error

    def versions(self, key: str) -> Iterator[tuple[int, str]]:
        check_path(key, op="read")
        return self.history.newest_first(key)

    def versioned_keys(self) -> Sequence[str]:
        return self.history.keys()

    def see_version(self, key: str) -> bool:
        check_path(key, op="read")
        try:
            with self.lock:
                return self.history.keeps(key) and self.history.see(key)
        except OSError as error:
            raise path_error(error, key, "read") from error

    # -- watching --------------------------------------------------------------------------------------------------

    def watch(self, *prefixes: str, arrivals: Collection[str] = ()) -> StoreWatch:
        for prefix in prefixes:
            if prefix:
                check_path(prefix, op="watch")
        from .disk_watch import DiskWatch

        return DiskWatch(self, prefixes, arrivals)

    def displaced(self, key: str, *, keep: bool = False, young: bool = True) -> Sequence[bytes]:
        check_path(key, op="read")
        names = self.aside.names() if young else self.aside.settled(key)
        if not names:
            return ()
        with self.lock:
            for name in names:
                self.aside.review(name)
            found = self.aside.take(key)
            if not keep:
                self.aside.forget(key)
            return found

    def forget(self, key: str) -> None:
        with self.lock:
            self.aside.forget(key)

    def review_displaced(self, name: str | None) -> None:
        """Review one displaced file whose writer closed it, or all of them (None)."""
        if name is None and not self.aside.names():
            return
        with self.lock:
            for one in self.aside.names() if name is None else (name,):
                self.aside.review(one)

    # -- taking away -----------------------------------------------------------------------------------------------

    def _take(self, place: DirEntryRef, expect: Expected) -> None:
        found = self.root.read_at(place)
        self.swaps.compare(place, None if found is None else of(found), expect)
        if self.root.apart(place):
            return self.disk.unlink(place.folder.fd, place.name, place.path)
        at = self.history.next_time(place.path) if self.history.keeps(place.path) else 0
        aside = self.aside.new_entry(place.path, of(found or b""), "", at)
        try:
            self.root.rename(place, aside, "new")
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return self._take(place, expect)
        data, _ = self.aside.examine(aside)
        if isinstance(expect, str) and (data is None or of(data) != expect):
            try:
                self.root.rename(aside, place, "new")
            except FileExistsError:
                self.aside.finish(aside.name)
            raise self.swaps.changed(place, expect)
        if at:
            self.history.note(place.path, at, "", None, of(found or b""))
        self.aside.review(aside.name)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _settle(self, places: Collection[DirEntryRef]) -> None:
        """Make names durable, and then what waited for another sync: no failure of that is one of the write."""
        due = self.history.due()
        if places:
            self.root.sync(*places)
            self.root.settle_spares()
        if due:
            with suppress(OSError, WorldError), self.lock:
                self.history.settle()

    def settled_keys(self) -> set[str]:
        if self.aside.has_due():
            with self.lock:
                self.aside.review_due()
            self._settle([])
        return self.aside.settled_keys()

    def written_keys(self, since: int, *, alone: bool) -> set[str]:
        with self.lock:
            written = self.aside.written(since, alone=alone)
            return {self.aside.key(name) or "" for name in written if self.aside.review(name)}

    def _check(self, key: str, op: str) -> None:
        check_path(key, op=op)
        if key in OWN or key.startswith(_BELOW_OWN):
            raise Unsafe(coded("tree.reserved_key"), path=key, op=op, expected=coded("tree.other_key"))


def _names(root: Root, prefix: str, wanted: Callable[[os.DirEntry[str]], bool]) -> list[str]:
    """The names directly below a prefix, sorted; directories end in "/"."""
    if prefix:
        check_path(prefix, op="list")
    try:
        names = []
        with root.folder(prefix).scan() as entries:
            for entry in entries:
                name = entry.name
                if name[0] == "." and (DRAFT in name or (not prefix and name == PRIVATE_DIR)):
                    continue
                if wanted(entry):
                    names.append(f"{name}/" if entry.is_dir(follow_symlinks=False) else name)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise path_error(error, prefix, "list") from error
    names.sort()
    return names


def _has_key(entry: os.DirEntry[str]) -> bool:
    """Whether a key leads to what is there: a file or a directory, under a name that a path may have."""
    try:
        check_path(entry.name, op="list")
    except UserError:
        return False
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
