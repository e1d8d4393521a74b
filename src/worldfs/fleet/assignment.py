"""Which queued mission goes to which robot, and whether another robot may go on with one. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Job, JobState, Json
from worldfs.base.unknown_effect import unknown_effect

from .bids import Bid, MissionNeeds, RobotOffer, ranked
from .mission import Mission, MissionProgress, MissionState

REFUSALS_KEPT: Final = 10
NAMED: Final = 3  # robots that a reason names


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
) -> list[Assignment]:
    """Missions by priority, then age; each to the robot with the smallest cost. A robot has one mission at a time.

    `state_of`: of a mission by its id, None: unknown. When no robot is free, what comes later is not looked at, but for
    the missions whose robots cannot be reached: these say so.
    """
    free = {robot.id: robot for robot in robots if not robot.unable}
    unable = sorted((robot for robot in robots if robot.unable), key=lambda robot: robot.id)
    found = []
    for mission in sorted(queued, key=lambda item: item.rank):
        if not free:
            if why := _away(mission, unable):
                found.append(Assignment(mission, "", why))
            continue
        waiting = unmet_dependency(mission, state_of)
        if waiting:
            found.append(Assignment(mission, "", waiting))
            continue
        offers = [_barred(robot, mission) for robot in free.values()]
        needs = needs_of(mission)
        bids = ranked(needs, (*offers, *unable[:NAMED]))  # a queue that waits does not ask each robot that is at work
        best = bids[0]
        if best.refusal:
            found.append(Assignment(mission, "", no_robot(bids), tuple(bids)))
            continue
        del free[best.robot]
        bids += ranked(needs, unable[NAMED:])
        found.append(Assignment(mission, best.robot, won(bids), tuple(bids)))
    return found


def _away(mission: Mission, robots: Sequence[RobotOffer]) -> str:
    """Why nothing is heard of the only robot that may carry it out, or of all robots; "": something is."""
    asked = [robot for robot in robots if mission.order.robot in ("", robot.id)]
    return asked[0].unable if asked and all(robot.state == "unreachable" for robot in asked) else ""


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
        return ""
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
