"""`paos stop` and `paos resume`: every robot, or one, on this machine or over --connect; whether or not a kernel
runs."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.runtime.grace import CONFIRM_S

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld as FarWorld
    from worldfs.world.world import World

UNCONFIRMED: Final = "STOP_UNCONFIRMED"


def run(context: CommandContext) -> int:
    """Exit 1 if a robot has not confirmed that it holds still."""
    return stop(context, _named(context))


def stop(context: CommandContext, node: str | None) -> int:
    """Stop first, then check the result. Raises `NotFound` for an unknown robot."""
    with context.open() as world:
        nodes = world.stop(node, context.actor, name=context.actor_name)
        offline = world.status()["kernel"] is None
        found = {
            id: (True, coded("command.stopped_offline", node=id)) if offline else _ended(world, id) for id in nodes
        }
    for id, (sure, said) in found.items():
        context.output.report(said, {"node": id, "stopped": True, "confirmed": sure}, "good" if sure else "bad")
    if not nodes:
        context.output.report(coded("command.stopped_none"), {"stopped": True, "nodes": []}, "warn")
    _next(context, node)
    return 0 if all(sure for sure, _ in found.values()) else 1


def resume(context: CommandContext) -> int:
    node = _named(context)
    with context.open() as world:
        if node is None and not context["all"] and len(world.node_ids()) > 1:
            raise _which(world.node_ids())
        nodes = [node] if node is not None else world.node_ids()
        before = {id: world.stops.state(id).stopped for id in nodes}
        refusal: NotPermitted | None = None
        try:
            world.resume(node, context.actor, name=context.actor_name)
        except NotPermitted as error:
            refusal = error
        _resumed(context, {id: was for id, was in before.items() if not world.stops.state(id).stopped})
        if refusal is not None:
            raise refusal
    return 0


def remote_stop(context: CommandContext) -> int:
    from .server_tree import open_connection

    with open_connection(context) as world:
        node = _named(context)
        nodes = _there(world, node, "stop")
        for id in nodes:
            world.write(f"/nodes/{id}/stop", b"stop\n")
    for id in nodes:
        told = {"node": id, "stopped": True, "confirmed": None}
        context.output.report(coded("command.stopped", node=id), told, "good")
    _next(context, node)
    return 0


def remote_resume(context: CommandContext) -> int:
    from .server_tree import open_connection

    with open_connection(context) as world:
        node = _named(context)
        nodes = _there(world, node, "resume")
        if node is None and not context["all"] and len(nodes) > 1:
            raise _which(nodes)
        stopped = {id: as_object(json.loads(world.read(f"/nodes/{id}/resume"))).get("stopped") is True for id in nodes}
        for id in nodes:
            world.write(f"/nodes/{id}/resume", b"resume\n")
    _resumed(context, stopped)
    return 0


def _named(context: CommandContext) -> str | None:
    node: str | None = context["node"]
    if node is not None and context["command"] != "do" and context["all"]:
        expected = coded("command.one_of_both")
        raise BadInput(coded("command.node_and_all"), op=str(context["command"]), expected=expected, code="USAGE")
    return node


def _ended(world: World, node: str) -> tuple[bool, str]:
    """Whether the running job ended, and the message for it."""
    from worldfs.world.status_report import open_jobs

    running = [job.id for job in open_jobs(world) if job.order.node == node and job.status.state.value == "running"]
    for id in running:
        status = world.wait_job(id, timeout=CONFIRM_S)
        outcome = status.outcome
        if not status.state.terminal or (outcome is not None and outcome.code == UNCONFIRMED):
            return False, coded("command.stopped_unsure", node=node, job=id)
    return True, coded("command.stopped_job", node=node, job=running) if running else coded(
        "command.stopped", node=node
    )


def _there(world: FarWorld, node: str | None, op: str) -> list[str]:
    """The robots of a served world that are visible to the caller."""
    ids = [id for id in (node,) if id is not None and world.exists(f"/nodes/{id}/{op}")]
    if ids:
        return ids
    ids = [id for id in world.list("/nodes") if world.exists(f"/nodes/{id}/{op}")]
    if node is None:
        return ids

    likely = "".join(get_close_matches(node, ids, 1))
    fix = coded("world.did_you_mean", likely=likely) if likely else coded("world.name_or_all", op=op)
    known = coded("common.one_of", names=ids or coded("command.no_robot_here"))
    raise NotFound(coded("world.no_robot", node=node), op=op, expected=known, fix=fix)


def _which(nodes: list[str]) -> BadInput:
    known, fix = coded("common.one_of", names=nodes), coded("command.say_which")
    return BadInput(coded("command.several_robots"), op="resume", expected=known, fix=fix)


def _resumed(context: CommandContext, stopped: dict[str, bool]) -> None:
    for id, was in stopped.items():
        text = coded("command.resumed", node=id) if was else coded("command.was_not_stopped", node=id)
        context.output.report(text, {"node": id, "resumed": was}, "good" if was else "warn")


def _next(context: CommandContext, node: str | None) -> None:
    command = f"{context.name} resume " + ("--all" if node is None else f"--node {node}")
    context.output.line(coded("command.held_until", command=command))
