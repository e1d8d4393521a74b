"""The nodes of a workspace, with the driver and profile of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.errors import BadInput, UserError
from worldfs.base.messages import coded
from worldfs.storage.store_interface import Store
from worldfs.tree.workspace_stores import WorkspaceStores

from .profiles import profile_text, unknown_profile
from .robot_drivers import WORKSPACE, is_real_walker, is_robot, names, robot_factory, workspace_address

if TYPE_CHECKING:
    from pathlib import Path

    from worldfs.base.clock import Clock
    from worldfs.base.driver import DriverFactory
    from worldfs.base.model import Target
    from worldfs.formats.config import Config

DEFAULT_NODE = "franka_001"
DEFAULT_DRIVER = "simulation"
DEFAULT_PROFILE = "franka_panda"
_DRIVER = re.compile(
    rb"(?:^\W{0,8}|\||\xef\xbd\x9c)[\s*_`]{0,8}+(?:driver|\xe9\xa9\xb1\xe5\x8a\xa8)"
    rb"[*`_\s]{0,8}+(?::|\xef\xbc\x9a)[*`_\s]{0,8}+([\w.-]+)",
    re.IGNORECASE | re.MULTILINE,
)


class NodeSpec(NamedTuple):
    id: str
    driver: str  # name in the catalogue of drivers; "" if nothing names one
    profile: str  # a name of `profiles`; "" if nothing names one
    store: str = ""  # the address of its own workspace, for the driver `workspace`


def find_nodes(config: Config | None, stores: WorkspaceStores, targets: Collection[str] = ()) -> tuple[NodeSpec, ...]:
    """By config.json; without it robots with an own store, ENVIRONMENT.md's robots, ACTION.md's, else one default.

    A fleet has the robots of its configuration, which may be none.
    `targets`: ids of TARGETS.md. They are no robots of the workspace; with any of them there is no default robot.
    """
    if config is not None and (config.instances or config.mode == "fleet"):
        return tuple(
            NodeSpec(item.robot_id, item.driver or DEFAULT_DRIVER, item.profile_name, item.store)
            for item in config.instances
            if item.enabled
        )
    store = stores.shared
    off = disabled_robots(config, store)
    if stores.robots:
        return tuple(NodeSpec(id, *_embodied(own)) for id, own in stores.robots.items() if id not in off)
    found = _scene_robots(store) or _sheet_robots(store)
    driver, profile = _embodied(store)
    ids = [id for id in found if (id not in targets or is_robot(driver)) and id not in off]
    if off and found and not ids:
        return ()
    if targets and not ids and profile:
        return ()
    return tuple(NodeSpec(id, driver, profile) for id in ids) or (NodeSpec(DEFAULT_NODE, driver, profile),)


def disabled_robots(config: Config | None, store: Store) -> tuple[str, ...]:
    """Robots that are declared and disabled: by config.json, without it by the workspace's ROBOTS.md."""
    if config is not None and (config.instances or config.mode == "fleet"):
        return tuple(item.robot_id for item in config.instances if not item.enabled)
    from worldfs.formats import robots

    try:
        stored = store.get("ROBOTS.md")
        return tuple(robots.read_disabled_robots(stored.data)) if stored else ()
    except UserError:
        return ()


def simulated_nodes(specs: Collection[NodeSpec], targets: Mapping[str, Target]) -> frozenset[str]:
    """The nodes whose bodies only exist while a kernel of ours simulates them. A package's body may be a real one."""
    from worldfs.base.model.skill import SIM
    from worldfs.robots.driver_registry import SIMULATIONS

    found = {s.id for s in specs if s.driver in SIMULATIONS and not is_real_walker(s.id, s.driver, targets)}
    robots = {spec.id for spec in specs}
    declared = {id: target for id, target in targets.items() if target.kind == SIM and id not in robots}
    if declared:
        from worldfs.sessions.plugins import is_simulation

        found |= {id for id, target in declared.items() if is_simulation(target)}
    return frozenset(found)


def demand_driver(
    spec: NodeSpec, drivers: Mapping[str, DriverFactory], targets: Mapping[str, Target], clock: Clock
) -> None:
    """Raises `BadInput` where the node's driver is unknown, or its entry lacks what the driver needs."""
    if spec.driver == WORKSPACE:
        workspace_address(spec.id, spec.store)
    else:
        driver_factory(spec, drivers, targets, clock)


def driver_factory(
    spec: NodeSpec, drivers: Mapping[str, DriverFactory], targets: Mapping[str, Target], clock: Clock
) -> DriverFactory:
    """The factory of a node's driver: one of the catalogue, or a robot of TARGETS.md. Raises `BadInput`."""
    if spec.driver in drivers and not is_real_walker(spec.id, spec.driver, targets):
        return drivers[spec.driver]
    if (made := robot_factory(spec.id, spec.driver, targets, clock, drivers)) is not None:
        return made
    raise BadInput(
        coded("file.no_such_driver", id=spec.id, driver=spec.driver)
        if spec.driver
        else coded("file.no_driver", id=spec.id),
        path="config.json embodiments.instances" if spec.profile else "EMBODIED.md Identity / Driver",
        op="up",
        expected=coded("common.one_of", names=[*sorted(drivers), *names(), WORKSPACE]),
        fix=coded("file.run_in_simulation"),
    )


def profile_for(spec: NodeSpec, present: bytes, language: str, own: Path | None) -> bytes | None:
    """The profile that a node's EMBODIED.md is made from; None where `present` describes the robot already.

    A profile that the configuration names must exist. Where none is named it is the one of the driver's name, and
    the simulation's is built in. Raises `BadInput`, code PROFILE_MISSING: no world starts with an empty EMBODIED.md.
    """
    if not spec.profile and present.strip():
        return None
    for name in (spec.profile,) if spec.profile else (spec.driver, DEFAULT_PROFILE * (spec.driver == DEFAULT_DRIVER)):
        if (text := profile_text(name, language, own)) is not None:
            return text
    where = "profileName" if spec.profile else "driver (no profileName)"
    raise unknown_profile(spec.profile or spec.driver, own, f"config.json embodiments.instances {spec.id} {where}")


def _scene_robots(store: Store) -> list[str]:
    from worldfs.formats import environment

    try:
        stored = store.get("ENVIRONMENT.md")
        robots = environment.read(stored.data).scene.robots if stored else ()
        return [robot.robot_id for robot in robots if robot.robot_id]
    except UserError:
        return []  # reported at the start, and by `paos check`


def _sheet_robots(store: Store) -> list[str]:
    from worldfs.formats import action

    try:
        stored = store.get("ACTION.md")
        entries = action.read(stored.data).entries if stored else ()
    except UserError:
        return []
    return list(dict.fromkeys(entry.order.node for entry in entries if entry.order and entry.order.node))


def _embodied(store: Store) -> tuple[str, str]:
    """The driver that EMBODIED.md names, and ""; where there is none, the default driver and its built-in profile."""
    try:
        stored = store.get("EMBODIED.md")
    except UserError:  # a link has its name: reported where the profile is needed, and by `paos check`
        stored = None
    if stored is None or not stored.data.strip():
        return DEFAULT_DRIVER, DEFAULT_PROFILE
    return _profile_driver(stored.data), ""


def _profile_driver(profile: bytes) -> str:
    """The Driver line of EMBODIED.md. Searched, not parsed: every command in a foreign workspace reads it."""
    found = _DRIVER.search(profile)
    return found[1].decode() if found else DEFAULT_DRIVER
