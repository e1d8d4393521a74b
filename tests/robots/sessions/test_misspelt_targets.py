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


LIMITS = {
    "no_go": [[0, 0], [1, 1]], "bounds": [0, 1], "avoid": "humans", "keep_out": ["table"], "velocity": 0.1,
    "max_speed": 0.1, "speedLimit": 0.1, "payload": 2, "constraints": ["slow"], "workspace": {}, "joint_speed": 0.1,
    "ee_speed": 0.05, "dry_run": True, "disabled": True, "Enabled": False, "approval": "always", "hold": True,
    "Safety": {"joint_speed": 0.1}, "safty": {"joint_speed": 0.1}, "saftey": {"joint_speed": 0.1},
    "safety_limits": {"joint_speed": 0.1}, "SAFETY": {"joint_speed": 0.1}, "keepClear": 0.3, "forbidden_zones": [1],
}  # fmt: skip
OTHERS = {"port": "/dev/ttyUSB0", "baudrate": 1000000, "timeout": 2.0, "joints": ["a"], "gripper": True, "model": "x",
          "host": "10.0.0.2", "retries": 3, "frame": "base", "id": 4, "units": "deg"}  # fmt: skip


@pytest.mark.parametrize("driver", ["lerobot", "franka", "of_a_package"])
@pytest.mark.parametrize("name", LIMITS)
def test_a_name_for_a_limit_where_nothing_reads_it_refuses_the_target_whatever_its_driver(
    driver: str, name: str
) -> None:
    adapter, limit = {"class": "RealRobotTargetAdapter", "driver": driver}, {name: LIMITS[name] or 1}
    for member, changed in ((name, limit), (f"config.{name}", {"config": limit})):
        if member == "Enabled":
            continue
        refused = [item for item in found(target(adapter=adapter, **{"config": {}, **changed})) if not item.warning]
        assert [item.field for item in refused] == [f"TARGETS.md arm {member}"]


@pytest.mark.parametrize("name", ["test", "slowly", "gentle", "confirm", "height", "whatever"])
def test_an_unknown_field_of_a_real_robot_s_entry_refuses_it(name: str) -> None:
    assert [item.warning for item in found(target(**{name: True}))] == [False]
    limits = name in ("slowly", "gentle", "confirm")  # a name of one's own that holds back is none
    assert [item.warning for item in found(target(**{f"x_{name}": True}))] == [not limits]


@pytest.mark.parametrize("name", OTHERS)
def test_the_settings_of_a_package_s_driver_are_left_to_it(name: str) -> None:
    adapter = {"class": "RealRobotTargetAdapter", "driver": "of_a_package"}
    kept = {"safety": {"joint_speed": 0.1}, "control_hz": 20, name: OTHERS[name]}
    assert found(target(adapter=adapter, config=kept)) == []


def test_a_package_s_driver_reads_what_it_declares(install: Any) -> None:
    source = "def robot(target, context): ...\nrobot.settings = ('velocity', 'dry_run')"
    install("shadows", {"worldfs.robots": {"declaring": "shadows:robot"}}, shadows=source)
    adapter = {"class": "RealRobotTargetAdapter", "driver": "declaring"}
    assert found(target(adapter=adapter, config={"velocity": 3, "dry_run": True})) == []
    (refused,) = found(target(adapter=adapter, config={"velocty": 3}))
    assert "did you mean velocity?" in refused.fix and not refused.warning


@pytest.mark.parametrize("kind", ["sim", "real_robot"])
def test_of_another_package_s_target_what_switches_it_off_is_refused(kind: str) -> None:
    off = [{name: True} for name in ("disabled", "maintenance", "locked", "do_not_use", "out_of_order", "停用")]
    off += [{"status": "disabled"}, {"Status": "out of order"}, {"active": False}]
    for changed in (*off, {"config": {"dryrun": True}}, {"config": {"Approval": "always"}}):
        assert [item.warning for item in found(target(type=kind, adapter={"class": "Other"}, **changed))] == [False]
    limits = [item.warning for item in found(target(type=kind, adapter={"class": "Other"}, no_go=[1]))]
    assert limits == ([False] if kind == "real_robot" else [])
    kept: dict[str, Any] = {"mode": "simulation", "timeout": 5, "config": {"wait": True, "requires_reset": True}}
    assert not found(target(type="sim", adapter={"class": "Other"}, **kept))


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
