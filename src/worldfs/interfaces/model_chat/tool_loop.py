"""One message, worked on by a model: calls of tools in turn, until it answers or a bound is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from worldfs.base.chat_model import ModelMessage, ModelReply, ModelTool, ModelUnavailable, RecordingModel, RequestedCall
from worldfs.base.clock import Clock
from worldfs.base.driver import Run
from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Cause, Json, Outcome
from worldfs.interfaces.mcp.actor_tree import ActorTree
from worldfs.interfaces.mcp.tool_arguments import input_schema
from worldfs.interfaces.mcp.tool_service import ToolService
from worldfs.world.agent_jobs.agent_job import AgentJobContext

from . import chat_prompt
from .chat_tools import ProposedInstruction, chat_tools
from .taken_messages import TakenMessages

STEPS: Final = 24  # requests to the model for one message
CALLS: Final = 8  # tools in one step
MISSES: Final = 3  # steps without a usable call
ANSWER_MOST: Final = 20_000  # characters


class ToolLoop:
    """The asker's message is one job: `run` says when to stop, and its evidence names every call of model and tools."""

    def __init__(
        self, model: RecordingModel, tree: ActorTree, clock: Clock, run: AgentJobContext, taken: TakenMessages | None
    ) -> None:
        """`taken`: the messages that wait for the agent; None for an agent without a directory."""
        self._model, self._run = model, run
        self._proposals: list[ProposedInstruction] = []
        self._service = ToolService(tree, clock, (*chat_tools(self._proposals), *([taken.tool] if taken else ())))
        self._within = Run(clock, clock.monotonic() + run.left(), cancel=run.stop)
        self._used: list[Json] = []

    async def answer(self, text: str, messages: list[ModelMessage]) -> Outcome:
        tools = [
            ModelTool(tool.name, tool.about, input_schema(tool.arguments)) for tool in self._service.tools.values()
        ]
        misses, problem = 0, ""
        for _ in range(STEPS):
            if misses >= MISSES:
                return self._failed("MODEL_ANSWER", coded("model.no_use", name=self._model.name, problem=problem))
            try:
                reply = self._model.reply(tuple(messages), (*tools, chat_prompt.ANSWER), self._within)
            except ModelUnavailable as error:
                if error.code != "MODEL_ANSWER":
                    return self._failed(error.code, str(error))
                misses, problem = misses + 1, error.found
                messages.append(chat_prompt.data({"problem": problem}))
                continue
            if said := _answer_in(reply):
                return Outcome.success(self._said(said, text), **self._evidence())
            if not reply.calls:
                misses, problem = misses + 1, "neither a call of a tool nor a text"
                messages.append(chat_prompt.data({"problem": problem}))
                continue
            messages.append(chat_prompt.asked(reply.calls))
            results = await self._results(reply.calls)
            if self._run.stop.is_set():
                return self._failed("MODEL_STOPPED", coded("model.stopped"))
            messages.append(chat_prompt.data({"results": results}))
        return self._failed("MODEL_STEPS", coded("model.no_end", name=self._model.name, n=STEPS))

    async def _results(self, calls: Sequence[RequestedCall]) -> list[Json]:
        found: list[Json] = []
        for call in calls[:CALLS]:
            alone: Json = {"problem": "call answer alone, once the results are known"}
            result = alone if call.tool == chat_prompt.ANSWER.name else await self._result(call)
            if self._run.stop.is_set():
                break
            found.append(result)
        if len(calls) > CALLS:
            found.append({"problem": f"{len(calls) - CALLS} calls were left out: at most {CALLS} in one step"})
        return found

    async def _result(self, call: RequestedCall) -> Json:
        """A stop ends a wait of the tool, never a write that was begun."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._service.call(call.tool, call.arguments, _NO))

        def cancel() -> None:
            with suppress(RuntimeError):  # the loop is closed: the answer was given meanwhile
                loop.call_soon_threadsafe(task.cancel)

        with self._run.stop.calling(cancel):
            try:
                result = await task
            except asyncio.CancelledError:
                if not self._run.stop.is_set():
                    raise
                return {}
        self._used.append({"tool": call.tool[:60], "ok": not result.error})
        self._run.log("tool", name=call.tool[:60], ok=not result.error)
        return chat_prompt.result(call.tool, result)

    def _said(self, answer: str, text: str) -> str:
        """The model's answer, and below it in our words what it proposes."""
        if not self._proposals:
            return answer[:ANSWER_MOST]
        lines = [coded("model.propose", text=one.text, reading=one.reading) for one in self._proposals]
        shown = [render(line, language_of(text)) for line in (coded("model.unmoved"), *lines)]
        return "\n".join((answer[:ANSWER_MOST], "", *shown))

    def _failed(self, code: str, why: str) -> Outcome:
        return Outcome.failure(Cause.ERROR, code, why, evidence=self._evidence())

    def _evidence(self) -> Json:
        return {"model_calls": [call.as_json() for call in self._model.calls], "tools": self._used}


class _Nobody:
    """The asker reads the answer; a tool has no person to ask meanwhile."""

    able = False

    @property
    def kept(self) -> dict[str, str]:
        return {}

    async def ask(self, message: str, field: str, about: str) -> str | None:
        return None


_NO: Final = _Nobody()


def _answer_in(reply: ModelReply) -> str:
    """The answer that a reply ends with, "" for none: words without a call are one too, for they move nothing."""
    if not reply.calls:
        return reply.text.strip()
    alone = len(reply.calls) == 1 and reply.calls[0].tool == chat_prompt.ANSWER.name
    said = reply.calls[0].arguments.get("text") if alone else None
    return said.strip() if isinstance(said, str) else ""
