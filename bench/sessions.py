"""Sessions of a skill that does nothing (`NullRuntime`): what the runtime itself costs, not a robot's skill.

A queue of 1,000 on four targets against what it asks of the disk, done bare; a decision among 10,000; an idle runtime.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from ._stand import Stand, percentile, scratch
from ._tape import Replay

FIGURES = ("sessions.rate_over_floor", "sessions.idle_cpu_percent", "schedule.decision_10k_ms")
SESSIONS, TARGETS = 1000, 4
PENDING, DECISIONS = 10_000, 200
IDLE_S = 15.0


def run() -> dict[str, float]:
    with scratch() as place:
        figures = rate(place / "queue")
    return {**figures, "schedule.decision_10k_ms": decision(PENDING), "schedule.decision_10_ms": decision(10)}


class Sessions(Stand):
    """The stand, with SESSIONS.md for its sheet."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(workspace)
        self.sheet = workspace / "SESSIONS.md"

    @property
    def pid(self) -> int:
        return self._process.pid

    def submit(self, count: int, name: str) -> float:
        """The clock at the moment of the rename."""
        entries = [
            {"session_id": f"sess_{name}_{n:04d}", "target_ref": f"t{n % TARGETS}", "skill_ref": "nothing",
             "status": "pending"}
            for n in range(count)
        ]  # fmt: skip
        draft = self.workspace / ".draft"
        draft.write_text(json.dumps({"sessions": entries}, indent=1) + "\n")
        began = time.perf_counter()
        draft.rename(self.sheet)
        return began

    def wait_done(self, count: int, name: str) -> float:
        give_up = time.monotonic() + 120
        while time.monotonic() < give_up:
            self._feed.read(timeout=1000)
            data = self.sheet.read_bytes()
            if data.count(b'"succeeded"') >= count and f"sess_{name}_{count - 1:04d}".encode() in data:
                return time.perf_counter()
            if b'"failed"' in data:
                raise RuntimeError(f"a session failed: {data[: data.index(b'failed') + 400][-600:].decode()}")
        raise TimeoutError(f"{count} sessions did not end: {self.sheet.read_text()[-400:]}")


def rate(place: Path) -> dict[str, float]:
    """Against the very same calls on the disk, bare, and what an idle runtime costs afterwards."""
    place.mkdir(parents=True)
    targets = [
        {"id": f"t{n}", "type": "sim", "enabled": True, "adapter": {"class": "SimTargetAdapter"}}
        for n in range(TARGETS)
    ]
    (place / "TARGETS.md").write_text(json.dumps({"targets": targets}))
    (place / "SKILLS.md").write_text(json.dumps({"skills": [{"id": "nothing", "runtime": "NullRuntime"}]}))
    (place / "SESSIONS.md").write_text(json.dumps({"sessions": []}))
    with Sessions(place) as stand:
        stand.submit(TARGETS, "warm")  # directories made, files met for the first time
        stand.wait_done(TARGETS, "warm")
        stand.tape()
        stand.submit(SESSIONS, "taped")
        stand.wait_done(SESSIONS, "taped")
        tape = stand.tape()
        before = stand.commits()
        floor = Replay(place / "floor", [tape], 2)
        bare = floor.seconds()
        began = stand.submit(SESSIONS, "nothing")
        took = stand.wait_done(SESSIONS, "nothing") - began
        bare += floor.seconds()  # before and after: the speed of a shared disk changes
        ground = sum(bare) / len(bare)
        writes = (stand.commits() - before) / SESSIONS
        time.sleep(2)
        early, at = _cpu(stand.pid), time.monotonic()
        time.sleep(IDLE_S)
        idle = 100 * (_cpu(stand.pid) - early) / (time.monotonic() - at)
    floor.close()
    return {
        "sessions.rate_over_floor": ground / took,
        "sessions.per_s": SESSIONS / took,
        "sessions.overhead_ms": 1000 * (took - ground) / SESSIONS,
        "sessions.writes": writes,
        "sessions.idle_cpu_percent": idle,
    }


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def decision(count: int) -> float:
    """Milliseconds (median) to choose the next jobs among `count` with limits, half of them held by others."""
    from worldfs.base.model import Job, JobStatus, Order
    from worldfs.runtime.deferred_jobs import DeferredJobs
    from worldfs.runtime.job_store import JobStore
    from worldfs.runtime.ready_queue import ReadyQueue
    from worldfs.storage.memory_store import MemoryStore
    from worldfs.testing.manual_clock import ManualClock

    clock = ManualClock()
    lines, waiting = ReadyQueue(), DeferredJobs(JobStore(MemoryStore(), clock), clock)
    open: dict[str, Job] = {}
    for n in range(count):
        holds = (f"s{n - 1:05d}",) if n % 2 else ()
        order = Order(f"s{n:05d}", f"t{n // 2 % TARGETS}", "x", queue_timeout_s=1e6, depends_on=holds)
        job = Job(order, JobStatus(accepted_at="2026-01-01T00:00:00Z"))
        open[job.id] = job
        if not waiting.add(job, open):
            lines.add(job)
    took = []
    for _ in range(min(DECISIONS, count // (2 * TARGETS) or 1)):
        began = time.perf_counter()
        waiting.take_ended()
        chosen = lines.choose({}, clock.now(), lambda node: True)
        for job in chosen:
            lines.drop(job)
            waiting.drop(job.id)
            for freed in waiting.on_end(job.id, ok=True):
                lines.add(freed)
        waiting.next_timeout()
        took.append(time.perf_counter() - began)
    return percentile(took, 0.5) * 1000
