"""`paos status`: the status of the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.json_values import as_list, as_object, as_objects

from .command_context import CommandContext
from .command_output import columns
from .status_diff import job_line

if TYPE_CHECKING:
    from worldfs.world.world import World


TICK_S = 1.0  # s between two refreshes of --watch when nothing changes


def run(context: CommandContext) -> int:
    with context.open() as world:
        if context["watch"]:
            return _watch(context, world)
        status = world.status()
    context.output.value(status)
    for text, mood in status_lines(lines(status, context.name)):
        context.output.line(text, mood)
    return 0


def _watch(context: CommandContext, world: World) -> int:
    """Show the status whenever it changes, on a terminal with a clock that ticks; until Ctrl-C (exit 130)."""

    now = SystemClock().now
    live = context.output.out.isatty() and not context.output.json
    shown: dict[str, object] | None = None
    with world.changes.of_status() as changes:
        while True:
            status = world.status()
            if live or status != shown:
                context.output.value(status)
                clock = [(f"{now().astimezone():%H:%M:%S}  Ctrl-C ends", "dim"), ("", "")] if live else []
                context.output.redraw([*clock, *status_lines(lines(status, context.name))])
                shown = status
            changes.read(TICK_S if live else None)


def lines(status: dict[str, object], name: str = "paos") -> list[str]:
    """The status in lines for people (`status` as `World.status()` gives it); `name` is how to call the command."""
    said = [f"workspace  {status.get('workspace', '')}", f"kernel     {_kernel(status.get('kernel'), name)}"]
    there = as_objects(status.get("nodes"))
    nodes = [
        ("", str(n.get("id", "")), str(n.get("driver", "")), str(n.get("state", "")), _held(n), _busy(n)) for n in there
    ]
    said += ["", "nodes", *columns(nodes)] if nodes else ["", "nodes      none"]
    stopped = [str(n.get("id", "")) for n in there if n.get("stopped")]
    if stopped:
        which = "--all" if len(stopped) == len(there) else f"--node {stopped[0]}"
        until = f"nothing moves and queued jobs are held until: {name} resume {which}"
        said += ["", f"stopped    {', '.join(stopped)}: {until}"]
    counts = as_object(status.get("jobs"))
    said += ["", "jobs       " + (", ".join(f"{n} {word}" for word, n in counts.items() if n) or "none")]
    recent = as_objects(status.get("recent"))
    if recent:
        said += ["", "recent"]
        said += [f"  {job_line(job)}" for job in recent]
    alerts = as_list(status.get("alerts"))
    if alerts:
        said += ["", "alerts"]
        said += [f"  {alert_line(alert)}" for alert in alerts]
    return said


def status_lines(said: list[str]) -> list[tuple[str, str]]:
    """The lines of a status, each with its mood."""
    section, found = "", []
    for text in said:
        section = text.split(" ")[0] if text[:1].strip() else section
        mood = {"alerts": "warn", "stopped": "bad"}.get(section, "")
        if section == "kernel":
            mood = "good" if "  running" in text else "warn"
        elif section == "recent":
            mood = "good" if "  succeeded" in text else "bad" if "  failed" in text else ""
        found.append((text, mood))
    return found


def _kernel(kernel: object, name: str) -> str:
    if not kernel:
        return f"not running (start it with: {name} up)"
    if isinstance(kernel, dict):
        since = f", since {kernel['started_at']}" if kernel.get("started_at") else ""
        return f"running, process {kernel.get('pid', '?')}{since}"
    return f"running, {kernel}"


def _held(node: dict[str, object]) -> str:
    return f"holding {node['held']}" if node.get("held") else ""


def _busy(node: dict[str, object]) -> str:
    stop, doing = as_object(node.get("stopped")), as_object(node.get("instruction"))
    if stop:
        return f"STOPPED by {stop['by']}, {stop['at']}"
    return f"doing “{doing['text']}” (process {doing['pid']})" if doing else ""


def alert_line(alert: object) -> str:
    if isinstance(alert, dict):
        said = {word: str(alert.get(word, "")) for word in ("code", "field", "expected", "found", "fix")}
        named = (f"{word} {text}" if word in ("expected", "found") else text for word, text in said.items() if text)
        return " · ".join(named) or str(alert)
    return str(alert)
