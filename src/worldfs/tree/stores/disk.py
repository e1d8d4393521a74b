"""The store on a disk: plain files below one directory, readable and writable by any other program."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice

from worldfs.ground.durable import DRAFT, Disk, Root
from worldfs.ground.errors import BadInput, Exists, NotFound, Unsafe
from worldfs.ground.walk import Place, check, refuse

from . import displaced, trash
from .contract import ABSENT, ANY, Expected, Store, Stored, Watch
from .displaced import Displaced
from .revision import KEPT, of
from .swap import Drafts, Swaps, file_at
from .trash import Trash

LOCK = f"{KEPT}/store.lock"
SCRATCH = f"{KEPT}/drafts"
GROUP = 128  # drafts open at a time
OWN = (LOCK, SCRATCH, trash.HOME, displaced.HOME, f"{KEPT}/kernel.lock")
_BELOW_OWN = tuple(f"{own}/" for own in OWN)


class DiskStore(Store):
    """Keys are paths below `root`. Opening changes nothing but the temporaries of writers that are dead.

    `guarded`: keys that foreign programs edit (ACTION.md); every replacement of them, whatever it expects, keeps the
    old file until nobody can write to it any more. Compare-and-swap does so for every key. What we write there is
    stamped as ours.
    """

    def __init__(
        self, root: str | os.PathLike[str], disk: Disk | None = None, *, guarded: Container[str] = frozenset()
    ) -> None:
        self.disk = disk or Disk()
        self.root = Root(root, self.disk, scratch=SCRATCH)
        self.root.sweep()
        self.guarded = guarded
        self.trash = Trash(self.root)
        self.aside = Displaced(self.root, guarded, self.trash)
        self.swaps = Swaps(self.root, self.aside, guarded, self._alone)
        self._mutex = threading.RLock()
        self._lock_fd = -1
        self._lock_pid = 0
        self._depth = 0

    def close(self) -> None:
        with self._mutex:
            if self._lock_fd >= 0:
                os.close(self._lock_fd)
                self._lock_fd = -1
            self.root.close()

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, key: str) -> Stored | None:
        check(key, op="read")
        try:
            place = self.root.place(key)
            found = None if place is None else self.root.met_at(place)
        except OSError as error:
            raise refuse(error, key, "read") from error
        if found is None:
            return None
        data, info = found
        revision = of(data)
        self.swaps.met(key, info, revision)
        return Stored(data, revision)

    def probe(self, key: str) -> str | None:
        check(key, op="stat")
        try:
            place = self.root.place(key)
            info = None if place is None else self.root.status(place)
        except OSError as error:
            raise refuse(error, key, "stat") from error
        return None if info is None else f"{info.st_mtime_ns}.{info.st_size}.{info.st_ino}.{info.st_ctime_ns}"

    def list(self, prefix: str) -> list[str]:
        if prefix:
            check(prefix, op="list")
        try:
            names = []
            with self.root.folder(prefix).scan() as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == "." and (DRAFT in name or (not prefix and name == KEPT)):
                        continue
                    names.append(f"{name}/" if entry.is_dir(follow_symlinks=False) else name)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise refuse(error, prefix, "list") from error
        names.sort()
        return names

    # -- writing ---------------------------------------------------------------------------------------------------

    def put(self, key: str, data: bytes, expect: Expected = ANY, *, durable: bool = True) -> str:
        self._check(key, "write")
        new = of(data)
        try:
            place = self.root.room(key)
            before = file_at(self.root, place, "write")
            if expect is ABSENT:
                if before is not None:
                    raise Exists("already there", path=key, op="write")
                self.root.put_at(place, data, None, "new", stamp=self.swaps.stamp(key, new))
            elif expect is ANY and key not in self.guarded:
                self.root.put_at(place, data, before, "over", alone=self._alone)
            else:
                self.swaps.put(place, data, before, expect, new)
            if durable:
                self.root.sync(place)
                self.root.settle_spares()
        except FileExistsError:
            raise Exists("already there", path=key, op="write") from None
        except OSError as error:
            raise refuse(error, key, "write") from error
        return new

    def ours(self, key: str) -> str | None:
        """The revision that a guarded key had when we wrote it; None: another program replaced it, or nothing tells.

        While it is the revision of the content, the content is our last write, whatever else the power took away.
        """
        return self.root.stamp(key)

    def put_many(self, items: Iterable[tuple[str, bytes]]) -> Sequence[str | None]:
        rest = iter(items)
        made: list[str | None] = []
        while group := list(islice(rest, GROUP)):
            made += self._put_group(group)
        return made

    def swap_many(self, items: Sequence[tuple[str, bytes, Expected]], *, durable: bool = True) -> Sequence[str]:
        """Several compare-and-swaps that share their waiting for the disk: all drafts before the first rename.

        In order; each is all or nothing. `Conflict` at the first that changed: those before it are in place.
        `durable=False`: as for `put`.
        """
        return self.place_many(self.prepare_many(items), durable=durable)

    def prepare_many(self, items: Sequence[tuple[str, bytes, Expected]]) -> Drafts:
        """The first part of `swap_many`: compared and written, the disk at work. Then `place_many`, or `drop_many`."""
        drafts = Drafts()
        key = ""
        try:
            for key, data, expect in items:
                self._check(key, "write")
                place = self.root.room(key)
                self.swaps.begin(drafts, place, data, file_at(self.root, place, "write"), expect)
        except OSError as error:
            self.drop_many(drafts)
            raise refuse(error, key, "write") from error
        except Exception:
            self.drop_many(drafts)
            raise
        return drafts

    def finish_many(self, drafts: Drafts) -> None:
        """The second part, for who must do something before they are placed: what was written is durable."""
        fds, drafts.fds = drafts.fds, []  # `finish` closes them, whatever happens
        key = drafts.key
        try:
            self.root.finish([draft for draft, _ in drafts.begun] if fds else [], fds, begun=True)
        except OSError as error:
            self.drop_many(drafts)
            raise refuse(error, key, "write") from error

    def place_many(self, drafts: Drafts, *, durable: bool = True) -> Sequence[str]:
        """The last part: what it raises, and whether it is durable, as `swap_many` says."""
        self.finish_many(drafts)
        begun, key = drafts.begun, ""
        places = [swap.place for _, swap in begun]
        try:
            revisions = []
            while begun:
                draft, swap = begun.pop(0)
                key = swap.place.path
                self.swaps.place(draft, swap)
                revisions.append(swap.new)
            if durable:
                self.root.sync(*places)
                self.root.settle_spares()
            return revisions
        except OSError as error:
            raise refuse(error, key, "write") from error
        finally:
            self.drop_many(drafts)

    def drop_many(self, drafts: Drafts) -> None:
        """Forget what has not taken its place."""
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
        wanted: list[tuple[int, Place, bytes]] = []
        try:
            for index, (key, data) in enumerate(group):
                place = self.root.room(key)
                if file_at(self.root, place, "write") is None:
                    wanted.append((index, place, data))
            done = self.root.put_group([(place, data) for _, place, data in wanted])
        except OSError as error:
            raise refuse(error, key, "write") from error
        for (index, _, data), new in zip(wanted, done, strict=True):
            if new:
                made[index] = of(data)
        return made

    def delete(self, key: str, expect: Expected = ANY, *, durable: bool = True) -> None:
        self._check(key, "delete")
        try:
            place = self.root.place(key)
            info = None if place is None else file_at(self.root, place, "delete")
            if place is None or info is None:
                raise NotFound("no such file", path=key, op="delete")
            with self._alone():
                if not durable:
                    self.disk.unlink(place.folder.fd, place.name, place.path)  # our own waste: nobody will miss it
                elif expect is ANY and key not in self.guarded:
                    self.trash.take(place, info.st_size)
                else:
                    self._take(place, expect)
            if durable:
                self.root.sync(place)
        except OSError as error:
            raise refuse(error, key, "delete") from error

    def mtime_ms(self, key: str) -> int:
        try:
            place = self.root.place(key)
            info = None if place is None else self.root.status(place)
        except OSError as error:
            raise refuse(error, key, "stat") from error
        return 0 if info is None else info.st_mtime_ns // 1_000_000

    def touch(self, key: str, mtime_ms: int) -> bool:
        self._check(key, "touch")
        try:
            place = self.root.place(key)
            fd = None if place is None else self.root.open(place)
            if fd is None:
                raise NotFound("no such file", path=key, op="touch")
            try:
                self.disk.utime(fd, key, mtime_ms * 1_000_000)
            finally:
                os.close(fd)
        except OSError as error:
            raise refuse(error, key, "touch") from error
        return True

    def mkdir(self, prefix: str) -> None:
        self._check(prefix, "mkdir")
        try:
            place = self.root.room(prefix)
            self.disk.mkdir(place.folder.fd, place.name, place.path, 0o755)
            self.root.sync(place)
        except FileExistsError:
            raise Exists("already there", path=prefix, op="mkdir") from None
        except OSError as error:
            raise refuse(error, prefix, "mkdir") from error

    def rmdir(self, prefix: str) -> None:
        self._check(prefix, "remove")
        try:
            place = self.root.place(prefix)
            if place is not None:
                with suppress(FileNotFoundError):
                    self.disk.rmdir(place.folder.fd, place.name, place.path)
                self.root.sync(place)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                raise BadInput("the directory is not empty", path=prefix, op="remove") from None
            raise refuse(error, prefix, "remove") from error

    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        self._check(source, "move")
        self._check(target, "move")
        if target.startswith(f"{source}/"):
            raise BadInput("a target inside what is moved", path=target, op="move")
        try:
            old = self.root.place(source)
            if old is None or self.root.status(old, "move") is None:
                raise NotFound("no such file", path=source, op="move")
            new = self.root.room(target)
            with self._alone():
                self.root.rename(old, new, "new")
            if durable:
                self.root.sync(new, old)
        except FileExistsError:
            raise Exists("already there", path=target, op="move") from None
        except OSError as error:
            raise refuse(error, source, "move") from error

    def append(self, key: str, data: bytes, *, durable: bool = True) -> None:
        self._check(key, "append")
        self.root.append(key, data, durable=durable)

    # -- watching --------------------------------------------------------------------------------------------------

    def watch(self, *prefixes: str) -> Watch:
        for prefix in prefixes:
            if prefix:
                check(prefix, op="watch")
        if hasattr(os, "eventfd"):  # Linux; nowhere else is there inotify
            from .watch_linux import LinuxWatch

            return LinuxWatch(self, prefixes)
        from .watch_scan import ScanWatch

        return ScanWatch(self, prefixes)

    def displaced(self, key: str, *, keep: bool = False, young: bool = True) -> Sequence[bytes]:
        check(key, op="read")
        names = self.aside.names() if young else self.aside.rested(key)
        if not names:
            return ()
        with self._alone():
            for name in names:
                self.aside.settle(name)
            found = self.aside.hand_out(key)
            if not keep:
                self.aside.forget(key)
            return found

    def forget(self, key: str) -> None:
        with self._alone():
            self.aside.forget(key)

    def settle(self, name: str | None) -> None:
        """Look again at one displaced file, now that a writer closed it, or at all of them."""
        if name is None and not self.aside.names():
            return
        with self._alone():
            for one in self.aside.names() if name is None else (name,):
                self.aside.settle(one)

    # -- taking away -----------------------------------------------------------------------------------------------

    def _take(self, place: Place, expect: Expected) -> None:
        found = self.root.read_at(place)
        self.swaps.compare(place, None if found is None else of(found), expect)
        if self.root.apart(place):
            return self.disk.unlink(place.folder.fd, place.name, place.path)
        aside = self.aside.place(place.path, of(found or b""), "")
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
        return self.aside.settle(aside.name)

    # -- inside ----------------------------------------------------------------------------------------------------

    def rested(self) -> set[str]:
        """The keys of which `displaced(key, young=False)` may have something."""
        if self.aside.aged():
            with self._alone():
                self.aside.let_go()
        return self.aside.rested_keys()

    def _check(self, key: str, op: str) -> None:
        check(key, op=op)
        if key in OWN or key.startswith(_BELOW_OWN):
            raise Unsafe("a place that the store keeps for itself", path=key, op=op, expected="another key")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Compare and rename as one, among all who write through a DiskStore, in this and in other processes."""
        with self._mutex:
            if self._depth == 0:
                fcntl.flock(self._lock(), fcntl.LOCK_EX)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0 and self._lock_fd >= 0:
                    fcntl.flock(self._lock_fd, fcntl.LOCK_UN)

    def _lock(self) -> int:
        if self._lock_fd < 0 or self._lock_pid != os.getpid():  # a forked child must not share its parent's lock
            self._lock_fd = self.root.lock_file(LOCK)
            self._lock_pid = os.getpid()
        return self._lock_fd
