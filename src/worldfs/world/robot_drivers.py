"""Robots of TARGETS.md named as drivers: the entry, or what is missing (000 "Supported Drivers")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput
from worldfs.base.model.skill import REAL

if TYPE_CHECKING:
    from worldfs.base.clock import Clock
    from worldfs.base.driver import Driver, DriverFactory, PluginContext
    from worldfs.base.model import Target

ANY: Final = "rekep_real"  # the specification's name: the robot that TARGETS.md declares under the node's id
WALKING: Final = ("go2_edu", "unitree_go2")  # walking robots are not supported yet


def names() -> list[str]:
    """Names of the drivers that are not in the catalogue."""
    from worldfs.robots.targets.target_declaration import ROBOTS

    return sorted({ANY, *ROBOTS} - {*WALKING})


def is_robot(driver: str) -> bool:
    return _bare(driver) in names()


def robot_factory(
    node: str, driver: str, targets: Mapping[str, Target], clock: Clock, others: Mapping[str, object]
) -> DriverFactory | None:
    """The driver factory of `node` by its entry in TARGETS.md; None where `driver` names no robot.

    The entry has the node's own id: a robot has one name for every caller. Raises `BadInput` naming
    what is missing; `others` are the other known drivers.
    """
    name = _bare(driver)
    there = ", ".join([*sorted(others), *names()])
    if name in WALKING:
        raise BadInput(
            f"{node} wants the driver {driver!r}: a Go2 is not supported for ACTION.md yet",
            path="config.json embodiments.instances", op="up", expected=f"one of: {there}",
            fix="use sessions: a target of TARGETS.md with adapter.driver unitree_go2 (docs/robots.md)",
        )  # fmt: skip
    if name not in names():
        return None
    target = targets.get(node)
    if target is None or not _fits(target, name):
        also = [id for id, entry in targets.items() if _fits(entry, name)]
        wanted = "lerobot" if name == ANY else name
        entry = (
            f"{{id: {node}, type: real_robot, adapter: {{class: RealRobotTargetAdapter, driver: {wanted}}}, config: …}}"
        )
        fix = f"declare it there: {entry} (docs/robots.md)"
        if also:
            fix = f"give robot and target one id: robotId {also[0]}, or `id: {node}` in TARGETS.md"
        fix += "; or run it in the simulation: `paos up` and `paos do` take --driver simulation"
        found = f"{node} wants the driver {driver!r}, and TARGETS.md has no such robot of that id"
        raise BadInput(found, path=f"TARGETS.md {node}", op="up", expected=f"a robot {node} with that driver", fix=fix)
    if not target.enabled:
        raise BadInput(
            f"{node} is disabled", path=f"TARGETS.md {node} enabled", op="up", expected="enabled: true",
            fix="enable it there, or remove the robot from config.json",
        )  # fmt: skip

    def make(seat: PluginContext) -> Driver:
        from worldfs.sessions.robot_body import RobotBody

        return RobotBody(target, seat, clock)

    return make


def _bare(driver: str) -> str:
    return driver.strip().lower()


def _fits(target: Target, name: str) -> bool:
    from worldfs.robots.targets.target_declaration import ADAPTER

    return target.kind == REAL and target.adapter == ADAPTER and name in (ANY, _bare(target.driver))
