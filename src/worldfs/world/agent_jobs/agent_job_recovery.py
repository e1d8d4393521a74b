"""Recovery: the agents' jobs of an earlier process that a start finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import NotFound, UserError
from worldfs.base.model import Cause, Job, JobState, Outcome
from worldfs.runtime.job_store import JobStore

from .agent_job import AgentJob, agent_job_of, is_agent_order
from .ended_jobs import EndedJobs

LOST: Final = "the server died while it ran; it may have acted, so it is not repeated"


class FoundAgentJobs(NamedTuple):
    queued: tuple[AgentJob, ...]  # by number
    ended: tuple[AgentJob, ...]  # within a day, in the order of their ends
    unreadable: tuple[str, ...]  # unreadable job files; left as they are

    @property
    def highest(self) -> int:
        return max((call.number for call in (*self.queued, *self.ended)), default=0)


def recover(jobs: JobStore, shown: EndedJobs, clock: Clock, horizon_ms: int) -> FoundAgentJobs:
    """A running job is ended as lost; an ended open one is archived. The cost grows with open and shown jobs."""
    ended = {call.id: call for call in shown.read(horizon_ms)}
    queued: list[AgentJob] = []
    unreadable: list[str] = []
    for id in jobs.open_ids():
        try:
            if jobs.ended(id):
                jobs.drop_copy(id)
                continue
            job = jobs.load(id)
        except NotFound:
            continue
        except UserError:
            unreadable.append(id)
            continue
        if not is_agent_order(job.order) or job.order.id != id:
            continue
        call = agent_job_of(_settled(jobs, job, clock))
        if not call.over:
            queued.append(call)
            continue
        ended[id] = call
        shown.add(call)
    last = sorted(ended.values(), key=lambda call: (call.updated_ms, call.number))
    shown.flush()
    queued.sort(key=lambda call: call.number)
    return FoundAgentJobs(
        tuple(queued), tuple(call for call in last if call.updated_ms > horizon_ms), tuple(unreadable)
    )


def _settled(jobs: JobStore, job: Job, clock: Clock) -> Job:
    if not job.status.state.terminal:
        jobs.close_torn_line(job.id)
    if job.status.state is not JobState.RUNNING:
        return job
    outcome = Outcome.failure(Cause.LOST, "LOST", LOST)
    status = replace(job.status, state=JobState.FAILED, completed_at=stamp(clock.now()), outcome=outcome)
    jobs.write_status(job.id, status)
    return Job(job.order, status)
