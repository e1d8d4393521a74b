"""Arms through LeRobot's robot interface: all those that it drives, and those of `lerobot_robot_*` packages.

`config`: `robot` {type, port, id …} as LeRobot's own configuration has it (`cameras` {name: {type: opencv …}} too);
`units` degrees | radians | percent of the library's values; `gripper` {feature, closed, open, width}; `span`
{joint: [low, high] rad} where percent has to become radians and the calibration does not have it; `kinematics`
{urdf, joints, tip} or {dh: [[a, d, alpha, offset] …], tool: [x, y, z]}.

Interface as of lerobot 0.4.4: `RobotConfig` choices by `type`, `make_robot_from_config`, `connect(calibrate)`,
`get_observation`, `send_action`, `disconnect`, `observation_features`, `action_features`. Servos of these arms hold the
last goal that was sent, so a goal is never farther ahead than one control period.
"""

from __future__ import annotations

import math
import os
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.kinematics import Chain, from_dh, from_urdf
from worldfs.robots.targets.safety_limits import REDUCED_SPEED, SafetyLimits
from worldfs.robots.targets.target_adapter import Array
from worldfs.robots.targets.target_declaration import LIBRARIES

from .robot_interface import RobotCommand, RobotInterface, RobotReading
from .robot_library import config_member, import_library

if TYPE_CHECKING:  # the library is installed where its robots are
    from lerobot.motors import Motor, MotorsBus
    from lerobot.robots import Robot

INSTALL: Final = LIBRARIES["lerobot"][1]
UNITS: Final = ("degrees", "radians", "percent")
_MODES: Final = {"degrees": "degrees", "range_m100_100": "percent"}  # MotorNormMode → our unit
SERVO_SPEED: Final = 4.7  # rad/s: Feetech STS3215 without load, 45 rpm (its data sheet)
# this package's: slow enough to step back from, for arms of a metre
USUAL_SPEED, USUAL_STEP, USUAL_FOLLOW = 1.0, 0.15, 0.35


def robot(target: Target, context: PluginContext) -> RobotInterface:
    return LeRobotArm(target, context)


class LeRobotArm:
    """One arm. Joints are the action features called `NAME.pos`; velocities of a base beneath it are kept at 0."""

    serial = True

    def __init__(self, target: Target, context: PluginContext) -> None:
        self._target, self._context = target, context
        self._at = f"TARGETS.md {target.id} config"
        self.joints: tuple[str, ...] = ()
        self.chain: Chain | None = None
        self.maker = self.usual = SafetyLimits()
        self.width = 1.0
        self._robot: Robot | None = None
        self._scale = self._shift = np.zeros(0)  # radians = scale * theirs + shift
        self._grip: tuple[str, float, float] | None = None  # feature, closed, open
        self._still: dict[str, float] = {}  # features that are not joints
        self._native: tuple[str, ...] = ()
        self._sizes: dict[str, tuple[int, int]] = {}
        self._before: tuple[float, Array] | None = None

    def connect(self) -> None:
        target = self._target
        import_library("lerobot.robots", target, INSTALL)
        settings = dict(config_member(target, "robot", dict))
        made = self._made(settings)
        self._features(made)
        try:
            made.connect(calibrate=False)  # it would prompt at a terminal
        except Exception as error:  # pyserial's, the motors' and the library's own
            self._let_go(made)
            raise MissingRequirement(
                coded("target.no_answer", kind=settings.get('type'), why=str(error)), path=f"{self._at}.robot",
                expected=coded("target.connected_robot"), fix=coded("target.see_port"),
            ) from error  # fmt: skip
        if not made.is_calibrated:
            self._let_go(made)
            words = " ".join(f"--robot.{key}={settings[key]}" for key in ("type", "port", "id") if key in settings)
            raise MissingRequirement(
                coded("target.uncalibrated"), path=f"{self._at}.robot", fix=f"lerobot-calibrate {words}"
            )
        self._robot = made
        try:
            self._figures(made)
        except BaseException:
            self.close()
            raise

    def sensors(self) -> frozenset[str]:
        return frozenset({"joint_states"})

    def pictures(self) -> Mapping[str, tuple[int, int]]:
        return self._sizes

    def read(self) -> RobotReading:
        robot = self._connected()
        observation = robot.get_observation()
        at = self._context.clock.monotonic()
        joints = self._scale * np.array([float(observation[f"{name}.pos"]) for name in self.joints]) + self._shift
        speeds = np.zeros_like(joints)
        if self._before is not None and at > self._before[0]:
            speeds = (joints - self._before[1]) / (at - self._before[0])
        self._before = (at, joints)
        opening = 0.0
        if self._grip is not None:
            feature, closed, open_ = self._grip
            opening = min(max((float(observation[feature]) - closed) / (open_ - closed), 0.0), 1.0)
        pictures = {name: np.asarray(observation[name], dtype=np.uint8) for name in self._sizes}
        native = np.array([float(observation[name]) for name in self._native if name in observation])
        return RobotReading(at, joints, speeds, opening, pictures=pictures, native=native)

    def prepare(self) -> None:
        return

    def send(self, command: RobotCommand) -> None:
        theirs = (command.joints - self._shift) / self._scale
        action = {f"{name}.pos": float(value) for name, value in zip(self.joints, theirs, strict=True)} | self._still
        if self._grip is not None:
            feature, closed, open_ = self._grip
            action[feature] = closed + command.opening * (open_ - closed)
        self._connected().send_action(action)

    def halt(self) -> None:
        """The present pose as the goal: in power, for an arm that lets go falls."""
        if self._robot is None:
            return
        observation = self._robot.get_observation()
        features = [f"{name}.pos" for name in self.joints] + ([self._grip[0]] if self._grip else [])
        self._robot.send_action({name: float(observation[name]) for name in features} | self._still)

    def close(self) -> None:
        made, self._robot = self._robot, None
        if made is not None:
            self._let_go(made)

    def _connected(self) -> Robot:
        assert self._robot is not None, "connect comes first"
        return self._robot

    # -- inside ------------------------------------------------------------------------------------------------------

    def _made(self, settings: dict[str, object]) -> Robot:
        target, at = self._target, f"{self._at}.robot"
        robots = import_library("lerobot.robots", target, INSTALL)
        utils = import_library("lerobot.robots.utils", target, INSTALL)
        kind = str(settings.pop("type", ""))
        chosen = _choice(robots, kind, target)
        if chosen is None:
            known = ", ".join(sorted(robots.RobotConfig.get_known_choices())) or "none"
            raise BadInput(
                coded("target.no_robot", kind=kind), path=f"{at}.type", expected=coded("common.either_of", names=known),
                fix=coded("target.install_lerobot"),
            )  # fmt: skip
        try:
            cameras = settings.get("cameras")
            if isinstance(cameras, Mapping):
                settings["cameras"] = {name: _camera(dict(given), target) for name, given in cameras.items()}
            return utils.make_robot_from_config(chosen(**settings))
        except ImportError as error:
            raise MissingRequirement(
                coded("target.needs", kind=kind, name=error.name or str(error)), path=at, fix=INSTALL
            ) from error
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise BadInput(
                coded("target.refuses", kind=kind, why=str(error)), path=at, expected=coded("target.lerobot_settings")
            ) from error
        finally:
            settings["type"] = kind

    def _features(self, made: Robot) -> None:
        """Its actions and observations, by the library's own description."""
        features = dict(made.action_features)
        gripper = self._target.config.get("gripper")
        declared = dict(gripper) if isinstance(gripper, Mapping) else {}
        at = f"{self._at}.gripper"
        guess = next((name for name in features if name.removesuffix(".pos").endswith("gripper")), "")
        feature = "" if gripper is False else str(declared.get("feature") or guess)
        if feature and feature not in features:
            raise BadInput(coded("target.no_feature", name=feature), path=f"{at}.feature", expected=", ".join(features))
        if feature:
            closed, open_ = (float(declared.get(word, usual)) for word, usual in (("closed", 0.0), ("open", 100.0)))
            if not math.isfinite(closed + open_) or closed == open_:
                raise BadInput(
                    coded("target.closed_open", closed=closed, open=open_),
                    path=at,
                    expected=coded("target.two_numbers"),
                )
            self._grip = (feature, closed, open_)
            self.width = float(declared.get("width", 1.0))
        self.joints = tuple(name.removesuffix(".pos") for name in features if name.endswith(".pos") and name != feature)
        self._still = dict.fromkeys(
            (name for name in features if name != feature and not name.endswith(".pos")), 0.0
        )  # fmt: skip
        if not self.joints:
            raise BadInput(
                coded("target.jointless", names=[*features]), path=f"{self._at}.robot.type",
                expected=coded("target.an_arm"), fix=coded("target.own_adapter"),
            )  # fmt: skip
        self._native = tuple(features)
        self._sizes = {
            name: (int(shape[0]), int(shape[1]))
            for name, shape in dict(made.observation_features).items()
            if isinstance(shape, tuple) and len(shape) == 3
        }

    def _figures(self, made: Robot) -> None:
        """Units, limits and kinematics, once it is connected and its calibration is known."""
        units = self._target.config.get("units", "degrees")
        if units not in UNITS:
            raise BadInput(f"{units!r}", path=f"{self._at}.units", expected=coded("common.either_of", names=[*UNITS]))
        spans = self._spans(made, str(units))
        count = len(self.joints)
        if units == "percent":
            low, high = spans[:, 0], spans[:, 1]
            self._scale, self._shift = (high - low) / 200.0, (high + low) / 2
        else:
            self._scale = np.full(count, math.pi / 180 if units == "degrees" else 1.0)
            self._shift = np.zeros(count)
        known = bool(np.isfinite(spans).all())
        self.maker = SafetyLimits(joint_speed=np.full(count, SERVO_SPEED))
        if known:
            self.maker = replace(self.maker, joint_low=spans[:, 0], joint_high=spans[:, 1])
        self.chain = self._kinematics()
        self.usual = SafetyLimits(
            joint_speed=np.full(count, USUAL_SPEED), joint_step=USUAL_STEP, follow=USUAL_FOLLOW,
            ee_speed=REDUCED_SPEED, ee_turn=1.0, gripper_speed=2.0, watchdog_s=1.0, stale_s=1.5,
        )  # fmt: skip

    def _spans(self, made: Robot, units: str) -> Array:
        """(n, 2) rad of each joint: the operator's `span`, else the calibration; infinite: not known."""
        spans = np.tile([-math.inf, math.inf], (len(self.joints), 1))
        bus = getattr(made, "bus", None)
        motors, calibration = getattr(bus, "motors", {}), getattr(made, "calibration", None) or {}
        declared = self._target.config.get("span")
        declared = declared if isinstance(declared, Mapping) else {}
        if unknown := [str(name) for name in declared if name not in self.joints]:
            raise BadInput(
                coded("target.no_joint", names=[*unknown]), path=f"{self._at}.span", expected=", ".join(self.joints)
            )
        for i, name in enumerate(self.joints):
            speaks = _MODES.get(str(getattr(getattr(motors.get(name), "norm_mode", None), "value", "")))
            if speaks is not None and speaks != units:
                raise BadInput(
                    coded("target.other_units", units=units, name=name, speaks=speaks),
                    path=f"{self._at}.units",
                    expected=speaks,
                    fix=coded("target.write_units", speaks=speaks),
                )
            if name in declared:
                low, high = (float(part) for part in declared[name])
                if not low < high:
                    raise BadInput(
                        coded("target.range", low=low, high=high),
                        path=f"{self._at}.span.{name}",
                        expected=coded("target.low_below"),
                    )
                spans[i] = low, high
            elif name in calibration and (steps := _steps(bus, motors.get(name))):
                half = (calibration[name].range_max - calibration[name].range_min) * math.pi / steps
                spans[i] = -half, half  # degrees and percent both have their 0 in the middle of the range
        if units == "percent" and not np.isfinite(spans).all():
            lost = [name for name, span in zip(self.joints, spans, strict=True) if not np.isfinite(span).all()]
            raise BadInput(
                coded("target.percent_of", names=[*lost]), path=f"{self._at}.span",
                expected=coded("target.span"), fix=coded("target.or_degrees"),
            )  # fmt: skip
        return spans

    def _kinematics(self) -> Chain | None:
        declared = self._target.config.get("kinematics")
        if declared is None:
            return None
        at = f"{self._at}.kinematics"
        if isinstance(declared, Mapping) and isinstance(declared.get("urdf"), str):
            path = os.path.expanduser(str(declared["urdf"]))
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            except OSError as error:
                raise MissingRequirement(
                    coded("target.no_description", path=path, why=error.strerror), path=f"{at}.urdf"
                ) from error
            names = declared.get("joints") or self.joints
            if len(names) != len(self.joints):
                raise BadInput(f"{len(names)} joints", path=f"{at}.joints", expected=", ".join(self.joints))
            return from_urdf(text, [str(name) for name in names], str(declared.get("tip") or ""), path=path)
        if (
            isinstance(declared, Mapping)
            and isinstance(declared.get("dh"), list)
            and len(declared["dh"]) == len(self.joints)
        ):
            tool = np.eye(4)
            tool[:3, 3] = declared.get("tool") or (0.0, 0.0, 0.0)
            return from_dh([[float(part) for part in row] for row in declared["dh"]], tool)
        raise BadInput(
            f"{declared!r}", path=at,
            expected=coded("target.kinematics", n=len(self.joints)),
        )  # fmt: skip

    @staticmethod
    def _let_go(made: Robot) -> None:
        try:
            if made.is_connected:
                made.disconnect()
        except Exception:  # noqa: S110 # the wire is cut: there is nothing left to let go of
            pass


def _choice(robots: ModuleType, kind: str, target: Target) -> Any:
    """The configuration class of a type: its package registers it when it is imported, plugins only then."""
    known = robots.RobotConfig.get_known_choices
    names = sorted(
        (part.name for part in pkgutil.iter_modules(robots.__path__) if part.ispkg), key=lambda n: n[:2] != kind[:2]
    )
    for name in names:
        if kind in known():
            break
        try:
            import_module(f"{robots.__name__}.{name}")
        except ImportError:
            continue  # another robot's motors are not installed
    if kind not in known():
        import_library("lerobot.utils.import_utils", target, INSTALL).register_third_party_plugins()
    return known().get(kind)


def _camera(settings: dict[str, object], target: Target) -> Any:
    """A camera's configuration by its `type`, as LeRobot's own command line makes it."""
    kind = str(settings.pop("type", "opencv"))
    cameras = import_library("lerobot.cameras", target, INSTALL)
    if kind not in cameras.CameraConfig.get_known_choices():
        import_library(f"lerobot.cameras.{kind}", target, INSTALL)
    return cameras.CameraConfig.get_choice_class(kind)(**settings)


def _steps(bus: MotorsBus, motor: Motor) -> int:
    """Encoder steps a turn of a motor, less one, as the library counts them; 0: unknown."""
    table = getattr(bus, "model_resolution_table", {})
    return int(table.get(getattr(motor, "model", ""), 1)) - 1
