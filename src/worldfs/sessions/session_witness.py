"""What a session's target was seen to do: by that a success is held, and not by the word of a package's code.

A success counts if the target's own judge said so in the last step, and no reset followed, or if an operation that the
target carried out itself is one that its scene shows. Where an order names an object, another one that was moved in its
place is none. What a reset places was moved by no step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Final, cast

from worldfs.base.driver import Run
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Json, Order, Outcome, Scene, Thing
from worldfs.base.model.skill import REAL
from worldfs.base.order_parameters import given_parameter
from worldfs.base.plugin_calls import CheckedPlugin
from worldfs.base.plugin_nouns import plugin_failure
from worldfs.base.plugin_values import WrongValue
from worldfs.planning.outcome_judge import Observed, judge
from worldfs.robots import displacements
from worldfs.robots.targets.target_adapter import Observation, StepResult, TargetAdapter
from worldfs.skills.skill_runtime import SkillRequest, SkillRuntime

from .lent_target import Asked, LentTarget, at_once
from .session_words import MOST_NAMED, THINGS, things_named, things_written

OBSERVING: Final = frozenset({"reset", "observe"})  # answer with an observation
SAID: Final = 5  # things that a message names
BESIDE_M: Final = 0.1  # from a thing's edge: what is brought there is at it


class SessionWitness:
    """One session. `target` is what its skill is given: the adapter itself, or one that is lent for the session and
    whose answers are heard here."""

    def __init__(
        self,
        request: SkillRequest,
        adapter: TargetAdapter,
        runtime: SkillRuntime,
        run: Run,
        ask: Asked = at_once,
    ) -> None:
        self._adapter = adapter
        self._foreign = isinstance(adapter, CheckedPlugin), isinstance(runtime, CheckedPlugin)
        self._shown = False  # something that is no word of the skill has shown its success
        self._odd: WrongValue | None = None  # numbers of a package's target that are not as it declares them
        declared = adapter.observations() if self._foreign[0] else {}
        self._vectors = {name: shape for name, (shape, _) in declared.items() if len(shape) == 1}
        request = replace(request, params=deepcopy(request.params))  # the skill may change its own
        sees = adapter.target.kind != REAL
        self._named = given_parameter(request.params, THINGS)[1] if sees else None
        elsewhere = sees and self._named is None and (bool(request.params) or bool(request.words.strip()))
        self._looks = self._named is not None or elsewhere or self._foreign[0]
        self._before = adapter.scene() if self._looks else Scene()
        self._written = things_written(request, self._before) if elsewhere else []
        self._lent = LentTarget(adapter, run, self._hear, ask, self._begin) if any(self._foreign) else None
        self.target = adapter if self._lent is None else self._lent.target
        self.begin: Asked = self._begin if self._lent is None else at_once  # makes a reset of `target`

    def end(self) -> None:
        """The session is over: what its skill holds moves nothing any more."""
        if self._lent is not None:
            self._lent.end()

    def _begin(self, reset: Callable[[], object]) -> object:
        """A new episode: nothing of the one before shows a success, and what the reset places was not moved."""
        self._shown = False
        if not self._looks:
            return reset()
        left = self._adapter.scene()
        answer = reset()
        self._before = placed_anew(self._before, left, self._adapter.scene())
        return answer

    def _hear(self, method: str, args: tuple[object, ...], answer: object) -> None:
        if isinstance(answer, StepResult):
            self._hold_shapes(method, answer.observation)
        elif method in OBSERVING:
            self._hold_shapes(method, cast("Observation", answer))
        if isinstance(answer, StepResult):
            self._shown = answer.success is True
        elif method == "carry_out" and isinstance(answer, Outcome):
            self._shown = answer.ok and (not self._foreign[0] or self._holds(args[0]))

    def _hold_shapes(self, method: str, seen: Observation) -> None:
        for name, shape in self._vectors.items():
            if name in seen and seen[name].shape != shape:
                path = f"{self._adapter.target.id} {method} {name}"
                self._odd = WrongValue(str(seen[name].shape), path=path, expected=str(shape))
                raise self._odd

    def _holds(self, order: object) -> bool:
        """Whether the target's scene shows what an operation of its own was to do."""
        if not isinstance(order, Order):
            return False
        own = replace(order, node=self._adapter.target.id)
        after = self._adapter.scene()
        return judge(own, Observed(self._before, after, after)).holds is True

    def settled(self, outcome: Outcome) -> Outcome:
        """The skill's outcome as it was seen."""
        if outcome.ok and self._odd is not None:  # the skill has gone on all the same
            return plugin_failure(self._odd)
        if self._foreign[1]:
            real = self._adapter.target.kind == REAL
            said: Json = {"evidence_class": "real" if real else "sim", "said": outcome.evidence}
            outcome = replace(outcome, evidence=said)
        if not outcome.ok:
            return outcome
        if any(self._foreign) and not self._shown:
            why = coded("world.unmeasured", said=outcome.message)
            return Outcome.failure(Cause.UNMEASURED, "UNMEASURED", why, evidence=outcome.evidence)
        named = self._named
        if named is None:
            return self._of_written(outcome)
        after = self._adapter.scene()
        if instead := moved_instead(named, self._before, after):
            why = coded("session.other_moved", named=str(named)[:80], moved=instead)
            evidence = {**outcome.evidence, "expected": {"moved": str(named)[:80]}, "observed": {"moved": instead}}
            return Outcome.failure(Cause.ERROR, "CONTRADICTED", why, evidence=evidence)
        if gone := things_gone(named, self._before, after):
            why = coded("session.thing_gone", named=gone)
            return Outcome.failure(Cause.UNMEASURED, "UNMEASURED", why, evidence=outcome.evidence)
        if changed := others_changed(named, self._before, after):
            why = coded("session.others_changed", named=str(named)[:80], changed=changed[:SAID])
            return Outcome.failure(Cause.UNMEASURED, "UNMEASURED", why, evidence=outcome.evidence)
        return outcome

    def _of_written(self, outcome: Outcome) -> Outcome:
        """The outcome of a session that names things, but no parameter says which of them it handles."""
        if not self._written:
            return outcome
        if not (moved := moved_besides(self._written, self._before, self._adapter.scene())):
            return outcome
        why = coded("session.other_moved", named=", ".join(self._written[:SAID]), moved=moved[:SAID])
        return Outcome.failure(Cause.UNMEASURED, "UNMEASURED", why, evidence=outcome.evidence)


def placed_anew(before: Scene, left: Scene, now: Scene) -> Scene:
    """The scene that an episode is compared with, after a reset that found `left` and gave `now`. What the reset left
    where it was is where it was `before`: what was moved until then stays moved."""
    objects = _placed_anew(before.objects, left.objects, now.objects)
    return replace(now, objects=objects, furniture=_placed_anew(before.furniture, left.furniture, now.furniture))


def _placed_anew(before: Sequence[Thing], left: Sequence[Thing], now: Sequence[Thing]) -> tuple[Thing, ...]:
    was, found, stands = ({thing.id: thing for thing in things} for things in (before, left, now))
    poses = (displacements.object_poses(things) for things in (left, now))
    placed = {line["id"] for line in displacements.displacements(*poses)} | stands.keys() ^ found.keys()
    kept = (thing for id, thing in was.items() if id not in placed)  # also what was gone before the reset
    return (*kept, *(thing for id, thing in stands.items() if id in placed))


def things_gone(named: object, before: Scene, after: Scene) -> list[str]:
    """Those of the named things that are nowhere after, of a target that lists its things: nothing shows what became
    of them, or that they were ever there."""
    there = {thing.id for thing in (*after.objects, *after.furniture)} | {robot.holding for robot in after.robots}
    known = things_named(named, before) or things_named(named, after)
    return [id for id in known if id not in there] if known or not before.objects else [str(named)[:80]]


def moved_instead(named: object, before: Scene, after: Scene) -> list[str]:
    """The things that were moved where a named one was not, nor is held. What a piece of furniture takes along is
    none."""
    moved = displacements.displacements(*(displacements.object_poses(one.objects) for one in (before, after)))
    ids = [line["id"] for line in moved]
    return ids if ids and _untouched(named, ids, before, after) else []


def moved_besides(written: Sequence[str], before: Scene, after: Scene) -> list[str]:
    """The things that were moved where none of these ids was, nor is held, nor had one of them brought to it: a name
    may also say where to."""
    moved = displacements.displacements(*(displacements.object_poses(one.objects) for one in (before, after)))
    ids = [line["id"] for line in moved]
    if not ids or not _untouched([written], ids, before, after):
        return []
    pairs = [(after.thing(id), after.thing(goal)) for id in ids for goal in written]
    return [] if any(one and goal and _is_at(one, goal) for one, goal in pairs) else ids


def _is_at(thing: Thing, goal: Thing) -> bool:
    if len(thing.position) < 2 or len(goal.position) < 2:
        return True
    reach = BESIDE_M + sum(math.hypot(*one.size[:2]) / 2 for one in (thing, goal))
    return math.dist(thing.position[:2], goal.position[:2]) <= reach


def others_changed(named: object, before: Scene, after: Scene) -> list[str]:
    """The things that came or went where a named one was not moved, nor is held: one of them may have been moved in its
    place. A target that listed nothing before shows nothing by that."""
    earlier, later = ({thing.id for thing in (*one.objects, *one.furniture)} for one in (before, after))
    named_ids = {*things_named(named, before), *things_named(named, after)}
    moved = displacements.displacements(*(displacements.object_poses(one.objects) for one in (before, after)))
    found = sorted((earlier ^ later) - named_ids) if before.objects else []
    return found if found and _untouched(named, [line["id"] for line in moved], before, after) else []


def _untouched(named: object, moved: Sequence[str], before: Scene, after: Scene) -> bool:
    """Whether one of the named things, be it one or a list, was neither moved nor held. A piece of furniture counts as
    moved: what it takes along moves, and it may not."""
    touched = {*moved, *(robot.holding for robot in (*before.robots, *after.robots))}
    touched |= {piece.id for piece in before.furniture}
    each = named if isinstance(named, list | tuple) else (named,)
    return any(not touched.intersection(things_named(one, before)) for one in each[:MOST_NAMED])
