"""A table with things on it, and a desk whose world changes by the page's own rules: what is picked is held."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from worldfs.base.hollows import opens
from worldfs.base.model import (
    Cause,
    JobState,
    JobStatus,
    Lesson,
    Operation,
    Order,
    Outcome,
    Profile,
    Relation,
    RobotState,
    Scene,
    Task,
    Thing,
)
from worldfs.planning.planner import CommandIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import HoldingGoal, InGoal, OnGoal, destinations
from worldfs.planning.planner.plan_progress import PlanProgress
from worldfs.testing.waiting import PATIENCE_S

ROBOT = "franka_001"
OPS = ("move_to", "pick_up", "place", "target_navigation", "strategy", "real_execute")


def ball(id: str, x: float, y: float, color: str = "red", name: str = "Red Apple") -> Thing:
    return Thing(id, name, "fruit", (x, y, 0.033), size=(0.066,) * 3, shape="sphere", color=color, mass=0.15)


def cube(id: str, x: float, y: float, color: str, side: float = 0.05) -> Thing:
    return Thing(id, f"{color} cube", "block", (x, y, side / 2), size=(side,) * 3, shape="box", color=color, mass=0.1)


def can(id: str, x: float, y: float) -> Thing:
    return Thing(id, "Can", "can", (x, y, 0.055), size=(0.06, 0.06, 0.11), shape="cylinder", color="green", mass=0.3)


def basket(id: str = "basket_01", x: float = 0.4, y: float = 0.4) -> Thing:
    return Thing(id, "Basket", "container", (x, y, 0.06), size=(0.36, 0.3, 0.12), shape="basket", color="brown")


TABLE = Thing("table_01", "Table", "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.2, 0.05), shape="table")


def scene_of(
    *objects: Thing, furniture: tuple[Thing, ...] = (TABLE, basket()), on: dict[str, str] | None = None
) -> Scene:
    stated = {t.id: "table_01" for t in (*objects, *furniture) if t.id != "table_01"} | (on or {})
    return Scene(
        (RobotState(ROBOT, (0.0, 0.0, 0.0), {}, "open", None),),
        objects,
        furniture,
        tuple(Relation(id, "on", under) for id, under in stated.items()),
    )


@pytest.fixture
def scene() -> Scene:
    """An apple, two cubes, a can and a basket on a table."""
    return scene_of(
        ball("apple_01", 0.5, 0.1),
        cube("cube_01", 0.4, -0.1, "blue"),
        cube("cube_02", 0.5, -0.25, "red"),
        can("can_01", 0.6, 0.0),
    )


@dataclass
class World:
    """A Desk. `fail` answers the next orders of (op, object) instead of the world; `before` runs ahead of a job."""

    now_scene: Scene
    zh: bool = False
    fail: dict[tuple[str, str], list[Outcome]] = field(default_factory=dict)
    before: Callable[[World, Order], None] | None = None
    forbid: Callable[[Order, Scene], Lesson | None] = lambda order, scene: None
    ops: tuple[str, ...] = OPS
    profiles: dict[str, Profile] = field(default_factory=dict)  # of the robots that have another than the usual one
    robot_id: str = ROBOT
    log: list[Order] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    hang: bool = False
    learned: list[Order] = field(default_factory=list)
    was: Scene | None = None
    clock: datetime = datetime(2026, 11, 21, tzinfo=UTC)
    ended: dict[str, JobStatus] = field(default_factory=dict)
    before_progress: PlanProgress = field(default_factory=PlanProgress)
    progressed: list[PlanProgress] = field(default_factory=list)

    def scene(self) -> Scene:
        return self.now_scene

    def earlier(self) -> Scene | None:
        return self.was

    def profile(self, robot: str = "") -> Profile:
        if (id := robot or self.robot_id) in self.profiles:
            return self.profiles[id]
        ops, sensors = tuple(Operation(o) for o in self.ops), (("RGB-D Camera (front)", True),)
        return Profile("Panda", ops=ops, sensors=sensors, max_reach=0.855, max_grip_width=0.08)

    def language(self) -> str:
        return "zh" if self.zh else "en"

    def lessons(self) -> list[Lesson]:
        return []

    def approve(self, orders, steps, stop):
        return ""

    def avoid(self, order: Order) -> Lesson | None:
        return self.forbid(order, self.now_scene)

    def learn(self, order: Order, scene: Scene) -> None:
        self.learned.append(order)

    def earlier_progress(self) -> PlanProgress:
        return self.before_progress

    def note_progress(self, progress: PlanProgress) -> None:
        self.progressed.append(progress)

    def submit(self, order: Order) -> str:
        self.log.append(order)
        return order.id

    def wait(self, job_id: str, stop: threading.Event) -> JobStatus:
        if job_id in self.cancelled:
            return JobStatus(JobState.FAILED, 1, outcome=Outcome.failure(Cause.CANCELLED, "CANCELLED", "cancelled"))
        order = next(o for o in self.log if o.id == job_id)
        if self.before:
            self.before(self, order)
        if self.hang or stop.is_set():
            stop.wait(PATIENCE_S)
            return JobStatus(JobState.RUNNING, 1)
        if job_id not in self.ended:
            outcome = self._do(order)
            self.ended[job_id] = JobStatus(JobState.SUCCEEDED if outcome.ok else JobState.FAILED, 1, outcome=outcome)
        return self.ended[job_id]

    def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)

    def write_task(self, task: Task) -> None:
        self.tasks.append(task)

    def progress(self, text: str) -> None:
        self.lines.append(text)

    def now(self) -> datetime:
        self.clock += timedelta(milliseconds=1)
        return self.clock

    # -- the world itself -----------------------------------------------------------------------------------------

    @property
    def held(self) -> str | None:
        return self.now_scene.robots[0].holding

    def where(self, id: str) -> tuple[str, str]:
        found = [(r.relation, r.object) for r in self.now_scene.relations if r.subject == id]
        return found[0] if found else ("held", ROBOT)

    def _do(self, order: Order) -> Outcome:
        thing = str(order.params.get("object_id") or self.held or order.params.get("target_label", ""))
        planned = self.fail.get((order.op, thing))
        if planned:
            return planned.pop(0)
        if order.op == "pick_up":
            return self.pick(thing)
        if order.op == "place":
            return self.place(order)
        return Outcome.success("done")

    def pick(self, id: str) -> Outcome:
        assert self.held is None, "one arm holds one thing"
        assert not [r for r in self.now_scene.relations if r.relation == "on" and r.object == id], f"{id} is covered"
        thing = self.now_scene.thing(id)
        if thing is None:
            return Outcome.failure(Cause.REJECTED, "UNKNOWN_OBJECT", f"no {id}")
        self.relate(id, None)
        up = (*thing.position[:2], thing.position[2] + 0.199)
        return Outcome.success(
            "held",
            before={"object": {"position": list(thing.position)}},
            after={"object": {"position": list(up)}},
        )

    def place(self, order: Order) -> Outcome:
        held = self.held
        assert held is not None, "nothing is held"
        target = order.params.get("target")
        spot = tuple(order.params["target_position"])
        box = self.now_scene.thing(str(target)) if target else None
        if box is not None and (box.is_container or opens(box)):
            self.relate(held, Relation(held, "in", box.id), spot)
        else:
            self.relate(held, Relation(held, "on", str(target or "table_01")), spot)
            self._no_overlap(held)
        return Outcome.success("placed", distance_to_goal=0.0034)

    def _no_overlap(self, id: str) -> None:
        one = self.now_scene.thing(id)
        assert one is not None
        for other in self.now_scene.objects:
            if other.id != id and self.where(other.id) == self.where(id) == ("on", "table_01"):
                apart = max(abs(a - b) for a, b in zip(one.position[:2], other.position[:2], strict=True))
                assert apart >= (one.size[0] + other.size[0]) / 2 - 1e-6, f"{id} was put into {other.id}"

    def relate(self, id: str, relation: Relation | None, spot: tuple[float, ...] | None = None) -> None:
        """`relation` None: into the hand."""
        kept = tuple(r for r in self.now_scene.relations if r.subject != id)
        objects = tuple(replace(t, position=spot) if t.id == id and spot else t for t in self.now_scene.objects)
        holding = id if relation is None else (None if self.held == id else self.held)
        self.now_scene = replace(
            self.now_scene,
            objects=objects,
            relations=(*kept, *((relation,) if relation else ())),
            robots=(replace(self.now_scene.robots[0], holding=holding), *self.now_scene.robots[1:]),
        )

    def remove(self, id: str) -> None:
        self.now_scene = replace(
            self.now_scene,
            objects=tuple(t for t in self.now_scene.objects if t.id != id),
            relations=tuple(r for r in self.now_scene.relations if r.subject != id),
        )


@pytest.fixture
def world(scene: Scene) -> World:
    return World(scene)


@pytest.fixture
def make() -> dict[str, Callable[..., object]]:
    """Builders, so that test modules need not import each other."""
    return {"scene": scene_of, "ball": ball, "cube": cube, "can": can, "basket": basket, "world": World}


def named_scene(things: Iterable[str], boxes: Iterable[str], held: str = "") -> Scene:
    """Things and containers of these names on a table; a colour may stand before a bar: "red|cup"."""
    table = Thing("table_01", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
    objects = tuple(
        Thing(f"a{n}", name, "thing", (0.4, 0.1 * n, 0.02), (), (0.04,) * 3, "box", 0.1, colour)
        for n, (colour, _, name) in enumerate(name.rpartition("|") for name in things)
    )
    furniture = tuple(
        Thing(f"b{n}", name, "container", (0.4, 0.4 + 0.4 * n, 0.045), size=(0.3, 0.36, 0.09), shape="basket")
        for n, name in enumerate(boxes)
    )
    holding = next((thing.id for thing in objects if thing.name == held), None)
    on = tuple(Relation(thing.id, "on", table.id) for thing in (*objects, *furniture) if thing.id != holding)
    return Scene((RobotState(ROBOT, (0.0, 0.0, 0.0), {}, "open", holding),), objects, (table, *furniture), on)


@pytest.fixture
def told() -> Callable[..., str]:
    """What comes of a sentence: "phone>basket" for each thing put in or on something, "phone" for one that is held;
    "a>b then c>d" where the order was said; else why nothing moves."""

    def tell(text: str, things: Iterable[str], boxes: Iterable[str], held: str = "") -> str:
        scene = named_scene(things, boxes, held)
        found = interpret(text, scene)
        if not isinstance(found, CommandIntent):
            return f"! {found.kind}" if isinstance(found, RefusedIntent) else "?"
        names = {thing.id: thing.name for thing in (*scene.objects, *scene.furniture)}
        ends = []
        for n, goal in enumerate(found.goals):
            ends += ["then"] * (n > 0 and n in found.later)
            if isinstance(goal, HoldingGoal):
                ends.append(names[goal.object])
            elif isinstance(goal, (InGoal, OnGoal)):
                ends.append(f"{names[goal.object]}>{names[min(destinations(goal))]}")
        return " ".join(ends)

    return tell
