"""`paos status`: the world at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Call
from .news import job_line
from .voice import columns

if TYPE_CHECKING:
    from worldfs.world.world import World


TICK_S = 1.0  # how often --watch tells the time anew when nothing changes


def run(call: Call) -> int:
    with call.open() as world:
        if call["watch"]:
            return _watch(call, world)
        status = world.status()
    call.voice.value(status)
    for text, mood in coloured(lines(status, call.name)):
        call.voice.line(text, mood)
    return 0


def _watch(call: Call, world: World) -> int:
    """Show the status whenever it changes, on a terminal with a clock that ticks; until Ctrl-C (exit 130)."""
    import time

    live = call.voice.out.isatty() and not call.voice.json
    shown: dict[str, Any] | None = None
    with world.watch() as watch:
        while True:
            status = world.status()
            if live or status != shown:
                call.voice.value(status)
                clock = [(f"{time.strftime('%H:%M:%S')}  Ctrl-C ends", "dim"), ("", "")] if live else []
                call.voice.redraw([*clock, *coloured(lines(status, call.name))])
                shown = status
            watch.read(TICK_S if live else None)


def lines(status: dict[str, Any], name: str = "paos") -> list[str]:
    """The status in lines for people (`status` as `World.status()` gives it); `name` is how to call the command."""
    said = [f"workspace  {status.get('workspace', '')}", f"kernel     {_kernel(status.get('kernel'), name)}"]
    nodes = [
        ("", str(n.get("id", "")), str(n.get("driver", "")), str(n.get("state", "")), _held(n), _busy(n))
        for n in status.get("nodes", ())
    ]
    said += ["", "nodes", *columns(nodes)] if nodes else ["", "nodes      none"]
    stopped = [str(n.get("id", "")) for n in status.get("nodes", ()) if n.get("stopped")]
    if stopped:
        which = "--all" if len(stopped) == len(status.get("nodes", ())) else f"--node {stopped[0]}"
        until = f"nothing moves and what waits is held until: {name} resume {which}"
        said += ["", f"stopped    {', '.join(stopped)}: {until}"]
    counts = status.get("jobs", {})
    said += ["", "jobs       " + (", ".join(f"{n} {word}" for word, n in counts.items() if n) or "none")]
    recent = status.get("recent", ())
    if recent:
        said += ["", "recent"]
        said += [f"  {job_line(job)}" for job in recent]
    alerts = status.get("alerts", ())
    if alerts:
        said += ["", "alerts"]
        said += [f"  {alert_line(alert)}" for alert in alerts]
    return said


def coloured(said: list[str]) -> list[tuple[str, str]]:
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


def _kernel(kernel: Any, name: str) -> str:
    if not kernel:
        return f"not running (start it with: {name} up)"
    if isinstance(kernel, dict):
        since = f", since {kernel['started_at']}" if kernel.get("started_at") else ""
        return f"running, process {kernel.get('pid', '?')}{since}"
    return f"running, {kernel}"


def _held(node: dict[str, Any]) -> str:
    return f"holding {node['held']}" if node.get("held") else ""


def _busy(node: dict[str, Any]) -> str:
    stop, doing = node.get("stopped"), node.get("instruction")
    if stop:
        return f"STOPPED by {stop['by']}, {stop['at']}"
    return f"doing “{doing['text']}” (process {doing['pid']})" if doing else ""


def alert_line(alert: Any) -> str:
    if isinstance(alert, dict):
        said = {word: str(alert.get(word, "")) for word in ("code", "field", "expected", "found", "fix")}
        named = (f"{word} {text}" if word in ("expected", "found") else text for word, text in said.items() if text)
        return " · ".join(named) or str(alert)
    return str(alert)
