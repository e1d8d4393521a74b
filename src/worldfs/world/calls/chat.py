"""Chat: what is written to an agent's `chat/control/input` becomes a call at once, and its brain answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from worldfs.ground.errors import BadInput
from worldfs.ground.model import Cause, Outcome
from worldfs.roles.stop_words import is_stop
from worldfs.tree.binding import Binding
from worldfs.tree.virtual_file import WriteResult

from .agent_job import AgentJob, AgentJobContext
from .agent_jobs import AgentJobs

KIND: Final = "chat"
KEY: Final = "agents.brains"  # of config.json


class Responder(Protocol):
    """Who answers an agent's letters."""

    lane: str  # brains of one lane answer one after the other; "": each for itself

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        """The answer as the outcome's message. Runs until it is done or `run.stop` is set; may raise `WorldError`."""
        ...


class Chat:
    """The input of every agent of one home."""

    def __init__(
        self,
        calls: AgentJobs,
        brain: Callable[[str], Responder | None],
        stop: Callable[[Binding], object] = lambda binding: None,
    ) -> None:
        """`brain`: an agent's brain by the agent's name, looked up at each letter; None: it has none.

        `stop`: stops every robot that the binding sees. Called for a letter that says so, before any queue.
        """
        self._calls, self._brain, self._stop = calls, brain, stop
        calls.carry(KIND, self._answer, lane=self._lane)

    def say(self, binding: Binding, data: bytes, correlation: str = "") -> WriteResult:
        """Durable and queued when it returns (acheron D39); blank text is no letter. `BadInput`: it is no text."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise BadInput(f"no UTF-8 at byte {error.start}", op="write", expected="text", code="invalid") from None
        if not text.strip():
            return WriteResult(0)
        if is_stop(text):
            self._stop(binding)
        id = self._calls.submit(binding, KIND, "say", {"text": text}, correlation=correlation)
        extra: dict[str, Any] = {"job": id, "result_path": f"/agents/self/jobs/{id}/result.txt"}
        if correlation:
            extra["correlation_id"] = correlation
        return WriteResult(len(data), extra)

    def _lane(self, call: AgentJob) -> str:
        brain = self._brain(call.agent)
        return brain.lane if brain is not None else ""

    def _answer(self, run: AgentJobContext) -> Outcome:
        brain = self._brain(run.binding.agent)
        if brain is None:
            return Outcome.failure(
                Cause.ERROR,
                "",
                f"agent {run.binding.agent!r} has no brain: {KEY} of config.json names none, and this home has no "
                f'workspace with a robot — add {{"agent": "{run.binding.agent}", "kind": "command", "argv": […]}} '
                f"to {KEY}, or make a workspace with: paos onboard",
            )
        return brain.answer(str(run.params.get("text", "")), run)
