"""The protocol pages: the permission matrix, the table of files and the served tree, written from the layout."""

from __future__ import annotations

import json

from worldfs.access.judge import judge
from worldfs.access.role_index import matrix_cell
from worldfs.access.roles import MATRIX_ROLES, OPERATOR
from worldfs.access.verb import Verb
from worldfs.tree.row_table import FileRow

from .layout import ROWS
from .layout.meta_rows import META_SCHEMA


def matrix() -> dict[str, dict[str, str]]:
    """File → role → cell, for the ten files of the specification."""
    return {row.name: {role: matrix_cell(row, role) for role in MATRIX_ROLES} for row in ROWS if row.in_matrix}


def matrix_page() -> str:
    lines = [
        "# Who reads, who writes",
        "",
        "Computed from `worldfs/world/layout/`; every read and write through the tree is judged by it. A writer may",
        "read back what it writes. What a role may not see does not exist for it. One cell differs from the",
        "specification's matrix: the planner reads ORCHESTRATOR.md, which nobody read before.",
        "",
        "| File | " + " | ".join(MATRIX_ROLES.values()) + " | Operator |",
        "|---|" + "---|" * (len(MATRIX_ROLES) + 1),
    ]
    for row in ROWS:
        if row.in_matrix:
            cells = [matrix_cell(row, role) for role in MATRIX_ROLES]
            lines.append(f"| {row.name} | " + " | ".join([*cells, _operator(row)]) + " |")
    return "\n".join(lines) + "\n"


def files_page() -> str:
    lines = [
        "# The files of the world",
        "",
        "One row per file, computed from `worldfs/world/layout/`.",
        "",
        "| Path | Kind | Written by | Read by | What it is |",
        "|---|---|---|---|---|",
    ]
    for row in ROWS:
        readers = "everybody" if set(MATRIX_ROLES) <= row.readers else ", ".join(sorted({*row.readers, OPERATOR}))
        lines.append(f"| `{row.pattern}` | {row.kind.value} | {_writers(row)} | {readers} | {_about(row)} |")
    return "\n".join(lines) + "\n"


def tree_page() -> str:
    """The manual of the served tree: one section a directory, as its README.md, SCHEMA.json and CAPS.json say it."""
    lines = [
        "# The served tree",
        "",
        "One section per directory (004), computed from `worldfs/world/layout/`. `{name}` stands for one name,",
        "`{rest*}` for all that is left of a path. Besides what is listed here a directory holds its README.md.",
    ]
    folders = sorted((row for row in ROWS if row.title), key=lambda row: row.pattern.rsplit("/", 1)[0])
    for folder in folders:
        base = folder.pattern.rsplit("/", 1)[0]
        lines += ["", f"## {base or '/'}", "", folder.about]
        files = [row for row in ROWS if _in(base, row) and row.name not in ("README.md", "SCHEMA.json", "CAPS.json")]
        if files:
            lines += ["", "| File | Kind | Written by | What it is |", "|---|---|---|---|"]
            lines += [
                f"| `{row.pattern[len(base) + 1 :]}` | {row.kind.value} | {_writers(row)} | {_about(row)} |"
                for row in files
            ]
        for name in ("SCHEMA.json", "CAPS.json"):
            value = next(
                (row.literal for row in ROWS if row.pattern == f"{base}/{name}" and row.view == "literal"), None
            )
            if value is not None:
                lines += [
                    "",
                    f"{name}:",
                    "",
                    "```json",
                    json.dumps(value, ensure_ascii=False, separators=(", ", ": ")),
                    "```",
                ]
    return "\n".join(lines) + "\n"


def _in(base: str, row: FileRow) -> bool:
    """Is it a file of this directory, or of all that is left below it?"""
    above, _, name = row.pattern.rpartition("/")
    return above == base and bool(name)


def _writers(row: FileRow) -> str:
    return ", ".join(f"{role} ({when})" if when else role for role, when in row.writers.items()) or "computed"


def _about(row: FileRow) -> str:
    return row.about + ("; a read may wait for the next change" if row.blocking else "")


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
    return {"files.md": files_page(), "permissions.md": matrix_page(), "worldfs.md": tree_page()}


def _operator(row: FileRow) -> str:
    read, write = judge(OPERATOR, Verb.READ, row), judge(OPERATOR, Verb.WRITE, row)
    return "R + W" if read and write else "W" if write else "R" if read else "—"
