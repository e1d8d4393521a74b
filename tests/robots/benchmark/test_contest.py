"""The contest: worlds that are the same for everybody, success that is measured, trials that are never done twice."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.errors import BadInput
from worldfs.plugins.benchmark import benchmark_run, trial
from worldfs.plugins.benchmark.benchmark_methods import BenchmarkMethod, parse_method
from worldfs.plugins.benchmark.disturbance import Disturbance
from worldfs.plugins.benchmark.score import results_table, summary
from worldfs.plugins.benchmark.task_families import FAMILIES, make_scenario
from worldfs.plugins.benchmark.trial import GoalCheck, Trial, TrialResult
from worldfs.policies.policy_client import PolicyError
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.skills.success_rate import success_rate

ROOT = Path(__file__).resolve().parents[3]
SKILLS = BenchmarkMethod("skills", "skills")
DONE = TrialResult(True, 1, 1, 1, 5.0, 0.1)


def line(name: str, family: str, seed: int, *, ok: bool = True) -> dict:
    return {"contestant": name, "mark": name, "family": family, "seed": seed, **DONE._replace(ok=ok).as_json()}


# -- what is measured ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("good", "tried", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 20, 0.0089, 0.2361),
     (95, 100, 0.8882, 0.9785)],
)  # fmt: skip
def test_wilsons_interval_is_that_of_the_tables(good, tried, low, high):
    found = success_rate(good, tried)
    assert (found.low, found.high) == (pytest.approx(low, abs=2e-4), pytest.approx(high, abs=2e-4))


def test_an_interval_holds_the_true_share_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    for p in (0.3, 0.9):
        hits = [success_rate(int(rng.binomial(20, p)), 20) for _ in range(4000)]
        assert 0.92 < np.mean([found.low <= p <= found.high for found in hits]) < 0.99


def test_no_trial_says_nothing():
    assert (
        success_rate(0, 0)[2:] == (0.0, 1.0) and math.isnan(success_rate(0, 0).rate) and str(success_rate(0, 0)) == "–"
    )


def test_the_table_and_the_json_say_the_same():
    lines = [line("a", "pick", seed, ok=seed < 3) for seed in range(4)] + [line("b", "stack", 0)]
    text, told = results_table(lines, ["a", "b"], ["pick", "stack"]), summary(lines, ["a", "b"], ["pick", "stack"])
    assert "| a | 3/4 (30–95 %) | – | 3/4 (30–95 %) | 0/4 (0–49 %) | 1.00 |" in text and "Seeds 0 to 3" in text
    assert told["contestants"]["a"]["families"]["pick"]["rate"] == 0.75
    assert told["contestants"]["b"]["families"]["pick"]["rate"] is None
    assert [one["seed"] for one in told["contestants"]["a"]["failures"]] == [3]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_world_is_the_same_for_everybody_and_nothing_is_done_in_it_yet(family):
    for seed in (5000, 5001):
        given = make_scenario(family, seed)
        assert given == make_scenario(family, seed) and given != make_scenario(family, seed + 1)
        body = TabletopDriver("table", cameras=False)
        body.open(given.scene)
        try:
            judge = GoalCheck(body.arm)
            assert not any(judge(goal) for goal in given.goals)
            assert all(goal.words(given.scene)[-1] not in "_0123456789" for goal in given.goals)
        finally:
            body.close()


@pytest.mark.slice(3)
@pytest.mark.parametrize("family", ["pick", "place", "stack", "recover"])
def test_scripted_skills_manage_a_trial_and_the_table_says_so(family):
    done = trial.run(Trial(SKILLS, family, 5003))
    assert done.ok and done.reached == done.goals and done.sim_s > 2 and not done.why
    assert bool(done.disturbed) is (family == "recover")


@pytest.mark.proof
@pytest.mark.parametrize("family", ["sort", "clear"])
def test_scripted_skills_manage_many_goals_in_one_trial(family):
    done = trial.run(Trial(SKILLS, family, 5003))
    assert done.ok and done.goals >= 3


def test_who_does_nothing_and_says_that_it_did_has_failed(monkeypatch):
    from worldfs.base.model import Outcome
    from worldfs.skills.builtin_runtime import BuiltinSkillRuntime

    monkeypatch.setattr(BuiltinSkillRuntime, "perform", lambda self, request, stage: Outcome.success("all done"))
    done = trial.run(Trial(SKILLS, "place", 5000))
    assert not done.ok and done.attempts == trial.ATTEMPTS and "it said that it was done" not in done.why[:10]


def test_what_happens_midway_happens_once_and_leaves_the_thing_on_the_table():
    kinds = set()
    for seed in range(5000, 5008):
        given = make_scenario("recover", seed)
        body = TabletopDriver("table", cameras=False)
        body.open(given.scene)
        try:
            rig, thing = body.arm.rig, given.goals[0].thing
            before = rig.position(thing)
            disturbance = Disturbance(body.arm, thing, seed)
            disturbance.poll()
            assert not disturbance.happened  # the hand is far away
            disturbance._moment = lambda: True
            disturbance.poll()
            body.arm.mover.wait(0.5)
            after = rig.position(thing)
            assert 0.05 < np.linalg.norm((after - before)[:2]) < 0.14 and abs(after[2] - before[2]) < 0.005
            disturbance.poll()
            assert np.array_equal(rig.position(thing), after)
            kinds.add(disturbance.happened)
        finally:
            body.close()
    assert len(kinds) <= 2


# -- who takes part -----------------------------------------------------------------------------------------------


def test_contestants_are_named_by_skill_file_or_server(tmp_path):
    path = tmp_path / "small.onnx"
    path.write_bytes(b"one")
    assert parse_method("skills") == SKILLS and parse_method("rekep").runtime == "ReKepPolicyRuntime"
    one = parse_method(f"mine={path}")
    assert one.name == "mine" and one.policy.type == "local" and parse_method(str(path)).name == "small"
    assert parse_method("pi=openpi:ws://localhost:8000").policy.endpoint == "ws://localhost:8000"
    before = one.mark
    path.write_bytes(b"two")
    assert one.mark != before  # trained anew: its trials begin anew


@pytest.mark.parametrize("text", ["nobody", "=skills", "x=/no/such/file.onnx", "x=telepathy:home"])
def test_a_contestant_that_can_be_nobody_is_refused(text):
    with pytest.raises(BadInput) as caught:
        parse_method(text)
    assert "skills, rekep" in caught.value.expected


def test_a_policy_that_is_not_there_ends_the_contest_instead_of_losing_it():
    with pytest.raises(PolicyError) as caught:
        trial.run(Trial(parse_method("far=http:http://127.0.0.1:9/predict"), "pick", 5000))
    assert caught.value.code == "POLICY_CONNECTION"


# -- the tournament -----------------------------------------------------------------------------------------------


def play(place: Path, seeds: range, stop: threading.Event | None = None, told=lambda *_: None) -> dict:
    return benchmark_run.run_benchmark(place, [SKILLS], ["pick", "place"], seeds, workers=1,
                                       stop=stop or threading.Event(), on_trial=told)  # fmt: skip


def test_what_is_finished_is_never_done_again(tmp_path, monkeypatch):
    played = []
    monkeypatch.setattr(benchmark_run, "run", lambda trial: played.append(trial) or DONE)
    stop = threading.Event()
    found = play(tmp_path / "out", range(3), stop, lambda line, finished, of: stop.set() if finished == 2 else None)
    assert (found["finished"], found["trials"]) == (2, 6)
    found = play(tmp_path / "out", range(3))
    assert found["finished"] == 6 and len(played) == len(set(played)) == 6
    assert play(tmp_path / "out", range(4))["finished"] == 8 and len(played) == 8
    assert "| skills | 4/4" in (tmp_path / "out/results.md").read_text()
    assert json.loads((tmp_path / "out/results.json").read_text())["contestants"]["skills"]["all"]["good"] == 8


def test_what_a_kill_left_of_a_line_is_cut_off_and_that_trial_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark_run, "run", lambda trial: DONE)
    play(tmp_path, range(2))
    path = tmp_path / benchmark_run.TRIALS
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) - 30, 5):
        path.write_bytes(whole[:size])
        assert play(tmp_path, range(2))["finished"] == 4
        assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())


@pytest.mark.proof
def test_a_killed_contest_goes_on(tmp_path):
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--json", "bench", "tabletop",
               "--out", str(tmp_path),
               "--families", "pick,place", "--seeds", "3", "--workers", "2"]  # fmt: skip
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environ, text=True, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    known = len((tmp_path / benchmark_run.TRIALS).read_text().splitlines())
    assert 1 <= known < 6
    done = subprocess.run(command, capture_output=True, env=environ, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert len([event for event in events if event["event"] == "trial"]) == 6 - known
    assert events[-1]["event"] == "result" and events[-1]["contestants"]["skills"]["all"]["tried"] == 6
