"""A trial of a skill file: a seeded table, a disturbance midway, judged by the simulated world's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import Clock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput, UserError
from worldfs.base.json_values import as_list, as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Outcome, Scene, Skill, Target
from worldfs.base.model.skill import SIM
from worldfs.plugins.benchmark.disturbance import Disturbance
from worldfs.robots.displacements import displacement_text
from worldfs.robots.mujoco import task_predicates
from worldfs.robots.targets.tabletop_target import TabletopTarget
from worldfs.sessions.skill_records import SkillTrial
from worldfs.skills.skill_runtime import SkillContext, SkillRequest

from .constraint_language import read
from .constraint_program import GRASPED, ConstraintProgram
from .program_sources import written_program
from .rekep_runtime import ReKepPolicyRuntime
from .trial_scene import trial_scene

if TYPE_CHECKING:
    from worldfs.robots.mujoco.arm import Arm

FIRST_SEED: Final = 9_000  # nothing of the product was tuned on these
TABLE: Final = "table"  # the simulated target
WALL_S: Final = 120.0  # of one trial
REST_S: Final = 0.5  # in which the world comes to rest before it is judged
LOOK_EVERY: Final = 25  # physics steps between two polls of the disturbance: 20 Hz
_TO_A_PLACE: Final = ("place", "stack")  # tasks whose goal names a place


class TriedProgram(NamedTuple):
    """A skill file as the restricted reader reads it. `goal`: task, object, place; "" for what it does not say."""

    skill: Skill
    program: ConstraintProgram
    goal: tuple[str, str, str]


def read_skill(skill: Skill) -> TriedProgram:
    """Raises `BadInput` for a file that the restricted reader refuses: file, line, found, expected."""
    program = written_program(skill)
    text, file = as_text(as_object(skill.extra.get("constraints")).get("program")), program.name
    goal = read(text, file, (GRASPED,))[1].get("goal")
    words = [word for word in as_list(goal) if isinstance(word, str)]
    if goal is not None and (
        words != as_list(goal)
        or len(words) not in (2, 3)
        or words[0] not in task_predicates.DONE
        or (words[0] in _TO_A_PLACE and not any(words[2:]))
    ):
        raise BadInput(f"goal = {goal!r}"[:120], path=file, fix=coded("plugin.rekep_correct_goal"),
                       expected=coded("plugin.rekep_goal", names=list(task_predicates.DONE)))  # fmt: skip
    task, thing, place = (*words, "", "", "")[:3]
    return TriedProgram(skill, program, (task, thing, place))


def run_trial(tried: TriedProgram, seed: int, clock: Clock, own: Scene) -> SkillTrial:
    """One seed. What the skill says of itself counts only against it. `own`: the workspace's scene. Raises `BadInput`
    for a goal that names a thing of no scene."""
    scene, is_own = trial_scene(_named(tried), seed, TABLE, own)
    _require_goal_in(scene, tried)
    target = TabletopTarget(
        Target(TABLE, SIM, adapter="SimTargetAdapter", backend="mujoco", config={"seed": seed}),
        PluginContext(clock, scene=scene),
    )
    target.open()
    try:
        arm = target.env.body.arm
        disturbance = Disturbance(arm, _subject(tried, scene), seed)
        arm.mover.watch, arm.mover.watch_every = disturbance.poll, LOOK_EVERY
        start = {id: float(arm.rig.position(id)[2]) for id in arm.rig.objects}
        context = SkillContext(target, None, Run(clock, clock.monotonic() + WALL_S), (disturbance.watch,))
        why = _failed(_performed(tried, context), tried, arm, start)
        sim_s = round(float(arm.simulation.data.time), 2)
        return SkillTrial(seed, not why, why, disturbance.happened, sim_s, is_own)
    finally:
        target.close()


def _require_goal_in(scene: Scene, tried: TriedProgram) -> None:
    there = [thing.id for thing in (*scene.objects, *scene.furniture)]
    for name in filter(None, tried.goal[1:]):
        if name not in there:
            found, expected = coded("plugin.rekep_not_on_table", thing=name[:80]), coded("common.one_of", names=there)
            fix = coded("plugin.rekep_correct_goal")
            raise BadInput(found, path=tried.program.name, op="skill try", expected=expected, fix=fix)


def _performed(tried: TriedProgram, context: SkillContext) -> Outcome:
    request = SkillRequest("trial", tried.skill, {})
    runtime = ReKepPolicyRuntime()
    try:
        if findings := runtime.review(request, context.target):
            return Outcome.failure(Cause.REJECTED, findings[0].code, str(findings[0]))
        return runtime.perform(request, context)
    except (UserError, FloatingPointError) as error:
        return Outcome.failure(Cause.ERROR, "RAISED", str(error))


def _failed(outcome: Outcome, tried: TriedProgram, arm: Arm, start: dict[str, float]) -> str:
    """Why the trial failed, once the world is at rest; "" where it did not."""
    arm.mover.begin(lambda: "")
    arm.mover.hold()
    arm.mover.wait(REST_S)
    if not outcome.ok:
        return " ".join(f"{outcome.code} {outcome.message}".split())[:200]
    if others := as_list(outcome.evidence.get("also_moved")):
        return displacement_text([as_object(line) for line in others])
    task, thing, place = tried.goal
    if not task:
        return ""
    if thing not in start:
        return coded("plugin.rekep_not_on_table", thing=thing)
    wanted = task_predicates.TaskGoal(task, thing, place, (), start[thing])
    said = " ".join(word for word in tried.goal if word)
    return "" if task_predicates.DONE[task](arm, wanted) else coded("plugin.rekep_no_goal", goal=said)


def _named(tried: TriedProgram) -> list[str]:
    """The things that the program and its goal name."""
    return [*filter(None, map(_owner, tried.program.keypoints)), *filter(None, tried.goal[1:])]


def _subject(tried: TriedProgram, scene: Scene) -> str:
    """The object to disturb: what is grasped first, else what the program is about, else any."""
    owners = [_owner(point) for point in tried.program.keypoints]
    grasped = [owners[stage.grasp] for stage in tried.program.stages if 0 <= stage.grasp < len(owners)]
    there = [thing.id for thing in scene.objects]
    return next((owner for owner in (*grasped, *owners) if owner in there), there[0])


def _owner(point: object) -> str:
    """The thing that a keypoint is of; "" for a place."""
    return point.rpartition(".")[0] or point if isinstance(point, str) else ""
