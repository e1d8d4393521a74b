"""What keys a bucket has, kept by one watch of it: names, revisions and directories, and no contents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.storage.coalescing_watch import CoalescingWatch
from worldfs.storage.revision import PRIVATE_DIR
from worldfs.storage.store_interface import StoreChangeKind

from .write_history import START


class KeyHead(NamedTuple):
    """The last message of a key. `revision`: None of one that is deleted, "" of one that a foreign program wrote.

    `writes`: what the next message names as the writes before it.
    """

    seq: int
    revision: str | None = None
    size: int = 0
    writes: str = START

    @property
    def live(self) -> bool:
        return self.revision is not None


ABSENT_HEAD = KeyHead(0)


class BucketIndex:
    """Usable from many threads. A directory is there while something is below it, or while it is marked."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._heads: dict[str, KeyHead] = {}
        self._marks: dict[str, KeyHead] = {}
        self._below: dict[str, set[str]] = {"": set()}  # names directly below; directories end in "/"
        self._changed: dict[str, int] = {}  # directory → how often its names changed
        self._watches: list[CoalescingWatch] = []
        self._fresh: set[str] | None = None  # while the bucket is read anew: what was found

    # -- asked by the store ----------------------------------------------------------------------------------------

    def head(self, key: str) -> KeyHead:
        return self._heads.get(key, ABSENT_HEAD)

    def mark(self, prefix: str) -> KeyHead:
        return self._marks.get(prefix, ABSENT_HEAD)

    def token(self, key: str) -> str | None:
        with self._lock:
            found = self.head(key)
            if found.live:
                return str(found.seq)
            return f"d{self._changed.get(key, 0)}" if key in self._below else None

    def names(self, prefix: str) -> list[str]:
        with self._lock:
            if self.head(prefix).live:
                raise BadInput(coded("tree.no_directory"), path=prefix, op="list")
            names = sorted(self._below.get(prefix, ()))
            return names if prefix else [name for name in names if name != f"{PRIVATE_DIR}/"]

    def is_directory(self, key: str) -> bool:
        return key in self._below

    def keys(self, prefix: str) -> list[str]:
        """Every key below a prefix."""
        with self._lock:
            live = [key for key, head in self._heads.items() if head.live]
        return sorted(key for key in live if not prefix or key.startswith(f"{prefix}/"))

    def marked(self, prefix: str) -> list[str]:
        """The marked directories at or below a prefix."""
        with self._lock:
            live = [mark for mark, head in self._marks.items() if head.live]
        return sorted(mark for mark in live if mark == prefix or mark.startswith(f"{prefix}/"))

    def demand_file(self, key: str, op: str) -> None:
        """Raises `BadInput` for a directory, and for a key below a file."""
        with self._lock:
            if key in self._below:
                raise BadInput(coded("common.directory"), path=key, op=op, expected=coded("common.a_file"))
            above = key
            while above := above.rpartition("/")[0]:
                if self.head(above).live:
                    raise BadInput(coded("tree.no_directory"), path=above, op=op)

    # -- told by the watch and by our own writes -------------------------------------------------------------------

    def apply(self, key: str, head: KeyHead) -> None:
        """A message of a key, in whatever order it comes: the newest counts."""
        with self._lock:
            self._found(f"k{key}")
            before = self.head(key)
            if head.seq == before.seq and before.revision == "":
                self._heads[key] = head  # a foreign program's, now read whole
            if head.seq <= before.seq:
                return
            self._heads[key] = head
            above, _, name = key.rpartition("/")
            if head.live:
                self._grow(above)
                if name not in self._below[above]:
                    self._below[above].add(name)
                    self._count(above)
            elif before.live:
                self._shrink(above, name)
            if head.live or before.live:
                self._notify(key, StoreChangeKind.PUT if head.live else StoreChangeKind.DELETE)

    def forget(self, key: str) -> None:
        """The server has no message of it any more."""
        with self._lock:
            if (before := self._heads.pop(key, None)) is not None and before.live:
                above, _, name = key.rpartition("/")
                self._shrink(above, name)
                self._notify(key, StoreChangeKind.DELETE)

    def apply_mark(self, prefix: str, head: KeyHead) -> None:
        """A message of an empty directory's mark."""
        with self._lock:
            self._found(f"d{prefix}")
            before = self.mark(prefix)
            if head.seq <= before.seq:
                return
            self._marks[prefix] = head
            if head.live:
                self._grow(prefix)
            elif before.live:
                self._prune(prefix)

    def forget_mark(self, prefix: str) -> None:
        with self._lock:
            if (before := self._marks.pop(prefix, None)) is not None and before.live:
                self._prune(prefix)

    def touched(self, key: str) -> None:
        """Report a change of a key whose content is as before: its lease is free."""
        with self._lock:
            self._notify(key, StoreChangeKind.PUT)

    def begin(self) -> None:
        """The bucket is read again from here on: keys that are not found until `finish` are gone."""
        with self._lock:
            self._fresh = set()

    def finish(self) -> None:
        """Forget what has gone, and report a resync to every watch: changes may have been missed."""
        with self._lock:
            found, self._fresh = self._fresh or set(), None
            for key in [key for key in self._heads if f"k{key}" not in found]:
                self.forget(key)
            for prefix in [prefix for prefix in self._marks if f"d{prefix}" not in found]:
                self.forget_mark(prefix)
            for watch in self._watches:
                watch.resync()

    # -- watches ---------------------------------------------------------------------------------------------------

    def watch(self, prefixes: tuple[str, ...]) -> CoalescingWatch:
        watch = CoalescingWatch(prefixes, self._unwatch)
        with self._lock:
            self._watches.append(watch)
        return watch

    def watches(self) -> Iterator[CoalescingWatch]:
        with self._lock:
            return iter([*self._watches])

    def _unwatch(self, watch: CoalescingWatch) -> None:
        with self._lock:
            if watch in self._watches:
                self._watches.remove(watch)

    # -- inside, with the lock held --------------------------------------------------------------------------------

    def _found(self, what: str) -> None:
        if self._fresh is not None:
            self._fresh.add(what)

    def _grow(self, prefix: str) -> None:
        if prefix in self._below:
            return
        above, _, name = prefix.rpartition("/")
        self._grow(above)
        self._below[prefix] = set()
        self._below[above].add(f"{name}/")
        self._count(above)
        self._notify(prefix, StoreChangeKind.PUT, folder=True)

    def _shrink(self, above: str, name: str) -> None:
        self._below.get(above, set()).discard(name)
        self._count(above)
        self._prune(above)

    def _prune(self, prefix: str) -> None:
        while prefix and not self._below.get(prefix, True) and not self.mark(prefix).live:
            del self._below[prefix]
            above, _, name = prefix.rpartition("/")
            self._below[above].discard(f"{name}/")
            self._count(above)
            self._notify(prefix, StoreChangeKind.DELETE, folder=True)
            prefix = above

    def _count(self, prefix: str) -> None:
        self._changed[prefix] = self._changed.get(prefix, 0) + 1

    def _notify(self, key: str, kind: StoreChangeKind, *, folder: bool = False) -> None:
        for watch in self._watches:
            watch.notify(key, kind, folder=folder)
