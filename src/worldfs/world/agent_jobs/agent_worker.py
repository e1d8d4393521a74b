"""A chat backend or a tool as a worker: its work function runs each job of one kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from worldfs.base.driver import Run
from worldfs.base.errors import StorageError, WorldError
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Json, Order, Outcome
from worldfs.base.plugin_calls import plugin_name
from worldfs.base.plugin_faults import error_line
from worldfs.runtime.worker_threads import WorkerThreads

from .agent_job import AgentJob, AgentJobContext

WorkFunction = Callable[[AgentJobContext], Outcome]


@dataclass(frozen=True, slots=True)
class AgentWorker:
    """Jobs of one kind. Nothing reviews them, and they have no body that could be observed."""

    work: WorkFunction
    lane: Callable[[AgentJob], str]
    threads: WorkerThreads
    context: Callable[[str], AgentJobContext]  # of a job that runs, by its id

    @property
    def noun(self) -> str:
        return "it"

    @property
    def body(self) -> tuple[str, bool]:
        return "", False

    @property
    def source(self) -> str:
        return plugin_name(self.work)

    @property
    def artifacts(self) -> Path | None:
        return None

    @property
    def counts_reviews(self) -> bool:
        return False

    def review(self, order: Order, run: Run) -> Sequence[Finding]:
        return ()

    def execute(self, order: Order, run: Run) -> Outcome:
        context = self.context(order.id)
        return _judged(_sayable(_run_guarded(self.work, context)), context)

    def observe(self) -> None:
        pass

    def measured(self, order: Order, outcome: Outcome) -> Outcome:
        return outcome

    def stop_confirmation(self) -> Json:
        return {}


def _run_guarded(work: WorkFunction, context: AgentJobContext) -> Outcome:
    try:
        return work(context)
    except StorageError as error:
        return Outcome.failure(Cause.ERROR, "BROKEN", error_message(error))
    except WorldError as error:
        return Outcome.failure(Cause.ERROR, "", error_message(error))
    except Exception as error:  # any error of a tool or a responder ends the job
        return Outcome.failure(Cause.ERROR, "", error_line(error))


def _sayable(outcome: Outcome) -> Outcome:
    """A model's answer may have half of a character in it: no file could hold that."""
    said = str(outcome.message).encode("utf-8", "replace").decode()
    return outcome if said == outcome.message else replace(outcome, message=said)


def _judged(outcome: Outcome, context: AgentJobContext) -> Outcome:
    """A failure after a stop request is caused by it; a success remains a success."""
    if outcome.ok or context.why is None or outcome.cause is context.why:
        return outcome
    if context.why is Cause.TIMEOUT:
        message = f"timed out after {context.seconds:g} s" + (f": {outcome.message}" if outcome.message else "")
        return replace(outcome, cause=Cause.TIMEOUT, code="EXECUTION_TIMEOUT", message=message)
    return replace(outcome, cause=Cause.CANCELLED, code="CANCELLED", message=outcome.message or "asked to stop")
