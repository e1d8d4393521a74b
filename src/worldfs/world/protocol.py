"""The protocol pages: the permission matrix and the table of files, written from layout.py."""

from __future__ import annotations

import json

from worldfs.tree.rights import OPERATOR, cell, may_read, may_write
from worldfs.tree.table import Row

from .layout import MATRIX_ROLES, ROWS
from .layout.meta import META_SCHEMA


def matrix() -> dict[str, dict[str, str]]:
    """File → role → cell, for the ten files of the specification."""
    return {row.name: {role: cell(row, role) for role in MATRIX_ROLES} for row in ROWS if row.in_matrix}


def matrix_page() -> str:
    lines = [
        "# Who reads, who writes",
        "",
        "Computed from `worldfs/world/layout.py`; every read and write through the tree is judged by it. A writer may",
        "read back what it writes. What a role may not see does not exist for it. One cell differs from the",
        "specification's matrix: the planner reads ORCHESTRATOR.md, which nobody read before.",
        "",
        "| File | " + " | ".join(MATRIX_ROLES.values()) + " | Operator |",
        "|---|" + "---|" * (len(MATRIX_ROLES) + 1),
    ]
    for row in ROWS:
        if row.in_matrix:
            cells = [cell(row, role) for role in MATRIX_ROLES]
            lines.append(f"| {row.name} | " + " | ".join([*cells, _operator(row)]) + " |")
    return "\n".join(lines) + "\n"


def files_page() -> str:
    lines = [
        "# The files of the world",
        "",
        "One row per file, computed from `worldfs/world/layout.py`.",
        "",
        "| Path | Kind | Written by | Read by | What it is |",
        "|---|---|---|---|---|",
    ]
    for row in ROWS:
        writers = ", ".join(f"{role} ({when})" if when else role for role, when in row.writers.items()) or "computed"
        readers = "everybody" if set(MATRIX_ROLES) <= row.readers else ", ".join(sorted({*row.readers, OPERATOR}))
        about = row.about + ("; a read may wait for the next change" if row.blocking else "")
        lines.append(f"| `{row.pattern}` | {row.kind.value} | {writers} | {readers} | {about} |")
    return "\n".join(lines) + "\n"


def schema() -> bytes:
    """`/meta/SCHEMA.json`: the table as data."""
    rows = [
        {
            "path": row.pattern,
            "kind": row.kind.value,
            "about": row.about,
            "readers": sorted(row.readers),
            "writers": dict(row.writers),
            "blocking": row.blocking,
        }
        for row in ROWS
    ]
    return (json.dumps({**META_SCHEMA, "files": rows}, ensure_ascii=False, indent=1) + "\n").encode()


def readme() -> bytes:
    """`/meta/README.md`."""
    return (files_page() + "\n" + matrix_page().replace("# Who", "## Who", 1)).encode()


def pages() -> dict[str, str]:
    """File name under docs/protocol/ → content."""
    return {"files.md": files_page(), "permissions.md": matrix_page()}


def _operator(row: Row) -> str:
    read, write = may_read(row, OPERATOR), may_write(row, OPERATOR)
    return "R + W" if read and write else "W" if write else "R" if read else "—"
