"""Robots of TARGETS.md named as drivers: the entry, or what is missing (000 "Supported Drivers")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
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
    there = coded("common.one_of", names=[*sorted(others), *names()])
    if name in WALKING:
        raise BadInput(
            coded("world.go2", node=node, driver=driver),
            path="config.json embodiments.instances", op="up", expected=there, fix=coded("world.use_sessions"),
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
        fix = coded("world.same_id", id=also[0], node=node) if also else coded("world.declare_robot", entry=entry)
        raise BadInput(
            coded("world.no_robot_target", node=node, driver=driver),
            path=f"TARGETS.md {node}", op="up", expected=coded("world.robot_with_driver", node=node),
            fix=coded("world.or_simulate", fix=fix),
        )  # fmt: skip
    if not target.enabled:
        raise BadInput(
            coded("world.node_disabled", node=node), path=f"TARGETS.md {node} enabled", op="up",
            expected=coded("world.enabled_true"), fix=coded("world.enable_there"),
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
