"""The layout: one row per file of the world. Routing, rights, templates and the protocol pages are computed from it."""

from __future__ import annotations

from worldfs.tree.table import Row, Table

from . import agents, meta, mind, nodes, projects, workspace
from .roles import AGENT, CRITIC, MATRIX_ROLES, ORCHESTRATOR, PLANNER, ROLES, RUNTIME, WATCHDOG

__all__ = [
    "AGENT",
    "CRITIC",
    "MATRIX_ROLES",
    "ORCHESTRATOR",
    "PLANNER",
    "ROLES",
    "ROWS",
    "RUNTIME",
    "WATCHDOG",
    "home_table",
    "table",
]

ROWS: tuple[Row, ...] = (*workspace.ROWS, *mind.ROWS, *nodes.ROWS, *agents.ROWS, *projects.ROWS, *meta.ROWS)


HOME = frozenset({"workspace", "mind", "house"})  # rooms that a home has without anybody serving it


def table() -> Table:
    """Every row, as a served tree has them."""
    return Table(ROWS)


def home_table() -> Table:
    """The rows of a home that nobody need serve: what the command reads and writes on its own."""
    return Table(tuple(row for row in ROWS if row.room in HOME))
