"""Sessions on robots: what TARGETS.md declares is checked, led, stopped, and still safe when our process dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import worldfs
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.policies.policy_client import ActionChunk
from worldfs.robots.targets import real_target
from worldfs.robots.targets.watchdog import Watchdog
from worldfs.runtime import stop_calls
from worldfs.sessions.plugins import Plugins
from worldfs.skills.vla import VLAPolicyRuntime
from worldfs.testing.null_target import NullPolicy
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.world import World

from .conftest import FRANKA_HOME, PEERS, TRUSTED, let_pass

AWAY = 0.4  # what the policy below asks of the first joint, or m/s


class Follow:
    """A runtime like that of learned policies: look, ask, act; 25 times a second of the robot's clock."""

    name = "Follow"

    def review(self, request: Any, target: Any) -> list[Any]:
        return []

    def perform(self, request: Any, stage: Any) -> Outcome:
        representation = stage.target.actions()[0].representation
        seen = stage.target.observe()
        for _ in range(int(request.params.get("steps", 20))):
            if stage.run.stop and not request.params.get("deaf"):
                cause = Cause.TIMEOUT if stage.run.stop == "timeout" else Cause.CANCELLED
                return Outcome.failure(cause, "STOPPED_BY_SKILL", stage.run.stop)
            action = stage.policy.infer(seen, request.words, 1.0).actions[0]
            result = stage.target.step(action, representation)
            seen = result.observation
            for watch in stage.watch:
                watch(seen, action, result)
            let_pass(stage.target, float(request.params.get("lasts", 0.04)))
            if "raise" in request.params:
                raise RuntimeError("a bug of the skill")
        return Outcome.success("followed")


class Away(NullPolicy):
    """Asks the first joint, or the base, to go on and on."""

    def infer(self, observation: Any, words: str, timeout_s: float) -> Any:
        chunk = super().infer(observation, words, timeout_s)
        q = observation.get("joint_states")
        numbers = np.zeros(3) if q is None else np.append(q, 1.0)
        numbers[0] = AWAY if q is None else q[0] + AWAY
        return type(chunk)(numbers[None, :].astype(np.float32))


def parts() -> Plugins:
    return Plugins(
        {"RealRobotTargetAdapter": real_target.adapter},
        {"Follow": Follow},
        {"null": lambda spec, clock: Away(spec)},
    )


def write(root: Path, driver: str, config: dict[str, Any], *, enabled: bool = True, **params: Any) -> None:
    limits = params.pop("timeouts", {"session": 600})
    target = {
        "id": "arm", "type": "real_robot", "enabled": enabled, "supported_skills": ["follow"],
        "adapter": {"class": "RealRobotTargetAdapter", "driver": driver}, "config": config,
    }  # fmt: skip
    skill = {
        "id": "follow", "runtime": "Follow", "policy_client": {"type": "null", "endpoint": "null"},
        "requires": {"sensors": params.pop("sensors", []), "strict_environment_contract": True},
    }  # fmt: skip
    session = {
        "session_id": "sess_follow_001", "target_ref": "arm", "skill_ref": "follow", "timeouts": limits,
        "execution": {"params": params, **params.pop("execution", {})},
    }  # fmt: skip
    (root / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
    (root / "SKILLS.md").write_text(json.dumps({"skills": [skill]}))
    (root / "SESSIONS.md").write_text(json.dumps({"sessions": [session]}))


def run(root: Path, clock: Any) -> Any:
    with World.open(root, config=TRUSTED, serve=True, parts=parts(), clock=clock) as world:
        world.run(stop=threading.Event(), until_idle=True)
        return world.jobs.load("sess_follow_001").status


def settled(plant: Any) -> bool:
    """It stands, once what it weighs has come to rest."""
    sys.modules["plant"].CLOCK.advance(1.5)
    return bool(plant.still)


def config(driver: str, address: str) -> dict[str, Any]:
    return {
        "lerobot": {"robot": {"type": "so101_follower", "port": address}},
        "franka": {"ip": address},
        "unitree_go2": {"interface": address},
    }[driver]


KINDS = {"lerobot": ("servo", (0.0,) * 5), "franka": ("fci", FRANKA_HOME), "unitree_go2": ("base", ())}


@pytest.mark.slice(2)
@pytest.mark.parametrize("driver", sorted(KINDS))
def test_a_policy_leads_a_robot_and_the_files_say_what_it_did(tmp_path, timed, driver):
    with timed.Plant(*KINDS[driver], latency=0.002) as plant:
        write(
            tmp_path, driver, config(driver, plant.address), sensors=[] if driver == "unitree_go2" else ["joint_states"]
        )
        status = run(tmp_path, timed.CLOCK)
        assert status.state is JobState.SUCCEEDED, status.outcome
        moved = plant.place[0] if driver == "unitree_go2" else plant.q[0] - KINDS[driver][1][0]
        assert moved > 0.1
        assert plant.still  # an end is told of a robot that stands
    trace = (tmp_path / "artifacts/runtime/sess_follow_001/trace.jsonl").read_text().splitlines()
    assert len(trace) == 20
    assert any(
        "speed" in word or "acceleration" in word for line in trace for word in json.loads(line).get("clamped", [])
    )
    assert '"limits"' in (tmp_path / "ENVIRONMENT.md").read_text()


def test_a_base_that_rolls_on_after_a_session_is_named_and_not_called_done(tmp_path, timed, monkeypatch):
    monkeypatch.setattr(stop_calls, "ASKED", 20)
    with timed.Plant(*KINDS["unitree_go2"]) as plant:
        plant._stop = lambda: {}
        write(tmp_path, "unitree_go2", config("unitree_go2", plant.address))
        with World.open(tmp_path, config=TRUSTED, serve=True, parts=parts(), clock=timed.CLOCK) as world:
            until(lambda: (world.tick(), world.jobs.load("sess_follow_001").status.state.terminal)[1])
            found = world.jobs.load("sess_follow_001").status.outcome
            assert not plant.still
            assert found.code == "STOP_UNCONFIRMED" and "may still move" in found.message
            assert world.kernel.stopping.moving() == ["arm"]


def test_a_device_that_is_not_there_refuses_the_session_with_the_fix(tmp_path, timed):
    write(tmp_path, "franka", {"ip": "127.0.0.1:9"})
    outcome = run(tmp_path, timed.CLOCK).outcome
    assert outcome.cause is Cause.REJECTED and "TARGET_BUILD" in {item.code for item in outcome.findings}
    assert "activate FCI" in outcome.message and "SESSIONS.md" not in outcome.findings[0].field


def test_a_sensor_that_the_robot_does_not_have_refuses_it_before_anything_moves(tmp_path, timed):
    with timed.Plant(*KINDS["franka"]) as plant:
        write(tmp_path, "franka", config("franka", plant.address), sensors=["rgb_camera"])
        outcome = run(tmp_path, timed.CLOCK).outcome
        assert {item.code for item in outcome.findings} == {"REQUIRED_SENSOR_MISSING"} and plant.told == []


def test_a_disabled_robot_is_not_even_connected(tmp_path, timed):
    write(tmp_path, "franka", {"ip": "127.0.0.1:9"}, enabled=False)
    with World.open(tmp_path, config=TRUSTED, serve=True, parts=parts(), clock=timed.CLOCK, threads=False) as world:
        while world.tick():
            pass
        assert world.jobs.load("sess_follow_001").status.state is JobState.PENDING


def test_time_is_over_and_the_robot_stands_although_the_skill_goes_on(tmp_path, timed):
    with timed.Plant(*KINDS["unitree_go2"]) as plant:
        timeouts = {"session": 1.0}
        write(tmp_path, "unitree_go2", config("unitree_go2", plant.address), steps=1000, deaf=True, timeouts=timeouts)
        status = run(tmp_path, timed.CLOCK)
        assert (status.outcome.cause, status.outcome.code) == (Cause.TIMEOUT, "SESSION_TIMEOUT"), status.outcome
        assert plant.stops >= 1 and settled(plant)


def test_a_skill_with_a_bug_leaves_a_robot_that_stands(tmp_path, timed):
    with timed.Plant(*KINDS["unitree_go2"]) as plant:
        write(tmp_path, "unitree_go2", config("unitree_go2", plant.address), **{"raise": True})
        with World.open(tmp_path, config=TRUSTED, serve=True, parts=parts(), clock=timed.CLOCK) as world:
            world.run(stop=threading.Event(), until_idle=True)
            assert world.jobs.load("sess_follow_001").status.outcome.cause is Cause.ERROR
            assert plant.stops >= 1 and plant.wanted.tolist() == [0, 0, 0]  # before anything is closed


def test_a_skill_that_hangs_is_noticed_by_the_watchdog(tmp_path, timed):
    with timed.Plant(*KINDS["franka"]) as plant:
        own = config("franka", plant.address) | {"safety": {"watchdog_s": 0.3}}
        write(tmp_path, "franka", own, lasts=0.8)
        outcome = run(tmp_path, timed.CLOCK).outcome
        assert outcome.code == "TARGET_STOPPED" and "safety.watchdog_s" in outcome.message


def test_a_learned_policy_that_thinks_for_long_is_no_silence(tmp_path, timed, monkeypatch):
    """The runtime of learned policies tells the watchdog that it waits for an answer."""
    asked: list[str] = []
    beats: list[object] = []
    beat = Watchdog.heartbeat
    monkeypatch.setattr(Watchdog, "heartbeat", lambda self: beats.append(beat(self)))

    class Slow(Away):
        def infer(self, observation: Any, words: str, timeout_s: float) -> Any:
            asked.append(words)
            for _ in range(10):  # a second passes, and it is told ten times meanwhile
                told = len(beats)
                timed.CLOCK.advance(0.1)
                until(lambda told=told: len(beats) > told)
            numbers = np.append(observation["joint_states"], 1.0)
            numbers[0] = 0.3
            return ActionChunk(np.tile(numbers.astype(np.float32), (8, 1)), extra={"representation": "joint_position"})

    slow = parts()._replace(skills={"Follow": VLAPolicyRuntime}, policies={"null": lambda spec, clock: Slow(spec)})
    monkeypatch.setattr(sys.modules[__name__], "parts", lambda: slow)
    with timed.Plant(*KINDS["lerobot"]) as plant:
        own = config("lerobot", plant.address) | {"safety": {"watchdog_s": 0.5}}
        write(tmp_path, "lerobot", own, execution={"max_steps": 16})
        outcome = run(tmp_path, timed.CLOCK).outcome
        assert outcome.code == "MAX_STEPS_EXCEEDED", outcome
        assert outcome.evidence["evidence_class"] == "real" and len(asked) == 2
        assert plant.q[0] == pytest.approx(0.3, abs=0.1) and settled(plant)


# -- our process dies --------------------------------------------------------------------------------------------------

LEAD = """
import sys, time
import numpy as np
from worldfs.base.driver import PluginContext
from worldfs.robots.targets.real_target import adapter
from worldfs.base.clock import SystemClock
from worldfs.base.model import Target
driver, config, representation = sys.argv[1], eval(sys.argv[2]), sys.argv[3]
target = adapter(Target("x", "real_robot", driver=driver, config=config), PluginContext(SystemClock()))
target.open()
action = np.array([0.4, 0, 0]) if driver == "unitree_go2" else np.append(target.robot.read().joints + 1.0, 1.0)
while True:
    target.step(action, representation)
    print("step", flush=True)
    time.sleep(0.05)
"""


def rests(plant: Any) -> bool:
    """It stands, and goes on standing for a while of its own time: what was still on the wire has come."""
    since = plant._at
    while plant._at < since + 0.3:
        if not plant.still:
            return False
        time.sleep(0.005)
    return True


@pytest.mark.slice(6, 3)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("driver", sorted(KINDS))
def test_a_process_that_dies_or_hangs_leaves_no_robot_in_motion(peers, driver, how):
    """franky's loop ends with us and the arm stops itself; servos end a period ahead; a dog has a guard."""
    source = str(Path(worldfs.__file__).parents[1])
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(PEERS), source])}
    with peers.Plant(*KINDS[driver]) as plant:
        representation = "base_velocity" if driver == "unitree_go2" else "joint_position"
        process = subprocess.Popen(
            [sys.executable, "-c", LEAD, driver, repr(config(driver, plant.address)), representation],
            env=environ, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            for _ in range(60):  # on a busy machine it may start late, or be there before we look
                assert process.stdout.readline() == "step\n"
                if not plant.still:
                    break
            assert not plant.still
            process.send_signal(how)
            until(lambda: rests(plant))
            if driver == "unitree_go2":
                until(lambda: plant.stops >= 1 and plant.wanted.tolist() == [0, 0, 0])
        finally:
            process.kill()
            process.communicate()
        until(lambda: rests(plant))


# -- a stop of the world -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", sorted(KINDS))
def test_a_stop_of_the_world_reaches_the_robot_by_its_own_path_and_ends_the_session(
    tmp_path, timed, driver, monkeypatch
):
    """Also where the skill looks at nothing: the target itself is told, as its watchdog would."""
    asked, pass_time = threading.Event(), let_pass

    def pause(target, seconds):
        """Once it is asked for, its pauses let no time pass: they are over at once, the threads of a stop are not."""
        return time.sleep(0.001) if asked.is_set() else pass_time(target, seconds)

    monkeypatch.setattr(sys.modules[__name__], "let_pass", pause)
    with timed.Plant(*KINDS[driver]) as plant:
        limits = {"session": 1_000_000}
        more = {"steps": 10**8, "deaf": True, "lasts": 0.01, "timeouts": limits}
        write(tmp_path, driver, config(driver, plant.address), **more)
        with World.open(tmp_path, config=TRUSTED, serve=True, parts=parts(), clock=timed.CLOCK) as world:
            over = threading.Event()
            kernel = threading.Thread(target=lambda: world.run(stop=over))
            kernel.start()
            try:
                until(lambda: plant.told)
                asked.set()
                world.stop()
                outcome = world.wait_job("sess_follow_001", timeout=PATIENCE_S).outcome
                assert outcome is not None
                assert (outcome.cause, outcome.code) == (Cause.CANCELLED, "STOPPED"), outcome
                assert outcome.evidence["stood"]["extra"]["standing"]
                assert settled(plant)
                assert world.stops.state("arm").stopped
            finally:
                over.set()
                world.wake()
                kernel.join(PATIENCE_S)
