"""The difference of two statuses of the world, as events and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Final

from worldfs.base.json_values import as_list, as_object, as_objects
from worldfs.base.messages import coded

Status = Mapping[str, object]
Event = dict[str, object]

STATES: Final = {
    "pending": "command.state_pending",
    "running": "command.state_running",
    "succeeded": "command.state_succeeded",
    "failed": "command.state_failed",
    "idle": "command.state_idle",
    "offline": "command.state_offline",
    "lost": "command.state_lost",
    "unserved": "command.state_unserved",
    "unreachable": "command.state_unreachable",
    "disabled": "command.state_disabled",
    "off": "command.state_off",
    "gone": "command.state_gone",
    "refused": "command.state_refused",
}
CAUSES: Final = {
    "error": "command.cause_error",
    "timeout": "command.cause_timeout",
    "rejected": "command.cause_rejected",
    "cancelled": "command.cause_cancelled",
    "lost": "command.cause_lost",
    "unmeasured": "command.cause_unmeasured",
}


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
            started = event["state"] == "started"
            return coded("command.kernel_started") if started else coded("command.kernel_stopped"), ""
        case "node":
            facts = [node_state(event)]
            facts += [coded("command.holding", id=event["held"])] if event.get("held") else []
            facts += [stop_text(stop, "")] if (stop := as_object(event.get("stopped"))) else []
            facts += [doubt] if (doubt := doubt_text(event)) else []
            facts += [was] if (was := was_doing(event)) else []
            return coded("command.node", id=event.get("id"), facts=facts), "dim"
        case "job":
            return job_line(event), job_mood(event)
        case _:
            return coded("command.alert", said=alert_text(event.get("alert"))), "warn"


def stop_text(stop: Mapping[str, object], at: str) -> str:
    """Who stopped a robot, when ("": not said), and whether its driver has confirmed that it stands."""
    said = coded("command.stopped_by", by=stop.get("by"), at=at) if at else coded("command.stop")
    if stop.get("confirmed") is True:
        return said
    undelivered = stop.get("delivered") is False
    return coded("command.stop_undelivered" if undelivered else "command.stop_unconfirmed", said=said)


def doubt_text(node: Mapping[str, object]) -> str:
    """Of a robot that was not stopped: its last order has ended, and it may still move; an alert says why."""
    return coded("command.may_move") if node.get("may_move") is True and not node.get("stopped") else ""


def job_line(job: Mapping[str, object]) -> str:
    """One job in one line: when, what, how it ended and why."""
    moment = str(job.get("completed_at") or job.get("started_at") or job.get("accepted_at") or "")
    clock = moment[11:19] or "--:--:--"
    what = f"{job.get('node', '')} {job.get('op', '')} {_parameters(job.get('params'))}".strip()
    waits = as_object(job.get("waits")).get("why", "")
    message = str(job.get("message") or waits).strip().splitlines()
    facts = {"clock": clock, "id": job.get("id", ""), "what": what, "state": job_state(job)}
    return coded("command.job_said", **facts, said=message[0]) if message else coded("command.job", **facts)


def job_state(job: Mapping[str, object]) -> str:
    """The state of a job, and why it ended; of one that runs on a lost robot, that it ran."""
    if job.get("robot_lost"):
        return coded("command.state_ran")
    state = state_text(job.get("state", ""))
    cause = CAUSES.get(str(job.get("cause")))
    return coded("command.ended", state=state, cause=coded(cause)) if cause else state


def job_mood(job: Mapping[str, object]) -> str:
    return {"succeeded": "good", "failed": "bad"}.get(str(job.get("state")), "")


def state_text(state: object) -> str:
    """The state of a node or a job, as `World.status()` gives it."""
    word, _, job = str(state).partition(" ")
    if word == "running" and job:
        return coded("command.state_busy", job=job)
    code = STATES.get(word.removesuffix(":"))
    return coded(code) if code else str(state)


def node_state(node: Mapping[str, object]) -> str:
    """The state of a node; of a lost one also when it was last seen."""
    seen = as_object(node.get("lost")).get("last_seen")
    return coded("command.lost_seen", at=seen) if seen else state_text(node.get("state", ""))


def was_doing(node: Mapping[str, object]) -> str:
    """What a lost node was doing when it was last seen; "" of any other, and if it was idle then."""
    was = as_object(as_object(node.get("lost")).get("was_doing"))
    return coded("command.was_doing", text=was.get("text"), job=was.get("job")) if was else ""


def alert_text(alert: object) -> str:
    """An alert in one line: code, field, what was expected, what was found, and the fix."""
    if not isinstance(alert, Mapping):
        return str(alert)
    said = {name: alert.get(name) for name in ("code", "field", "expected", "found", "fix")}
    marked = {"expected": "command.expected_text", "found": "command.found_text"}
    texts = [coded(marked[name], text=text) if name in marked else str(text) for name, text in said.items() if text]
    return reduce(lambda one, two: coded("command.dot", one=one, two=two), texts) if texts else str(alert)


def indented(line: str) -> str:
    return coded("command.indented", line=line)


def _jobs(status: Status) -> Iterator[Mapping[str, object]]:
    """The newest last."""
    recent = as_objects(status.get("recent"))
    return iter(sorted(recent, key=lambda job: str(job.get("completed_at") or job.get("started_at") or "")))


def _moved(known: Mapping[str, object], job: Mapping[str, object]) -> bool:
    return any(known.get(key) != job.get(key) for key in ("state", "attempt", "robot_lost"))


def _node_line(node: Mapping[str, object]) -> tuple[object, ...]:
    return node.get("state"), node.get("held"), node.get("stopped"), node.get("may_move")


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
