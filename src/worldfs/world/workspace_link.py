"""The connection of a fleet to a robot that has a workspace of its own: one thread asks that workspace, all the time.

It hands orders over, reads their ends, tells cancels and stops, and reads what the robot has observed. What cannot be
told while the robot is cut off is told when it is back; what ended meanwhile is read then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import stamp
from worldfs.base.driver import Standstill, StopUndelivered
from worldfs.base.errors import BadInput, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Finding, Order, Scene
from worldfs.formats import environment
from worldfs.runtime.job_store import OPEN
from worldfs.runtime.kernel import CLOSE_S
from worldfs.runtime.stop_log import ALL, STOPS, StopState, StopStates, stop_key
from worldfs.storage.lease import KERNEL_LEASE, LEASE_LOST

from .asked_ends import AskedEnds
from .bringup import ENVIRONMENT
from .handed_orders import HandedOrder, HandedOrders, order_of, status_of
from .world import World

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store, StoreWatch

ASK_S: Final = 1.0  # between two rounds in which nothing was heard
SILENT_S: Final = 10.0  # without an answer for so long, the robot counts as cut off
FIRST_S: Final = 5.0  # for the first answer, before the kernel goes on without it
LEAVE_S: Final = 2.0  # for the thread to end


class CutOff(NamedTuple):
    """Since when a robot is cut off (ISO 8601, by the clock of the fleet's host), and why."""

    since: str
    why: str


class WorkspaceLink:
    """`start` it, `close` it. Every other method returns without a wait for the robot, but for `stop`."""

    def __init__(
        self,
        fleet: World,
        robot: str,
        open_store: Callable[[], Store],
        *,
        alert: Callable[[str, Finding | None], bool],
        observed: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        """`open_store`: of the robot's workspace; raises where it cannot be reached. `alert`: False where there is no
        kernel yet that could raise it. `observed`: called when what the robot observed has changed; `ended`: when an
        end is known that was asked for (`has_ended`)."""
        self.robot, self.scene = robot, Scene()
        self.orders = HandedOrders(fleet.store, robot)
        self._fleet, self._clock, self._open_store = fleet, fleet.clock, open_store
        self._alert, self._observed = alert, observed
        self._ends = AskedEnds(self.orders, fleet.clock, new=self._wake, ended=ended)
        self._changed = threading.Condition()
        self._handed: dict[str, HandedOrder] = {}
        self._unsettled = True  # orders may have ended here without their ends there
        self._world: World | None = None
        self._watch: StoreWatch | None = None
        self._stops_here = StopStates(fleet.store)
        self._stops_there: StopStates  # of the robot's workspace; set with the connection
        self._seen: tuple[str | None, str] = None, ""  # of its ENVIRONMENT.md as it was read: `probe`, revision
        self._heard = self._clock.monotonic()
        self._heard_at: datetime = self._clock.now()
        self._why = ""  # it is cut off
        self._untold = False  # a stop that could not be told
        self._told_late = False  # it was told since
        self._told_number = 0  # how many stops there were at the robot with the fleet's last one
        self._there = StopState()  # at the robot, as it was read last
        self._said: Finding | None = None
        self._first = threading.Event()  # the first round is over
        self._closed = threading.Event()
        self._left: float | None = None  # when the fleet's kernel was first found gone
        self._served = False  # it has been there
        self._thread = threading.Thread(target=self._run, name=f"link {robot}", daemon=True)

    # -- from any thread ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Returns with the first answer, or without one after `FIRST_S` or the first failure."""
        self._thread.start()
        self._first.wait(FIRST_S)
        self.tell()

    def close(self) -> None:
        """Idempotent. Its thread has ended, unless it waits for an answer: then it ends with that."""
        self._closed.set()
        self._wake()
        if self._thread.is_alive():
            self._thread.join(LEAVE_S)

    @property
    def is_closed(self) -> bool:
        """Whether nothing is asked any more: it was closed, or this kernel has lost its lease."""
        return self._closed.is_set()

    @property
    def cut_off(self) -> CutOff | None:
        """None: the robot's kernel answers."""
        with self._changed:
            silent = self._clock.monotonic() - self._heard > SILENT_S
            why = self._why or (coded("fleet.no_answer", s=SILENT_S) if silent else "")
            return CutOff(stamp(self._heard_at.replace(microsecond=0)), why) if why else None

    def hand_over(self, order: Order) -> HandedOrder:
        """Durable here when it returns: whatever happens to this kernel, the next one asks for its end."""
        sent = self.orders.noted(order.id)
        self.orders.note(order.id)
        handed = HandedOrder(self.orders.there(order), sent)
        with self._changed:
            self._handed[order.id] = handed
        self._wake()
        return handed

    def cancel(self, handed: HandedOrder) -> None:
        with self._changed:
            if handed.cancelled:
                return
            handed.cancelled = True
        self._wake()

    def withdraw(self, handed: HandedOrder) -> bool:
        """Whether it was never sent, and is not sent any more."""
        with self._changed:
            handed.withdrawn = True
            return not handed.sent

    def release(self, order: str) -> None:
        """Its attempt is over here. If its end there is not known, it is cancelled there once it has ended here."""
        with self._changed:
            self._handed.pop(order, None)
            self._unsettled = True
        self._wake()

    def wait(self, handed: HandedOrder, seconds: float) -> None:
        """Until it has ended there, is refused, or the time is up."""
        with self._changed:
            if not handed.is_over:
                self._changed.wait(seconds)

    def has_ended(self, order: str) -> bool:
        """Whether an order whose end was unknown has a measured end there; asked for, and told by `ended`."""
        return self._ends.has_ended(order)

    def stop(self) -> None:
        """Stop the robot in its own workspace, now. Raises `StopUndelivered` where that cannot be told; it is told
        when the robot is back, unless the fleet has resumed it. Written even where the robot is stopped already: a
        resume that is on its way counts for the stops before it."""
        gone, world = self.cut_off, self._world
        if gone is None and self._told_late and self._stops_there.own(self.robot).stopped:
            self._told_late = False
            return  # the one that could not be told is told by now
        if gone is not None or world is None:
            self._untold = True
            why = gone.why if gone is not None else coded("fleet.no_answer", s=SILENT_S)
            self._wake()
            raise StopUndelivered(coded("fleet.stop_untold", robot=self.robot, why=why))
        try:
            self._stop_there(world)
        except BaseException as error:
            self._untold = True
            if not isinstance(error, WorldError):
                raise
            said = coded("fleet.stop_untold", robot=self.robot, why=error_message(error))
            raise StopUndelivered(said) from error
        self._untold = False

    def standstill(self) -> Standstill:
        """Whether the robot's kernel has confirmed that it stands since the fleet's last stop, as it was read last."""
        gone = self.cut_off
        if gone is not None:
            return Standstill(False, coded("fleet.cut_off", robot=self.robot, since=gone.since, why=gone.why))
        there, told = self._there, self._told_number
        if told and there.number >= told and there.confirmed:
            return Standstill(True)
        return Standstill(False, coded("stop.elsewhere"))

    def _stop_there(self, world: World) -> None:
        world.stops.stop([self.robot], self._name)
        self._told_number = world.stops.state(self.robot).number

    def tell(self) -> None:
        """Raise the alert of a robot that is cut off, or take it back."""
        gone = self.cut_off
        said = None if gone is None else self._finding(gone)
        if said != self._said and self._alert(self._place, said):
            self._said = said

    @property
    def _place(self) -> str:
        return f"/nodes/{self.robot}/workspace"

    def _finding(self, gone: CutOff) -> Finding:
        found = coded("fleet.cut_off", robot=self.robot, since=gone.since, why=gone.why)
        with self._changed:
            handed = {id: one for id, one in self._handed.items() if not one.is_over}
            waiting = [id for id, one in handed.items() if not one.cancelled]
            untold = [id for id, one in handed.items() if one.cancelled and not one.told]
        if waiting:
            found = coded("fleet.cut_off_waits", said=found, jobs=waiting)
        if untold:
            found = coded("fleet.cut_off_untold", said=found, jobs=untold)
        return Finding(
            "ROBOT_CUT_OFF", self._place, coded("fleet.reachable"), found, coded("fleet.reconnect"), warning=True
        )

    # -- the link's own thread ------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closed.is_set() and not self._is_left():
            try:
                self._round()
            except Exception as error:  # whatever a client raises, the robot is asked again
                if getattr(error, "code", "") == LEASE_LOST:
                    break
                self._failed(error)
            self._first.set()
            self.tell()
            self._pause()
        self._closed.set()
        self._first.set()
        self._alert(self._place, None)
        self._drop()

    def _is_left(self) -> bool:
        """Whether the fleet's kernel has gone for longer than one takes to close, without closing this."""
        now = self._clock.monotonic()
        self._served |= self._fleet.kernel is not None
        self._left = None if self._fleet.kernel is not None or not self._served else self._left or now
        return self._left is not None and now - self._left > CLOSE_S

    def _pause(self) -> None:
        watch = self._watch
        if watch is None:
            with self._changed:
                if not self._closed.is_set():
                    self._changed.wait(ASK_S)
            return
        try:
            watch.read(ASK_S)
        except Exception as error:
            self._failed(error)
            self._drop()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
        watch = self._watch
        if watch is not None:
            watch.wake()

    def _failed(self, error: Exception) -> None:
        why = error_message(error) if isinstance(error, WorldError) else f"{type(error).__name__}: {error}"
        with self._changed:
            self._why = why
            self._unsettled = True

    def _drop(self) -> None:
        world, watch, self._world, self._watch = self._world, self._watch, None, None
        for part in (watch, world):
            if part is not None:
                with suppress(Exception):
                    part.close()

    def _connect(self) -> World:
        if self._world is not None:
            return self._world
        store = self._open_store()
        try:
            world = World.open(self._fleet.root, store=store, clock=self._clock)
            ids = [spec.id for spec in world.specs]
            if self.robot not in ids:
                raise BadInput(
                    coded("fleet.other_robots", robots=ids), path=self._place, expected=self.robot,
                    fix=coded("fleet.same_robot_id"),
                )  # fmt: skip
            self._watch = store.watch(OPEN, ENVIRONMENT, STOPS, KERNEL_LEASE)
        except BaseException:
            store.close()
            raise
        self._world, self._stops_there, self._seen = world, StopStates(store), (None, "")
        return world

    def _round(self) -> None:
        """Everything that is due. Raises what the connection raises: then the rest is for the next round."""
        world = self._connect()
        self._stop_or_resume(world)
        with self._changed:
            handed = [(id, one) for id, one in self._handed.items() if not one.is_over]
        for id, one in handed:
            self._advance(world, id, one)
        if self._unsettled:
            self._settle(world)
        self._ends.read(world.jobs)
        self._read_scene(world)
        served = world.store.lease(KERNEL_LEASE).holder() is not None
        with self._changed:
            if served:
                self._heard, self._heard_at, self._why = self._clock.monotonic(), self._clock.now(), ""
            else:
                self._why = coded("fleet.not_served", robot=self.robot)

    def _stop_or_resume(self, world: World) -> None:
        """The fleet's word holds for what it has said itself: a stop that a person gave at the robot stays."""
        untold, own = self._untold, stop_key(self.robot)
        read_there = self._stops_there.read if untold else self._stops_there.read_changed  # told: the robot says so
        read_there(ALL)
        read_there(own)  # first: a stop of the fleet that comes after it stays in force
        self._there = self._stops_there.state(self.robot)
        there = self._stops_there.own(self.robot)
        for key in (ALL, own):
            self._stops_here.read_changed(key)
        if self._is_due(self._stops_here.state(self.robot), there):
            wanted = self._fleet.stops.state(self.robot)  # asked: what is remembered may be older than another kernel's
            if wanted.stopped and not there.stopped:
                self._stop_there(world)
                self._stops_there.read(own)
                self._told_late = untold
            elif self._is_due(wanted, there):
                world.stops.resume_own(self.robot, there, self._name)
        if untold:
            self._untold = False

    def _is_due(self, wanted: StopState, there: StopState) -> bool:
        return not there.stopped if wanted.stopped else there.roles == {self._name}

    @property
    def _name(self) -> str:
        """Who the fleet is in the robot's files."""
        return f"fleet {self.orders.fleet}"

    def _advance(self, world: World, id: str, one: HandedOrder) -> None:
        """Send the order, or its cancel, and read its status. What the robot observed last is read before its end."""
        status = status_of(world.jobs, one.order.id)
        if status is None:
            with self._changed:
                if one.withdrawn or one.refused is not None:
                    return
                cancelled, one.sent = one.cancelled, True
            self.orders.note(id)  # durable here first: a kernel that has lost its lease stops at this write
            if cancelled:
                world.jobs.close_id(one.order)
            else:
                try:
                    world.submit(one.order)
                except UserError as error:
                    with self._changed:
                        one.refused = error
                        self._changed.notify_all()
                    return
            status = status_of(world.jobs, one.order.id)
        if status is None:
            return
        if one.cancelled and not one.told and not status.state.terminal:
            self.orders.note(id)  # the same: an order that another kernel follows by now is not cancelled
            world.cancel(one.order.id)
            one.told = True
        if status.state.terminal:
            self._read_scene(world, asked=True)
        with self._changed:
            one.sent, one.status = True, status
            self._changed.notify_all()

    def _settle(self, world: World) -> None:
        """Orders that have ended here without their ends there: each is cancelled there, and begun no more."""
        self._unsettled = False  # first: an attempt that ends meanwhile says so once more
        for id in self.orders.all():
            with self._changed:
                if id in self._handed:
                    continue
            here = status_of(self._fleet.jobs, id)
            if here is not None and not here.state.terminal:
                self._unsettled = True  # it is to be followed again
                continue
            there = status_of(world.jobs, self.orders.job_id(id))
            if there is None and not world.jobs.close_id(self.orders.there(order_of(self._fleet.jobs, id, self.robot))):
                self._unsettled = True  # a late message was faster: a look more
                continue
            if there is not None and not there.state.terminal:
                world.cancel(self.orders.job_id(id))
                self._unsettled = True
                continue
            self.orders.forget(id)

    def _read_scene(self, world: World, *, asked: bool = False) -> None:
        """`asked`: the robot is asked, whether a change of the document is known here or not."""
        token, (seen, revision) = world.store.probe(ENVIRONMENT), self._seen
        if token == seen and not asked:
            return
        stored = world.store.get(ENVIRONMENT)
        if stored is None:
            return
        self._seen = token, stored.revision
        if stored.revision == revision:
            return
        try:
            scene = environment.read(stored.data).scene
        except UserError:
            return  # its own kernel says so; what was read last stays
        at = stamp(self._clock.now().replace(microsecond=0))
        own = scene.robot(self.robot)
        robots = () if own is None else (replace(own, extra={**own.extra, "heard_at": at}),)
        self.scene = Scene(robots, scene.objects, scene.furniture, scene.relations)
        self._observed()
