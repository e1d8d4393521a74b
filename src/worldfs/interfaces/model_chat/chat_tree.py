"""The asker's tree as a model in chat may use it: everything is read, and nothing that is written moves a robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.access.binding import Binding
from worldfs.base.errors import BadInput, NotFound
from worldfs.interfaces.mcp.actor_tree import ActorTree, Changes
from worldfs.interfaces.mcp.places import SELF
from worldfs.tree.path import segments
from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import Content, Stat, Written

NOTES: Final = f"{SELF}/memory/control/"
_ORDERS: Final = (FileKind.CONTROL, FileKind.SHEET)


class ChatTree:
    """An `ActorTree`. Rights are judged below it; this only takes away: orders, approvals, documents of robots.

    A model that obeys what it read in a file can therefore stop robots, and write notes, messages and the asker's own
    files below /agents. It starts no motion, approves nothing, and sends no message to a chat.
    """

    def __init__(self, tree: ActorTree) -> None:
        self._tree = tree

    @property
    def binding(self) -> Binding:
        return self._tree.binding

    async def stat(self, path: str) -> Stat:
        return await self._tree.stat(path)

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._tree.entries(path)

    async def read(self, path: str) -> Content:
        return await self._tree.read(path)

    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        if not await self._open_to_chat(path):
            raise BadInput(
                "a model in chat gives no orders and writes no documents of robots",
                path=path,
                op="write",
                expected="a file below /agents that takes no orders",
                code="NO_ORDERS",
                fix="`propose` an instruction, or tell the asker what to write",
            )
        return await self._tree.write(path, data, expect=expect)

    def changes(self, path: str) -> Changes:
        return self._tree.changes(path)

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
