"""An actor's tree as a client's model writes to it: all that the actor may, except a person's yes."""

from __future__ import annotations

from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.tree.path import segments
from worldfs.world.agent_jobs.responders.planner_responder import read_confirmation
from worldfs.world.agent_jobs.written_terms import split_message

from . import places
from .guarded_tree import GuardedTree

_INPUT: Final = ("chat", "control", "input")  # of any agent, by whatever link


class ToolTree(GuardedTree):
    """It takes away one thing: to confirm a reading.

    The code of a reading stands in the result that the model reads, so a model that obeys what it reads could send it.
    Only `do` confirms, on the tree below this one, once the person has said yes at the client.
    """

    async def check(self, path: str, data: bytes) -> None:
        if segments(places.absolute(path))[-3:] == _INPUT and (code := _confirmed(data)):
            raise BadInput(
                coded("mcp.confirms_nothing"),
                path=path,
                op="write",
                code="NEEDS_PERSON",
                fix=coded("mcp.person_confirms", code=code),
            )


def _confirmed(data: bytes) -> str:
    """The code of the reading that a chat message would confirm, "" for none."""
    text, _ = split_message(data.decode("utf-8", "replace"))
    return read_confirmation(text)[0]
