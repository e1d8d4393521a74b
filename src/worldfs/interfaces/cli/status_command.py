"""`paos status`: the status of the world."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.errors import WorldError
from worldfs.base.json_values import as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded, render
from worldfs.base.messages.message_rendering import render_finding
from worldfs.world.approval_lines import approval_lines

from .command_context import CommandContext
from .command_output import columns, one_visible_line
from .status_diff import (
    alert_text,
    doubt_text,
    indented,
    job_line,
    job_mood,
    node_state,
    state_text,
    stop_text,
    was_doing,
)

if TYPE_CHECKING:
    from worldfs.world.world import World


TICK_S = 1.0  # s between two refreshes of --watch when nothing changes


def run(context: CommandContext) -> int:
    """Where the home's workspace cannot be opened, the kernels that run for the home are named all the same, and the
    robots that those of its earlier workspaces left moving."""
    try:
        with context.open() as world:
            if context["watch"]:
                return _watch(context, world)
            status = _status(context, world)
    except WorldError:
        for text in other_kernel_lines(_others(context, every=True)):
            context.output.notice(text)
        for finding in context.earlier_robots().findings():
            context.output.notice(alert_text(asdict(render_finding(finding, context.language))))
        raise
    context.output.value(status)
    for text, mood in status_lines(status, context.name):
        context.output.line(text, mood)
    return 0


def _status(context: CommandContext, world: World) -> dict[str, object]:
    others = _others(context)
    return {**world.status(), **({"other_kernels": others} if others else {})}


def _others(context: CommandContext, *, every: bool = False) -> list[dict[str, object]]:
    return [{"pid": one.pid, "workspace": one.root} for one in context.other_kernels(every=every)]


def other_kernel_lines(others: Iterable[dict[str, object]]) -> Sequence[str]:
    """The kernels of the home that serve another workspace than config.json names."""
    lines: list[str] = []
    for one in others:
        pid, root = one.get("pid"), as_text(one.get("workspace"))
        there = shlex.join(["paos", "--workspace", root])
        lines.append(
            coded("command.other_kernel", pid=pid, root=root, there=there)
            if root
            else coded("command.silent_other_kernel", pid=pid)
        )
    return lines


def _watch(context: CommandContext, world: World) -> int:
    """Show the status whenever it changes, on a terminal with a clock that ticks; until Ctrl-C (exit 130)."""

    now = SystemClock().now
    live = context.output.out.isatty() and not context.output.json
    shown: dict[str, object] | None = None
    with world.changes.of_status() as changes:
        while True:
            status = _status(context, world)
            if live or status != shown:
                context.output.value(status)
                at = f"{now().astimezone():%H:%M:%S}"
                clock: list[tuple[str, str]] = [(coded("command.ctrl_c", clock=at), "dim"), ("", "")] if live else []
                context.output.redraw([*clock, *status_lines(status, context.name)])
                shown = status
            changes.read(TICK_S if live else None)


def status_lines(status: dict[str, object], name: str = "paos") -> list[tuple[str, str]]:
    """The status in lines for people, each with its mood. `status` as `World.status()` gives it; `name` is how to call
    the command."""
    kernel, there = status.get("kernel"), as_objects(status.get("nodes"))
    said: list[tuple[str, str]] = [
        (coded("command.workspace", path=status.get("workspace", "")), ""),
        (coded("command.kernel", state=_kernel(kernel, name)), "good" if kernel else "warn"),
        *((text, "warn") for text in other_kernel_lines(as_objects(status.get("other_kernels")))),
        ("", ""),
    ]
    said += _nodes(there, str(status.get("language", "")))
    stopped = [str(n.get("id", "")) for n in there if n.get("stopped")]
    if stopped:
        which = "--all" if len(stopped) == len(there) else f"--node {stopped[0]}"
        said += [("", "")]
        groups = {"command.stopped_nodes": True, "command.stop_sent": False, "command.stop_not_sent": None}
        for code, known in groups.items():
            nodes = [str(n.get("id", "")) for n in there if n.get("stopped") and _confirmed(n) is known]
            said += [(coded(code, nodes=nodes, name=name, which=which), "bad")] if nodes else []
    if waiting := as_objects(status.get("approvals")):
        said += [
            ("", ""),
            (coded("approval.section"), "warn"),
            *((line, "warn") for line in approval_lines(waiting, name)),
        ]
    counts = [
        coded("command.count", n=n, state=state_text(word)) for word, n in as_object(status.get("jobs")).items() if n
    ]
    said += [("", ""), (coded("command.jobs", counts=counts or coded("common.none")), "")]
    if recent := as_objects(status.get("recent")):
        said += [("", ""), (coded("command.recent"), ""), *(line for job in recent for line in _job_lines(job))]
    if alerts := as_list(status.get("alerts")):
        said += [("", ""), (coded("command.alerts"), "warn")]
        said += [(line, "warn") for line in dict.fromkeys(indented(alert_text(alert)) for alert in alerts)]
    return said


def _confirmed(node: dict[str, object]) -> bool | None:
    """Of a stopped one, whether its driver says that it stands; None: no driver was told."""
    stop = as_object(node.get("stopped"))
    return True if stop.get("confirmed") is True else None if stop.get("delivered") is False else False


def _job_lines(job: dict[str, object]) -> list[tuple[str, str]]:
    """A job, and below it what a model doubts of the instruction that ended with it."""
    lines = [(indented(job_line(job)), job_mood(job))]
    if doubt := as_object(job.get("doubt")):
        said = coded("model.judge", name=as_text(doubt.get("model")), reason=as_text(doubt.get("reason")))
        lines.append((indented(indented(coded("model.warning", said=said))), "warn"))
    return lines


def _nodes(there: list[dict[str, object]], language: str) -> list[tuple[str, str]]:
    if not there:
        return [(coded("command.no_nodes"), "")]
    rows = [
        (
            "",
            str(n.get("id", "")),
            str(n.get("driver", "")),
            *(one_visible_line(render(text, language)) for text in _facts(n)),
        )
        for n in there
    ]
    return [(coded("command.nodes"), ""), *((line, "") for line in columns(rows))]


def _facts(node: dict[str, object]) -> tuple[str, str, str]:
    """A node's state, what it holds, and what it is busy with, or was when it was lost."""
    held = coded("command.holding", id=node["held"]) if node.get("held") else ""
    return node_state(node), held, _busy(node)


def _kernel(kernel: object, name: str) -> str:
    if not kernel:
        return coded("command.not_running", name=name)
    if not isinstance(kernel, dict):
        return coded("command.running_by", holder=kernel)
    pid, since = kernel.get("pid", "?"), kernel.get("started_at")
    return coded("command.running_since", pid=pid, at=since) if since else coded("command.running", pid=pid)


def _busy(node: dict[str, object]) -> str:
    stop, doing = as_object(node.get("stopped")), as_object(node.get("instruction"))
    if stop:
        return stop_text(stop, str(stop["at"]))
    if doubt := doubt_text(node):
        was = was_doing(node)
        return coded("command.dot", one=doubt, two=was) if was else doubt
    if doing and doing.get("waits"):
        return coded("command.waiting", text=doing["text"], why=doing["waits"])
    if doing:
        return coded("command.doing", text=doing["text"], pid=doing["pid"])
    by = as_object(node.get("by"))
    return coded("command.served_by", host=by.get("host"), pid=by.get("pid")) if by else was_doing(node)
