"""The change feed of a disk store on Linux: inotify on directories, level-triggered, without any polling.

Reported: a file renamed into place, closed after writing, linked, removed; a directory made, moved, removed.
A file that a program has open for writing is *not* reported while it writes, only when it closes: half a file
should not be read. A program that never closes is therefore not reported (nor is one that writes through
a memory map); its bytes are read with the next change of that file. Lost events (queue overflow, unmount, a
watched directory moved away, created or removed) become `RESYNC` of the prefix.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from inotify_simple import flags

from worldfs.base.dir_reader import DirFd
from worldfs.base.durable import DRAFT
from worldfs.base.errors import StorageError, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.syscalls import has_writer

from .displaced_files import HOME, DisplacedFiles
from .inotify_hub import EventQueue, process_hub
from .revision import PRIVATE_DIR
from .store_interface import StoreChange, StoreChangeKind, StoreWatch
from .trash import encode
from .watch_scan import INOTIFY_LIMIT

if TYPE_CHECKING:
    from .disk_store import DiskStore

CAME: Final = int(flags.CLOSE_WRITE | flags.MOVED_TO | flags.CREATE)
GONE: Final = int(flags.MOVED_FROM | flags.DELETE)
SELF: Final = int(flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT | flags.IGNORED)
MASK: Final = int(CAME | GONE | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR | flags.EXCL_UNLINK)
MASK_ARRIVALS: Final = int(MASK & ~(GONE | flags.CLOSE_WRITE))
MASK_HOME: Final = int(MASK & ~(GONE | flags.CREATE))  # every swap passes there: only events that can matter
MASK_ABOVE: Final = int(flags.DELETE | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR | flags.EXCL_UNLINK)
_LIMITS = {
    errno.EMFILE: ("inotify instances", "sudo sysctl fs.inotify.max_user_instances=1024 (and see ulimit -n)"),
    errno.ENOSPC: ("inotify watches", "sudo sysctl fs.inotify.max_user_watches=524288"),
}


class LinuxWatch(StoreWatch):
    def __init__(self, store: DiskStore, prefixes: tuple[str, ...], arrivals: Collection[str] = ()) -> None:
        self._store, self._root = store, store.root
        self._prefixes = frozenset(prefixes)
        self._arrivals = set(arrivals)
        # No program edits what is private: a watch of nothing else need not wake whenever a sheet is rendered.
        home = () if all(prefix.startswith(f"{PRIVATE_DIR}/") for prefix in prefixes) else (HOME,)
        self._wanted = _with_ancestors((*prefixes, *home))
        self._heard = {*home, *prefixes, *(prefix.rpartition("/")[0] for prefix in prefixes)}
        self._reading = threading.Lock()
        self._closed = False
        self._armed: dict[int, str] = {}  # watch descriptor → directory
        self._changes: dict[str, StoreChangeKind] = {}
        self._events = EventQueue()
        try:
            self._hub = process_hub()
        except OSError as error:
            raise _limit(error) from error
        try:
            for prefix in prefixes:
                with suppress(FileNotFoundError, NotADirectoryError):
                    # A link on the path is refused now, not silently unwatched. One in the place of the file itself is
                    # reported when it is removed, and refused to each reader.
                    self._root.folder(prefix.rpartition("/")[0])
            self._arm()
        except BaseException:
            self.close()
            raise

    def read(self, timeout: float | None = None) -> Sequence[StoreChange]:
        until = None if timeout is None else self._store.clock.monotonic() + timeout
        with self._reading:
            while not self._closed:
                left = None if until is None else max(0.0, until - self._store.clock.monotonic())
                rung = self._listen(0 if self._changes else left)
                if self._changes or rung or left == 0:
                    break
            changes = [StoreChange(key, kind) for key, kind in self._changes.items()]
            self._changes.clear()
            return changes

    def wake(self) -> None:
        self._events.ring()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.wake()
        with self._reading:
            for wd in self._armed:
                self._hub.remove(self._events, wd)
            self._armed = {}

    # -- hearing ---------------------------------------------------------------------------------------------------

    def _listen(self, left: float | None) -> bool:
        """Wait and read the events; whether `wake` was called."""
        self._hub.hand_out()  # the hub's thread may not have got to it
        events, rung = self._events.take(left)
        shaken = False
        for event in events:
            shaken |= self._hear(event.wd, event.mask, event.name)
        if shaken and not self._closed:
            self._arm()
        return rung

    def _hear(self, wd: int, mask: int, name: str) -> bool:
        """Note one event; whether the watched directories themselves changed."""
        if mask & flags.Q_OVERFLOW:
            for prefix in self._prefixes:
                self._note(prefix, StoreChangeKind.RESYNC)
            return True
        folder = self._armed.get(wd)
        if folder is None:
            return False
        if mask & SELF:
            if mask & flags.IGNORED:
                del self._armed[wd]
            self._resync(folder)
            return True
        key = f"{folder}/{name}" if folder else name
        if folder == HOME:
            self._hear_displaced(mask, name)
        if mask & flags.CREATE and folder in self._arrivals and DRAFT not in name:
            self._arrivals.discard(folder)  # a program writes there in place: from now on its closing is heard, too
            self._arm()
        if mask & flags.ISDIR and key in self._wanted:
            self._resync(key)
            if folder in self._prefixes and key not in self._prefixes and key != PRIVATE_DIR:
                self._note(key, StoreChangeKind.DELETE if mask & GONE else StoreChangeKind.PUT)
            return True
        if (folder in self._prefixes or key in self._prefixes) and DRAFT not in name:
            if mask & GONE:  # an exchange says "gone" of a name that is there
                self._note(key, StoreChangeKind.PUT if self._there(key) else StoreChangeKind.DELETE)
            elif not mask & flags.CREATE or mask & flags.ISDIR or not self._being_written(key):
                self._note(key, StoreChangeKind.PUT)
        return False

    def _hear_displaced(self, mask: int, name: str) -> None:
        if name.startswith("+"):
            if mask & (flags.MOVED_TO | flags.CLOSE_WRITE):
                self._note_displaced(name)
        elif mask & flags.CLOSE_WRITE:
            with suppress(WorldError, OSError):  # it stays, and is reviewed at the next start
                self._store.review_displaced(name)

    def _note_displaced(self, name: str) -> None:
        key = DisplacedFiles.key(name) or next((p for p in self._prefixes if name.endswith(f".{encode(p)}")), None)
        if key is not None and (key in self._prefixes or key.rpartition("/")[0] in self._prefixes):
            self._note(key, StoreChangeKind.DISPLACED)

    def _note(self, key: str, kind: StoreChangeKind) -> None:
        """Keep the strongest kind for a key since the last `read`; displaced and resync override the others."""
        if (
            self._changes.get(key) not in (StoreChangeKind.RESYNC, StoreChangeKind.DISPLACED)
            or kind is StoreChangeKind.DISPLACED
        ):
            self._changes[key] = kind

    def _resync(self, folder: str) -> None:
        for prefix in self._prefixes:
            if prefix == folder or not folder or prefix.startswith(f"{folder}/"):
                self._note(prefix, StoreChangeKind.RESYNC)

    def _there(self, key: str) -> bool:
        try:
            place = self._root.locate(key)
            return place is not None and self._root.lstat(place) is not None
        except (OSError, UserError):
            return False

    def _being_written(self, key: str) -> bool:
        """Whether a new name is a file still being written (its close follows), not a link to a finished one."""
        try:
            place = self._root.locate(key)
            fd = None if place is None else self._root.open(place)
        except (OSError, UserError):
            return False  # the reader reports the error
        if fd is None:
            return False
        try:
            return has_writer(fd) is True
        finally:
            os.close(fd)

    # -- arming ----------------------------------------------------------------------------------------------------

    def _arm(self) -> None:
        """Watch every wanted directory that exists, parents first, so that a child made meanwhile is heard.

        One in which nothing else is wanted is then watched for its loss alone, so that work in it wakes nobody: each
        wanted directory in it is there and watched itself, and holds another one, so that none can be put over it.
        """
        fresh: dict[int, str] = {}
        folders: dict[str, DirFd] = {}
        for path in self._wanted:
            try:
                folder = self._root.folder(path)
                mask = MASK_HOME if path == HOME else MASK_ARRIVALS if path in self._arrivals else MASK
                wd = self._hub.add(self._events, f"/proc/self/fd/{folder.fd}", mask)
            except (FileNotFoundError, NotADirectoryError, UserError):
                continue
            except OSError as error:
                if error.errno in _LIMITS:
                    raise _limit(error) from error
                raise StorageError(error.strerror or str(error), path=path, op="watch") from error
            fresh[wd], folders[path] = path, folder
        for path in folders.keys() - self._heard:
            within = [child for child in self._wanted if child and child.rpartition("/")[0] == path]
            if all(child in folders and any(above.startswith(f"{child}/") for above in folders) for child in within):
                self._hub.add(self._events, f"/proc/self/fd/{folders[path].fd}", MASK_ABOVE)
        for wd in self._armed.keys() - fresh.keys():
            self._hub.remove(self._events, wd)
        found = HOME in fresh.values() and HOME not in self._armed.values()
        self._armed = fresh
        if found:
            with suppress(WorldError, OSError):
                self._store.review_displaced(None)
            for name in self._store.aside.names():
                if name.startswith("+"):
                    self._note_displaced(name)


def _with_ancestors(paths: tuple[str, ...]) -> list[str]:
    wanted = {""}
    for path in paths:
        while path:
            wanted.add(path)
            path = path.rpartition("/")[0]  # noqa: PLW2901 - walking up is the point
    return sorted(wanted, key=lambda path: (path.count("/") + bool(path), path))


def _limit(error: OSError) -> StorageError:
    what, fix = _LIMITS.get(error.errno or 0, ("inotify", ""))
    return StorageError(
        coded("tree.inotify_limit", what=what, why=error.strerror), op="watch", fix=fix, code=INOTIFY_LIMIT
    )
