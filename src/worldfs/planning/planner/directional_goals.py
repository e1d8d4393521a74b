"""Left of, behind, between, ten centimetres that way: words of direction as goals, reported with their numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from worldfs.base import pushing
from worldfs.base.footprint import gap
from worldfs.base.messages import CodedText, coded, render
from worldfs.base.model import Thing
from worldfs.base.robot_sides import WAYS

from .directions import axis, reach_along, rolls
from .goals import PLACED_M, ApartGoal, AreaGoal, CentreGoal, Goal, PlacedGoal, SlidGoal, TowardGoal
from .intent import DirectionalMove, NotUnderstood, NounPhrase
from .scene_facts import final_support, immovable_ids, surfaces

if TYPE_CHECKING:
    from .goal_builder import GoalBuilder

STEP_M = 0.10  # distance of a move without one
FAR_M = 0.15  # distance of a move "away from"
ROOM_M = 0.02  # left free on either side of what is put between two things
NEAR_SHARE = 1 / 3  # of a table: "on the left of the table"


class DirectionalGoals:
    """The directions of one instruction, in its scene."""

    def __init__(self, meaning: GoalBuilder) -> None:
        self.meaning, self.scene = meaning, meaning.scene

    def note(self, text: CodedText) -> None:
        self.meaning.notes.append(render(text, self.meaning.language))

    def goals(self, ids: tuple[str, ...], side: str, nouns: tuple[NounPhrase, ...], space: float) -> list[Goal]:
        if side == "between":
            return self._between(ids, nouns)
        target = self.scene.thing(self.meaning.where(nouns))
        assert target is not None
        if target.id in ids:
            raise NotUnderstood("planner.itself", "impossible", name=self.meaning.name(target.id))
        if side != "middle":
            self.note(coded("planner.frame"))
        if target.id in {s.id for s in surfaces(self.scene)}:
            if space:  # beyond its edge
                raise NotUnderstood("planner.beside_table", "ambiguous", name=self.meaning.name(target.id))
            return [self._region(id, target, side) for id in ids]
        if side == "middle":
            raise NotUnderstood("planner.where_to", "ambiguous", name=self.meaning.name(target.id))
        if target.id not in immovable_ids(self.scene) and not self._stands(target.id):
            raise NotUnderstood("planner.no_side", "impossible", name=self.meaning.name(target.id))
        direction = axis(side, self.scene)
        if not space:
            return [TowardGoal(id, target.id, direction, side) for id in ids]
        if len(ids) > 1:
            raise NotUnderstood("planner.one_support", "impossible", name=self.meaning.name(target.id))
        thing = self._thing(ids[0])
        away = reach_along(target, direction) + space + reach_along(thing, direction)
        return [self._at(thing, (target.position[0] + away * direction[0], target.position[1] + away * direction[1]))]

    def shifted(self, ids: tuple[str, ...], shift: DirectionalMove) -> list[Goal]:
        """Each of the things, from where it is."""
        if shift.other is None:
            metres = shift.metres or STEP_M
            self.note(coded("planner.frame"))
            if not shift.metres:
                self.note(coded("planner.step", metres=metres))
            direction = axis(WAYS[shift.way], self.scene)
            if shift.slide and self.meaning.slides:
                return [self._slid(self._thing(id), direction, metres) for id in ids]
            return [self._moved(self._thing(id), direction, metres) for id in ids]
        other = self._thing(self.meaning.where((shift.other,)))
        if other.id in ids:
            raise NotUnderstood("planner.itself", "impossible", name=self.meaning.name(other.id))
        if shift.way == "closer" and not shift.metres:
            return self.meaning.beside(ids, other)
        if shift.way == "away" and not shift.metres:
            return [self._apart(self._thing(id), other) for id in ids]
        found: list[Goal] = []
        for id in ids:
            thing = self._thing(id)
            dx, dy = thing.position[0] - other.position[0], thing.position[1] - other.position[1]
            length = (dx * dx + dy * dy) ** 0.5
            if not length > 0.001:
                raise NotUnderstood("planner.where_to", "ambiguous", name=self.meaning.name(other.id))
            sign = 1.0 if shift.way == "away" else -1.0
            found.append(self._moved(thing, (sign * dx / length, sign * dy / length), shift.metres))
        return found

    def _apart(self, thing: Thing, other: Thing) -> ApartGoal:
        spot = final_support(self.meaning.resolve.places, thing.id)
        self.meaning.resolve.ask_if_moved(self.meaning.name(other.id), (thing.id, other.id))
        return ApartGoal(thing.id, other.id, spot.of, round(gap(thing, other) + FAR_M, 3))

    def _moved(self, thing: Thing, direction: tuple[float, float], metres: float) -> PlacedGoal:
        spot = (thing.position[0] + metres * direction[0], thing.position[1] + metres * direction[1])
        return self._at(thing, spot, min(PLACED_M, metres / 2))  # a move that is not made does not count as made

    def _slid(self, thing: Thing, direction: tuple[float, float], metres: float) -> Goal:
        placed = self._moved(thing, direction, metres)
        if rolls(thing, direction):
            self.note(coded("planner.rolls", name=self.meaning.name(thing.id)))
            return placed
        return SlidGoal(thing.id, placed.position, pushing.tolerance(metres))

    def _at(self, thing: Thing, spot: tuple[float, float], within: float = PLACED_M) -> PlacedGoal:
        if not all(map(math.isfinite, spot)):
            self.meaning.resolve.ask_if_moved(self.meaning.name(thing.id), self.meaning.resolve.moved)
        named = self.meaning.name(thing.id)
        self.note(coded("planner.placed", name=named, x=spot[0], y=spot[1]))
        return PlacedGoal(thing.id, (round(spot[0], 4), round(spot[1], 4)), within)

    def _between(self, ids: tuple[str, ...], nouns: tuple[NounPhrase, ...]) -> list[Goal]:
        last = self.meaning.resolve.last
        two = self.meaning.resolve.all(nouns)
        self.meaning.resolve.last = last
        if len(two) != 2:
            raise NotUnderstood("planner.between", "ambiguous")
        if len(ids) != 1 or ids[0] in two:
            raise NotUnderstood("planner.one_support", "impossible", name=self.meaning.resolve.names(two))
        thing, a, b = self._thing(ids[0]), self._thing(two[0]), self._thing(two[1])
        if gap(a, b) < max(thing.size[:2], default=0.05) + 2 * ROOM_M:
            names = self.meaning.resolve.names(two)
            raise NotUnderstood("planner.too_near", "impossible", names=names, name=self.meaning.name(thing.id))
        dx, dy = b.position[0] - a.position[0], b.position[1] - a.position[1]
        length = (dx * dx + dy * dy) ** 0.5
        ahead = (dx / length, dy / length)
        low, high = reach_along(a, ahead), length - reach_along(b, ahead)
        middle = (low + high) / 2  # of the free way, not of the centres
        return [self._at(thing, (a.position[0] + middle * ahead[0], a.position[1] + middle * ahead[1]))]

    def _region(self, id: str, table: Thing, side: str) -> Goal:
        """The middle of the table, or a third of it on that side."""
        if len(table.size) < 2:
            raise NotUnderstood("planner.no_position", "missing", where=self.meaning.name(table.id))
        if side == "middle":
            return CentreGoal(id, table.id)
        (x, y), (w, d) = table.position[:2], table.size[:2]
        low, high = [x - w / 2, y - d / 2], [x + w / 2, y + d / 2]
        ahead = axis(side, self.scene)
        k = 0 if abs(ahead[0]) > abs(ahead[1]) else 1
        span = (high[k] - low[k]) * NEAR_SHARE
        if ahead[k] > 0:
            low[k] = high[k] - span
        else:
            high[k] = low[k] + span
        label = side if self.meaning.language == "en" else _ZH[side]
        return AreaGoal(id, table.id, tuple(round(v, 4) for v in low), tuple(round(v, 4) for v in high), label)

    def _stands(self, id: str) -> bool:
        return final_support(self.meaning.resolve.places, id).relation == "on"

    def _thing(self, id: str) -> Thing:
        found = self.scene.thing(id)
        assert found is not None
        return found


_ZH = {"left": "左边", "right": "右边", "front": "前面", "behind": "后面"}
