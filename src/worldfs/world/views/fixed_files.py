"""Files that are fixed by the table: literals, and what a directory says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.tree.row_table import RowTable
from worldfs.tree.tree import Mounts
from worldfs.tree.virtual_file import Names, VirtualFile
from worldfs.world.json_text import compact_json

from .. import visibility
from .readme_pages import ReadmePages

if TYPE_CHECKING:
    from worldfs.tree.binding import Binding


class LiteralFile(VirtualFile):
    """Rows that hold their own value: encoded once."""

    light = True

    def __init__(self, table: RowTable) -> None:
        self._values = {row.pattern: row.literal for row in table.rows if row.view == "literal"}
        self._known: dict[str, bytes] = {}

    def read(self, names: Names) -> bytes:
        pattern = names["row"]
        data = self._known.get(pattern)
        if data is None:
            data = self._known[pattern] = compact_json(self._values[pattern])
        return data


class ReadmeFile(VirtualFile):
    """README.md as a binding sees its directory."""

    light = True

    def __init__(self, binding: Binding, readmes: ReadmePages, rooms: Mounts, known: frozenset[str]) -> None:
        self._binding, self._readmes, self._rooms, self._rooms_known = binding, readmes, rooms, known

    def read(self, names: Names) -> bytes:
        role = visibility.role_at(self._binding, ("agents", "self") if "/agents/self" in names["row"] else ())
        holding = frozenset(room for room in self._rooms_known if self._rooms.holds(room, names))
        return self._readmes.text(names["row"], names, role, holding)
