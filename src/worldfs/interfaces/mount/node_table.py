"""The numbers that the kernel knows files by: one for each (path, revision), counted until the kernel forgets it."""

from __future__ import annotations

from worldfs.interfaces.posix.open_files import StagedFile
from worldfs.interfaces.posix.posix_entry import PosixEntry

from .fuse_protocol import ROOT


class MountedNode:
    """One number of the kernel. `lookups`: how many replies named it and were not forgotten yet. `written`: its files
    that are open to write."""

    __slots__ = ("entry", "handles", "key", "lookups", "number", "packed", "path", "written")

    def __init__(self, number: int, entry: PosixEntry) -> None:
        self.number, self.entry, self.key, self.path = number, entry, entry.id, entry.path
        self.lookups = self.handles = 0
        self.written: list[StagedFile] = []
        self.packed = b""  # its attributes as a reply has them, while they cannot change


class NodeTable:
    """Never gives a number twice."""

    def __init__(self, root: PosixEntry) -> None:
        self._numbers: dict[int, MountedNode] = {ROOT: MountedNode(ROOT, root)}
        self._by_id: dict[int, MountedNode] = {}
        self._last = ROOT

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> MountedNode:
        return self._numbers[number]

    def of(self, entry: PosixEntry) -> MountedNode:
        """The node of an entry, new or known; the caller counts what it replies."""
        node = self._by_id.get(entry.id)
        if node is None:
            self._last += 1
            node = self._numbers[self._last] = self._by_id[entry.id] = MountedNode(self._last, entry)
        elif node.entry is not entry:
            node.entry, node.path, node.packed = entry, entry.path, b""
        return node

    def forget(self, number: int, count: int) -> None:
        node = self._numbers.get(number)
        if node is None or number == ROOT:
            return
        node.lookups -= count
        self.drop(node)

    def drop(self, node: MountedNode) -> None:
        """Forget a node that neither the kernel nor an open file knows."""
        if node.lookups <= 0 and node.handles <= 0 and node.number != ROOT:
            self._numbers.pop(node.number, None)
            if self._by_id.get(node.key) is node:
                del self._by_id[node.key]

    def moved(self, old: str, new: str) -> None:
        """What was at a path, and below it, is at another one."""
        for node in self._numbers.values():
            if node.path == old or node.path.startswith(f"{old}/"):
                node.path = new + node.path[len(old) :]
