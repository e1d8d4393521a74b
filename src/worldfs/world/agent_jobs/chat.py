"""Chat: a write to an agent's `chat/control/input` becomes a job at once, and the agent's responder answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from worldfs.access.binding import Binding
from worldfs.base.errors import BadInput, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Json, Outcome
from worldfs.base.stop_words import is_stop, may_be_about_stopping
from worldfs.tree.verb_values import Written

from .agent_job import AgentJob, AgentJobContext
from .agent_jobs import AgentJobs
from .written_terms import ANSWERS, answers_json, read_answers, read_terms, split_message

KIND: Final = "chat"
URGENT: Final = "say_now"  # a message that may be about stopping: it waits for none before it
KEY: Final = "agents.brains"  # of config.json


class Responder(Protocol):
    """Answers an agent's messages."""

    lane: str  # responders of one lane answer one after the other; "": no lane

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        """The answer as the outcome's message. Runs until it is done or `run.stop` is set; may raise `WorldError`."""
        ...


class Chat:
    """The input of every agent of one home."""

    def __init__(
        self,
        calls: AgentJobs,
        responder: Callable[[str], Responder | None],
        stop: Callable[[Binding], object] = lambda binding: None,
        robots: Callable[[Binding], Iterable[str]] = lambda binding: (),
    ) -> None:
        """`responder`: an agent's responder by the agent's name, looked up for each message; None: it has none.

        `stop`: stops every robot that the binding sees. Called for a message that says so, before any queue.
        `robots`: their names.
        """
        self._calls, self._responder, self._stop, self._robots = calls, responder, stop, robots
        calls.register(KIND, self._answer, lane=self._lane)

    def send(self, binding: Binding, data: bytes, correlation: str = "") -> Written:
        """Durable and queued when it returns (acheron D39); blank text is no message. `BadInput`: it is no text."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise BadInput(
                coded("world.no_utf8", at=error.start), op="write", expected=coded("file.text"), code="invalid"
            ) from None
        text, members = split_message(text)
        if not text.strip():
            return Written(0)
        stops = is_stop(text, lambda: self._robots(binding))
        if stops:
            self._stop(binding)  # whatever its members say
        answers, terms = read_answers(members), read_terms(members)
        params: Json = {"text": text, ANSWERS: answers_json(answers)} if answers else {"text": text}
        op = URGENT if may_be_about_stopping(text) else "say"
        try:
            id = self._calls.submit(binding, KIND, op, params, correlation=correlation, terms=terms)
        except WorldError as error:
            if stops:
                error.fix = coded("stop.told_all_the_same", fix=error.fix)
            raise
        extra: dict[str, object] = {"job": id, "result_path": f"/agents/self/jobs/{id}/result.txt"}
        if correlation:
            extra["correlation_id"] = correlation
        return Written(len(data), extra)

    def _lane(self, call: AgentJob) -> str:
        """Of a package's backend that does not say, none; nor of a text that may be meant to stop what runs there."""
        if call.op == URGENT:
            return ""
        responder = self._responder(call.agent)
        try:
            return responder.lane if responder is not None else ""
        except Exception:  # whatever a package raises
            return ""

    def _answer(self, run: AgentJobContext) -> Outcome:
        responder = self._responder(run.binding.agent)
        if responder is None:
            agent = run.binding.agent
            entry = f'{{"agent": "{agent}", "kind": "command", "argv": […]}}'
            return Outcome.failure(Cause.ERROR, "", coded("world.no_responder", agent=agent, key=KEY, entry=entry))
        return responder.answer(str(run.params.get("text", "")), run)
