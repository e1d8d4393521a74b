"""Robots that stand idle in the way of a mission: each is sent to a passing place that a person has named, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of

from .bids import RobotOffer
from .mission import Mission, MissionOrder, MissionState
from .mission_reservations import holder_of
from .reservations import Reservation, ReservationTable


class WayOut(NamedTuple):
    """A passing place (x y, m) that a robot may be sent to, and the floor that it would stand on there."""

    name: str
    at: tuple[float, float]
    stands: tuple[Reservation, ...]


def room_orders(
    missions: Mapping[str, Mission],
    offers: Sequence[RobotOffer],
    table: ReservationTable,
    ways_out: Callable[[str], Sequence[WayOut]],
    no_way: Callable[[str, str], None],
) -> Iterator[MissionOrder]:
    """Missions that send idle robots out of the way of those that wait for the floor that they stand on.

    Their ids follow from the mission and the robot, so that none is sent twice for one. The place must be free, and the
    waiting mission must not want it itself. `no_way`: called with a mission and a robot that cannot be sent anywhere.
    """
    queued = [item.order for item in missions.values() if item.status.state is MissionState.QUEUED]
    named = {order.robot for order in queued if not order.serves}  # one out of a mission's way may never be sent
    idle = {holder_of(offer.id): offer.id for offer in offers if is_idle(offer) and offer.id not in named}
    for id, ahead in table.waits_for().items() if idle else ():
        for robot in [idle[holder] for holder in ahead if holder in idle and id in missions]:
            free = (way for way in ways_out(robot) if table.free(way.stands, id, holder_of(robot)))
            if (way := next(free, None)) is not None:
                yield _order(missions[id], robot, way)
            else:
                no_way(id, robot)


def waits_for_room(room: Mission, table: ReservationTable) -> bool:
    """Whether the mission that it serves waits for what its robot stands on, or is out of the way meanwhile."""
    id, robot = room.order.serves, room.order.robot
    return table.aside(id) is not None or bool({holder_of(robot), room.id} & {*table.waits_for().get(id, ())})


def is_idle(offer: RobotOffer) -> bool:
    """Whether it travels, and could be sent somewhere now."""
    return offer.mobile and offer.served and offer.state == "idle" and not offer.unable


def _order(mission: Mission, robot: str, way: WayOut) -> MissionOrder:
    order, (x, y) = mission.order, way.at
    language = language_of(order.text)
    return MissionOrder(
        f"{mission.id}_room_{robot}",
        render(coded("mission.room_go", x=x, y=y), language),
        render(coded("mission.room_title", robot=robot, name=way.name, title=order.title or order.text), language),
        robot=robot,
        priority=mission.priority,
        created_at=order.created_at,
        asker="orchestrator",
        serves=mission.id,
    )
