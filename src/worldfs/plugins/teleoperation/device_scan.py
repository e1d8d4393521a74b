"""The serial ports of this machine and the motors that answer on them, and its cameras, as LeRobot finds them."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from worldfs.base.errors import MissingRequirement
from worldfs.robots.targets.robots.lerobot_device import INSTALL
from worldfs.robots.targets.robots.robot_library import import_library

BUSES: Final = (  # family, module and class of LeRobot's bus
    ("feetech", "lerobot.motors.feetech", "FeetechMotorsBus"),
    ("dynamixel", "lerobot.motors.dynamixel", "DynamixelMotorsBus"),
)
SO_ARM: Final = [1, 2, 3, 4, 5, 6]  # motors of an SO-100 or SO-101 arm


@dataclass(frozen=True, slots=True)
class SerialPort:
    """`motors`: family → rate (baud) → ids of the motors that answered; `user`: a process that has it open, which is
    why it was not asked; `trouble`: why it could not be."""

    device: str
    description: str = ""
    motors: dict[str, dict[int, list[int]]] | None = None
    user: int = 0
    trouble: str = ""

    @property
    def is_so_arm(self) -> bool:
        return any(ids == SO_ARM for ids in (self.motors or {}).get("feetech", {}).values())


@dataclass(frozen=True, slots=True)
class DeviceScan:
    """`cameras`: as LeRobot describes them; `blind`: why there was no looking for cameras."""

    ports: list[SerialPort]
    cameras: list[dict[str, object]]
    blind: str = ""


def scan(ports: Sequence[str] = ()) -> DeviceScan:
    """Asks every motor of the serial ports (all, or those) for its id; nothing moves.

    Raises `MissingRequirement` without LeRobot. A port that another process has open is left alone: a question between
    two of its commands could be taken for an answer.
    """
    listed = import_library("serial.tools.list_ports", "paos robot scan", INSTALL).comports()
    known = {port.device: port.description or "" for port in listed}
    found = [_asked(device, known.get(device, "")) for device in (ports or sorted(known))]
    cameras, blind = _cameras()
    return DeviceScan(found, cameras, blind)


def user_of(device: str) -> int:
    """A process that has the device open; 0: none that may be seen."""
    place = os.path.realpath(device)
    for process in filter(str.isdigit, os.listdir("/proc")) if os.path.isdir("/proc") else ():
        if int(process) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            folder = f"/proc/{process}/fd"
            for fd in os.listdir(folder):
                with contextlib.suppress(OSError):
                    if os.readlink(f"{folder}/{fd}") == place:
                        return int(process)
    return 0


def _asked(device: str, description: str) -> SerialPort:
    if user := user_of(device):
        return SerialPort(device, description, user=user)
    motors, trouble = {}, ""
    for family, module, name in BUSES:
        try:
            bus = getattr(import_library(module, "paos robot scan", INSTALL), name)
            with contextlib.redirect_stderr(io.StringIO()):  # its progress bar
                answers = bus.scan_port(device)
        except (MissingRequirement, ImportError):
            continue  # the motors' own library is not installed
        except Exception as error:  # pyserial's, the motors' and the library's own
            trouble = trouble or str(error).strip()
            continue
        if answers := {int(rate): sorted(map(int, ids)) for rate, ids in answers.items() if ids}:
            motors[family] = answers
    return SerialPort(device, description, motors, trouble="" if motors else trouble)


def _cameras() -> tuple[list[dict[str, object]], str]:
    try:
        camera = import_library("lerobot.cameras.opencv", "paos robot scan", INSTALL).OpenCVCamera
    except MissingRequirement as error:
        return [], str(error.found)
    return [dict(found) for found in camera.find_cameras()], ""
