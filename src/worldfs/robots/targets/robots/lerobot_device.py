"""A device of LeRobot's with joints, a robot or a teleoperator: made, connected, and its figures as radians.

`units` degrees | radians | percent of the library's values; `gripper` {feature, closed, open, width}; `span`
{joint: [low, high] rad} where percent has to become radians and the calibration does not have it.

Interface as of lerobot 0.4.4: `RobotConfig` and `TeleoperatorConfig` choices by `type`, `make_…_from_config`,
`connect(calibrate)`, `disconnect`, `action_features`, `calibration`.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.robots.targets.target_adapter import Array
from worldfs.robots.targets.target_declaration import LIBRARIES

from .robot_library import import_library

if TYPE_CHECKING:  # the library is installed where its robots are
    from lerobot.cameras import CameraConfig
    from lerobot.motors import Motor, MotorsBus
    from lerobot.robots import Robot, RobotConfig

INSTALL: Final = LIBRARIES["lerobot"][1]
UNITS: Final = ("degrees", "radians", "percent")
_MODES: Final = {"degrees": "degrees", "range_m100_100": "percent"}  # MotorNormMode → our unit


class DeviceKind(NamedTuple):
    """How LeRobot makes devices of a kind: its package, its configuration class, its function; the word of its
    command line."""

    package: str
    config: str
    make: str
    word: str


ROBOT: Final = DeviceKind("lerobot.robots", "RobotConfig", "make_robot_from_config", "robot")
TELEOPERATOR: Final = DeviceKind(
    "lerobot.teleoperators", "TeleoperatorConfig", "make_teleoperator_from_config", "teleop"
)


class LeRobotDevice:
    """One device by its settings `{type, port, id …}`, as LeRobot's own configuration has them.

    `config`: what says how to read its figures (module); `place`: of the settings in a document, `at`: of `config`.
    Joints are the action features called `NAME.pos`; velocities of a base beneath an arm are kept at 0.
    """

    def __init__(
        self, kind: DeviceKind, settings: Mapping[str, object], config: Mapping[str, object], *, place: str, at: str
    ) -> None:
        self._kind, self.settings, self._config, self._place, self._at = kind, dict(settings), config, place, at
        self._device: Robot | None = None
        self.joints: tuple[str, ...] = ()
        self.features: tuple[str, ...] = ()  # all that it takes
        self.still: dict[str, float] = {}  # features that are not joints
        self.width = 1.0  # m of the open gripper
        self.spans = np.zeros((0, 2))
        self.gripper = ""  # its feature
        self._closed, self._open = 0.0, 1.0
        self._scale = self._shift = np.zeros(0)  # radians = scale * theirs + shift

    @property
    def connected(self) -> bool:
        return self._device is not None

    @property
    def device(self) -> Robot:
        """LeRobot's own object of what is connected; a teleoperator has `get_action`."""
        assert self._device is not None, "connect comes first"
        return self._device

    @property
    def words(self) -> str:
        """Its settings as LeRobot's own command line has them."""
        names = ("type", "port", "id")
        return " ".join(f"--{self._kind.word}.{key}={self.settings[key]}" for key in names if key in self.settings)

    def connect(self, *, uncalibrated: bool = False) -> None:
        """Raises `MissingRequirement` without the library or the device, or with a device that is not calibrated."""
        import_library(self._kind.package, self._at, INSTALL)
        made = self._made()
        self._read_features(made)
        try:
            made.connect(calibrate=False)  # it would prompt at a terminal
        except Exception as error:  # pyserial's, the motors' and the library's own
            _let_go(made)
            raise MissingRequirement(
                coded("target.no_answer", kind=self.settings.get('type'), why=str(error)), path=self._place,
                expected=coded("target.connected_robot"), fix=coded("target.see_port"),
            ) from error  # fmt: skip
        if not made.is_calibrated and not uncalibrated:
            _let_go(made)
            raise MissingRequirement(
                coded("target.uncalibrated"), path=self._place, fix=f"lerobot-calibrate {self.words}"
            )
        self._device = made
        if made.is_calibrated:
            try:
                self._read_units(made)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        made, self._device = self._device, None
        if made is not None:
            _let_go(made)

    def radians(self, values: Mapping[str, object]) -> Array:
        return self._scale * np.array([float(values[f"{name}.pos"]) for name in self.joints]) + self._shift  # type: ignore[arg-type]

    def opening(self, values: Mapping[str, object]) -> float:
        """0 closed … 1 open; 0 without a gripper."""
        if not self.gripper:
            return 0.0
        share = (float(values[self.gripper]) - self._closed) / (self._open - self._closed)  # type: ignore[arg-type]
        return min(max(share, 0.0), 1.0)

    def values(self, joints: Array, opening: float) -> dict[str, float]:
        """The library's action."""
        theirs = (joints - self._shift) / self._scale
        action = {f"{name}.pos": float(value) for name, value in zip(self.joints, theirs, strict=True)} | self.still
        if self.gripper:
            action[self.gripper] = self._closed + opening * (self._open - self._closed)
        return action

    # -- inside ------------------------------------------------------------------------------------------------------

    def _made(self) -> Robot:
        kind, settings = self._kind, dict(self.settings)
        package = import_library(kind.package, self._at, INSTALL)
        utils = import_library(f"{kind.package}.utils", self._at, INSTALL)
        type_ = str(settings.pop("type", ""))
        choices = getattr(package, kind.config)
        chosen = _choice(package, choices, type_, self._at)
        if chosen is None:
            known = ", ".join(sorted(choices.get_known_choices())) or "none"
            raise BadInput(
                coded("target.no_robot", kind=type_), path=f"{self._place}.type",
                expected=coded("common.either_of", names=known), fix=coded("target.install_lerobot"),
            )  # fmt: skip
        try:
            cameras = settings.get("cameras")
            if isinstance(cameras, Mapping):
                settings["cameras"] = {name: _camera(dict(given), self._at) for name, given in cameras.items()}
            return getattr(utils, kind.make)(chosen(**settings))
        except ImportError as error:
            raise MissingRequirement(
                coded("target.needs", kind=type_, name=error.name or str(error)), path=self._place, fix=INSTALL
            ) from error
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise BadInput(
                coded("target.refuses", kind=type_, why=str(error)), path=self._place,
                expected=coded("target.lerobot_settings"),
            ) from error  # fmt: skip

    def _read_features(self, made: Robot) -> None:
        """Its actions, by the library's own description."""
        features = dict(made.action_features)
        gripper = self._config.get("gripper")
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
            self.gripper, self._closed, self._open = feature, closed, open_
            self.width = float(declared.get("width", 1.0))
        self.joints = tuple(name.removesuffix(".pos") for name in features if name.endswith(".pos") and name != feature)
        self.still = dict.fromkeys((name for name in features if name != feature and not name.endswith(".pos")), 0.0)
        if not self.joints:
            raise BadInput(
                coded("target.jointless", names=[*features]), path=f"{self._place}.type",
                expected=coded("target.an_arm"), fix=coded("target.own_adapter"),
            )  # fmt: skip
        self.features = tuple(features)

    def _read_units(self, made: Robot) -> None:
        """Once it is connected and its calibration is known."""
        units = self._config.get("units", "degrees")
        if units not in UNITS:
            raise BadInput(f"{units!r}", path=f"{self._at}.units", expected=coded("common.either_of", names=[*UNITS]))
        self.spans = self._read_spans(made, str(units))
        count = len(self.joints)
        if units == "percent":
            low, high = self.spans[:, 0], self.spans[:, 1]
            self._scale, self._shift = (high - low) / 200.0, (high + low) / 2
        else:
            self._scale = np.full(count, math.pi / 180 if units == "degrees" else 1.0)
            self._shift = np.zeros(count)

    def _read_spans(self, made: Robot, units: str) -> Array:
        """(n, 2) rad of each joint: the operator's `span`, else the calibration; infinite: not known."""
        spans = np.tile([-math.inf, math.inf], (len(self.joints), 1))
        bus = getattr(made, "bus", None)
        motors, calibration = getattr(bus, "motors", {}), getattr(made, "calibration", None) or {}
        span = self._config.get("span")
        declared = span if isinstance(span, Mapping) else {}
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


def _let_go(made: Robot) -> None:
    try:
        if made.is_connected:
            made.disconnect()
    except Exception:  # noqa: S110 # the wire is cut: there is nothing left to let go of
        pass


def _choice(package: ModuleType, choices: RobotConfig, kind: str, at: str) -> type[RobotConfig] | None:
    """The configuration class of a type: its package registers it when it is imported, plugins only then."""
    known = choices.get_known_choices
    names = sorted(
        (part.name for part in pkgutil.iter_modules(package.__path__) if part.ispkg), key=lambda n: n[:2] != kind[:2]
    )
    for name in names:
        if kind in known():
            break
        try:
            import_module(f"{package.__name__}.{name}")
        except ImportError:
            continue  # another device's motors are not installed
    if kind not in known():
        import_library("lerobot.utils.import_utils", at, INSTALL).register_third_party_plugins()
    chosen: type[RobotConfig] | None = known().get(kind)
    return chosen


def _camera(settings: dict[str, object], at: str) -> CameraConfig:
    """A camera's configuration by its `type`, as LeRobot's own command line makes it."""
    kind = str(settings.pop("type", "opencv"))
    cameras = import_library("lerobot.cameras", at, INSTALL)
    if kind not in cameras.CameraConfig.get_known_choices():
        import_library(f"lerobot.cameras.{kind}", at, INSTALL)
    return cameras.CameraConfig.get_choice_class(kind)(**settings)


def _steps(bus: MotorsBus, motor: Motor) -> int:
    """Encoder steps a turn of a motor, less one, as the library counts them; 0: unknown."""
    table = getattr(bus, "model_resolution_table", {})
    return int(table.get(getattr(motor, "model", ""), 1)) - 1
