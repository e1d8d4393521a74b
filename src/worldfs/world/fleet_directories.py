"""The directories of a fleet, as config.json names them: a shared one, and one for each robot (000 "Workspace
Topology")."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.messages import coded

if TYPE_CHECKING:
    from worldfs.base.model import Finding
    from worldfs.formats.config import Config, Instance

CODE = "FLEET_DIRECTORY"
SHARED_DIR = "workspaces/shared"  # below the home, where config.json names none


def place_fleet(config: Config, home: Path) -> Config:
    """The configuration with absolute directories; a single workspace's as it is.

    A path as written: `~` is the user's home, a relative one starts at `home`. A robot that cannot be served is in
    `refused`, with a finding: one that is listed twice, and all that meet in one directory or below it, because nothing
    says which of them an order there is for. The others are served.
    """
    if config.mode != "fleet":
        return config
    shared = _absolute(config.shared_workspace or SHARED_DIR, home)
    listed = [
        item._replace(workspace=str(_absolute(item.workspace or str(shared.parent / item.robot_id), home)))
        for item in config.instances
    ]
    clashes = _clashes(shared, [item for item in listed if item.enabled and item.robot_id not in config.twice])
    bad = {*clashes, *config.twice}
    return config._replace(
        shared_workspace=str(shared),
        instances=tuple(item for item in listed if item.robot_id not in bad),
        refused=tuple(item for item in listed if item.robot_id in bad),
        findings=(*config.findings, *(_finding(id, found) for id, found in clashes.items())),
    )


def refuse_robot(config: Config, robot: Instance, found: str) -> Config:
    """The configuration without a robot whose directory cannot be used."""
    return config._replace(
        instances=tuple(item for item in config.instances if item.robot_id != robot.robot_id),
        refused=(*config.refused, robot),
        findings=(*config.findings, _finding(robot.robot_id, found)),
    )


def _absolute(written: str, home: Path) -> Path:
    return Path(os.path.abspath(home / os.path.expanduser(written)))


def _clashes(shared: Path, robots: list[Instance]) -> Mapping[str, str]:
    """Robot → what is wrong with its directory."""
    places = {"": Path(os.path.realpath(shared))}  # "": the shared workspace
    places |= {robot.robot_id: Path(os.path.realpath(robot.workspace)) for robot in robots}
    owners: dict[Path, list[str]] = {}
    for id, place in places.items():
        owners.setdefault(place, []).append(id)
    found: dict[str, str] = {}
    for id, place in places.items():
        for above in (place, *place.parents):
            what = "fleet.same_directory" if above == place else "fleet.nested_directory"
            for other in owners.get(above, ()):
                if other != id:
                    found.setdefault(id, coded(what, path=str(place), other=other or coded("fleet.shared")))
                    found.setdefault(other, coded(what, path=str(place), other=id or coded("fleet.shared")))
        if place.exists() and not place.is_dir():
            found.setdefault(id, coded("fleet.no_directory", path=str(place)))
    found.pop("", None)
    return found


def _finding(robot: str, found: str) -> Finding:
    from worldfs.base.model import Finding

    where = f"config.json embodiments.instances {robot} workspace"
    return Finding(CODE, where, coded("fleet.own_directory"), found, coded("fleet.set_directory", id=robot))
