"""An actor's tree as a client's model writes to it: all that the actor may, except a person's yes."""

from __future__ import annotations

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.tree.verb_values import Written
from worldfs.world.agent_jobs.responders.planner_responder import read_confirmation
from worldfs.world.agent_jobs.written_terms import ANSWERS, split_message
from worldfs.world.layout.controls import APPROVE, CHAT_INPUT, MISSION, Control
from worldfs.world.mission_files import read_mission_confirmation

from .actor_tree import ActorTree
from .approval_question import ask_approval, read_approval
from .guarded_tree import GuardedTree
from .tool_spec import Asker


class ToolTree(GuardedTree):
    """It takes away three things: to answer a question of the planner's model, to confirm a reading, to approve a plan.

    The question, the code of a reading and the hash of a plan stand in results that the model reads, so a model that
    obeys what it reads could send them. Only `do` answers and confirms, on the tree below this one, with what the
    person has said at the client; and an approval is written once that person has said yes to that very plan.
    """

    def __init__(self, tree: ActorTree, asker: Asker) -> None:
        super().__init__(tree)
        self._asker = asker

    async def check(self, path: str, control: Control, data: bytes) -> Written | None:
        if control.view == APPROVE and (plan := read_approval(data)):
            if not await ask_approval(self._tree, self._asker, path, control.names["node"], plan):
                return None
            await self.answer(path, data)
            return Written(len(data))
        # a path that no row describes may be one that another server resolves
        message = control.view == CHAT_INPUT or not control.known
        text, members = split_message(data.decode("utf-8", "replace")) if message else ("", {})
        mission = control.view == MISSION or not control.known
        if code := _confirmed(text) or (read_mission_confirmation(data) if mission else ""):
            fix = coded("mcp.person_confirms", code=code)
            raise BadInput(coded("mcp.confirms_nothing"), path=path, op="write", code="NEEDS_PERSON", fix=fix)
        if ANSWERS in members:
            fix = coded("mcp.person_answers")
            raise BadInput(coded("mcp.answers_nothing"), path=path, op="write", code="NEEDS_PERSON", fix=fix)
        return None


def _confirmed(text: str) -> str:
    """The code of the reading that a chat message would confirm, "" for none."""
    return read_confirmation(text)[0]
