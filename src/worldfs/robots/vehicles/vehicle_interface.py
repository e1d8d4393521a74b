"""The port of vehicles: what a robot that drives itself to a goal reports, and what it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from worldfs.base.driver import PluginContext, Standstill
from worldfs.base.model import Json, Target
from worldfs.robots.targets.safety_limits import SafetyLimits

Taken = Callable[[Sequence[tuple[float, float]]], str]  # points of a way (x y, m) → who stands on it; "": it is free
Pose = tuple[float, float, float]  # x, y (m), yaw (rad) on the vehicle's map


@dataclass(frozen=True, slots=True)
class VehicleReading:
    """What the vehicle last reported of itself. Metres, radians, percent, seconds."""

    at: float  # when the report arrived, by the context's clock
    stamp: float = 0.0  # when it was made, by the vehicle's own clock: only differences mean anything
    pose: Pose | None = None  # None: it does not know where it is
    map: str = ""
    still: bool = False  # it reports that it stands
    speed: float | None = None  # m/s
    battery: float | None = None
    refusal: str = ""  # why it cannot be given an order now
    cut_off: str = ""  # why nothing is heard of it now, and nothing would reach it
    notes: tuple[str, ...] = ()  # its warnings


@dataclass(frozen=True, slots=True)
class DriveGoal:
    """A goal. `yaw` None: any. `node`, `actions`: what a protocol calls it, and what is to be done there."""

    x: float
    y: float
    yaw: float | None = None
    name: str = ""
    node: str = ""
    actions: tuple[Json, ...] = ()

    @property
    def at(self) -> tuple[float, float]:
        return (self.x, self.y)


class DriveState(NamedTuple):
    """What the vehicle says of the order that it was given: neither field set means that it is on its way."""

    finished_at: float | None = None  # the context's clock, when it said that it had arrived
    code: str = ""  # why it failed
    message: str = ""
    repeatable: bool = False  # of one that failed: nothing of it was driven, or its own navigation gave it up
    foreign: bool = False  # it follows another controller's order, which is not ours to end


@dataclass(frozen=True, slots=True)
class VehicleSettings:
    """What all kinds of vehicles are told by `config` of TARGETS.md."""

    limits: SafetyLimits
    places: Mapping[str, DriveGoal] = field(default_factory=dict)
    tolerance: float = 0.25  # m
    turn_tolerance: float = 0.2  # rad
    least_battery: float = 10.0  # percent: an order needs more


class Vehicle(Protocol):
    """One vehicle. Called from one thread at a time, but for `halt`."""

    settings: VehicleSettings
    changed: threading.Event  # set by each report and each change of the connection

    def connect(self) -> None:
        """Returns once it is connected and has reported; at once where it is. Called again where it is not.

        Raises `MissingRequirement` or `BadInput` with the fix. Moves nothing.
        """
        ...

    def read(self) -> VehicleReading:
        """The last report. Raises `ConnectionError` when there has been none."""
        ...

    def refresh(self) -> None:
        """Asks for a report where none is due; returns when one has come, or after a few seconds without."""
        ...

    def way(self, start: Pose, goal: DriveGoal) -> Sequence[DriveGoal]:
        """The places that it would pass, from where it stands to the goal, as it knows that; empty: it finds its own
        way. Raises `BadInput` where there is no way."""
        ...

    def begin(self, order_id: str, goal: DriveGoal, taken: Taken) -> None:
        """Sends the order. The same `order_id` twice is one order. Raises `ConnectionError` when it cannot.

        `taken`: asked before a further part of the way is released, where that is done in parts.
        """
        ...

    def progress(self) -> DriveState:
        """Of the order that `begin` sent; called again and again, it does what is due meanwhile."""
        ...

    def halt(self) -> None:
        """Sends the stop at once, also without an order, and returns. From any thread. Raises `ConnectionError` where
        it did not reach the vehicle, as far as is known."""
        ...

    def standstill(self, since: float) -> Standstill:
        """Whether it reports, after `since` and after the last `halt`, that it stands and goes on with no order."""
        ...

    def end(self) -> None:
        """The order that `begin` sent is over: what the vehicle still does of it is cancelled."""
        ...

    def close(self) -> None: ...


VehicleFactory = Callable[[Target, PluginContext], Vehicle]
