"""A tree in memory, for tests of the verbs and of the server: files, controls, and blocking files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from worldfs.access.binding import MOTHER, Binding
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.errors import BadInput, Conflict, NotFound, NotPermitted
from worldfs.control.control_plane import ControlPlane
from worldfs.storage.store_interface import ANY, Expected
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Content, Stat, Wait, Written

from .waiting import PATIENCE_S


class RecordedWrite(NamedTuple):
    """One write as the tree was given it."""

    path: str
    data: bytes
    offset: int
    correlation: str


class ServedNode:
    """A node of a `ServedTree`."""

    def __init__(self, tree: ServedTree, path: str, *, promised: bool = False) -> None:
        self.tree, self.path, self.promised = tree, path, promised
        self.directory = not promised and tree.stat(path).directory
        self.id = tree.number(path)

    @property
    def light(self) -> bool:
        return self.tree.light(self.path)

    def stat(self) -> Stat:
        if self.promised:
            return Stat(False, writable=True, id=self.id, name=self.path.rpartition("/")[2], path=self.path)
        return self.tree.stat(self.path)

    def writable(self) -> bool:
        return self.stat().writable

    def list(self) -> Sequence[str]:
        return self.tree.list(self.path)

    def entries(self) -> Sequence[Stat]:
        return [self.tree.stat(f"{self.path.rstrip('/')}/{name}") for name in self.list()]

    def read(self, last: bytes = b"") -> Content:
        return self.tree.read(self.path)

    def wait(self, last: bytes = b"") -> Wait | None:
        return self.tree.waits(self.path)

    def require_writable(self, op: str) -> None:
        if not self.writable():
            raise NotPermitted("it may not be written here", path=self.path, code="eperm")

    def write(self, data: bytes, *, offset: int = 0, correlation: str = "", expect: Expected = ANY) -> Written:
        if isinstance(expect, str) and self.stat().revision != expect:
            raise Conflict("it changed since it was read", path=self.path, op="write")
        if self.promised:
            self.tree.files[self.path], self.promised = b"", False
        return self.tree.write(self.path, data, offset=offset, correlation=correlation)

    def replace(self, data: bytes, *, correlation: str = "") -> Written:
        if not self.tree.shaped or self.path in self.tree.controls:
            return self.write(data, correlation=correlation)
        self.promised = False
        self.tree.put(self.path, data)
        return Written(len(data))

    def truncate(self, size: int) -> None:
        self.tree.demand_shaped(self.path)
        self.tree.put(self.path, self.tree.files[self.path][:size].ljust(size, b"\0"))

    def touch(self, mtime_ms: int | None) -> bool:
        raise NotPermitted("times are not set here", path=self.path, code="eperm")

    def create(self, name: str, *, directory: bool = False) -> ServedNode:
        path = f"{self.path.rstrip('/')}/{name}"
        self.tree.demand_shaped(path)
        if directory:
            raise BadInput("no directories here", path=path)
        if not self.tree.promises:
            self.tree.put(path, b"")
        return ServedNode(self.tree, path, promised=self.tree.promises)

    def rename(self, name: str, target: ServedNode, new: str) -> None:
        old, path = f"{self.path.rstrip('/')}/{name}", f"{target.path.rstrip('/')}/{new}"
        self.tree.demand_shaped(old)
        self.tree.files[path] = self.tree.files.pop(old)
        self.tree.feed.publish(old, path)

    def remove(self, name: str) -> None:
        path = f"{self.path.rstrip('/')}/{name}"
        self.tree.demand_shaped(path)
        del self.tree.files[path]
        self.tree.feed.publish(path)


class ServedTree:
    """Files by path. `heavy`: paths below which no request may run on the loop (asserted). `shaped`: files can be
    created and removed; `promises`: a new one is there with its first write."""

    shaped = promises = False

    def __init__(self, feed: ChangeFeed, *, timeout: float = 60.0) -> None:
        self.feed, self.timeout = feed, timeout
        self.files: dict[str, bytes] = {}
        self.read_only: set[str] = set()
        self.closed: set[str] = set()  # files that block until they are opened
        self.heavy: set[str] = set()
        self.slow: threading.Event | None = None  # the event that a heavy request waits for
        self.controls: dict[str, Callable[[bytes], Written]] = {}
        self.writes: list[RecordedWrite] = []
        self.asked = 0  # stats that reached the tree
        self._ids: dict[str, int] = {"/": 1}
        self._loop_thread = threading.get_ident()

    def walk(self, path: str) -> ServedNode:
        return ServedNode(self, path)

    def number(self, path: str) -> int:
        return self._ids.setdefault(path, len(self._ids) + 1)

    def demand_shaped(self, path: str) -> None:
        if not self.shaped:
            raise NotPermitted("you cannot create or delete files here", path=path, code="eperm")

    def put(self, path: str, data: bytes) -> None:
        self.files[path] = data
        self.feed.publish(path)

    def open(self, path: str, data: bytes) -> None:
        """Unblock the readers of a file."""
        self.closed.discard(path)
        self.put(path, data)

    def light(self, path: str) -> bool:
        return not any(path == heavy or path.startswith(heavy + "/") for heavy in self.heavy)

    def waits(self, path: str) -> Wait | None:
        return Wait((path,), lambda: path not in self.closed, self.timeout) if path in self.closed else None

    def stat(self, path: str) -> Stat:
        self._ask(path)
        self.asked += 1
        directory = path == "/" or any(other.startswith(path + "/") for other in self.files)
        if not directory and path not in self.files:
            raise NotFound("nothing there", path=path)
        number = self.number(path)
        name = path.rpartition("/")[2] or "/"
        if directory:
            return Stat(True, id=number, name=name, path=path)
        size = 1_048_576 if path in self.closed else len(self.files[path])
        revision = str(self.feed.seq)
        return Stat(False, size, path not in self.read_only, revision, id=number, name=name, path=path)

    def list(self, path: str) -> Sequence[str]:
        self._ask(path)
        above = path.rstrip("/") + "/"
        names = {other[len(above) :].partition("/")[0] for other in list(self.files) if other.startswith(above)}
        return sorted(names, key=lambda name: name.encode())

    def read(self, path: str) -> Content:
        self._ask(path)
        if path not in self.files:
            raise NotFound("nothing there", path=path)
        return Content(self.files[path], str(self.feed.seq))

    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written:
        if path in self.read_only:
            raise NotPermitted("file is read-only", path=path)
        self.writes.append(RecordedWrite(path, data, offset, correlation))
        control = self.controls.get(path)
        if control is not None:
            return control(data)
        before = self.files[path].ljust(offset, b"\0")
        self.put(path, before[:offset] + data + before[offset + len(data) :])
        return Written(len(data))

    def _ask(self, path: str) -> None:
        if self.light(path):
            return
        assert threading.get_ident() != self._loop_thread, f"{path} was asked for on the loop"
        if self.slow is not None:
            self.slow.wait(PATIENCE_S)


class ShapedTree(ServedTree):
    """A tree whose names can be created and removed."""

    shaped = True


class ServedRealm:
    """A realm over one tree that is visible to every binding, with a real control plane in memory."""

    def __init__(self, home: Path, *, clock: Clock | None = None) -> None:
        self.home, self.clock, self.feed = home, clock or SystemClock(), ChangeFeed()
        self.plane = ControlPlane.open(None, self.clock, self.feed)
        self.tree = ServedTree(self.feed)
        self.tree.files["/README.md"] = b"# World\n"
        self.names = [MOTHER, "alice"]

    def attach(self, binding: Binding, alive: Callable[[], bool] = lambda: True) -> ServedTree:
        return self.tree

    def agents(self) -> Sequence[str]:
        return list(self.names)

    def agents_seen(self, binding: Binding) -> Sequence[str]:
        return list(self.names) if binding.admin else [binding.agent]

    def ensure_agent(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)

    def close(self) -> None:
        self.plane.close()
