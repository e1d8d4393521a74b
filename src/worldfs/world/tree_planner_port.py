"""The planner's port: reads, submits and writes through the tree, with the planner's rights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from worldfs.access.roles import CRITIC, PLANNER
from worldfs.base.drawers import as_built, sized
from worldfs.base.errors import BadInput, UserError
from worldfs.base.hollows import opens
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded, render
from worldfs.base.model import Job, JobStatus, Lesson, Order, Profile, Relation, Scene, Task, Thing
from worldfs.base.standard_operations import FIXTURED, PICK_UP, PUSH, UPRIGHT
from worldfs.base.stated_places import strange_hands, without
from worldfs.base.stop_signal import StopSignal
from worldfs.formats import embodied, environment, lessons_file, task
from worldfs.namespace.cached_document import CachedDocument
from worldfs.planning.critic import Critic
from worldfs.planning.lesson_notes import avoid, note_for
from worldfs.planning.planner import PlanProgress
from worldfs.runtime.approvals import APPROVALS, REFUSED
from worldfs.runtime.stop_log import STOPS

from .edited_things import alerted, as_measured
from .loss_notices import LossNotices
from .named_places import NamedPlaces
from .node_specs import DEFAULT_DRIVER
from .robot_liveness import shared_out
from .shared_profile import OwnProfiles

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store

    from .instruction import Instruction
    from .world import World


STEPS = ".paos/steps"  # by robot: its latest steps since the kernel started, so that undo need not list every job
NOTED = 400  # of two plans of the longest kind
_STEP = re.compile(r"act_\d{8}_\d{6}_\d{3}_\d{2,}")  # the planner's ids: time, and number of the step


def forget_steps(store: Store) -> None:
    """At the start of a kernel: a power cut may have taken the last notes, which are not durable."""
    for node in store.list(STEPS):
        store.delete(f"{STEPS}/{node}", durable=False)


MOVED: Final = (PICK_UP.name, PUSH.name, UPRIGHT.name)


def _taken_up(job: Job) -> tuple[str, tuple[float, ...], str] | None:
    """The thing that a job lifted, pushed or turned, its position before (m) and what alone bore it ("": not told);
    None for any other job."""
    outcome = job.status.outcome
    found = outcome.evidence.get("before") if outcome is not None and job.order.op in MOVED else None
    thing = found.get("object") if isinstance(found, dict) else None
    if not isinstance(thing, dict) or not isinstance(thing.get("id"), str):
        return None
    position = thing.get("position")
    if not isinstance(position, list) or len(position) < 3 or not all(isinstance(v, (int, float)) for v in position):
        return None
    return thing["id"], tuple(float(v) for v in position[:3]), as_text(thing.get("on"))


def _opened(job: Job) -> tuple[str, str] | None:
    """The drawer or lid that a job opened or closed, and the word for how it was before; None for any other job."""
    outcome = job.status.outcome
    found = as_object(outcome.evidence.get("opening")) if outcome is not None and job.order.op in FIXTURED else {}
    return (as_text(found["id"]), as_text(found.get("was"))) if found.get("id") else None


class TreePlannerPort:
    """The planner port of one node (`worldfs.planning.planner.planner_port.PlannerPort`)."""

    def __init__(
        self,
        world: World,
        project: str,
        node: str,
        tell: Callable[[str], None] = lambda text: None,
        instruction: Instruction | None = None,
        *,
        orderer: str = "",
    ) -> None:
        """`orderer`: the actor that gave the instruction, by its name; "": a program of this machine."""
        self.robot_id = node
        self._orderer, self._project = orderer, project
        self.instruction = instruction
        self.tell = tell
        self._cancelled: set[str] = set()
        self.open_orders: dict[str, str] = {}  # submitted, and not known to have ended → their robots
        self.use(world)

    def use(self, world: World) -> None:
        """From now on, of the same workspace: before the first order the world that serves it."""
        self.world = world
        self._simulated = any(s.id == self.robot_id and s.driver == DEFAULT_DRIVER for s in world.specs)
        self._losses = LossNotices(world, lambda text: self.tell(render(text, self._spoken())))
        base, namespace = f"/projects/{self._project}", world.namespace(PLANNER)
        self._environment = CachedDocument(namespace, f"{base}/ENVIRONMENT.md", environment.read)
        self._lessons = CachedDocument(namespace, f"{base}/LESSONS.md", lessons_file.read)
        self._profiles: dict[str, CachedDocument[Profile]] = {}  # by robot
        self._own_profile = OwnProfiles(world)
        self._task = CachedDocument(namespace, f"{base}/TASK.md", task.read)

    def scene(self) -> Scene:
        self._check_stopped()  # the planner reads the scene before each step: a stop ends it there
        scene = as_measured(self._environment.get().scene, alerted(self.world, self.robot_id))
        scene = without(scene, strange_hands(scene, self.world.node_ids()))
        read = as_built if self._simulated else sized
        return replace(scene, furniture=tuple(map(read, scene.furniture)))

    def earlier(self) -> Scene | None:
        """The scene before the last instruction, from the recorded jobs: where each thing was before its first move."""
        moved: dict[str, tuple[float, ...]] = {}
        borne: dict[str, str] = {}
        opened: dict[str, str] = {}
        for id in self._steps():
            try:
                job = self.world.jobs.load(id)
            except UserError:
                continue  # never submitted, or a broken record is skipped; `paos check` reports it
            thing = _taken_up(job) if job.order.node == self.robot_id else None
            if thing is not None:
                moved[thing[0]], borne[thing[0]] = thing[1:]
            if (fixture := _opened(job)) is not None and job.order.node == self.robot_id:
                opened[fixture[0]] = fixture[1]
            if int(id.rsplit("_", 1)[1]) == 1 and (moved or opened):
                break  # the first step of that instruction; one that moved nothing is skipped
        if not (moved or opened):
            return None
        scene = self.scene()
        furniture = tuple(replace(t, status=opened.get(t.id, t.status)) for t in scene.furniture)
        objects = tuple(replace(t, position=moved.get(t.id, t.position), status="") for t in scene.objects)
        objects += tuple(Thing(id, "", "", at) for id, at in moved.items() if scene.thing(id) is None)  # gone since
        relations = tuple(r for r in scene.relations if r.subject not in moved)
        drawers = {t.id for t in (*scene.furniture, *scene.objects) if opens(t)}  # what is in one moves with it
        relations += tuple(Relation(id, "on", under) for id, under in borne.items() if under and under not in drawers)
        robots = tuple(replace(r, holding=None) if r.holding in moved else r for r in scene.robots)
        return replace(scene, objects=objects, furniture=furniture, relations=relations, robots=robots)

    def _steps(self) -> Iterator[str]:
        """The planner's steps, the newest first. The history is listed only for those before the kernel's start."""
        noted = self._noted()[::-1]
        yield from noted
        older = {id for id in self.world.jobs.done_ids() if _STEP.fullmatch(id)}
        yield from sorted(older.difference(noted), reverse=True)

    def _noted(self) -> list[str]:
        stored = self.world.store.get(f"{STEPS}/{self.robot_id}")
        return [id for id in stored.data.decode("utf-8", "replace").split() if _STEP.fullmatch(id)] if stored else []

    def profile(self, robot: str = "") -> Profile | None:
        """The robot's own, also where EMBODIED.md has another robot's: that one cannot say what this robot does."""
        id = robot or self.robot_id
        if (own := self._own_profile(id)) is not None and own.ops:
            return own
        if id not in self._profiles:
            self._profiles[id] = CachedDocument(
                self.world.namespace(PLANNER), f"/nodes/{id}/EMBODIED.md", embodied.read
            )
        try:
            profile = self._profiles[id].get()
        except BadInput:
            return None
        return profile if profile.ops else None

    def language(self) -> str:
        return self.world.language()

    def lessons(self) -> Sequence[Lesson]:
        try:
            return self._lessons.get()
        except BadInput:
            return ()  # unreadable lessons do not stop a robot; `paos check` reports them

    def avoid(self, order: Order) -> Lesson | None:
        return avoid(self.lessons(), order, self.scene(), self.profile(order.node))

    def learn(self, order: Order, scene: Scene) -> None:
        """The critic judges as it would have at submission; LESSONS.md is written with the critic's rights."""
        language = self.language()
        found = Critic().review(order, scene, self.profile(order.node))
        if any(not item.warning for item in found):
            note = note_for(order, found, self.now(), language)
            page = CachedDocument(self.world.namespace(CRITIC), self._lessons.path, lessons_file.read)
            page.change(lambda data: lessons_file.add(data, note, language=language))

    def approve(self, orders: Sequence[Order], steps: Sequence[str], stop: StopSignal) -> str:
        rule, profile = self.world.approvals.rule(self.robot_id), self.profile()
        ops = {op.name: op for op in profile.ops} if profile is not None else {}
        if not any(rule.asks(ops.get(order.op)) for order in orders):
            return ""
        language, purpose = self.language(), "; ".join(steps)
        places = NamedPlaces(self._environment, self.world.own_places).places
        request = self.world.approvals.ask(
            self.robot_id, orders, PLANNER, purpose, orderer=self._orderer, places=places
        )
        for n, (text, step) in enumerate(zip(steps, request.steps, strict=True), 1):
            op = ops.get(as_text(step.get("op")))
            final = "" if op is not None and op.undoable else f" ({render(coded('approval.final'), language)})"
            at = f"  {json.dumps(step['places'], ensure_ascii=False)}" if "places" in step else ""
            self.tell(render(coded("approval.step", n=n, text=text), language) + at + final)
        self.tell(render(coded("approval.waiting", plan=request.plan, node=self.robot_id), language))
        with self.world.store.watch(APPROVALS, STOPS) as watch, stop.calling(watch.wake):
            while not stop.is_set():
                answer = self.world.approvals.load(request.plan).answer
                if answer is not None:
                    break
                watch.read(None)
                self._check_stopped()
            else:
                self.world.approvals.remove(request.plan)
                return ""
        if answer.answer == REFUSED:
            return render(coded("approval.refused", plan=request.plan, by=answer.by), language)
        self.tell(render(coded("approval.granted", by=answer.by), language))
        return ""

    def earlier_progress(self) -> PlanProgress:
        return PlanProgress()

    def note_progress(self, progress: PlanProgress) -> None:
        """What a person asks for is not gone on with after a restart."""

    def submit(self, order: Order) -> str:
        order = replace(
            order, id=order.id or self.world.new_id(), node=order.node or self.robot_id, orderer=self._orderer
        )
        if self.instruction is not None:
            self.instruction.set_job(order.id)
        noted = " ".join([*self._noted(), order.id][-NOTED:])
        self.world.store.put(f"{STEPS}/{self.robot_id}", noted.encode(), durable=False)
        job = self.world.submit(order, PLANNER)
        self.open_orders[job] = order.node
        return job

    def wait(self, job_id: str, stop: StopSignal) -> JobStatus:
        """It goes on when a robot that it waits for is lost, and says so: that robot may come back."""
        cancelled = job_id in self._cancelled
        status = self.world.await_job(
            job_id, stop, self._check_stopped, check_robots=self.check_robots(), cancelled=cancelled
        )
        if status.state.terminal:
            self.open_orders.pop(job_id, None)
        self._check_stopped()
        return status

    def check_robots(self) -> Callable[[], None] | None:
        """What says that robots with open orders are lost; None where none can be. An order may wait for another's."""
        robots = {*self.open_orders.values()}
        return (lambda: self._losses.check(sorted(robots))) if robots and shared_out(self.world) else None

    def _spoken(self) -> str:
        """The language of the instruction."""
        return self.instruction.language if self.instruction is not None else self.language()

    def _check_stopped(self) -> None:
        if self.instruction is not None:
            self.instruction.check_stopped()

    def cancel(self, job_id: str) -> None:
        self._cancelled.add(job_id)
        self.world.cancel(job_id, PLANNER)

    def write_task(self, value: Task) -> None:
        self._task.change(lambda data: task.write(data or None, value, language=self.language()))

    def progress(self, text: str) -> None:
        self.tell(text)

    def now(self) -> datetime:
        return self.world.clock.now()
