"""`paos robot scan` and `paos robot calibrate`: the arms of this machine that LeRobot drives, found and calibrated."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, Busy, MissingRequirement, NotFound
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from worldfs.plugins.teleoperation.device_scan import SerialPort
    from worldfs.robots.targets.robots.lerobot_device import LeRobotDevice

    from .command_context import CommandContext


def scan(context: CommandContext) -> int:
    """Exit 1 when no motor answers. Raises `MissingRequirement` without LeRobot."""
    from worldfs.plugins.teleoperation.device_scan import scan

    output, found = context.output, scan(context["ports"])
    arms = [port.device for port in found.ports if port.is_so_arm]
    output.value({**asdict(found), "so_arms": arms})
    for port in found.ports:
        output.line(coded("target.scan_port", device=port.device, what=port.description, found=_told(port)))
    if not found.ports:
        output.line(coded("target.scan_no_ports"))
    for camera in found.cameras:
        output.line(coded("target.scan_camera", id=str(camera.get("id")), what=str(camera.get("name", ""))))
    if found.blind:
        output.line(coded("target.scan_blind", why=found.blind))
    for device in arms:
        output.line(coded("target.scan_entry", device=device))
    return 0 if any(port.motors for port in found.ports) else 1


def _told(port: SerialPort) -> str:
    if port.user:
        return coded("target.scan_in_use", pid=port.user)
    if not port.motors:
        return coded("target.scan_silent", why=port.trouble) if port.trouble else coded("target.scan_nobody")
    return ", ".join(
        coded("target.scan_motors", family=family, rate=rate, ids=" ".join(map(str, ids)))
        for family, rates in port.motors.items()
        for rate, ids in rates.items()
    )


def calibrate(context: CommandContext) -> int:
    """LeRobot's own questions, at this terminal; its file is saved where LeRobot keeps such files."""
    from worldfs.plugins.teleoperation.device_scan import user_of

    device = _device(context, context["device"])
    if not sys.stdin.isatty():
        found, fix = coded("target.calibrate_at_terminal"), f"lerobot-calibrate {device.words}"
        raise MissingRequirement(found, op="robot calibrate", fix=fix)
    port = str(device.settings.get("port", ""))
    if port and (pid := user_of(port)):
        raise Busy(coded("target.scan_in_use", pid=pid), path=port, op="robot calibrate")
    device.connect(uncalibrated=True)
    try:
        device.device.calibrate()
        place = str(getattr(device.device, "calibration_fpath", ""))
    finally:
        device.close()
    context.output.report(
        coded("target.calibrated", path=place), {"calibrated": context["device"], "path": place}, "good"
    )
    return 0


def _device(context: CommandContext, name: str) -> LeRobotDevice:
    """Of a target of TARGETS.md whose driver is lerobot, or of a skill of SKILLS.md that is led by a teleoperator."""
    from worldfs.plugins.teleoperation.leader_arm import leader_device
    from worldfs.robots.targets.robots.lerobot_device import ROBOT, LeRobotDevice

    with context.open() as world:
        declared = world.targets
        targets = {} if declared is None else dict(declared.targets())
        skills = {} if declared is None else dict(declared.declared_skills())
    if (target := targets.get(name)) is not None:
        settings, place = target.config.get("robot"), f"TARGETS.md {name} config.robot"
        if target.driver != "lerobot" or not isinstance(settings, dict):
            found = target.driver or coded("common.none")
            raise BadInput(found, path=f"TARGETS.md {name} adapter.driver", expected="lerobot")
        return LeRobotDevice(ROBOT, settings, target.config, place=place, at=f"TARGETS.md {name} config")
    skill = skills.get(name)
    if skill is not None and skill.policy is not None and skill.policy.type == "leader":
        return leader_device(skill.policy)
    led = [id for id, one in skills.items() if one.policy is not None and one.policy.type == "leader"]
    known = [id for id, one in targets.items() if one.driver == "lerobot"] + led
    raise NotFound(
        coded("target.no_lerobot_arm", name=name), path=name, op="robot calibrate",
        expected=coded("common.either_of", names=known or [coded("common.none")]),
    )  # fmt: skip
