"""What failed of one command so far: things to be tried later, elsewhere, once their neighbours are out, or no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.base.json_values import as_floats
from worldfs.base.messages import coded
from worldfs.base.model import Outcome, Scene, Vec

from . import failure_reasons, planned_actions
from .goals import Goal
from .planned_actions import PlannedAction
from .scene_facts import final_support, layout

GIVE_UP: Final = 2  # failures with one thing before the plan goes on without it


class Setbacks:
    """`protected`: things that must not be moved. A plan is made within `dig`, `abandoned`, `bad_spots` and `late`."""

    def __init__(self, protected: Sequence[str]) -> None:
        self._protected = protected
        self.refused: dict[str, int] = {}  # picks with something in the way, since the last action that succeeded
        self.dig: dict[str, tuple[str, ...]] = {}
        self.abandoned: dict[str, str] = {}
        self.bad_spots: dict[str, list[Vec]] = {}
        self.late: list[str] = []
        self.nudged: set[str] = set()
        self._failures: dict[str, int] = {}
        self._why_not_placed: dict[str, str] = {}  # at the first try
        self._useless: dict[tuple[str, Goal], int] = {}

    def failed(self, action: PlannedAction, key: str, why: str, *, certain: bool) -> bool:
        """An action with the thing or pose `key` failed; whether the command must end.

        `certain`: the same order would be refused again, so only another may be tried.
        """
        self._failures[key] = self._failures.get(key, 0) + 1
        if action.op == planned_actions.PLACE:
            why = self._why_not_placed.setdefault(key, why)  # what follows only tries to put it down somewhere
            self._mark_spot(action)
            if self._failures[key] > 2 * GIVE_UP:
                return True  # it can neither be placed nor put down: the gripper stays full, nothing else can go on
            certain = certain and "target" in action.params and action.to.relation != "in"
        elif key not in self.late:
            self.late.append(key)
        if certain or self._failures[key] >= GIVE_UP:
            self.abandoned[key] = why
        return False

    def placed_in_vain(self, action: PlannedAction, goal: Goal) -> None:
        """It lies where it was wanted, and its goal does not hold: another spot once, then no more."""
        key = (action.object, goal)
        self._useless[key] = self._useless.get(key, 0) + 1
        self._mark_spot(action)
        if self._useless[key] >= GIVE_UP:
            self.abandoned[action.object] = coded("planner.useless", n=self._useless[key])

    def postpone(self, id: str) -> bool:
        """An obstacle blocks its grasp: other things first; whether that was tried already."""
        self.refused[id] = self.refused.get(id, 0) + 1
        self.late = [*(one for one in self.late if one != id), id]
        return self.refused[id] >= GIVE_UP

    def dig_out(self, id: str, outcome: Outcome, scene: Scene) -> tuple[str, ...]:
        """Neighbours in the same container that the refusal names, to be set on the table, each once."""
        places = layout(scene)
        box = final_support(places, id)
        if box.relation != "in":
            return ()
        already = {other for others in self.dig.values() for other in others} | set(self.dig)
        stop = {*self._protected, *self.abandoned, id, *already}
        named = failure_reasons.movable_among(failure_reasons.obstructing_ids(outcome, scene), scene)
        others = tuple(o for o in named if o not in stop and o in places and final_support(places, o) == box)
        if others:
            self.dig[id] = (*self.dig.get(id, ()), *others)
        return others

    def give_up(self, id: str, why: str) -> None:
        """It cannot be had, nor what it was lifted out for."""
        self.abandoned[id] = why
        for other, neighbours in self.dig.items():
            if id in neighbours and self.refused.get(other, 0) >= GIVE_UP:
                self.abandoned.setdefault(other, why)

    def _mark_spot(self, action: PlannedAction) -> None:
        self.bad_spots.setdefault(action.object, []).append(tuple(as_floats(action.params["target_position"])))
