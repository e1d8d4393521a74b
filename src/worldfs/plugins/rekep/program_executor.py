"""The executor of a program: stage by stage, closed loop, back to an earlier stage where a path constraint breaks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from worldfs.base.driver import Run
from worldfs.base.model import Json
from worldfs.robots.mujoco.panda import GRIP_ROOM, MAX_GRIP
from worldfs.robots.rotations import Pose, angle_between

from . import grasp_sampling
from .allowed_functions import ConstraintError
from .constraint_function import ConstraintFunction
from .constraint_program import ConstraintProgram, ProgramStage
from .end_effector import EndEffector, ExecutionHalted, MotionRequest, PlannedMotion, SceneSnapshot
from .keypoints import Keypoint
from .stage_costs import KeypointState, costs_json, violation, worst_constraint
from .subgoal_solver import solve
from .success_predicates import SuccessPredicate

TRIES = 3  # of one stage
BACKS = 4  # ways back in all
MEASURED = 0.008  # how far a measured cost may be above its slack: what a motion leaves (m)
LIVE = 5  # checks of the stop flag between two checks of the keypoints: 100 ms
APPROACHES = (0.12, 0.06)  # m straight down to where something is let go of
GRIPS = 30  # grasps for which a way is planned
AGAIN = 5.0  # how much dearer what failed before is


@dataclass(slots=True)
class ExecutionLimits:
    """`slack`: costs up to it count as satisfied; `stage_s`: of one stage, 0 for none; tries, ways back."""

    slack: float = 0.0
    stage_s: float = 0.0
    tries: int = TRIES
    backs: int = BACKS


@dataclass(frozen=True, slots=True)
class StageResult:
    """The result of a stage, or of all; `code` "" for success. `back`: an earlier stage is to be done again."""

    code: str = ""
    message: str = ""
    back: bool = False


@dataclass(slots=True)
class ProgramExecutor:
    """One program on one end effector. `on_observation` is called for each observed moment, `step` after a stage."""

    program: ConstraintProgram
    points: tuple[Keypoint, ...]
    effector: EndEffector
    run: Run
    limits: ExecutionLimits
    on_observation: Callable[[SceneSnapshot, float], None] = lambda state, now: None
    step: Callable[[], None] = lambda: None
    predicates: Callable[[], list[SuccessPredicate]] = list
    stages: list[Json] = field(default_factory=list)  # evidence, a line an attempt
    backtracks: list[Json] = field(default_factory=list)
    measured: list[SuccessPredicate] = field(default_factory=list)
    moved: bool = False  # anything has moved
    _rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(11))
    _watched: Sequence[ConstraintFunction] = ()
    _ticks: int = 0
    _broken: str = ""
    _until: float = 0.0
    _failed: list[Pose] = field(default_factory=list)  # tool poses that failed: others are tried first
    _goal: Pose | None = None
    _trouble: ConstraintError | None = None

    def carry_out(self) -> StageResult:
        """Runs all stages and checks the predicates; returns the result. Raises `ExecutionHalted` on a stop."""
        self.effector.begin(self._stop)
        number, tries = 0, [0] * len(self.program.stages)
        while True:
            if number == len(self.program.stages):
                self.measured = self.predicates()
                failed = [one for one in self.measured if not one.ok]
                if not failed:
                    return StageResult()
                if failed[0].name == "seen":  # to do it again would show no more
                    return StageResult("NOT_MEASURED", f"all stages are done, and {failed[0].limit} is missing")
                ended = StageResult(
                    "NOT_DONE", f"{failed[0].name} is {failed[0].to_json()['value']}, expected {failed[0].limit}", True
                )
                number -= 1
            else:
                tries[number] += 1
                ended = self._stage(number, tries[number])
                self.step()
                if not ended.code:
                    number += 1
                    continue
            goal = self._before(number) if ended.back else number
            if (
                goal is None
                or (not ended.back and tries[number] >= self.limits.tries)
                or ended.code == "CRITIC_REFUSED"
            ):
                return ended
            if ended.back:
                if len(self.backtracks) >= self.limits.backs:
                    return ended
                self.backtracks.append({"from": number + 1, "to": goal + 1, "why": ended.message})
                tries[goal:] = [0] * (len(tries) - goal)
            number = goal

    # -- one stage ---------------------------------------------------------------------------------------------------

    def _stage(self, number: int, attempt: int) -> StageResult:
        step = self.program.stages[number]
        clock = self.run.clock
        self._until = clock.monotonic() + self.limits.stage_s if self.limits.stage_s else 0.0
        self.effector.update_scene()
        state, began = self.effector.now(), self.effector.seconds()
        keypoint_state = KeypointState(self.points, state, state.held, lambda steps: self._going())
        record: Json = {"stage": number + 1, "attempt": attempt, "keypoints_before": _rounded(keypoint_state.now)}
        self.stages.append(record)
        try:
            ended = (
                self._grasp(step, keypoint_state, record)
                if step.grasp >= 0
                else self._reach(step, keypoint_state, record, number)
            )
        except ExecutionHalted as halt:
            record["result"] = halt.why
            if self._trouble is not None:
                raise self._trouble from None
            if halt.why != "broken":
                raise
            ended = StageResult("PATH_CONSTRAINT_BROKEN", f"stage {number + 1}: {self._broken}", True)
        finally:
            self._watched, self._broken = (), self._broken
            after = self.effector.now()
            record["keypoints_after"] = _rounded(KeypointState(self.points, after, after.held).now)
            hand = [float(v) for v in after.tool_pose.position]
            record["hand_after"] = [round(v, 4) if math.isfinite(v) else None for v in hand]
            record["seconds"] = round(self.effector.seconds() - began, 3)
        record["result"] = ended.code or "done"
        if ended.code:
            record["why"] = ended.message
            if self._goal is not None:
                self._failed.append(self._goal)
        self._goal = None
        return ended

    def _grasp(self, step: ProgramStage, keypoint_state: KeypointState, record: Json) -> StageResult:
        owner = self.points[step.grasp].owner
        record["grasp"] = owner
        if keypoint_state.state.held == owner:
            record["note"] = "held already"
            return StageResult()
        if keypoint_state.state.held is not None:
            return StageResult("HOLDING", f"the gripper holds {keypoint_state.state.held}")
        if why := self.effector.come_free():
            return StageResult("CRITIC_REFUSED", f"no grasp of {owner}: {why}")
        found = plan_grasp(
            step,
            keypoint_state,
            self.points,
            self.effector,
            slack=self.limits.slack,
            going=self._going,
            failed=self._failed,
        )
        if isinstance(found, str):
            return StageResult("CRITIC_REFUSED", f"no grasp of {owner}: {found}")
        way, self._goal = found.way, found.pose
        record["costs_planned"] = costs_json(step.subgoals, found.costs)
        self.effector.open(found.opening)
        self._go(step, way)
        if not self.effector.close(owner):
            touched = self.effector.measure(owner).touching
            self.effector.back_off(way)
            return StageResult(
                "GRASP_MISSED", f"the fingers closed beside {owner}, which touches {sorted(touched or ())}"
            )
        state = self.effector.now()
        costs = KeypointState(self.points, state, state.held).costs(step.subgoals, state.tool_pose)
        record["costs"] = costs_json(step.subgoals, costs)
        return StageResult()

    def _reach(self, step: ProgramStage, keypoint_state: KeypointState, record: Json, number: int) -> StageResult:
        held = keypoint_state.state.held
        letting = step.release >= 0
        if letting:
            record["release"] = self.points[step.release].owner
        if letting and held != self.points[step.release].owner:
            return StageResult("OBJECT_LOST", f"stage {number + 1}: {record['release']} is not in the gripper", True)
        way: PlannedMotion | None = None
        if step.subgoals:
            way, costs, why = self._way(step, keypoint_state, letting)
            if way is None:
                slipped = held is None and any(s.grasp >= 0 for s in self.program.stages[:number])
                return StageResult(
                    "OBJECT_LOST" if slipped else "CRITIC_REFUSED", f"stage {number + 1}: {why}", slipped
                )
            record["costs_planned"] = costs_json(step.subgoals, costs)
            self._go(step, way, 0.45 if self.backtracks else 1.0)
        if step.dwell:
            self._watched = step.paths
            self.effector.wait(step.dwell)
            self._watched = ()
        state = self.effector.now()
        live = KeypointState(self.points, state, state.held)
        costs, paths = live.costs(step.subgoals, state.tool_pose), live.costs(step.paths, state.tool_pose)
        record["costs"], record["path_costs"] = costs_json(step.subgoals, costs), costs_json(step.paths, paths)
        slack = self.limits.slack + MEASURED
        if broken := worst_constraint(step.paths, paths, slack):
            return StageResult("PATH_CONSTRAINT_BROKEN", f"{broken} at the end of stage {number + 1}", True)
        if broken := worst_constraint(step.subgoals, costs, slack):
            return StageResult("SUBGOAL_NOT_REACHED", f"{broken} is {max(costs):.4f} at the end of stage {number + 1}")
        if letting and held is not None:
            self.effector.let_go(way or [], held)
        return StageResult()

    def _way(
        self, step: ProgramStage, keypoint_state: KeypointState, letting: bool
    ) -> tuple[PlannedMotion | None, Sequence[float], str]:
        held = keypoint_state.state.held
        slack = self.limits.slack
        found, least = solve(
            step.subgoals, keypoint_state, self.effector, slack=slack, rng=self._rng, low=letting, going=self._going
        )
        if not found:
            if least > slack:
                return None, (), f"no tool pose satisfies its subgoals (by {least:.4f} at best)"
            return None, (), "no joint angles reach a tool pose that satisfies its subgoals"
        check = _checker(step, keypoint_state, slack)
        depart = held is not None and self.effector.touches(held)
        why = ""
        found.sort(key=lambda solution: solution.effort + AGAIN * _near(solution.pose, self._failed))
        for solution in found[:14]:
            self._going()
            for down in APPROACHES if letting else (0.0,):
                approach = np.array([0.0, 0.0, -down]) if down else None
                way = self.effector.plan(MotionRequest(solution.pose, check, approach, None, held, (), depart))
                if not isinstance(way, str):
                    self._goal = solution.pose
                    return way, solution.costs, ""
                why = why or way
        return None, (), why

    def _go(self, step: ProgramStage, way: PlannedMotion, pace: float = 1.0) -> None:
        self._watched, self._ticks, self._broken = step.paths, 0, ""
        self.moved = True
        self.effector.go(way, pace)
        self._watched = ()

    # -- watching ----------------------------------------------------------------------------------------------------

    def _going(self) -> None:
        self.effector.alive()
        if why := self._late():
            raise ExecutionHalted(why)

    def _late(self) -> str:
        why = self.run.stop
        return why or ("timeout" if self._until and self.run.clock.monotonic() >= self._until else "")

    def _stop(self) -> str:
        """Called 50 times a second of the world's time while the arm moves."""
        if why := self._late():
            return why
        self._ticks += 1
        if self._ticks % LIVE:
            return ""
        state = self.effector.now()
        self.on_observation(state, self.effector.seconds())
        if not self._watched:
            return ""
        try:
            costs = KeypointState(self.points, state, state.held).costs(self._watched, state.tool_pose)
        except ConstraintError as error:  # the arm must stand still before the failure is reported
            self._trouble = error
            return "refused"
        now, before = worst_constraint(self._watched, costs, self.limits.slack + MEASURED), self._broken
        self._broken = now
        return "broken" if now and before else ""  # twice: one contact may flicker

    def _before(self, number: int) -> int | None:
        """The latest earlier stage whose own path constraints hold now; None: there is none to go back to."""
        state = self.effector.now()
        keypoint_state = KeypointState(self.points, state, state.held)
        for earlier in range(number - 1, -1, -1):
            paths = self.program.stages[earlier].paths
            costs = keypoint_state.costs(paths, state.tool_pose)
            if not worst_constraint(paths, costs, self.limits.slack + MEASURED):
                return earlier
        return None


@dataclass(frozen=True, slots=True)
class PlannedGrasp:
    """A grasp with its way; `opening` m a finger."""

    way: PlannedMotion
    opening: float
    pose: Pose
    costs: Sequence[float]


def plan_grasp(
    step: ProgramStage, keypoint_state: KeypointState, points: Sequence[Keypoint], effector: EndEffector, *,
    slack: float, going: Callable[[], None],
    failed: Sequence[Pose] = (),
) -> PlannedGrasp | str:  # fmt: skip
    """The easiest grasp that satisfies a stage and has a way, those that failed before last; else why there is none."""
    owner = points[step.grasp].owner
    thing = keypoint_state.state.things.get(owner)
    if thing is None or len(thing.size) != 3:
        return f"{owner or 'a point of the world'} cannot be grasped"
    if above := effector.riders(owner):
        return f"{', '.join(above)} rests on it or leans on it: take that away first"
    narrow = grasp_sampling.narrowest(thing)
    if narrow > MAX_GRIP:
        return f"it is {narrow:.4f} m wide where it is narrowest, and the fingers go round {MAX_GRIP} m"
    ranked: list[tuple[float, grasp_sampling.GraspCandidate, list[float]]] = []
    point = keypoint_state.now[step.grasp]
    least = np.inf
    for one in grasp_sampling.grasp_candidates(thing, keypoint_state.state.base, step.approach):
        costs = keypoint_state.costs(step.subgoals, one.pose)
        off = violation(costs, slack + MEASURED)
        least = min(least, off)
        if off > 0:
            continue
        going()
        effort = effector.effort(one.pose)
        if effort is not None:
            aside = float(np.linalg.norm(one.pose.position[:2] - point[:2]))
            again = AGAIN * _near(one.pose, failed)
            ranked.append((effort + one.cost + aside + again, one, costs))
    if not ranked:
        if not least:
            return "no joint angles reach a grasp of it"
        return f"none satisfies its subgoals (by {least:.4f} at best)"
    check = _checker(step, keypoint_state, slack)
    why = ""
    for _, one, costs in sorted(ranked, key=lambda item: item[0])[:GRIPS]:
        going()
        for opening in (effector.stroke, one.width / 2 + 0.008):
            if opening > effector.stroke or opening < one.width / 2 + GRIP_ROOM - 1e-9:
                continue
            way = effector.plan(MotionRequest(one.pose, check, one.approach, opening))
            if not isinstance(way, str):
                return PlannedGrasp(way, opening, one.pose, costs)
            why = why or way
    return why


def _near(pose: Pose, failed: Sequence[Pose]) -> bool:
    return any(
        float(np.linalg.norm(pose.position - other.position)) < 0.02
        and angle_between(pose.rotation, other.rotation) < 0.3
        for other in failed
    )


def _checker(step: ProgramStage, keypoint_state: KeypointState, slack: float) -> Callable[[Pose], str]:
    if not step.paths:
        return lambda pose: ""
    return lambda pose: worst_constraint(step.paths, keypoint_state.costs(step.paths, pose), slack)


def _rounded(values: Iterable[Iterable[float]]) -> list[list[float]]:
    return [[round(float(v), 4) + 0.0 if np.isfinite(v) else -1.0 for v in row] for row in values]
