"""A planner's port without physics: an accepted order takes effect in the scene as a faultless robot would do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from worldfs.base.model import (
    Cause,
    JobState,
    JobStatus,
    Lesson,
    Order,
    Outcome,
    Profile,
    Relation,
    Scene,
    Task,
    Vec,
)
from worldfs.base.order_parameters import OBJECT
from worldfs.base.standard_operations import PICK, PLACE, PLACE_BESIDE, PUSH
from worldfs.base.stop_signal import StopSignal
from worldfs.planning.planner import PlanProgress

_SIDES = {"left": (0.0, 1.0), "right": (0.0, -1.0), "front": (-1.0, 0.0), "behind": (1.0, 0.0)}


class AppliedOrdersPort:
    """`orders`: every submitted order; `touched`: the things that they moved, in order."""

    def __init__(self, scene: Scene, profile: Profile, robot_id: str, language: str) -> None:
        self.robot_id, self._scene, self._profile, self._language = robot_id, scene, profile, language
        self.orders: list[Order] = []
        self.touched: list[str] = []
        self._ended: dict[str, JobStatus] = {}
        self._clock = datetime(2026, 11, 28, tzinfo=UTC)

    # -- what the planner reads -----------------------------------------------------------------------------------

    def scene(self) -> Scene:
        return self._scene

    def earlier(self) -> Scene | None:
        return None

    def profile(self, robot: str = "") -> Profile | None:
        return self._profile

    def language(self) -> str:
        return self._language

    def lessons(self) -> Sequence[Lesson]:
        return ()

    def avoid(self, order: Order) -> Lesson | None:
        return None

    def learn(self, order: Order, scene: Scene) -> None:
        pass

    def approve(self, orders: Sequence[Order], steps: Sequence[str], stop: StopSignal) -> str:
        return ""

    def earlier_progress(self) -> PlanProgress:
        return PlanProgress()

    def note_progress(self, progress: PlanProgress) -> None:
        pass

    def write_task(self, task: Task) -> None:
        pass

    def progress(self, text: str) -> None:
        pass

    def now(self) -> datetime:
        self._clock += timedelta(milliseconds=1)
        return self._clock

    # -- what it orders -------------------------------------------------------------------------------------------

    def submit(self, order: Order) -> str:
        self.orders.append(order)
        outcome = self._carry_out(order)
        state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
        self._ended[order.id] = JobStatus(state, 1, outcome=outcome)
        return order.id

    def wait(self, job_id: str, stop: StopSignal) -> JobStatus:
        return self._ended[job_id]

    def cancel(self, job_id: str) -> None:
        pass

    @property
    def held(self) -> str | None:
        return self._scene.robots[0].holding

    def _carry_out(self, order: Order) -> Outcome:
        if order.op in PICK:
            return self._pick(next((str(order.params[key]) for key in OBJECT if key in order.params), ""))
        if order.op in PLACE:
            at = order.params.get("target_position")
            spot = tuple(float(str(v)) for v in at) if isinstance(at, list) else ()
            return self._place(str(order.params.get("target", "")), spot)
        if order.op == PLACE_BESIDE.name:
            other = self._scene.thing(str(order.params["target"]))
            if other is None:
                return _refused("UNKNOWN_OBJECT")
            dx, dy = _SIDES[str(order.params["side"])]
            away = float(str(order.params["distance"])) + 0.05
            return self._place("", (other.position[0] + dx * away, other.position[1] + dy * away, 0.02))
        if order.op == PUSH.name:
            self.touched.append(str(order.params["object_id"]))
        return _refused("NOT_SIMULATED")

    def _pick(self, id: str) -> Outcome:
        thing = self._scene.thing(id)
        if thing is None or self.held is not None or thing not in self._scene.objects:
            return _refused("UNKNOWN_OBJECT")
        self.touched.append(id)
        self._relate(id, None, (*thing.position[:2], thing.position[2] + 0.2))
        return Outcome.success("held")

    def _place(self, target: str, spot: Vec) -> Outcome:
        held = self.held
        if held is None or not spot:
            return _refused("NOTHING_HELD")
        boxes = (t for t in self._scene.furniture if t.is_container)
        box = next((t for t in boxes if t.id == target or _within(spot, t.position, t.size)), None)
        relation = Relation(held, "in", box.id) if box is not None else Relation(held, "on", target or "table_01")
        self._relate(held, relation, spot)
        return Outcome.success("placed", distance_to_goal=0.001)

    def _relate(self, id: str, relation: Relation | None, spot: Vec) -> None:
        """`relation` None: into the hand."""
        kept = tuple(r for r in self._scene.relations if r.subject != id)
        objects = tuple(replace(t, position=spot) if t.id == id else t for t in self._scene.objects)
        robot = replace(
            self._scene.robots[0], holding=None if relation else id, gripper="open" if relation else "holding"
        )
        relations = (*kept, relation) if relation else kept
        self._scene = replace(self._scene, objects=objects, relations=relations, robots=(robot,))


def _within(spot: Vec, centre: Vec, size: Vec) -> bool:
    return all(abs(spot[n] - centre[n]) <= size[n] / 2 for n in (0, 1))


def _refused(code: str) -> Outcome:
    return Outcome.failure(Cause.REJECTED, code, code)
