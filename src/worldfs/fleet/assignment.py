"""Which queued mission goes to which robot, and whether another robot may go on with one. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Job, JobState, Json
from worldfs.base.unknown_effect import bars_repeat, unknown_effect

from .bids import Bid, MissionNeeds, RobotOffer, ranked
from .mission import Mission, MissionProgress, MissionState

REFUSALS_KEPT: Final = 10
NAMED: Final = 3  # robots that a reason names
LOOKED_AT: Final = 20  # queued missions that are compared with robots which are not free, the first of the queue


class Assignment(NamedTuple):
    """`robot` "": the mission waits. `bids`: every robot's, the best first; of one that waits, those that say why."""

    mission: Mission
    robot: str
    reason: str
    bids: tuple[Bid, ...] = ()


def assign(
    queued: Iterable[Mission],
    robots: Collection[RobotOffer],
    needs_of: Callable[[Mission], MissionNeeds],
    state_of: Callable[[str], MissionState | None],
    not_served: Callable[[str], str] = lambda robot: "",
) -> list[Assignment]:
    """Missions by priority, then age; each to the robot with the smallest cost. A robot has one mission at a time.

    `state_of`: of a mission by its id, None: unknown. `not_served`: why a robot is no bidder. When no robot is free,
    what comes later waits for its turn, but for the missions whose robots cannot do it now: these say so.
    """
    free, given = {robot.id: robot for robot in robots if not robot.unable}, set[str]()
    unable = sorted((robot for robot in robots if robot.unable), key=lambda robot: robot.id)
    robots_unable = {robot.id: robot for robot in unable}
    found: list[Assignment] = []
    rest: _NotFree | None = None  # made once: there may be many missions and robots
    for number, mission in enumerate(sorted(queued, key=lambda item: item.rank)):
        if not free:
            rest = rest or _not_free(robots, given)
            needs_now = needs_of if number < LOOKED_AT else None
            if why := _named_wait(mission, free, robots_unable, not_served) or _away(
                mission, rest, needs_now, not_served
            ):
                found.append(Assignment(mission, "", why))
            continue
        waiting = unmet_dependency(mission, state_of)
        if waiting:
            found.append(Assignment(mission, "", waiting))
            continue
        if why := _named_wait(mission, free, robots_unable, not_served):
            found.append(Assignment(mission, "", why))
            continue
        offers = [_barred(robot, mission) for robot in free.values()]
        needs = needs_of(mission)
        if needs.waits:
            found.append(Assignment(mission, "", needs.waits))
            continue
        bids = ranked(needs, (*offers, *unable[:NAMED]))  # a queue that waits does not ask each robot that is at work
        best = bids[0]
        if best.refusal:
            found.append(Assignment(mission, "", no_robot(bids), tuple(bids)))
            continue
        del free[best.robot]
        given.add(best.robot)
        bids += ranked(needs, unable[NAMED:])
        found.append(Assignment(mission, best.robot, won(bids), tuple(bids)))
    return found


def _named_wait(
    mission: Mission, free: Collection[str], unable: Mapping[str, RobotOffer], not_served: Callable[[str], str]
) -> str:
    """Why the only robot that may carry it out cannot do so now; "": it can, or any robot may."""
    robot = mission.order.robot or (mission.status.robot if mission.status.kept else "")
    if not robot or robot in free:
        return ""
    if robot not in unable:
        return not_served(robot)
    return coded("mission.turn", robot=robot) if unable[robot].state == "busy" else unable[robot].unable


class _NotFree(NamedTuple):
    at_work: list[RobotOffer]  # as if they were free
    why: str  # why the others cannot work; "": there are no others


def _not_free(robots: Collection[RobotOffer], given: Collection[str]) -> _NotFree:
    """`given`: those that have just been given a mission."""
    busy = {robot.id for robot in robots if robot.state == "busy" or robot.id in given}
    away = sorted((robot for robot in robots if robot.id not in busy), key=lambda robot: robot.id)
    bids = [Bid(robot.id, math.inf, robot.unable) for robot in away]
    why = no_robot(bids) if len(bids) > 1 else "".join(bid.refusal for bid in bids)
    return _NotFree([robot._replace(unable="", state="busy") for robot in robots if robot.id in busy], why)


def _away(
    mission: Mission,
    rest: _NotFree,
    needs_of: Callable[[Mission], MissionNeeds] | None,
    not_served: Callable[[str], str],
) -> str:
    """Why no robot will have it soon, while none is free, or why there is none; "": its turn will come.

    `needs_of` None: one at work may be able.
    """
    if mission.order.robot:
        return ""
    if not rest.at_work and not rest.why:
        return not_served("")
    if rest.at_work and (needs_of is None or not rest.why):
        return ""
    if rest.at_work and needs_of is not None:
        needs = needs_of(mission)
        if needs.waits or any(not item.refusal for item in ranked(needs, rest.at_work)):
            return needs.waits
    return rest.why


def unmet_dependency(mission: Mission, state_of: Callable[[str], MissionState | None]) -> str:
    """Which mission it waits for; "" if it may begin."""
    for id in mission.after:
        state = state_of(id)
        if state is not MissionState.SUCCEEDED:
            return coded("mission.after", mission=id, state="unknown" if state is None else state.value)
    return ""


def failed_dependency(mission: Mission, state_of: Callable[[str], MissionState | None]) -> str:
    """Why it can never begin: a mission that it waits for has failed, was cancelled or is not there; "" if it can."""
    for id in mission.after:
        state = state_of(id)
        if state is None or (state.ended and state is not MissionState.SUCCEEDED):
            return coded("mission.after_failed", mission=id, state="unknown" if state is None else state.value)
    return ""


def circular(orders: Mapping[str, Sequence[str]], id: str) -> list[str]:
    """The circle of `after` that the mission is in; [] without one."""
    path, seen = [id], {id}
    while path:
        following = [other for other in orders.get(path[-1], ()) if other == id or other not in seen]
        if id in following:
            return [*path, id]
        if following:
            seen.add(following[0])
            path.append(following[0])
        else:
            path.pop()
    return []


def won(bids: Sequence[Bid]) -> str:
    best, others = bids[0], [item for item in bids[1:] if not item.refusal]
    if not others:
        return coded("mission.only_bid", robot=best.robot, cost=round(best.cost))
    beaten = [coded("mission.other_bid", robot=item.robot, cost=round(item.cost)) for item in others[:NAMED]]
    return coded("mission.best_bid", robot=best.robot, cost=round(best.cost), beaten=beaten, n=len(others))


def recorded(bids: Sequence[Bid]) -> tuple[Json, ...]:
    """Every bid, and some of the refusals: what a mission's file keeps of its assignment."""
    refused = [bid for bid in bids if bid.refusal][:REFUSALS_KEPT]
    return tuple(bid.as_json() for bid in (*(bid for bid in bids if not bid.refusal), *refused))


def no_robot(bids: Sequence[Bid]) -> str:
    whys = [coded("mission.no_bid", robot=item.robot, why=item.refusal) for item in bids[:NAMED]]
    return coded("mission.no_robot", whys=whys) if whys else coded("mission.no_robots")


def handover(job: Job | None, repeatable: Callable[[Job], bool]) -> str:
    """Why no other robot may go on with the mission whose robot is gone; "" if one may.

    `job`: the last order of its attempt; those before it have ended, or it would not have been submitted. It is safe
    where nothing was begun, where its effect was measured, and where it has none on the world.
    """
    if job is None or job.status.attempt == 0 or repeatable(job):
        return ""
    outcome = job.status.outcome
    if job.status.state.terminal and outcome is not None and not unknown_effect(outcome):
        return outcome.message if bars_repeat(outcome) else ""
    if job.status.state is JobState.PENDING:
        return ""
    return coded("mission.half_done", job=job.id, op=job.order.op, node=job.order.node)


def stop_of(job: Job | None) -> str:
    """Who stopped its robot while it ran, and when; "": it has not ended by a stop."""
    outcome = job.status.outcome if job is not None else None
    stop = as_object(outcome.evidence.get("stopped")) if outcome is not None else {}
    if job is None or not stop:
        return ""
    return coded("mission.is_stopped", robot=job.order.node, by=as_text(stop.get("by")), at=as_text(stop.get("at")))


def progress_after(mission: Mission, job: Job | None) -> MissionProgress:
    """How far the mission has come with its robot, now that its last order, `job`, is to tell."""
    stage, reached, reaches = mission.status.progress
    if job is None or job.status.state is not JobState.SUCCEEDED:
        return MissionProgress(stage, reached)
    return MissionProgress(stage, tuple(dict.fromkeys((*reached, *reaches))))


def _barred(robot: RobotOffer, mission: Mission) -> RobotOffer:
    if robot.id in mission.status.barred:
        return robot._replace(unable=coded("mission.barred", robot=robot.id))
    if mission.status.kept and mission.status.robot != robot.id:
        return robot._replace(unable=coded("mission.kept", robot=mission.status.robot))
    return robot
