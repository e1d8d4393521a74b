"""Where things are for an actor: its project, its robots, its jobs."""

from __future__ import annotations

from typing import Final

from worldfs.access.binding import SYSTEM
from worldfs.base.errors import NotFound, UserError
from worldfs.base.messages import coded
from worldfs.tree import path as paths

from .actor_tree import ActorTree

SELF: Final = "/agents/self"
JOBS: Final = f"{SELF}/jobs"
CHAT: Final = f"{SELF}/chat/control/input"
STATUS: Final = "/meta/status.json"


def absolute(path: str) -> str:
    """A path as an argument gives it. Raises `BadInput`, `Unsafe`."""
    return paths.parse(path if path.startswith("/") else f"/{path}")


async def exists(tree: ActorTree, path: str) -> bool:
    try:
        await tree.stat(path)
    except NotFound:
        return False
    return True


async def names(tree: ActorTree, path: str) -> list[str]:
    """The directories in a directory; none where the actor does not see it."""
    try:
        return [found.name for found in await tree.entries(path) if found.directory]
    except UserError:
        return []


async def project(tree: ActorTree) -> str:
    """The directory of the actor's project; the only other one for an actor that is bound to `system`."""
    own = tree.binding.project
    if own and own != SYSTEM:
        return f"/projects/{own}"
    others = [name for name in await names(tree, "/projects") if name != SYSTEM]
    if len(others) == 1:
        return f"/projects/{others[0]}"
    told = coded("mcp.projects", n=len(others)) if others else coded("mcp.no_project")
    expected = coded("common.one_of", names=", ".join(others)) if others else ""
    raise NotFound(told, path="/projects", expected=expected, fix=coded("mcp.bind_one"))


async def robots(tree: ActorTree) -> list[str]:
    """The nodes that the actor may stop."""
    return [node for node in await names(tree, "/nodes") if await exists(tree, f"/nodes/{node}/stop")]


async def robot(tree: ActorTree, node: str, op: str) -> str:
    """The named robot, or the only one. Raises `NotFound`, naming those that there are."""
    there = await robots(tree)
    if node in there:
        return node
    if not node and len(there) == 1:
        return there[0]
    expected = coded("common.one_of", names=", ".join(there)) if there else coded("mcp.no_robot_here")
    found = coded("mcp.no_robot_named", name=node) if node else coded("mcp.several_robots" if there else "mcp.no_robot")
    raise NotFound(found, op=op, expected=expected, fix=coded("mcp.name_robot"))


async def job(tree: ActorTree, id: str) -> str:
    """The directory of a job: the agent's own, or one of a robot. Raises `NotFound`."""
    if paths.safe_name(id):
        for base in (JOBS, *(f"/nodes/{node}/jobs" for node in await names(tree, "/nodes"))):
            if await exists(tree, f"{base}/{id}/status.json"):
                return f"{base}/{id}"
    raise NotFound(coded("mcp.no_job_named", name=id[:60]), op="wait", fix=coded("mcp.look_jobs"))
