"""The store in memory: the contract without a disk, for tests and for worlds that nobody wants to keep."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from worldfs.ground.errors import BadInput, Conflict, Exists, NotFound
from worldfs.ground.walk import check

from .contract import ABSENT, ANY, Change, ChangeKind, Expected, Store, Stored, Watch
from .revision import KEPT, of


class MemoryStore(Store):
    """Thread-safe; a revision is the hash of the content, as on disk."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._files: dict[str, bytes] = {}
        self._folders: dict[str, set[str]] = {"": set()}  # names directly below; directories end in "/"
        self._watches: list[MemoryWatch] = []
        self._tokens: dict[str, int] = {}
        self._count = 0

    def get(self, key: str) -> Stored | None:
        check(key, op="read")
        with self._lock:
            data = self._files.get(key)
            if data is None:
                self._no_folder(key, "read")
                return None
            return Stored(data, of(data))

    def probe(self, key: str) -> str | None:
        check(key, op="stat")
        with self._lock:
            token = self._tokens.get(key)
            return None if token is None else str(token)

    def list(self, prefix: str) -> list[str]:
        if prefix:
            check(prefix, op="list")
        with self._lock:
            if prefix in self._files:
                raise BadInput("a file where a directory is needed", path=prefix, op="list")
            names = sorted(self._folders.get(prefix, ()))
            return names if prefix else [name for name in names if name != f"{KEPT}/"]

    def mkdir(self, prefix: str) -> None:
        check(prefix, op="mkdir")
        with self._lock:
            if prefix in self._files or prefix in self._folders:
                raise Exists("already there", path=prefix, op="mkdir")
            self._grow(prefix, folder=True)
            self._folders[prefix] = set()
            self._tell(prefix, ChangeKind.PUT, folder=True)

    def rmdir(self, prefix: str) -> None:
        super().rmdir(prefix)
        with self._lock:
            if prefix and self._folders.pop(prefix, None) is not None:
                above, _, name = prefix.rpartition("/")
                self._folders[above].discard(f"{name}/")

    def put(self, key: str, data: bytes, expect: Expected = ANY, *, durable: bool = True) -> str:
        check(key, op="write")
        with self._lock:
            found = self._files.get(key)
            self._compare(key, found, expect)
            self._no_folder(key, "write")
            self._grow(key)
            self._files[key] = bytes(data)
            self._tell(key, ChangeKind.PUT)
            return of(data)

    def delete(self, key: str, expect: Expected = ANY, *, durable: bool = True) -> None:
        check(key, op="delete")
        with self._lock:
            found = self._files.get(key)
            if found is None:
                self._no_folder(key, "delete")
                raise NotFound("no such file", path=key, op="delete")
            self._compare(key, found, expect)
            del self._files[key]
            self._drop(key)
            self._tell(key, ChangeKind.DELETE)

    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        check(source, op="move")
        check(target, op="move")
        with self._lock:
            if source not in self._files and source not in self._folders:
                raise NotFound("no such file", path=source, op="move")
            if target in self._files or target in self._folders:
                raise Exists("already there", path=target, op="move")
            if target.startswith(f"{source}/"):
                raise BadInput("a target inside what is moved", path=target, op="move")
            folder = source in self._folders
            self._grow(target, folder=folder)
            self._drop(source, folder=folder)
            for old in [k for k in self._files if k == source or k.startswith(f"{source}/")]:
                self._files[target + old[len(source) :]] = self._files.pop(old)
            for old in [k for k in self._folders if k == source or k.startswith(f"{source}/")]:
                self._folders[target + old[len(source) :]] = self._folders.pop(old)
            for old in [k for k in self._tokens if k.startswith(f"{source}/")]:
                self._tokens[target + old[len(source) :]] = self._tokens.pop(old)
            self._tell(source, ChangeKind.DELETE, folder=folder)
            self._tell(target, ChangeKind.PUT, folder=folder)

    def append(self, key: str, data: bytes, *, durable: bool = True) -> None:
        check(key, op="append")
        with self._lock:
            self._no_folder(key, "append")
            self._grow(key)
            self._files[key] = self._files.get(key, b"") + data
            self._tell(key, ChangeKind.PUT)

    def watch(self, *prefixes: str) -> Watch:
        for prefix in prefixes:
            if prefix:
                check(prefix, op="watch")
        watch = MemoryWatch(self, prefixes)
        with self._lock:
            self._watches.append(watch)
        return watch

    def displaced(self, key: str, *, keep: bool = False, young: bool = True) -> Sequence[bytes]:
        return ()  # nobody writes here but through `put`

    def close(self) -> None:
        with self._lock:
            for watch in self._watches:
                watch.wake()

    # -- inside, with the lock held --------------------------------------------------------------------------------

    def _compare(self, key: str, found: bytes | None, expect: Expected) -> None:
        if expect is ABSENT and found is not None:
            raise Exists("already there", path=key, op="write")
        if isinstance(expect, str) and (found is None or of(found) != expect):
            raise Conflict("it changed since it was read", path=key, op="write", expected=f"revision {expect}")

    def _no_folder(self, key: str, op: str) -> None:
        if key in self._folders:
            raise BadInput("a directory", path=key, op=op, expected="a file")
        above = key
        while above:
            above = above.rpartition("/")[0]
            if above in self._files:
                raise BadInput("a file where a directory is needed", path=above, op=op)

    def _grow(self, key: str, *, folder: bool = False) -> None:
        above, _, name = key.rpartition("/")
        if above not in self._folders:
            self._no_folder(f"{above}/x", "write")
            self._grow(above, folder=True)
            self._folders[above] = set()
            self._tell(above, ChangeKind.PUT, folder=True)
        self._folders[above].add(f"{name}/" if folder else name)

    def _drop(self, key: str, *, folder: bool = False) -> None:
        above, _, name = key.rpartition("/")
        self._folders[above].discard(f"{name}/" if folder else name)

    def _tell(self, key: str, kind: ChangeKind, *, folder: bool = False) -> None:
        self._count += 1
        if kind is ChangeKind.DELETE:
            self._tokens.pop(key, None)
        else:
            self._tokens[key] = self._count
        for watch in self._watches:
            watch.tell(key, kind, folder=folder)

    def unwatch(self, watch: MemoryWatch) -> None:
        with self._lock:
            if watch in self._watches:
                self._watches.remove(watch)


class MemoryWatch(Watch):
    def __init__(self, store: MemoryStore, prefixes: tuple[str, ...]) -> None:
        self._store, self._prefixes = store, prefixes
        self._ready = threading.Condition()
        self._changes: dict[tuple[str, ChangeKind], None] = {}
        self._woken = False

    def tell(self, key: str, kind: ChangeKind, *, folder: bool) -> None:
        above = key.rpartition("/")[0]
        with self._ready:
            for prefix in self._prefixes:
                if folder and (prefix == key or prefix.startswith(f"{key}/")):
                    self._changes[prefix, ChangeKind.RESYNC] = None  # a whole directory came or went
                elif prefix in (key, above):
                    self._changes.pop((key, ChangeKind.PUT), None)
                    self._changes.pop((key, ChangeKind.DELETE), None)
                    self._changes[key, kind] = None
            if self._changes:
                self._ready.notify_all()

    def read(self, timeout: float | None = None) -> Sequence[Change]:
        with self._ready:
            self._ready.wait_for(lambda: self._woken or self._changes, timeout)
            self._woken = False
            changes = [Change(key, kind) for key, kind in self._changes]
            self._changes.clear()
            return changes

    def wake(self) -> None:
        with self._ready:
            self._woken = True
            self._ready.notify_all()

    def close(self) -> None:
        self._store.unwatch(self)
