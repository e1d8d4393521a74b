"""The asker's tree as a model in chat may use it: everything is read, and nothing that is written moves a robot."""

from __future__ import annotations

from typing import Final

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded
from worldfs.interfaces.mcp.guarded_tree import GuardedTree
from worldfs.interfaces.mcp.places import SELF
from worldfs.tree.path import segments
from worldfs.tree.row_table import FileKind

NOTES: Final = f"{SELF}/memory/control/"
_ORDERS: Final = (FileKind.CONTROL, FileKind.SHEET)


class ChatTree(GuardedTree):
    """It takes away: orders, approvals, documents of robots.

    A model that obeys what it read in a file can therefore stop robots, and write notes, messages and the asker's own
    files below /agents. It starts no motion, approves nothing, and sends no message to a chat.
    """

    async def check(self, path: str, data: bytes) -> None:
        if not await self._open_to_chat(path):
            raise BadInput(
                coded("model.no_orders"),
                path=path,
                op="write",
                expected=coded("model.agent_file"),
                code="NO_ORDERS",
                fix=coded("model.propose_it"),
            )

    async def _open_to_chat(self, path: str) -> bool:
        parts = segments(path)
        stops = (parts[:1] == ("nodes",) and parts[2:] == ("stop",)) or (parts[-1:] == ("cancel",) and "jobs" in parts)
        if stops or path.startswith(NOTES):
            return True
        if parts[:1] != ("agents",) or "control" in parts:
            return False
        try:
            return (await self._tree.stat(path)).kind not in _ORDERS
        except NotFound:
            return True
