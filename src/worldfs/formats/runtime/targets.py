"""TARGETS.md: the targets that the operator declares (000 "TARGETS.md", workspace §3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from worldfs.base.messages import coded
from worldfs.base.model import CameraSpec, Finding, Json, Target
from worldfs.base.model.skill import REAL, SIM
from worldfs.formats.sheet_members import EntryRefused

from .entry_registry import EntryRegistry, flag, mapping, number, plain_ref, rest, text, texts
from .entry_registry import read as read_registry

FILE = "TARGETS.md"
# What the dialects call the two kinds; r2 splits them in two members.
_KINDS = {
    "sim": SIM, "simulation": SIM, "simulator": SIM, "game": SIM, "debug": SIM,
    "real_robot": REAL, "real": REAL, "robot": REAL, "hardware": REAL,
}  # fmt: skip
_KNOWN = frozenset((
    "id", "type", "target_kind", "enabled", "backend", "supported_skills", "supported_skillruntimes", "adapter",
    "perception", "config", "sensors",
))  # fmt: skip
_ADAPTER = frozenset(("class", "obs_format", "driver"))
_CAMERA = frozenset(("name", "resolution", "fps", "device"))
_VEHICLE: Final = {  # the members that say which vehicle it is, and what they are where they are not written
    "vda5050": {"interface": "uagv", "manufacturer": "", "serial": ""},
    "rosbridge": {"url": "", "cmd_vel": "/cmd_vel", "action": "/navigate_to_pose"},
}
MAX_SIDE, MAX_FPS = 16_384, 10_000


def read(data: bytes) -> EntryRegistry[Target]:
    """Raises `BadInput` for a text that cannot be read; a bad entry is a finding, and the others are there."""
    found = read_registry(data, FILE, ("targets",), _dialect, _target)
    return found._replace(findings=(*found.findings, *_named_twice(found)))


def _named_twice(registry: EntryRegistry[Target]) -> Iterator[Finding]:
    """Two robots that are one vehicle would take its orders from each other."""
    seen: dict[tuple[str, ...], str] = {}
    for target in registry.entries.values():
        kind = target.driver.lower()
        names = _VEHICLE.get(kind)
        if names is None or target.kind != REAL or not target.enabled:
            continue
        value = tuple(str(target.config.get(name, usual)).strip() for name, usual in names.items())
        first = seen.setdefault((kind, *value), target.id) if all(value) else target.id
        if first != target.id:
            said = coded("file.same_vehicle", names=list(names), values=list(value), other=first)
            field = f"{FILE} /targets/{registry.places[target.id]}/config"
            yield Finding("VEHICLE_TWICE", field, coded("file.own_vehicle"), said, coded("file.name_vehicle"))


def _dialect(value: Json) -> str:
    items = value.get("targets")
    first = items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}
    if "target_kind" in first or "supported_skillruntimes" in first:
        return "r2"
    return "r1" if "version" in value else "page"


def _target(item: Json, at: str, dialect: str) -> Target:
    adapter = item.get("adapter")
    runtime = mapping(item, "runtime", at)
    if isinstance(adapter, str):  # the earliest form: the class alone
        adapter = {"class": adapter}
    if adapter is None:
        adapter = {"class": runtime["target_adapter"]} if isinstance(runtime.get("target_adapter"), str) else {}
    if not isinstance(adapter, dict):
        raise EntryRefused(f"{at}/adapter", coded("file.mapping_with", names="`class`"), adapter)
    perception = mapping(item, "perception", at)
    skills = texts(item, "supported_skills", at) + texts(item, "supported_skillruntimes", at)
    return Target(
        id=str(item["id"]),
        kind=_kind(item, at),
        enabled=flag(item, "enabled", at, True),
        backend=text(item, "backend", at),
        skills=tuple(dict.fromkeys(plain_ref(skill) for skill in skills)),
        adapter=text(adapter, "class", f"{at}/adapter"),
        obs_format=text(adapter, "obs_format", f"{at}/adapter"),
        driver=text(adapter, "driver", f"{at}/adapter"),
        cameras=_cameras(perception.get("cameras"), f"{at}/perception/cameras"),
        sensors=texts(item, "sensors", at) + texts(perception, "sensors", f"{at}/perception"),
        config=mapping(item, "config", at),
        extra=rest(item, _KNOWN)
        | ({"perception": perception} if perception else {})
        | ({"adapter": more} if (more := rest(adapter, _ADAPTER)) else {}),
    )


def _kind(item: Json, at: str) -> str:
    key = "target_kind" if item.get("type") is None and item.get("target_kind") is not None else "type"
    word = item.get(key)
    if word is None and item.get("backend") is not None:
        return SIM  # only a simulation has a backend
    kind = _KINDS.get(word.strip().lower()) if isinstance(word, str) else None
    if kind is None:
        raise EntryRefused(
            f"{at}/{key}",
            coded("runtime.or", one="sim", other="real_robot"),
            coded("file.nothing") if word is None else word,
        )
    return kind


def _cameras(value: Any, at: str) -> tuple[CameraSpec, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise EntryRefused(at, coded("file.cameras"), value)
    cameras = tuple(_camera(item, f"{at}/{i}", i) for i, item in enumerate(value))
    for i, camera in enumerate(cameras):
        if camera.name in (other.name for other in cameras[:i]):
            raise EntryRefused(f"{at}/{i}/name", coded("file.own_name"), camera.name, coded("file.other_names"))
    return cameras


def _camera(item: Any, at: str, index: int) -> CameraSpec:
    if isinstance(item, str):
        return CameraSpec(item)
    if not isinstance(item, dict):
        raise EntryRefused(at, coded("file.camera"), item)
    size = item.get("resolution", [640, 480])
    if isinstance(size, str):  # "640x480", as people write it
        size = [int(part) if part.strip().isdigit() else part for part in size.lower().replace("×", "x").split("x")]
    if not isinstance(size, list) or len(size) != 2:
        raise EntryRefused(f"{at}/resolution", coded("file.width_height"), size)
    width, height = (int(number(side, f"{at}/resolution", 1, MAX_SIDE, "pixels")) for side in size)
    fps = number(item.get("fps", 30), f"{at}/fps", 0.001, MAX_FPS, coded("file.frame_rate"))
    device = item.get("device")
    return CameraSpec(
        text(item, "name", at) or f"camera_{index}", (width, height), fps, "" if device is None else str(device),
        rest(item, _CAMERA), "resolution" in item,
    )  # fmt: skip
