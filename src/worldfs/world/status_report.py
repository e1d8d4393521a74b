"""The status report of `paos status`, read from files, with or without a running kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from worldfs.base.clock import parse_stamp
from worldfs.base.errors import UserError
from worldfs.base.messages import coded, render
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.model import Finding
from worldfs.formats import action, environment
from worldfs.runtime.grace import BODY, SILENT
from worldfs.runtime.instruction_turns import current_instruction, latest_instruction
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.tree.path import safe_name

from . import computed_files
from .approval_files import request_value
from .earlier_workspaces import UNREAD
from .instruction_opinion_file import kept_opinion
from .left_robots import has_driver, is_another, left_finding
from .node_specs import DEFAULT_DRIVER, disabled_robots
from .robot_liveness import SERVED, last_seen, robot_liveness
from .robot_stops import KernelsHeard

if TYPE_CHECKING:
    from worldfs.base.model import Job
    from worldfs.runtime.stop_log import MayMove, StopState
    from worldfs.runtime.stop_report import RobotStop

    from .robot_liveness import RobotLiveness
    from .world import World

RECENT = 12
FAULT_MOST = 120  # characters of a fault in a robot's line; the alert has the rest
UNSERVED = "unserved"  # the kernel that runs was started before config.json named the robot
OFF = "off"  # config.json disables it, and the kernel that runs still has its driver
GONE = "gone"  # it may still move, and config.json has it no more, or disables it; a target may have its id
UNREACHABLE = "unreachable"  # the kernel has its driver, and hears nothing of the robot
LOST = "lost"  # the state of a robot whose process is cut off or dead


def status_report(world: World) -> dict[str, object]:
    """The cost grows with the open jobs and the sheets, not with the history."""
    held = world.store.lease(KERNEL_LEASE).holder()
    jobs = open_jobs(world)
    stops = {id: stop for id in world.node_ids() if (stop := world.stops.state(id)).stopped}
    heard = world.robot_stops.heard() if held is not None else KernelsHeard(True)
    silent_by = {id: pid for id in world.node_ids() if (pid := world.robot_stops.silent_server(id, heard))}
    answers = {id: world.robot_stops.confirmed(id, silent=id in silent_by) for id in stops}
    earlier = world.robot_stops.earlier().look()
    gone, unread = world.robot_stops.left(earlier), earlier.unread
    alive = {spec.id: robot_liveness(world, spec.id) for spec in world.specs}
    working = {job.order.node: job for job in jobs if job.status.state.value == "running"}
    running = {node: job.id for node, job in working.items()}
    left = _left_working(world, working, alive, served=held is not None)
    hands = _hands(world)
    alerts = computed_files.current_alerts(world.store, world.language())
    if held is None:  # a person's word ends what the last kernel has said
        alerts = {place: one for place, one in alerts.items() if not _is_ended(world, place, gone)}
    faults = {id: str(alerts[f"/nodes/{id}"]["found"]) for id in world.node_ids() if f"/nodes/{id}" in alerts}
    nodes: list[dict[str, object]] = [
        {
            "id": spec.id,
            "driver": spec.driver,
            "state": _state(alive[spec.id], held, running.get(spec.id), faults.get(spec.id)),
            "held": hands.get(spec.id),
        }
        for spec in world.specs
    ]
    nodes += [
        {
            "id": id,
            "driver": target.adapter or "target",
            "state": GONE if id in gone and is_another(gone[id], target) and (held is None or id not in running)
            else "offline" if held is None else f"running {running[id]}" if id in running
            else "disabled: its sessions wait" if not target.enabled
            else _idle(faults.get(id)),
            "held": hands.get(id),
        }
        for id, target in world.session_targets().items()
    ]  # fmt: skip
    if world.config is not None:
        nodes += [
            {"id": robot.robot_id, "driver": robot.driver, "state": "refused: see config.json", "held": None}
            for robot in world.config.refused
        ]
    listed = {str(node["id"]) for node in nodes}
    others = _others(world, held, working)
    nodes += [
        {
            "id": id, "driver": others[id] if id in others else gone[id].driver,
            "state": GONE if id not in others else f"running {running[id]}" if id in running else OFF,
            "held": hands.get(id),
        }
        for id in sorted({*gone, *others}) if id not in listed
    ]  # fmt: skip
    for node in nodes:
        id = str(node["id"])
        had = gone[id].driver if id in gone else working[id].status.driver if id in working else ""
        node["driver"] = had or node["driver"]
        stopped = stops.get(id)
        node["lost"] = _lost(world, id, alive[id], working.get(id)) if node["state"] == LOST else None
        by = current_instruction(world.store, id) if node["lost"] is None else None
        waits = _waits(world, by)
        node["instruction"] = None if by is None else {"text": by.get("purpose", ""), "pid": by.get("pid"), **waits}
        server = alive[id].by if id in alive else {}
        node["by"] = {name: server.get(name) for name in ("pid", "host")} if server else None
        node["stopped"] = None if stopped is None else {
            "by": stopped.by, "at": stopped.at, "delivered": answers[id].told, "confirmed": answers[id].confirmed
        }  # fmt: skip
    alerts |= _unconfirmed(world, stops, answers, alerts)
    alerts |= _left_moving(world, gone, alerts)
    alerts = {place: one for place, one in alerts.items() if one["code"] != UNREAD}  # as the kernel found them
    alerts |= {one.field: asdict(render_finding(one, world.language())) for one in unread}
    hub = str((held or {}).get("pid", "?"))
    for pid in dict.fromkeys((*([] if heard.includes(held or {}) else [hub]), *silent_by.values())):
        place = "kernel" if pid == hub else f"kernel {pid}"
        found = coded("stop.kernel_unknown", pid=pid)
        silent = Finding("KERNEL_SILENT", place, coded("stop.kernel_answers"), found, coded("stop.hardware"))
        alerts[place] = asdict(render_finding(silent, world.language()))
    for node in nodes:
        node["may_move"] = alerts.get(f"stop {node['id']}") is not None
        if node["state"] == "idle" and f"reach {node['id']}" in alerts:
            node["state"] = UNREACHABLE
    lost = {str(node["id"]) for node in nodes if node["lost"] is not None} | {*left}
    counts = {"pending": 0, "running": 0}
    for job in jobs:
        counts[job.status.state.value] += 1
    return {
        "workspace": str(world.root),
        "language": world.language(),
        "kernel": held,
        "nodes": nodes,
        "jobs": counts,
        "approvals": [request_value(item) for item in world.approvals.requests() if item.answer is None],
        "recent": [_job(world, job, lost) | _waits_for(job, alerts) for job in _shown(world, jobs)],
        "alerts": list(alerts.values()),
    }


def _unconfirmed(
    world: World, stops: Mapping[str, StopState], answers: Mapping[str, RobotStop], told: Collection[str]
) -> dict[str, dict[str, object]]:
    """The alerts of stops that no driver has confirmed in time, where the kernel that is to raise them does not: it is
    dead, silent or cut off."""
    found: dict[str, dict[str, object]] = {}
    for id, stop in stops.items():
        at, field = parse_stamp(stop.at), f"stop {id}"
        soon = at is not None and 0 <= (world.clock.now() - at).total_seconds() <= BODY.stop_s
        if field in told or soon or answers[id].confirmed:
            continue
        said = Finding("STOP_UNCONFIRMED", field, coded("stop.standing"), answers[id].text, coded("stop.hardware"))
        found[field] = asdict(render_finding(said, world.language()))
    return found


def _left_working(
    world: World, working: Mapping[str, Job], alive: Mapping[str, RobotLiveness], *, served: bool
) -> dict[str, Job]:
    """The robots whose process ended, or was cut off, while it carried out an order, and that order."""
    if world.kernel is not None:
        return {}
    return {id: job for id, job in working.items() if not (alive[id].served if id in alive else served)}


def _others(world: World, held: Mapping[str, object] | None, working: Mapping[str, Job]) -> dict[str, str]:
    """The robots that the configuration disables or has no more, and that the kernel still has; their drivers."""
    if held is None:
        return {}
    served = world.kernel.nodes if world.kernel is not None else str(held.get(SERVED, "")).split()
    named = {id: job.status.driver for id, job in working.items()}
    for id in disabled_robots(world.config, world.store):
        declared = world.config.instance(id) if world.config is not None else None
        named.setdefault(id, (declared.driver if declared is not None else "") or DEFAULT_DRIVER)
    return {id: driver for id, driver in named.items() if id in served}


def _is_ended(world: World, place: str, left: Collection[str]) -> bool:
    word, _, node = place.partition(" ")
    return word == "stop" and node not in left and bool(safe_name(node) and world.stops.state(node).words)


def _left_moving(world: World, left: Mapping[str, MayMove], told: Collection[str]) -> dict[str, dict[str, object]]:
    """The alerts of those that may move on. A kernel that serves them raises its own."""
    found: dict[str, dict[str, object]] = {}
    robots, targets = {spec.id for spec in world.specs}, world.session_targets()
    for id in sorted(left):
        if (field := f"stop {id}") not in told:
            said = left_finding(id, left[id], served=has_driver(id, left[id], robots, targets))
            found[field] = asdict(render_finding(said, world.language()))
    return found


def _waits(world: World, by: Mapping[str, object] | None) -> dict[str, object]:
    """What the mission that gives the instruction waits for."""
    mission = by.get("mission") if by is not None else None
    if not isinstance(mission, str):
        return {}
    with contextlib.suppress(UserError):  # it has ended, and its file is read where it is asked for
        waits = world.missions.load(mission).status.waits
        return {"waits": render(waits, world.language())} if waits else {}
    return {}


def _state(alive: RobotLiveness, held: object, job: str | None, fault: str | None) -> str:
    if alive.lost:
        return LOST
    if not alive.served:
        return "offline" if held is None else UNSERVED
    return f"running {job}" if job else _idle(fault)


def _idle(fault: str | None) -> str:
    """A robot without a job; `fault`: what the kernel says against its driver."""
    return "idle" if fault is None else f"fault: {fault[:FAULT_MOST]}"


def _job(world: World, job: Job, lost: Collection[str]) -> dict[str, object]:
    """`robot_lost`: it ran when its robot was lost, or its kernel ended; whether it still does is not known."""
    gone = job.status.state.value == "running" and job.order.node in lost
    return job_value(job) | ({"robot_lost": True} if gone else {}) | _doubt(world, job)


def _waits_for(job: Job, alerts: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Why a pending job of a robot does not begin, where its driver has not returned from another one."""
    found = alerts.get(f"/nodes/{job.order.node}", {})
    if job.status.state.value != "pending" or found.get("code") != SILENT:
        return {}
    return {"waits": {"code": SILENT, "why": found.get("found")}}


def _lost(world: World, node: str, alive: RobotLiveness, job: Job | None) -> dict[str, object]:
    """When a lost robot was last seen (None: not known), and the job that it was doing then (None: it was idle)."""
    seen = last_seen(world, node, alive)
    if job is None:
        return {"last_seen": seen or None, "was_doing": None}
    by = latest_instruction(world.store, node)
    text = by.get("purpose") if by.get("job") == job.id else ""
    return {"last_seen": seen or None, "was_doing": {"text": text or job.order.op, "job": job.id}}


def open_jobs(world: World) -> list[Job]:
    jobs = []
    for id in world.jobs.open_ids():
        with contextlib.suppress(UserError):  # gone meanwhile, or `paos check` reports it
            jobs.append(world.jobs.load(id))
    return [job for job in jobs if not job.status.state.terminal]


def job_value(job: Job) -> dict[str, object]:
    """A job in a line of `status`."""
    outcome = job.status.outcome
    return {
        "id": job.id,
        "node": job.order.node,
        "op": job.order.op,
        "params": job.order.params,
        "state": job.status.state.value,
        "attempt": job.status.attempt,
        "cause": outcome.cause.value if outcome and outcome.cause else None,
        "message": outcome.message if outcome else "",
        "accepted_at": job.status.accepted_at,
        "started_at": job.status.started_at,
        "completed_at": job.status.completed_at,
    }


def _doubt(world: World, job: Job) -> dict[str, object]:
    """What a model doubts of the instruction whose last step the job was."""
    if job.status.outcome is None or not job.status.outcome.ok:
        return {}
    found = kept_opinion(world.store, job.id)
    return {"doubt": {"model": found.get("model"), "reason": found.get("reason")}} if found.get("reason") else {}


def _hands(world: World) -> dict[str, str | None]:
    """Robot → what it holds."""

    try:
        scene = environment.read(world.content("ENVIRONMENT.md")).scene
    except UserError:
        return {}
    return {robot.robot_id: robot.holding for robot in scene.robots}


def _shown(world: World, jobs: Sequence[Job]) -> list[Job]:
    """Open jobs and the newest ended ones, as in the sheets."""
    table = {job.id: job for job in jobs}
    for id in _in_sheets(world):
        if id not in table and world.jobs.ended(id):
            with contextlib.suppress(UserError):  # `paos check` reports it
                table[id] = world.jobs.load(id)
    return sorted(table.values(), key=lambda job: (job.status.accepted_at, job.order.seq))[-RECENT:]


def _in_sheets(world: World) -> list[str]:
    """The newest of ACTION.md, and of SESSIONS.md where there is one: its reader is loaded only then."""

    found: list[str] = []
    for robot in ("", *world.stores.robots):
        with contextlib.suppress(UserError):
            found += [entry.id for entry in action.read(world.content("ACTION.md", robot)).entries][-RECENT:]
    with contextlib.suppress(UserError):
        if world.store.probe("SESSIONS.md") is not None:
            from worldfs.formats.runtime import sessions

            found += [entry.id for entry in sessions.read(world.content("SESSIONS.md")).entries][-RECENT:]
    return found
