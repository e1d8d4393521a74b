"""The file-role model: a role's rights on a row of the table. Default deny."""

from __future__ import annotations

from worldfs.base.errors import NotFound, NotPermitted
from worldfs.tree.row_table import AT_STARTUP, FileKind, FileRow, PathNode

from .roles import OPERATOR

FIXED = "you cannot create or delete files here"


def may_read(row: FileRow, role: str) -> bool:
    """Readers, the operator, and the file's writers: a writer may read back what it writes (workspace D3).

    A message dropped into an inbox is readable by its recipient only.
    """
    return role == OPERATOR or role in row.readers or (role in row.writers and row.kind is not FileKind.DROP)


def may_write(row: FileRow, role: str, *, starting: bool = False) -> bool:
    condition = row.writers.get(role)
    return row.kind is not FileKind.VIEW and condition is not None and (condition != AT_STARTUP or starting)


def demand_read(row: FileRow, role: str, path: str) -> None:
    """A file that the role may not see is `NotFound` for it."""
    if not may_read(row, role):
        raise NotFound(
            "no such file", path=path, op="read", actor=role, fix=f"nothing of that name is visible to {role}"
        )


def demand_write(row: FileRow, role: str, path: str, *, starting: bool = False) -> None:
    if may_write(row, role, starting=starting):
        return
    if not may_read(row, role):
        raise NotFound(
            "no such file", path=path, op="write", actor=role, fix=f"nothing of that name is visible to {role}"
        )
    who = (
        ", ".join(f"{name} ({when})" if when else name for name, when in row.writers.items()) or "none: it is computed"
    )
    raise NotPermitted(
        f"{role} may not write it", path=path, op="write", actor=role, expected=f"one of its writers: {who}"
    )


def demand_remove(row: FileRow, role: str, path: str, op: str) -> None:
    """Only a stored file below a row with `{rest*}` may be removed or renamed, by one of its writers."""
    if not may_read(row, role):
        demand_read(row, role, path)
    if row.view or not row.pattern.endswith("*}"):
        why = "it is computed" if row.kind is FileKind.VIEW else FIXED
        expected = "a file in what a node exports (/nodes/NODE/fs/…) or below artifacts/"
        raise NotPermitted(why, path=path, op=op, actor=role, expected=expected)
    demand_write(row, role, path)


def visible_mounts(place: PathNode, role: str) -> tuple[str, ...]:
    """The mounts that have a file here or below which `role` may read or write. Computed once for a role."""
    known = place.mounts.get(role)
    if known is None:
        seen = (row for row in place.rows if may_read(row, role) or role in row.writers)
        known = place.mounts[role] = tuple(dict.fromkeys(row.mount for row in seen))
    return known


def matrix_cell(row: FileRow, role: str) -> str:
    """The permission matrix's cell for a file and a role, in the specification's words (000, matrix)."""
    reads, condition = role in row.readers, row.writers.get(role)
    if condition is None:
        return "R" if reads else "—"
    if condition:
        return f"W ({condition})"
    return "R + W" if reads else "W"
