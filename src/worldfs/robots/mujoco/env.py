"""The table as a Gymnasium environment: `gymnasium.make("worldfs/Tabletop-v0", task="pick")` after `register()`.

Actions are small motions of the gripper at `control_hz`; the arm follows by inverse kinematics, at the joint speeds of
the data sheet. Observations are those of `drivers.targets.adapter`: SI units, arrays by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import gymnasium
import mujoco
import numpy as np
from gymnasium import spaces

from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded
from worldfs.base.model import Scene
from worldfs.robots import rotations

from . import geometry, panda
from .camera import HEIGHT, WIDTH
from .ik import HIGH, LOW
from .lazy_observation import Array, LazyObservation
from .model_builder import TIMESTEP
from .motion_control import CLOSE, SPEED
from .random_scene import random_scene
from .shared_world import SharedWorld
from .tabletop_driver import TabletopDriver
from .task_predicates import DONE, TaskGoal, goal_position

ID: Final = "worldfs/Tabletop-v0"
STEP_M, STEP_RAD = 0.03, 0.15  # the largest change of the gripper's pose in one action: 0.6 m/s and 3 rad/s at 20 Hz
_THING: Final = {"object_position": 3, "object_orientation": 4, "object_size": 3, "goal_position": 3}
REPRESENTATIONS: Final = {"ee_delta": 7, "joint_position": 8, "joint_velocity": 8, "ee_pose": 8}


def register() -> None:
    """Make the id known to Gymnasium; twice does nothing."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point="worldfs.robots.mujoco.env:TabletopEnv", max_episode_steps=400)


class TabletopEnv(gymnasium.Env[dict[str, Array], Array]):
    """`task`: reach | pick | place | stack; `thing`, `place`: ids, "" for the first object and the basket.

    `pictures`: camera names ("front", "wrist") whose `rgb.` and `depth.` are in the observation, 480 × 640.
    `picture_sizes`: camera → width, height of those that are smaller.
    `scene`: a fixed one; None makes a random one from each reset's seed.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012  # Gymnasium's own form

    def __init__(
        self,
        task: str = "pick",
        *,
        thing: str = "",
        place: str = "",
        objects: int = 3,
        scene: Scene | None = None,
        robot_id: str = "tabletop",
        representation: str = "ee_delta",
        control_hz: float = 20.0,
        pictures: tuple[str, ...] = (),
        picture_sizes: Mapping[str, tuple[int, int]] | None = None,
        render_mode: str | None = None,
        body: TabletopDriver | None = None,
    ) -> None:
        if task not in DONE:
            raise BadInput(coded("robot.no_task", task=task), expected=coded("common.either_of", names=[*DONE]))
        if representation not in REPRESENTATIONS:
            raise BadInput(
                coded("robot.no_actions", name=representation),
                expected=coded("common.either_of", names=[*REPRESENTATIONS]),
            )
        self.task, self.thing, self.place = task, thing, place
        self.representation, self.control_hz = representation, control_hz
        self.render_mode = render_mode
        self._pictures, self._sizes = pictures, picture_sizes or {}
        self._scene = scene
        self.body = body or TabletopDriver(robot_id, world=SharedWorld(objects=objects))
        self._objects = objects
        self._steps = max(1, round(1 / (control_hz * TIMESTEP)))
        self._command = np.zeros(panda.ARM)
        self._wanted: tuple[Array, Array] | None = None  # position and rotation that the gripper is led to
        self.goal = TaskGoal(task, "")
        self.action_space: spaces.Space[Array] = action_space(representation)
        self.observation_space: spaces.Dict = observation_space(pictures, self._sizes)  # type: ignore[assignment]  # a Dict is a space of mappings

    # -- Gymnasium ---------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[dict[str, Array], dict[str, object]]:
        """A new world: the fixed scene, or a random one. `options` may name `task`, `thing`, `place`, `position`."""
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        scene = self._scene or random_scene(number, self._objects, self.body.robot_id)
        self.body.open(scene)
        self.aim_by(options or {})
        return dict(self.observation()), {"goal": self.goal._asdict()}

    def step(self, action: Array) -> tuple[dict[str, Array], float, bool, bool, dict[str, object]]:
        self.act(action, self.representation)
        done = self.done()
        return dict(self.observation()), self.reward(done), done, False, {"is_success": done}

    def render(self) -> Array:
        rgb = self.body.renderer().capture(self.body.arm.simulation.data, "front").rgb
        assert rgb is not None
        return rgb

    def close(self) -> None:
        self.body.close()

    # -- its parts, for adapters and skills --------------------------------------------------------------------------

    def aim_by(self, options: Mapping[str, object]) -> None:
        """`aim`, by the options of an episode."""
        position = options.get("position")
        self.aim(
            task=as_text(options.get("task")), thing=as_text(options.get("thing")), place=as_text(options.get("place")),
            position=tuple(map(float, position)) if isinstance(position, Iterable) else (),
        )  # fmt: skip

    def aim(
        self, *, task: str = "", thing: str = "", place: str = "", position: tuple[float, ...] = (), **_: object
    ) -> None:
        """Sets the goal."""
        rig = self.body.arm.rig
        task = task or self.task
        chosen = thing or self.thing or (rig.objects[0] if rig.objects else "")
        if chosen not in rig.body:
            raise BadInput(
                coded("robot.no_object", id=chosen),
                expected=coded("common.either_of", names=[*rig.objects] or coded("common.none")),
            )
        where = place or self.place
        if task in ("place", "stack") and not where and not position:
            baskets = [piece.id for piece in rig.furniture if piece.shape == "basket"]
            others = baskets if task == "place" else [id for id in rig.objects if id != chosen]
            where = others[0] if others else ""
        if where and where not in rig.things:
            raise BadInput(coded("robot.no_place", id=where), expected=coded("common.either_of", names=[*rig.things]))
        self.goal = TaskGoal(task, chosen, where, tuple(position), float(rig.position(chosen)[2]))
        self._command = rig.view.joints()
        self._wanted = None

    def act(self, action: Array, representation: str) -> list[str]:
        """One control period. Returns the limits that changed it; a pose that no joints reach is not followed."""
        action = np.asarray(action, dtype=float).ravel()
        if action.shape != (REPRESENTATIONS[representation],) or not np.isfinite(action).all():
            raise BadInput(
                coded("robot.action_size", n=action.size),
                expected=coded("robot.finite_numbers", n=REPRESENTATIONS[representation]),
            )
        clamped: list[str] = []
        arm, dt = self.body.arm, self._steps * TIMESTEP
        goal = self._joints(action, representation, dt, clamped)
        limited = np.clip(goal, LOW, HIGH)
        if not np.array_equal(limited, goal):
            clamped.append("joint limit")
        most = 2 * SPEED * dt  # the data sheet's speed
        change = limited - self._command
        scale = float(np.max(np.abs(change) / most))
        if scale > 1:
            clamped.append("joint speed")
            change = change / scale
        start = self._command.copy()
        self._command = start + change
        arm.view.grip(self._fingers(float(action[-1]), representation))
        shares = np.arange(1, self._steps + 1) / self._steps
        arm.view.advance(self._steps, start + np.outer(shares, change) + panda.LAG * (change / dt))
        arm.mover.steps += self._steps
        if not np.isfinite(arm.view.joints()[0]):
            raise FloatingPointError("the simulation diverged")
        return clamped

    def observation(self) -> LazyObservation:
        rig = self.body.arm.rig
        position, rotation = rig.view.tcp_pose()
        numbers: dict[str, Array] = {
            "joint_states": rig.view.joints(),
            "joint_velocities": rig.view.speeds(),
            "gripper": np.array([rig.view.opening()]),
            "ee_pose": np.array([*position, *geometry.quat_of(rotation)]),
            **self._thing(),
        }
        frames = {f"{kind}.{name}": (kind, name) for name in self._pictures for kind in ("rgb", "depth")}
        return LazyObservation(numbers, {key: lambda at=at: self._capture(*at) for key, at in frames.items()})  # type: ignore[misc]  # binds the loop's value

    def done(self) -> bool:
        return self.goal.thing in self.body.arm.rig.body and bool(DONE[self.goal.task](self.body.arm, self.goal))

    def reward(self, done: bool) -> float:
        """1 when done, else minus the remaining metres: gripper to object, object to goal."""
        if done:
            return 1.0
        rig = self.body.arm.rig
        at = rig.position(self.goal.thing)
        hand = float(np.linalg.norm(rig.view.tcp_pose()[0] - at))
        return -hand - float(np.linalg.norm(at - goal_position(self.body.arm, self.goal)))

    def hold(self) -> None:
        """Stop where it is."""
        self.body.arm.mover.hold()
        self._command, self._wanted = self.body.arm.view.joints(), None

    # -- inside ------------------------------------------------------------------------------------------------------

    def _thing(self) -> dict[str, Array]:
        """Position, orientation (identity for a ball), full extents and goal position of the goal's object (m)."""
        rig, id = self.body.arm.rig, self.goal.thing
        if id not in rig.body:
            return {name: np.zeros(size) for name, size in _THING.items()}
        ball = rig.things[id].shape == "sphere"
        return {
            "object_position": rig.position(id),
            "object_orientation": np.array([1.0, 0, 0, 0]) if ball else rig.quat(id),
            "object_size": np.array(rig.things[id].size, dtype=float),
            "goal_position": goal_position(self.body.arm, self.goal),
        }

    def _joints(self, action: Array, representation: str, dt: float, clamped: list[str]) -> Array:
        if representation == "joint_position":
            return np.asarray(action[: panda.ARM])
        if representation == "joint_velocity":
            return np.asarray(self._command + action[: panda.ARM] * dt)
        solver = self.body.arm.solver
        if representation == "ee_delta":
            moved, turned = _capped(action[:3], STEP_M, clamped), _capped(action[3:6], STEP_RAD, clamped)
            position, rotation = self._wanted or solver.pose(self._command)
            wanted = position + moved, rotations.matrix(_turn(turned)) @ rotation
        else:
            wanted = np.asarray(action[:3]), rotations.matrix(_unit(action[3:7]))
        found = solver.near(self._command, *wanted)
        if found is None:
            clamped.append("reach")
            return self._command
        self._wanted = wanted
        return found

    def _fingers(self, word: float, representation: str) -> float:
        """Metres a finger. `ee_delta`: −1 close … 1 open; else 0 closed … 1 open. Closed means held."""
        open_ = (word + 1) / 2 if representation == "ee_delta" else word
        return CLOSE if open_ < 0.5 else panda.STROKE * min(1.0, open_)

    def _capture(self, kind: str, camera: str) -> Array:
        frame = self.body.renderer().capture(
            self.body.arm.simulation.data, camera, rgb=kind == "rgb", depth=kind == "depth",
            size=self._sizes.get(camera, (WIDTH, HEIGHT)),
        )  # fmt: skip
        found = frame.rgb if kind == "rgb" else frame.depth
        assert found is not None
        return found


def action_space(representation: str) -> spaces.Box:
    """Bounds of one action; see `drivers.targets.adapter.ACTIONS`."""
    low, high = (np.array(side) for side in zip(*panda.LIMITS, strict=True))
    speed = np.array(panda.SPEED)
    sides = {
        "ee_delta": ([-STEP_M] * 3 + [-STEP_RAD] * 3 + [-1], [STEP_M] * 3 + [STEP_RAD] * 3 + [1]),
        "joint_position": ([*low, 0], [*high, 1]),
        "joint_velocity": ([*-speed, 0], [*speed, 1]),
        "ee_pose": ([-2.0] * 3 + [-1.0] * 4 + [0], [2.0] * 3 + [1.0] * 4 + [1]),
    }[representation]
    return spaces.Box(np.array(sides[0], np.float32), np.array(sides[1], np.float32), dtype=np.float32)


def observation_space(
    pictures: tuple[str, ...], picture_sizes: Mapping[str, tuple[int, int]] | None = None
) -> spaces.Dict:
    sizes = {"joint_states": 7, "joint_velocities": 7, "gripper": 1, "ee_pose": 7, **_THING}
    known: dict[str, spaces.Space[Any]] = {
        name: spaces.Box(-np.inf, np.inf, (size,), np.float64) for name, size in sizes.items()
    }
    for camera in pictures:
        width, height = (picture_sizes or {}).get(camera, (WIDTH, HEIGHT))
        known[f"rgb.{camera}"] = spaces.Box(0, 255, (height, width, 3), np.uint8)
        known[f"depth.{camera}"] = spaces.Box(0, np.inf, (height, width), np.float32)
    return spaces.Dict(known)


def shapes(space: spaces.Space[Any]) -> Mapping[str, tuple[tuple[int, ...], str]]:
    """Name → (shape, dtype) of an observation space; one that is no mapping is called `state`."""
    inner = space.spaces if isinstance(space, spaces.Dict) else {"state": space}
    return {name: (tuple(part.shape or ()), str(part.dtype)) for name, part in inner.items()}


def _capped(vector: Array, most: float, clamped: list[str]) -> Array:
    size = float(np.linalg.norm(vector))
    if size <= most * np.sqrt(3) + 1e-9:
        return np.asarray(vector)
    clamped.append("step")
    return np.asarray(vector * (most * np.sqrt(3) / size))


def _turn(vector: Array) -> tuple[float, ...]:
    """The quaternion (w, x, y, z) of a rotation vector (rad)."""
    quat = np.zeros(4)
    angle = float(np.linalg.norm(vector))
    mujoco.mju_axisAngle2Quat(quat, vector / angle if angle > 1e-12 else np.array([0.0, 0, 1]), angle)
    return tuple(quat)


def _unit(quat: Array) -> tuple[float, ...]:
    size = float(np.linalg.norm(quat))
    if size < 1e-6:
        raise BadInput(coded("robot.no_quaternion"), expected=coded("robot.quaternion"))
    return tuple(np.asarray(quat) / size)
