"""An idle vehicle says where it stands, also after others have moved it, and other robots are sent by that."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import RobotState
from worldfs.fleet.mission_reservations import KEPT
from worldfs.formats import environment
from worldfs.runtime import idle_looks
from worldfs.testing.waiting import until
from worldfs.world.world import World

from .conftest import ME, lab, opened, settings
from .test_silent_vehicle import OTHER, fleet_of, silent
from .vda5050_peer import Agv


def put(agv: Agv, x: float, y: float) -> None:
    """Somebody else moves it, and it knows."""
    with agv.lock:
        agv.x, agv.y = x, y


def entry(world: World, robot: str = ME) -> RobotState:
    found = environment.read(world.content("ENVIRONMENT.md")).scene.robot(robot)
    assert found is not None
    return found


def at(world: World, robot: str = ME) -> tuple[float, ...]:
    return tuple(entry(world, robot).pose[:2])


def test_an_idle_vehicle_that_another_moves_is_where_it_reports_to_be(tmp_path: Path, broker: Any) -> None:
    root = lab(tmp_path / "lab", settings(broker.port))
    with Agv(broker.port) as agv, opened(root) as world:
        stop = threading.Event()
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        try:
            for x in (3.0, 1.0):
                put(agv, x, 2.0)
                until(lambda: at(world) == (x, 2.0))  # noqa: B023  # it is called in this turn only
            agv.battery = 40.0
            until(lambda: entry(world).extra["battery"] == 40.0)
            assert entry(world).extra["driving"] is False
            with agv.lock:
                agv.estop, agv.errors = "MANUAL", [{"errorType": "motor", "errorLevel": "WARNING"}]
            until(lambda: entry(world).extra.get("standing") and entry(world).extra.get("errors"))
            with agv.lock:
                agv.estop, agv.errors = "NONE", []
            until(lambda: not entry(world).extra.get("standing") and not entry(world).extra.get("errors"))
        finally:
            stop.set()
            world.wake()
            thread.join()


@pytest.mark.proof
def test_no_other_is_sent_to_where_an_idle_vehicle_was_brought_by_another(tmp_path: Path, broker: Any) -> None:
    with fleet_of(tmp_path / "lab", broker.port) as fleet:
        put(fleet.two, 8.0, 3.0)
        until(lambda: at(fleet.world, OTHER) == (8.0, 3.0))
        fleet.one.speed = 4
        until(lambda: fleet.mission("m1").state.value == "succeeded")
        fleet.add("m2", "go to (8, 3)", ME)
        until(lambda: fleet.mission("m2").waits)
        assert OTHER in fleet.mission("m2").waits and len(fleet.one.driven) == 1
        put(fleet.two, 0.0, 8.0)
        until(lambda: fleet.mission("m2").state.value == "succeeded")


@pytest.mark.slice(2)
@pytest.mark.parametrize("looks", [False, True])
def test_what_a_silent_vehicle_held_is_free_once_it_is_known_where_it_stands(
    tmp_path: Path, broker: Any, monkeypatch: Any, looks: bool
) -> None:
    if not looks:  # what frees reads the position itself, and does not count on a look that may come later
        monkeypatch.setattr(idle_looks, "LOOK_S", 1e9)
    with fleet_of(tmp_path / "lab", broker.port) as fleet:
        silent(fleet)
        until(lambda: fleet.mission("m1").state.value == "failed" and ME in fleet.world.store.list(KEPT))
        fleet.add("m2", "go to (3, 0)", OTHER)
        until(lambda: fleet.mission("m2").waits)
        with fleet.one.lock:  # it has ended its order elsewhere, and does not know at first where that is
            fleet.one.nodes, fleet.one.edges, fleet.one.position_known = [], [], False
            fleet.one.faults.discard("cut off")
        put(fleet.one, 3.0, 0.0)
        until(lambda: not fleet.node()["may_move"])  # it is heard of again, and stands
        assert ME in fleet.world.store.list(KEPT)
        with fleet.one.lock:
            fleet.one.position_known = True
        loop = fleet.world.orchestration.loop  # type: ignore[union-attr]
        until(lambda: ME not in fleet.world.store.list(KEPT) or (not looks and loop.wake()))
        assert at(fleet.world) == (3.0, 0.0) and fleet.two.orders == []
        if looks:
            put(fleet.one, 0.0, -5.0)
            until(lambda: fleet.mission("m2").state.value == "succeeded")


def test_noise_of_an_idle_vehicle_is_not_written(tmp_path: Path, broker: Any) -> None:
    root = lab(tmp_path / "lab", settings(broker.port))
    with Agv(broker.port, battery=80.0) as agv, opened(root, threads=False) as world:
        hooks, driver = world.kernel.hooks, world.kernel.nodes[ME].driver  # type: ignore[union-attr]
        written = world.content("ENVIRONMENT.md")
        put(agv, 0.03, -0.03)
        agv.battery = 79.5
        until(lambda: driver.reported().extra["battery"] == 79.5 and driver.reported().pose[0] == 0.03)  # type: ignore[attr-defined]
        hooks.look(ME)
        assert world.content("ENVIRONMENT.md") == written
        put(agv, 0.06, -0.03)  # what creeps has moved in the end
        until(lambda: driver.reported().pose[0] == 0.06)  # type: ignore[attr-defined]
        hooks.look(ME)
        assert at(world) == (0.06, -0.03)
