"""What a session's target was seen to do: by that a success is held, and not by the word of a package's code.

A success counts if the target's own judge said so in the last step, or if an operation that the target carried out
itself is one that its scene shows. Where an order names an object, another one that was moved in its place is none.
"""

from __future__ import annotations

from dataclasses import replace

from worldfs.base.driver import Run
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Json, Order, Outcome, Scene
from worldfs.base.model.skill import REAL
from worldfs.base.order_parameters import given_parameter
from worldfs.base.plugin_calls import CheckedPlugin
from worldfs.planning.outcome_judge import Observed, judge
from worldfs.robots import displacements
from worldfs.robots.targets.target_adapter import StepResult, TargetAdapter
from worldfs.skills.skill_runtime import SkillRequest, SkillRuntime

from .lent_target import LentTarget
from .session_words import THINGS, things_named


class SessionWitness:
    """One session. `target` is what its skill is given: the adapter itself, or one that is lent for the session and
    whose answers are heard here."""

    def __init__(self, request: SkillRequest, adapter: TargetAdapter, runtime: SkillRuntime, run: Run) -> None:
        self._adapter = adapter
        self._foreign = isinstance(adapter, CheckedPlugin), isinstance(runtime, CheckedPlugin)
        self._shown = False  # something that is no word of the skill has shown its success
        self._named = given_parameter(request.params, THINGS)[1] if adapter.target.kind != REAL else None
        self._before = adapter.scene() if self._named is not None or self._foreign[0] else Scene()
        self._lent = LentTarget(adapter, run, self._hear) if any(self._foreign) else None
        self.target = adapter if self._lent is None else self._lent.target

    def end(self) -> None:
        """The session is over: what its skill holds moves nothing any more."""
        if self._lent is not None:
            self._lent.end()

    def _hear(self, method: str, args: tuple[object, ...], answer: object) -> None:
        if isinstance(answer, StepResult):
            self._shown = answer.success is True
        elif method == "carry_out" and isinstance(answer, Outcome):
            self._shown = answer.ok and (not self._foreign[0] or self._holds(args[0]))

    def _holds(self, order: object) -> bool:
        """Whether the target's scene shows what an operation of its own was to do."""
        if not isinstance(order, Order):
            return False
        own = replace(order, node=self._adapter.target.id)
        after = self._adapter.scene()
        return judge(own, Observed(self._before, after, after)).holds is True

    def settled(self, outcome: Outcome) -> Outcome:
        """The skill's outcome as it was seen."""
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
            return outcome
        after = self._adapter.scene()
        if instead := moved_instead(named, self._before, after):
            why = coded("session.other_moved", named=str(named)[:80], moved=instead)
            evidence = {**outcome.evidence, "expected": {"moved": str(named)[:80]}, "observed": {"moved": instead}}
            return Outcome.failure(Cause.ERROR, "CONTRADICTED", why, evidence=evidence)
        if gone := things_gone(named, self._before, after):
            why = coded("session.thing_gone", named=gone)
            return Outcome.failure(Cause.UNMEASURED, "UNMEASURED", why, evidence=outcome.evidence)
        return outcome


def things_gone(named: object, before: Scene, after: Scene) -> list[str]:
    """Those of the named things that are nowhere after, of a target that lists its things: nothing shows what became
    of them, or that they were ever there."""
    there = {thing.id for thing in (*after.objects, *after.furniture)} | {robot.holding for robot in after.robots}
    known = things_named(named, before) or things_named(named, after)
    return [id for id in known if id not in there] if known or not before.objects else [str(named)[:80]]


def moved_instead(named: object, before: Scene, after: Scene) -> list[str]:
    """The things that were moved where none of the named ones was, nor is held. What a piece of furniture takes along
    is none."""
    ids = {*things_named(named, before)}
    held = {robot.holding for robot in (*before.robots, *after.robots)}
    if ids & (held | {piece.id for piece in before.furniture}):
        return []
    moved = displacements.displacements(*(displacements.object_poses(one.objects) for one in (before, after)))
    found = [line["id"] for line in moved]
    return [] if ids & set(found) else found
