"""RealRobotTargetAdapter: a robot as a target, behind the safety layer and a watchdog (000 "TARGETS.md").

`adapter.driver` names the robot's library; `config.safety` the limits. Nothing reaches the robot but by `step`, through
`safety.py`; and whatever goes wrong, the robot is stopped and the session's outcome has the cause.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np

from worldfs.base.driver import PluginContext, Run, Standstill, StopUndelivered
from worldfs.base.errors import BadInput, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Json, RobotState, Scene, Target
from worldfs.base.plugin_calls import called, checked, plugin_name
from worldfs.robots.standing_window import StandingWindow
from worldfs.robots.vehicles.vehicle_declaration import is_vehicle

from .cameras import Cameras
from .kinematics import quaternion
from .robots.robot_interface import KnowsWidth, RobotCommand, RobotFactory, RobotInterface, RobotReading
from .safety import ArmSafety, BaseSafety, impossible, judge, unreadable
from .safety_limits import SafetyLimits, effective_limits, limits_json
from .target_adapter import ActionSpec, Array, Observation, StepResult, TargetAdapter, TargetStopped
from .target_declaration import ROBOTS
from .watchdog import Watchdog

HALT_WAIT_S: Final = 0.3  # for a call on the wire; then beside it, if the wire allows that
BASE_HOLD: Final = 4.0  # control periods for which a velocity holds without a new one
CONTROL_HZ: Final = 20.0
PLACED: Final = "place"  # a fact of its memory: the driver that has told where it is
DISBELIEVED: Final = "unmeasured"  # another: what `disbelief` was
STILL: Final = 0.05  # rad/s of the fastest joint
STILL_BASE: Final = 0.03  # m/s, rad/s
TRAVEL: Final = 0.01  # rad
TRAVEL_BASE: Final = 0.03  # m, rad: a base measures where it is less well
APART_S: Final = 0.05  # between two readings that are compared
SHUT, WIDE = 0.002, 0.98  # m between the fingers, and of their opening: less and more hold nothing


def adapter(target: Target, context: PluginContext) -> TargetAdapter:
    """Raises `BadInput` for an unknown driver; `open` reports what is not installed or not switched on."""
    return RealTarget(target, context, driver(target)(target, context))


def driver(target: Target) -> RobotFactory:
    """The maker of the robot that `adapter.driver` names: a built-in one, or an installed package's."""
    made = ROBOTS.get(target.driver.strip().lower()) or ROBOTS.get(target.driver)
    if made is None:
        raise BadInput(
            coded("target.no_driver", name=target.driver), path=f"TARGETS.md {target.id} adapter.driver",
            expected=coded("common.either_of", names=sorted(ROBOTS)),
            fix=coded("vehicle.no_sessions" if is_vehicle(target) else "session.name_or_install"),
        )  # fmt: skip

    def checked_robot(target: Target, context: PluginContext) -> RobotInterface:
        robot = called(lambda: made(target, context), plugin_name(made))
        return checked(robot, RobotInterface, KnowsWidth)

    return checked_robot


class RealTarget:
    """`target.config`: what the driver wants (see its module), `safety` (see safety_limits.py), `control_hz`."""

    def __init__(self, target: Target, context: PluginContext, robot: RobotInterface) -> None:
        self.target, self.context, self.robot = target, context, robot
        self._hz = control_hz(target)
        self._cameras = Cameras(target.cameras, context.clock, f"TARGETS.md {target.id} perception.cameras")
        self._limits = robot.usual
        self._safety: ArmSafety | BaseSafety | None = None
        self._watchdog: Watchdog | None = None
        self._run: Run | None = None  # of the session that leads it
        self._wire = threading.RLock()  # one call to the robot at a time
        self._why = ""  # why it was stopped: nothing is sent until an episode begins anew
        self._shown_at = self._sent_at = 0.0
        self._moving = False
        self._last: RobotReading | None = None
        placed = context.memory.recall(PLACED)
        # it has told where it is, also to an earlier driver
        self._placed = placed == target.driver or (placed is True and not robot.joints)
        self._told = bool(robot.joints) or self._placed  # so, or how fast it is
        self._still_before: RobotReading | None = None  # with which the next one is compared
        self._travelled = math.nan  # rad/s or m/s, between that one and the one before it
        self._standing = StandingWindow(TRAVEL if robot.joints else TRAVEL_BASE)
        self.holding: str | None = (
            None  # the object in the fingers: the driver sets it, and the fingers show whether it is there
        )

    # -- the port ----------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Connects, and moves nothing. Raises `MissingRequirement` or `BadInput` with the fix."""
        try:
            self.robot.connect()
            robot, path = self.robot, f"TARGETS.md {self.target.id} config.safety"
            safety = self.target.config.get("safety")
            self._limits = limits = effective_limits(safety, robot.joints, robot.usual, robot.maker, path=path)
            if robot.joints and limits.low is not None and robot.chain is None:
                raise BadInput(
                    coded("target.blind_workspace"), path=f"{path}.workspace",
                    expected=coded("target.kinematics_beside"), fix=coded("target.name_urdf"),
                )  # fmt: skip
            if robot.joints and (limits.joint_low is None or limits.joint_high is None):
                raise BadInput(
                    coded("target.no_limits"),
                    path=f"{path}.joint_low",
                    expected=coded("target.joint_limits"),
                    fix=coded("target.calibrate_or_write"),
                )
            period = 1.0 / self._hz
            self._safety = (
                ArmSafety(limits, robot.chain, robot.joints, period) if robot.joints else BaseSafety(limits, period)
            )
            self._safety.recall(self.context.memory.recall(DISBELIEVED))
            self._cameras.open(robot.pictures())
            self._begin(self._read())
        except BaseException:
            self.close()
            raise
        self._watchdog = Watchdog(self.context.clock, limits.watchdog_s, self._halt, self._tend)
        self._watchdog.start()

    def sensors(self) -> frozenset[str]:
        return self.robot.sensors() | ({"rgb_camera"} if self._sizes() else set())

    def actions(self) -> Sequence[ActionSpec]:
        """Bounds are the limits that hold; how far one step may go follows from speeds and `control_hz`."""
        return [ActionSpec(name, (size,), *self._bounds(name, size), self._hz) for name, size in self._shapes().items()]

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        observation = self._show(self._last) if self._last is not None else {}
        shapes = {name: (tuple(value.shape), str(value.dtype)) for name, value in observation.items()}
        return shapes | {f"rgb.{name}": ((*size, 3), "uint8") for name, size in self._sizes().items()}

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation:
        """Begins an episode at the robot's present pose; it moves only if `config` asks for it (see the drivers)."""
        with self._careful():
            self._go_on()
            self._why = ""
            self.robot.prepare()
            self._go_on()
            return self._begin(self._read())

    def step(self, action: Array, representation: str) -> StepResult:
        """One action, bounded. Raises `TargetStopped` when it must not move, `BadInput` for an invalid action."""
        safety, now = self._ready(), self.context.clock.monotonic()
        with self._careful():
            age = now - self._shown_at
            if age > self._limits.stale_s:
                raise TargetStopped(
                    coded("target.old_observation", age=age), path=self.target.id,
                    expected=coded("target.stale_limit", s=self._limits.stale_s), fix=coded("target.faster_policy"),
                )  # fmt: skip
            reading = self._read()
            now = self.context.clock.monotonic()
            if why := impossible(reading, self.robot.maker) or judge(reading, self._limits, now):
                raise TargetStopped(why, path=self.target.id, fix=coded("target.see_robot_anew"))
            now = self.context.clock.monotonic()
            elapsed = now - self._sent_at if self._moving else safety.period
            try:
                command, clamped = safety.bound(reading, action, representation, elapsed)
            finally:
                self._note_disbelief()
            self._send(command)
            self._sent_at, self._moving = now, True
            if self._watchdog is not None:
                self._watchdog.feed()
            return StepResult(self._seen(reading), clamped=tuple(clamped))

    def observe(self) -> Observation:
        with self._careful():
            return self._seen(self._read())

    def scene(self) -> Scene:
        """The robot alone: its pose, its limits, why it was stopped."""
        robot, reading = self._state()
        return Scene((robot,), perception=self._kept(reading) if reading.place is None else {})

    def reported(self) -> RobotState:
        """The same without its pictures."""
        return self._state()[0]

    def _state(self) -> tuple[RobotState, RobotReading]:
        try:
            reading = self._read()
        except Exception:  # called after each session, also one that ended because the connection was cut
            reading = self._last or RobotReading(0.0)
        extra: Json = {"driver": self.target.driver, "limits": limits_json(self._limits)}
        extra["standing"] = self._why or reading.trouble  # empty too: the page keeps what is left out
        speeds = reading.speeds if reading.speeds is not None else reading.velocity
        if speeds is not None:
            extra["speed"] = round(float(np.max(np.abs(speeds), initial=0.0)), 4)  # rad/s or m/s, as it measures itself
        joints: Json = {name: round(float(q), 5) for name, q in zip(self.robot.joints, reading.joints, strict=False)}
        if reading.place is not None:
            x, y, yaw = (round(float(part), 4) for part in reading.place)
            return RobotState(self.target.id, (x, y, 0.0, 0.0, 0.0, yaw), extra=extra), reading
        if reading.opening * self._width() <= SHUT or reading.opening >= WIDE:
            self.holding = None
        state = RobotState(
            self.target.id,
            (),  # an arm does not measure its base's pose
            joints,
            "holding" if self.holding else _words(reading.opening),
            self.holding,
            extra,
        )
        return state, reading

    def stop(self) -> None:
        """From any thread; `_halt`. The robot stays stopped until the next episode or session begins."""
        self._halt("stopped")

    def standstill(self, since: float) -> Standstill:
        """By the speeds that the robot reports, and by where it was at each reading for half a second. A reading that
        would keep it from being moved as unreadable shows none, nor does one that no command has changed."""
        if not self._wire.acquire(timeout=0):
            return Standstill(False, coded("target.wire_busy"))
        try:
            reading = self._read()
        finally:
            self._wire.release()
        if reading.at <= since:
            return Standstill(False, reading.trouble or coded("stop.no_measurement"))
        now, safety = self.context.clock.monotonic(), self._safety
        why = impossible(reading, self.robot.maker) or unreadable(reading, self._limits, now)
        if self._placed and reading.place is None:
            why = why or coded("vehicle.lost_position")
        why = why or (safety.disbelieved(reading) if safety is not None else "")
        self._note_disbelief()
        if why:
            return Standstill(False, why)
        arm = bool(self.robot.joints)
        before, low = self._still_before, STILL if arm else STILL_BASE
        if before is None or before.at <= since:
            before, self._travelled = reading, math.nan
            self._still_before = reading
        if reading.at - before.at >= APART_S:
            self._travelled, self._still_before = travelled(before, reading), reading
        found = [one for one in (measured(reading), self._travelled) if not math.isnan(one)]
        speed = max(found, default=math.nan)
        place = (*reading.joints, *(() if reading.place is None else reading.place))
        stood = self._standing.stands(since, reading.at, place, slow=not found or speed < low)
        if not found:
            return Standstill(False, coded("stop.no_measurement" if self._told else "stop.no_measure"))
        if speed >= low:
            return Standstill(False, coded("stop.moves_at", speed=speed, unit="rad/s" if arm else "m/s, rad/s"))
        return Standstill(stood, "" if stood else coded("stop.not_long"))

    def close(self) -> None:
        if self._watchdog is not None:
            self._watchdog.close()
            self._watchdog = None
        try:
            if self._safety is not None:
                self._halt("closed")
        finally:
            self._safety = None
            self._cameras.close()
            self.robot.close()

    # -- beyond the port ---------------------------------------------------------------------------------------------

    def set_run(self, run: Run | None) -> None:
        """A session begins (its end is the robot's stop), or it is over: None."""
        self._run = run
        if self._watchdog is not None:
            self._watchdog.set_run(run)
        if run is None:
            self.stop()
        else:
            self._why = ""
            if run.stop:
                self._halt(run.stop)  # stopped before it began
            elif self._safety is not None:
                with self._careful():
                    self.robot.prepare()
                    self._begin(self._read())

    def heartbeat(self) -> None:
        """The session that leads the robot is computing and alive."""
        if self._watchdog is not None and not self._why:
            self._watchdog.heartbeat()

    @property
    def limits(self) -> SafetyLimits:
        """Those that hold."""
        return self._limits

    @property
    def watchdog(self) -> Watchdog:
        assert self._watchdog is not None, "the target is not open"
        return self._watchdog

    # -- inside ------------------------------------------------------------------------------------------------------

    def _ready(self) -> ArmSafety | BaseSafety:
        if self._safety is None:
            raise BadInput(coded("target.not_open"), path=self.target.id, op="step", fix=coded("target.open_first"))
        self._go_on()
        if self._why:
            raise TargetStopped(
                coded("target.stopped", why=self._why), path=self.target.id, fix=coded("target.next_session")
            )
        return self._safety

    def _go_on(self) -> None:
        """Raises `TargetStopped` once its session was stopped: it stands, also if it was just prepared."""
        if self._run is not None and (why := self._run.stop):
            self._halt(why)
            raise TargetStopped(coded("target.stopped", why=why), path=self.target.id, fix=coded("target.next_session"))

    @contextmanager
    def _careful(self) -> Iterator[None]:
        """Whatever goes wrong here, the robot is stopped; a library's own error becomes `TargetStopped`."""
        try:
            yield
        except BaseException as error:
            why = error.found if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
            if not self._why:
                try:
                    self._halt(why)
                except Exception as worse:
                    why = coded("target.not_stopped", why=why, worse=str(worse))
            if isinstance(error, UserError | ConnectionError | TimeoutError) or not isinstance(error, Exception):
                raise
            raise TargetStopped(why, path=self.target.id, fix=coded("target.see_robot")) from error

    def _halt(self, why: str) -> None:
        """Nothing is sent from here on; then the robot is stopped. Raises `StopUndelivered` while a call hangs on its
        only wire: it holds its last target, and the watchdog stops it as soon as that call has returned."""
        self._why = self._why or why
        alone = self._wire.acquire(timeout=HALT_WAIT_S)
        try:
            if not alone and self.robot.serial:
                raise StopUndelivered(coded("target.wire_hangs"))
            self.robot.halt()
        finally:
            if alone:
                self._wire.release()
        self._moving = False
        if self._watchdog is not None:
            self._watchdog.rest()

    def _tend(self) -> None:
        """A velocity ends by itself when no new one came: commands are short-lived."""
        if self.robot.joints or not self._moving:
            return
        if self.context.clock.monotonic() - self._sent_at > BASE_HOLD / self._hz:
            with self._wire:
                if self._moving and not self._why:
                    self.robot.send(RobotCommand(velocity=np.zeros(3)))
                    self._moving = False
                    assert self._safety is not None
                    self._safety.begin(self._last or RobotReading(0.0))

    def _send(self, command: RobotCommand) -> None:
        with self._wire:
            if self._why:  # stopped by another thread since this step began
                raise TargetStopped(coded("target.stopped", why=self._why), path=self.target.id)
            self.robot.send(command)

    def _read(self) -> RobotReading:
        """Its state. Raises `TargetStopped` for one of another number of joints: no limit could be held against it."""
        with self._wire:
            reading = self.robot.read()
        if wrong := _misshapen(reading, len(self.robot.joints)):
            raise TargetStopped(
                wrong, path=f"{self.target.id} read", expected=coded("target.n_joints", n=len(self.robot.joints)),
                fix=coded("target.see_robot"),
            )  # fmt: skip
        if not math.isfinite(reading.at):
            raise TargetStopped(
                coded("target.untimed", call=f"{plugin_name(self.robot)} read", at=str(reading.at)),
                path=f"{self.target.id} read at", expected=coded("target.a_time"), fix=coded("target.see_robot"),
            )  # fmt: skip
        self._last, self._placed = reading, self._placed or reading.place is not None
        self._told = self._told or self._placed or reading.velocity is not None
        if self._placed:
            self.context.memory.note(PLACED, self.target.driver)
        return reading

    def _note_disbelief(self) -> None:
        if self._safety is not None:
            self.context.memory.note(DISBELIEVED, self._safety.disbelief)

    def _begin(self, reading: RobotReading) -> Observation:
        assert self._safety is not None
        self._safety.begin(reading)
        self._moving = False
        return self._seen(reading)

    def _seen(self, reading: RobotReading) -> Observation:
        self._shown_at = min(reading.at, self.context.clock.monotonic())
        return self._show(reading) | {f"rgb.{name}": picture for name, picture in self._pictures(reading).items()}

    def _show(self, reading: RobotReading) -> dict[str, Array]:
        observation: dict[str, Array] = {}
        if self.robot.joints:
            observation["joint_states"] = np.array(reading.joints, dtype=float)
            if reading.speeds is not None:
                observation["joint_velocities"] = np.array(reading.speeds, dtype=float)
            observation["gripper"] = np.array([reading.opening * self._width()])
            if self.robot.chain is not None:
                tool = self.robot.chain.forward(reading.joints)
                observation["ee_pose"] = np.array([*tool[:3, 3], *quaternion(tool[:3, :3])])
        if reading.place is not None:
            observation["base_pose"] = np.array(reading.place, dtype=float)
        if reading.velocity is not None:
            observation["base_velocity"] = np.array(reading.velocity, dtype=float)
        if reading.native is not None:
            observation["state"] = np.array(reading.native, dtype=float)
        return observation

    def _width(self) -> float:
        """Metres between the open fingers; 1 where that is not known, so that `gripper` is the open share."""
        return float(getattr(self.robot, "width", 1.0))

    def _pictures(self, reading: RobotReading) -> dict[str, Array]:
        return {**reading.pictures, **self._cameras.pictures(self._limits.stale_s)}

    def _sizes(self) -> dict[str, tuple[int, int]]:
        return {**self.robot.pictures(), **self._cameras.sizes()}

    def _shapes(self) -> Mapping[str, int]:
        return self._safety.shapes if self._safety is not None else {}

    def _bounds(self, name: str, size: int) -> tuple[Array, Array]:
        limits, open_ = self._limits, np.full(size - 1, np.inf)
        if name == "base_velocity":
            bounds = (limits.base_low, limits.base_high)
            return tuple(np.full(3, s * np.inf) if b is None else b for b, s in zip(bounds, (-1, 1), strict=True))  # type: ignore[return-value]  # two of them
        if name == "joint_position":
            low, high = limits.joint_low, limits.joint_high
        elif name == "joint_velocity":
            high = limits.joint_speed
            low = -high if high is not None else None
        elif name == "ee_delta":
            far, round_ = min(limits.ee_step, limits.ee_speed / self._hz), limits.ee_turn / self._hz
            high = np.array([far] * 3 + [round_] * 3)
            low = -high
        else:
            low, high = np.full(7, -1.0), np.full(7, 1.0)
            low[:3], high[:3] = (-np.inf, np.inf) if limits.low is None else (limits.low, limits.high)
        shut = -1.0 if name == "ee_delta" else limits.gripper_low
        most = 1.0 if name == "ee_delta" else limits.gripper_high
        return np.append(-open_ if low is None else low, shut), np.append(open_ if high is None else high, most)

    def _kept(self, reading: RobotReading) -> Json:
        """Pictures of now, in the context's folder: paths relative to the workspace."""
        if self.context.artifacts is None:
            return {}
        try:
            pictures = self._pictures(reading)
        except UserError:
            return {}
        return save_pictures(pictures, self.context)


def _misshapen(reading: RobotReading, joints: int) -> str:
    """What of a reading has other sides than the robot says that it has; "" for nothing."""
    sizes = {"joints": joints, "speeds": joints, "torques": joints, "place": 3, "velocity": 3}
    shapes: dict[str, tuple[int, ...]] = {name: (size,) for name, size in sizes.items()}
    for name, shape in {**shapes, "at": (), "opening": (), "force": ()}.items():
        value: Array | None = getattr(reading, name)
        found = np.shape(value) if value is not None else None
        if found != shape and (found is not None or name == "joints"):
            return coded("target.reading_shape", name=name, shape=str(found))
    return ""


def measured(reading: RobotReading) -> float:
    """rad/s of the fastest joint, or m/s and rad/s of a base, as it measures them; NaN: it measures no speeds."""
    speeds = [part for part in (reading.speeds, reading.velocity) if part is not None and len(part)]
    return max((float(np.max(np.abs(part))) for part in speeds), default=math.nan)


def travelled(before: RobotReading, now: RobotReading) -> float:
    """The same by where it was at two readings: a register of speeds that stays at zero stops nothing. NaN: it does not
    say where it is."""
    found: list[float] = []
    for there, where in ((now.joints, before.joints), (now.place, before.place)):
        if there is not None and where is not None and len(there) == len(where) > 0:
            apart = np.abs(np.asarray(there) - np.asarray(where))
            found.append(float(np.max(apart)) / (now.at - before.at))
    return max(found, default=math.nan)


def save_pictures(pictures: Mapping[str, Array], context: PluginContext) -> Json:
    """Each picture as a PNG in `context.artifacts`, the first as `camera_rgb`; nothing without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        return {}
    assert context.artifacts is not None
    saved: Json = {}
    for name, picture in pictures.items():
        file = context.artifacts / f"{name}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(file)
        saved["camera_rgb" if not saved else f"camera_rgb.{name}"] = f"{context.artifacts.name}/{file.name}"
    return saved


def control_hz(target: Target) -> float:
    """`config.control_hz`, steps a second. Raises `BadInput` outside 1 … 500."""
    value = target.config.get("control_hz", CONTROL_HZ)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 500:
        raise BadInput(
            f"{value!r}",
            path=f"TARGETS.md {target.id} config.control_hz",
            expected=coded("common.number_range", low=1, high=500),
        )
    return float(value)


def _words(opening: float) -> str:
    return "open" if opening > 0.5 else "closed"
