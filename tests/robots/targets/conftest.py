"""Robots for the tests: stand-ins of their libraries (peers/) over a simulated robot on loopback."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.driver import PluginContext
from worldfs.base.model import ApprovalPolicy, Target
from worldfs.formats.config import Config
from worldfs.robots.targets import cameras, real_target
from worldfs.robots.targets.real_target import adapter
from worldfs.robots.targets.robots import unitree, watchdog_process
from worldfs.robots.targets.watchdog import LOOK_S
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S, until

PEERS = Path(__file__).parent / "peers"
LIBRARIES = ("lerobot", "franky", "unitree_sdk2py", "cv2", "plant")
TRUSTED = Config(approval={"": ApprovalPolicy.NEVER})  # real bodies ask before they move, unless they are told not to
FRANKA_HOME = (0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.7)


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-ins are what `import franky` finds; each test has them fresh. Gives the simulated robot's module."""
    for name in [name for name in sys.modules if name.partition(".")[0] in LIBRARIES]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(PEERS))
    import plant

    yield plant
    for name in [name for name in sys.modules if name.partition(".")[0] in LIBRARIES]:
        del sys.modules[name]


def let_pass(target: Any, seconds: float) -> None:
    """So much of the robots' time passes, and the watchdog looks as often as it does in real time."""
    clock = target.context.clock
    while seconds > 1e-9:
        step = min(seconds, LOOK_S)
        clock.advance(step)
        seconds -= step
        target.watchdog.check()
    if not target.robot.joints:  # it tells of itself in a thread of its own
        until(lambda: target.robot.read().at >= clock.monotonic())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits in real seconds, for wires, threads and processes, are no part of what is tested here."""
    for where, name in ((unitree, "FIRST_S"), (unitree, "ANSWER_S"), (unitree, "GUARD_S"),
                        (watchdog_process, "READY_S"), (cameras, "FIRST_S"), (real_target, "HALT_WAIT_S")):  # fmt: skip
        monkeypatch.setattr(where, name, PATIENCE_S)


class PacedClock(ManualClock):
    """A wait lasts until each robot that tells of itself in a thread of its own has told of its end."""

    def __init__(self, heard: dict[object, float]) -> None:
        super().__init__()
        self._heard = heard

    def wait(self, event: threading.Event, seconds: float) -> bool:
        super().wait(event, seconds)
        now = self.monotonic()
        for _ in range(500):  # one that says nothing more holds up nothing for long
            if event.is_set() or all(at >= now for at in list(self._heard.values())):
                break
            event.wait(0.001)
        return event.is_set()


@pytest.fixture
def timed(peers: Any, patient: None) -> Any:
    """The module of simulated robots, on a clock in hand: `timed.CLOCK`."""
    peers.CLOCK = PacedClock(peers.HEARD)
    return peers


@pytest.fixture
def take(timed: Any) -> Iterator[Callable[..., Any]]:
    """take(kind, config={…}, …) → (open target, its simulated robot), both on one clock in hand (`let_pass`).

    All of it is closed at the end.
    """
    with ExitStack() as stack:

        def take(driver: str, config: dict[str, Any] | None = None, **more: Any) -> tuple[Any, Any]:
            kind, q = {"franka": ("fci", FRANKA_HOME), "unitree_go2": ("base", ()), "lerobot": ("servo", (0.0,) * 5)}[
                driver
            ]
            plant = stack.enter_context(timed.Plant(kind, q, **more))
            target = declared(driver, plant.address, **(config or {}))
            made = adapter(target, PluginContext(timed.CLOCK))
            stack.callback(made.close)
            made.open()
            return made, plant

        yield take


def declared(driver: str, address: str, **config: Any) -> Target:
    """A target as TARGETS.md would have it."""
    own = {
        "lerobot": {"robot": {"type": "so101_follower", "port": address, "id": "arm"}, "units": "degrees"},
        "franka": {"ip": address},
        "unitree_go2": {"interface": address},
    }[driver]
    return Target(
        f"real_{driver}", "real_robot", adapter="RealRobotTargetAdapter", driver=driver, config=own | config
    )  # fmt: skip
