"""`config` of a target whose driver is rosbridge, read and judged."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.robots.robot_library import config_member
from worldfs.robots.targets.safety_limits import SafetyLimits

from ..vehicle_credentials import password
from ..vehicle_interface import VehicleSettings
from ..vehicle_settings import SECRETS, vehicle_settings

NAV2, VELOCITY = "nav2", "velocity"
MEMBERS: Final = (
    "url", "drive", "frame", "odometry", "pose", "battery", "cmd_vel", "cmd_vel_type", "action", "username", *SECRETS
)  # fmt: skip
PORTS: Final = {"ws": 9090, "wss": 443}
TWISTS: Final = ("geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped")
# m/s, m/s, rad/s: a wheeled base indoors, and a walking pace where the operator sets nothing
MAKER: Final = SafetyLimits(
    base_low=np.array((-2.0, -2.0, -3.0)), base_high=np.array((2.0, 2.0, 3.0)), watchdog_s=2.0, stale_s=5.0
)
USUAL: Final = SafetyLimits(
    base_low=np.array((-0.3, -0.3, -0.8)), base_high=np.array((0.5, 0.3, 0.8)),
    base_acceleration=np.array((1.0, 1.0, 2.0)), watchdog_s=0.6, stale_s=2.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RosbridgeSettings:
    common: VehicleSettings
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    drive: str = NAV2
    frame: str = "map"  # of goals
    odometry: str = "/odom"
    pose: str = "/amcl_pose"  # "": odometry alone says where it is
    battery: str = "/battery_state"  # "": none
    cmd_vel: str = "/cmd_vel"
    cmd_vel_type: str = TWISTS[0]
    action: str = "/navigate_to_pose"


def read_settings(target: Target) -> RosbridgeSettings:
    """Raises `BadInput` naming the member, `MissingRequirement` for a secret that is not there."""
    headers, common = _headers(target), vehicle_settings(target, USUAL, MAKER, MEMBERS)
    names = ("drive", "frame", "odometry", "pose", "battery", "cmd_vel", "cmd_vel_type", "action")
    usual = {name: RosbridgeSettings.__dataclass_fields__[name].default for name in names}
    words = {name: config_member(target, name, str, usual[name]) for name in names}
    for name, choice in (("drive", (NAV2, VELOCITY)), ("cmd_vel_type", TWISTS)):
        if words[name] not in choice:
            raise _wrong(target, name, words[name], coded("common.either_of", names=[*choice]))
    _address(target)
    return RosbridgeSettings(common, config_member(target, "url", str), headers, **words)


def server_address(target: Target) -> tuple[str, int]:
    """Host and port, for `paos check`. Raises as `read_settings` does."""
    read_settings(target)
    return _address(target)


def _address(target: Target) -> tuple[str, int]:
    text = config_member(target, "url", str)
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        url, port = urlsplit(""), None
    if url.scheme not in PORTS or not url.hostname or url.username:
        raise _wrong(target, "url", text, "ws://HOST:9090, wss://HOST")
    return url.hostname, port or PORTS[url.scheme]


def guard_settings(settings: RosbridgeSettings, *, action: str) -> dict[str, object]:
    """For the second process that stops the robot. `action` "": a robot without navigation."""
    return {
        "url": settings.url, "headers": dict(settings.headers), "action": action, "cmd_vel": settings.cmd_vel,
        "cmd_vel_type": settings.cmd_vel_type,
    }  # fmt: skip


def silent_topics(target: Target, settings: RosbridgeSettings, waited_s: float) -> MissingRequirement:
    """The robot says nothing of where it is."""
    topics = ", ".join(filter(None, (settings.odometry, settings.pose)))
    return MissingRequirement(
        coded("target.no_topic", topic=topics, s=waited_s), path=f"TARGETS.md {target.id} config.odometry",
        expected=coded("vehicle.reports"), fix=coded("vehicle.ros_topics"),
    )  # fmt: skip


def _headers(target: Target) -> dict[str, str]:
    """For a proxy before the server, which itself asks for no password."""
    secret, user = password(target), config_member(target, "username", str, "")
    if not secret:
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}


def _wrong(target: Target, name: str, found: str, expected: str) -> BadInput:
    return BadInput(found, path=f"TARGETS.md {target.id} config.{name}", expected=expected)
