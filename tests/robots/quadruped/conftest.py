"""Quadrupeds for the tests, their orders said shortly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Order, Outcome, Scene
from worldfs.robots.mujoco.quadruped.quadruped_driver import QuadrupedDriver
from worldfs.robots.mujoco.shared_world import SharedWorld


class Dog:
    """A quadruped in a scene; without one, in the house that it makes up."""

    def __init__(self, scene: Scene | None = None, **settings: Any) -> None:
        world = SharedWorld(language=settings.pop("language", "en"), seed=settings.pop("seed", None))
        self.body = QuadrupedDriver("dog", world=world, **settings)
        self.body.open(scene or Scene())

    def order(self, op: str, **params: Any) -> Order:
        return Order("act_001", "dog", op, params)

    def run(self) -> Run:
        clock = SystemClock()
        return Run(clock, clock.monotonic() + 600)

    def do(self, op: str, run: Run | None = None, **params: Any) -> Outcome:
        return self.body.execute(self.order(op, **params), run or self.run())

    def go(self, label: str, run: Run | None = None) -> Outcome:
        return self.do("target_navigation", run, target_label=label)

    def review(self, op: str, **params: Any) -> list[str]:
        return [finding.code for finding in self.body.review(self.order(op, **params))]

    def each_tick(self, act: Callable[[], None]) -> None:
        """`act` is called after every tick, from now on."""
        self.body.walker.watch = act


@pytest.fixture
def dog() -> Iterator[Callable[..., Dog]]:
    made: list[Dog] = []

    def make(scene: Scene | None = None, **settings: Any) -> Dog:
        made.append(Dog(scene, **settings))
        return made[-1]

    yield make
    for one in made:
        one.body.close()
