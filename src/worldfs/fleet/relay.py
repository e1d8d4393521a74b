"""A relay: orders that hand things over by the tray of a carrier, where no single arm can take and put them down."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json, Order, Scene

REACH: Final = 0.75  # m from an arm's base within which it takes and puts down from above
LOAD: Final = 3  # things of one trip


class _Relay:
    """The orders so far: each waits for the one before it at its robot, and for what else it is told."""

    def __init__(self, name: str) -> None:
        self._name, self.orders = name, list[Order]()
        self._last: dict[str, str] = {}

    def add(self, robot: str, op: str, params: Json, *after: str) -> str:
        id = f"{self._name}_{len(self.orders) + 1:02d}"
        waits = tuple(dict.fromkeys(one for one in (self._last.get(robot, ""), *after) if one))
        self.orders.append(Order(id, robot, op, params, depends_on=waits))
        self._last[robot] = id
        return id

    def move(self, arm: str, things: Iterable[str], place: str, *after: str) -> str:
        """The arm takes each thing and puts it there, then its hand is out of the way."""
        for thing in things:
            self.add(arm, "pick_up", {"object_id": thing}, *after)
            self.add(arm, "place", {"target": place})
        return self.add(arm, "strategy", {"name": "home"})


def relay(scene: Scene, goals: Sequence[tuple[str, str]], arms: Sequence[str], carrier: str, name: str) -> list[Order]:
    """Orders that bring each thing into its container, `goals` being (thing, container); their ids begin with `name`.

    What one arm reaches both of, it moves itself, at once. The rest goes by the carrier's tray, `LOAD` things a trip:
    it docks at the first arm, is loaded, docks at the second, is unloaded. Raises `BadInput` for what no arm reaches.
    """
    plan, own, trips = _Relay(name), dict[tuple[str, str], list[str]](), dict[tuple[str, str, str], list[str]]()
    for thing, container in goals:
        givers, taker = _reaching(scene, thing, arms), _reaching(scene, container, arms)[0]
        if taker in givers:
            own.setdefault((taker, container), []).append(thing)
        else:
            trips.setdefault((givers[0], taker, container), []).append(thing)
    tray = f"{carrier}_tray"
    for (arm, container), things in own.items():
        plan.move(arm, things, container)
    unloaded = ""
    for (giver, taker, container), things in trips.items():
        for first in range(0, len(things), LOAD):
            load = things[first : first + LOAD]
            here = plan.add(carrier, "target_navigation", {"target_label": giver}, unloaded)
            loaded = plan.move(giver, load, tray, here)
            there = plan.add(carrier, "target_navigation", {"target_label": taker}, loaded)
            unloaded = plan.move(taker, load, container, there)
    return plan.orders


def _reaching(scene: Scene, id: str, arms: Sequence[str]) -> list[str]:
    """The arms that reach a thing, the nearest first."""
    thing = scene.thing(id)
    if thing is None:
        raise BadInput(coded("robot.relay_thing", id=id), op="relay", expected=coded("robot.relay_known"))
    bases = {arm: robot.pose for arm in arms if (robot := scene.robot(arm)) and len(robot.pose) >= 2}
    far = {arm: math.dist(base[:2], thing.position[:2]) for arm, base in bases.items()}
    found = sorted((arm for arm in far if far[arm] <= REACH), key=lambda arm: far[arm])
    if not found:
        raise BadInput(
            coded("robot.relay_far", id=id, m=REACH), op="relay", expected=coded("robot.relay_near"),
            fix=coded("robot.bring_nearer"),
        )  # fmt: skip
    return found
