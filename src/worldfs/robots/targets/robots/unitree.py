"""Unitree Go2 through unitree_sdk2py: a walking base, commanded by velocity in its own frame.

`config`: `interface`, the network card that leads to it (else the SDK chooses); `domain` of its DDS, 0; `stand` true:
an episode begins by standing up. Interface as of unitree_sdk2py's `SportClient` (Move, StopMove, StandUp, BalanceStand,
Damp) and its topic `rt/sportmodestate`.

How long the robot goes on after the last `Move` depends on the firmware, and there is no promise for a process
that died. So a velocity is renewed or ended within a few control periods, and a second process is a watchdog: it has a
client of its own and sends StopMove when this one is gone or silent (watchdog_process.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.kinematics import Chain
from worldfs.robots.targets.safety_limits import SafetyLimits
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.robots.targets.target_declaration import LIBRARIES

from .robot_interface import RobotCommand, RobotInterface, RobotReading
from .robot_library import config_member, driver_place, import_library
from .watchdog_process import WatchdogProcess

INSTALL: Final = LIBRARIES["unitree_go2"][1]
TOPIC: Final = "rt/sportmodestate"
FIRST_S: Final = 3.0  # real seconds for its first state
ANSWER_S: Final = 1.0  # for a call that is answered
GUARD_S: Final = 0.5  # of silence before the watchdog sends StopMove
# m/s, m/s, rad/s: the ranges of Move in Unitree's "sports services interface"
LOW, HIGH = (-2.5, -1.0, -4.0), (3.8, 1.0, 4.0)
# this package's: a walk that a person keeps pace with backwards
USUAL, USUAL_ACCELERATION = (0.6, 0.3, 0.8), (1.0, 1.0, 2.0)


def robot(target: Target, context: PluginContext) -> RobotInterface:
    return UnitreeGo2(target, context)


class UnitreeGo2:
    joints: tuple[str, ...] = ()
    chain: Chain | None = None
    serial = False

    def __init__(self, target: Target, context: PluginContext) -> None:
        self._target, self._context = target, context
        self.maker = SafetyLimits(base_low=np.array(LOW), base_high=np.array(HIGH), watchdog_s=2.0, stale_s=5.0)
        speed = np.array(USUAL)
        self.usual = SafetyLimits(
            base_low=-speed,
            base_high=speed,
            base_acceleration=np.array(USUAL_ACCELERATION),
            watchdog_s=0.6,
            stale_s=1.5,
        )
        self._sport: Any = None  # the library is not here for the type checker
        self._subscriber: Any = None
        self._guard: WatchdogProcess | None = None
        self._state: tuple[float, Any] | None = None
        self._last_state = threading.Event()

    def connect(self) -> None:
        target = self._target
        channel = import_library("unitree_sdk2py.core.channel", driver_place(target), INSTALL)
        client = import_library("unitree_sdk2py.go2.sport.sport_client", driver_place(target), INSTALL)
        messages = import_library("unitree_sdk2py.idl.unitree_go.msg.dds_", driver_place(target), INSTALL)
        interface, domain = (
            config_member(target, "interface", str, ""),
            int(config_member(target, "domain", float, 0.0)),
        )
        try:
            _initialise(channel.ChannelFactoryInitialize, domain, interface)
        except Exception as error:  # the SDK raises a bare Exception
            raise MissingRequirement(
                coded("target.no_dds", interface=interface or coded("target.any_interface"), why=str(error)),
                path=f"TARGETS.md {target.id} config.interface",
                expected=coded("target.network_card"),
                fix=coded("target.connect_go2"),
            ) from error
        self._subscriber = channel.ChannelSubscriber(TOPIC, messages.SportModeState_)
        self._subscriber.Init(self._on_state, 10)
        if not self._last_state.wait(FIRST_S):
            self.close()
            raise MissingRequirement(
                coded("target.no_topic", topic=TOPIC, s=FIRST_S), path=f"TARGETS.md {target.id} config.interface",
                expected=coded("target.go2"), fix=coded("target.switch_go2"),
            )  # fmt: skip
        self._sport = client.SportClient()
        self._sport.SetTimeout(ANSWER_S)
        self._sport.Init()
        self._guard = WatchdogProcess("unitree_go2", {"interface": interface, "domain": domain}, GUARD_S)
        self._guard.start()

    def sensors(self) -> frozenset[str]:
        return frozenset({"imu", "odometry"})

    def pictures(self) -> Mapping[str, tuple[int, int]]:
        return {}

    def read(self) -> RobotReading:
        assert self._state is not None, "not connected"
        at, state = self._state
        velocity = np.array([state.velocity[0], state.velocity[1], state.yaw_speed], float)
        place = np.array([state.position[0], state.position[1], state.imu_state.rpy[2]], float)
        return RobotReading(at, place=place, velocity=velocity, trouble=self._trouble())

    def prepare(self) -> None:
        """Stands up, if the target's config says so."""
        if self._sport is not None and self._target.config.get("stand") is True:
            for word in ("StandUp", "BalanceStand"):
                self._answered(word, getattr(self._sport, word)())

    def send(self, command: RobotCommand) -> None:
        vx, vy, wz = (float(part) for part in command.velocity)
        if self._guard is not None:
            self._guard.feed(moving=bool(command.velocity.any()))
        self._answered("Move", self._sport.Move(vx, vy, wz))

    def halt(self) -> None:
        if self._sport is None:
            return
        code = self._sport.StopMove()
        if code != 0:
            self._sport.Move(0.0, 0.0, 0.0)  # not acknowledged: it may still be received
            self._answered("StopMove", code)
        if self._guard is not None:
            self._guard.feed(moving=False)

    def close(self) -> None:
        self._sport = None
        subscriber, self._subscriber = self._subscriber, None
        if subscriber is not None:
            subscriber.Close()
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    # -- inside ------------------------------------------------------------------------------------------------------

    def _on_state(self, state: Any) -> None:
        self._state = (self._context.clock.monotonic(), state)
        self._last_state.set()

    def _trouble(self) -> str:
        if self._guard is not None and not self._guard.alive:
            return coded("target.guard_ended")
        return ""

    @staticmethod
    def _answered(what: str, code: object) -> None:
        if code not in (0, None):
            raise TargetStopped(
                coded("target.error_answer", what=what, code=code), expected="0", fix=coded("target.see_network")
            )


@cache
def _initialise(initialise: Callable[..., None], domain: int, interface: str) -> None:
    """Once a process: the SDK's channels are one for all."""
    initialise(domain, interface or None)
