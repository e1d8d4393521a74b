"""The laws of sessions: rank decides, a target runs one at a time, targets run side by side, nothing runs twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.base.model import JobState, Outcome
from worldfs.runtime.job_schedule import PRIORITY
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import NullRuntime, null_parts
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.world import World

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def workshop(root, targets=2):
    root.mkdir(exist_ok=True)
    declared = [{"id": f"t{n}", "type": "sim", "adapter": {"class": "SimTargetAdapter"}} for n in range(targets)]
    (root / "TARGETS.md").write_text(json.dumps({"targets": declared}))
    (root / "SKILLS.md").write_text(json.dumps({"skills": [{"id": "nothing", "runtime": "NullRuntime"}]}))
    return root


def entry(id, target, **more):
    return {"session_id": id, "target_ref": target, "skill_ref": "nothing", "status": "pending", **more}


_session = st.fixed_dictionaries(
    {
        "target": st.integers(0, 2),
        "priority": st.sampled_from(["high", "normal", "low"]),
        "at": st.integers(0, 5),
        "fails": st.integers(0, 2),  # attempts that fail before one succeeds
        "attempts": st.integers(1, 3),
        "after": st.none() | st.integers(0, 20),
    }
)


@given(drawn=st.lists(_session, max_size=14))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_schedule_keeps_the_laws(tmp_path_factory, drawn):
    root = workshop(tmp_path_factory.mktemp("laws"), 3)
    entries, ranks = [], {}
    for n, one in enumerate(drawn):
        id, created = f"s{n:02d}", (NOW + timedelta(minutes=one["at"])).isoformat().replace("+00:00", "Z")
        more = {"depends_on": [f"s{one['after'] % n:02d}"]} if one["after"] is not None and n else {}
        entries.append(
            entry(
                id, f"t{one['target']}", priority=one["priority"], created_at=created,
                retry={"max_attempts": one["attempts"], "backoff": "linear"}, **more,
            )
        )  # fmt: skip
        ranks[id] = (PRIORITY[one["priority"]], created, n)
    (root / "SESSIONS.md").write_text(json.dumps({"sessions": entries}))
    starts, tries = [], {}

    class Scripted(NullRuntime):
        def perform(self, errand, stage):
            starts.append(errand.job)
            tries[errand.job] = tries.get(errand.job, 0) + 1
            if tries[errand.job] <= drawn[int(errand.job[1:])]["fails"]:
                from worldfs.base.model import Cause

                return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", "not yet")
            return Outcome.success("done")

    parts = null_parts()._replace(skills={"NullRuntime": Scripted})
    clock = ManualClock()
    with World.open(root, clock=clock, serve=True, threads=False, parts=parts) as world:
        for _ in range(40):
            while world.tick():
                pass
            clock.advance(5)
        jobs = {item["session_id"]: world.jobs.load(item["session_id"]) for item in entries}

    for id, job in jobs.items():
        spec = drawn[int(id[1:])]
        assert job.status.state.terminal
        needed = job.order.depends_on
        if needed and jobs[needed[0]].status.state is JobState.FAILED:
            assert job.status.outcome.code == "DEPENDENCY_FAILED" and id not in starts
            continue
        enough = spec["fails"] < spec["attempts"]
        assert (job.status.state is JobState.SUCCEEDED) == enough
        assert tries[id] == job.status.attempt == min(spec["fails"] + 1, spec["attempts"])
        if needed:
            assert starts.index(id) > starts.index(needed[0])
    first = list(dict.fromkeys(starts))
    for target in range(3):
        free = [
            id for id in first
            if drawn[int(id[1:])]["target"] == target and not jobs[id].order.depends_on
        ]  # fmt: skip
        assert [ranks[id] for id in free] == sorted(ranks[id] for id in free)


def test_targets_run_side_by_side_and_one_target_never_runs_two(tmp_path):
    workshop(tmp_path, 4)
    (tmp_path / "SESSIONS.md").write_text(json.dumps({"sessions": [entry(f"s{n}", f"t{n % 4}") for n in range(12)]}))
    together, inside, most = threading.Barrier(4), {}, {}
    lock = threading.Lock()

    class Meeting(NullRuntime):
        def perform(self, errand, stage):
            target = stage.target.target.id
            with lock:
                inside[target] = inside.get(target, 0) + 1
                most[target] = max(most.get(target, 0), inside[target])
            together.wait(PATIENCE_S)  # passes only when four are under way at once
            with lock:
                inside[target] -= 1
            return Outcome.success("met")

    parts = null_parts()._replace(skills={"NullRuntime": Meeting})
    with World.open(tmp_path, serve=True, parts=parts) as world:
        world.run(stop=threading.Event(), until_idle=True)
        states = [world.jobs.load(f"s{n}").status.state for n in range(12)]
    assert states == [JobState.SUCCEEDED] * 12 and set(most.values()) == {1}


_KILLED = """
import sys, threading
from pathlib import Path
from worldfs.testing.null_target import null_parts
from worldfs.world.world import World
with World.open(Path(sys.argv[1]), serve=True, parts=null_parts()) as world:
    world.run(stop=threading.Event())
"""


def test_a_session_that_ran_when_its_process_was_killed_is_lost_told_and_not_repeated(tmp_path):
    workshop(tmp_path, 1)
    stuck = entry("stuck", "t0", execution={"params": {"hang": True}}, retry={"max_attempts": 5})
    (tmp_path / "SESSIONS.md").write_text(json.dumps({"sessions": [stuck, entry("next", "t0")]}))
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path)], env=environ)
    until(lambda: b'"running"' in (tmp_path / "SESSIONS.md").read_bytes() or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    performed: list[str] = []
    with World.open(tmp_path, serve=True, parts=null_parts(performed)) as world:
        world.run(stop=threading.Event(), until_idle=True)
        lost = world.jobs.load("stuck").status
    assert lost.outcome.code == "LOST" and lost.attempt == 1 and performed == ["next"]
    assert (tmp_path / "LESSONS.md").read_text().count("(LOST)") == 1


_FATAL = """
import os, signal, sys, threading, time
from pathlib import Path
from worldfs.testing.null_target import NullRuntime, null_parts
from worldfs.world.world import World

class Fatal(NullRuntime):
    def review(self, request, target):
        if request.params.get("fatal"):
            os.kill(os.getpid(), signal.SIGKILL)  # as the system does to a process that takes all memory
        return super().review(request, target)

parts = null_parts()._replace(skills={"NullRuntime": Fatal})
with World.open(Path(sys.argv[1]), serve=True, parts=parts) as world:
    world.run(stop=threading.Event(), until_idle=True)
"""


def test_a_session_that_no_kernel_lives_to_check_is_set_aside_by_name_and_the_world_starts(tmp_path):
    workshop(tmp_path, 2)
    fatal = entry("fatal", "t0", execution={"params": {"fatal": True}})
    (tmp_path / "SESSIONS.md").write_text(json.dumps({"sessions": [fatal, entry("fine", "t0")]}))
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    codes = [
        subprocess.run([sys.executable, "-c", _FATAL, str(tmp_path)], env=environ, check=False).returncode
        for _ in range(4)
    ]
    assert codes == [-signal.SIGKILL] * 3 + [0]
    with World.open(tmp_path) as world:
        ended = world.jobs.load("fatal").status.outcome
        assert (ended.code, [one.code for one in ended.findings]) == ("REVIEW_FATAL", ["REVIEW_FATAL"])
        assert world.jobs.load("fine").status.state is JobState.SUCCEEDED
    assert "3 times the kernel was killed, or hung" in (tmp_path / "SESSIONS.md").read_text()
