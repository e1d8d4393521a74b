"""The body: a simulated Panda on a table as a `Driver`."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.driver import Interpreter, Run, Standstill
from worldfs.base.errors import BadInput, MissingRequirement, WorldError, from_os
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Json, Order, Outcome, Profile, RobotState, Scene
from worldfs.base.model.profile import CAMERA, TRUTH
from worldfs.base.order_parameters import LABEL
from worldfs.base.standard_operations import EXECUTE_TEXT, HANDLING, MOVE_TO, NAVIGATE, PICK_UP, PLACE_DOWN
from worldfs.robots import displacements
from worldfs.robots.video_writer import VideoWriter

from . import actions, params, perception, sequences, withdrawal
from .action_evidence import ActionEvidence, moved_on, plan_failure, stop_failure
from .arm import Arm
from .camera import CameraRenderer
from .handling_operations import BY_CAMERA, HANDLING_ACTS, by_truth
from .image_store import ImageStore, write_png
from .model_builder import TIMESTEP
from .motion_loop import STILL, MotionStopped, measured
from .order_review import handled_things, order_subject, review
from .scene_observation import observe, robot_state
from .shared_world import SharedWorld
from .touch_log import judged
from .world_difference import CameraSensor, WorldDifference

FALLS, LOOK = 6.0, 0.1  # s
FALLING = 0.02  # m/s
UNNAMED = "unknown"  # category of what matches no name

if TYPE_CHECKING:
    from .camera_looks import CameraLooks

OPERATIONS = (MOVE_TO, PICK_UP, PLACE_DOWN, *HANDLING, NAVIGATE, sequences.STRATEGY, EXECUTE_TEXT)


class TabletopDriver:
    """Driver of one Panda, by default alone in its world.

    `artifacts`: directory beside ENVIRONMENT.md that pictures go to (in its `camera/`); None: no pictures are kept.
    `interpreter`: language to orders, for real_execute. `difference`: what of the built world the robot is not told.
    `max_frame_age` (s): the oldest picture that it moves on. `profile`: the robot's profile as it is now, whose bounds
    and reach hold for what the arm does on the way, too; None: no limits. Called from one thread at a time, any thread.
    """

    operations = OPERATIONS

    def __init__(
        self,
        robot_id: str,
        *,
        world: SharedWorld | None = None,
        cameras: bool = True,
        artifacts: Path | None = None,
        interpreter: Interpreter | None = None,
        perception: str = TRUTH,
        difference: WorldDifference | None = None,
        max_frame_age: float | None = None,
        profile: Callable[[], Profile | None] = lambda: None,
    ) -> None:
        self.robot_id = robot_id
        self.world = world or SharedWorld()
        self._profile = profile
        self.world.join(robot_id, self._first_limits)
        self.interpreter = interpreter
        self._cameras = cameras
        self._album_root = artifacts
        self._album: ImageStore | None = None
        self._arm: Arm | None = None
        self._renderer: CameraRenderer | None = None
        self._film: VideoWriter | None = None
        self._fps = 10
        self._perception: Json = {}
        self._assumed: Scene | None = Scene()
        self._by_camera = perception == CAMERA
        self._difference, self._max_frame_age = difference, max_frame_age
        self.looks: CameraLooks | None = None
        self._kept: str | None = None  # what it held when its last order ended; None while one is at work

    @property
    def arm(self) -> Arm:
        if self._arm is None:
            raise BadInput(coded("robot.not_open"), op="open", fix=coded("robot.open_first"))
        return self._arm

    # --- Driver ---

    def open(self, scene: Scene) -> None:
        """Builds the world, unless another body has it open. Errors: `BadInput` for numbers that no world can have."""
        self._let_go()
        if self._by_camera:  # what pictures showed without a name is no thing of the world that is built
            scene = replace(scene, objects=tuple(thing for thing in scene.objects if thing.category != UNNAMED))
        self._arm = self._opened(scene)
        if self._album_root is not None:
            own_folder = self.robot_id if self.world.several else ""
            self._album = ImageStore(self._album_root, own_folder)
        self._kept = self._arm.rig.held()
        self._filmed()
        self._open_eyes()
        self.photograph(None)
        self._assumed = (
            None if self._by_camera and not self.world.made_up else self.world.assumed(scene, self.observe())
        )

    def _opened(self, told: Scene) -> Arm:
        if (other := self._difference) is None:
            return self.world.open(self.robot_id, told).arm(self.robot_id)
        arm = self.world.open(self.robot_id, other.true_scene(told)).arm(self.robot_id)
        with arm.view.working():
            other.change(arm, told)
        return arm

    def assumed(self) -> Scene | None:
        """None where it goes by its cameras: what they show is measured, as in a real world."""
        return self._assumed

    def observe(self) -> Scene:
        with self.arm.view.working():
            if self.looks is None:
                return observe(self.arm, self.robot_id, self._perception)
            seen = observe(self.arm.planning, self.robot_id, self._perception | self.looks.as_json())
            objects = (*seen.objects, *self.looks.rig.unknown.values())
            extra: Json = {**seen.extra, "tf": self.looks.transforms(self.robot_id)}
            if tables := self.looks.table_map():
                extra["map"] = {self.robot_id: tables}
            return replace(seen, objects=objects, extra=extra)

    def review(self, order: Order) -> Sequence[Finding]:
        with self.arm.view.working():
            self._hold_limits()
            if self.looks is not None and self._needs_truth(order):
                return (by_truth(order),)
            if self.looks is not None and (unsure := self._unsure(order)):
                return (unsure,)
            return review(self.arm.planning, order, self.interpreter, self._cameras)

    def _needs_truth(self, order: Order) -> bool:
        """Whether it is led by the world's own state: by what no picture measures."""
        return order.op in HANDLING_ACTS and order.op not in BY_CAMERA

    def execute(self, order: Order, run: Run) -> Outcome:
        with self.arm.view.working(order=True):
            self._kept = None
            try:
                return self._execute(order, run)
            finally:
                self._kept = self.arm.rig.held()
                self.arm.planned = ()
                self.arm.reserved.finish(self.robot_id, float(self.arm.simulation.data.time))

    def _execute(self, order: Order, run: Run) -> Outcome:
        arm = self.arm
        self._hold_limits()
        arm.mover.begin(lambda: run.stop)
        subject, start = order_subject(arm, order), float(arm.simulation.data.time)
        arm.reserved.handle(self.robot_id, () if subject is None else (subject,))
        action_evidence = ActionEvidence(arm, subject)
        began = run.clock.monotonic()
        try:
            outcome = self._carry_out(order, action_evidence)
        except MotionStopped as stopped:
            outcome = stop_failure(order.op, stopped, arm.mover, action_evidence.close())
        except FloatingPointError:
            diverged = coded("robot.diverged")
            return Outcome.failure(Cause.ERROR, "SIMULATION_DIVERGED", diverged, traceback=traceback.format_exc())
        if arm.mover.moved:
            outcome = moved_on(outcome)
        if (touches := arm.simulation.touches) is not None:
            outcome = judged(outcome, touches.since(start, (self.robot_id,)))
        if arm.mover.moved:
            self._await_rest(arm.reserved.handled_by_others(self.robot_id, start))
        if others := action_evidence.also_moved():
            outcome = displacements.with_displacements(outcome, others)
            if outcome.ok and action_evidence.bystanders():
                outcome = displacements.not_its_own(outcome)
        if not outcome.ok and arm.mover.moved:
            outcome = action_evidence.with_places(outcome)
        wall_s = round(run.clock.monotonic() - began, 3)
        outcome = replace(outcome, evidence={**outcome.evidence, "wall_s": wall_s})
        trouble = self.photograph(run.artifacts)
        if trouble:  # what was done is done: a full disk must not turn it into a failure
            outcome = replace(outcome, evidence={**outcome.evidence, "pictures": trouble})
        return outcome

    def _await_rest(self, theirs: Collection[str]) -> None:
        """What the order set in motion is measured where it comes to rest, unless that takes longer than `FALLS`."""
        arm, rig = self.arm, self.arm.rig
        watched = [id for id in rig.objects if id not in theirs and id != rig.held() and rig.holder(id) is None]
        with contextlib.suppress(MotionStopped):
            for _ in range(round(FALLS / LOOK)):
                if all(rig.speed(id) < FALLING for id in watched):
                    return
                arm.mover.wait(LOOK)

    def standstill(self, since: float) -> Standstill:
        arm = self._arm
        return Standstill(True) if arm is None else measured(arm.simulation, arm.mover.speed, STILL)

    def lost(self) -> tuple[str, RobotState] | None:
        arm = self._arm
        if arm is None or self._kept is None:
            return None
        with arm.view.working():
            kept = self._kept
            if kept is None or arm.rig.held() == kept:
                return None
            return kept, robot_state(arm.planning, self.robot_id)

    def close(self) -> None:
        self.stop_recording()
        self._let_go()

    def leave(self) -> bool:
        return self.world.leave(self.robot_id)

    # --- beyond the port ---

    def record(self, path: Path, fps: int = 10) -> None:
        """From now on films the front camera, `fps` frames a simulated second, until `stop_recording` or `close`.

        Raises `MissingRequirement` without OpenGL or (MP4) an encoder, `BadInput` for another suffix.
        """
        if not self._cameras:
            off = coded("robot.the_cameras_off")
            raise MissingRequirement(off, op="record", fix=coded("robot.without_no_cameras"))
        self._film = VideoWriter(os.fspath(path), fps)
        self._fps = fps
        self._filmed()

    def stop_recording(self) -> int:
        """Finishes the film, if any; how many frames it has."""
        if self._film is None:
            return 0
        done, self._film = self._film, None
        if self._arm is not None:
            self._arm.mover.watch = None
        if done.frames:
            done.close()
        else:
            done.discard()
        return done.frames

    def renderer(self) -> CameraRenderer:
        """The cameras of the present world. Raises `MissingRequirement` (CAMERA_UNAVAILABLE) naming the fix."""
        if not self._cameras:
            off, fix = coded("robot.the_cameras_off"), coded("robot.cameras_on")
            raise MissingRequirement(off, op="render", fix=fix, code="CAMERA_UNAVAILABLE")
        if self._renderer is None:
            self._renderer = CameraRenderer(self.arm.view)
        return self._renderer

    # --- inside ---

    def _hold_limits(self) -> None:
        """The limits of the profile as it is when an order is judged, and when it begins."""
        self.arm.limits.profile = self._profile() or Profile()

    def _first_limits(self) -> Profile:
        """Those that the arm begins within. A profile that cannot be read refuses orders, and no start."""
        try:
            return self._profile() or Profile()
        except WorldError:
            return Profile()

    def _carry_out_step(self, order: Order, meant: set[str]) -> Outcome:
        evidence = ActionEvidence(self.arm, order_subject(self.arm, order))
        try:
            return self._carry_out(order, evidence)
        finally:
            meant |= evidence.meant

    def _carry_out(self, order: Order, action_evidence: ActionEvidence) -> Outcome:
        arm = self.arm
        if self.looks is not None and self._needs_truth(order):
            return plan_failure(by_truth(order), action_evidence.close())
        if order.op not in sequences.OF_ORDERS and order.op in {op.name for op in self.operations}:
            stuck = withdrawal.begin(arm, order.op, order.id, action_evidence.more)
            if stuck is not None:
                return plan_failure(stuck, action_evidence.close())
        if order.op in HANDLING_ACTS:
            return self._verified(order, HANDLING_ACTS[order.op][1](arm, order, action_evidence), action_evidence)
        match order.op:
            case "move_to":
                return actions.move_to(arm, order, action_evidence)
            case "pick_up":
                return self._verified(order, actions.pick_up(arm, order, action_evidence), action_evidence)
            case "place":
                return self._verified(order, actions.attempt_place(arm, order, action_evidence), action_evidence)
            case "target_navigation":
                try:
                    renderer = self.renderer()
                except MissingRequirement as missing:
                    return Outcome.failure(
                        Cause.ERROR, missing.code, error_message(missing), evidence=action_evidence.close()
                    )
                return self._located(order, renderer, action_evidence)
            case "strategy":
                return sequences.strategy(arm, order, action_evidence, self._carry_out_step)
            case "real_execute":
                scene = self.observe()
                return sequences.real_execute(
                    arm, order, action_evidence, self._carry_out_step, interpreter=self.interpreter, scene=scene
                )
        unknown = coded("robot.unknown_op", op=order.op, known=sorted(op.name for op in self.operations))
        return Outcome.failure(Cause.ERROR, "UNKNOWN_OP", unknown, evidence=action_evidence.close())

    def _open_eyes(self) -> None:
        """The first look. Raises `MissingRequirement` without OpenGL or scipy, `BadInput` for a world of several."""
        if not self._by_camera:
            return
        if self.world.several:
            raise BadInput(coded("vision.cameras_alone"), op="open", fix=coded("vision.perceive_truth"))
        with needs("perception", op="open"):
            from .camera_looks import CameraLooks
        arm = self.arm
        sensor = self._difference.sensor if self._difference else CameraSensor()
        self.looks = CameraLooks(arm, self.renderer, sensor, self._max_frame_age)
        arm.believed, arm.look_at = self._believed_arm, self.looks.look_at
        arm.closed_on, arm.look_round = self.looks.belief.closed_on, self.looks.look
        with arm.view.working():
            self.looks.look()

    def _located(self, order: Order, renderer: CameraRenderer, action_evidence: ActionEvidence) -> Outcome:
        label = params.word(order.params, LABEL)
        ids = perception.matching_ids(self.arm.rig, label[1]) if label else []
        if self.looks is None or not ids:
            return perception.locate(self.arm, renderer, order, action_evidence)
        return self.looks.locate(order, ids, action_evidence)

    def _believed_arm(self) -> Arm:
        assert self.looks is not None
        self.looks.belief.refresh()
        return self.looks.arm

    def _unsure(self, order: Order) -> Finding | None:
        assert self.looks is not None
        if order.op != "pick_up" and order.op not in BY_CAMERA:
            return None
        named = handled_things(self.arm, order)
        return next((found for id in named if (found := self.looks.unsure(id, order.id))), None)

    def _verified(self, order: Order, outcome: Outcome, action_evidence: ActionEvidence) -> Outcome:
        if self.looks is None:
            return outcome
        return self.looks.after(order, outcome, action_evidence, action_evidence.thing)

    def photograph(self, job: Path | None = None) -> str:
        """Keeps a set of pictures, and the front one beside the job's own files. What went wrong, if anything did."""
        if not self._cameras or (self._album is None and job is None):
            return ""
        try:
            renderer = self.renderer()
        except MissingRequirement as missing:
            self._cameras = False  # the body goes on blind
            return error_message(missing)
        data = self.arm.simulation.data
        try:
            with self.arm.view.working():
                if self._album is not None:
                    self._perception = self._album.add(renderer, data)
                if job is not None and job.is_dir() and job != self._album_root:
                    write_png(job / "front.png", renderer.capture(data, "front"))
        except OSError as error:
            return error_message(from_os(error, path=str(job), op="keep a picture"))
        except WorldError as error:
            return error_message(error)
        return ""

    def _filmed(self) -> None:
        """Hangs the film, if there is one, on the present mover."""
        if self._film is None or self._arm is None:
            return
        film, rig, renderer = self._film, self._arm.rig, self.renderer()

        def frame() -> None:
            picture = renderer.capture(rig.simulation.data, "front").rgb
            assert picture is not None
            film.add(picture)

        self._arm.mover.watch_every = max(1, round(1 / (self._fps * TIMESTEP)))
        self._arm.mover.watch = frame

    def _let_go(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
        if self.looks is not None:
            self.looks.close()
        self._renderer, self._arm, self.looks = None, None, None
        self.world.close(self.robot_id)
