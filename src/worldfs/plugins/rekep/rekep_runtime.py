"""ReKepPolicyRuntime: a skill as relational keypoint constraints, solved and measured (ReKep, arXiv 2409.01652)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput, UserError
from worldfs.base.json_values import as_int
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Json, Outcome, Profile
from worldfs.base.model.skill import REAL
from worldfs.robots import displacements
from worldfs.robots.rotations import quaternion
from worldfs.robots.targets.target_adapter import TargetAdapter
from worldfs.skills.skill_runtime import SkillContext, SkillParameters, SkillRequest
from worldfs.skills.workspace_scene import read_environment

from . import program_sources, success_predicates
from .end_effector import EndEffector, ExecutionHalted
from .keypoint_image import PICTURE, picture_of
from .keypoints import Keypoint
from .policy_proposals import proposed_program
from .program_executor import MEASURED, ExecutionLimits, ProgramExecutor, StageResult
from .program_generation import generate_program, model_of
from .program_library import LibraryProgram
from .program_preview import preview
from .program_rehearsal import rehearse
from .stage_costs import KeypointState
from .step_end_effector import REPRESENTATION, StepEndEffector
from .success_predicates import PourMeasurement, SuccessPredicate
from .task_params import HANDLED, TaskParams

SLACK_MOST: Final = 0.1  # m
BACKTRACKS, BACKTRACKS_MOST = 4, 20  # usually, at most


class ReKepPolicyRuntime:
    """`params`: those of the task (object_id, target_id, target_position …), `constraints` and `keypoints` of
    one's own,    `slack` (m), `max_backtracks`. The skill may hold `constraints`, `task`, `model`; see docs/rekep.md.
    """

    name = "ReKepPolicyRuntime"

    def review(self, request: SkillRequest, target: TargetAdapter) -> Sequence[Finding]:
        try:
            _slack_given(request)
            _backtracks(request)
            effector = end_effector_of(target, _eyes(request, target), request.home)
            if effector is None:
                return [_handless(request, target)]
            if program_sources.words_of(request):
                model_of(request)  # it is asked at the start of the run: an answer costs, and moves nothing
                return []
            planned = _planned(request, effector)
            why = preview(planned.program, planned.points, effector, _slack(request, planned))
        except UserError as error:
            return [_finding(request, error)]
        if not why:
            return []
        field, fix = (
            f"SESSIONS.md {request.job} execution.params",
            "choose a goal nearer to 0.35-0.62 m before the robot",
        )
        return [Finding("CRITIC_REFUSED", field, coded("plugin.rekep_reachable_stages"), why, fix, request.job)]

    def parameters(self, request: SkillRequest) -> SkillParameters:
        return program_sources.parameters_of(request)

    def sources(self, request: SkillRequest) -> Json:
        return program_sources.digests(request)

    def perform(self, request: SkillRequest, context: SkillContext) -> Outcome:
        try:
            effector = end_effector_of(context.target, _eyes(request, context.target), request.home)
            if effector is None:
                finding = _handless(request, context.target)
                return Outcome.failure(Cause.REJECTED, finding.code, str(finding), findings=(finding,))
            planned, origin = _decided(request, context, effector)
            outcome = _carried_out(request, context, effector, planned)
            return replace(outcome, evidence={**outcome.evidence, **origin})
        except ExecutionHalted as halt:
            return halted_outcome(halt, {}, context.run)
        except UserError as error:
            finding = _finding(request, error)
            return Outcome.failure(Cause.ERROR, finding.code, str(error), findings=(finding,))


def end_effector_of(target: TargetAdapter, eyes: str = "", home: Path | None = None) -> EndEffector | None:
    """The table's own arm where there is one, else an end effector led by poses; None: neither.

    `eyes`: the camera for keypoints, "" for none; `home`: the workspace, whose ENVIRONMENT.md says
    where things are for a robot that sees none. Raises `MissingRequirement` or `BadInput` where none can be.
    """
    try:
        from .table_end_effector import ArmTarget, TableEndEffector
    except ImportError:  # no simulator: a real robot
        pass
    else:
        if isinstance(target, ArmTarget):
            return TableEndEffector(target, camera=eyes)
    if eyes:
        raise BadInput(coded("plugin.rekep_unknown_camera"), path=f"TARGETS.md {target.target.id} perception",
                       expected=coded("plugin.rekep_table_camera"), fix=coded("plugin.rekep_leave_keypoints"),
                       code="OBSERVATION_CHANNEL_MISSING")  # fmt: skip
    if any(spec.representation == REPRESENTATION for spec in target.actions()) and "ee_pose" in target.observe():
        context = getattr(target, "context", None)  # built-in targets all have one; a package's own need not
        if not isinstance(context, PluginContext):
            return StepEndEffector(target, read_environment(home))
        clock = context.clock if target.target.kind == REAL else None
        return StepEndEffector(target, read_environment(home) or context.scene, clock, context.profile() or Profile())
    return None


def _eyes(request: SkillRequest, target: TargetAdapter) -> str:
    """The camera of a session that wants detected keypoints (`keypoints_from: rgbd`, of the session or the skill)."""
    given = request.params.get("keypoints_from", request.skill.extra.get("keypoints_from", "scene"))
    if given not in ("scene", "rgbd"):
        raise BadInput(repr(given)[:80], path=f"SESSIONS.md {request.job} execution.params.keypoints_from",
                       expected=coded("plugin.rekep_scene_or_rgbd"), fix=coded("plugin.rekep_write_one"))  # fmt: skip
    names = {camera.name for camera in target.target.cameras}
    return ("wrist" if names & {"front", "wrist"} == {"wrist"} else "front") if given == "rgbd" else ""


def _decided(request: SkillRequest, context: SkillContext, effector: EndEffector) -> tuple[LibraryProgram, Json]:
    """The program, from words, from the policy, or from the session and the skill; and the evidence of its origin."""
    if words := program_sources.words_of(request):
        return _generated(words, request, context, effector)
    return proposed_program(_planned(request, effector), request, context, effector.now())


def _generated(
    words: str, request: SkillRequest, context: SkillContext, effector: EndEffector
) -> tuple[LibraryProgram, Json]:
    """A model's program, which has succeeded in simulation."""
    target, state, run = context.target, effector.now(), context.run
    scene = target.scene()
    scene = scene if scene.objects else read_environment(request.home) or scene
    rehearsed: list[Outcome] = []

    def perform(simulated: TargetAdapter, planned: LibraryProgram, run: Run) -> Outcome:
        stand_in = end_effector_of(simulated)
        assert stand_in is not None
        return _carried_out(request, SkillContext(simulated, None, run), stand_in, planned)

    def check(planned: LibraryProgram) -> None:
        if why := preview(planned.program, planned.points, effector, _slack(request, planned)):
            expected = coded("plugin.rekep_reachable_stages")
            raise BadInput(why, path=planned.program.name, expected=expected, code="CRITIC_REFUSED")
        rehearsed.append(rehearse(planned, scene, target.target.id, run, perform))

    def picture(points: Sequence[Keypoint]) -> bytes:
        png = picture_of(target, points, state)
        if run.artifacts is not None:
            with suppress(OSError):  # a full disk ends nothing: the picture is for people
                (Path(run.artifacts) / PICTURE).write_bytes(png)
        return png

    planned, evidence = generate_program(words, request, state, run, picture=picture, check=check)
    measured = rehearsed[-1].evidence
    return planned, {**evidence, "rehearsal": {key: measured.get(key) for key in ("success", "sim_seconds")}}


def _planned(request: SkillRequest, effector: EndEffector) -> LibraryProgram:
    state = effector.now()
    given = program_sources.given_constraints(request)
    if given is not None:
        return program_sources.given_program(given, request, state.things)
    return program_sources.from_library(
        request, TaskParams(request.job, request.params, state.things, state.held, state.base)
    )


def _carried_out(
    request: SkillRequest, context: SkillContext, effector: EndEffector, planned: LibraryProgram
) -> Outcome:
    run, goal, pouring = context.run, planned.goal, PourMeasurement()
    limits = ExecutionLimits(_slack(request, planned), request.step_timeout_s, backs=_backtracks(request))
    before = effector.now()
    start_poses = _poses(effector)
    kept = _keep(run, planned, KeypointState(planned.points, before, None).now.tolist())

    def step() -> None:
        for watch in context.watch:
            watch(context.target.observe(), None, None)

    executor = ProgramExecutor(
        planned.program,
        planned.points,
        effector,
        run,
        limits,
        on_observation=lambda s, now: pouring.update(goal, s, now),
        step=step,
    )
    executor.predicates = lambda: (
        success_predicates.evaluate(goal, effector, pouring) if goal.task else _generic(executor, planned, limits)
    )
    ended, halted = StageResult("CANCELLED"), None
    try:
        ended = executor.carry_out()
    except ExecutionHalted as halt:
        halted = halt
    except UserError as error:
        ended = StageResult(error.code, str(error))
    except FloatingPointError as error:
        ended = StageResult("SIMULATION_DIVERGED", str(error))
    finally:
        led = effector.done()
    evidence: Json = {
        "program": planned.program.name,
        "stages": executor.stages,
        "backtracks": executor.backtracks,
        "attempts": max([as_int(line["attempt"]) for line in executor.stages], default=0),
        "keypoints": [point.name for point in planned.points],
        "success": [one.to_json() for one in executor.measured],
        **kept,
        **_moved(planned, effector, before.things),
        **led,
    }
    if others := displacements.displacements(
        start_poses, _poses(effector), {planned.points[s.grasp].owner for s in planned.program.stages}
    ):
        evidence["also_moved"] = others
    if not ended.code:
        parts = [_success_text(planned, executor.measured), displacements.displacement_text(others)]
        return Outcome.success("; ".join(filter(None, parts)), **evidence)
    if halted is not None:
        return halted_outcome(halted, evidence, context.run)
    went_wrong = ended.code == "CRITIC_REFUSED" and (executor.moved or "withdrew_m" in led)
    message = "; ".join(filter(None, [ended.message, displacements.displacement_text(others)]))
    return Outcome.failure(Cause.ERROR, "PLAN_FAILED" if went_wrong else ended.code, message, evidence=evidence)


def _poses(effector: EndEffector) -> dict[str, displacements.ObjectPose]:
    """Of everything that can be moved, as measured."""
    things = [thing for thing in effector.now().things.values() if thing.shape in HANDLED]
    return displacements.object_poses(
        replace(thing, position=tuple(map(float, found.position)), orientation=quaternion(found.rotation))
        for thing, found in ((thing, effector.measure(thing.id)) for thing in things)
    )


def halted_outcome(halt: ExecutionHalted, evidence: Json, run: Run) -> Outcome:
    """The outcome of an order that was cancelled, or out of time."""
    cause = Cause.TIMEOUT if halt.why == "timeout" else Cause.CANCELLED
    code = "EXECUTION_TIMEOUT" if cause is Cause.TIMEOUT else "CANCELLED"
    if cause is Cause.TIMEOUT and not run.stop:  # a stage's own limit, of timeouts.skill
        code = "SKILL_TIMEOUT"
    return Outcome.failure(cause, code, coded("plugin.rekep_stopped", why=halt.why), evidence=evidence)


def _generic(executor: ProgramExecutor, planned: LibraryProgram, limits: ExecutionLimits) -> list[SuccessPredicate]:
    """Of a program without a known task: its last subgoals hold, and the gripper holds what it should."""
    found = []
    state = executor.effector.now()
    keypoint_state = KeypointState(planned.points, state, state.held)
    last = planned.program.stages[-1]
    for function in last.subgoals:
        body = function.source.split(":", 1)[-1]
        if last.release >= 0 and re.search(rf"\b{re.escape(function.parameters[0])}\b", body):
            continue  # the gripper has retreated since
        cost = keypoint_state.costs([function], state.tool_pose)[0]
        limit = limits.slack + MEASURED
        found.append(SuccessPredicate(function.name, cost, f"at most {limit:g}", cost <= limit))
    wanted = None
    for stage in planned.program.stages:
        wanted = planned.points[stage.grasp].owner if stage.grasp >= 0 else wanted
        wanted = None if stage.release >= 0 else wanted
    released = {planned.points[stage.release].owner for stage in planned.program.stages if stage.release >= 0}
    for owner in sorted(released - {wanted, ""}):
        found += success_predicates.resting(owner, executor.effector)
    if any(stage.grasp >= 0 or stage.release >= 0 for stage in planned.program.stages):
        found.append(SuccessPredicate("held", state.held, wanted or "nothing", state.held == wanted))
    return found


def _moved(planned: LibraryProgram, effector: EndEffector, before: Any) -> Json:
    """How far the program's object moved."""
    owner = planned.goal.thing or next(
        (planned.points[stage.grasp].owner for stage in planned.program.stages if stage.grasp >= 0), ""
    )
    thing = before.get(owner)
    if thing is None:
        return {}
    after = effector.measure(owner).position
    moved = float(sum((a - b) ** 2 for a, b in zip(after, thing.position, strict=True)) ** 0.5)
    return {
        "object": owner,
        "object_before": [round(float(v), 4) for v in thing.position],
        "object_after": [round(float(v), 4) for v in after],
        "object_moved": round(moved, 4),
    }


def _keep(run: Run, planned: LibraryProgram, positions: list[list[float]]) -> Json:
    """The program in the published form, beside the trace; a full disk is reported and ends nothing."""
    if run.artifacts is None:
        return {}
    folder = Path(run.artifacts) / "constraints"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in planned.program.files().items():
            (folder / file).write_text(text, encoding="utf-8")
        text = json.dumps(planned.program.metadata(positions), indent=1)
        (folder / "metadata.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        return {"constraints": f"not kept: {error.strerror or error}"}
    return {"constraints": "constraints/"}


def _success_text(planned: LibraryProgram, measured: Sequence[SuccessPredicate]) -> str:
    what = planned.goal.task or planned.program.name
    values = ", ".join(f"{one.name} {one.to_json()['value']}" for one in measured)
    return f"{what} {planned.goal.thing}: {values}".replace("  ", " ")


def _slack(request: SkillRequest, planned: LibraryProgram) -> float:
    given = _slack_given(request)
    return planned.slack if given is None else given


def _slack_given(request: SkillRequest) -> float | None:
    return _figure(request, "slack", SLACK_MOST, coded("common.number_range", low=0, high=SLACK_MOST))


def _backtracks(request: SkillRequest) -> int:
    expected = coded("plugin.rekep_whole_range", least=0, most=BACKTRACKS_MOST)
    given = _figure(request, "max_backtracks", BACKTRACKS_MOST, expected)
    return BACKTRACKS if given is None else int(given)


def _figure(request: SkillRequest, key: str, most: float, expected: str) -> float | None:
    """A parameter's number, from 0 to the most; of a whole one a whole one. Raises `BadInput` for any other value."""
    value = request.params.get(key)
    if value is None:
        return None
    kind = int if type(most) is int else int | float
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value <= most:
        found, path = repr(request.params[key])[:200], f"SESSIONS.md {request.job} execution.params.{key}"
        raise BadInput(found, path=path, expected=expected, fix=coded("session.correct_value"))
    return float(value)


def _finding(request: SkillRequest, error: UserError) -> Finding:
    code = error.code if error.code not in ("USER",) else "SCHEMA_VALIDATION"
    field = error.path or f"SESSIONS.md {request.job} execution.params"
    return Finding(code, field, error.expected or coded("plugin.rekep_a_program"), error.found, error.fix, request.job)


def _handless(request: SkillRequest, target: TargetAdapter) -> Finding:
    there = ", ".join(spec.representation for spec in target.actions()) or coded("plugin.rekep_no_actions")
    fix = coded("plugin.rekep_use_target")
    return Finding(
        "ACTION_BRIDGE_MISSING", f"TARGETS.md {target.target.id} adapter", coded("plugin.rekep_ee_pose"), there, fix,
        request.job,
    )  # fmt: skip
