"""A relay: one instruction as missions that hand things over by the tray of a carrier, where no arm alone can."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded, render
from worldfs.base.model import Scene
from worldfs.base.tray_names import tray_id

from .mission import Mission, MissionOrder

REACH: Final = 0.75  # m from an arm's base within which it takes and puts down from above
LOAD: Final = 3  # things of one trip


class RelayLeg(NamedTuple):
    """What one robot does: an arm moves `things` to `place`; without things a carrier goes to the arm `place`.

    `after`: the legs before it, by their numbers.
    """

    robot: str
    place: str
    things: tuple[str, ...] = ()
    after: tuple[int, ...] = ()

    def text(self, language: str) -> str:
        """As an instruction that a planner reads, in the language of the one that it is a part of."""
        if not self.things:
            return render(coded("mission.leg_go", place=self.place), language)
        return render(coded("mission.leg_move", things=list(self.things), place=self.place), language)


def relay(
    scene: Scene, goals: Sequence[tuple[str, str]], arms: Sequence[str], carriers: Sequence[str]
) -> list[RelayLeg]:
    """Legs that bring each thing into its container, `goals` being (thing, container).

    What one arm reaches both of, it moves itself, at once. The rest goes by a carrier's tray, `LOAD` things a trip: it
    docks at the first arm, is loaded, docks at the second, is unloaded. Raises `BadInput` for what no arm reaches, and
    where there is no carrier.
    """
    own, trips = dict[tuple[str, str], list[str]](), dict[tuple[str, str, str], list[str]]()
    for thing, container in goals:
        givers, takers = _reaching(scene, thing, arms), _reaching(scene, container, arms)
        both = [arm for arm in takers if arm in givers]
        if both:
            own.setdefault((both[0], container), []).append(thing)
        else:
            trips.setdefault((givers[0], takers[0], container), []).append(thing)
    legs = [RelayLeg(arm, container, tuple(things)) for (arm, container), things in own.items()]
    carried = sorted(thing for things in trips.values() for thing in things)
    if carried and not carriers:
        raise BadInput(
            coded("mission.no_carrier", things=carried), op="relay",
            expected=coded("mission.a_carrier"), fix=coded("robot.bring_nearer"),
        )  # fmt: skip
    last: tuple[int, ...] = ()
    for (giver, taker, container), things in trips.items():
        for first in range(0, len(things), LOAD):
            load, here = tuple(things[first : first + LOAD]), len(legs)
            legs += [
                RelayLeg(carriers[0], giver, (), last),
                RelayLeg(giver, tray_id(carriers[0]), load, (here,)),
                RelayLeg(carriers[0], taker, (), (here + 1,)),
                RelayLeg(taker, container, load, (here + 2,)),
            ]
            last = (here + 3,)
    return legs


def leg_orders(mission: Mission, legs: Sequence[RelayLeg], language: str) -> tuple[MissionOrder, ...]:
    """The legs as missions of their own, in the order in which they were planned."""
    ids = [f"{mission.id}_leg_{number:02d}" for number in range(1, len(legs) + 1)]
    title = mission.order.title or mission.order.text
    return tuple(
        MissionOrder(
            id, leg.text(language), f"{title} {number}/{len(legs)}", (), leg.robot, mission.priority,
            tuple(ids[k] for k in leg.after), mission.order.created_at, mission.order.asker,
        )
        for number, (id, leg) in enumerate(zip(ids, legs, strict=True), 1)
    )  # fmt: skip


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
