"""Workload of a running kernel: its own loop and dispatch over a disk, and a driver whose motions no crash undoes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.driver import Run
from worldfs.base.errors import StorageError
from worldfs.base.json_values import as_int
from worldfs.base.model import Cause, Finding, Job, JobState, Json, Order, Outcome, Scene
from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.job_end import RETRIED
from worldfs.runtime.kernel import Kernel
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver
from worldfs.tree.workspace_stores import WorkspaceStores

from . import View, Workload
from .effect_log import NAME as EFFECTS
from .effect_log import EffectLog, read_effects

WORLD, LESSONS = "world", "lessons"
FIRST = (
    Order("one", "arm", "move_to", {"note": "x" * 700}),
    Order("two", "arm", "move_to", {"fails": 1}, attempts=3),
    Order("three", "arm", "move_to", {"refuse": "a wall"}),
    Order("four", "arm", "move_to", {"note": "z" * 5000}),
    Order("five", "arm", "move_to", {"fails": 9}),
)


class EffectDriver(NullDriver):
    """Logs its effect before it reports anything."""

    def __init__(self, deeds: EffectLog) -> None:
        super().__init__()
        self.effects = deeds
        self.refused: StorageError | None = None

    def execute(self, order: Order, run: Run) -> Outcome:
        try:
            self.effects.record(f"{order.id} {run.attempt}")
        except StorageError as error:
            self.refused = error
            raise
        if run.attempt <= as_int(order.params.get("fails")):
            return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", "it slipped")
        return super().execute(order, run)

    def close(self) -> None:
        super().close()
        self.effects.close()


class FileJobHooks:
    """Writes observations and lessons, as the world's hooks do, into two plain files."""

    def __init__(self, path: Path, store: DiskStore) -> None:
        self.path, self.store = path, store

    def review(self, order: Order, run: Run) -> Sequence[Finding]:
        why = order.params.get("refuse")
        return (Finding("CRITIC_REFUSED", order.op, "a free way", str(why), "choose another"),) if why else ()

    def observe(self, node: str) -> Scene:
        self.store.put(WORLD, "\n".join(read_effects(self.path)).encode())
        return Scene()

    def look(self, node: str) -> None:
        pass

    def remember(self, order: Order, outcome: Outcome) -> None:
        self.store.append(LESSONS, f"\n{order.id}\n".encode())  # a torn line before it stays separate

    def measured(self, order: Order, outcome: Outcome) -> Outcome:
        return outcome

    def stop_confirmation(self, node: str) -> Json:
        return {}

    def control(self, node: str, text: str) -> None:
        pass

    def localise(self, outcome: Outcome) -> Outcome:
        return outcome


def prepare(path: Path) -> None:
    pass


def run(path: Path, disk: Disk) -> Iterator[str]:
    kernel = _start(path, disk)
    kernel.jobs.accept(FIRST[:3])
    yield "accepted three"
    for n in range(4):
        _turn(kernel)
        yield f"turn {n}"
    kernel.jobs.accept(FIRST[3:])
    kernel.jobs.request_cancel("four", "operator")
    yield "accepted two, one of them cancelled"
    for n in range(4, 7):
        _turn(kernel)
        yield f"turn {n}"
    _end(kernel)


def _turn(kernel: Kernel) -> None:
    """A turn counts as done only if the disk refused no lane and no effect: the kernel says so one turn later."""
    kernel.tick()
    driver = kernel.nodes["arm"].driver
    if isinstance(driver, EffectDriver) and driver.refused is not None:
        raise driver.refused
    for attempt in kernel.open.finished:
        if attempt.broken is not None:
            raise attempt.broken


def restart(path: Path, disk: Disk) -> Iterator[str]:
    """A kernel starts: running jobs are lost, queued ones run."""
    kernel = _start(path, disk)
    kernel.jobs.accept([Order("again", "arm", "move_to", {})])
    yield "accepted again"
    turn = 0
    while kernel.tick():
        turn += 1
        yield f"turn {turn} again"
    assert kernel.idle, "jobs are left that nobody carries out"
    _end(kernel)


def inspect(path: Path) -> View:
    """The progress of each job, after a start's recovery; a job that moved was marked running before."""
    kernel = _start(path, Disk())
    try:
        jobs = kernel.jobs
        table = {id: jobs.load(id) for id in {*jobs.open_ids(), *jobs.done_ids()}}
        moved = read_effects(path)
        assert len(set(moved)) == len(moved), f"an attempt moved twice: {moved}"
        for deed in moved:
            id, attempt = deed.split()
            known = table[id].status.attempt if id in table else "no job"
            assert id in table and int(attempt) <= table[id].status.attempt, f"{deed} moved, its file says {known}"
        for job in table.values():
            _told(path, job)
        assert all(table[id].status.state.terminal for id in jobs.done_ids()), "put away, and its end is not there"
        return {id: _progress(job) for id, job in table.items()}
    finally:
        _end(kernel)


def _told(path: Path, job: Job) -> None:
    """A job's end is visible only after its observation and its lesson."""
    outcome = job.status.outcome
    if not job.status.state.terminal or outcome is None:
        return
    if outcome.ok:
        assert f"{job.id} {job.status.attempt}" in _lines(path / WORLD), f"{job.id} succeeded, and the world is old"
    elif outcome.cause in (*RETRIED, Cause.REJECTED, Cause.LOST):
        assert job.id in _lines(path / LESSONS), f"{job.id} failed, and nobody remembers"


def _progress(job: Job) -> tuple[str, ...]:
    """A lost job reached its last attempt, and so did one whose effect the disk refused."""
    status, outcome = job.status, job.status.outcome
    found = ["accepted"]
    for attempt in range(1, status.attempt + 1):
        found += [f"attempt {attempt}", "to be tried again"]
    refused = outcome is not None and outcome.message.startswith(f"StorageError: {EFFECTS}:")
    if status.attempt and (refused or status.state is not JobState.PENDING):
        found.pop()
    if status.state.terminal and outcome is not None and outcome.cause is not Cause.LOST and not refused:
        found.append(f"{status.state} {outcome.cause} {outcome.message}")
    return tuple(found)


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode(errors="replace").splitlines() if path.exists() else []


def _start(path: Path, disk: Disk) -> Kernel:
    store, clock = DiskStore(path, disk), ManualClock()
    kernel = Kernel(
        WorkspaceStores(store, {}),
        clock,
        FileJobHooks(path, store),
        {"arm": KernelNode("arm", EffectDriver(EffectLog(path, disk)))},
        threads=False,
    )
    kernel.recover()
    return kernel


def _end(kernel: Kernel) -> None:
    kernel.close()
    kernel.jobs.store.close()


LIFE = Workload("kernel", prepare, run, restart, inspect)
