"""Checks of a TARGETS.md entry whose robot drives itself: driver, library, settings, secrets, its server's address."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import UserError
from worldfs.base.extras import install_command
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Target

if TYPE_CHECKING:
    from .vehicle_interface import VehicleFactory

_HERE: Final = "worldfs.robots.vehicles"
VEHICLES: Final = {
    "vda5050": f"{_HERE}.vda5050.vda5050_vehicle:vehicle",
    "rosbridge": f"{_HERE}.rosbridge.rosbridge_vehicle:vehicle",
}
SERVERS: Final = {  # host and port; raises what is wrong with a setting
    "vda5050": f"{_HERE}.vda5050.vda5050_settings:server_address",
    "rosbridge": f"{_HERE}.rosbridge.rosbridge_settings:server_address",
}
LIBRARIES: Final = {"vda5050": ("paho",), "rosbridge": ("websockets",)}
INSTALL: Final = {"vda5050": install_command("vda5050"), "rosbridge": install_command()}
PROBE_S: Final = 1.0  # for a server to take a connection, when `paos check` asks


def is_vehicle(target: Target) -> bool:
    return target.driver.strip().lower() in VEHICLES


def vehicle_factory(target: Target) -> VehicleFactory:
    """The maker of the vehicle that `adapter.driver` names."""
    module, _, name = VEHICLES[target.driver.strip().lower()].partition(":")
    made: VehicleFactory = getattr(import_module(module), name)
    return made


def review_vehicle(target: Target, place: Callable[[str, str, str], str]) -> Iterator[Finding]:
    """What would keep it from being taken up; its server is asked for a connection and told nothing."""
    name = target.driver.strip().lower()
    absent = [library for library in LIBRARIES[name] if find_spec(library) is None]
    if absent:
        field, found = place("TARGETS.md", target.id, "adapter.driver"), coded("file.not_installed")
        yield Finding("TARGET_BUILD", field, ", ".join(absent), found, INSTALL[name], warning=True)
        return  # its settings need them
    try:
        module, _, function = SERVERS[name].partition(":")  # imported now: settings need what needs this module
        host, port = getattr(import_module(module), function)(target)
    except UserError as error:
        yield Finding(
            error.code if error.code == "SECRETS_READABLE" else "TARGET_BUILD", error.path, error.expected, error.found,
            error.fix or coded("vehicle.correct_member"), warning=True,
        )  # fmt: skip
        return
    try:
        socket.create_connection((host, port), PROBE_S).close()
    except OSError as error:
        yield Finding(
            "TARGET_BUILD", place("TARGETS.md", target.id, "config"), coded("vehicle.a_broker"),
            coded("vehicle.no_broker", address=f"{host}:{port}", why=error.strerror or str(error)),
            coded("vehicle.start_broker"), warning=True,
        )  # fmt: skip
