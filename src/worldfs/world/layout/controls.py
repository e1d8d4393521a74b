"""The layout's control at a path: guards of interfaces judge it, and no spelling of a path.

The path is the one behind every link, as `Namespace.real_path` gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from worldfs.tree.row_table import FileKind, RowTable
from worldfs.tree.virtual_file import Names

from . import served_table

APPROVE: Final = "approve"  # of a robot
CHAT_INPUT: Final = "chat_input"  # of an agent
MISSION: Final = "mission"  # of a project
STOPPING: Final = frozenset({"stop", "cancel", "own_cancel"})  # they only end motion
_ORDERS: Final = frozenset({FileKind.CONTROL, FileKind.SHEET})


class Control(NamedTuple):
    """`view`: what the row computes; "" for a stored file, and where no row describes the path. `given`: what the row
    says of itself beside the names in its path."""

    known: bool  # a row describes the path
    root: str  # the first segment of the row's path
    view: str
    orders: bool  # a write is an order, and no content
    names: Names
    given: Mapping[str, str]


_UNKNOWN: Final = Control(False, "", "", False, {}, {})


def control_at(real: str) -> Control:
    """What a write to a resolved path does."""
    found = _table().find(real)
    if found is None:
        return _UNKNOWN
    row, names = found
    return Control(True, row.pattern.split("/")[1], row.view, row.kind in _ORDERS, names, row.given)


@cache
def _table() -> RowTable:
    return served_table()
