"""No vehicle is sent over a place where another robot stands: not by a mission, not by an order, not at a release."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.model import Order
from worldfs.testing.waiting import until

from .conftest import ME
from .test_absent_vehicle import OTHER, serving
from .test_idle_vehicle import put
from .vda5050_peer import Agv

PLACES = {"a": [0.0, 0.0], "b": [5.0, 0.0], "c": [10.0, 0.0], "d": [15.0, 0.0]}
ZONES = [{"name": name, "pose": [*at, 0.0]} for name, at in PLACES.items()]
GRAPH = {"places": PLACES, "edges": [["a", "b"], ["b", "c"], ["c", "d"]], "released_edges": 1}


@pytest.mark.slice(3, 1)
@pytest.mark.parametrize("config", [{"places": PLACES}, GRAPH, GRAPH | {"released_edges": 0}])
def test_a_mission_waits_while_another_stands_on_its_way(tmp_path: Path, broker: Any, config: dict[str, Any]) -> None:
    with Agv(broker.port) as one, serving(tmp_path / "lab", broker.port, zones=ZONES, **config) as served:
        put(served.two, 5.0, 0.0)
        until(lambda: served.at(OTHER) == (5.0, 0.0) and served.at() == (0.0, 0.0))
        served.add("m1", "go to the c", ME)
        until(lambda: served.mission("m1").waits)
        assert OTHER in served.mission("m1").waits and one.orders == []
        put(served.two, 5.0, 3.0)
        until(lambda: served.mission("m1").state.value == "succeeded")


def test_a_vehicle_whose_mission_waits_for_a_place_carries_out_the_next_one(tmp_path: Path, broker: Any) -> None:
    zones = [*ZONES, {"name": "gate", "pose": [0.0, 4.0, 0.0]}]
    with Agv(broker.port), serving(tmp_path / "lab", broker.port, zones=zones) as served:
        put(served.two, 5.0, 0.0)
        until(lambda: served.at(OTHER) == (5.0, 0.0) and served.at() == (0.0, 0.0))
        served.add("m1", "go to the b", ME)
        until(lambda: served.mission("m1").waits)
        served.add("m2", "go to the gate", ME)
        until(lambda: served.mission("m2").state.ended)
        assert served.mission("m2").state.value == "succeeded" and not served.mission("m1").state.ended
        put(served.two, 9.0, 9.0)
        until(lambda: served.mission("m1").state.value == "succeeded")


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("at", [[5.0, 5.0], [5.1, 4.9]])
def test_an_idle_vehicle_with_edges_steps_aside_to_the_place_of_the_map(
    tmp_path: Path, broker: Any, at: list[float]
) -> None:
    """The passing place is told by its coordinates, and is a place of the edges."""
    zones = [*ZONES, {"name": "siding", "pose": [*at, 0.0], "passing": True}]
    graph = {"places": PLACES | {"bay": [5.0, 5.0]}, "edges": [*GRAPH["edges"], ["b", "bay"]]}
    with Agv(broker.port), serving(tmp_path / "lab", broker.port, zones=zones, **graph) as served:
        put(served.two, 5.0, 0.0)
        until(lambda: served.at(OTHER) == (5.0, 0.0) and served.at() == (0.0, 0.0))
        served.add("m1", "go to the c", ME)
        until(lambda: served.mission("m1").state.ended)
        assert served.mission("m1").state.value == "succeeded" and served.at(OTHER) == (5.0, 5.0)


def test_what_is_kept_for_a_silent_vehicle_names_each_place_on_its_way(tmp_path: Path, broker: Any) -> None:
    graph = GRAPH | {"safety": {"stale_s": 1.0}}
    with Agv(broker.port, "stops reporting"), serving(tmp_path / "lab", broker.port, zones=ZONES, **graph) as served:
        until(lambda: served.at() == (0.0, 0.0) and served.at(OTHER))
        served.add("m1", "go to the d", ME)
        until(lambda: f"reservations/{ME}" in served.alerts())
        found = served.alerts()[f"reservations/{ME}"]["found"]
        assert re.search(r"\ba, b, c,? (and )?d\b", found), found


def test_a_point_that_no_edge_leads_to_is_refused_before_anything_is_sent(tmp_path: Path, broker: Any) -> None:
    with Agv(broker.port) as one, serving(tmp_path / "lab", broker.port, zones=ZONES, **GRAPH) as served:
        until(lambda: served.at() == (0.0, 0.0) and served.at(OTHER))
        served.world.jobs.accept([Order("off", ME, "move_to", {"target_pose": [7.0, 3.0, 0.0]})])
        until(lambda: served.world.jobs.load("off").status.state.terminal)
        outcome = served.world.jobs.load("off").status.outcome
        assert outcome is not None and not outcome.ok and one.orders == [] and "(7.0, 3.0)" in outcome.findings[0].found


def test_an_order_of_a_person_over_a_standing_robot_is_refused(tmp_path: Path, broker: Any) -> None:
    with Agv(broker.port) as one, serving(tmp_path / "lab", broker.port) as served:
        put(served.two, 5.0, 0.2)
        until(lambda: served.at(OTHER) == (5.0, 0.2) and served.at() == (0.0, 0.0))
        served.world.jobs.accept([Order("over", ME, "move_to", {"target_pose": [9.0, 0.0, 0.0]})])
        until(lambda: served.world.jobs.load("over").status.state.terminal)
        outcome = served.world.jobs.load("over").status.outcome
        assert outcome is not None and [item.code for item in outcome.findings] == ["WAY_TAKEN"]
        assert one.orders == []


def test_a_further_part_of_the_way_is_not_released_while_another_stands_there(tmp_path: Path, broker: Any) -> None:
    with Agv(broker.port, speed=1.0) as one, serving(tmp_path / "lab", broker.port, zones=ZONES, **GRAPH) as served:
        until(lambda: served.at(OTHER) == (0.0, 8.0) and served.at() == (0.0, 0.0))
        served.world.jobs.accept([Order("far", ME, "target_navigation", {"target_label": "d"})])
        until(lambda: one.orders)
        put(served.two, 15.0, 0.0)
        until(lambda: served.at(OTHER) == (15.0, 0.0))
        until(lambda: one.x == pytest.approx(10.0))
        put(served.two, 15.2, 0.0)  # once that is written it has been looked at again
        until(lambda: served.at(OTHER) == (15.2, 0.0))
        assert [node["released"] for node in one.nodes] == [False] and one.x == pytest.approx(10.0)
        put(served.two, 0.0, 8.0)
        until(lambda: served.world.jobs.load("far").status.state.terminal)
        outcome = served.world.jobs.load("far").status.outcome
        assert outcome is not None and outcome.ok and one.x == pytest.approx(15.0)


def test_the_place_of_a_robot_that_left_the_fleet_is_taken_until_its_entry_is_gone(tmp_path: Path, broker: Any) -> None:
    root = tmp_path / "lab"
    gone = {"robot_id": "amr_gone", "pose": [5.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    with Agv(broker.port), serving(root, broker.port, more=[gone]) as served:
        until(lambda: served.at() == (0.0, 0.0))
        served.add("m1", "go to (5, 0)", ME)
        until(lambda: served.mission("m1").waits)
        assert "amr_gone" in served.mission("m1").waits
        page = json.loads((root / "ENVIRONMENT.md").read_text())
        page["robots"] = [one for one in page["robots"] if one["robot_id"] != "amr_gone"]
        (root / "ENVIRONMENT.md").write_text(json.dumps(page))
        until(lambda: served.mission("m1").state.value == "succeeded")


def test_a_place_that_the_map_has_elsewhere_is_not_driven_to(tmp_path: Path, broker: Any) -> None:
    zones = [{"name": "b", "pose": [5.0, 1.0, 0.0]}]
    with Agv(broker.port) as one, serving(tmp_path / "lab", broker.port, zones=zones, places=PLACES) as served:
        until(lambda: served.at() == (0.0, 0.0))
        served.world.jobs.accept([Order("b", ME, "target_navigation", {"target_label": "b"})])
        until(lambda: served.world.jobs.load("b").status.state.terminal)
        outcome = served.world.jobs.load("b").status.outcome
        assert outcome is not None and not outcome.ok and one.orders == []
        assert "(5, 1)" in outcome.findings[0].found and "config.places b" in outcome.findings[0].field


@pytest.mark.slice(2)
@pytest.mark.parametrize("member", ["safety", "battery_min"])
def test_an_entry_that_changes_while_the_kernel_runs_is_told_and_other_limits_stop_its_orders(
    tmp_path: Path, broker: Any, member: str
) -> None:
    root = tmp_path / "lab"
    with Agv(broker.port) as one, serving(root, broker.port) as served:
        until(lambda: served.at() == (0.0, 0.0))
        before = (root / "TARGETS.md").read_text()
        page = json.loads(before)
        fence = {"workspace": {"low": [-1, -1], "high": [3, 3]}}
        page["targets"][0]["config"][member] = {"safety": fence, "battery_min": 5.0}[member]
        (root / "TARGETS.md").write_text(json.dumps(page))
        until(lambda: f"TARGETS.md {ME}" in served.alerts())
        served.world.jobs.accept([Order("far", ME, "move_to", {"target_pose": [6.0, 0.0, 0.0]})])
        until(lambda: served.world.jobs.load("far").status.state.terminal)
        outcome = served.world.jobs.load("far").status.outcome
        assert outcome is not None and outcome.ok is (member != "safety") and bool(one.orders) is outcome.ok
        (root / "TARGETS.md").write_text(before)
        until(lambda: f"TARGETS.md {ME}" not in served.alerts())
