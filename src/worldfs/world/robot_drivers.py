"""Robots of TARGETS.md named as drivers: the entry, or what is missing (000 "Supported Drivers")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from worldfs.base.clock import Clock
    from worldfs.base.driver import Driver, DriverFactory, PluginContext
    from worldfs.base.model import Target

ANY: Final = "rekep_real"  # the specification's name: the robot that TARGETS.md declares under the node's id
WORKSPACE: Final = "workspace"  # a robot with a workspace of its own (workspace_robot.py)
WALKING: Final = "unitree_go2"  # a real robot that walks is not supported yet
SIMULATED: Final = "go2_edu"


def names() -> list[str]:
    """Names of the drivers that are not in the catalogue."""
    from worldfs.robots.targets.target_declaration import ROBOTS
    from worldfs.robots.vehicles.vehicle_declaration import VEHICLES

    return sorted({ANY, *ROBOTS, *VEHICLES} - {WALKING})


def is_robot(driver: str) -> bool:
    return _bare(driver) in names()


def workspace_address(robot: str, address: str) -> str:
    """Where the robot's own workspace is. Raises `BadInput` where its entry of config.json names no such address."""
    if not address.startswith(("nats://", "tls://")):
        raise BadInput(
            coded("fleet.no_store", robot=robot), path=f"config.json embodiments.instances {robot} store", op="up",
            expected=coded("fleet.store_form", robot=robot), fix=coded("fleet.name_store"),
        )  # fmt: skip
    return address


def is_real_walker(node: str, driver: str, targets: Mapping[str, Target]) -> bool:
    """Whether the simulated quadruped is named for a node that TARGETS.md declares as a real one."""
    return _bare(driver) == SIMULATED and node in targets and _fits(targets[node], WALKING)


def robot_factory(
    node: str, driver: str, targets: Mapping[str, Target], clock: Clock, others: Mapping[str, object]
) -> DriverFactory | None:
    """The driver factory of `node` by its entry in TARGETS.md; None where `driver` names no robot.

    The entry has the node's own id: a robot has one name for every caller. Raises `BadInput` naming
    what is missing; `others` are the other known drivers.
    """
    name = _bare(driver)
    there = coded("common.one_of", names=[*sorted(others), *names()])
    if name == WALKING or is_real_walker(node, driver, targets):
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
            coded("runtime.disabled", node=node), path=f"TARGETS.md {node} enabled", op="up",
            expected=coded("world.enabled_true"), fix=coded("world.enable_there"),
        )  # fmt: skip

    from worldfs.sessions.unread_fields import review_target

    for finding in review_target(target, lambda document, id, member: f"{document} {id} {member}"):
        if not finding.warning:
            raise BadInput(
                finding.found,
                path=finding.field,
                op="up",
                expected=finding.expected,
                fix=finding.fix,
                code=finding.code,
            )

    def make(seat: PluginContext) -> Driver:
        from worldfs.robots.vehicles.vehicle_declaration import is_vehicle

        if is_vehicle(target):
            from worldfs.sessions.vehicle_body import VehicleBody

            return VehicleBody(target, seat, clock)
        from worldfs.sessions.robot_body import RobotBody

        return RobotBody(target, seat, clock)

    return make


def _bare(driver: str) -> str:
    return driver.strip().lower()


def _fits(target: Target, name: str) -> bool:
    from worldfs.base.model.skill import REAL
    from worldfs.robots.targets.target_declaration import ADAPTER

    return target.kind == REAL and target.adapter == ADAPTER and name in (ANY, _bare(target.driver))
