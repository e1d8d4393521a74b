"""Stand-in for franky-control 2.0: the names and the behaviour that a client meets, over a simulated arm.

Asynchronous motions raise later: what goes wrong in one comes out of the next `move`, `poll_motion` or `join_motion`.
"""

import math
import threading
from enum import Enum
from types import SimpleNamespace

import numpy as np
from plant import Wire, monotonic, sleep

from worldfs.robots.mujoco import panda

MAKER = np.array(panda.SPEED)


class NetworkException(Exception): ...


class IncompatibleVersionException(Exception): ...


class ControlException(Exception): ...


class CommandException(Exception): ...


class InvalidMotionTypeException(Exception): ...


class MotionReuseException(Exception): ...


class RealtimeConfig(Enum):
    Enforce = 0
    Ignore = 1


class RobotMode(Enum):
    Other = 0
    Idle = 1
    Move = 2
    Guiding = 3
    Reflex = 4
    UserStopped = 5
    AutomaticErrorRecovery = 6


_MODES = {"idle": "Idle", "move": "Move", "reflex": "Reflex", "user_stopped": "UserStopped", "guiding": "Guiding"}


class Duration:
    def __init__(self, milliseconds=0):
        self._ms = milliseconds

    def to_msec(self):
        return self._ms

    def to_sec(self):
        return self._ms / 1000


class Affine:
    def __init__(self, transformation_matrix=None):
        self.matrix = np.eye(4) if transformation_matrix is None else np.asarray(transformation_matrix, float)

    @property
    def translation(self):
        return self.matrix[:3, 3]


class RelativeDynamicsFactor:
    def __init__(self, velocity=1.0, acceleration=None, jerk=None):
        self.velocity = velocity
        self.acceleration = velocity if acceleration is None else acceleration
        self.jerk = velocity if jerk is None else jerk
        if not all(0 < part <= 1 for part in (self.velocity, self.acceleration, self.jerk)):
            raise ValueError("must be in the range (0, 1]")


class JointMotion:
    def __init__(self, target, reference_type=None, relative_dynamics_factor=1.0, return_when_finished=True):
        self.target = np.asarray(target, float)
        assert self.target.shape == (7,)
        self.used = False


class JointStopMotion:
    def __init__(self, relative_dynamics_factor=1.0):
        self.used = False


class Robot:
    control_rate = 0.001
    degrees_of_freedom = 7

    def __init__(
        self, fci_hostname, relative_dynamics_factor=1.0, default_torque_threshold=20.0, default_force_threshold=30.0,
        controller_mode=None, realtime_config=RealtimeConfig.Enforce,
    ):  # fmt: skip
        if realtime_config is RealtimeConfig.Enforce:
            raise Exception("libfranka: Running kernel does not have realtime capabilities.")
        try:
            self._wire = Wire(fci_hostname)
        except OSError as error:
            raise NetworkException(f"libfranka: Connection error: {error}") from error
        self.fci_hostname = fci_hostname
        self._factor, self._force = RelativeDynamicsFactor(1.0), default_force_threshold
        self._stored = None
        self._in_motion = False
        self.joint_velocity_limit = SimpleNamespace(max=MAKER.copy(), get=MAKER.copy)

    @property
    def state(self):
        said = self._ask("state")
        hand = np.eye(4)
        c = math.cos(panda.HAND_TURN)
        s = math.sin(panda.HAND_TURN)
        hand[:2, :2], hand[2, 3] = [[c, -s], [s, c]], panda.TCP
        mode = RobotMode[_MODES[said["mode"]]]
        return SimpleNamespace(
            q=np.array(said["q"]), dq=np.array(said["dq"]), O_T_EE=Affine(panda.forward(np.array(said["q"]))),
            F_T_EE=Affine(hand), O_F_ext_hat_K=np.array([0, 0, said["force"], 0, 0, 0.0]),
            tau_ext_hat_filtered=np.zeros(7), robot_mode=mode, time=Duration(round(1000 * said["t"])),
            current_errors=_Errors(mode is RobotMode.Reflex), last_motion_errors=_Errors(mode is RobotMode.Reflex),
        )  # fmt: skip

    @property
    def has_errors(self):
        return self._ask("state")["mode"] == "reflex"

    @property
    def is_in_control(self):
        return self._ask("state")["mode"] == "move"

    @property
    def relative_dynamics_factor(self):
        return self._factor

    @relative_dynamics_factor.setter
    def relative_dynamics_factor(self, factor):
        if self.is_in_control:
            raise RuntimeError("the robot is in control")
        self._factor = factor if isinstance(factor, RelativeDynamicsFactor) else RelativeDynamicsFactor(factor)
        self._ask("threshold", force=self._force, share=self._factor.velocity)

    def set_collision_behavior(self, torque_thresholds, force_thresholds):
        assert len(torque_thresholds) == 7
        assert len(force_thresholds) == 6
        self._force = force_thresholds[0]
        self._ask("threshold", force=self._force, share=self._factor.velocity)

    def move(self, motion, asynchronous=False, limit_rate=False, cutoff_frequency=100.0):
        self.poll_motion()
        if motion.used:
            raise MotionReuseException("a motion cannot be used twice")
        motion.used = True
        if isinstance(motion, JointStopMotion):
            self._ask("stop")
        elif (error := self._ask("goto", q=motion.target.tolist()).get("error")) is not None:
            raise CommandException(f"libfranka: command rejected: robot is in mode {error}")
        self._in_motion = True
        if not asynchronous:
            self.join_motion()

    def poll_motion(self):
        mode = self._ask("state")["mode"]
        if self._in_motion and mode != "move":
            self._in_motion = False
            if mode == "reflex":
                raise ControlException("libfranka: Move command aborted: motion aborted by reflex! [cartesian_reflex]")
        return mode == "move"

    def join_motion(self, timeout=None):
        until = math.inf if timeout is None else monotonic() + timeout
        while self.poll_motion():
            if monotonic() > until:
                return False
            sleep(0.005)
        return True

    def recover_from_errors(self):
        self._ask("recover")
        return not self.has_errors

    def stop(self):
        self._ask("stop")

    def _ask(self, op, **said):
        try:
            return self._wire.ask(op, **said)
        except OSError as error:
            raise NetworkException(f"libfranka: UDP receive: {error}") from error


class _Errors:
    def __init__(self, reflex):
        self.cartesian_reflex, self.joint_reflex = reflex, False


class BoolFuture:
    def __init__(self, seconds):
        self._until = monotonic() + seconds
        self._lock = threading.Lock()

    def wait(self, timeout=None):
        left = self._until - monotonic()
        if left > 0 and timeout != 0:
            sleep(left if timeout is None else min(left, timeout))
        return monotonic() >= self._until

    def get(self):
        self.wait()
        return True


class Gripper:
    def __init__(self, fci_hostname):
        try:
            self._wire = Wire(fci_hostname)
        except OSError as error:
            raise NetworkException(f"libfranka gripper: {error}") from error
        self.max_width = 0.08

    @property
    def width(self):
        return self.max_width * self._wire.ask("state")["opening"]

    def move_async(self, width, speed):
        self._wire.ask("grip", opening=width / self.max_width)
        return BoolFuture(0.02)

    def grasp_async(self, width, speed, force, epsilon_inner=0.005, epsilon_outer=0.005):
        assert force <= 70
        self._wire.ask("grip", opening=width / self.max_width)
        return BoolFuture(0.02)
