"""README.md of a directory: its purpose and its entries, from the table."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.access.judge import judge
from worldfs.access.role_index import visible_mounts
from worldfs.access.verb import Verb
from worldfs.tree.path import segments
from worldfs.tree.row_table import FileKind, FileRow, PathNode, RowTable

_HINTS = {
    FileKind.CONTROL: "write",
    FileKind.DROP: "add",
    FileKind.SHEET: "read and write",
    FileKind.LOG: "log",
    FileKind.LINK: "link",
}
_OWN = {"README.md", "SCHEMA.json", "CAPS.json"}


class ReadmePages:
    """Rendered once for each directory and role; the names of the path are filled in on each read."""

    def __init__(self, table: RowTable) -> None:
        self._table = table
        self._rows = {row.pattern: row for row in table.rows if row.title}
        self._known: dict[tuple[str, str], str] = {}

    def text(self, pattern: str, names: Mapping[str, str], role: str, mounts: frozenset[str]) -> bytes:
        """The text of the README.md with this pattern. `mounts`: those with entries for its reader."""
        key = (pattern, role + "," + ",".join(sorted(mounts)))
        text = self._known.get(key)
        if text is None:
            text = self._known[key] = self._render(self._rows[pattern], role, mounts)
        for name, value in names.items():
            text = text.replace("{" + name + "}", value)
        return text.encode()

    def _render(self, row: FileRow, role: str, mounts: frozenset[str]) -> str:
        lines = [f"# {row.title}", "", row.about]
        place = self._at(segments(row.pattern)[:-1])
        entries = sorted(self._entries(place, role, mounts)) if place is not None else []
        if entries:
            lines += ["", *(f"- `{name}`: {about}" for name, about in entries)]
        return "\n".join(lines) + "\n"

    def _at(self, parts: tuple[str, ...]) -> PathNode | None:
        place = self._table.root
        for part in parts:
            step = place.variable[1] if part.startswith("{") and place.variable else place.fixed.get(part)
            if step is None:
                return None
            place = step
        return place

    def _entries(self, place: PathNode, role: str, mounts: frozenset[str]) -> list[tuple[str, str]]:
        found = []
        steps = list(place.fixed.items())
        if place.variable is not None:
            steps.append((f"<{place.variable[0]}>", place.variable[1]))
        if place.rest is not None and place.rest[1].mount in mounts and judge(role, Verb.READ, place.rest[1]):
            found.append(("<…>", place.rest[1].about))
        for name, step in steps:
            if name in _OWN or not any(mount in mounts for mount in visible_mounts(step, role)):
                continue
            row = step.row
            if row is not None:
                hint = _HINTS.get(row.kind)
                found.append((name, f"{row.about} ({hint})" if hint else row.about))
            else:
                own = step.fixed.get("README.md")
                found.append((f"{name}/", own.row.about if own is not None and own.row is not None else "more"))
        return found
