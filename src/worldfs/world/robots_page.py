"""ROBOTS.md: the registry as a View, in the form that programs parse (workspace §3.12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worldfs.base.errors import UserError, WorldError
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded, render
from worldfs.formats import embodied, environment
from worldfs.storage.plain_files import PlainFiles

from .node_specs import DEFAULT_DRIVER, disabled_robots
from .robot_liveness import LAST_SEEN, ROBOTS_PAGE, last_seen, robot_liveness

if TYPE_CHECKING:
    from worldfs.base.model import Profile, RobotState

    from .world import World

FILE = ROBOTS_PAGE

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


def refresh(world: World) -> bool:
    """Write the page into the shared workspace of a fleet where it differs. True: nothing is left to do."""
    if world.config is None or world.config.mode != "fleet":
        return True
    data = page_of(world)
    try:
        stored = world.store.get(FILE)
        if stored is None or stored.data != data:
            world.store.put(FILE, data, durable=False)  # it can be made again at any time
    except UserError:  # a link or a directory has its name: the page in the tree is computed all the same
        pass
    return True


def page_of(world: World) -> bytes:
    """The robots of a world: those that work, then those that are disabled, then those that are refused."""
    config, root = world.config, str(world.root)
    try:
        states = {robot.robot_id: robot for robot in environment.read(world.content("ENVIRONMENT.md")).scene.robots}
    except WorldError:
        states = {}

    def profile(node: str) -> Profile | None:
        try:
            data = world.content("EMBODIED.md", node)
            return embodied.read(data) if data else None
        except WorldError:
            return None

    def place(node: str) -> str:
        store = world.stores.robots.get(node)
        return store.directory if isinstance(store, PlainFiles) else root

    def connection(node: str) -> str:
        alive = robot_liveness(world, node)
        if not alive.lost:
            return _status(states.get(node), "connection_state")
        seen = last_seen(world, node, alive)
        return f"{LAST_SEEN}{seen}" if seen else "lost"

    robots = [
        RobotEntry(
            spec.id,
            spec.driver,
            place(spec.id),
            True,
            spec.profile or spec.driver,
            profile(spec.id),
            connection(spec.id),
            _status(states.get(spec.id), "nav_state"),
        )
        for spec in world.specs
    ]
    for id in disabled_robots(config, world.store):
        declared = config.instance(id) if config is not None else None
        driver, name = (declared.driver, declared.profile) if declared is not None else ("unknown", "unknown")
        there = declared.workspace if declared is not None and config is not None and config.mode == "fleet" else root
        robots.append(RobotEntry(id, driver or DEFAULT_DRIVER, there, False, name or DEFAULT_DRIVER, None))
    for item in config.refused if config is not None else ():
        driver, name = item.driver or DEFAULT_DRIVER, item.profile or DEFAULT_DRIVER
        robots.append(RobotEntry(item.robot_id, driver, item.workspace, item.enabled, name, None, "refused"))
    return render_robots(robots, world.language())


def _status(robot: RobotState | None, key: str) -> str:
    """`connection_state.status`, `nav_state.status` of a robot in ENVIRONMENT.md."""
    return (as_text(as_object(robot.extra.get(key)).get("status")) if robot is not None else "") or "unknown"


def render_robots(robots: Iterable[RobotEntry], language: str = "en") -> bytes:
    """The table's words are those that programs look for, in every language."""
    rows = [_row(robot) for robot in robots] or ["| " + " | ".join(["—"] * 9) + " |"]
    head = [
        "# Robot Registry",
        "",
        *(render(coded(code), language) for code in ("world.robots_computed", "world.robots_declared")),
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
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ").replace("\r", " ") for cell in cells) + " |"


def _capabilities(profile: Profile | None) -> str:
    if profile is None:
        return "unknown"
    names = [op.name for op in profile.ops]
    return "see profile" if not names else ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
