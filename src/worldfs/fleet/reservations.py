"""Reservations: which robot may take which thing, lane or space, and what ends a circle of waits. Pure, in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from worldfs.base.json_values import as_floats, as_int, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.straight_way import distance

TOUCH: Final = 1e-6  # m: places beside each other may touch
AIR: Final = 2  # pieces of it that a reason names
Rank = tuple[int, str, str]  # smaller goes first: priority, age, id


class ReservedKind(Enum):
    OBJECT = "object"  # one holder
    LANE = "lane"  # holders that go the same way
    SPACE = "space"  # boxes of different holders do not overlap
    PLACE = "place"  # the same, of the floor where robots stand
    WAY = "way"  # floor that is driven over: no other robot stands there, in no `PLACE`


UNNAMED: Final = (ReservedKind.SPACE, ReservedKind.WAY)
DRIVEN_OVER: Final = ((ReservedKind.WAY, ReservedKind.PLACE), (ReservedKind.PLACE, ReservedKind.WAY))


class Reservation(NamedTuple):
    """`direction`: of a lane, along (1) or against (-1) it, 0: both ways. `box`: low and high corner, m; of a `WAY` the
    ends of a straight piece, and the room on each side of it."""

    kind: ReservedKind
    name: str = ""
    direction: int = 0
    box: tuple[float, ...] = ()

    def conflicts(self, other: Reservation) -> bool:
        if self.kind is not other.kind:
            if (self.kind, other.kind) not in DRIVEN_OVER:
                return False
            way, place = (self, other) if self.kind is ReservedKind.WAY else (other, self)
            if len(way.box) == 5:  # an earlier version wrote boxes, as of a place
                return _leads_over(way.box, place.box)
        elif self.kind is ReservedKind.WAY:
            return False  # two that drive meet in the air above it
        if self.box:
            mine, theirs = self.box, other.box
            half = len(mine) // 2
            return all(mine[i] < theirs[i + half] and theirs[i] < mine[i + half] for i in range(half))
        if self.name != other.name:
            return False
        return self.kind is ReservedKind.OBJECT or not (self.direction == other.direction != 0)

    def __str__(self) -> str:
        half = 2 if self.kind is ReservedKind.WAY else len(self.box) // 2
        middle = [round((self.box[i] + self.box[i + half]) / 2, 2) for i in range(half)]
        match self.kind:
            case ReservedKind.SPACE | ReservedKind.WAY:
                return coded("mission.space", low=self.box[:half], high=self.box[half : 2 * half])
            case ReservedKind.PLACE:
                return coded("mission.place", at=middle)
            case ReservedKind.LANE:
                return coded("mission.lane", lane=self.name)
        return self.name

    def as_json(self) -> Json:
        value: Json = {"kind": self.kind.value, "name": self.name, "direction": self.direction, "box": list(self.box)}
        return {name: found for name, found in value.items() if found}


def _leads_over(way: Sequence[float], place: Sequence[float]) -> bool:
    """Whether the piece of a way comes closer to the middle of a place than the room about both."""
    low_x, low_y, high_x, high_y = place
    middle, side = ((low_x + high_x) / 2, (low_y + high_y) / 2), max(high_x - low_x, high_y - low_y) / 2
    return distance(middle, way[:2], way[2:4]) < way[4] + side - TOUCH


def read_reservation(said: Json) -> Reservation | None:
    """None: of an unknown kind."""
    kind = next((kind for kind in ReservedKind if kind.value == said.get("kind")), None)
    if kind is None:
        return None
    return Reservation(
        kind, as_text(said.get("name")), as_int(said.get("direction")), tuple(as_floats(said.get("box")))
    )


def named(items: Iterable[Reservation]) -> list[str]:
    """For people: what has a name or a place; air and ways only where there is nothing else."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for item in items:
        found[item.kind in UNNAMED].append(str(item))
    return sorted(found[False]) or sorted(found[True])[:AIR]


class ReservationDecision(NamedTuple):
    """`verdict`: granted | wait | yield | aside | blocked. `over`: the holders it was decided against or behind."""

    holder: str
    verdict: str
    reason: str
    over: tuple[str, ...] = ()


class _Holder:
    __slots__ = ("aside", "asides", "held", "id", "moves", "pinned", "rank", "told", "wanted")

    def __init__(self, id: str, rank: Rank) -> None:
        self.id, self.rank = id, rank
        self.held: set[Reservation] = set()
        self.pinned: set[Reservation] = set()  # cannot be given up: it has the thing in its gripper, or stands there
        self.wanted: frozenset[Reservation] = frozenset()
        self.told: tuple[str, tuple[str, ...]] = ("", ())
        self.asides: Sequence[Sequence[Reservation]] = ()
        self.aside: int | None = None  # which of them it was granted
        self.moves = False  # it has asked for something, and goes on some time


class ReservationTable:
    """All reservations of one root. `request`, then `decide`: a wanted set is granted whole or not at all.

    A holder that holds nothing never overtakes an earlier one. So a circle of waits goes through held reservations
    only, and giving up those of one holder opens it.
    """

    def __init__(self) -> None:
        self._holders: dict[str, _Holder] = {}
        self._blocked: set[frozenset[str]] = set()  # circles that nobody can open, and that were reported

    def request(
        self, id: str, rank: Rank, wanted: Iterable[Reservation], asides: Sequence[Sequence[Reservation]] = ()
    ) -> None:
        """Ask for more, beside what the holder has. `asides`: what else would do to get out of the others' way, one of
        them, where there is no other way out of a circle of waits."""
        holder = self._holders.setdefault(id, _Holder(id, rank))
        holder.rank, holder.asides, holder.aside, holder.moves = rank, asides, None, True
        holder.wanted = frozenset(wanted) - holder.held

    def aside(self, id: str) -> int | None:
        """Which of the `asides` of its last request it was granted instead of what it asked for."""
        return self._holders[id].aside if id in self._holders else None

    def stand(self, id: str, stands: Iterable[Reservation]) -> None:
        """What a holder has because it is there: beside it, of all that it held, only things stay its own."""
        stands = set(stands)
        holder = self._holders.setdefault(id, _Holder(id, (0, "", id)))
        things = {item for item in holder.held if item.kind is ReservedKind.OBJECT}
        pinned = stands | (holder.pinned & things)
        if holder.held != things | stands or holder.pinned != pinned:
            self._blocked = {circle for circle in self._blocked if id not in circle}
            holder.held, holder.pinned = things | stands, pinned
        if not holder.held and not holder.wanted:
            del self._holders[id]

    def add(self, id: str, reservations: Iterable[Reservation]) -> None:
        """What a holder has already, and cannot give up: it was granted before, or is in its robot's gripper."""
        holder, had = self._holders.setdefault(id, _Holder(id, (0, "", id))), set(reservations)
        holder.held |= had
        holder.pinned |= had

    def free(self, place: Iterable[Reservation], asker: str, but: str) -> bool:
        """Whether no holder except `but` has it, and `asker` does not wait for it."""
        wanted = self._holders[asker].wanted if asker in self._holders else ()
        others = [item for holder in self._holders.values() if holder.id != but for item in holder.held]
        return not any(mine.conflicts(item) for mine in place for item in (*wanted, *others))

    def waits(self, id: str) -> bool:
        return id in self._holders and bool(self._holders[id].wanted)

    @property
    def waiting(self) -> bool:
        return any(holder.wanted for holder in self._holders.values())

    def pin(self, id: str, reservations: Iterable[Reservation]) -> None:
        """Of the things that it holds, these cannot be given up before it releases them."""
        if id in self._holders:
            holder = self._holders[id]
            stands = {item for item in holder.pinned if item.kind is not ReservedKind.OBJECT}
            holder.pinned = stands | (holder.held & set(reservations))

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
        later: set[frozenset[str]] = set()  # circles that will be opened as soon as others are out of the way
        while True:
            now = [decision for holder in self._ranked() if (decision := self._grant(holder)) is not None]
            while not now and (circle := self._circle(later)) is not None:
                now = self._open(circle)
                if not now:
                    later.add(frozenset(circle))
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
            names = named(self._missing(holder))
            reason = (
                coded("mission.waits_for", names=names, by=list(ahead))
                if names
                else coded("mission.in_line", by=list(ahead))
            )
            return ReservationDecision(holder.id, "wait", reason, ahead)
        holder.held |= holder.wanted
        names = named(holder.wanted)
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

    def _missing(self, asker: _Holder) -> set[Reservation]:
        """What it wants that others hold; on its way the places where they stand."""
        others = [item for other in self._holders.values() if other is not asker for item in other.held]
        return {
            theirs if item.kind is ReservedKind.WAY else item
            for item in asker.wanted
            for theirs in others
            if item.conflicts(theirs)
        }

    def _ahead(self, asker: _Holder) -> Iterator[str]:
        """Those that must release something, or be granted first."""
        for other in self._ranked():
            if other is asker:
                continue
            holds = any(a.conflicts(b) for a in asker.wanted for b in other.held)
            first = not asker.held and other.rank < asker.rank
            if holds or (first and any(a.conflicts(b) for a in asker.wanted for b in other.wanted)):
                yield other.id

    def _circle(self, but: Collection[frozenset[str]]) -> list[str] | None:
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
                    if frozenset(circle) not in self._blocked and frozenset(circle) not in but:
                        return circle
                elif following in graph and following not in done:
                    path.append(following)
                    stack.append((following, iter(graph[following])))
        return None

    def _open(self, circle: list[str]) -> list[ReservationDecision]:
        """The lowest rank of those that can gives up what it holds, and asks again behind the others; where none can,
        one steps aside. None: it could, once those are gone that are where it would step aside to."""
        ranked = sorted((self._holders[id] for id in circle), key=lambda holder: holder.rank)
        able = [holder for holder in ranked if holder.held and not holder.pinned]
        others = tuple(holder.id for holder in ranked)
        if not able:
            found, later = self._step_aside(circle, ranked)
            if found is not None or later:
                return [] if found is None else [found]
            self._blocked.add(frozenset(circle))
            reason = coded("mission.blocked", circle=list(circle))
            return [ReservationDecision(ranked[-1].id, "blocked", reason, others[:-1])]
        loser = able[-1]
        given = named(loser.held)
        loser.wanted, loser.held, loser.told = loser.wanted | loser.held, set(), ("", ())
        over = tuple(id for id in others if id != loser.id)
        reason = coded("mission.yields", circle=list(circle), names=given, over=list(over))
        return [ReservationDecision(loser.id, "yield", reason, over)]

    def _step_aside(
        self, circle: list[str], ranked: Sequence[_Holder]
    ) -> tuple[ReservationDecision | None, bool]:  # fmt: skip
        """The lowest rank of those that have somewhere to go gets out of the way of the others; whether one will have,
        as soon as a mission outside of the circle has gone on."""
        later = False
        for holder in reversed(ranked):
            for number, aside in enumerate(holder.asides):
                there = {id for item in aside for id in self._holds(holder, item)}
                later |= bool(there) and all(id not in circle and self._holders[id].moves for id in there)
                if there:
                    continue
                holder.held |= set(aside)
                holder.wanted, holder.asides, holder.aside, holder.told = frozenset(), (), number, ("", ())
                over = tuple(other.id for other in ranked if other is not holder)
                reason = coded("mission.aside", circle=list(circle), names=named(aside), over=list(over))
                return ReservationDecision(holder.id, "aside", reason, over), False
        return None, later
