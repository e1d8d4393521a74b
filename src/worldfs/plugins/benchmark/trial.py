"""One trial: a method in one scenario, judged by the simulated world's final state and by nothing that it reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import MissingRequirement, UserError
from worldfs.base.json_values import as_int, as_objects
from worldfs.base.messages import coded
from worldfs.base.model import CameraSpec, Cause, Json, Outcome, Target
from worldfs.base.model.profile import TRUTH
from worldfs.base.model.skill import SIM
from worldfs.policies.policy_client import PolicyClient, PolicyError
from worldfs.robots.mujoco import task_predicates
from worldfs.robots.mujoco.camera import HEIGHT, WIDTH
from worldfs.robots.mujoco.gl import gl_status
from worldfs.robots.targets.tabletop_target import TabletopTarget
from worldfs.skills.skill_runtime import SkillContext, SkillRequest, SkillRuntime, Watcher

from .benchmark_methods import BenchmarkMethod
from .disturbance import Disturbance
from .honest_world import HonestWorld
from .score import ATTEMPTS
from .task_families import TrialGoal, TrialScenario, make_scenario

if TYPE_CHECKING:
    from worldfs.robots.mujoco.arm import Arm

WALL_S: Final = 180.0  # of one trial
REST_S: Final = 0.5  # in which the world comes to rest before it is judged
SINKS: Final = 0.02  # m that an arm may come down when it stops on the way up
RGB: Final = "rgb."
PICTURES_HZ: Final = 100.0  # more than there are steps: a picture is never older than the step
LOOK_EVERY: Final = 25  # physics steps between two polls of the disturbance: 20 Hz


class Trial(NamedTuple):
    """What to try: a method, a family, a seed. `world`: what is otherwise than the robot is told; None: nothing."""

    method: BenchmarkMethod
    family: str
    seed: int
    perception: str = TRUTH
    world: HonestWorld | None = None


class TrialResult(NamedTuple):
    """A trial's result. `sim_s`: simulated seconds; `reached`: goals that hold at last, of `goals`; `attempts` at all
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
    """Raises `MissingRequirement` or `PolicyError` where the method cannot run at all; all else is a failed trial."""
    clock = SystemClock()
    began = clock.monotonic()
    runtime, policy = trial.method.ready(clock)
    scenario = make_scenario(trial.family, trial.seed)
    config: Json = {"seed": trial.seed, "perception": trial.perception}
    cameras = _cameras(policy) if policy is not None else ()
    declared = Target("table", SIM, adapter="SimTargetAdapter", backend="mujoco", cameras=cameras, config=config)
    difference = trial.world.difference() if trial.world is not None else None
    target = TabletopTarget(declared, PluginContext(clock, scene=scenario.scene), difference=difference)
    target.open()
    try:
        arm = target.env.body.arm
        disturbance = Disturbance(arm, scenario.goals[0].thing, trial.seed) if scenario.disturbed else None
        watch: tuple[Watcher, ...] = ()
        if disturbance is not None:  # the mover polls during native operations, the watcher during steps
            arm.mover.watch, arm.mover.watch_every = disturbance.poll, LOOK_EVERY
            watch = (disturbance.watch,)
        context = SkillContext(target, policy, Run(clock, clock.monotonic() + WALL_S), watch)
        attempts = _Attempts(trial.method, runtime, context, scenario, GoalCheck(arm))
        why = attempts.go()
        arm.mover.begin(lambda: "")
        arm.mover.hold()
        arm.mover.wait(REST_S)
        reached = sum(attempts.judge(goal, SINKS) for goal in scenario.goals)
        sim_s = float(arm.simulation.data.time)
    finally:
        target.close()
        if policy is not None:
            policy.close()
    ok = reached == len(scenario.goals)
    return TrialResult(
        ok, len(scenario.goals), reached, attempts.count, sim_s, clock.monotonic() - began,
        "" if ok else why or "it did not last until the world was at rest",
        disturbance.happened if disturbance is not None else "",
        ok and attempts.count == len(scenario.goals) and not attempts.again,
    )  # fmt: skip


def _cameras(policy: PolicyClient) -> tuple[CameraSpec, ...]:
    """The cameras whose pictures the policy says it is shown, each with pictures of its size and a new one each step.

    Raises `MissingRequirement` where there is no OpenGL to draw them.
    """
    info = policy.connect(10.0)
    names = [name.removeprefix(RGB) for name in info.observations if name.startswith(RGB)]
    status = gl_status()
    if names and not status.backend:
        why = coded("plugin.no_pictures", status=str(status))
        raise MissingRequirement(why, op="bench", fix=status.fix)
    sizes = {name: info.picture_sizes.get(RGB + name, (HEIGHT, WIDTH)) for name in names}
    return tuple(CameraSpec(name, (width, height), fps=PICTURES_HZ) for name, (height, width) in sizes.items())


class GoalCheck:
    """Whether a goal holds now, by the table's predicates; it remembers the objects' heights at the start."""

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
        method: BenchmarkMethod,
        runtime: SkillRuntime,
        context: SkillContext,
        scenario: TrialScenario,
        judge: GoalCheck,
    ) -> None:
        self._method, self._runtime, self._context, self._scenario = method, runtime, context, scenario
        self.judge, self.count = judge, 0
        self.again = False  # whether something was tried again within an attempt

    def go(self) -> str:
        """Every goal in turn; why the last one that failed did."""
        why = ""
        for number, goal in enumerate(self._scenario.goals):
            request = self._method.skill_request(goal, self._scenario.scene, f"goal_{number + 1}")
            for _ in range(ATTEMPTS):
                self.count += 1
                outcome = self._tried(request)
                self.again |= _tried_again(outcome.evidence)
                if self.judge(goal):
                    break
                reason = " ".join(f"{outcome.code} {outcome.message}".split())[:200]
                why = f"{goal.task} {goal.thing}: {reason or 'it reason that it was done'}"
                if self._context.run.stop:
                    return f"{why} (out of time)"
        return why

    def _tried(self, request: SkillRequest) -> Outcome:
        policy = self._context.policy
        if policy is not None:
            policy.reset()
        try:
            outcome = self._runtime.perform(request, self._context)
        except (UserError, FloatingPointError) as error:
            return Outcome.failure(Cause.ERROR, "RAISED", str(error))
        if outcome.code == "POLICY_CONNECTION":  # the policy has gone: that is no result of its quality
            raise PolicyError(outcome.message, code=outcome.code)
        return outcome


def _tried_again(evidence: Json) -> bool:
    """Whether a skill's evidence shows a second grasp, placement or stage."""
    parts = [evidence, *as_objects(evidence.get("steps_done"))]
    return bool(evidence.get("backtracks")) or any(as_int(part.get("attempts"), 1) > 1 for part in parts)
