"""The table as a target: the Gymnasium environment of `drivers.mujoco.env` behind the port of adapters."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from functools import partial

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Order, Outcome, Scene, Target
from worldfs.base.model.profile import CAMERA, TRUTH
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.camera import CameraFrame
from worldfs.robots.mujoco.env import REPRESENTATIONS, TabletopEnv, action_space, observation_space, shapes
from worldfs.robots.mujoco.gl import gl_status
from worldfs.robots.mujoco.lazy_observation import LazyObservation
from worldfs.robots.mujoco.random_scene import random_scene
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.robots.mujoco.world_difference import WorldDifference
from worldfs.robots.targets.target_adapter import ActionSpec, Array, Observation, StepResult
from worldfs.robots.targets.target_declaration import unsupported


class TabletopTarget:
    """`target.config`: seed, objects (of a random scene), control_hz, control_mode, task, thing, place, perception.

    Other settings of an entry are refused by name before it is opened (`target_declaration.unsupported`).
    """

    def __init__(self, target: Target, context: PluginContext, *, difference: WorldDifference | None = None) -> None:
        self.target, self.context, self._difference = target, context, difference
        self._hz = _figure(target, "control_hz", 20.0, 1.0, 500.0)
        self._seed = int(_figure(target, "seed", 0, 0, 2**31))
        self._objects = int(_figure(target, "objects", 5, 1, 20))
        self._env: TabletopEnv | None = None
        self._assumed = Scene()
        self._stopped = threading.Event()
        self._shots: dict[str, tuple[float, Array]] = {}  # when each picture was taken (s of the world's time)

    @property
    def env(self) -> TabletopEnv:
        if self._env is None:
            raise BadInput(coded("target.not_open"), path=self.target.id, op="step", fix=coded("target.open_first"))
        return self._env

    def open(self) -> None:
        """Builds the world: what ENVIRONMENT.md holds, else a random scene of `config.seed`."""
        for item in unsupported(self.target, lambda document, id, member: f"{document} {id} {member}"):
            raise BadInput(item.found, path=item.field, expected=item.expected, fix=item.fix)
        given = self.context.scene
        scene = given if given is not None and (given.objects or given.furniture) else None
        scene = scene or random_scene(self._seed, self._objects, self.target.id, self.context.language)
        can_see = bool(self.target.cameras) and bool(gl_status().backend)
        perception = str(self.target.config.get("perception") or TRUTH)
        body = TabletopDriver(
            self.target.id,
            world=SharedWorld(language=self.context.language),
            cameras=can_see or perception == CAMERA,
            artifacts=self.context.artifacts,
            perception=perception,
            difference=self._difference,
        )
        pictures = tuple(self._cameras()) if can_see else ()
        goal = {name: str(self.target.config.get(name) or "") for name in ("task", "thing", "place")}
        self._env = TabletopEnv(
            goal["task"] or "pick", thing=goal["thing"], place=goal["place"], scene=scene, robot_id=self.target.id,
            control_hz=self._hz, pictures=pictures, picture_sizes=self._sizes(), body=body,
        )  # fmt: skip
        self._env.reset(seed=self._seed)
        if given is scene:
            assumed = body.assumed()  # None: it goes by its cameras
            self._assumed = self.scene() if assumed is None else assumed

    def sensors(self) -> frozenset[str]:
        """Joint states always; pictures and depth where cameras are declared and OpenGL is here."""
        cameras = (
            {"rgb_camera", "depth_camera"} if self.env.observation().keys() & {"rgb.front", "rgb.wrist"} else set()
        )
        return frozenset({"joint_states", *cameras})

    def actions(self) -> Sequence[ActionSpec]:
        mode = self.target.config.get("control_mode")
        spaces = {name: action_space(name) for name in REPRESENTATIONS if mode in (None, "", name)}
        return [ActionSpec(name, tuple(box.shape), box.low, box.high, self._hz) for name, box in spaces.items()]

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        seen = tuple(self._cameras()) if "rgb_camera" in self.sensors() else ()
        return shapes(observation_space(seen, self._sizes()))

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation:
        """`options`: task, thing, place, position of the episode; `fresh: true` makes a new random world of `seed`."""
        self._stopped.clear()
        given = dict(options or {})
        if given.pop("fresh", False):
            number = self._seed if seed is None else seed
            self._reopen(random_scene(number, self._objects, self.target.id, self.context.language))
        self.env.aim_by(given)
        self._shots.clear()
        return self._observation()

    def step(self, action: Array, representation: str) -> StepResult:
        if self._stopped.is_set():
            self.env.hold()
            return StepResult(self._observation(), clamped=("stopped",))
        mode = self.target.config.get("control_mode")
        if mode and representation != mode:
            raise BadInput(representation, path=f"TARGETS.md {self.target.id} config.control_mode", expected=str(mode))
        clamped = self.env.act(action, representation)
        done = self.env.done()
        return StepResult(self._observation(), self.env.reward(done), done, False, done, tuple(clamped))

    def observe(self) -> Observation:
        return self._observation()

    def scene(self) -> Scene:
        body = self.env.body
        return body.observe()

    def assumed(self) -> Scene:
        return self._assumed

    def stop(self) -> None:
        """From any thread: the world is still between two steps, so the next one holds instead of moving."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called since the session began."""
        return self._stopped.is_set()

    def set_run(self, run: Run | None) -> None:
        """A session begins: what stopped the last one is over."""
        if run is not None:
            self._stopped.clear()

    def heartbeat(self) -> None:
        return  # a world that is still between two steps needs no watchdog

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            env.close()

    # -- beyond the port: for scripted skills -------------------------------------------------------------------------

    @property
    def ops(self) -> frozenset[str]:
        return frozenset(op.name for op in self.env.body.operations)

    def judge(self, order: Order) -> Sequence[Finding]:
        return self.env.body.review(order)

    def carry_out(self, order: Order, run: Run) -> Outcome:
        """An op of the body (pick_up, place, move_to …), planned and measured by it."""
        outcome = self.env.body.execute(order, run)
        self._aim_again()
        return outcome

    @property
    def arm(self) -> Arm:
        """For skills that plan and lead it themselves; `moved` when they are done."""
        return self.env.body.arm

    def capture_frame(self, camera: str, *, rgb: bool = False) -> CameraFrame:
        """Depth and segments with the camera's pose. Errors: `MissingRequirement`, code CAMERA_UNAVAILABLE."""
        body = self.env.body
        return body.renderer().capture(body.arm.simulation.data, camera, rgb=rgb, depth=True, segments=True)

    def moved(self) -> None:
        """The arm was moved by another caller: the next step begins where it is now, and the pictures are new."""
        self.env.body.photograph()
        self._shots.clear()
        self._aim_again()

    def _observation(self) -> Observation:
        """The present observation; a camera's picture is a new one `fps` times a second of the world's time."""
        observation, now = self.env.observation(), float(self.env.body.arm.simulation.data.time)

        def taken(name: str, period: float) -> Array:
            at, picture = self._shots.get(name, (-math.inf, None))
            if picture is None or now < at or now - at > period - 1e-6:
                at, picture = now, observation[name]
                self._shots[name] = at, picture
            return picture

        periods = {camera.name: 1 / camera.fps for camera in self.target.cameras}
        frames = {
            name: periods.get(name.partition(".")[2], 0.0)
            for name in observation
            if name.startswith(("rgb.", "depth."))
        }
        numbers = {name: observation[name] for name in observation if name not in frames}
        return LazyObservation(numbers, {name: partial(taken, name, period) for name, period in frames.items()})

    def _aim_again(self) -> None:
        if self.env.goal.thing in self.env.body.arm.rig.body:
            self.env.aim(task=self.env.goal.task, thing=self.env.goal.thing, place=self.env.goal.place)

    def _reopen(self, scene: Scene) -> None:
        self.env.body.open(scene)

    def _sizes(self) -> dict[str, tuple[int, int]]:
        return {camera.name: camera.resolution for camera in self.target.cameras}

    def _cameras(self) -> list[str]:
        return [camera.name for camera in self.target.cameras]


def _figure(target: Target, member: str, default: float, low: float, high: float) -> float:
    value = target.config.get(member)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadInput(
            f"{value!r}",
            path=f"TARGETS.md {target.id} config.{member}",
            expected=coded("common.number_range", low=low, high=high),
        )
    return float(value)
