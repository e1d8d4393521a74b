"""A robot of TARGETS.md as the driver of a node: ACTION.md reaches it, through the same safety layer as sessions.

Its operations follow from the target's actions: an arm that is led by poses moves its tool (`move_to`), picks and
places objects at their positions in ENVIRONMENT.md (`pick_up`, `place`, by constraints over keypoints). No perception.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.driver import PluginContext, Run, Standstill
from worldfs.base.errors import BadInput, MissingRequirement, UserError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import (
    Cause,
    Finding,
    Json,
    Operation,
    Order,
    Outcome,
    Relation,
    RobotState,
    Scene,
    Skill,
    Target,
    Thing,
)
from worldfs.base.order_parameters import OBJECT
from worldfs.base.plugin_calls import plugin_name
from worldfs.base.standard_operations import EXECUTE_TEXT, MOVE_TO, PICK_UP, PLACE_DOWN
from worldfs.robots.targets.real_target import RealTarget, driver
from worldfs.robots.targets.target_adapter import nothing_wrong
from worldfs.skills.skill_runtime import SkillContext, SkillRequest, SkillRuntime
from worldfs.skills.workspace_scene import read_environment

from .plugins import SKILLS
from .skill_run import run_skill

POSES: Final = "ee_pose"
REKEP: Final = "ReKepPolicyRuntime"
ARM: Final = (MOVE_TO, PICK_UP, PLACE_DOWN, EXECUTE_TEXT)


class RobotBody:
    """One robot, opened when the world starts or, if it does not answer then, by the first order.

    `target`: its entry in TARGETS.md, under the node's own id.
    """

    real = True

    def __init__(self, target: Target, context: PluginContext, clock: Clock) -> None:
        self._target, self._context, self._clock = target, context, clock
        self.calling = ""  # of the robot's library, while it has not returned
        self._adapter: RealTarget | None = None
        self._opening: RealTarget | None = None  # while it has not been opened
        self._taking = threading.Lock()  # one thread connects it
        self._scene = Scene()
        self._thing: Thing | None = None  # what an order brought to another place: reported once, and while it is held
        self._on: tuple[str, str] | None = None  # the relation that it then has, and to what

    @property
    def operations(self) -> Sequence[Operation]:
        """The operations of such a robot; once it is opened, this one's own."""
        if self._adapter is None:
            return ARM
        return ARM if any(spec.representation == POSES for spec in self._adapter.actions()) else ()

    def open(self, scene: Scene) -> None:
        self._scene = scene
        with suppress(UserError):  # reported by the review of any order; other robots of this world go on
            self._take_up()

    def observe(self) -> Scene:
        """The robot itself, and the thing that it holds or has just put down."""
        if self._adapter is None:
            return Scene()
        scene = self._adapter.scene()
        robot = scene.robot(self._target.id)
        held = robot.holding if robot is not None else None
        thing, on = self._thing, self._on
        if thing is None:
            return scene
        if held == thing.id:
            held_by = Relation(thing.id, "held_by", self._target.id)
            return replace(scene, objects=(replace(thing, status="held"),), relations=(held_by,))
        self._thing = self._on = None  # where it lies from now on is not known to this robot
        thing = replace(thing, status=f"{on[0]}_{on[1]}" if on is not None else "released")
        return replace(scene, objects=(thing,), relations=(Relation(thing.id, *on),) if on is not None else ())

    def reported(self) -> RobotState | None:
        return self._adapter.reported() if self._adapter is not None else None

    def review(self, order: Order) -> Sequence[Finding]:
        try:
            adapter = self._take_up()
        except UserError as error:
            code = error.code if error.code == "MISSING" else "TARGET_BUILD"
            field = error.path or f"TARGETS.md {self._target.id}"
            return [
                Finding(
                    code, field, error.expected or coded("session.answering_robot"), error.found, error.fix, order.id
                )
            ]
        if order.op not in (names := self._names()):
            field = f"TARGETS.md {self._target.id} config.kinematics"
            fix = coded("session.give_one") if names else coded("session.name_kinematics")
            found = coded("session.robot_can", op=order.op, names=names or coded("common.nothing"))
            expected = coded("common.either_of", names=sorted(op.name for op in ARM))
            return [Finding("OP_NOT_IN_PROFILE", field, expected, found, fix, order.id)]
        try:
            steps = self._steps(order)
            runtime = self._runtime(steps[0])
        except UserError as error:
            field = error.path or "ACTION.md params"
            return [Finding(error.code, field, error.expected, error.found, error.fix, order.id)]
        # only the first can be judged now: what comes after begins in another world
        request = self._skill_request(steps[0])
        findings = runtime.review(request, adapter)
        return [replace(item, field=_field(item.field, request.job), job=order.id) for item in findings]

    def execute(self, order: Order, run: Run) -> Outcome:
        try:
            adapter, steps = self._take_up(), self._steps(order)
            runtimes = [self._runtime(step) for step in steps]
        except UserError as error:
            return Outcome.failure(Cause.ERROR, "TARGET_BUILD", error_message(error))
        done: list[Json] = []
        outcome = Outcome.success(coded("session.nothing_to_do"))
        for step, runtime in zip(steps, runtimes, strict=True):
            request = self._skill_request(step)
            found = runtime.review(request, adapter) if done else []
            if not nothing_wrong(found):
                outcome = Outcome.failure(Cause.ERROR, found[0].code, found[0].found, findings=tuple(found))
                break
            perform = partial(runtime.perform, request, SkillContext(adapter, None, run))
            outcome = run_skill(perform, run, adapter)
            self._account(adapter, step, outcome)
            done.append({"op": step.op, "ok": outcome.ok})
            if not outcome.ok:
                break
        more: Json = {"evidence_class": "real", "robot": self._target.driver}
        return replace(
            outcome, evidence={**outcome.evidence, **more, **({"steps_done": done} if len(done) > 1 else {})}
        )

    def take_up(self) -> None:
        if not self._taking.locked():  # else it is being connected
            self._take_up()

    def stop(self) -> None:
        adapter = self._adapter or self._opening
        if adapter is None:
            raise ConnectionError(coded("target.not_connected"))
        adapter.stop()

    def standstill(self, since: float) -> Standstill:
        adapter = self._adapter or self._opening
        return adapter.standstill(since) if adapter is not None else Standstill(False, coded("target.not_connected"))

    def close(self) -> None:
        made, self._adapter = self._adapter, None
        if made is not None:
            made.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return sorted(op.name for op in self.operations)

    def _take_up(self) -> RealTarget:
        with self._taking:
            return self._adapter or self._connect()

    def _connect(self) -> RealTarget:
        context = PluginContext(self._clock, self._context.artifacts, self._scene, self._context.language)
        context = replace(context, profile=self._context.profile, memory=self._context.memory)
        try:
            self.calling = f"{self._target.id}: {self._target.driver}"
            made = RealTarget(self._target, context, driver(self._target)(self._target, context))
            self._opening, self.calling = made, f"{plugin_name(made.robot)} connect"
            made.open()
        finally:
            self.calling, self._opening = "", None
        mine = self._scene_now().robot(self._target.id)
        made.holding = mine.holding if mine is not None else None  # of an earlier run; the fingers may deny it
        self._adapter = made
        return made

    def _steps(self, order: Order) -> Sequence[Order]:
        """The order itself; of `real_execute` its interpretation. Raises `BadInput` for words without one."""
        if order.op != "real_execute":
            return [order]
        words = order.params.get("nl_task")
        if not isinstance(words, str) or not words.strip() or self._context.interpreter is None:
            fix = coded("session.write_instruction")
            raise BadInput(repr(words)[:80], expected=coded("session.a_sentence"), fix=fix)
        steps = [
            step for step in self._context.interpreter(words, self._scene_now()) if step.op not in ("wait", "look")
        ]
        unknown = sorted({step.op for step in steps} - ({*self._names()} - {"real_execute"}))
        if unknown or not steps:
            raise BadInput(
                ", ".join(unknown) or coded("session.nothing_to_do"),
                expected=", ".join(self._names()),
                fix=coded("session.shorter"),
            )
        return [replace(step, id=f"{order.id}.{number}") for number, step in enumerate(steps, 1)]

    def _scene_now(self) -> Scene:
        home = self._context.artifacts.parent if self._context.artifacts is not None else None
        return read_environment(home) or self._scene

    def _runtime(self, order: Order) -> SkillRuntime:
        """One of our own plug-ins. Raises `MissingRequirement` without it, `BadInput` where it cannot be loaded."""
        name = "MoveRuntime" if order.op == MOVE_TO.name else REKEP
        make = SKILLS.get(name)
        if make is None:
            found, fix = coded("session.no_runtime_installed", name=name), coded("session.install_again")
            raise MissingRequirement(
                found, op=order.op, expected=coded("common.either_of", names=list(SKILLS)), fix=fix
            )
        return make()

    def _skill_request(self, order: Order) -> SkillRequest:
        params = dict(order.params)
        params.pop("robot_id", None)
        if order.op == "pick_up":
            params = {"object_id": next((params[key] for key in OBJECT if params.get(key)), None)}
        home = self._context.artifacts.parent if self._context.artifacts is not None else None
        skill = Skill({"pick_up": "rekep_pick", "place": "rekep_place"}.get(order.op, order.op), REKEP)
        return SkillRequest(order.id, skill, params, home=home)

    def _account(self, adapter: RealTarget, order: Order, outcome: Outcome) -> None:
        """The order's effect on an object, as far as the gripper measures it."""
        id, place = outcome.evidence.get("object"), outcome.evidence.get("object_after")
        if not isinstance(id, str) or not isinstance(place, list):
            return
        known = self._scene_now().thing(id) or Thing(id)
        self._thing, self._on = replace(known, position=tuple(place), extra={}), None
        if order.op == "pick_up":
            adapter.holding = id if outcome.ok else adapter.holding
        elif outcome.ok:
            adapter.holding = None
            support = next(
                (order.params[key] for key in ("target", "location", "container") if order.params.get(key)), ""
            )
            piece = self._scene_now().thing(support) if isinstance(support, str) else None
            if piece is not None:
                self._on = ("in" if piece.is_container else "on", piece.id)


def _field(field: str, job: str) -> str:
    """Findings of skills speak of sessions; here it is an action."""
    return field.replace(f"SESSIONS.md {job} execution.params", "ACTION.md params")
