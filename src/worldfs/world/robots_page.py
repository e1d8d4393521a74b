"""ROBOTS.md: the registry as a View, in the form that programs parse (workspace §3.12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from worldfs.base.model import Profile

_HEAD = "| Robot ID | Driver | Type | Capabilities | Workspace | Enabled | Profile | Connection | Navigation |"


@dataclass(frozen=True, slots=True)
class RobotEntry:
    id: str
    driver: str
    workspace: str
    enabled: bool
    profile_name: str
    profile: Profile | None
    connection: str = "unknown"
    navigation: str = "unknown"


def render_robots(robots: Iterable[RobotEntry]) -> bytes:
    rows = [_row(robot) for robot in robots] or ["| " + " | ".join(["—"] * 9) + " |"]
    head = [
        "# Robot Registry",
        "",
        "Computed from the profiles and ENVIRONMENT.md; edits here have no effect.",
        "The operator declares robots in config.json.",
        "",
        _HEAD,
        "|" + "---|" * 9,
    ]
    return ("\n".join([*head, *rows]) + "\n").encode()


def _row(robot: RobotEntry) -> str:
    cells = (
        robot.id,
        robot.driver,
        (robot.profile.type if robot.profile else "") or "unknown",
        _capabilities(robot.profile),
        f"`{robot.workspace}`",
        "yes" if robot.enabled else "no",
        robot.profile_name + ".md",
        robot.connection,
        robot.navigation,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _capabilities(profile: Profile | None) -> str:
    if profile is None:
        return "unknown"
    names = [op.name for op in profile.ops]
    return "see profile" if not names else ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
