"""The asker's tree as a model in chat may use it: everything is read, and nothing that is written moves a robot."""

from __future__ import annotations

from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.interfaces.mcp.guarded_tree import GuardedTree
from worldfs.world.layout.controls import STOPPING, Control

_NOTES: Final = "memory"  # the agent's service of notes


class ChatTree(GuardedTree):
    """It takes away: orders, approvals, documents of robots.

    A model that obeys what it read in a file can therefore stop robots, and write notes, messages and the asker's own
    files below /agents. It starts no motion, approves nothing, and sends no message to a chat.
    """

    async def check(self, path: str, control: Control, data: bytes) -> None:
        if not _open_to_chat(control):
            raise BadInput(
                coded("model.no_orders"),
                path=path,
                op="write",
                expected=coded("model.agent_file"),
                code="NO_ORDERS",
                fix=coded("model.propose_it"),
            )


def _open_to_chat(control: Control) -> bool:
    if control.view in STOPPING or control.given.get("place") == _NOTES:
        return True
    return control.root == "agents" and not control.orders
