"""ORCHESTRATOR.md as a sheet: new rows become missions, `cancelled` is obeyed, a stale copy undoes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from worldfs.access.standing import shown_actor
from worldfs.base.clock import parse_stamp
from worldfs.base.messages import coded, render
from worldfs.base.model import Finding
from worldfs.formats import entry_ids, orchestrator
from worldfs.formats.orchestrator import CANCELLED, ActiveMission, Dashboard, QueuedMission

from .mission import Mission, MissionOrder, MissionState
from .mission_store import MissionFiles

INTERRUPTED: Final = "interrupted"  # it goes on, or is queued again, when the next orchestrator starts
WAITS_MOST: Final = 200  # characters of what a mission waits for
SHOWN_QUEUE: Final = 200  # rows of the pending queue; what waits behind them is in missions.json


def take_in(data: bytes, files: MissionFiles, missions: Iterable[Mission], actor: str) -> list[Finding]:
    """Make missions of the rows of the pending queue that are new, and requests of those that say `cancelled`.

    Durable when it returns. `missions`: the open ones. Returns the rows that make none, with reasons. Raises `BadInput`
    for a text that cannot be read.
    """
    found = orchestrator.read(data)
    here = {mission.order.title or mission.order.text: mission for mission in missions}
    told = [finding for _, finding in found.refused]
    for row in found.dashboard.queue:
        digest = row_digest(row)
        id = f"mission_{digest}"
        if row.cancelled:
            mission = here.get(row.mission)
            if mission is not None and mission.status.state is MissionState.QUEUED:
                files.request(mission.id, "cancel", shown_actor(actor))
        elif not files.row_known(digest) and not files.known(id):
            title = _title(row.mission, here)
            order = MissionOrder(
                id, row.mission, title, row.requirements, "", row.priority, asker=actor, source=row.queued_at
            )
            if files.add(order):
                here[title] = Mission(order)
        elif row.mission not in here:
            told.append(_again(row))
    for item in found.dashboard.active:
        mission = here.get(item.mission)
        mine = mission is not None and mission.status.robot == item.assigned_to
        if mission is not None and mine and item.status.casefold() in CANCELLED:
            files.request(mission.id, "cancel", shown_actor(actor))
    return told


def row_digest(row: QueuedMission) -> str:
    """The identity of a row: its mission, its requirements, and when it was queued (workspace D24)."""
    return entry_ids.digest([row.mission, list(row.requirements), row.queued_at])[:16]


def unique_title(text: str, missions: Iterable[Mission]) -> str:
    """What dashboards call a new mission: its text, with a number where an open one is called so already."""
    return _title(text, {mission.order.title or mission.order.text for mission in missions})


def queue_row(mission: Mission) -> QueuedMission:
    order = mission.order
    queued_at = order.source or clock_time(order.created_at)
    return QueuedMission(order.title or order.text, order.requires, mission.priority, queued_at)


def dashboard(
    missions: Iterable[Mission],
    robots: Sequence[orchestrator.PoolRobot],
    decisions: Sequence[str],
    language: str,
    *,
    over: bool = False,
) -> Dashboard:
    """What ORCHESTRATOR.md shows of the open missions. `over`: the orchestrator ends."""
    ranked = sorted(missions, key=lambda mission: mission.rank)
    active = [
        ActiveMission(m.order.title or m.order.text, m.status.robot, m.priority, _word(m, language, over))
        for m in ranked
        if m.status.state in (MissionState.RUNNING, MissionState.PAUSED)
    ]
    queued = [queue_row(m) for m in ranked if m.status.state is MissionState.QUEUED]
    return Dashboard(tuple(active), tuple(robots), tuple(queued[:SHOWN_QUEUE]), tuple(decisions))


def _word(mission: Mission, language: str, over: bool) -> str:
    """Its state, and of one that waits what it waits for."""
    if over and mission.status.state is MissionState.RUNNING:
        return INTERRUPTED
    waits = render(mission.status.waits, language)
    return f"{mission.word}: {waits[:WAITS_MOST]}" if waits else mission.word


def clock_time(stamped: str) -> str:
    """HH:MM:SS of a time stamp, as the specification's dashboard has it; "" for none."""
    moment = parse_stamp(stamped) if stamped else None
    return moment.strftime("%H:%M:%S") if moment is not None else ""


def _title(text: str, taken: Collection[str]) -> str:
    number, title = 1, text
    while title in taken:
        number += 1
        title = f"{text} #{number}"
    return title


def _again(row: QueuedMission) -> Finding:
    where = f"{orchestrator.PATH} Pending Queue / {row.mission[:80]}"
    fix = coded("mission.queue_again")
    return Finding("MISSION_KNOWN", where, coded("mission.new_row"), coded("mission.known_row"), fix, warning=True)
