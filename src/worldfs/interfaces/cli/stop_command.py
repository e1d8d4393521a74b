"""`paos stop` and `paos resume`: every robot, or one, on this machine or over --connect; whether or not a kernel
runs."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.json_values import as_object
from worldfs.runtime.grace import CONFIRM_S

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld as FarWorld
    from worldfs.world.world import World

UNCONFIRMED: Final = "STOP_UNCONFIRMED"
WORDS: Final = {
    "stopped": ("{node}: stopped{more}", "{node}：已停止{more}"),
    "ended": ("; {job} is cancelled, the robot holds still", "；{job} 已取消，机器人保持不动"),
    "offline": ("; no kernel runs: it will start stopped", "；没有内核在运行：启动后仍为停止状态"),
    "unsure": (
        "; {job} has not confirmed it: use the robot's own emergency stop",
        "；{job} 尚未确认停止：请按机器人自身的急停",
    ),
    "none": ("no robot is here; new robots will start stopped", "这里没有机器人；以后的机器人启动后为停止状态"),
    "next": ("queued jobs are held until: {command}", "等待中的任务保留，恢复请运行：{command}"),
    "resumed": ("{node}: resumed", "{node}：已恢复"),
    "moving": ("{node}: it was not stopped", "{node}：并未停止"),
}  # fmt: skip


def run(context: CommandContext) -> int:
    """Exit 1 if a robot has not confirmed that it holds still."""
    return stop(context, _named(context))


def stop(context: CommandContext, node: str | None, zh: bool = False) -> int:
    """Stop first, then check the result. Raises `NotFound` for an unknown robot."""
    with context.open() as world:
        nodes = world.stop(node, context.actor)
        offline = world.status()["kernel"] is None
        found = {id: (True, WORDS["offline"][zh]) if offline else _ended(world, id, zh) for id in nodes}
    for id, (sure, more) in found.items():
        told = {"node": id, "stopped": True, "confirmed": sure}
        context.output.report(WORDS["stopped"][zh].format(node=id, more=more), told, "good" if sure else "bad")
    if not nodes:
        context.output.report(WORDS["none"][zh], {"stopped": True, "nodes": []}, "warn")
    _next(context, node, zh)
    return 0 if all(sure for sure, _ in found.values()) else 1


def resume(context: CommandContext) -> int:
    node = _named(context)
    with context.open() as world:
        if node is None and not context["all"] and len(world.node_ids()) > 1:
            raise _which(world.node_ids())
        stopped = world.resume(node, context.actor)
        _resumed(context, {id: id in stopped for id in ([node] if node is not None else world.node_ids())})
    return 0


def remote_stop(context: CommandContext, zh: bool = False) -> int:
    from .server_tree import open_connection

    with open_connection(context) as world:
        node = _named(context)
        nodes = _there(world, node, "stop")
        for id in nodes:
            world.write(f"/nodes/{id}/stop", b"stop\n")
    for id in nodes:
        context.output.report(
            WORDS["stopped"][zh].format(node=id, more=""), {"node": id, "stopped": True, "confirmed": None}, "good"
        )
    _next(context, node, zh)
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


def chinese(text: str) -> bool:
    return any("\u4e00" <= sign <= "\u9fff" for sign in text)


def _named(context: CommandContext) -> str | None:
    node: str | None = context["node"]
    if node is not None and context["command"] != "do" and context["all"]:
        raise BadInput("--node and --all", op=str(context["command"]), expected="one of both", code="USAGE")
    return node


def _ended(world: World, node: str, zh: bool) -> tuple[bool, str]:
    """Whether the running job ended, and the message for it."""
    from worldfs.world.status_report import open_jobs

    running = [job.id for job in open_jobs(world) if job.order.node == node and job.status.state.value == "running"]
    for id in running:
        status = world.wait_job(id, timeout=CONFIRM_S)
        outcome = status.outcome
        if not status.state.terminal or (outcome is not None and outcome.code == UNCONFIRMED):
            return False, WORDS["unsure"][zh].format(job=id)
    return True, "".join(WORDS["ended"][zh].format(job=id) for id in running)


def _there(world: FarWorld, node: str | None, op: str) -> list[str]:
    """The robots of a served world that are visible to the caller."""
    ids = [id for id in (node,) if id is not None and world.exists(f"/nodes/{id}/{op}")]
    if ids:
        return ids
    ids = [id for id in world.list("/nodes") if world.exists(f"/nodes/{id}/{op}")]
    if node is None:
        return ids

    likely = "".join(get_close_matches(node, ids, 1))
    fix = f"did you mean {likely}?" if likely else f"name one of them, or `paos {op} --all`"
    raise NotFound(f"no robot {node!r}", op=op, expected="one of: " + (", ".join(ids) or "no robot is here"), fix=fix)


def _which(nodes: list[str]) -> BadInput:
    fix = "say which: --node NAME, or --all"
    return BadInput("several robots, none named", op="resume", expected="one of: " + ", ".join(nodes), fix=fix)


def _resumed(context: CommandContext, stopped: dict[str, bool]) -> None:
    for id, was in stopped.items():
        text = WORDS["resumed" if was else "moving"][0].format(node=id)
        context.output.report(text, {"node": id, "resumed": was}, "good" if was else "warn")


def _next(context: CommandContext, node: str | None, zh: bool) -> None:
    command = f"{context.name} resume " + ("--all" if node is None else f"--node {node}")
    context.output.line(WORDS["next"][zh].format(command=command))
