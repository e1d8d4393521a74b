"""Several rooms as one: a row says which of them it hangs in."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.ground.errors import NotFound
from worldfs.tree.row_table import FileRow
from worldfs.tree.stores.store_interface import Store
from worldfs.tree.tree import Mounts
from worldfs.tree.virtual_file import Names


class JoinedMounts:
    """A row whose room is not among them is not there."""

    def __init__(self, rooms: Mapping[str, Mounts]) -> None:
        self.rooms = rooms

    def store(self, row: FileRow, names: Names) -> Store:
        return self.rooms[row.room].store(row, names)

    def key(self, row: FileRow, names: Names) -> str:
        return self.rooms[row.room].key(row, names)

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        found = self.rooms.get(room)
        return found.names(room, variable, names) if found is not None else []

    def holds(self, room: str, names: Names) -> bool:
        found = self.rooms.get(room)
        return found is not None and found.holds(room, names)

    def exists(self, row: FileRow, names: Names) -> bool:
        return self.rooms[row.room].exists(row, names)


class StaticMount:
    """Files that are always there and lie in no store."""

    def store(self, row: FileRow, names: Names) -> Store:
        raise NotFound("it lies in no store", path=row.pattern)

    def key(self, row: FileRow, names: Names) -> str:
        return ""

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        return []

    def holds(self, room: str, names: Names) -> bool:
        return True

    def exists(self, row: FileRow, names: Names) -> bool:
        return True
