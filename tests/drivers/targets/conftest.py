"""Robots for the tests: stand-ins of their libraries (peers/) over a simulated robot on loopback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from worldfs.drivers.targets.adapter import Bench
from worldfs.drivers.targets.real import adapter
from worldfs.ground.clock import SystemClock
from worldfs.ground.model import Target

PEERS = Path(__file__).parent / "peers"
LIBRARIES = ("lerobot", "franky", "unitree_sdk2py", "cv2", "plant")
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


@pytest.fixture
def take(peers: Any) -> Iterator[Callable[..., Any]]:
    """take(kind, config={…}, …) → (open target, its simulated robot); all of it closed at the end."""
    with ExitStack() as stack:

        def take(driver: str, config: dict[str, Any] | None = None, clock: Any = None, **more: Any) -> tuple[Any, Any]:
            kind, q = {"franka": ("fci", FRANKA_HOME), "unitree_go2": ("base", ()), "lerobot": ("servo", (0.0,) * 5)}[
                driver
            ]
            plant = stack.enter_context(peers.Plant(kind, q, **more))
            target = declared(driver, plant.address, **(config or {}))
            made = adapter(target, Bench(clock or SystemClock()))
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
