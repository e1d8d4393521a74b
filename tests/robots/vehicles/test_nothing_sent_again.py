"""After an end that leaves open what the vehicle did, the mission ends with that reason, and nothing is sent again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.clock import SystemClock
from worldfs.base.model import Cause, JobState, JobStatus, Order, Outcome
from worldfs.base.unknown_effect import NO_REPEAT, bars_repeat
from worldfs.runtime.job_end import status_after
from worldfs.testing.waiting import until

from .conftest import ME
from .test_absent_vehicle import OTHER, serving
from .vda5050_peer import Agv

ZONES = [{"name": "far", "pose": [9.0, 0.0, 0.0]}]
FAULTS = {
    "forgets": "ORDER_FORGOTTEN", "echoes the goal": "VEHICLE_JUMPED", "on another map": "NOT_AT_GOAL",
    "ends early": "ORDER_ENDED", "fatal": "VEHICLE_FAULT", "says it is there": "NOT_AT_GOAL",
}  # fmt: skip


@pytest.mark.slice(3)
@pytest.mark.parametrize(("fault", "code"), FAULTS.items())
def test_a_mission_ends_and_nothing_is_sent_again(tmp_path: Path, broker: Any, fault: str, code: str) -> None:
    config = {"places": {"far": [9.0, 0.0]}}
    speed = 20.0 if code == "VEHICLE_JUMPED" else 4.0
    with (
        Agv(broker.port, fault, speed=speed) as one,
        serving(tmp_path / "lab", broker.port, zones=ZONES, **config) as served,
    ):
        until(lambda: served.at() == (0.0, 0.0) and served.at(OTHER))
        served.add("m1", "go to the far", "")
        until(lambda: served.mission("m1").state.ended)
        mission = served.mission("m1")
        outcome = served.world.jobs.load(mission.job).status.outcome
        assert outcome is not None and outcome.code == code and bars_repeat(outcome)
        assert mission.state.value == "failed" and outcome.message in mission.reason
        assert len(one.driven) == 1 and served.two.orders == [] and mission.jobs == 1


def test_what_was_refused_or_measured_may_be_tried_again(tmp_path: Path, broker: Any) -> None:
    config = {"places": {"far": [9.0, 0.0]}}
    with (
        Agv(broker.port, "rejects", at=(5.0, 0.0, 0.0)),
        serving(tmp_path / "lab", broker.port, zones=ZONES, **config) as served,
    ):
        until(lambda: served.at() == (5.0, 0.0) and served.at(OTHER))
        served.add("m1", "go to the far", "")
        until(lambda: served.mission("m1").state.ended or served.two.orders)
        assert served.two.orders  # nothing of it was driven: the other one goes


def test_a_vehicle_that_stands_beside_its_goal_is_sent_there_once_more(tmp_path: Path, broker: Any) -> None:
    zones = [{"name": "near", "pose": [1.5, 0.0, 0.0]}]
    with (
        Agv(broker.port, "says it is there") as one,
        serving(tmp_path / "lab", broker.port, zones=zones, places={"near": [1.5, 0.0]}) as served,
    ):
        until(lambda: served.at() == (0.0, 0.0) and served.at(OTHER))
        served.add("m1", "go to the near", "")
        until(lambda: served.mission("m1").state.ended)
        assert served.mission("m1").state.value == "succeeded" and len(one.driven) == 2


def test_no_vehicle_is_given_a_mission_to_go_to_itself(tmp_path: Path, broker: Any) -> None:
    with Agv(broker.port), serving(tmp_path / "lab", broker.port) as served:
        until(lambda: served.at() == (0.0, 0.0) and served.at(OTHER))
        for id, there in (("m0", ME), ("m1", OTHER)):
            served.add(id, f"go to {there}", "")
        until(lambda: served.mission("m0").robot and served.mission("m1").robot)
        assert (served.mission("m0").robot, served.mission("m1").robot) == (OTHER, ME)
        for id in ("m0", "m1"):
            served.world.missions.request(id, "cancel", "operator")
            until(lambda id=id: served.mission(id).state.ended)


def test_the_kernel_does_not_start_another_attempt() -> None:
    order, failed = Order("a", "amr", "move_to", attempts=3), Outcome.failure(Cause.ERROR, "ANY", "why")
    running, now = JobStatus(JobState.RUNNING, attempt=1), SystemClock().now()
    for evidence, state in (({}, JobState.PENDING), ({NO_REPEAT: True}, JobState.FAILED)):
        outcome = Outcome(failed.ok, failed.message, failed.cause, failed.code, evidence=evidence)
        after = status_after(order, running, outcome, now, cancelled=False, localise=lambda one: one)
        assert after.state is state
