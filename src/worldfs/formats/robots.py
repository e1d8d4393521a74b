"""ROBOTS.md as other programs write it: which robots it says are switched off (000, "ROBOTS.md"; workspace §3.12)."""

from __future__ import annotations

from worldfs.formats import entry_ids, markdown_tables, prose

_NO = frozenset(("no", "false", "off", "disabled", "否", "❌"))


def read_disabled_robots(data: bytes) -> list[str]:
    """Ids of the robots whose `Enabled` cell says no. Raises `BadInput` for a text that is no UTF-8."""
    lines = prose.decode(data, "ROBOTS.md").splitlines()
    found: list[str] = []
    for table in markdown_tables.find(lines):
        id, enabled = table.column("robot id", "id"), table.column("enabled")
        if id is None or enabled is None:
            continue
        names = [row[id].strip("`* ") for row in table.rows if row[enabled].strip("`* ").lower() in _NO]
        found += [name for name in names if not entry_ids.unsafe(name)]
    return list(dict.fromkeys(found))
