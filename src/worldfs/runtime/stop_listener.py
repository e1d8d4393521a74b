"""Stops: the drivers are told first, by whichever thread hears of one; then the log, then what the drivers confirm.

A stop of this process comes by `stop`, one of another process by the socket (stop_socket.py) or by the log, which a
thread of its own hears ahead of the kernel's loop. The way to the drivers needs no disk, no descriptor, no new thread
and no lock that is held while anything is waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from worldfs.access.standing import Standing
from worldfs.base.clock import Clock, stamp
from worldfs.base.driver import RemoteKernel
from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import load_messages
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Outcome
from worldfs.base.plugin_calls import CheckedPlugin
from worldfs.base.plugin_faults import contained, is_ours
from worldfs.base.unknown_effect import is_unstopped, unknown_effect
from worldfs.storage.lease import LEASE_LOST
from worldfs.storage.store_interface import Store, StoreChange

from .alerts import Alerts
from .body_worker import KernelNode
from .grace import BODY
from .job_attempt import JobAttempt
from .spare_descriptors import SpareDescriptors
from .standstill_check import StandstillCheck
from .stop_calls import MEASURE_S, StopCalls
from .stop_log import (
    ALL,
    STOPS,
    MayMove,
    PendingStop,
    StopLog,
    StopState,
    StopStates,
    left_text,
    new_stop_id,
    node_of,
    stop_key,
    stop_keys,
    with_pending,
)
from .stop_report import RobotStop, StopReport, hang_field
from .worker_threads import WorkerThreads

CLOSE_S: Final = 2.0  # for the records of stops that are not written yet
RETRY_S: Final = 0.1  # after a log that could not be read
STORE_AGAIN_S: Final = 1.0  # after a log that could not be written
ASIDE_S: Final = 0.2  # for the log to take a stop, before it is kept aside
MAY_MOVE: Final = "stop.may_move"  # of the alert of a robot that no stop has stopped
FULL: Final = ("ENOSPC", "EDQUOT")  # codes of a disk that makes room again
PREPARED: Final = 2  # threads for each robot's stop that exist before they are needed
LATER_S: Final = 0.5  # between two of a robot that nobody waits for any more, and between two tries to stop it


class StopTicket(NamedTuple):
    """A stop that was told, for the caller that waits for what becomes of it."""

    stop: PendingStop
    robots: tuple[StandstillCheck, ...]
    left: tuple[str, ...]  # robots that an earlier process left moving, and that no driver here can stop
    others: bool  # other processes may serve robots that it is for


class _TicketWaiter(NamedTuple):
    """`done` is called once, with the ticket settled or its time over."""

    ticket: StopTicket
    until: float
    done: Callable[[StopReport], None]


class StopListener:
    """The kernel calls `is_stopped` before each start, under `lock`: no job begins between a stop and its effect.

    `lock` is held until the stop of every driver has begun: a thread that passes through it first, as a worker does
    before it writes an end, lets a stop go ahead. Nothing is read or written under it.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        nodes: Mapping[str, KernelNode],
        running: Mapping[str, JobAttempt],
        *,
        alert: Alerts,
        log: StopLog,
        wake: Callable[[], None],
        elsewhere: Callable[[], bool] = lambda: False,
        ours: Callable[[str], bool] = lambda node: True,
        demand_place: Callable[[], None] = lambda: None,
    ) -> None:
        """`wake`: of the kernel, which publishes alerts. `elsewhere`: whether other processes may serve robots of the
        same root; `ours`: whether a robot that is not served here is no other process's either. `demand_place` raises
        where the path of the workspace leads to another directory by now: what is written then is not found at the
        path."""
        self.lock = threading.Lock()
        self._reading = threading.Lock()  # of `_states`: one reads at a time, so that no older reading replaces a newer
        self._states, self._nodes, self._running, self._alert = StopStates(store), nodes, running, alert
        self._log, self._clock, self._wake, self._elsewhere, self._ours = log, clock, wake, elsewhere, ours
        self._demand_place = demand_place
        self._known: dict[str, StopState] = {}
        self._robots: dict[str, StandstillCheck] = {}
        self._left: dict[str, MayMove] = {}  # robots that an earlier process left moving, and that are not served yet
        self._words: dict[str, int] = {}  # of those: how often a person had said by then that it stands
        self._recalled: set[str] = set()  # of those, the ones whose drivers were told as soon as they were made
        self._watch = store.watch(STOPS)
        self._closed = threading.Event()
        self._copies = False  # what is in force is copied aside
        self._stops, self._measures = StopCalls("stops"), StopCalls("standstill")
        self._records = WorkerThreads("stop records", 0)
        self._alerts = WorkerThreads("stop alerts", 0)  # apart: a line that nobody reads holds up no record
        self._aside = WorkerThreads("stops aside", 0)  # apart: a store that does not answer holds up neither
        self._why_unstored = ""
        self._spares = SpareDescriptors()
        self._storing = False
        self._store_at = self._again_at = 0.0  # not before that: the next try to write, and to stop what failed to stop
        self._changed = threading.Condition()  # something is known that was not
        self._due = threading.Event()  # for the thread that measures
        self._leaves = False  # this process ends at once: who waits for ends is woken to look at them
        self._waiters: list[_TicketWaiter] = []
        self.on_standing: Callable[[], None] = lambda: None  # called when a robot stands of which that was doubted

    def is_stopped(self, node: str) -> bool:
        """A node whose log was not read yet counts as stopped."""
        known = self._known.get(node)
        return known is None or known.stopped

    def answer(self, node: str) -> RobotStop | None:
        """What is known of a robot that was stopped; None: it is not stopped, or not of this kernel."""
        if self.is_left(node):
            return self._left_answer(node)
        robot = self._robots.get(node)
        return robot.answer() if robot is not None and robot.is_stopped else None

    def may_move(self, node: str) -> str:
        """Why a robot that was to stand may still move: since its stop, or since an order that ended without that
        being confirmed. "": it stands, or is free to move."""
        return self._left_answer(node).why if self.is_left(node) else self.moves_here(node)

    def moves_here(self, node: str) -> str:
        """The same of the body that this kernel has."""
        robot = self._robots.get(node)
        return robot.answer().why if robot is not None and robot.is_stopped and not robot.stands else ""

    def is_left(self, node: str) -> bool:
        """Whether an earlier process left the robot moving, and no driver that this one has had it."""
        found = self._left.get(node)
        return found is not None and self._is_real(node, found)

    def is_other(self, node: str) -> bool:
        """Whether its id is that of a robot that was left moving, and it is another thing: a target of sessions."""
        found, known = self._left.get(node), self._nodes.get(node)
        return found is not None and known is not None and known.sessions and found.driver not in ("", known.named)

    def left(self) -> list[str]:
        return [id for id in tuple(self._left) if self.is_left(id)]

    def moving(self) -> list[str]:
        """The robots that may still move, as far as this kernel knows."""
        return sorted({*self.left(), *(id for id in tuple(self._nodes) if self.moves_here(id))})

    def _left_answer(self, node: str) -> RobotStop:
        return RobotStop(node, False, left_text(self._left.get(node, MayMove())), told=False)

    def rests(self, attempt: JobAttempt, outcome: Outcome) -> bool:
        """Its driver has ended its order, whatever it says of that: whether its robot is measured to stand within a
        while. True as well where nothing can measure it, and where the order moves nothing."""
        with self.lock:
            robot = self._check_of(attempt.lane)
        if robot is None or robot.node.refuses:
            return True
        driver: object = robot.node.driver
        if isinstance(driver, RemoteKernel) or robot.node.simulated:  # measured by that kernel; stepped by its orders
            attempt.stood = True
            return True
        ours = is_ours(driver) and not isinstance(driver, CheckedPlugin)
        if not _moves(robot.node, attempt) or (ours and is_unstopped(outcome)):
            return True  # a driver of ours has measured what it denies, and its robot may follow another controller
        found: list[bool | None] = [None]

        def ask() -> bool:
            found[0] = robot.ask(attempt.began_at)
            return found[0] is not False

        stands = not robot.can_measure or self._is_soon(attempt, ask)
        attempt.stood = stands and found[0] is True
        return attempt.stood or attempt.stopped is not None or (stands and not is_unstopped(outcome))

    def halt(self, attempt: JobAttempt) -> bool:
        """No stop came, and its order has ended, or ends now, without a measured end: its driver's stop is called.

        Where its worker has returned this waits a while for the call, so that it stops no later order, and until a
        driver that can measures that the robot stands. False: it failed, or the robot may still move.
        """
        with self.lock:
            robot = self._check_of(attempt.lane)
        if robot is None or isinstance(robot.node.driver, RemoteKernel):  # that kernel calls its own driver's
            attempt.stood = True
            return True
        failed: list[str] = []
        done = threading.Event()

        def tell() -> None:
            failed.append(robot.tell())
            done.set()

        self._stops.begin([tell])
        if attempt.executing and not attempt.closing:
            with self.lock:  # its end is written next
                robot.doubt(attempt, halted=True)
            self._due.set()
            return True
        done.wait(BODY.stop_s)
        why = failed[0] if failed else coded("stop.call_hangs")
        if not why and not robot.can_measure and (robot.node.simulated or not _moves(robot.node, attempt)):
            return True
        with self.lock:
            robot.doubt(attempt, why, halted=True)
        if not why and robot.can_measure and not attempt.executing and self._stands_soon(robot, attempt):
            return True
        if robot.doubted:  # at once: the kernel may be closing
            self._tell_moving([robot])
        self._due.set()
        return False

    def halt_running(self, attempt: JobAttempt) -> None:
        """Its order was to end some time ago, and its driver has not returned: the driver's stop is called now."""
        with self.lock:  # a worker that returns now writes no end before the call has begun
            robot = self._check_of(attempt.lane)
            if robot is None or isinstance(robot.node.driver, RemoteKernel) or not attempt.executing:
                return
            if attempt.stopped is None:
                robot.doubt(attempt, halted=True)
                self._stops.begin([robot.tell])
        self._due.set()

    def leave(self, attempts: Sequence[JobAttempt], seconds: float) -> list[str]:
        """This process ends at once: the drivers that carry out an order are told to stop. The robots that may still
        move when nothing more is to be learned, or after so many seconds; an alert says so of each."""
        with self.lock:
            checks = {attempt.lane: self._check_of(attempt.lane) for attempt in attempts if attempt.executing}
            ours = [one for one in checks.values() if one and not isinstance(one.node.driver, RemoteKernel)]
            for robot in ours:
                robot.doubt(self._running.get(robot.node.id), halted=True)
            self._stops.begin(robot.tell for robot in ours)
        self._stops.begin(partial(attempt.request_stop, self._clock.monotonic()) for attempt in attempts)
        self._leaves = True
        self._due.set()
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    not any(one.begun and not one.is_noted for one in attempts)
                    and not any(robot.is_stopped and not robot.settled for robot in ours)
                ),
                seconds,
            )
        moving = [id for id in tuple(self._nodes) if self.moves_here(id)]
        self._tell_moving([self._robots[id] for id in moving])
        return moving

    def _tell_moving(self, robots: Sequence[StandstillCheck]) -> None:
        """That they may still move, at once; written where it can be."""
        for robot in robots:
            robot.alerted = robot.shown = True
            self._alert(f"stop {robot.node.id}", self._finding(robot))
        kept = [one for one in robots if not one.kept and not one.node.simulated and not self.is_left(one.node.id)]
        with suppress(WorldError):
            self._log.note_moves({one.node.id: MayMove(one.node.named, one.job) for one in kept})
            for one in kept:
                one.kept = True

    def _is_soon(self, attempt: JobAttempt, ask: Callable[[], bool]) -> bool:
        return self._measures.is_soon(ask, self._clock, lambda: attempt.stopped is not None)

    def _stands_soon(self, robot: StandstillCheck, attempt: JobAttempt) -> bool:
        """Whether a robot of which that is doubted is measured to stand within a while, or was stopped meanwhile."""

        def ask() -> bool:
            self._ask(robot)
            return robot.stands or not robot.doubted

        self._is_soon(attempt, ask)
        with self.lock:
            if robot.doubted and robot.stands:
                robot.settle_doubt()
        self.on_standing()
        return not robot.doubted

    def recall(self, moving: Mapping[str, MayMove]) -> None:
        """Before the drivers are made: the robots that the kernel before this one left `moving`, by its orders, or by
        the log. Each may still move from now on; its driver is told as soon as it is `made`."""
        with suppress(WorldError):  # the orders say it, too
            moving = {**moving, **self._log.moving()}
        for id in moving.keys() - self._recalled:
            self._leave(id, moving[id])

    def recover(self, moving: Mapping[str, MayMove]) -> None:
        """As `recall`, of those that are not recalled: before the ends of their orders are durable."""
        self.recall({id: found for id, found in moving.items() if id not in self._left})
        known = {**moving, **self._left}
        lacking = {
            id: found for id, found in known.items()
            if self._states.own(id).moves is None and self._is_real(id, found)
        }  # fmt: skip
        with suppress(WorldError):  # the end of an order is not written then, either
            self._log.note_moves(lacking)
        for id in [id for id in self._left if id in self._nodes]:
            self.made(id)
        for id in lacking.keys() & self._robots.keys():
            self._robots[id].kept = True
        self._due.set()

    def _leave(self, node: str, found: MayMove) -> None:
        self._left[node], self._words[node] = found, len(self._states.own(node).words)
        if self._is_real(node, found):
            self._alert(f"stop {node}", self._left_finding(node, found))

    def _is_real(self, node: str, found: MayMove) -> bool:
        """Whether it may move while no kernel runs, and no other process serves it."""
        own = self._states.own(node)
        if found.job in own.words and own.moves is None:  # else the log says it since
            return False
        known, simulated = self._nodes.get(node), found.simulated
        if simulated is None:
            simulated = known is not None and known.simulated
        if simulated or known is None:
            return not simulated and self._ours(node)
        return not known.remote or own.moves is not None  # its own kernel goes on with the order

    def doubt(self, node: str, job: str = "") -> None:
        """An order of it was given to its driver, and has ended without this process: the driver's stop is called, and
        the robot is sent no order until it is measured to stand. A robot that is added later, too."""
        with self.lock:
            if self.is_other(node):
                return
            robot = self._check_of(node)
            if robot is not None:
                if node in self._running:
                    return  # the end of what runs is measured
                robot.job = robot.job or job
                robot.shown = robot.shown or f"stop {node}" in self._alert.now()
                robot.kept = robot.kept or self._states.own(node).moves is not None
                if isinstance(robot.node.driver, RemoteKernel):  # that kernel calls its own driver's stop
                    if robot.shown:
                        robot.doubt(None)
                else:
                    robot.doubt_unheard()
                    self._stops.begin([robot.tell])
        if robot is None:
            self._leave(node, MayMove("", job))
        self._due.set()

    def is_awaited(self, node: str) -> bool:
        """Whether it is held, and may be found to stand soon."""
        robot = self._robots.get(node)
        return robot is not None and robot.awaited_s > 0

    def patience(self) -> float | None:
        """Seconds until a robot that is awaited now is no longer; None: none is."""
        waits = [wait for robot in tuple(self._robots.values()) if (wait := robot.awaited_s) > 0]
        return min(waits, default=None)

    def is_held(self, node: str) -> bool:
        """Whether it is to be measured to stand before it is sent another order."""
        robot = self._robots.get(node)
        return robot is not None and robot.held

    def note_end(self, node: str, outcome: Outcome) -> None:
        """An order of it has ended. Called before that is durable."""
        with self.lock:
            robot = self._check_of(node)
            if robot is None:
                return
            unknown = unknown_effect(outcome)
            if unknown:
                robot.doubt(self._running.get(node))
            elif (
                robot.doubted
                and (attempt := self._running.get(node)) is not None
                and (attempt.stood or (outcome.ok and not robot.can_measure and _moves(robot.node, attempt)))
            ):
                robot.resume()
        ours = not robot.node.simulated and not isinstance(robot.node.driver, RemoteKernel)
        if unknown and ours and robot.is_stopped and not robot.stands:  # whatever ends this process next
            self._tell_moving([robot])
        self._due.set()

    def demand_standstill(self, node: str) -> bool:
        """Whether a robot stands of which that was doubted; asked for the first time, it is measured from now on."""
        with self.lock:
            robot = self._check_of(node)
            if robot is None:
                return False
            if not robot.is_stopped and not robot.stood:
                robot.doubt(None)
        self._due.set()
        return robot.stands or (robot.stood and not robot.is_stopped)

    def _check_of(self, node: str) -> StandstillCheck | None:
        """Under `lock`."""
        if node not in self._robots and (known := self._nodes.get(node)) is not None:
            self._robots[node] = StandstillCheck(known, self._clock.monotonic)
        return self._robots.get(node)

    @property
    def holds_unstored(self) -> bool:
        """Whether a stop is in force here that the log lacks."""
        return bool(self._log.pending.all())

    def serves(self, node: str) -> bool:
        return node in self._nodes or self.is_left(node)

    def listen(self) -> None:
        """Start the threads that hear every stop from now on. What a stop, its alert and its record need is loaded
        first: they are told, said and written also when no file can be opened."""
        load_messages()
        self._spares.fill()
        self._records, self._alerts = WorkerThreads("stop records"), WorkerThreads("stop alerts")
        self._aside = WorkerThreads("stops aside")
        self._copies = True
        for threads in (self._records, self._alerts):
            threads.submit(lambda: None)  # its thread exists from now on
        self._aside.submit(self._copy_aside)
        self._prepare()
        threading.Thread(target=self._listen, name="stop log", daemon=True).start()
        threading.Thread(target=self._measure, name="stop results", daemon=True).start()
        if self._log.pending.all():  # of an earlier process
            self._store_soon()

    # -- stop, from any thread ------------------------------------------------------------------------------------

    def stop(
        self,
        nodes: Sequence[str],
        by: str,
        *,
        standing: Standing = Standing.PERSON,
        every: bool = False,
        id: str = "",
    ) -> StopTicket:
        """Tell the drivers of these robots, or of `every`; present and later jobs do not begin. The log follows.

        `id`: of a stop that its sender may write to the log itself.
        """
        keys = frozenset(stop_keys(nodes, every=every))
        stop = PendingStop(id or new_stop_id(), by, standing, stamp(self._clock.now()), keys)
        with self.lock:
            ids = [id for id in (tuple(self._nodes) if every else nodes) if id in self._nodes]
            if all(one.id != stop.id for one in self._log.pending.all()):
                self._log.pending.add(stop)
                self._tell(ids, stop)
            left = tuple(id for id in self.left() if every or id in nodes)
            robots = tuple(self._robots[id] for id in ids if id in self._robots and id not in left)
        self._store_soon()
        self._aside.submit(self._keep_aside)
        return StopTicket(stop, robots, left, self._elsewhere() and (every or len(ids) < len(nodes)))

    def report(self, ticket: StopTicket) -> StopReport:
        """What is known of it now."""
        id = ticket.stop.id
        pending, place = any(one.id == id for one in self._log.pending.all()), self._log.kept_at(id)
        robots = (*(robot.answer() for robot in ticket.robots), *map(self._left_answer, ticket.left))
        why = self._why_unstored or coded("stop.not_yet")
        why = coded("stop.kept_aside", why=why, place=place) if place else why
        return StopReport(robots, why if pending else "", ticket.others)

    def wait(self, ticket: StopTicket, seconds: float) -> StopReport:
        """What is known once nothing more is to be learned, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._settled(ticket), seconds)
        return self.report(ticket)

    def wait_standing(self, node: str, seconds: float) -> RobotStop | None:
        """As `answer`, once nothing more is to be learned or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: (robot := self._robots.get(node)) is None or robot.settled, seconds)
        return self.answer(node)

    def wait_stored(self, ticket: StopTicket, seconds: float) -> StopReport:
        """The same once it is in the log."""
        with self._changed:
            self._changed.wait_for(lambda: not self.report(ticket).unstored, seconds)
        return self.report(ticket)

    def call_when_settled(self, ticket: StopTicket, seconds: float, done: Callable[[StopReport], None]) -> None:
        """As `wait`, without a thread that waits: `done` must not raise nor wait."""
        with self._changed:
            self._waiters.append(_TicketWaiter(ticket, self._clock.monotonic() + seconds, done))
        self._due.set()

    def settle(self, seconds: float) -> None:
        """Return once each robot that is to stand is known to, or nothing more is to be learned, or so long after."""
        with self._changed:
            self._changed.wait_for(
                lambda: all(one.settled or not one.is_stopped for one in tuple(self._robots.values())), seconds
            )

    def finish_answers(self) -> None:
        """Return once everybody who waits for what becomes of a stop has been told: before the drivers are closed."""
        with self._changed:
            last = max((one.until for one in self._waiters), default=0.0)
            self._changed.wait_for(lambda: not self._waiters, max(0.0, last - self._clock.monotonic()) + MEASURE_S)

    def _settled(self, ticket: StopTicket) -> bool:
        return all(robot.settled for robot in ticket.robots) and not self.report(ticket).unstored

    # -- the log --------------------------------------------------------------------------------------------------

    def read_all(self) -> None:
        """Read which nodes are stopped; end the attempts on nodes that were stopped since they were read last."""
        self._read(self._states.known_keys(), lambda: tuple(self._nodes))

    def read_changes(self, changes: Iterable[StoreChange]) -> None:
        """The same of the logs that have changed: a change costs one read of that log."""
        keys = {change.key for change in changes if change.key.startswith(STOPS)}
        if STOPS in keys:  # changes were lost
            self.read_all()
        elif keys:
            self._read(keys, lambda: tuple(self._nodes) if ALL in keys else tuple(map(node_of, keys)))

    def add(self, node: str) -> None:
        """Of a node that came: no part of this process has heard its stops."""
        self._read((ALL, stop_key(node)), lambda: (node,))
        self._prepare()
        if node in self._left:
            self.made(node)

    def made(self, node: str) -> None:
        """Its driver is there, and not opened yet, or it could not be made: what is in force reaches the robot now."""
        found = self._left.get(node)
        simulated = found is not None and self._nodes[node].simulated and self._is_real(node, found)
        if found is not None and not simulated and not self.is_other(node):
            del self._left[node]
            self._recalled.add(node)
            self.doubt(node, found.job)
        else:  # what a simulation, or a target, measures says nothing of the robot that another driver had
            self.opened(node)

    def opened(self, node: str) -> None:
        """Its driver was opened, or could not be: what was told before that may have reached no robot."""
        with self.lock:
            robot = self._robots.get(node)
            if robot is None or not robot.is_stopped or (robot.doubted and not robot.halted):
                return
            if robot.doubted:
                robot.doubt_unheard()
            else:
                robot.begin(self._running.get(node))
            self._stops.begin([robot.tell])
        self._due.set()

    def remove(self, node: str) -> None:
        """The node is gone, and what was to be known of it."""
        with self.lock:
            self._known.pop(node, None)
            robot = self._robots.pop(node, None)
        if robot is not None and robot.shown:
            self._say(node, None)
        if robot is not None and robot.kept:
            self._records.submit(lambda: self._keep({node: None}))
        if robot is not None and robot.hang_alerted:
            self._raise(hang_field(node), None)

    def unconfirmed(self, attempt: JobAttempt) -> Outcome:
        """A driver that was asked to stop and has not returned: whether its robot holds still is unknown."""
        node, stop = attempt.lane, attempt.stopped
        by, at = (stop.by, stop.at) if stop is not None else ("", "")
        why, fix = coded("runtime.unconfirmed", by=by, node=node), coded("runtime.stop_and_restart")
        evidence = {"stopped": {"by": by, "at": at}, "held": False}
        return Outcome.failure(
            Cause.CANCELLED, "STOP_UNCONFIRMED", coded("runtime.found_fix", found=why, fix=fix), evidence=evidence
        )

    def keep_for_path(self) -> None:
        """The workspace's directory was replaced: what is in force is kept for the next start at its path."""
        self._log.keep_all_aside((*self._states.in_force(), *self._log.pending.all()))
        self.forget_copies()

    def forget_copies(self) -> None:
        """What is in force is in the log, or kept aside: no copy is needed any more."""
        self._log.forget_copies()

    def close(self) -> None:
        """What is in force and not stored is written now, or never by this process."""
        self._records.close(CLOSE_S)
        if not self._storing and self._log.pending.all():
            self._store_pending()
        self._log.keep_aside()
        self.abandon()

    def abandon(self) -> None:
        """Close and write nothing more."""
        self._closed.set()
        self._watch.close()
        self._due.set()
        for calls in (self._stops, self._measures):
            calls.close()
        for threads in (self._records, self._alerts, self._aside):
            threads.close(0.0)
        self._spares.close()

    def _listen(self) -> None:
        changes: Sequence[StoreChange] = ()
        while not self._closed.is_set():
            try:
                changes = (*changes, *self._watch.read(RETRY_S if changes else None))
                self.read_changes(changes)
                changes = ()
            except WorldError as error:  # the kernel fails at its own next write
                if self._closed.is_set() or error.code == LEASE_LOST:  # for good: the kernel ends with it
                    return
                said = Finding(error.code, STOPS, coded("runtime.readable_stops"), error_message(error), error.fix)
                self._raise(STOPS, said)

    def _read(self, keys: Iterable[str], nodes: Callable[[], Sequence[str]]) -> None:
        """Read these logs, and tell the drivers and the attempts of those nodes that were stopped since the last time.

        A log that cannot be read keeps no other robot from being stopped; then its error is raised.
        """
        failed: list[WorldError] = []
        with self._reading:
            for key in keys:
                try:
                    self._states.read(key)
                except WorldError as error:
                    failed.append(error)
            lost = [
                PendingStop(
                    state.ids[-1] if state.ids else new_stop_id(), state.by, state.standing, state.at, frozenset((key,))
                )
                for key, state in self._states.take_lost().items()
            ]
            with self.lock:
                for stop in lost:  # it stays in force, and is written again
                    self._log.pending.add(stop)
                self._tell(nodes())
        for id in [id for id in tuple(self._left) if len(self._states.own(id).words) > self._words[id]]:
            self._left.pop(id, None)
            self._raise(f"stop {id}", None)
        self._copy_aside()  # at once: a copy of what was resumed outlives the kernel
        if lost:
            self._store_soon()
        if failed:
            raise failed[0]

    def _copy_aside(self) -> None:
        """The workspace's directory may be replaced, and this process killed before it has seen that."""
        if self._copies and not self._closed.is_set():
            self._log.copy_aside(self._held)

    def _held(self) -> Iterable[PendingStop]:
        """What is in force, in the log or not yet."""
        held = {stop.id: stop for stop in self._states.in_force(named=True)}
        for stop in self._log.pending.all():
            held[stop.id] = stop._replace(keys=stop.keys | (held[stop.id].keys if stop.id in held else stop.keys))
        return held.values()

    def _store_soon(self) -> None:
        with self._changed:
            if self._storing:
                return  # it goes on until nothing is left
            self._storing = True
        self._records.submit(self._store_pending)

    def _keep_aside(self) -> None:
        """So that it outlives this process, however that ends, while the log does not take it."""
        self._copy_aside()
        with self._changed:
            self._changed.wait_for(lambda: not self._log.pending.all(), ASIDE_S)
        self._log.keep_aside()

    def _store_pending(self) -> None:
        """Write the stops that are in force and not in the log. One that cannot be written is tried again."""
        why = fix = ""
        try:
            try:
                self._write_pending()
            except WorldError as error:
                if error.code not in ("EMFILE", "ENFILE"):
                    raise
                with self._spares.lent():
                    self._write_pending()
        except WorldError as error:
            why, again = error_message(error), coded("stop.store_again")
            fix = coded("stop.free_disk") if error.code in FULL else error.fix or again
        finally:
            with self._changed:
                self._storing, self._why_unstored = False, why
                self._store_at = self._clock.monotonic() + STORE_AGAIN_S
                self._changed.notify_all()
        found = None
        if why:
            said = coded("stop.not_stored", why=why)
            found = Finding("STOP_NOT_STORED", STOPS, coded("stop.stored"), said, fix)
        self._raise(f"{STOPS} write", found)

    def _write_pending(self) -> None:
        while left := self._log.pending.all():
            for stop in left:
                for key in sorted(stop.keys):
                    self._log.store(stop, key)
                    self._read((key,), lambda: ())
                    self._demand_place()
                    self._log.stored(stop.id, key)
        self._log.reserve(())

    # -- what becomes of it ---------------------------------------------------------------------------------------

    def _tell(self, ids: Iterable[str], stop: PendingStop | None = None) -> None:
        """Under `lock`: the drivers of those that were stopped since the last time begin to stop, then the attempts.

        `stop`: the one that came; None: whatever the logs say.
        """
        told: list[StandstillCheck] = []
        attempts: list[JobAttempt] = []
        for id in ids:
            node = self._nodes.get(id)
            if node is None:
                continue
            old = self._known.get(id)
            if stop is None or old is None:
                new = with_pending(self._states.state(id), self._log.pending.of(id))
            else:
                new = with_pending(old, (stop,))
            self._known[id] = new
            robot = self._robots.get(id) or StandstillCheck(node, self._clock.monotonic)
            self._robots[id] = robot
            if not new.stopped and not robot.doubted:
                moves = new.moves is not None and robot.is_stopped and not robot.stands
                robot.resume()
                self._due.set()
                if moves:  # resumed by an actor whose word does not say that it stands
                    robot.doubt(None, halted=True)
            if not new.stopped if old is None else new.number == old.number:
                continue  # also at the first reading: a robot that is stopped may drive on since a kernel before this
            attempt = self._running.get(id)
            if attempt is not None and attempt.note_stop(new, self._clock.monotonic()):
                attempts.append(attempt)
            robot.begin(attempt)
            told.append(robot)
        self._stops.begin(robot.tell for robot in told)
        self._stops.begin(attempt.cancel.set for attempt in attempts)
        if told:
            self._due.set()

    def _prepare(self) -> None:
        self._stops.prepare(PREPARED * len(self._nodes))
        self._records.submit(lambda: self._log.reserve(tuple(self._nodes)))

    def _measure(self) -> None:
        """Ask the stopped robots again and again, also those that stand; tell those who wait."""
        while not self._closed.is_set():
            self._due.wait(self._patience())
            self._due.clear()
            robots = tuple(self._robots.values())
            self._measures.begin(partial(self._ask, robot) for robot in robots if robot.is_due)
            if (now := self._clock.monotonic()) >= self._again_at:
                self._again_at = now + LATER_S
                self._stops.begin(robot.tell for robot in robots if robot.alerted and robot.ignores_stop)
            self._look()

    def _patience(self) -> float | None:
        """Seconds until there is something to ask; None: until a stop comes."""
        robots = tuple(self._robots.values())
        if (
            self._leaves
            or self._waiters
            or any(robot.is_stopped and not robot.settled and not robot.alerted for robot in robots)
        ):
            return MEASURE_S
        waits = any(one.is_measured or one.ignores_stop or one.is_called for one in robots) or self._log.pending.all()
        return LATER_S if waits else None

    def _ask(self, robot: StandstillCheck) -> None:
        before = robot.stands
        robot.measure()
        if robot.stands != before:
            self._due.set()

    def measure_now(self) -> None:
        """Without threads: one measurement of each stopped robot, and what follows from it."""
        for robot in tuple(self._robots.values()):
            robot.measure()
        self._look()

    def _look(self) -> None:
        """Raise and take back alerts, note in the log what was confirmed, answer those who wait."""
        now = self._clock.monotonic()
        for robot in tuple(self._robots.values()):
            robot.expire()
            if robot.hangs != robot.hang_alerted:
                robot.hang_alerted = not robot.hang_alerted
                self._raise(hang_field(robot.node.id), _hanging(robot.node.id) if robot.hang_alerted else None)
            if robot.doubted and robot.stands:
                robot.settle_doubt()
                self._say(robot.node.id, None)
                self.on_standing()
            if robot.shown and (robot.stands or not robot.is_stopped):
                robot.alerted = robot.shown = False
                self._say(robot.node.id, None)
            late = now > robot.stopped_at + BODY.stop_s or (robot.settled and not robot.node.opening)
            if robot.is_stopped and not robot.stands and not robot.alerted and late:
                robot.alerted = robot.shown = True
                self._say(robot.node.id, robot)
        self._note()
        if self._log.pending.all() and now >= self._store_at:
            self._store_soon()
        with self._changed:
            self._changed.notify_all()
            over = [one for one in self._waiters if now >= one.until or self._settled(one.ticket)]
        for waiter in over:
            waiter.done(self.report(waiter.ticket))
        if over:
            with self._changed:
                self._waiters = [one for one in self._waiters if one not in over]
                self._changed.notify_all()

    def _note(self) -> None:
        """Write to the log which robots stand, once the stop itself is there, and which of them have moved since."""
        changed = {
            id: robot for id, robot in tuple(self._robots.items())
            if robot.kept is not robot.shown and not robot.node.simulated and not self.is_left(id)
        }  # fmt: skip
        for robot in changed.values():
            robot.kept = robot.shown
        if changed:
            found = {id: MayMove(robot.node.named, robot.job) if robot.kept else None for id, robot in changed.items()}
            self._records.submit(lambda: self._keep(found))
        stands: dict[str, int] = {}
        before: list[tuple[StandstillCheck, tuple[int, bool]]] = []
        for id, robot in tuple(self._robots.items()):
            known = self._known.get(id)
            if known is None or not known.stopped or robot.doubted or self._log.pending.of(id) or self.is_left(id):
                continue
            said = robot.noted[1] if robot.noted[0] == known.number else known.confirmed
            if said != robot.stands and (robot.stands or robot.alerted or robot.ignores_stop):
                before.append((robot, (known.number, said)))
                robot.noted = (known.number, robot.stands)
                stands[id] = known.number if robot.stands else 0

        def write() -> None:
            try:
                self._log.confirm(stands)
            except WorldError:
                for robot, noted in before:  # with the next look
                    robot.noted = noted

        if stands:
            self._records.submit(write)

    def _keep(self, moves: Mapping[str, MayMove | None]) -> None:
        try:
            self._log.note_moves(moves)
        except WorldError:
            for id, found in moves.items():  # with the next look
                if (robot := self._robots.get(id)) is not None:
                    robot.kept = found is None

    def _left_finding(self, node: str, found: MayMove) -> Finding:
        """Of a robot of which nothing was measured yet."""
        known = self._nodes.get(node)
        served = known is not None and not known.simulated and not self.is_other(node)
        why = coded("stop.no_measurement") if served else left_text(found)
        fix = coded("stop.hardware") if served else coded("stop.left_word", node=node)
        return Finding(
            "STOP_UNCONFIRMED", f"stop {node}", coded("stop.standing"), coded(MAY_MOVE, node=node, why=why), fix
        )

    def _say(self, id: str, robot: StandstillCheck | None) -> None:
        left = self._left_finding(id, self._left[id]) if self.is_left(id) else None
        self._raise(f"stop {id}", left if robot is None else self._finding(robot))

    def _finding(self, robot: StandstillCheck) -> Finding:
        id, said = robot.node.id, robot.answer()
        if self.is_left(id):
            return self._left_finding(id, self._left[id])
        code = "STOP_FAILED" if robot.failed else "STOP_UNCONFIRMED"
        text = coded(MAY_MOVE, node=id, why=said.why) if robot.doubted else said.text
        return Finding(code, f"stop {id}", coded("stop.standing"), text, coded("stop.hardware"))

    def _raise(self, field: str, found: Finding | None) -> None:
        def say() -> None:
            self._alert(field, found)
            self._wake()

        self._alerts.submit(say)


def _moves(node: KernelNode, attempt: JobAttempt) -> bool:
    """Whether its order may move something, by what the driver declares."""
    operation = node.operation(attempt.job.order.op)
    return operation is None or operation.moves


def _hanging(node: str) -> Finding:
    found, fix = coded("stop.hangs", node=node), coded("stop.restart")
    return Finding("STOP_HANGS", hang_field(node), coded("stop.returns"), found, fix, warning=True)


def close_driver(node: KernelNode, alert: Alerts) -> None:
    """The last work of a lane; a driver that cannot be closed is named, and keeps none of the others open."""
    try:
        contained(node.driver.close, f"{node.id} close")
    except Exception as error:  # a driver may raise anything
        place, expected = coded("runtime.node", id=node.id), coded("runtime.closing_driver")
        alert(node.id, Finding("DRIVER_CLOSE", place, expected, repr(error), coded("runtime.see_driver")))
