"""Workload of a home's calls: queued, carried out, failed, cancelled, archived."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.json_values import as_text
from worldfs.base.model import Cause, Job, JobState, Outcome
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.call_fixtures import ALICE
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed
from worldfs.world.agent_jobs import AgentJobContext, AgentJobs

from . import View, Workload
from .effect_log import NAME as EFFECTS
from .effect_log import EffectLog, read_effects


def prepare(path: Path) -> None:
    pass


def run(path: Path, disk: Disk) -> Iterator[str]:
    calls, deeds = _open(path, disk), EffectLog(path, disk)
    carry = _carrier(deeds)
    for n in range(2):
        calls.submit(ALICE, "invoke", "say", {"text": "y" * 900 * n})
        yield f"queued {n}"
    calls.register("chat", carry, threads=0)
    calls.submit(ALICE, "chat", "say", {"text": "hello"})
    _check(calls)
    yield "asked and answered"
    calls.submit(ALICE, "chat", "say", {"text": "z" * 4000, "fail": True})
    _check(calls)
    yield "asked and failed"
    calls.cancel(ALICE, "job-2")
    yield "cancelled"
    calls.register("invoke", carry, threads=0)
    _check(calls)
    yield "carried out what waited"
    calls.close()
    yield "put away"
    deeds.close()


def _refused(job: Job) -> bool:
    """Whether the disk refused a line of this call, or its effect: it ends with the disk's words."""
    outcome = job.status.outcome
    return outcome is not None and outcome.message.startswith((".paos/", EFFECTS))


def _check(calls: AgentJobs) -> None:
    """A step counts as done only if the disk refused no line: such a call reports it as its end, or has none."""
    for id in sorted(_ids(calls)):
        job = calls.job(id)
        if _refused(job) or job.status.state is JobState.RUNNING:
            raise OSError(f"{id}: the disk refused a line")


def restart(path: Path, disk: Disk) -> Iterator[str]:
    """Another server: running calls are lost, queued ones run, and no number is reused."""
    calls, deeds = _open(path, disk), EffectLog(path, disk)
    known = _ids(calls)
    calls.register("chat", _carrier(deeds), threads=0)
    calls.register("invoke", _carrier(deeds), threads=0)
    yield "carried out what was found"
    assert calls.submit(ALICE, "chat", "say", {"text": "again"}) not in known
    yield "asked again"
    calls.close()
    deeds.close()


def inspect(path: Path) -> View:
    """The progress of each call, after a start's recovery; an executed call was marked running before."""
    calls = _open(path, Disk())
    try:
        ids = _ids(calls)
        table = {id: calls.job(id) for id in ids}
        assert set(calls.ids(ALICE)) == ids, f"shown: {calls.ids(ALICE)}, there: {sorted(ids)}"
        acted = read_effects(path)
        assert len(set(acted)) == len(acted), f"a call was carried out twice: {acted}"
        for id in acted:
            assert id in table and table[id].status.attempt, f"{id} was carried out, its file says that it waits"
        return {id: _progress(job) for id, job in table.items()}
    finally:
        calls.close()


def _progress(job: Job) -> tuple[str, ...]:
    """A lost call reached its start."""
    status, outcome = job.status, job.status.outcome
    found = ["queued", *(["running"] if status.attempt else [])]
    if _refused(job):
        return tuple(found)
    if status.state.terminal and outcome is not None and outcome.cause is not Cause.LOST:
        found.append(f"{status.state} {outcome.cause} {outcome.message}")
    return tuple(found)


def _carrier(deeds: EffectLog) -> Callable[[AgentJobContext], Outcome]:
    def carry(run: AgentJobContext) -> Outcome:
        deeds.record(run.id)
        if run.params.get("fail"):
            return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", "it slipped")
        return Outcome.success(str(len(as_text(run.params["text"]))))

    return carry


def _ids(calls: AgentJobs) -> set[str]:
    return {*calls.jobs.open_ids(), *calls.jobs.done_ids()}


def _open(path: Path, disk: Disk) -> AgentJobs:
    return AgentJobs(DiskStore(path, disk), ManualClock(), ChangeFeed())


LIFE = Workload("calls", prepare, run, restart, inspect)
