"""The store in memory: the contract without a disk, for tests and for worlds that are not kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection
from datetime import datetime
from types import TracebackType
from typing import Self

from worldfs.base.clock import Clock, SystemClock
from worldfs.base.dir_reader import check_path
from worldfs.base.errors import BadInput, Conflict, Exists, NotFound
from worldfs.base.messages import coded

from .coalescing_watch import CoalescingWatch
from .lease import busy, this_holder
from .revision import PRIVATE_DIR, of
from .store_interface import ABSENT, ANY, Expected, Store, StoreChangeKind, StoredValue, StoreWatch


class MemoryStore(Store):
    """Thread-safe; a revision is the hash of the content, as on disk."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or SystemClock()
        self._lock = threading.RLock()
        self._holders: dict[str, dict[str, object]] = {}  # of the leases that are held
        self._files: dict[str, bytes] = {}
        self._folders: dict[str, set[str]] = {"": set()}  # names directly below; directories end in "/"
        self._watches: list[CoalescingWatch] = []
        self._tokens: dict[str, int] = {}
        self._count = 0

    def get(self, key: str) -> StoredValue | None:
        check_path(key, op="read")
        with self._lock:
            data = self._files.get(key)
            if data is None:
                self._no_folder(key, "read")
                return None
            return StoredValue(data, of(data))

    def probe(self, key: str) -> str | None:
        check_path(key, op="stat")
        with self._lock:
            token = self._tokens.get(key)
            return None if token is None else str(token)

    def list(self, prefix: str) -> list[str]:
        if prefix:
            check_path(prefix, op="list")
        with self._lock:
            if prefix in self._files:
                raise BadInput(coded("tree.no_directory"), path=prefix, op="list")
            names = sorted(self._folders.get(prefix, ()))
            return names if prefix else [name for name in names if name != f"{PRIVATE_DIR}/"]

    def mkdir(self, prefix: str) -> None:
        check_path(prefix, op="mkdir")
        with self._lock:
            if prefix in self._files or prefix in self._folders:
                raise Exists(coded("tree.exists"), path=prefix, op="mkdir")
            self._grow(prefix, folder=True)
            self._folders[prefix] = set()
            self._notify(prefix, StoreChangeKind.PUT, folder=True)

    def rmdir(self, prefix: str) -> None:
        super().rmdir(prefix)
        with self._lock:
            if prefix and self._folders.pop(prefix, None) is not None:
                above, _, name = prefix.rpartition("/")
                self._folders[above].discard(f"{name}/")

    def put(self, key: str, data: bytes, expect: Expected = ANY, *, durable: bool = True) -> str:
        check_path(key, op="write")
        with self._lock:
            found = self._files.get(key)
            self._compare(key, found, expect)
            self._no_folder(key, "write")
            self._grow(key)
            self._files[key] = bytes(data)
            self._notify(key, StoreChangeKind.PUT)
            return of(data)

    def delete(self, key: str, expect: Expected = ANY, *, durable: bool = True) -> None:
        check_path(key, op="delete")
        with self._lock:
            found = self._files.get(key)
            if found is None:
                self._no_folder(key, "delete")
                raise NotFound(coded("tree.no_file"), path=key, op="delete")
            self._compare(key, found, expect)
            del self._files[key]
            self._drop(key)
            self._notify(key, StoreChangeKind.DELETE)

    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        check_path(source, op="move")
        check_path(target, op="move")
        with self._lock:
            if source not in self._files and source not in self._folders:
                raise NotFound(coded("tree.no_file"), path=source, op="move")
            if target in self._files or target in self._folders:
                raise Exists(coded("tree.exists"), path=target, op="move")
            if target.startswith(f"{source}/"):
                raise BadInput(coded("tree.into_itself"), path=target, op="move")
            folder = source in self._folders
            self._grow(target, folder=folder)
            self._drop(source, folder=folder)
            for old in [k for k in self._files if k == source or k.startswith(f"{source}/")]:
                self._files[target + old[len(source) :]] = self._files.pop(old)
            for old in [k for k in self._folders if k == source or k.startswith(f"{source}/")]:
                self._folders[target + old[len(source) :]] = self._folders.pop(old)
            for old in [k for k in self._tokens if k.startswith(f"{source}/")]:
                self._tokens[target + old[len(source) :]] = self._tokens.pop(old)
            self._notify(source, StoreChangeKind.DELETE, folder=folder)
            self._notify(target, StoreChangeKind.PUT, folder=folder)

    def append(self, key: str, data: bytes, *, durable: bool = True) -> None:
        check_path(key, op="append")
        with self._lock:
            self._no_folder(key, "append")
            self._grow(key)
            self._files[key] = self._files.get(key, b"") + data
            self._notify(key, StoreChangeKind.PUT)

    def watch(self, *prefixes: str, arrivals: Collection[str] = ()) -> StoreWatch:
        for prefix in prefixes:
            if prefix:
                check_path(prefix, op="watch")
        watch = CoalescingWatch(prefixes, self.unwatch)
        with self._lock:
            self._watches.append(watch)
        return watch

    def lease(self, name: str, purpose: str = "", *, clock: Clock | None = None) -> MemoryLease:
        check_path(name, op="lease")
        return MemoryLease(self, name, purpose, clock or self.clock)

    def close(self) -> None:
        with self._lock:
            for watch in self._watches:
                watch.wake()

    # -- for its leases --------------------------------------------------------------------------------------------

    def take_lease(self, name: str, holder: dict[str, object]) -> dict[str, object] | None:
        """None: `holder` has it now. Else the one that has it."""
        with self._lock:
            if (found := self._holders.get(name)) is not None:
                return found
            self.put(name, json.dumps(holder).encode() + b"\n")
            self._holders[name] = holder
        return None

    def free_lease(self, name: str, holder: dict[str, object]) -> None:
        with self._lock:
            if self._holders.get(name) is holder:
                del self._holders[name]
                if name in self._files:
                    self._notify(name, StoreChangeKind.PUT)

    def lease_holder(self, name: str) -> dict[str, object] | None:
        with self._lock:
            return self._holders.get(name)

    # -- inside, with the lock held --------------------------------------------------------------------------------

    def _compare(self, key: str, found: bytes | None, expect: Expected) -> None:
        if expect is ABSENT and found is not None:
            raise Exists(coded("tree.exists"), path=key, op="write")
        if isinstance(expect, str) and (found is None or of(found) != expect):
            raise Conflict(
                coded("tree.changed"), path=key, op="write", expected=coded("tree.revision", revision=expect)
            )

    def _no_folder(self, key: str, op: str) -> None:
        if key in self._folders:
            raise BadInput(coded("common.directory"), path=key, op=op, expected=coded("common.a_file"))
        above = key
        while above:
            above = above.rpartition("/")[0]
            if above in self._files:
                raise BadInput(coded("tree.no_directory"), path=above, op=op)

    def _grow(self, key: str, *, folder: bool = False) -> None:
        above, _, name = key.rpartition("/")
        if above not in self._folders:
            self._no_folder(f"{above}/x", "write")
            self._grow(above, folder=True)
            self._folders[above] = set()
            self._notify(above, StoreChangeKind.PUT, folder=True)
        self._folders[above].add(f"{name}/" if folder else name)

    def _drop(self, key: str, *, folder: bool = False) -> None:
        above, _, name = key.rpartition("/")
        self._folders[above].discard(f"{name}/" if folder else name)

    def _notify(self, key: str, kind: StoreChangeKind, *, folder: bool = False) -> None:
        self._count += 1
        if kind is StoreChangeKind.DELETE:
            self._tokens.pop(key, None)
        else:
            self._tokens[key] = self._count
        for watch in self._watches:
            watch.notify(key, kind, folder=folder)

    def unwatch(self, watch: CoalescingWatch) -> None:
        with self._lock:
            if watch in self._watches:
                self._watches.remove(watch)


class MemoryLease:
    """The `Lease` of a store in memory. Its holder is this object, dead when nothing refers to it any more."""

    epoch = 0

    def __init__(self, store: MemoryStore, name: str, purpose: str, clock: Clock) -> None:
        self._store, self._name, self.purpose, self._clock = store, name, purpose, clock
        self._holder: dict[str, object] | None = None

    def acquire(self) -> Self:
        holder = this_holder(self.purpose, self._clock)
        found = self._store.take_lease(self._name, holder)
        if found is not None:
            raise busy(found, path=self._name, purpose=self.purpose)
        self._holder = holder
        return self

    def note(self, **more: str) -> None:
        if self._holder is not None:
            self._holder |= more
            self._store.put(self._name, json.dumps(self._holder).encode() + b"\n")

    def release(self) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            self._store.free_lease(self._name, holder)

    def holder(self) -> dict[str, object] | None:
        found = self._store.lease_holder(self._name)
        return None if found is None else dict(found)

    def heard(self) -> datetime | None:
        return self._clock.now() if self.holder() is not None else None

    def __enter__(self) -> Self:
        return self if self._holder is not None else self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()
