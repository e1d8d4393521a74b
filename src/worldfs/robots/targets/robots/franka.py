"""Franka arms (Panda, FR3) through franky, a maintained client of the maker's control interface.

`config`: `ip`; `model` panda | fr3 (else the tighter figure of both); `gripper` false without a Franka Hand; `realtime`
ignore | enforce; `recover` true: a session may clear a reflex (never the user's stop button).

Interface as of franky-control 2.0: `RobotInterface(ip)`, `JointMotion(target)` moved asynchronously and replaced by
the next, `JointStopMotion`, `state`, `set_collision_behavior`, `recover_from_errors`, `Gripper`. Every action becomes
joint angles at most one control period away, so a motion ends by itself. If this process dies, the control interface
loses its 1 kHz packets and the robot's own controller stops it ("communication_constraints_violation").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.mujoco import panda
from worldfs.robots.targets.kinematics import Chain, from_dh
from worldfs.robots.targets.safety_limits import REDUCED_SPEED, SafetyLimits, effective_limits
from worldfs.robots.targets.target_adapter import Array
from worldfs.robots.targets.target_declaration import LIBRARIES

from .robot_interface import RobotCommand, RobotInterface, RobotReading
from .robot_library import config_member, driver_place, import_library

INSTALL: Final = LIBRARIES["franka"][1]
NAMES: Final = tuple(f"joint{i}" for i in range(1, 8))
# rad: "Limits for Franka Research 3" of the maker's control interface specification; those of Panda stand in panda.py
FR3: Final = (
    (-2.7437, 2.7437), (-1.7837, 1.7837), (-2.9007, 2.9007), (-3.0421, -0.1518), (-2.8065, 2.8065), (0.5445, 4.5169),
    (-3.0159, 3.0159),
)  # fmt: skip
MAKER_EE, MAKER_TURN = 1.7, 2.5  # m/s, rad/s: the same page, Panda
MAKER_GRIP: Final = 70.0  # N: the hand's continuous force
GRIP_SPEED: Final = 0.1  # m/s of the fingers; the hand's data sheet: 0.05 a finger
AGREE_M: Final = 0.005  # m between this package's kinematics and the robot's
STOP_S: Final = 0.5  # for a smooth stop; then at once


def robot(target: Target, context: PluginContext) -> RobotInterface:
    return FrankaArm(target, context)


class FrankaArm:
    joints = NAMES
    serial = False

    def __init__(self, target: Target, context: PluginContext) -> None:
        self._target, self._context = target, context
        self._at = f"TARGETS.md {target.id} config"
        self._ip = config_member(target, "ip", str)
        spans = {"panda": panda.LIMITS, "fr3": FR3}
        model = target.config.get("model")
        if model is not None and model not in spans:
            raise BadInput(f"{model!r}", path=f"{self._at}.model", expected=coded("target.arms"))
        chosen = [np.array(span) for name, span in spans.items() if model in (None, name)]
        self.maker = SafetyLimits(
            joint_low=np.max([span[:, 0] for span in chosen], axis=0),
            joint_high=np.min([span[:, 1] for span in chosen], axis=0),
            joint_speed=np.array(panda.SPEED), ee_speed=MAKER_EE, ee_turn=MAKER_TURN, gripper_force=MAKER_GRIP,
            torque=np.array(panda.TORQUE), force=100.0, watchdog_s=5.0, stale_s=10.0,
        )  # fmt: skip
        self.usual = SafetyLimits(
            joint_speed=0.4 * np.array(panda.SPEED), joint_step=0.15, ee_speed=REDUCED_SPEED, ee_turn=0.8,
            gripper_force=20.0, force=30.0, torque=np.full(7, 20.0), follow=0.25, watchdog_s=1.0, stale_s=1.5,
        )  # fmt: skip
        rows = list(zip(panda.DH_A, panda.DH_D, panda.DH_ALPHA, strict=True))
        self.chain: Chain | None = from_dh(rows)
        self.width = 2 * panda.STROKE
        self._franky: Any = None  # the library is not here for the type checker
        self._robot: Any = None
        self._hand: Any = None
        self._grip: tuple[float, Any] = (math.nan, None)  # the width that was last sent, and its future
        self._opening = 0.0
        self._tick: tuple[float, float] = (-1.0, 0.0)  # the robot's time, and this process's when it was first received

    def connect(self) -> None:
        self._franky = franky = import_library("franky", driver_place(self._target), INSTALL)
        realtime = config_member(self._target, "realtime", str, "ignore").title()
        if realtime not in ("Ignore", "Enforce"):
            raise BadInput(f"{realtime!r}", path=f"{self._at}.realtime", expected=coded("target.ignore_enforce"))
        try:
            made = franky.Robot(self._ip, realtime_config=getattr(franky.RealtimeConfig, realtime))
        except franky.IncompatibleVersionException as error:
            raise MissingRequirement(
                coded("target.other_protocol", why=str(error)), path=f"{self._at}.ip", fix=INSTALL
            ) from error
        except Exception as error:  # network, realtime, protocol: they derive from nothing common
            raise MissingRequirement(
                coded("target.no_franka", ip=self._ip, why=str(error)), path=f"{self._at}.ip",
                expected=coded("target.unlocked"),
                fix=coded("target.unlock"),
            ) from error  # fmt: skip
        self._robot = made
        if self._target.config.get("gripper") is not False:
            self._take_hand()
        self._agree()
        self._caps()

    def sensors(self) -> frozenset[str]:
        return frozenset({"joint_states", "force_torque"})

    def pictures(self) -> Mapping[str, tuple[int, int]]:
        return {}

    def read(self) -> RobotReading:
        state = self._robot.state
        now = self._context.clock.monotonic()
        tick = state.time.to_sec()
        if tick != self._tick[0]:
            self._tick = (tick, now)  # a state that stopped coming keeps the age it has
        if self._hand is not None:
            done = self._grip[1] is None or self._grip[1].wait(0.0)
            if done:
                self._opening = min(max(float(self._hand.width) / self.width, 0.0), 1.0)
        return RobotReading(
            self._tick[1], np.array(state.q, float).ravel(), np.array(state.dq, float).ravel(), self._opening,
            force=float(np.linalg.norm(np.array(state.O_F_ext_hat_K, float).ravel()[:3])),
            torques=np.array(state.tau_ext_hat_filtered, float).ravel(), trouble=self._trouble(state),
        )  # fmt: skip

    def prepare(self) -> None:
        """Clears a reflex if the target's config lets a session do so."""
        if self._robot is not None and self._robot.has_errors and self._target.config.get("recover") is True:
            self._robot.recover_from_errors()

    def send(self, command: RobotCommand) -> None:
        self._robot.poll_motion()  # raises what went wrong in the motion before
        self._robot.move(self._franky.JointMotion([float(q) for q in command.joints]), asynchronous=True)
        if self._hand is not None:
            self._fingers(command.opening * self.width)

    def halt(self) -> None:
        made = self._robot
        if made is None or not made.is_in_control:
            return
        try:
            made.move(self._franky.JointStopMotion(), asynchronous=True)
            if made.join_motion(timeout=STOP_S):
                return
        except (self._franky.ControlException, self._franky.CommandException, self._franky.InvalidMotionTypeException):
            if not made.is_in_control:
                return  # it stopped itself
        made.stop()

    def close(self) -> None:
        self._robot = self._hand = None  # the library ends its control loop and lets go

    # -- inside ------------------------------------------------------------------------------------------------------

    def _take_hand(self) -> None:
        try:
            self._hand = self._franky.Gripper(self._ip)
            self.width = float(self._hand.max_width) or self.width
        except (self._franky.NetworkException, self._franky.CommandException) as error:
            raise MissingRequirement(
                coded("target.no_gripper", ip=self._ip, why=str(error)),
                path=f"{self._at}.gripper",
                fix=coded("target.gripper_false"),
            ) from error

    def _agree(self) -> None:
        """This package's tool frame must be the robot's: else the workspace box would be elsewhere."""
        state = self._robot.state
        assert self.chain is not None
        self.chain = replace(self.chain, tool=_flange() @ np.array(state.F_T_EE.matrix, float))
        ours = self.chain.forward(np.array(state.q, float).ravel())[:3, 3]
        theirs = np.array(state.O_T_EE.translation, float).ravel()
        if float(np.linalg.norm(ours - theirs)) > AGREE_M:
            raise BadInput(
                coded("target.other_kinematics", mm=1000 * float(np.linalg.norm(ours - theirs))),
                path=f"{self._at}.ip",
                expected=coded("target.one_of_two"),
            )

    def _caps(self) -> None:
        """The robot's own reflexes and planner keep to the same figures: they check a thousand times a second."""

        limits = effective_limits(
            self._target.config.get("safety"), NAMES, self.usual, self.maker, path=f"{self._at}.safety"
        )
        assert limits.torque is not None
        assert limits.joint_speed is not None
        self._force = limits.gripper_force
        self._robot.set_collision_behavior(
            [float(t) for t in limits.torque], [limits.force] * 3 + [limits.force / 2] * 3
        )
        most = np.array(self._robot.joint_velocity_limit.max, float).ravel()
        share = float(np.clip(np.min(limits.joint_speed / most), 0.01, 1.0))
        self._robot.relative_dynamics_factor = self._franky.RelativeDynamicsFactor(
            share, min(share, 0.3), min(share, 0.3)
        )

    def _trouble(self, state: Any) -> str:
        mode = self._franky.RobotMode
        if state.robot_mode == mode.UserStopped:
            return coded("target.user_stop")
        if state.robot_mode == mode.Guiding:
            return coded("target.hand_guided")
        if state.robot_mode == mode.Reflex or self._robot.has_errors:
            return coded("target.stopped_itself", why=_errors(state))
        return ""

    def _fingers(self, width: float) -> None:
        """Sent only when it changed; closing grips, opening goes."""
        sent, future = self._grip
        if future is not None and not future.wait(0.0):
            return
        if abs(width - sent) < 0.002:
            return
        closing = width < float(self._hand.width) - 0.001
        future = (
            self._hand.grasp_async(width, GRIP_SPEED, self._force, epsilon_inner=self.width, epsilon_outer=self.width)
            if closing
            else self._hand.move_async(width, GRIP_SPEED)
        )
        self._grip = (width, future)


def _flange() -> Array:
    frame = np.eye(4)
    frame[2, 3] = panda.FLANGE
    return frame


def _errors(state: Any) -> str:
    """Names of the set errors, as the maker words them."""
    found = [
        name
        for errors in (state.current_errors, state.last_motion_errors)
        for name in dir(errors)
        if not name.startswith("_") and getattr(errors, name) is True
    ]
    return ", ".join(dict.fromkeys(found)) or coded("target.reflex")
