"""A language model as a responder: a command that the grammar understands goes to the planner, all else to the model.

"models": {"chat": {"kind": "anthropic", "model": "claude-haiku-4-5"}},
"agents": {"brains": [{"agent": "rio", "kind": "model", "model": "chat"}]}
"""

from __future__ import annotations

import asyncio
from typing import Final

from worldfs.base.chat_model import ConfiguredModel
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Outcome
from worldfs.base.stop_words import is_stop
from worldfs.formats.config_services import ResponderConfig
from worldfs.interfaces.mcp.actor_tree import ActorTree
from worldfs.interfaces.mcp.namespace_tree import NamespaceTree
from worldfs.interfaces.mcp.reading import read_instruction
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.chat_context import ChatContext
from worldfs.world.agent_jobs.responders.planner_responder import read_confirmation

from .chat_prompt import opening
from .chat_tree import ChatTree
from .taken_messages import TakenMessages
from .tool_loop import ToolLoop

USUAL: Final = "chat"  # the name in `models` of config.json
TURNS: Final = 10  # earlier messages that the model is shown


def model_responder(settings: ResponderConfig, context: ChatContext) -> ModelResponder:
    """Raises `BadInput` for a key that nothing reads, `MissingRequirement` where no such model is configured."""
    where = "config.json agents.brains"
    name = settings.more.get("model", USUAL)
    if (odd := sorted(set(settings.more) - {"model"})) or not isinstance(name, str):
        found = coded("model.odd_key", key=odd[0]) if odd else f"{name!r:.60}"
        raise BadInput(found, path=where, op="chat", expected=coded("model.chat_keys"))
    model = context.model(name.lower())
    if model is None:
        found, fix = coded("model.not_configured", name=name[:60]), coded("model.add_model", name=name[:60])
        raise MissingRequirement(found, path=where, op="chat", fix=fix)
    return ModelResponder(context, model)


class ModelResponder:
    """Messages to one agent are answered one after the other. What was said before is kept by its jobs alone."""

    def __init__(self, context: ChatContext, model: ConfiguredModel) -> None:
        self._context, self._model = context, model
        self.lane = f"model:{context.agent.name}" if context.agent is not None else ""

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        context = self._context
        binding = run.binding.of_model
        tree = ChatTree(NamespaceTree(binding, context.attach(binding), context.feed, None))
        planner = context.planner
        if planner is not None and self._of_planner(text, tree):
            return planner.answer(text, run)
        messages = opening(run.binding, text, context.turns(run.binding, TURNS))
        taken = None if context.agent is None else TakenMessages(context.agent, context.clock, run)
        answered = False
        try:
            loop = ToolLoop(self._model.open(), tree, context.clock, run, taken)
            outcome = asyncio.run(loop.answer(text, messages))
            answered = outcome.ok
            return outcome
        finally:
            if taken is not None:
                taken.settle(answered=answered)

    def _of_planner(self, text: str, tree: ActorTree) -> bool:
        """A stop, a confirmation, or a command that the grammar understands: no model is asked."""
        if is_stop(text) or read_confirmation(text)[0]:
            return True
        return asyncio.run(read_instruction(tree, text)).kind in ("stop", "command")
