"""The safety layer: every action passes here, and what comes out keeps to every limit.

Whatever the representation, an arm gets joint angles for one control period, and a base a velocity for one. The way
from the last command to the next is bounded by the time that really passed, so that an action sent twice is no double
speed. An action beyond a limit is carried out as far as the limits allow, and each limit that applied is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_floats, as_object
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .kinematics import Chain, of_quaternion, of_vector, rotation_vector
from .robots.robot_interface import RobotCommand, RobotReading
from .safety_limits import SafetyLimits
from .target_adapter import ACTIONS, Array, TargetStopped

HALVINGS = 14  # of a motion that leaves the box: to a 16,000th part of it
LOST = 2.0  # times the allowed lag: farther off, it does not follow its commands
ECHOES = 2  # commands in a row after which joints equal their commands exactly: no encoder reads so
STIRRED = 1e-4  # rad of a command that moves something
FROZEN_S = 1.0  # of commands that should move it, while every joint reads the very same: no encoder does
UNMOVED, UNMOVED_S = 0.05, 0.3  # rad or m, and s, of commands after which a state that is still the very same is none
BEYOND = 1.0  # rad outside its maker's range: no joint is there, whatever the tolerances and the zero of its encoder
FARTHEST = 1e6  # rad, m: no joint and no base is there
EPS = 1e-9


def judge(reading: RobotReading, limits: SafetyLimits, now: float) -> str:
    """ "", or why a robot in this state must not be moved."""
    if not _finite(reading.joints, reading.place, reading.velocity):
        return coded("target.no_state")
    if why := _untimely(reading, limits, now):
        return why
    if not reading.force <= limits.force:
        return (
            coded("target.no_state")
            if not math.isfinite(reading.force)
            else coded("target.force", n=reading.force, most=limits.force)
        )
    if limits.torque is not None and reading.torques is not None:
        over = ~(np.abs(reading.torques) <= limits.torque)
        if over.any():
            i = int(np.argmax(over))
            if not math.isfinite(reading.torques[i]):
                return coded("target.no_state")
            torque, most = float(abs(reading.torques[i])), float(limits.torque[i])
            return coded("target.torque", nm=torque, joint=i + 1, most=most)
    return reading.trouble


def unreadable(reading: RobotReading, limits: SafetyLimits, now: float) -> str:
    """ "", or why it shows no standstill, whatever its speeds are. Forces above a limit are measured all the same."""
    numbers = (reading.joints, reading.place, reading.velocity, reading.speeds, reading.torques, reading.native)
    if not _finite(*numbers, np.array((reading.opening, reading.force))):
        return coded("target.no_state")
    return _untimely(reading, limits, now) or reading.trouble


def impossible(reading: RobotReading, maker: SafetyLimits) -> str:
    """ "", or where it says to be and no such robot can be: it is neither moved by that, nor does that show that it
    stands."""
    if not _finite(reading.joints, reading.place):
        return ""  # it is refused as one that holds no numbers
    if reading.place is not None and bool((np.abs(reading.place) > FARTHEST).any()):
        return coded("target.far_place", m=float(np.max(np.abs(reading.place))))
    off = np.abs(reading.joints) > FARTHEST
    if maker.joint_low is not None and maker.joint_high is not None:
        off |= (reading.joints < maker.joint_low - BEYOND) | (reading.joints > maker.joint_high + BEYOND)
    if not off.any():
        return ""
    i = int(np.argmax(off))
    return coded("target.far_joint", joint=i + 1, rad=float(reading.joints[i]))


class CommandResponse:
    """Whether a robot's state has changed, in any bit, since it was commanded to move. One that has not is no
    measurement: the robot may move. One that stands without a command reads the same for ever, and stands."""

    def __init__(self) -> None:
        self._state: Array = np.zeros(0)
        self._asked: Array = np.zeros(0)  # rad or m of the commands since the state is as it is
        self._farthest = self._asked_s = 0.0
        self._denied = self._unknown = False

    def recall(self, denied: object) -> None:
        """What `denied` was before: the state that no command changed; True: it cannot be read, and may be any."""
        if denied is True or isinstance(denied, list):
            self._denied, self._unknown = True, denied is True
            self._state = np.array(as_floats(denied))

    @property
    def denied(self) -> list[float] | None:
        """The state, if it is no measurement."""
        return [float(part) for part in self._state] if self.is_missing else None

    def see(self, state: Array) -> None:
        if self._unknown:
            self._state, self._unknown = np.array(state, dtype=float), False
        if not np.array_equal(self._state, state):
            self._state, self._asked = np.array(state, dtype=float), np.zeros(0)
            self._farthest, self._asked_s, self._denied = 0.0, 0.0, False

    def command(self, change: Array, seconds: float) -> None:
        self._asked = change + self._asked if self._asked.size else change
        self._farthest = max(self._farthest, float(np.max(np.abs(self._asked), initial=0.0)))
        self._asked_s += seconds if change.any() else 0.0

    def deny(self) -> None:
        """The state, as it is, was found to be no measurement."""
        self._denied = True

    @property
    def is_missing(self) -> bool:
        return self._denied or (self._farthest >= UNMOVED and self._asked_s >= UNMOVED_S)


class ArmSafety:
    """Of one arm. `begin` at its present pose, then `bound` each action."""

    def __init__(self, limits: SafetyLimits, chain: Chain | None, names: Sequence[str], period: float) -> None:
        self.limits, self.chain, self.names, self.period = limits, chain, tuple(names), period
        count = len(names)
        self.shapes = {"joint_position": count + 1, "joint_velocity": count + 1}
        if chain is not None:
            self.shapes |= {"ee_pose": 8, "ee_delta": 7}
        # a small part within, so that no rounding on the way to the motors ends outside
        self._low = np.full(count, -math.inf) if limits.joint_low is None else limits.joint_low + EPS
        self._high = np.full(count, math.inf) if limits.joint_high is None else limits.joint_high - EPS
        self._speed = np.full(count, math.inf) if limits.joint_speed is None else limits.joint_speed
        self._at: Array = np.zeros(count)
        self._stirred, self._exact = False, 0  # did the last command move it; how often it was there exactly
        self._read, self._frozen_s = self._at, 0.0  # the last reading, and for how long it is the very same
        self._response, self._echoes = CommandResponse(), False
        self._opening = 0.0

    def begin(self, reading: RobotReading) -> None:
        self._at, self._opening = np.array(reading.joints, dtype=float), reading.opening
        self._stirred, self._exact = False, 0
        self._read, self._frozen_s = self._at, 0.0
        self._response.see(self._at)

    def recall(self, kept: object) -> None:
        """What `disbelief` was of an earlier process, or before the robot was connected again."""
        self._echoes = kept is True or as_object(kept).get("echoes") is True
        self._response.recall(kept if kept is True else as_object(kept).get("denied"))

    @property
    def disbelief(self) -> Json | None:
        """Why its joints are not believed, for `recall`; None: they are."""
        denied = self._response.denied
        return {"echoes": self._echoes, "denied": denied} if self._echoes or denied is not None else None

    def disbelieved(self, reading: RobotReading) -> str:
        """ "", or why its joints are not what its encoders measure, by the commands that it was sent."""
        if self._echoes:
            return coded("target.echoes")
        self._response.see(reading.joints)
        return coded("target.unmoved") if self._response.is_missing else ""

    def bound(
        self, reading: RobotReading, action: Array, representation: str, elapsed: float
    ) -> tuple[RobotCommand, list[str]]:
        """The command to send after `elapsed` s (no more than a period counts), and the limits that applied.

        Raises `BadInput` for an invalid action, `TargetStopped` when the arm does not follow its commands, when it does
        so exactly that no encoder measured it, or when its joints read the very same however it is commanded.
        """
        numbers = checked(action, representation, self.shapes)
        elapsed = min(max(elapsed, 0.0), self.period)
        lag = float(np.max(np.abs(self._at - reading.joints), initial=0.0))
        if lag > LOST * self.limits.follow:
            raise TargetStopped(
                coded("target.lags", rad=lag),
                expected=coded("target.follow_limit", rad=self.limits.follow), fix=coded("target.see_pushes"),
            )  # fmt: skip
        if self._stirred:
            self._exact = self._exact + 1 if lag <= EPS else 0
            self._echoes = self._exact >= ECHOES or (self._echoes and self._exact > 0)
        self._response.see(reading.joints)
        if self._exact >= ECHOES:
            raise TargetStopped(
                coded("target.echoes"),
                expected=coded("target.encoders"), fix=coded("target.see_encoders"),
            )  # fmt: skip
        same = self._stirred and np.array_equal(self._read, reading.joints)
        self._read, self._frozen_s = np.array(reading.joints), self._frozen_s + elapsed if same else 0.0
        if self._frozen_s > FROZEN_S:
            self._response.deny()
            raise TargetStopped(
                coded("target.frozen", s=FROZEN_S),
                expected=coded("target.encoders"), fix=coded("target.see_encoders"),
            )  # fmt: skip
        clamped: list[str] = []
        start = self._at
        goal = self._goal(numbers, representation, elapsed, clamped)
        inside = np.clip(goal, self._low, self._high)
        clamped += [f"joint limit {self.names[i]}" for i in np.flatnonzero(np.abs(inside - goal) > 2 * EPS)]
        change = self._within(start, inside - start, elapsed, clamped)
        self._stirred = float(np.max(np.abs(change), initial=0.0)) > STIRRED
        if lag > self.limits.follow and bool((np.abs(start + change - reading.joints) > lag).any()):
            clamped.append("lag")
            change = np.zeros_like(change)  # it is blocked or slow: the command waits for it
        self._at = start + change
        self._response.command(change, elapsed)
        self._opening = self._fingers(float(numbers[-1]), representation, elapsed, clamped)
        return RobotCommand(self._at.copy(), self._opening), list(dict.fromkeys(clamped))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _goal(self, numbers: Array, representation: str, elapsed: float, clamped: list[str]) -> Array:
        if representation == "joint_position":
            return np.asarray(numbers[:-1])
        if representation == "joint_velocity":
            rate = np.clip(numbers[:-1], -self._speed, self._speed)
            if not np.array_equal(rate, numbers[:-1]):
                clamped.append("joint speed")
            return np.asarray(self._at + rate * elapsed)
        assert self.chain is not None
        now = self.chain.forward(self._at)
        wanted = now.copy()
        if representation == "ee_pose":
            wanted[:3, 3], wanted[:3, :3] = numbers[:3], of_quaternion(numbers[3:7])
        else:
            wanted[:3, 3] += numbers[:3]
            wanted[:3, :3] = of_vector(numbers[3:6]) @ now[:3, :3]
        if self.limits.low is not None and self.limits.high is not None:
            boxed = np.clip(wanted[:3, 3], self.limits.low + EPS, self.limits.high - EPS)
            if not np.allclose(boxed, wanted[:3, 3], rtol=0, atol=2 * EPS):
                clamped.append("workspace")
                wanted[:3, 3] = boxed
        way, turned = wanted[:3, 3] - now[:3, 3], rotation_vector(wanted[:3, :3] @ now[:3, :3].T)
        part = min(
            _part(way, min(self.limits.ee_step, _way(self.limits.ee_speed, elapsed)), "ee speed", clamped),
            _part(turned, _way(self.limits.ee_turn, elapsed), "ee turn", clamped),
        )
        wanted[:3, 3] = now[:3, 3] + part * way
        wanted[:3, :3] = of_vector(part * turned) @ now[:3, :3]
        found = self.chain.near(self._at, wanted, self._low, self._high)
        if found is None:
            clamped.append("reach")
            return self._at
        return found

    def _within(self, start: Array, change: Array, elapsed: float, clamped: list[str]) -> Array:
        """As much of a change as speeds, steps and the box allow, in the same direction."""
        size = np.abs(change)
        part = 1.0
        for most, word in (
            (self._speed * elapsed if elapsed > 0 else np.zeros_like(size), "joint speed"),
            (self.limits.joint_step, "step"),
        ):
            if bool((size > most).any()):
                clamped.append(word)
                part = min(part, float(np.min(np.where(size > 0, most / np.maximum(size, 1e-300), 1.0))))
        if self.chain is None:
            return change * part
        chain, now = self.chain, self.chain.forward(start)
        most = min(self.limits.ee_step, _way(self.limits.ee_speed, elapsed))
        outside = self._outside(now[:3, 3])

        def slow(s: float) -> bool:
            then = chain.forward(start + s * change)
            turned = float(np.linalg.norm(rotation_vector(then[:3, :3] @ now[:3, :3].T)))
            return _size(then[:3, 3] - now[:3, 3]) <= most + EPS and turned <= _way(self.limits.ee_turn, elapsed) + EPS

        def boxed(s: float) -> bool:  # an arm outside may only come nearer
            then = self._outside(chain.forward(start + s * change)[:3, 3])
            return then == 0.0 or (outside > 0.0 and then <= outside)

        for fine, word in ((slow, "ee speed"), (boxed, "workspace")):
            if not fine(part):
                clamped.append(word)
                part = _largest(fine, part)
        return change * (part if slow(part) else 0.0)

    def _outside(self, place: Array) -> float:
        """Metres to the box."""
        if self.limits.low is None or self.limits.high is None:
            return 0.0
        return _size(np.maximum(0.0, np.maximum(self.limits.low - place, place - self.limits.high)))

    def _fingers(self, word: float, representation: str, elapsed: float, clamped: list[str]) -> float:
        """`ee_delta`: −1 close … 1 open; else 0 closed … 1 open."""
        wanted = (word + 1) / 2 if representation == "ee_delta" else word
        held = min(max(wanted, self.limits.gripper_low), self.limits.gripper_high)
        most = _way(self.limits.gripper_speed, elapsed)
        moved = self._opening + min(max(held - self._opening, -most), most)
        if abs(held - wanted) > EPS or abs(moved - held) > EPS:
            clamped.append("gripper")
        return moved


class BaseSafety:
    """Of one base that walks or drives."""

    shapes = {"base_velocity": 3}  # noqa: RUF012 # a table

    def __init__(self, limits: SafetyLimits, period: float) -> None:
        self.limits, self.period = limits, period
        self._last: Array = np.zeros(3)
        self._response = CommandResponse()

    def begin(self, reading: RobotReading) -> None:
        self._last = np.zeros(3)
        self._response.see(_whereabouts(reading))

    def recall(self, kept: object) -> None:
        self._response.recall(kept if kept is True else as_object(kept).get("denied"))

    @property
    def disbelief(self) -> Json | None:
        denied = self._response.denied
        return {"denied": denied} if denied is not None else None

    def disbelieved(self, reading: RobotReading) -> str:
        """As for an arm, of where it is and how fast."""
        self._response.see(_whereabouts(reading))
        return coded("target.unmoved") if self._response.is_missing else ""

    def bound(
        self, reading: RobotReading, action: Array, representation: str, elapsed: float
    ) -> tuple[RobotCommand, list[str]]:
        """As for an arm. The box is kept as the robot's own odometry has it: it stops before it would leave it."""
        wanted = checked(action, representation, self.shapes).copy()
        elapsed = min(max(elapsed, 0.0), self.period)
        limits, clamped = self.limits, []
        for bound, cut in ((limits.base_low, np.maximum), (limits.base_high, np.minimum)):
            if bound is not None and not np.array_equal(held := cut(wanted, bound), wanted):
                clamped.append("base speed")
                wanted = held
        if limits.base_acceleration is not None:
            most = limits.base_acceleration * elapsed
            # to slow down is always allowed at once
            softer = self._last + np.clip(wanted - self._last, -most, most)
            braking = (np.abs(wanted) < np.abs(self._last)) & (wanted * self._last >= 0)
            softer = np.where(braking, wanted, softer)
            if not np.allclose(softer, wanted, rtol=0, atol=EPS):
                clamped.append("base acceleration")
            wanted = softer
        if not self._stays(reading, wanted):
            clamped.append("workspace")
            wanted[:2] = 0.0
        self._last = wanted
        self._response.see(_whereabouts(reading))
        self._response.command(wanted * elapsed, elapsed)
        return RobotCommand(velocity=wanted.copy()), list(dict.fromkeys(clamped))

    def _stays(self, reading: RobotReading, velocity: Array) -> bool:
        """Is it still in the box after a period and the way to a stop? A base outside may only come nearer."""
        low, high = self.limits.low, self.limits.high
        if low is None or high is None:
            return True
        if reading.place is None:
            return not velocity[:2].any()  # its position is not known
        x, y, yaw = reading.place
        c, s = math.cos(yaw), math.sin(yaw)
        ahead = np.array([c * velocity[0] - s * velocity[1], s * velocity[0] + c * velocity[1]])
        brake = 1.0 if self.limits.base_acceleration is None else float(np.min(self.limits.base_acceleration[:2]))
        then = np.array([x, y]) + ahead * (2 * self.period + _size(ahead) / (2 * brake))
        off = [
            _size(np.maximum(0.0, np.maximum(low[:2] - at, at - high[:2]))) for at in (np.array([x, y]), then)
        ]  # fmt: skip
        return off[1] == 0.0 or off[1] < off[0]


def checked(action: Array, representation: str, shapes: dict[str, int]) -> Array:
    """The numbers of an action. Raises `BadInput` for another representation or shape, and for what is no number."""
    if representation not in shapes:
        raise BadInput(
            coded("target.an_action", name=representation), expected=coded("common.either_of", names=[*shapes])
        )
    try:
        numbers = np.asarray(action, dtype=float).ravel()
    except (TypeError, ValueError):
        raise BadInput(coded("target.no_numbers"), expected=ACTIONS[representation]) from None
    if numbers.shape != (shapes[representation],):
        raise BadInput(
            coded("robot.action_size", n=numbers.size),
            expected=coded("target.n_for", n=shapes[representation], name=representation),
        )
    if not np.isfinite(numbers).all():
        raise BadInput(coded("target.no_finite"), expected=coded("robot.only_finite"), fix=coded("target.see_policy"))
    if representation == "ee_pose" and not 1e-6 < float(np.linalg.norm(numbers[3:7])) < 1e6:
        raise BadInput(coded("robot.no_quaternion"), expected=coded("robot.quaternion"))
    return numbers


def _untimely(reading: RobotReading, limits: SafetyLimits, now: float) -> str:
    """ "", or that it is old, of a time to come, or of none."""
    if not -limits.stale_s <= now - reading.at <= limits.stale_s:
        return coded("target.old_state", age=now - reading.at, s=limits.stale_s)
    return ""


def _whereabouts(reading: RobotReading) -> Array:
    return np.concatenate([part for part in (np.zeros(0), reading.place, reading.velocity) if part is not None])


def _finite(*parts: Array | None) -> bool:
    return all(part is None or bool(np.isfinite(part).all()) for part in parts)


def _size(vector: Array) -> float:
    return float(np.linalg.norm(vector))


def _way(speed: float, seconds: float) -> float:
    """An unlimited speed goes nowhere in no time."""
    return speed * seconds if seconds > 0 else 0.0


def _part(way: Array, most: float, word: str, clamped: list[str]) -> float:
    size = _size(way)
    if size <= most + EPS:
        return 1.0
    clamped.append(word)
    return most / size


def _largest(fine: Callable[[float], bool], most: float) -> float:
    """The largest part up to `most` that halving finds fine; 0 if none is."""
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fine(middle) else (low, middle)
    return low
