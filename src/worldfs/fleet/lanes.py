"""Traffic in one lane: cells in a row, passing places beside some, and one direction at a time. A pure function.

Everything inside moves the same way, so that nothing meets head to head: a robot that wants the other way waits
outside, steps into a passing place, or backs out at the end that the others leave by. That end is always open, so the
lane empties; then the robot that has waited longest of the highest priority has its direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from worldfs.base.messages import coded

from .reservations import Rank


class Lane(NamedTuple):
    """Cells 0 … length - 1. `passing`: cells that have room for one robot beside the lane."""

    name: str
    length: int
    passing: frozenset[int] = frozenset()


class Traveller(NamedTuple):
    """A robot at the lane. `cell`: -1 before it, `length` behind it. `direction`: the way that it wants, 1 or -1."""

    robot: str
    cell: int
    direction: int
    rank: Rank
    aside: bool = False  # in the passing place beside its cell


class LaneDecision(NamedTuple):
    """`verdict`: go | wait | aside | back. The robot is to be at `cell` next, beside the lane if `aside`."""

    robot: str
    verdict: str
    cell: int
    aside: bool
    reason: str
    over: tuple[str, ...] = ()


def lane_direction(lane: Lane, travellers: Sequence[Traveller]) -> tuple[int, Traveller | None]:
    """Which way the lane goes now, and the robot that it goes that way for. 0: nobody wants it."""
    inside = [item for item in travellers if _inside(lane, item) and not item.aside]
    waiting = [item for item in travellers if _wants(lane, item)]
    ranked = sorted(inside or waiting, key=lambda item: item.rank)
    return (ranked[0].direction, ranked[0]) if ranked else (0, None)


def decide_lane(lane: Lane, travellers: Sequence[Traveller]) -> list[LaneDecision]:
    """The next move of each robot that is in the lane or wants to enter it: at most one cell, into a free one."""
    way, first = lane_direction(lane, travellers)
    if first is None:
        return []
    at = {item.robot: (item.cell, item.aside) for item in travellers}
    found = []
    # the robots ahead move first, so that those behind follow into the cells that they leave
    for item in sorted(travellers, key=lambda item: (-item.cell * way, item.aside, item.rank)):
        if _inside(lane, item) or _wants(lane, item):
            decision = _Moment(lane, way, first, at, travellers).next(item)
            at[item.robot] = decision.cell, decision.aside
            found.append(decision)
    return found


def _inside(lane: Lane, item: Traveller) -> bool:
    return 0 <= item.cell < lane.length


def _wants(lane: Lane, item: Traveller) -> bool:
    """Whether it waits for the lane: outside at the end where it would enter, or in a passing place."""
    return item.aside or item.cell == (-1 if item.direction > 0 else lane.length)


class _Moment(NamedTuple):
    """The lane while one robot after the other is told its next move."""

    lane: Lane
    way: int
    first: Traveller  # that the lane goes this way for
    at: Mapping[str, tuple[int, bool]]  # where each robot is, or will be
    travellers: Sequence[Traveller]

    def next(self, item: Traveller) -> LaneDecision:
        lane, way, name, first = self.lane, self.way, self.lane.name, self.first.robot
        against, outside = item.direction != way, item.aside or not _inside(lane, item)
        others = [other for other in self.travellers if other.robot != item.robot]
        opposing = tuple(other.robot for other in others if other.direction == way)
        stays = (item.cell, item.aside)
        if against and outside:
            return LaneDecision(item.robot, "wait", *stays, coded("mission.lane_busy", lane=name, by=first), opposing)
        if against and item.cell in lane.passing and self._free((item.cell, True), item.robot):
            reason = coded("mission.steps_aside", lane=name, by=first)
            return LaneDecision(item.robot, "aside", item.cell, True, reason, opposing)
        if outside and item.robot != first:
            waits = [one for one in others if _wants(lane, one) and one.direction != way and one.rank < item.rank]
            if names := tuple(one.robot for one in waits):
                reason = coded("mission.lane_others_first", lane=name, by=list(names))
                return LaneDecision(item.robot, "wait", *stays, reason, names)
        target = (item.cell if item.aside else item.cell + way, False)
        if not self._free(target, item.robot):
            ahead = tuple(robot for robot, place in self.at.items() if place == target)
            reason = coded("mission.cell_taken", lane=name, by=list(ahead))
            return LaneDecision(item.robot, "wait", *stays, reason, ahead)
        if against:
            return LaneDecision(item.robot, "back", *target, coded("mission.backs_out", lane=name, by=first), opposing)
        beaten = [one.robot for one in others if one.direction != way and (_inside(lane, one) or _wants(lane, one))]
        return LaneDecision(item.robot, "go", *target, coded("mission.lane_free", lane=name, way=way), tuple(beaten))

    def _free(self, place: tuple[int, bool], robot: str) -> bool:
        """Outside there is room for any number."""
        if not 0 <= place[0] < self.lane.length:
            return True
        return all(other == robot or taken != place for other, taken in self.at.items())
