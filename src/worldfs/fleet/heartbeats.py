"""Heartbeats: which robots were heard of lately. Ages are of this process's own clock, never of the sender's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from worldfs.base.clock import Clock, stamp
from worldfs.base.messages import coded

from .bids import RobotOffer
from .mission import MissionOrder
from .mission_sheet import clock_time

HEARTBEATS: Final = ".paos/heartbeats"  # one key for each robot that another process serves, rewritten at each beat
EXPIRES_S: Final = 30.0  # longer than an engine of several servers takes to fail over


class Heartbeats:
    """A robot that was never heard of is not alive; a beat costs O(1), and so does the question what comes next."""

    def __init__(self, clock: Clock, expires_s: float = EXPIRES_S) -> None:
        self._clock, self._expires_s = clock, expires_s
        self._beats: OrderedDict[str, tuple[float, datetime]] = OrderedDict()  # the one not heard of for longest first
        self._silent: dict[str, datetime] = {}  # heard of before

    def beat(self, robot: str) -> bool:
        """True: it was not alive before."""
        new = robot not in self._beats
        self._beats[robot] = self._clock.monotonic(), self._clock.now()
        self._beats.move_to_end(robot)
        self._silent.pop(robot, None)
        return new

    def lapse(self) -> bool:
        """Let go of the robots that were not heard of for too long; whether there were any."""
        now, found = self._clock.monotonic(), False
        while self._beats and now - next(iter(self._beats.values()))[0] > self._expires_s:
            robot, (_, at) = self._beats.popitem(last=False)
            self._silent[robot], found = at, True
        return found

    def last(self, robot: str) -> datetime | None:
        """When it was last heard of, by our clock; None: never."""
        return self._beats[robot][1] if robot in self._beats else self._silent.get(robot)

    def alive(self, robot: str) -> bool:
        """As of the last `lapse`."""
        return robot in self._beats

    def patience(self) -> float | None:
        """Seconds until the next robot that is alive may lapse; None: there is none."""
        first = next(iter(self._beats.values()), None)
        return None if first is None else max(0.0, first[0] + self._expires_s - self._clock.monotonic() + 0.001)


def offers_now(
    offers: Iterable[RobotOffer], busy: Mapping[str, MissionOrder], heartbeats: Heartbeats
) -> list[RobotOffer]:
    """The robots, those at work and those not heard of marked as such. `busy`: robot → the mission that it has."""
    return [_offer_now(offer, busy.get(offer.id), heartbeats) for offer in offers]


def _offer_now(offer: RobotOffer, work: MissionOrder | None, heartbeats: Heartbeats) -> RobotOffer:
    if not offer.local and not heartbeats.alive(offer.id):
        last = heartbeats.last(offer.id)
        since = clock_time(stamp(last)) if last is not None else coded("mission.never")
        return offer._replace(unable=coded("mission.silent", since=since), state="offline")
    if work is not None and not offer.unable:
        return offer._replace(unable=coded("mission.busy", mission=work.title or work.text), state="busy")
    return offer
