"""A stop names every robot of which a kernel has answered, also one that the store does not name."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.runtime.stop_report import RobotStop, StopReport
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.world import World


@pytest.mark.parametrize("known", [[], ["na"], ["na", "nb"], ["nc"]])
def test_robots_that_a_kernel_has_answered_for_are_named_whatever_the_store_says(
    tmp_path: Path, known: list[str]
) -> None:
    with World.open(WorkspaceFixture(tmp_path / "lab").root) as world:
        said = StopReport((RobotStop("na", True), RobotStop("nb", False, "it is still moving")))
        report = world.robot_stops._complete(known, [said], "", 0.0, silent=False)
        assert set(report.nodes) == {"na", "nb", *known} and len(report.nodes) == len(set(report.nodes))
        assert {robot.node: robot.confirmed for robot in report.robots if robot.node != "nc"} == {
            "na": True, "nb": False,
        }  # fmt: skip
