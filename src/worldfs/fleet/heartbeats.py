"""Heartbeats: the process that serves a robot renews its lease, and each renewal is one. There are no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from worldfs.base.clock import stamp
from worldfs.base.messages import coded
from worldfs.base.model import Finding

from .bids import RobotOffer
from .mission import MissionOrder
from .mission_sheet import clock_time


def offers_now(offers: Iterable[RobotOffer], busy: Mapping[str, MissionOrder]) -> list[RobotOffer]:
    """The robots, those at work and those not heard of marked as such. `busy`: robot → the mission that it has."""
    return [_offer_now(offer, busy.get(offer.id)) for offer in offers]


def lost_robot(offer: RobotOffer) -> Finding:
    """What an alert says of a robot whose lease has ended."""
    expected, fix = coded("mission.served"), coded("mission.serve_it", robot=offer.id)
    return Finding("ROBOT_LOST", offer.id, expected, _silent(offer), fix)


def _offer_now(offer: RobotOffer, work: MissionOrder | None) -> RobotOffer:
    if not offer.served:
        return offer._replace(unable=_silent(offer), state="offline")
    if work is not None and not offer.unable:
        return offer._replace(unable=coded("mission.busy", mission=work.title or work.text), state="busy")
    return offer


def _silent(offer: RobotOffer) -> str:
    since = clock_time(stamp(offer.heard)) if offer.heard is not None else coded("mission.never")
    return coded("mission.silent", since=since)
