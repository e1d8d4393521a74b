"""The difference of two statuses of the world, as events and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from worldfs.base.json_values import as_list, as_objects

Status = Mapping[str, object]
Event = dict[str, object]


def diff_status(before: Status, after: Status) -> list[Event]:
    """Events in the order in which they should be printed. An empty `before` makes an event of everything current."""
    told: list[Event] = []
    if before and bool(before.get("kernel")) != bool(after.get("kernel")):
        told.append({"event": "kernel", "state": "started" if after.get("kernel") else "stopped"})
    old_nodes = {node.get("id"): node for node in as_objects(before.get("nodes"))}
    for node in as_objects(after.get("nodes")):
        if _node_line(old_nodes.get(node.get("id"), {})) != _node_line(node):
            told.append({"event": "node", **node})
    old_jobs = {job.get("id"): job for job in _jobs(before)}
    for job in _jobs(after):
        known = old_jobs.get(job.get("id"))
        over = job.get("state") in ("succeeded", "failed")
        if (known is None and (before or not over)) or (known is not None and _moved(known, job)):
            told.append({"event": "job", **job})
    old, new = as_list(before.get("alerts")), as_list(after.get("alerts"))
    told += [{"event": "alert", "alert": alert} for alert in new if str(alert) not in map(str, old)]
    return told


def event_line(event: Event) -> tuple[str, str]:
    """An event as a line for people, and its mood."""
    match event["event"]:
        case "kernel":
            return f"kernel {event['state']}", ""
        case "node":
            held = f", holding {event['held']}" if event.get("held") else ""
            stopped = ", STOPPED" if event.get("stopped") else ""
            return f"{event.get('id')}: {event.get('state', '')}{held}{stopped}", "dim"
        case "job":
            mood = {"succeeded": "good", "failed": "bad"}.get(str(event.get("state")), "")
            return job_line(event), mood
        case _:
            return f"alert: {event.get('alert')}", "warn"


def job_line(job: Mapping[str, object]) -> str:
    """One job in one line: when, what, how it ended and why."""
    moment = str(job.get("completed_at") or job.get("started_at") or job.get("accepted_at") or "")
    clock = moment[11:19] or "--:--:--"
    state = str(job.get("state", ""))
    if job.get("cause"):
        state += f" ({job['cause']})"
    what = f"{job.get('node', '')} {job.get('op', '')} {_parameters(job.get('params'))}".strip()
    message = str(job.get("message", "")).strip().splitlines()
    return f"{clock}  {job.get('id', '')}  {what}  {state}" + (f": {message[0]}" if message else "")


def _jobs(status: Status) -> Iterator[Mapping[str, object]]:
    """The newest last."""
    recent = as_objects(status.get("recent"))
    return iter(sorted(recent, key=lambda job: str(job.get("completed_at") or job.get("started_at") or "")))


def _moved(known: Mapping[str, object], job: Mapping[str, object]) -> bool:
    return (known.get("state"), known.get("attempt")) != (job.get("state"), job.get("attempt"))


def _node_line(node: Mapping[str, object]) -> tuple[object, ...]:
    return node.get("state"), node.get("held"), node.get("stopped")


def _parameters(params: object) -> str:
    if not isinstance(params, Mapping):
        return ""
    return " ".join(f"{name}={_short(value)}" for name, value in params.items())


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_short(v) for v in value[:7]) + "]"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"
