"""TARGETS.md: a misspelt member of a real robot is refused before anything moves; any other is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.model import Finding, Target
from worldfs.formats.runtime import targets
from worldfs.robots.targets.target_declaration import WORDS, review
from worldfs.sessions.unread_fields import DRIVERS, TARGET, review_target
from worldfs.world.robot_drivers import robot_factory

REAL: dict[str, Any] = {
    "id": "arm", "type": "real_robot", "adapter": {"class": "RealRobotTargetAdapter", "driver": "lerobot"},
    "config": {"robot": {"type": "so101_follower", "port": "/dev/null", "id": "arm"}},
}  # fmt: skip


def target(**changed: Any) -> Target:
    (entry,) = targets.read(json.dumps({"targets": [{**REAL, **changed}]}).encode()).entries.values()
    return entry


def place(document: str, id: str, member: str) -> str:
    return f"{document} {id} {member}"


def found(entry: Target) -> list[Finding]:
    return [item for item in (*review(entry, place), *review_target(entry, place)) if item.code == "FIELD_UNREAD"]


@pytest.mark.parametrize(
    ("changed", "member", "fix"),
    [
        ({"enabeld": False}, "enabeld", "did you mean enabled?"),
        ({"config": {**REAL["config"], "unitz": "degrees"}}, "config.unitz", "did you mean units?"),
        ({"config": {**REAL["config"], "safty": {"joint_speed": 0.1}}}, "config.safty", "did you mean safety?"),
        ({"config": {**REAL["config"], "joint_speed": 0.1}}, "config.joint_speed", "correct the name"),
        ({"safety": {"joint_speed": 0.1}}, "safety", "correct the name"),
        ({"config": {**REAL["config"], "watchdog": 0.5}}, "config.watchdog", "correct the name"),
    ],
)
def test_a_misspelt_member_of_a_real_robot_is_refused_and_its_driver_is_not_used(
    changed: dict[str, Any], member: str, fix: str
) -> None:
    entry = target(**changed)
    (finding,) = found(entry)
    assert not finding.warning and finding.field == f"TARGETS.md arm {member}" and fix in finding.fix
    with pytest.raises(BadInput, match="which nothing reads"):
        robot_factory("arm", "lerobot", {"arm": entry}, SystemClock(), {})
    assert robot_factory("arm", "lerobot", {"arm": target()}, SystemClock(), {})


def test_a_member_of_another_program_is_named_and_the_robot_works() -> None:
    entry = target(config={**REAL["config"], "ros_master_uri": "http://x"}, notes="for people")
    (finding,) = found(entry)
    assert finding.warning and robot_factory("arm", "lerobot", {"arm": entry}, SystemClock(), {})


def test_a_misspelt_limit_is_an_error_of_the_check_too() -> None:
    entry = target(config={**REAL["config"], "safety": {"joint_sped": 0.8}})
    (finding,) = [item for item in review(entry, place) if item.field.endswith("config.safety")]
    assert not finding.warning and finding.found == "joint_sped" and "joint_speed" in finding.expected


def test_of_a_simulation_such_a_member_is_named() -> None:
    entry = target(type="sim", backend="mujoco", adapter={"class": "SimTargetAdapter"}, config={"sed": 3})
    assert [(item.field, item.warning) for item in found(entry)] == [("TARGETS.md arm config.sed", True)]


MEMBERS = [("", name) for name in (*TARGET, "adapter", "perception") if name != "config"]
MEMBERS += [("config", name) for driver in ("lerobot", "franka", "unitree_go2") for name in DRIVERS[driver]]


@given(st.sampled_from(MEMBERS), st.integers(0, 20), st.booleans(), st.sampled_from(["lerobot", "franka"]))
def test_any_slip_in_a_member_that_counts_is_refused(
    member: tuple[str, str], at: int, swapped: bool, driver: str
) -> None:
    level, name = member
    at %= len(name) - 1
    typed = name[:at] + (name[at + 1] + name[at] if swapped else "") + name[at + 1 + swapped :]
    if len(name) < 5 or typed in (*TARGET, *DRIVERS[driver], *WORDS) or name not in (*TARGET, *DRIVERS[driver]):
        return
    adapter = {"class": "RealRobotTargetAdapter", "driver": driver}
    changed = {"config": {typed: False}} if level else {typed: False, "config": {}}
    assert [(item.field, item.warning) for item in found(target(adapter=adapter, **changed))] == [
        (f"TARGETS.md arm {level + '.' if level else ''}{typed}", False)
    ]
