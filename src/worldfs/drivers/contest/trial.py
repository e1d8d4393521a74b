"""One trial: a contestant in one world, judged by what the world is like afterwards and by nothing that it says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.drivers.mujoco import task_predicates
from worldfs.drivers.policies.policy_client import PolicyError
from worldfs.drivers.skills.skill_runtime import SkillContext, SkillRequest, SkillRuntime, Watcher
from worldfs.drivers.targets.tabletop_target import TabletopTarget
from worldfs.drivers.targets.target_adapter import TargetContext
from worldfs.ground.clock import SystemClock
from worldfs.ground.driver import Run
from worldfs.ground.errors import UserError
from worldfs.ground.model import Cause, Json, Outcome, Target
from worldfs.ground.model.skill import SIM

from .benchmark_methods import BenchmarkMethod
from .disturbance import Disturbance
from .score import ATTEMPTS
from .task_families import TrialGoal, TrialScenario, make_scenario

if TYPE_CHECKING:
    from worldfs.drivers.mujoco.arm import Arm

WALL_S: Final = 180.0  # of one trial
REST_S: Final = 0.5  # in which the world comes to rest before it is judged
SINKS: Final = 0.02  # m that an arm may come down when it stops on the way up
LOOK_EVERY: Final = 25  # physics steps between two looks of what disturbs: 20 Hz


class Trial(NamedTuple):
    """What is to be tried: whoever, a family, a seed."""

    contestant: BenchmarkMethod
    family: str
    seed: int


class TrialResult(NamedTuple):
    """What came of it. `sim_s`: simulated seconds; `reached`: goals that hold at the end, of `goals`; `attempts` at all
    goals together; `first`: it succeeded, and nothing had to be tried again, neither a goal nor a grasp within one.
    """

    ok: bool
    goals: int
    reached: int
    attempts: int
    sim_s: float
    wall_s: float
    why: str = ""
    disturbed: str = ""
    first: bool = False

    def as_json(self) -> Json:
        return {**self._asdict(), "sim_s": round(self.sim_s, 2), "wall_s": round(self.wall_s, 2)}


def run(trial: Trial) -> TrialResult:
    """Raises `Missing` or `PolicyError` where the contestant cannot take part at all; all else is a failed trial."""
    began = time.monotonic()
    runtime, policy = trial.contestant.ready()
    given = make_scenario(trial.family, trial.seed)
    clock = SystemClock()
    declared = Target("table", SIM, adapter="SimTargetAdapter", backend="mujoco", config={"seed": trial.seed})
    target = TabletopTarget(declared, TargetContext(clock, scene=given.scene))
    target.open()
    try:
        if policy is not None:
            policy.connect(10.0)
        arm = target.env.body.arm
        disturbance = Disturbance(arm, given.goals[0].thing, trial.seed) if given.disturbed else None
        watch: tuple[Watcher, ...] = ()
        if disturbance is not None:  # what moves by the body's own ops is seen by its mover, what acts by the stage
            arm.mover.watch, arm.mover.watch_every = disturbance.look, LOOK_EVERY
            watch = (disturbance.watch,)
        stage = SkillContext(target, policy, Run(clock, clock.monotonic() + WALL_S), watch)
        attempts = _Attempts(trial.contestant, runtime, stage, given, GoalCheck(arm))
        why = attempts.go()
        arm.mover.begin(lambda: "")
        arm.mover.hold()
        arm.mover.wait(REST_S)
        reached = sum(attempts.judge(goal, SINKS) for goal in given.goals)
        sim_s = float(arm.rig.data.time)
    finally:
        target.close()
        if policy is not None:
            policy.close()
    ok = reached == len(given.goals)
    return TrialResult(
        ok, len(given.goals), reached, attempts.count, sim_s, time.monotonic() - began,
        "" if ok else why or "it did not last until the world was at rest",
        disturbance.happened if disturbance is not None else "",
        ok and attempts.count == len(given.goals) and not attempts.again,
    )  # fmt: skip


class GoalCheck:
    """Whether a goal holds now, by the table's predicates; how high things stood is remembered from the beginning."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._start = {id: float(arm.rig.position(id)[2]) for id in arm.rig.objects}

    def __call__(self, goal: TrialGoal, sinks: float = 0.0) -> bool:
        """`sinks`: m that a lifted thing may have come down since, still held."""
        wanted = task_predicates.TaskGoal(goal.task, goal.thing, goal.place, (), self._start[goal.thing] - sinks)
        return bool(task_predicates.DONE[goal.task](self._arm, wanted))


class _Attempts:
    def __init__(
        self,
        contestant: BenchmarkMethod,
        runtime: SkillRuntime,
        stage: SkillContext,
        given: TrialScenario,
        judge: GoalCheck,
    ) -> None:
        self._contestant, self._runtime, self._stage, self._given = contestant, runtime, stage, given
        self.judge, self.count = judge, 0
        self.again = False  # whether something was tried again within an attempt

    def go(self) -> str:
        """Every goal in turn; why the last one that failed did."""
        why = ""
        for number, goal in enumerate(self._given.goals):
            errand = self._contestant.errand(goal, self._given.scene, f"goal_{number + 1}")
            for _ in range(ATTEMPTS):
                self.count += 1
                outcome = self._tried(errand)
                self.again |= _tried_again(outcome.evidence)
                if self.judge(goal):
                    break
                said = " ".join(f"{outcome.code} {outcome.message}".split())[:200]
                why = f"{goal.task} {goal.thing}: {said or 'it said that it was done'}"
                if self._stage.run.stop:
                    return f"{why} (out of time)"
        return why

    def _tried(self, errand: SkillRequest) -> Outcome:
        policy = self._stage.policy
        if policy is not None:
            policy.reset()
        try:
            outcome = self._runtime.perform(errand, self._stage)
        except (UserError, FloatingPointError) as error:
            return Outcome.failure(Cause.ERROR, "RAISED", str(error))
        if outcome.code == "POLICY_CONNECTION":  # it is not there any more: that says nothing of how good it is
            raise PolicyError(outcome.message, code=outcome.code)
        return outcome


def _tried_again(evidence: Json) -> bool:
    """Whether a skill says that it grasped, placed or did a stage once more."""
    parts = [evidence, *evidence.get("steps_done", ())]
    return bool(evidence.get("backtracks")) or any(part.get("attempts", 1) > 1 for part in parts)
