"""A driver that does nothing, and records its orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from worldfs.base.driver import Run, Standstill
from worldfs.base.json_values import as_float, as_object
from worldfs.base.model import Cause, Finding, Json, Operation, Order, Outcome, Parameter, Scene, Thing
from worldfs.base.order_parameters import declared_parameters
from worldfs.base.standard_operations import STANDARD

from .manual_clock import ManualClock

OPS = frozenset((*STANDARD, "strategy"))
BEHAVIOUR = tuple(
    Parameter(name, optional=True) for name in ("fail", "raise", "takes", "hang", "refuse", "crash", "see")
)
POLL_S = 0.05  # s between two checks of a hanging job for a stop


class SimulatedPowerLoss(BaseException):
    """The power is gone. No `Exception`: no code may catch it and go on."""


class NullDriver:
    """A `Driver` for tests and benches. Parameters of an order control its behaviour:

    fail: "why"     the action fails (cause error)          raise: "why"   the driver itself breaks
    takes: 12.5     seconds until it is done                hang: true     never done; stops when asked to
    refuse: "why"   `review` finds something                crash: true    the power goes while it moves
    see: {"apple_01": {"position": [x, y, z], …}}           afterwards things and robots look like this
    """

    def __init__(
        self,
        scene: Scene | None = None,
        *,
        ops: frozenset[str] = OPS,
        repeatable: frozenset[str] = frozenset(),
        executed: list[Order] | None = None,
    ) -> None:
        self.operations = tuple(
            Operation(
                name, parameters=(*declared_parameters(Operation(name)), *BEHAVIOUR), repeatable=name in repeatable
            )
            for name in sorted(ops)
        )
        self.scene = scene or Scene()
        self.executed = [] if executed is None else executed  # every start, in order; hand one list to many drivers
        self.is_open = False

    def open(self, scene: Scene) -> None:
        if scene.objects or scene.furniture or scene.robots:
            self.scene = scene
        self.is_open = True

    def observe(self) -> Scene:
        return self.scene

    def review(self, order: Order) -> Sequence[Finding]:
        if "refuse" not in order.params:
            return ()
        return (
            Finding(
                "CRITIC_REFUSED",
                f"{order.op} {order.id}",
                "an order without `refuse`",
                str(order.params["refuse"]),
                "drop it",
            ),
        )

    def execute(self, order: Order, run: Run) -> Outcome:
        self.executed.append(order)
        wants = order.params
        if wants.get("crash"):
            raise SimulatedPowerLoss(order.id)
        if "raise" in wants:
            raise RuntimeError(str(wants["raise"]))
        stopped = _pass_time(run, float("inf") if wants.get("hang") else as_float(wants.get("takes")))
        if stopped:
            cause = Cause(stopped)
            code = {"cancelled": "CANCELLED", "timeout": "EXECUTION_TIMEOUT"}[stopped]
            return Outcome.failure(cause, code, f"stopped: {stopped}")
        if "fail" in wants:
            return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", str(wants["fail"]))
        self.scene = _seen(self.scene, as_object(wants.get("see")))
        return Outcome.success("done")

    def standstill(self, since: float) -> Standstill:
        return Standstill(True)  # nothing moves

    def close(self) -> None:
        self.is_open = False


def _pass_time(run: Run, seconds: float) -> str:
    """Until done ("") or asked to stop (why). On a ManualClock time passes at once, and at most to the deadline."""
    if isinstance(run.clock, ManualClock):
        run.clock.advance(max(0.0, min(seconds, run.deadline - run.clock.monotonic())))
        return run.stop
    end = run.clock.monotonic() + seconds
    while not run.stop and (left := end - run.clock.monotonic()) > 0:
        run.cancel.wait(min(left, POLL_S))
    return run.stop if seconds else ""


def _seen(scene: Scene, changes: Json) -> Scene:
    def changed(id: str) -> dict[str, Any]:
        return dict(as_object(changes.get(id)))

    def look(thing: Thing) -> Thing:
        change = changed(thing.id)
        for name in ("position", "orientation", "size"):
            if name in change:
                change[name] = tuple(float(value) for value in change[name])
        return replace(thing, **change)

    robots = tuple(replace(one, **changed(one.robot_id)) for one in scene.robots)
    things = (tuple(map(look, scene.objects)), tuple(map(look, scene.furniture)))
    return replace(scene, robots=robots, objects=things[0], furniture=things[1])
