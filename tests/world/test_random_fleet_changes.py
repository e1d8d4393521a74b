"""Robots are disabled, enabled, removed, added and declared in any order while the kernel runs: it goes on, and serves
what config.json enables."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from worldfs.base.model import JobState
from worldfs.fleet.mission import MissionOrder
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import order
from worldfs.world.robot_registry import add_robot, remove_robot
from worldfs.world.world import World

from .test_fleet_changes import FIRST, SECOND, RunningFleet

IDS = (FIRST, SECOND, "arm_3")


@pytest.fixture
def fleet(tmp_path: Path) -> RunningFleet:
    return RunningFleet(tmp_path / "home")


def instances(fleet: RunningFleet) -> dict[str, bool]:
    """The robots of config.json, and whether they are enabled."""
    return {item.robot_id: item.enabled for item in fleet.home.config({}).instances}


def enable(fleet: RunningFleet, id: str, enabled: bool) -> None:
    """By hand: nothing tells the kernel."""
    document = json.loads(fleet.home.config_path.read_bytes())
    for item in document["embodiments"]["instances"]:
        if item["robotId"] == id:
            item.pop("enabled", None)
            item.update({} if enabled else {"enabled": False})
    fleet.home.config_path.write_text(json.dumps(document))


def declare(fleet: RunningFleet, *ids: str, enabled: bool = True) -> None:
    """TARGETS.md has these, and no others."""
    entry = {"type": "simulation", "adapter": {"class": "SimulationTargetAdapter"}, "enabled": enabled}
    text = json.dumps({"targets": [{"id": id, **entry} for id in ids]})
    (fleet.home.path / "shared_workspace/TARGETS.md").write_text(text)


def served(world: World) -> set[str]:
    """The robots of the kernel: its nodes but for those that are targets of sessions."""
    kernel = world.kernel
    assert kernel is not None and world.broken is None
    targets: set[str] = getattr(kernel.hooks, "targets")  # noqa: B009 # of the world's hooks
    return set(kernel.nodes) - targets


def works(world: World, job: str, id: str) -> bool:
    """Whether the robot has carried out a new order by its driver."""
    world.jobs.accept([order(job, id)])
    until(lambda: world.jobs.load(job).status.state.terminal or world.broken is not None)
    return world.jobs.load(job).status.state is JobState.SUCCEEDED


def settle(fleet: RunningFleet, world: World, number: int) -> None:
    enabled = {id for id, on in instances(fleet).items() if on}
    world.missions.add(MissionOrder(f"look_{number}", "wave", robot="no_robot"))  # who offers is asked, and disabled
    until(lambda: served(world) == enabled == {spec.id for spec in world.specs})


def test_a_robot_that_was_disabled_and_enabled_is_removed_and_the_kernel_goes_on(fleet: RunningFleet) -> None:
    declare(fleet, SECOND)
    with fleet.up() as world:
        enable(fleet, SECOND, False)
        settle(fleet, world, 1)
        assert world.kernel is not None and SECOND not in world.kernel.nodes  # not as a target of sessions, either
        assert world.node_ids() == [FIRST]
        enable(fleet, SECOND, True)
        settle(fleet, world, 2)
        assert works(world, "one", SECOND)
        remove_robot(fleet.home, SECOND, cancel=True)
        settle(fleet, world, 3)
        add_robot(fleet.home, SECOND, "franka_panda")  # meanwhile the entry was a target
        settle(fleet, world, 4)
        assert works(world, "two", SECOND) and works(world, "three", FIRST)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_changes_the_kernel_serves_what_is_enabled(fleet: RunningFleet, seed: int) -> None:
    pick = random.Random(seed)
    declare(fleet, *pick.sample(IDS, 2))
    with fleet.up() as world:
        for number in range(20):
            id, there = pick.choice(IDS), instances(fleet)
            what = pick.choice(("hand", "hand", "command", "mission", "order", "hang", "targets", "settle"))
            if what == "hand" and id in there:
                enable(fleet, id, not there[id])
            elif what == "command" and id in there:
                remove_robot(fleet.home, id, cancel=True)
            elif what == "command":
                add_robot(fleet.home, id, "franka_panda")
            elif what == "mission":
                world.missions.add(MissionOrder(f"mission_{number}", "wave", robot=pick.choice((id, ""))))
            elif what == "order":
                world.jobs.accept([order(f"order_{number}", id)])
            elif what == "hang" and there.get(id):
                world.jobs.accept([order(f"order_{number}", id, params={"hang": True})])
            elif what == "targets":
                declare(fleet, *pick.sample(IDS, pick.randrange(3)), enabled=pick.random() < 0.7)
            elif what == "settle":
                settle(fleet, world, number)
            assert world.broken is None
        settle(fleet, world, 99)
        for job in world.jobs.open_ids():
            world.jobs.request_cancel(job, "operator")
        for id, on in instances(fleet).items():
            assert works(world, f"last_{id}", id) is on
