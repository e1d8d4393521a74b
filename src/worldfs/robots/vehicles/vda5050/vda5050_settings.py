"""`config` of a target whose driver is vda5050, read and judged."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.given_file import check_given_file
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.robots.robot_library import config_member
from worldfs.robots.targets.safety_limits import SafetyLimits

from ..vehicle_credentials import password
from ..vehicle_interface import VehicleSettings
from ..vehicle_settings import SECRETS, vehicle_settings

MEMBERS: Final = (
    "broker", "manufacturer", "serial", "version", "interface", "map", "edges", "released_edges", "ack_s",
    "username", "ca", "certificate", "key", *SECRETS,
)  # fmt: skip
VERSIONS: Final = ("2.0.0", "2.1.0")
PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
# m/s: no vehicle of the protocol is faster, whatever its factsheet says; a state is due every 30 s (VDA 5050 §6.10)
MAKER: Final = SafetyLimits(base_low=np.array((-5.0, -5.0, -4.0)), base_high=np.array((5.0, 5.0, 4.0)))
USUAL: Final = SafetyLimits(watchdog_s=6.0, stale_s=35.0)
_NO_TOPIC_LEVEL: Final = frozenset("/+#$\0")


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    host: str
    port: int
    tls: bool
    username: str = ""
    password: str = ""
    ca: str = ""
    certificate: str = ""
    key: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def context(self) -> ssl.SSLContext:
        """Raises `MissingRequirement` for a certificate that cannot be read."""
        for file in filter(None, (self.ca, self.certificate, self.key)):
            check_given_file(file, op="open a target")
        try:
            context = ssl.create_default_context(cafile=self.ca or None)
            if self.certificate:
                context.load_cert_chain(self.certificate, self.key or None)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(filter(None, (self.ca, self.certificate, self.key)))
            raise MissingRequirement(
                coded("vehicle.no_file", path=files, why=str(error)), expected=coded("vehicle.certificates"),
                fix=coded("vehicle.see_certificates"),
            ) from error  # fmt: skip
        return context


@dataclass(frozen=True, slots=True)
class Vda5050Settings:
    common: VehicleSettings
    broker: BrokerAddress
    manufacturer: str
    serial: str
    version: str = "2.0.0"
    interface: str = "uagv"
    map: str = ""  # "": the one that the vehicle reports
    edges: tuple[tuple[str, str], ...] = ()  # between places; none: straight to the goal
    released_edges: int = 0  # how far ahead the vehicle may drive; 0: all of the way
    ack_s: float = 15.0  # within which the vehicle must have taken the order in

    def topic(self, name: str) -> str:
        major = self.version.partition(".")[0]
        return f"{self.interface}/v{major}/{self.manufacturer}/{self.serial}/{name}"


def read_settings(target: Target) -> Vda5050Settings:
    """Raises `BadInput` naming the member, `MissingRequirement` for a secret that is not there."""
    broker, common = broker_address(target), vehicle_settings(target, USUAL, MAKER, MEMBERS)
    version = config_member(target, "version", str, VERSIONS[0])
    if version not in VERSIONS:
        raise _wrong(target, "version", version, coded("common.either_of", names=[*VERSIONS]))
    ahead, ack = config_member(target, "released_edges", float, 0.0), config_member(target, "ack_s", float, 15.0)
    for name, value, fine in (("released_edges", ahead, ahead >= 0 and ahead == int(ahead)), ("ack_s", ack, ack > 0)):
        if not fine:
            raise _wrong(target, name, f"{value:g}", coded("target.above_0"))
    return Vda5050Settings(
        common, broker, _level(target, "manufacturer"), _level(target, "serial"), version,
        _level(target, "interface", "uagv"), config_member(target, "map", str, ""),
        _edges(target, common), int(ahead), ack,
    )  # fmt: skip


def server_address(target: Target) -> tuple[str, int]:
    """Host and port of its broker, for `paos check`. Raises as `read_settings` does."""
    broker = read_settings(target).broker
    return broker.host, broker.port


def broker_address(target: Target) -> BrokerAddress:
    text = config_member(target, "broker", str)
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        url, port = urlsplit(""), None
    if url.scheme not in PORTS or not url.hostname or url.username or url.path not in ("", "/"):
        raise _wrong(target, "broker", text, "mqtt://HOST:1883, mqtts://HOST:8883")
    names = ("username", "ca", "certificate", "key")
    username, ca, certificate, key = (config_member(target, name, str, "") for name in names)
    if url.scheme == "mqtt" and (ca or certificate or key):  # these are for TLS
        raise _wrong(target, "broker", text, f"mqtts://{url.hostname}:{port or PORTS['mqtts']}")
    if key and not certificate:
        raise _wrong(target, "key", key, coded("vehicle.certificate_of_key"))
    return BrokerAddress(
        url.hostname, port or PORTS[url.scheme], url.scheme == "mqtts", username, password(target), ca, certificate, key
    )


def _level(target: Target, name: str, default: str | None = None) -> str:
    value = config_member(target, name, str, default)
    if not value or _NO_TOPIC_LEVEL & {*value}:
        raise _wrong(target, name, repr(value), coded("vehicle.topic_level"))
    return value


def _edges(target: Target, common: VehicleSettings) -> tuple[tuple[str, str], ...]:
    raw = config_member(target, "edges", list, [])
    found = [(str(edge[0]), str(edge[1])) for edge in raw if isinstance(edge, list | tuple) and len(edge) == 2]
    if len(found) != len(raw):
        raise _wrong(target, "edges", repr(raw)[:200], coded("vehicle.edge_list"))
    if unknown := sorted({name for edge in found for name in edge} - {*common.places}):
        raise _wrong(target, "edges", ", ".join(unknown), coded("common.some_of", names=sorted(common.places)))
    return tuple(found)


def _wrong(target: Target, name: str, found: str, expected: str) -> BadInput:
    return BadInput(found, path=f"TARGETS.md {target.id} config.{name}", expected=expected)
