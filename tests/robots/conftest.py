"""Bodies for the tests: opened small, closed always."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Order, Outcome, RobotState, Scene, Thing
from worldfs.robots.mujoco.gl import gl_status
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
BASKET = Thing("basket_01", category="container", position=(0.4, -0.4, 0.045), size=(0.3, 0.4, 0.09), shape="basket")


class Hand:
    """A body with its orders said shortly."""

    def __init__(self, scene: Scene, **settings: Any) -> None:
        self.body = TabletopDriver("franka_001", **{"cameras": False, **settings})
        self.body.open(scene)

    @property
    def rig(self) -> Any:
        return self.body.arm.rig

    def order(self, op: str, **params: Any) -> Order:
        return Order("act_001", "franka_001", op, params)

    def do(self, op: str, run: Run | None = None, **params: Any) -> Outcome:
        clock = SystemClock()
        return self.body.execute(self.order(op, **params), run or Run(clock, clock.monotonic() + 60))

    def review(self, op: str, **params: Any) -> list[Any]:
        return list(self.body.review(self.order(op, **params)))

    def seen(self, id: str) -> Thing:
        found = self.body.observe().thing(id)
        assert found is not None
        return found


def on_table(*things: Thing) -> Scene:
    return Scene((RobotState("franka_001"),), things, (TABLE, BASKET))


@pytest.fixture
def opened() -> Iterator[Callable[..., Hand]]:
    """Opens bodies on scenes: `opened(thing, …)` on a table with a basket, or `opened(scene=…)`."""
    made: list[Hand] = []

    def make(*things: Thing, scene: Scene | None = None, **settings: Any) -> Hand:
        made.append(Hand(scene or on_table(*things), **settings))
        return made[-1]

    yield make
    for hand in made:
        hand.body.close()


@pytest.fixture
def page() -> Callable[[tuple[float, ...]], Scene]:
    """The ENVIRONMENT.md of specification 000, its apple where the test wants it."""

    def scene(apple: tuple[float, ...]) -> Scene:
        return Scene(
            (RobotState("franka_001", (0.5, 0.0, 0.0), {"joint_1": 0.0, "joint_2": -0.3}, "open"),),
            (Thing("apple_01", "Red Apple", "fruit", apple),),
            (Thing("table_01", category="furniture", position=(1.2, 0.0, 0.8)),),
        )

    return scene


@pytest.fixture
def gl() -> str:
    status = gl_status()
    if not status.backend:
        pytest.skip(f"no pictures on this machine: {status}")
    return status.backend
