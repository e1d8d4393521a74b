"""Files that the table determines: constant files, and the README.md of a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.json_text import compact_json
from worldfs.tree.row_table import RowTable
from worldfs.tree.virtual_file import Names, VirtualFile

from ..tree import Mounts
from .readme_pages import ReadmePages

if TYPE_CHECKING:
    from worldfs.access.binding import Binding


class LiteralFile(VirtualFile):
    """Rows that hold their own value: encoded once."""

    light = fixed = True

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

    light = fixed = True

    def __init__(self, binding: Binding, readmes: ReadmePages, mounts: Mounts, known: frozenset[str]) -> None:
        self._binding, self._readmes, self._mounts, self._known_mounts = binding, readmes, mounts, known

    def read(self, names: Names) -> bytes:
        role = self._binding.role_at(("agents", "self") if "/agents/self" in names["row"] else ())
        holding = frozenset(mount for mount in self._known_mounts if self._mounts.holds(mount, names))
        return self._readmes.text(names["row"], names, role, holding)
