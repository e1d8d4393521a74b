"""The layout: one row per file of the world. Routing, rights, templates and the protocol pages are computed from it."""

from __future__ import annotations

from worldfs.tree.path import segments
from worldfs.tree.row_table import FileRow, RowTable

from . import agent_rows, agent_state_rows, meta_rows, node_rows, past_rows, project_rows, workspace_rows

ROWS: tuple[FileRow, ...] = (
    *workspace_rows.ROWS,
    *agent_state_rows.ROWS,
    *node_rows.ROWS,
    *agent_rows.ROWS,
    *project_rows.ROWS,
    *meta_rows.ROWS,
    *past_rows.ROWS,
)


HOME = frozenset({"workspace", "workspace_live", "mind", "house"})  # mounts of a home that is not served


def names_below_a_node() -> frozenset[str]:
    """The names below /nodes/<node> that the table declares: no service may be mounted there."""
    parts = (segments(row.pattern) for row in ROWS)
    return frozenset(names[2] for names in parts if names[:2] == ("nodes", "{node}") and names[2:])


def behind_member_link(path: str) -> str:
    """The path behind a project's link to a node or an agent, by the layout alone: for a home that is not served."""
    parts = segments(path)
    linked = len(parts) > 4 and parts[0] == "projects" and parts[2] in ("nodes", "agents")
    return "/" + "/".join(parts[2:]) if linked else path


def served_table() -> RowTable:
    """Every row, as a served tree has them."""
    return RowTable(ROWS)


def home_table() -> RowTable:
    """The rows of a home that is not served: what the command line reads and writes itself."""
    return RowTable(tuple(row for row in ROWS if row.mount in HOME))
