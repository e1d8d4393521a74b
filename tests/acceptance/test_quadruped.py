"""A fresh home with a robot that walks: from an instruction to a measured arrival, and when it is killed."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from typing import Any

import pytest

from .conftest import Onboarded, Place

pytest.importorskip("mujoco", reason="the simulation is an extra")

DOG = ("--profile", "go2_edu", "--robot-id", "dog")
KILLED = """
import os, signal, sys
from worldfs.interfaces.cli.main import main
from worldfs.robots.mujoco.quadruped.walker import Walker
walk = Walker.walk
def cut_off(self, command):
    if self.ticks == 400:
        os.kill(os.getpid(), signal.SIGKILL)
    return walk(self, command)
Walker.walk = cut_off
sys.exit(main(["--home", sys.argv[1], "up", "--until-idle"]))
"""


def robot(place: Place) -> Any:
    return place.value("ENVIRONMENT.md")["robots"][0]


def gap(place: Place, thing: str) -> float:
    """Metres from the robot to the outline of a thing that is not turned."""
    nodes = {node["id"]: node for node in place.value("ENVIRONMENT.md")["scene_graph"]["nodes"]}
    away = (abs(at - mid) - size / 2 for at, mid, size in zip(
        robot(place)["pose"][:2], nodes[thing]["position"][:2], nodes[thing]["size"][:2], strict=True))  # fmt: skip
    return math.hypot(*(max(0.0, part) for part in away))


def test_it_goes_where_it_is_told_and_the_files_say_so(onboarded: Onboarded) -> None:
    place = onboarded(*DOG)
    assert 'do "go to the door"' in place.paos("onboard", *DOG).out
    for text, thing in (("go to the door", "door"), ("去厨房的桌子", "kitchen_table"), ("walk to the sofa", "sofa")):
        done = place.paos("do", text)
        assert done.code == 0, done
        assert gap(place, thing) < 0.75
        assert robot(place)["nav_state"] == {"mode": "idle", "status": "arrived", "target_label": thing}
        assert robot(place)["posture"] == "standing"
    assert place.paos("check").code == 0
    assert "| dog | go2_edu | quadruped |" in place.paos("cat", "ROBOTS.md").out.casefold()
    ended = place.ended()
    assert len(ended) == 3
    assert all(job.status.outcome is not None and job.status.outcome.ok for job in ended.values())


def test_what_it_cannot_do_moves_nothing_and_teaches(onboarded: Onboarded) -> None:
    place = onboarded(*DOG)
    assert place.paos("do", "go to the door").code == 0
    before = robot(place)["pose"]
    for op, params, code in (
        ("move_to", {"target_pose": [2.7, -0.9, 0.0]}, "NO_PATH"),
        ("move_to", {"target_pose": [90.0, 0.0, 0.0]}, "PROFILE_LIMIT"),
        ("target_navigation", {"target_label": "unicorn"}, "UNKNOWN_OBJECT"),
        ("pick_up", {"object_id": "ball_01"}, "OP_NOT_IN_PROFILE"),
    ):
        place.queue({"action_id": f"act_{code}", "action_type": op, "params": params, "robot_id": "dog"})
        place.paos("up", "--until-idle")
        assert place.entry(f"act_{code}")["status"] == "failed"
        outcome = place.ended()[f"act_{code}"].status.outcome
        assert outcome is not None and outcome.cause == "rejected", outcome
        assert code in {finding.code for finding in outcome.findings}
    assert math.dist(robot(place)["pose"][:2], before[:2]) < 0.02
    assert len(place.lessons()) == 4


@pytest.mark.proof
def test_killed_in_mid_walk_the_job_is_lost_and_nothing_is_repeated(onboarded: Onboarded) -> None:
    place = onboarded(*DOG)
    assert place.paos("do", "go to the sofa").code == 0
    there = robot(place)["pose"]
    door = {"action_type": "target_navigation", "params": {"target_label": "door"}, "robot_id": "dog"}
    place.queue({"action_id": "act_killed", **door})
    died = subprocess.run([sys.executable, "-c", KILLED, place.options[1]], capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died
    assert place.paos("up", "--until-idle").code in (0, 1)
    job = place.ended()["act_killed"]
    assert job.status.outcome is not None and job.status.outcome.cause == "lost"
    assert math.dist(robot(place)["pose"][:2], there[:2]) < 0.02  # it stands where it was last measured
    assert any("lost" in lesson.casefold() for lesson in place.lessons())
    assert place.paos("do", "go to the door").code == 0
    assert gap(place, "door") < 0.75
