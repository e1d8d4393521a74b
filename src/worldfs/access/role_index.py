"""What a role sees of the table, computed once for it: mounts, and the cells of the permission matrix."""

from __future__ import annotations

from worldfs.tree.row_table import FileRow, PathNode

from .file_roles import may_read


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
