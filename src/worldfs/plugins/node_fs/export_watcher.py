"""Changes in an exported directory: inotify on the directories that a peer has listed.

Only a directory that a peer has listed can be stale in its cache, so only those are watched, and their number is
bounded.
"""

from __future__ import annotations

import os
import select
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from .export_source import Invalidation
from .fs_errors import FsError

if TYPE_CHECKING:
    from inotify_simple import INotify

    from .directory_source import DirectorySource

WATCHED: Final = 4_096  # directories of an export
BUFFER: Final = 1 << 16
Tell = Callable[[Invalidation], None]


class ExportWatcher:
    """Inactive without listeners. Listeners are called in its thread and must not block."""

    def __init__(self, source: DirectorySource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._listeners: tuple[Tell, ...] = ()
        self._inotify: INotify | None = None
        self._bell = -1
        self._thread: threading.Thread | None = None
        self._folders: OrderedDict[int, int] = OrderedDict()  # node id → watch descriptor
        self._ids: dict[int, int] = {}  # and back
        self.able = hasattr(select, "poll") and hasattr(os, "eventfd")

    @property
    def running(self) -> bool:
        return self._inotify is not None

    def listen(self, callback: Tell) -> Callable[[], None]:
        with self._lock:
            self._listeners = (*self._listeners, callback)
            if self._inotify is None:
                self._start()

        def end() -> None:
            with self._lock:
                rest = list(self._listeners)
                if callback in rest:
                    rest.remove(callback)
                self._listeners = tuple(rest)
                last = not rest
            if last:
                self.close()

        return end

    def notify(self, stale: Invalidation) -> None:
        for one in self._listeners:
            one(stale)

    def watch_directory(self, id: int, fd: int) -> None:
        """Watch this directory, open here: a peer lists it."""
        if self._inotify is None:
            return
        with self._lock:
            if self._inotify is None:
                return
            if id in self._folders:
                self._folders.move_to_end(id)
                return
            try:
                wd = self._inotify.add_watch(f"/proc/self/fd/{fd}", _MASK)
            except OSError:  # no more watches for this user: fewer notifications, reads stay correct
                return
            self._folders[id], self._ids[wd] = wd, id
            while len(self._folders) > WATCHED:
                _, old = self._folders.popitem(last=False)
                self._ids.pop(old, None)
                with suppress(OSError):
                    self._inotify.rm_watch(old)

    def close(self) -> None:
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                os.eventfd_write(self._bell, 1)
        if thread is not None and thread is not threading.current_thread():
            thread.join(5)

    def stop(self) -> None:
        """For good."""
        self._listeners = ()
        self.close()

    # -- its thread ------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        from inotify_simple import INotify

        try:
            self._inotify = INotify(nonblocking=True)
        except OSError:  # no more inotify instances: changes by others are not notified
            return
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._thread = threading.Thread(
            target=self._run, args=(self._inotify, self._bell), name=f"watch {self._source.name}", daemon=True
        )
        self._thread.start()

    def _run(self, inotify: INotify, bell: int) -> None:
        from inotify_simple import parse_events

        poll = select.poll()
        poll.register(inotify.fileno(), select.POLLIN)
        poll.register(bell, select.POLLIN)
        try:
            while not any(fd == bell for fd, _ in poll.poll()):
                with suppress(BlockingIOError):
                    for event in parse_events(os.read(inotify.fileno(), BUFFER)):
                        for stale in self._on_event(event.wd, event.mask, event.name):
                            self.notify(stale)
        finally:
            with self._lock:
                inotify.close()
                os.close(bell)
                self._inotify = None
                self._folders.clear()
                self._ids.clear()
                if self._listeners:  # a listener was added meanwhile
                    self._start()

    def _on_event(self, wd: int, mask: int, name: str) -> list[Invalidation]:
        if mask & _OVERFLOW:
            return [Invalidation(id, True) for id in list(self._folders)]
        with self._lock:
            folder = self._ids.get(wd)
            if folder is None:
                return []
            if mask & _IGNORED:
                del self._ids[wd]
                self._folders.pop(folder, None)
                return []
        if not name:
            return [Invalidation(folder, True)]
        found = [Invalidation(folder, True)] if mask & _NAMES else []
        child = self._source.ids.at(folder, name)
        if child is not None:
            gen = None
            with suppress(FsError, OSError):
                gen = self._source.getattr(child.id).gen
            found.append(Invalidation(child.id, False, gen))
        return found


# linux/inotify.h; written out, so that this module starts where there is no inotify
_MODIFY, _ATTRIB, _CLOSE_WRITE, _FROM, _TO, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _OVERFLOW, _IGNORED, _ONLYDIR, _EXCL_UNLINK = 0x400, 0x4000, 0x8000, 0x1000000, 0x4000000
_NAMES = _FROM | _TO | _CREATE | _DELETE
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _NAMES | _DELETE_SELF | _ONLYDIR | _EXCL_UNLINK
