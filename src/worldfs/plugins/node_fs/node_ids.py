"""The files of node ids: a bounded table from ids to paths, kept correct through renames.

An id is (export index + 1) << 48 | inode. A path is stored as a parent and a name, so renaming a directory moves
everything below it at once. The least recently used ids are forgotten; such an id is `ENOENT` and is looked up again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections import OrderedDict
from typing import Final
from weakref import WeakValueDictionary

SHIFT: Final = 48
LIMIT: Final = 65_536  # entries remembered for an export
DEPTH: Final = 1_024  # components of a path; deeper is a cycle that a race left in the table
_FOREIGN: Final = 1 << (SHIFT - 1)  # marks an id that no inode of the export's own file system is


Key = tuple[int, int]  # device, inode


class NodeIdEntry:
    """A file that was seen. `places`: its paths, the latest last; a file with several names has several."""

    __slots__ = ("__weakref__", "id", "key", "places")

    def __init__(self, id: int, key: Key) -> None:
        self.id, self.key = id, key
        self.places: list[tuple[NodeIdEntry, str]] = []


class NodeIdTable:
    """Usable from many threads."""

    def __init__(self, index: int, root: os.stat_result, limit: int = LIMIT) -> None:
        self._base = (index + 1) << SHIFT
        self._device = root.st_dev
        self._limit = limit
        self._lock = threading.Lock()
        self.root = NodeIdEntry(self.id_of(root), key_of(root))
        self._known: WeakValueDictionary[int, NodeIdEntry] = WeakValueDictionary({self.root.id: self.root})
        self._at: WeakValueDictionary[tuple[int, str], NodeIdEntry] = WeakValueDictionary()
        self._recent: OrderedDict[int, NodeIdEntry] = OrderedDict()

    def id_of(self, info: os.stat_result) -> int:
        """The id of a file; one of another device, or with an inode of more bits, gets a digest in its place."""
        if info.st_dev == self._device and info.st_ino < _FOREIGN:
            return self._base | info.st_ino
        digest = hashlib.blake2b(b"%d:%d" % key_of(info), digest_size=6).digest()
        return self._base | _FOREIGN | int.from_bytes(digest, "big") % _FOREIGN

    def find(self, id: int) -> NodeIdEntry | None:
        with self._lock:
            entry = self._known.get(id)
            if entry is not None and id in self._recent:
                self._recent.move_to_end(id)
            return entry

    def at(self, parent: int, name: str) -> NodeIdEntry | None:
        """The entry last seen under this name."""
        with self._lock:
            return self._at.get((parent, name))

    def record(self, parent: NodeIdEntry, name: str, info: os.stat_result) -> NodeIdEntry:
        """Record that this file was seen there. Returns the entry of its id, new or known."""
        id, key = self.id_of(info), key_of(info)
        with self._lock:
            if id == self.root.id:
                return self.root
            entry = self._known.get(id)
            if entry is None or entry.key != key:
                entry = self._known[id] = NodeIdEntry(id, key)
            place = (parent, name)
            if entry.places[-1:] != [place]:
                several = info.st_nlink > 1 and not stat.S_ISDIR(info.st_mode)
                entry.places = [*(p for p in entry.places if p != place), place][-8:] if several else [place]
            self._at[parent.id, name] = entry
            self._recent[id] = entry
            self._recent.move_to_end(id)
            while len(self._recent) > self._limit:
                self._recent.popitem(last=False)
            return entry

    def remove(self, parent: NodeIdEntry, name: str) -> NodeIdEntry | None:
        """The name was removed. Returns its entry, if known."""
        with self._lock:
            entry = self._at.pop((parent.id, name), None)
            if entry is not None:
                entry.places = [p for p in entry.places if p != (parent, name)]
            return entry

    def rename(self, old: tuple[NodeIdEntry, str], new: tuple[NodeIdEntry, str]) -> NodeIdEntry | None:
        """The entry `old` is renamed to `new`. Returns the entry that was replaced, if known."""
        with self._lock:
            entry = self._at.pop((old[0].id, old[1]), None)
            over = self._at.pop((new[0].id, new[1]), None)
            if over is not None and over is not entry:
                over.places = [p for p in over.places if p != new]
            if entry is not None:
                entry.places = [*(p for p in entry.places if p not in (old, new)), new]
                self._at[new[0].id, new[1]] = entry
            return over if over is not entry else None

    def paths(self, entry: NodeIdEntry) -> list[tuple[str, ...]]:
        """Its possible paths, the most likely first; none if it is known to be removed."""
        with self._lock:
            if entry is self.root:
                return [()]
            found = (_path(parent, name, self.root) for parent, name in reversed(entry.places))
            return [path for path in found if path is not None]


def key_of(info: os.stat_result) -> Key:
    return info.st_dev, info.st_ino


def _path(parent: NodeIdEntry, name: str, root: NodeIdEntry) -> tuple[str, ...] | None:
    parts = [name]
    while parent is not root:
        if not parent.places or len(parts) >= DEPTH:
            return None
        parent, name = parent.places[-1]
        parts.append(name)
    return tuple(reversed(parts))
