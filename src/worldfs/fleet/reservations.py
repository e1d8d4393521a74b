"""Reservations: who may take which thing, lane or air, and what ends a circle of waits. Pure, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from worldfs.base.messages import coded

Rank = tuple[int, str, str]  # smaller goes first: priority, age, id


class ReservedKind(Enum):
    OBJECT = "object"  # one holder
    LANE = "lane"  # holders that go the same way
    SPACE = "space"  # boxes of different holders do not overlap


class Reservation(NamedTuple):
    """`direction`: of a lane, along (1) or against (-1) it, 0: both ways. `box`: low and high corner, m."""

    kind: ReservedKind
    name: str = ""
    direction: int = 0
    box: tuple[float, ...] = ()

    def conflicts(self, other: Reservation) -> bool:
        if self.kind is not other.kind:
            return False
        if self.kind is ReservedKind.SPACE:
            mine, theirs = self.box, other.box
            half = len(mine) // 2
            return all(mine[i] < theirs[i + half] and theirs[i] < mine[i + half] for i in range(half))
        if self.name != other.name:
            return False
        return self.kind is ReservedKind.OBJECT or not (self.direction == other.direction != 0)

    def __str__(self) -> str:
        return self.name or coded("mission.space", low=self.box[:3], high=self.box[3:])


class ReservationDecision(NamedTuple):
    """`verdict`: granted | wait | yield | blocked. `over`: the holders that it was decided against or behind."""

    holder: str
    verdict: str
    reason: str
    over: tuple[str, ...] = ()


class _Holder:
    __slots__ = ("held", "id", "pinned", "rank", "told", "wanted")

    def __init__(self, id: str, rank: Rank) -> None:
        self.id, self.rank = id, rank
        self.held: set[Reservation] = set()
        self.pinned: set[Reservation] = set()  # cannot be given up: it has the thing in its gripper, or stands there
        self.wanted: frozenset[Reservation] = frozenset()
        self.told: tuple[str, tuple[str, ...]] = ("", ())


class ReservationTable:
    """All reservations of one root. `request`, then `decide`: a wanted set is granted whole or not at all.

    A holder that holds nothing never overtakes an earlier one. So a circle of waits goes through held reservations
    only, and giving up those of one holder opens it.
    """

    def __init__(self) -> None:
        self._holders: dict[str, _Holder] = {}
        self._blocked: set[frozenset[str]] = set()  # circles that nobody can open, and that were reported

    def request(self, id: str, rank: Rank, wanted: Iterable[Reservation]) -> None:
        """Ask for more, beside what the holder has."""
        holder = self._holders.setdefault(id, _Holder(id, rank))
        holder.rank = rank
        holder.wanted = frozenset(wanted) - holder.held

    def pin(self, id: str, reservations: Iterable[Reservation]) -> None:
        """Of what it holds, these cannot be given up before it releases them."""
        if id in self._holders:
            self._holders[id].pinned = self._holders[id].held & set(reservations)

    def release(self, id: str, reservations: Iterable[Reservation] | None = None) -> None:
        """None: everything, and its request."""
        self._blocked = {circle for circle in self._blocked if id not in circle}
        if reservations is None:
            self._holders.pop(id, None)
        elif id in self._holders:
            self._holders[id].held -= set(reservations)
            self._holders[id].pinned -= set(reservations)

    def held(self, id: str) -> frozenset[Reservation]:
        return frozenset(self._holders[id].held) if id in self._holders else frozenset()

    def decide(self) -> list[ReservationDecision]:
        """Grant what can be granted, earlier ranks first; then open each circle of waits. Only what has changed."""
        found: list[ReservationDecision] = []
        while True:
            now = [decision for holder in self._ranked() if (decision := self._grant(holder)) is not None]
            if not now and (circle := self._circle()) is not None:
                now = [self._open(circle)]
            if not now:
                return found
            found += now

    def waits_for(self) -> Mapping[str, tuple[str, ...]]:
        """The graph of waits: holder → those whose reservations, or whose earlier requests, it waits for."""
        return {holder.id: tuple(self._ahead(holder)) for holder in self._ranked() if holder.wanted}

    def _ranked(self) -> list[_Holder]:
        return sorted(self._holders.values(), key=lambda holder: holder.rank)

    def _grant(self, holder: _Holder) -> ReservationDecision | None:
        if not holder.wanted:
            return None
        ahead = tuple(self._ahead(holder))
        if ahead:
            if holder.told == ("wait", ahead):
                return None
            holder.told = "wait", ahead
            names = sorted(str(item) for item in holder.wanted if self._holds(holder, item))
            reason = (
                coded("mission.waits_for", names=names, by=list(ahead))
                if names
                else coded("mission.in_line", by=list(ahead))
            )
            return ReservationDecision(holder.id, "wait", reason, ahead)
        holder.held |= holder.wanted
        names = sorted(map(str, holder.wanted))
        beaten = tuple(
            other.id
            for other in self._ranked()
            if other is not holder and any(a.conflicts(b) for a in holder.wanted for b in other.wanted)
        )
        holder.wanted, holder.told = frozenset(), ("", ())
        reason = (
            coded("mission.granted_over", names=names, over=list(beaten))
            if beaten
            else coded("mission.granted", names=names)
        )
        return ReservationDecision(holder.id, "granted", reason, beaten)

    def _holds(self, asker: _Holder, wanted: Reservation) -> list[str]:
        return [
            other.id
            for other in self._ranked()
            if other is not asker and any(wanted.conflicts(item) for item in other.held)
        ]

    def _ahead(self, asker: _Holder) -> Iterator[str]:
        """Those that must release something, or be granted first."""
        for other in self._ranked():
            if other is asker:
                continue
            holds = any(a.conflicts(b) for a in asker.wanted for b in other.held)
            first = not asker.held and other.rank < asker.rank
            if holds or (first and any(a.conflicts(b) for a in asker.wanted for b in other.wanted)):
                yield other.id

    def _circle(self) -> list[str] | None:
        """A circle of the graph of waits, by depth-first search; None without one."""
        graph, done = self.waits_for(), set[str]()
        for start in graph:
            path: list[str] = []
            stack = [(start, iter(graph[start]))] if start not in done else []
            path += [start] if stack else []
            while stack:
                rest = stack[-1][1]
                following = next(rest, None)
                if following is None:
                    stack.pop()
                    done.add(path.pop())
                elif following in path:
                    circle = path[path.index(following) :]
                    if frozenset(circle) not in self._blocked:
                        return circle
                elif following in graph and following not in done:
                    path.append(following)
                    stack.append((following, iter(graph[following])))
        return None

    def _open(self, circle: list[str]) -> ReservationDecision:
        """The lowest rank of those that can gives up what it holds, and asks again behind the others."""
        ranked = sorted((self._holders[id] for id in circle), key=lambda holder: holder.rank)
        able = [holder for holder in ranked if holder.held and not holder.pinned]
        others = tuple(holder.id for holder in ranked)
        if not able:
            self._blocked.add(frozenset(circle))
            reason = coded("mission.blocked", circle=list(circle))
            return ReservationDecision(ranked[-1].id, "blocked", reason, others[:-1])
        loser = able[-1]
        given = sorted(map(str, loser.held))
        loser.wanted, loser.held, loser.told = loser.wanted | loser.held, set(), ("", ())
        over = tuple(id for id in others if id != loser.id)
        reason = coded("mission.yields", circle=list(circle), names=given, over=list(over))
        return ReservationDecision(loser.id, "yield", reason, over)
