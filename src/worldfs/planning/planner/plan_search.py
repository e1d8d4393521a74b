"""The task planner: A* over moves of single things, with every constructive move taken at once.

A move picks the uppermost thing of a stack and sets it down. A move that brings a thing to its final place is always
part of some shortest plan, so the search branches only over what must be set aside; beyond its budget it sets aside
the first that it can, which still reaches every goal that can be reached (blocks world: Gupta and Nau 1992).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from .scene_facts import ThingLocation

BUDGET = 3000  # states opened before the search settles for a plan that is not the shortest


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """Bring `object` to `to`; `final` when that meets its goal, else it is only set aside."""

    object: str
    to: ThingLocation
    final: bool


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    """`places`: what is where. `want`: goal place of each thing; a place on furniture or in a box is always free.

    `met`: things whose goal holds as they lie. `free_top`: things wanted uncovered (to be held). `fixed_things`: never
    touched. `aside`: where things are set aside, by the thing that they are on; "" the default. `after`: a thing's goal
    can only be met when those others are in place. `beside`: things that come beside what is on their support.
    """

    places: Mapping[str, ThingLocation]
    want: Mapping[str, ThingLocation]
    met: frozenset[str] = frozenset()
    free_top: tuple[str, ...] = ()
    untouchable: frozenset[str] = frozenset()
    aside: str = ""
    order: tuple[str, ...] = ()
    after: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()


@dataclass(slots=True)
class SearchState:
    places: dict[str, ThingLocation]
    met: frozenset[str]

    def key(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(sorted((id, w.relation, w.of) for id, w in self.places.items()))

    def covers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for id, spot in self.places.items():
            if spot.relation == "on" and spot.of in self.places:
                found.setdefault(spot.of, []).append(id)
        return found


def circular_goals(want: Mapping[str, ThingLocation]) -> set[str]:
    """Things whose goals form a cycle: a on b, b on a."""
    bad: set[str] = set()
    for start in want:
        seen, at = [start], want[start]
        while at.relation == "on" and at.of in want and at.of not in seen:
            seen.append(at.of)
            at = want[at.of]
        if at.relation == "on" and at.of == start:
            bad |= set(seen)
    return bad


def unreachable_goals(problem: PlacementProblem) -> dict[str, str]:
    """Goal things that cannot be brought there → the obstacle (or "circle")."""
    covers = SearchState(dict(problem.places), problem.met).covers()
    bad: dict[str, str] = dict.fromkeys(circular_goals(problem.want), "circle")

    def blocker(id: str, allowed: str = "") -> str:
        """Something not to be touched in the stack above a thing."""
        for upper in covers.get(id, ()):
            if upper != allowed and upper in problem.untouchable:
                return upper
            if found := blocker(upper):
                return found
        return ""

    for id in (*problem.want, *problem.free_top):
        if id in bad or id in problem.met:
            continue
        if id in problem.untouchable:
            bad[id] = id
        elif (found := blocker(id)) or (
            (spot := problem.want.get(id))
            and spot.relation == "on"
            and spot.of in problem.places
            and id not in problem.beside
            and (found := blocker(spot.of, id))
        ):
            bad[id] = found
    grown = True
    while grown:  # a thing whose support cannot reach its own place may still be placed on it; but not in a cycle
        grown = False
        for id, needs in problem.after.items():
            if id not in bad and any(n in bad and n not in problem.met for n in needs):
                bad[id], grown = next(n for n in needs if n in bad), True
    return bad


def search_moves(problem: PlacementProblem, budget: int = BUDGET) -> list[PlannedMove]:
    """The moves, in order, without the goals named by `unreachable_goals`. Raises ValueError when stuck."""
    start = SearchState(dict(problem.places), problem.met)
    first, start = _constructive(start, problem)
    order = count()
    heap = [(_estimate(start, problem), 0, next(order), start, first)]
    seen: set[tuple[tuple[str, str, str], ...]] = set()
    opened = 0
    while heap:
        _, _, _, state, moves = heapq.heappop(heap)
        if not _open(state, problem):
            return moves
        key = state.key()
        if key in seen:
            continue
        seen.add(key)
        opened += 1
        options = _aside(state, problem)
        if opened > budget:
            heap, options = [], options[:1]
        for move in options:
            more, after = _constructive(_apply(state, move), problem)
            path = [*moves, move, *more]
            # of equal totals the deeper first: the estimate is exact but for what must be set aside
            heapq.heappush(heap, (len(path) + _estimate(after, problem), -len(path), next(order), after, path))
    raise ValueError("no sequence of moves reaches the goals")


def _disturbed(state: SearchState, problem: PlacementProblem) -> tuple[set[str], set[str]]:
    """(things that must still reach a goal, things that must be out of the way)."""
    todo = {id for id in problem.want if id in state.places and id not in state.met}
    covers = state.covers()
    out: set[str] = set()
    stack = [up for id in (*todo, *problem.free_top) for up in covers.get(id, ())]
    for id in todo:
        want = problem.want[id]
        if want.relation == "on" and want.of in state.places and id not in problem.beside:
            stack += [up for up in covers.get(want.of, ()) if up != id]
    while stack:
        id = stack.pop()
        if id not in out:
            out.add(id)
            stack += covers.get(id, ())
    return todo, out


def _open(state: SearchState, problem: PlacementProblem) -> bool:
    todo, out = _disturbed(state, problem)
    held = next((id for id, w in state.places.items() if w.relation == "held"), "")
    return bool(todo or out) or bool(held and problem.free_top and held not in problem.free_top)


def _estimate(state: SearchState, problem: PlacementProblem) -> int:
    todo, out = _disturbed(state, problem)
    return len(todo | out)


def _clear(id: str, covers: Mapping[str, Sequence[str]]) -> bool:
    return not covers.get(id)


def _apply(state: SearchState, move: PlannedMove) -> SearchState:
    places = dict(state.places)
    places[move.object] = move.to
    return SearchState(places, state.met | {move.object} if move.final else state.met - {move.object})


def _hand(state: SearchState) -> str:
    return next((id for id, spot in state.places.items() if spot.relation == "held"), "")


def _constructive(state: SearchState, problem: PlacementProblem) -> tuple[list[PlannedMove], SearchState]:
    """Every move to a final place that can be made now, one after the other."""
    moves: list[PlannedMove] = []
    rank = {id: n for n, id in enumerate(problem.order)}
    while True:
        todo, out = _disturbed(state, problem)
        covers, hand = state.covers(), _hand(state)
        ready = [
            id
            for id in todo
            if (not hand or hand == id) and _clear(id, covers) and _ready(id, problem, state, covers, todo | out)
        ]
        if not ready:
            return moves, state
        id = min(ready, key=lambda one: (rank.get(one, len(rank)), one))
        move = PlannedMove(id, problem.want[id], True)
        moves.append(move)
        state = _apply(state, move)


def _ready(
    id: str, problem: PlacementProblem, state: SearchState, covers: Mapping[str, Sequence[str]], busy: set[str]
) -> bool:
    """Is its place final: support in place and uncovered, and its neighbours settled?"""
    if any(other in busy for other in problem.after.get(id, ())):
        return False
    want = problem.want[id]
    if want.relation != "on" or want.of not in state.places:
        return True
    under = want.of
    return under not in busy and (id in problem.beside or not [up for up in covers.get(under, ()) if up != id])


def _aside(state: SearchState, problem: PlacementProblem) -> list[PlannedMove]:
    """Things to set aside: the held one, else uppermost things that are in the way or in a deadlock."""
    hand = _hand(state)
    spot = ThingLocation("on", problem.aside)
    if hand:
        return [PlannedMove(hand, spot, False)]
    todo, out = _disturbed(state, problem)
    covers = state.covers()
    rank = {id: n for n, id in enumerate(problem.order)}
    loose = [id for id in todo | out if _clear(id, covers) and id not in problem.untouchable]
    # setting a thing aside again gains nothing
    found = [id for id in loose if state.places[id] != spot or (id in out and state.places[id].of in state.places)]
    return [
        PlannedMove(id, spot, False) for id in sorted(found, key=lambda one: (one not in out, rank.get(one, 99), one))
    ]
