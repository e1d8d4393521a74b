"""ORCHESTRATOR.md as a sheet: new rows become missions, `cancelled` is obeyed, a stale copy undoes nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final

from worldfs.access.standing import shown_actor
from worldfs.base.clock import parse_stamp
from worldfs.base.messages import coded, render
from worldfs.base.model import Finding
from worldfs.formats import entry_ids, orchestrator
from worldfs.formats.orchestrator import ROBOT, ActiveMission, Dashboard, ParsedDashboard, QueuedMission, says_cancelled

from .mission import Mission, MissionOrder, MissionState
from .mission_store import MissionFiles

INTERRUPTED: Final = "interrupted"  # it goes on, or is queued again, when the next orchestrator starts
_TIME: Final = re.compile(r"\d\d:\d\d:\d\d")
WAITS_MOST: Final = 200  # characters of what a mission waits for
SHOWN_QUEUE: Final = 200  # rows of the pending queue; what waits behind them is in missions.json


def take_in(
    found: ParsedDashboard, files: MissionFiles, missions: Iterable[Mission], actor: str, before: bytes = b""
) -> list[Finding]:
    """Make missions of the rows of the pending queue that are new, and requests of those that say `cancelled`.

    Durable when it returns. `missions`: the open ones; `before`: the text that was read or written last. Returns the
    rows that make none, with reasons, and those of waiting missions that are gone: they come back.
    """
    missions = list(missions)
    last = orchestrator.read(before).dashboard if before else Dashboard()
    present = {row_digest(row) for row in found.dashboard.queue}
    rowless = [mission for mission in missions if row_digest(queue_row(mission)) not in present]
    here = {mission.order.title or mission.order.text: mission for mission in missions}
    told = [*(finding for _, finding in found.refused), *found.strays]
    for row in found.dashboard.queue:
        digest = row_digest(row)
        id = f"mission_{digest}"
        if row.cancelled:
            mission = here.get(row.mission)
            # one that has begun meanwhile by its very row alone: an old copy cancels no later mission of that title
            if mission is not None and (
                mission.status.state is MissionState.QUEUED or digest == row_digest(queue_row(mission))
            ):
                files.request(mission.id, "cancel", shown_actor(actor))
        elif not files.row_known(digest) and not files.known(id):
            if (changed := _changed(row, rowless, found.dashboard.queue, last.queue)) is not None:
                rowless.remove(changed)
                told.append(_other_row(row, changed))
                continue
            title = _title(row.mission, here)
            requires, robot = _named_robot(row.requirements)
            order = MissionOrder(
                id, row.mission, title, requires, robot, row.priority, asker=actor, source=row.queued_at
            )
            if files.add(order):
                here[title] = Mission(order)
        elif row.mission not in here:
            told.append(_again(row))
    for item in found.dashboard.active:
        mission = here.get(item.mission)
        mine = mission is not None and mission.status.robot == item.assigned_to
        if mission is not None and mine and says_cancelled(item.status):
            files.request(mission.id, "cancel", shown_actor(actor))
        elif mission is not None and mine and item not in last.active and not _is_state(item.status, mission):
            told.append(_other_status(item.status, mission))
    shown = {row_digest(row) for row in last.queue}
    cancelled = {row.mission for row in found.dashboard.queue if row.cancelled} | {title for title, _ in found.refused}
    for mission in rowless:
        title = mission.order.title or mission.order.text
        waits = mission.status.state is MissionState.QUEUED and title not in cancelled
        if waits and row_digest(queue_row(mission)) in shown:
            told.append(_removed(mission))
    return told


def _changed(
    row: QueuedMission, rowless: Iterable[Mission], rows: Sequence[QueuedMission], before: Sequence[QueuedMission]
) -> Mission | None:
    """The mission of whose row a new one was made: of those of its time that have no row any more, the likeliest.

    `rows`: those of the text, and `before`, those that it had."""

    def likeness(mission: Mission) -> tuple[bool, bool, bool, bool, float]:
        mine = queue_row(mission)
        here = len(rows) == len(before) and before[rows.index(row)] == mine
        same = mine.requirements == row.requirements
        alike = SequenceMatcher(None, mine.mission, row.mission).ratio()
        return mine.mission == row.mission, here, mine in before, same, alike

    def fits(mission: Mission) -> bool:
        begun = mission.status.state is not MissionState.QUEUED
        return queue_row(mission).queued_at == row.queued_at and not (begun and mission.order.source)

    found = filter(fits, rowless) if _TIME.fullmatch(row.queued_at) else ()
    return max(found, key=likeness, default=None)


def _other_row(row: QueuedMission, mission: Mission) -> Finding:
    """A mission keeps what it was submitted with: a changed row is neither another mission nor a change of this one."""
    place = f"{orchestrator.PATH} Pending Queue / {row.mission[:80]}"
    found = coded("mission.row_changed", title=(mission.order.title or mission.order.text)[:80], id=mission.id)
    fix = coded("mission.cancel_and_add", id=mission.id)
    return Finding("MISSION_ROW_CHANGED", place, coded("mission.same_row"), found, fix, warning=True)


def _is_state(status: str, mission: Mission) -> bool:
    """Whether it is this mission's status, or may have been in an old copy. A pause is asked for by a request."""
    word = status.partition(":")[0].casefold()
    return word in (mission.status.state.value, mission.word, MissionState.RUNNING.value, "waiting", INTERRUPTED, "")


def _other_status(status: str, mission: Mission) -> Finding:
    title = (mission.order.title or mission.order.text)[:80]
    found = coded("mission.status_changed", title=title, id=mission.id, status=status[:80])
    fix, place = coded("mission.pause_or_cancel", id=mission.id), f"{orchestrator.PATH} Active Missions / {title}"
    return Finding("MISSION_ROW_CHANGED", place, coded("mission.own_status"), found, fix, warning=True)


def _removed(mission: Mission) -> Finding:
    title = (mission.order.title or mission.order.text)[:80]
    place, fix = f"{orchestrator.PATH} Pending Queue / {title}", coded("mission.cancel_it", id=mission.id)
    found = coded("mission.row_removed", title=title)
    return Finding("MISSION_ROW_REMOVED", place, coded("mission.same_row"), found, fix, warning=True)


def _named_robot(requirements: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The abilities, and the only robot that may do it ("": any)."""
    named = [word for word in requirements if word.startswith(ROBOT)]
    return tuple(word for word in requirements if word not in named), "".join(named).removeprefix(ROBOT).strip()


def row_digest(row: QueuedMission) -> str:
    """The identity of a row: its mission, its requirements, and when it was queued (workspace D24)."""
    return entry_ids.digest([row.mission, list(row.requirements), row.queued_at])[:16]


def unique_title(text: str, missions: Iterable[Mission]) -> str:
    """What dashboards call a new mission: its text, with a number where an open one is called so already."""
    return _title(text, {mission.order.title or mission.order.text for mission in missions})


def queue_row(mission: Mission) -> QueuedMission:
    order = mission.order
    queued_at = order.source or clock_time(order.created_at)
    requires = (*order.requires, *((f"{ROBOT} {order.robot}",) if order.robot else ()))
    return QueuedMission(order.title or order.text, requires, mission.priority, queued_at)


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
