"""The jobs of the agents of one home (calls): accepted durably, run in bounded threads, shown for a day after the end.

    HOME/.paos/jobs/job-N.jsonl   open, or ended a moment ago: the order, the statuses, the log
    HOME/.paos/done/job-N.jsonl   the same file later; never listed here
    HOME/.paos/calls/<day>.jsonl  a line for each end of that day (ended_jobs.py)

The order is durable before its id is returned; `running` before anything is done; the end is the last write, and is
published after it. A start ends a running job as lost, and runs a queued one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.access.binding import Binding
from worldfs.base.clock import Clock, SystemClock, stamp
from worldfs.base.errors import BadInput, Busy, NotFound
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded
from worldfs.base.model import Job, JobStatus, Json, Order, Outcome
from worldfs.formats.sheet_members import OrderTerms
from worldfs.runtime.grace import AGENT
from worldfs.runtime.job_codec import read_job
from worldfs.runtime.job_store import JobStore, done_key, job_key
from worldfs.storage.open_store import open_store
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Wait

from .agent_job import (
    AgentJob,
    AgentJobContext,
    ChatTurn,
    agent_job_of,
    binding_of,
    error_line,
    message_text,
    result_text,
)
from .agent_job_table import AgentJobTable
from .agent_runtime import AgentRuntime
from .agent_worker import WorkFunction
from .change_numbers import ChangeNumbers
from .job_log import log_lines
from .job_numbers import JobNumbers
from .past_jobs import past_file

if TYPE_CHECKING:
    from worldfs.storage.dated_versions import DatedVersions
    from worldfs.storage.store_interface import Store

TERMS: Final = OrderTerms()
OPEN_MOST: Final = 1_024  # calls of one agent that have not ended


class AgentJobs:
    """Thread-safe. The cost does not grow with the number of ended jobs."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        feed: ChangeFeed,
        *,
        held: bool = False,
        after: Callable[[str], object] = lambda agent: None,
    ) -> None:
        """`held`: nothing runs before `start`. `after`: called with the agent's name when a work function has returned
        or raised, before the end of its job is written."""
        self.clock, self.feed, self._after = clock, feed, after
        self.jobs = JobStore(store, clock)
        self._numbers = ChangeNumbers(clock, feed)
        self._lock = threading.Lock()
        self._table = AgentJobTable(clock)
        self._open: dict[str, int] = {}  # agent: calls that have not ended
        self._closed = False
        self.runtime = AgentRuntime(self.jobs, feed, self._table, self._numbers, self._closed_one, held=held)
        found, self.unreadable = self.runtime.recover()  # unreadable files are left as they are
        for call in found:
            if not call.over:
                self._open[call.agent] = self._open.get(call.agent, 0) + 1
        self._counter = JobNumbers(self.jobs, max((call.number for call in found), default=0))

    @classmethod
    def open(
        cls,
        home: Path | None,
        clock: Clock | None = None,
        feed: ChangeFeed | None = None,
        *,
        held: bool = False,
        after: Callable[[str], object] = lambda agent: None,
    ) -> AgentJobs:
        """The jobs of an existing home directory; None: in memory only. `held`, `after`: as of the class."""
        store = open_store("memory") if home is None else open_store("disk", home)
        return cls(store, clock or SystemClock(), feed or ChangeFeed(), held=held, after=after)

    def close(self, timeout: float = AGENT.stop_s) -> None:
        """Ask the running jobs to stop and wait; the next start ends the others as lost, and runs the queued ones."""
        with self._lock:
            self._closed = True
        self.runtime.close(timeout)
        self.jobs.store.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    def register(
        self,
        kind: str,
        run: WorkFunction,
        *,
        lane: Callable[[AgentJob], str] = lambda call: "",
        threads: int | None = None,
    ) -> None:
        """Register the work function of a kind; its queued jobs begin.

        `lane`: jobs of the same non-empty lane run one after the other, in order. `run` returns the
        outcome; an exception of it is a failed job. `threads`: at most so many at once; 0: each
        runs in the submitter's thread.
        """

        def work(context: AgentJobContext) -> Outcome:
            try:
                return run(context)
            finally:
                self._after(context.binding.agent)

        self.runtime.register(kind, work, lane, threads)

    def start(self) -> None:
        """Run the queued jobs, and from now on each new one at once. Needed after `held`."""
        self.runtime.start()

    def submit(
        self,
        binding: Binding,
        kind: str,
        op: str,
        params: Json,
        *,
        correlation: str = "",
        place: str = "",
        file: str = "",
        terms: OrderTerms = TERMS,
    ) -> str:
        """The id of a new job, durable as queued. Raises `Busy` when too many of this agent have not ended.

        `BadInput` where it depends on a job that the binding does not see: it could not end for a reason to be told.
        """
        if unseen := next((other for other in terms.depends_on if not self.known(binding, other)), ""):
            found = coded("world.no_job_of_yours", id=unseen[:80])
            raise BadInput(found, op="write", code="invalid", fix=coded("world.list_jobs"))
        with self._lock:
            if self._closed:
                raise Busy(coded("world.closing"), op="submit", fix=coded("world.submit_again"))
            if self._open.get(binding.agent, 0) >= OPEN_MOST:
                raise Busy(
                    coded("world.jobs_open", n=OPEN_MOST, agent=binding.agent),
                    op="submit",
                    fix=coded("world.wait_for_jobs"),
                    code="queue_saturated",
                )
            self._open[binding.agent] = self._open.get(binding.agent, 0) + 1
        named = {"kind": kind, "project": binding.project, "correlation": correlation, "place": place, "file": file}
        named |= {"person": binding.person, "model": "yes" if binding.model else ""}
        extra: Json = {name: value for name, value in named.items() if value or name == "kind"}
        first = Order("", binding.agent, op, params, asker=binding.role, sheet="", extra=extra, **terms._asdict())
        try:
            order = self._accepted(first)
        except BaseException:
            self._closed_one(binding.agent)
            raise
        self.runtime.enter(Job(order, JobStatus(accepted_at=stamp(self.clock.now()))), binding)
        return order.id

    def cancel(self, binding: Binding, id: str) -> None:
        """Queued: it ends now. Running: it is asked to stop. Ended: nothing. Raises `NotFound`."""
        self.runtime.cancel(self.visible_job(binding, id))

    # -- looking -----------------------------------------------------------------------------------------------------

    def ids(self, binding: Binding) -> list[str]:
        """The shown jobs of the binding's agent and project, oldest first."""
        return self._table.ids(binding)

    def visible_job(self, binding: Binding, id: str) -> AgentJob:
        """Raises `NotFound`, also for a job of another agent or project."""
        call = self._table.shown(binding, id)
        if call is None:
            raise NotFound(coded("runtime.no_job", id=id[:40]), path=f"/agents/self/jobs/{id[:40]}", op="read")
        return call

    def known(self, binding: Binding, id: str) -> bool:
        return self._table.shown(binding, id) is not None

    def status(self, binding: Binding, id: str) -> bytes:
        """`status.json`, from memory."""
        return self.visible_job(binding, id).status()

    def result(self, binding: Binding, id: str) -> bytes:
        """`result.txt`, from the disk; empty before the end."""
        return result_text(self.outcome(self.visible_job(binding, id)))

    def message(self, binding: Binding, id: str) -> bytes:
        """`message.txt`, from the disk: the text of a chat's message; empty for a job of a service."""
        self.visible_job(binding, id)
        return message_text(self.job(id).order)

    def log(self, binding: Binding, id: str) -> bytes:
        """`log.txt`: lines of JSON that the run wrote; the last line of a failed one says why."""
        call = self.visible_job(binding, id)
        data = self._file(id)
        lines = log_lines(data)
        outcome = read_job(data, job_key(id)).status.outcome if call.over else None
        if outcome is not None and not outcome.ok:
            lines.append(error_line(id, outcome, call.updated_ms))
        return b"".join(lines)

    def past(self, binding: Binding, id: str, name: str) -> DatedVersions:
        """A file of the job at any time, from the disk. Raises `NotFound`."""
        self.visible_job(binding, id)
        found = past_file(name, self._file(id), job_key(id))
        if found is None:
            raise NotFound(coded("world.no_job_file", name=name), path=id, op="read")
        return found

    def job(self, id: str) -> Job:
        """The whole job, from the disk. Raises `NotFound`."""
        return read_job(self._file(id), job_key(id))

    def outcome(self, call: AgentJob) -> Outcome | None:
        """The outcome, from the disk; None before the end."""
        return self.job(call.id).status.outcome if call.over else None

    def latest(self, binding: Binding, place: str, file: str = "") -> AgentJob | None:
        """The newest job of this agent and project that came by a control of this directory."""
        id = self._table.latest(binding, place, file)
        if id is None:
            return None
        return self._table.get(id) or agent_job_of(
            self.job(id)
        )  # no longer shown, but still the latest of this control

    def ended(self, id: str) -> bool:
        """Whether it has ended, or does not exist."""
        call = self._table.get(id)
        return call is None or call.over

    def wait(self, id: str, timeout: float) -> Wait:
        """Until the end of a job."""
        call = self._table.get(id)
        return Wait(() if call is None else call.topics[:1], lambda: self.ended(id), timeout)

    def number(self) -> int:
        """The number of the last change so far; ends and publications count on from it."""
        return self._numbers.last()

    def number_of(self, seq: int) -> int:
        """The number of a publication of the feed."""
        return self._numbers.of_publication(seq)

    def seq_of(self, number: int) -> int:
        """The publication of the feed with that number; 0 for one before this process."""
        return self._numbers.publication(number)

    def chat_end_after(self, binding: Binding, number: int, given: Callable[[str], bool]) -> AgentJob | None:
        """The job of the first end of a chat after `number` that was not delivered yet."""
        return self._table.chat_end_after(binding, number, given)

    def turns(self, binding: Binding, most: int) -> list[ChatTurn]:
        """What the binding's role said last to its agent in its project, within a day, and the answers; oldest first.

        Other roles' words are left out: they would be read with rights that their speaker does not have.
        """
        found: list[ChatTurn] = []
        for id in self._table.newest_chats(binding, 2 * most):
            if len(found) == most:
                break
            if not self.known(binding, id):
                continue
            try:
                job = self.job(id)
            except (NotFound, BadInput):
                continue  # removed or broken by another program
            outcome = job.status.outcome
            if binding_of(job.order) == binding._replace(token="") and outcome is not None:
                text, answer = as_text(job.order.params.get("text")), result_text(outcome).decode()
                found.append(ChatTurn(text, answer, outcome.ok))
        return found[::-1]

    def tick(self) -> float | None:
        """Run what is due by the clock: for tests with a manual clock."""
        self._table.forget_old()
        return self.runtime.deadlines.tick()

    # -- carrying out ------------------------------------------------------------------------------------------------

    def _accepted(self, order: Order) -> Order:
        while True:
            with self._lock:
                new = replace(order, id=self._counter.allocate())
            if self.jobs.accept([new])[0].new:  # else a foreign file has that name
                return new

    def _closed_one(self, agent: str) -> None:
        with self._lock:
            self._open[agent] -= 1
            if not self._open[agent]:
                del self._open[agent]

    # -- the files ---------------------------------------------------------------------------------------------------

    def _file(self, id: str) -> bytes:
        for key in (job_key(id), done_key(id), job_key(id)):  # it may be moved between the first two reads
            stored = self.jobs.store.get(key)
            if stored is not None:
                return stored.data
        raise NotFound(coded("runtime.no_job", id=id), path=id, op="read")
