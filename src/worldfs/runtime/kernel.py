"""The kernel of one root: accepts orders, runs them serially for each node, and renders their states."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from worldfs.base.clock import Clock
from worldfs.base.driver import RemoteKernel
from worldfs.base.errors import WorldError, is_resource_fault
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Finding, Job, JobState, Order, Outcome
from worldfs.base.unknown_effect import may_move_on
from worldfs.formats import action_write
from worldfs.formats.sheet_format import SheetFormat
from worldfs.storage.lease import LEASE_LOST
from worldfs.storage.store_interface import StoreChange, StoreChangeKind, StoreWatch
from worldfs.storage.watch_scan import INTERVAL
from worldfs.tree.workspace_stores import WorkspaceStores, robot_key

from .alerts import Alerts
from .approval_gate import ApprovalGate, OrderNames
from .approvals import APPROVALS
from .body_worker import BodyWorker, JobHooks, KernelNode
from .dispatch import Dispatcher
from .grace import EARLY_END_S, LEAVE_S
from .idle_looks import IdleLooks, TimedWork
from .instruction_turns import TURNS, HeldTurns
from .job_attempt import EDGE_S, JobAttempt
from .job_recovery import recover
from .job_store import ALERTS, CANCEL, CONTROL, OPEN, JobStore, id_of, is_ended
from .left_moving import left_moving
from .lesson_writer import LessonWriter
from .node_controls import NodeControls
from .open_jobs import AGAIN_S, LaneRules, Log, OpenJobs
from .order_intake import OrderIntake
from .place_check import PlaceCheck
from .render_scheduler import WAIT_S, RenderScheduler
from .silent_drivers import SilentDrivers
from .stop_call import SOCKETS
from .stop_listener import StopListener, close_driver
from .stop_log import STOPS, MayMove, StopLog
from .stop_socket import StopSocket
from .stored_sheet import StoredSheet
from .stored_sheets import StoredSheets
from .worker_threads import WorkerThreads

CLOSE_S = 10.0  # for a driver to stop what it does, and to close
REFUSED = "storage"  # the place of the alert that the store refuses what is to be written
SLOW_START_S = 0.01  # a review that takes longer shows its job as running


class Kernel:
    """Keeps the open jobs in memory; the files are the truth. One for each root: the caller holds the root lock."""

    def __init__(
        self,
        stores: WorkspaceStores,
        clock: Clock,
        hooks: JobHooks,
        nodes: Mapping[str, KernelNode],
        *,
        pages: Sequence[SheetFormat] = (action_write.PAGE,),
        watched: Mapping[str, Callable[[], bool]] | None = None,
        off: Collection[str] = (),
        epoch: Callable[[str], int] = lambda node: 0,
        hub: bool = True,
        elsewhere: Callable[[str], bool] = lambda node: False,
        ours: Callable[[str], bool] = lambda id: True,
        shared_out: Callable[[], bool] = lambda: False,
        stops: StopLog | None = None,
        socket_root: Path | None = None,
        home: str = "",
        keep: Callable[[], None] = lambda: None,
        threads: bool = True,
        log: Log = lambda what, job: None,
        names: OrderNames | None = None,
    ) -> None:
        """`elsewhere`: whether a node without a driver here is another kernel's; `ours`: whether an order, by its id,
        may begin here; `shared_out`: whether other kernels may have robots at all. `hub`: this one has the shared
        sheets and alerts; one that has not serves robots with stores of their own, and writes its alerts there.
        `stops`: the log, as this process has it. `socket_root`: where other processes find the socket that hears their
        stops, also by the `home`. `names`: what approvals hold the names in orders against. `keep` raises once this
        kernel serves nothing any more; called now and then by a thread of its own."""
        self._stores, store = stores, stores.shared
        self.clock = clock
        self.hooks = hooks
        self.nodes = dict(nodes)
        self.off: Collection[str] = frozenset(off)  # robots that are declared and disabled, or that come or leave
        self.off_now: Callable[[], Collection[str]] = frozenset  # and those that the world disables at this moment
        # whether the configuration has another robot of that name by now, or none, and is not served yet
        self.unserved: Callable[[str], bool] = lambda node: False
        self.refused: Callable[[str], Finding | None] = lambda node: None  # why what declares this node was refused
        self.jobs = JobStore(store, clock)
        self.log, self.elsewhere = log, elsewhere
        own = {id: stores.robots[id] for id in nodes if id in stores.robots}
        self.alert = Alerts(store if hub else next(iter(own.values())))
        default = next(iter(nodes)) if len(nodes) == 1 else ""
        sheets = {
            page.file: StoredSheet(
                store, page.file, self.jobs, default, self.alert, page=page, elsewhere=() if number else stores.robots
            )
            for number, page in enumerate(pages if hub else ())
        }
        self._page = pages[0]  # that of the nodes; the others are the project's
        self.sheets = StoredSheets(sheets)
        for node in own:
            self._add_sheet(node)
        self._threads = int(threads)
        self.lanes = {name: WorkerThreads(f"lane {name}", self._threads) for name in nodes}
        self._showing = RenderScheduler(self.sheets, self.alert, clock)
        self._controls = NodeControls(store, hooks, self.lanes, self.alert)
        self._lessons = LessonWriter(hooks, self.alert)
        self._watched = dict(
            watched or {}
        )  # other files → callback; it returns False to be called again when no job runs
        self._put_off: set[str] = set()  # those to be called again when no job runs
        self._watch = self._listen()
        self._limit: WorldError | None = None  # why changes are found late, as an alert says
        self._turns = HeldTurns(store, self.nodes, clock)
        self._approvals = ApprovalGate(store, clock, self.nodes, lambda job: log("asked", job), elsewhere, names=names)
        dispatch = Dispatcher(
            self.jobs,
            clock,
            self._write_end,
            hooks.localise,
            self._lessons.learn,
            self._attempt_is_running,
            self._approvals.begin,
            epoch,
            lambda: self.stopping.lock,
            lambda attempt, outcome: self.stopping.rests(attempt, outcome),  # noqa: PLW0108  # made below
            lambda attempt: self.stopping.halt(attempt),  # noqa: PLW0108  # made below
            self._wait_for_room,
            self._followed,
        )
        rules = LaneRules(
            lane_of=lambda job: job.order.node,
            worker_of=lambda node: BodyWorker(self.nodes[node], hooks),
            start=lambda node, work: self.lanes[node].submit(work),
            able=self._able,
            ready=lambda job: self._turns.allows(job) and self._approvals.allows(job),
            goes_on=lambda error: self._goes_on(error),  # noqa: PLW0108  # as `unconfirmed`
            gate=lambda: self.stopping.lock,
            unconfirmed=lambda attempt: self.stopping.unconfirmed(attempt),  # noqa: PLW0108  # made below
            halt=lambda attempt: self.stopping.halt_running(attempt),  # noqa: PLW0108  # made below
            hung=lambda attempt: self.hung(attempt.lane, attempt.review_s),
        )
        self.hung: Callable[[str, float], str] = lambda node, s: node  # a driver that hangs in a review is set aside
        self._closing = threading.Event()  # nothing waits for room any more
        self._until_idle = False
        self._refused_at: float | None = None  # clock.monotonic() when the store last refused what is tried again
        self._resync_at: float | None = None  # clock.monotonic() when what was refused to a tick is done again
        self._ended: dict[str, Job] = {}  # those whose files are to be archived, once their ends are shown
        self.open = OpenJobs(dispatch, rules, done=self.wake, log=log, changed=self._changed)
        self.silent = SilentDrivers(self.nodes, self.open.running, self.alert, clock)
        looks = IdleLooks(self.nodes, self.lanes, self.open.running, hooks, clock)
        self.timed: list[TimedWork] = [looks, self.silent]
        self._intake = OrderIntake(
            self.jobs,
            self.open,
            self.sheets,
            hooks=hooks,
            lessons=self._lessons,
            approvals=self._approvals,
            alert=self.alert,
            clock=clock,
            nodes=self.nodes,
            off=lambda: {*self.off, *self.off_now()},
            refused=lambda node: self.refused(node),  # noqa: PLW0108  # set by the world
            elsewhere=elsewhere,
            ours=ours,
            put_away=self._put_away,
            doubt=lambda node, job: self.stopping.doubt(node, job),  # noqa: PLW0108  # made below
        )
        self._lost: WorldError | None = None
        self._place = PlaceCheck(keep, self._lose)
        self.stopping = StopListener(
            store, clock, self.nodes, self.open.running, alert=self.alert, log=stops or StopLog(store, clock),
            wake=self.wake, elsewhere=shared_out, ours=lambda node: hub and not elsewhere(node),
            demand_place=self._place.demand,
        )  # fmt: skip
        self.stopping.read_all()
        self._stop_socket: StopSocket | None = None
        self._leaves = False  # this process ends at once
        if threads:
            self.stopping.listen()
            self._open_socket(socket_root, home)
            self._place.start()
        self._resync = True
        self._again = False  # the last tick has left something to do
        self._rung = False  # `wake` was called, and no tick has followed yet
        self._ticks_in = 0  # the thread of the last tick
        self.alert.on_change = self._publish_soon

    # -- life ---------------------------------------------------------------------------------------------------

    def recall(self) -> None:
        """Once, before the first driver is made: each is told the end of what a killed kernel left moving."""
        self.stopping.recall(self._left_moving())

    def _left_moving(self) -> dict[str, MayMove]:
        left = left_moving(self.jobs)
        return {id: found for id, found in left.items() if id in self.nodes or not self.elsewhere(id)}

    def recover(self) -> None:
        """Once, before the first tick: recover the jobs of the last run, and what it knew of robots that may move."""
        self.stopping.recover(self._left_moving())
        found = recover(
            self.open.dispatch,
            unreadable=self._intake.unreadable,
            repeatable=self._repeatable,
            ours=lambda order: not self._intake.is_elsewhere(order),
        )
        for job in (*found.ended, *found.lost):
            self._put_away(job)
        for job in found.lost:
            self.log("lost", job)
            self.sheets.update(job)
        for job in found.going:
            self._intake.enter(job)

    def run(self, stop: threading.Event, *, until_idle: bool = False) -> None:
        """Work until `stop` is set (call `wake()` then); with `until_idle` until no job can begin."""
        try:
            self._run(stop, until_idle)
        except (WorldError, OSError):
            self._place.demand()
            raise

    def _run(self, stop: threading.Event, until_idle: bool) -> None:
        self._until_idle = until_idle
        changes = self._watch.read(0.0)
        while not stop.is_set():
            forward = self.tick(changes)
            if until_idle and not forward and self._refused_at is None and (self._rests or self.held):
                return
            changes = self._hear(at_once=until_idle and self._rests)

    def _hear(self, *, at_once: bool) -> Sequence[StoreChange]:
        """Wait until a tick has something to do. What our own lanes write to open jobs is heard too, and is nothing."""
        while True:
            ready = at_once or self._again or bool(self.open.finished)
            changes = self._watch.read(0.0 if ready else self._patience())
            if ready or self._rung or not changes or not all(map(self._ours, changes)):
                self._rung = False
                return changes

    def _ours(self, change: StoreChange) -> bool:
        """Is it what `take` would pass over: another line of an open job, or its file put away?"""
        if not change.key.startswith(f"{OPEN}/"):
            return False
        id = id_of(change.key) or ""
        if change.kind is StoreChangeKind.DELETE:
            return not self.open.awaits(id)
        return change.kind is StoreChangeKind.PUT and id in self.open

    def wake(self) -> None:
        self._rung = True  # first: the bell may be heard together with changes that are nothing
        self._watch.wake()

    def _publish_soon(self) -> None:
        """The alerts have changed. A tick publishes its own."""
        if threading.get_ident() != self._ticks_in:
            self.wake()

    def close(self, timeout: float = CLOSE_S) -> None:
        """Stop the running jobs, write their ends, then close the drivers, also when the storage is broken.

        The stop of a driver that does not return within EARLY_END_S is called. One that does not within `timeout` s is
        left behind: the next start finds its job `running`.
        """
        self._closing.set()
        asked = self.clock.monotonic()
        self._place.close()
        with suppress(WorldError):  # the path may lead to another directory since the last look: stops are kept for it
            self._place.demand()
        try:
            self.open.close()
            if self._threads and not self._leaves:
                self.stopping.finish_answers()
            for name, lane in self.lanes.items():
                lane.submit(partial(close_driver, self.nodes[name], self.alert))
            end = self.clock.monotonic() + timeout
            self._close_lanes(min(asked + EARLY_END_S, end))
            for attempt in tuple(self.open.running.values()):
                self.stopping.halt_running(attempt)
            self._close_lanes(end)
            self.open.collect()  # first: what has ended meanwhile is shown
            for attempt in tuple(self.open.running.values()):
                if attempt.executing and not self._leaves:
                    self.stopping.halt(attempt)
            self.open.abandon()
            self._show(force=True)
            self._archive()
        finally:
            self.open.abandon()
            self._close_socket()
            self.stopping.close()
            if self._lost is not None:
                self.stopping.keep_for_path()
            else:
                self.stopping.forget_copies()
            self._watch.close()

    def leave(self, seconds: float = LEAVE_S) -> list[str]:
        """From any thread, before this process ends at once: tell each driver that carries out an order to stop. The
        robots that may still move; the alerts say so, and the next kernel goes on with them. `close` waits no more."""
        self._leaves = True
        self._closing.set()
        moving = self.stopping.leave(tuple(self.open.running.values()), seconds)
        with suppress(WorldError):  # the open job says it too
            self.alert.publish()
        return moving

    def _close_lanes(self, end: float) -> None:
        """Wait for them until then; no start of a driver is waited for."""
        for name, lane in self.lanes.items():
            at_once = self._leaves or self.nodes[name].opening
            lane.close(0.0 if at_once else max(0.0, end - self.clock.monotonic()))

    def abandon(self) -> None:
        """Close the change feed and write nothing: what a killed kernel does."""
        self._place.close()
        self._close_socket()
        self.stopping.abandon()
        self._watch.close()

    def _open_socket(self, root: Path | None, home: str) -> None:
        if root is None:
            return
        try:
            self._stop_socket = StopSocket(root, self.stopping, home)
            self._stop_socket.start()
        except (OSError, WorldError) as error:
            expected, fix = coded("stop.a_socket"), coded("stop.by_log")
            self.alert(SOCKETS, Finding("STOP_SOCKET", SOCKETS, expected, str(error), fix, warning=True))

    def _lose(self, error: WorldError) -> None:
        self._lost = error
        self.stopping.keep_for_path()  # before the kernel ends: it may be killed until then
        self.wake()

    def _close_socket(self) -> None:
        socket, self._stop_socket = self._stop_socket, None
        if socket is not None:
            socket.close()

    def tick(self, changes: Sequence[StoreChange] | None = None) -> bool:
        """Do what is due and return; True when something changed."""
        if self._lost is not None:
            raise self._lost
        self._ticks_in = threading.get_ident()
        changes = self._watch.read(0.0) if changes is None else changes
        if self._resync_at is not None and self.clock.monotonic() >= self._resync_at:
            self._resync_at, changes = None, [*changes, StoreChange("", StoreChangeKind.RESYNC)]
        self._survive(lambda: self.handle_changes(changes))
        self._note_limit()
        self._survive(self._look)
        if not self._threads:
            self.stopping.measure_now()
        forward = self._survive(self._read_sheets)
        collected = self.open.collect()
        self._note_running()
        self.open.overdue()
        self._survive(self._heed_approvals)
        forward |= self._survive(self.open.start)
        for timed in self.timed:
            self._survive(timed.begin)
        self._note_room()
        shown = self._survive(self._show)
        self._survive(self._archive)
        refused = self._resync_at is not None  # what was refused is not tried again before that
        self._again = not refused and (bool(self._intake) or shown or (collected and bool(self._put_off)))
        return forward or collected or shown

    def _heed_approvals(self) -> None:
        for job, outcome in self._approvals.refused(self.open.table):
            self.open.end(job, outcome)
        self._approvals.tidy(self.open.table)

    # -- a store that refuses -----------------------------------------------------------------------------------

    def _goes_on(self, error: BaseException) -> bool:
        """Whether the kernel lives on after this error, and what was refused is tried again; an alert says so then.

        While a stop is in force that is not stored, no error of the store ends the kernel, but that of a lost lease:
        another kernel may have the robots then.
        """
        unstored = self.stopping.holds_unstored
        fault = is_resource_fault(error) and not self._until_idle
        if getattr(error, "code", "") == LEASE_LOST or not (fault or (unstored and isinstance(error, WorldError))):
            return False
        self._refused_at = self.clock.monotonic()
        said = error_message(error) if isinstance(error, WorldError) else str(error)
        path = error.path if isinstance(error, WorldError) else ""
        expected, fix = coded("runtime.writable"), (error.fix if isinstance(error, WorldError) else "")
        self.alert(REFUSED, Finding("STORE_REFUSES", path, expected, coded("runtime.refused_now", said=said), fix))
        return True

    def _wait_for_room(self, error: Exception) -> bool:
        """In a lane: whether what it writes is to be tried again, once some time has passed."""
        if not self._threads or self._closing.is_set() or not self._goes_on(error):
            return False
        self.wake()  # the alert is written, if that can be
        self._closing.wait(AGAIN_S)  # of the machine's time: a disk is asked no more often
        return True

    def _survive(self, work: Callable[[], object]) -> bool:
        """What it answers; False where the store refused it, and it is done again with everything that may be due."""
        try:
            return bool(work())
        except (WorldError, OSError) as error:
            if not self._goes_on(error):
                raise
            self._resync_at = self.clock.monotonic() + AGAIN_S
            return False

    def _note_room(self) -> None:
        """Take the alert back once nothing was refused for longer than a try takes."""
        if self._refused_at is not None and self.clock.monotonic() > self._refused_at + 2 * AGAIN_S:
            self._refused_at = None
            self.alert(REFUSED, None)

    @property
    def idle(self) -> bool:
        return not self.open.table and not self._intake

    @property
    def _rests(self) -> bool:
        """Idle, and no robot that an ended job left moving may still be found to stand soon."""
        return self.idle and not any(self.stopping.is_awaited(job.order.node) for job in self._ended.values())

    @property
    def held(self) -> list[str]:
        """The nodes that all open jobs wait for: they are stopped, switched off, silent or not known to stand, or ask
        for approval; none while another job may begin or end."""
        table = self.open.table
        held = {id for id, job in table.items() if not self._able(job.order.node) or self._approvals.waits(job.order)}
        held |= {id for id, job in table.items() if self.silent.is_late(job.order.node)}
        nodes = {table[id].order.node for id in held}
        soon = any(self.nodes[node].opening or self.stopping.is_awaited(node) for node in nodes)
        works = not all(map(self.silent.is_late, self.open.running))
        if self._intake or soon or works or not self.open.all_wait(held):
            return []
        return sorted(nodes)

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return bool(self.open.running)

    def open_jobs(self) -> list[Job]:
        return list(self.open.table.values())

    def add(self, node: KernelNode, watched: Mapping[str, Callable[[], bool]] | None = None) -> None:
        """Add a node; `watched`: more files to watch. Only from the kernel's own thread: from `watched`, or before
        `run`."""
        if node.id not in self.nodes:
            self.lanes[node.id] = WorkerThreads(f"lane {node.id}", self._threads)
            self.nodes[node.id] = node
            self._watched.update(watched or {})
            if node.id in self._stores.robots:
                self._add_sheet(node.id)
                self._listen_again()
            self.stopping.add(node.id)

    def remove(self, id: str, outcome: Outcome) -> bool:
        """Remove a robot that has a store of its own: its pending jobs end so, and its driver is closed.

        False: a job of it runs, and was asked to stop, or it may still move after one; ask again when that has ended.
        Only from the kernel's own thread.
        """
        running = {attempt.job.id for attempt in self.open.running.values()}
        for job in [job for job in self.open.table.values() if job.order.node == id]:
            if job.id in running:
                self.cancel(job.id)
            else:
                self.open.end(job, outcome)
        self._show(force=True)  # its sheet, for the last time
        if any(job.order.node == id for job in self.open.table.values()) or self.stopping.moves_here(id):
            return False
        lane = self.lanes.pop(id)
        lane.submit(partial(close_driver, self.nodes[id], self.alert))
        lane.close(CLOSE_S)
        del self.nodes[id]
        self.stopping.remove(id)
        own = robot_key(id, "")
        self.sheets.remove(own + self._page.file)
        for key in [key for key in self._watched if key.startswith(own)]:
            del self._watched[key]
            self._put_off.discard(key)
        self._listen_again()
        return True

    def _add_sheet(self, node: str) -> None:
        """The sheet of a robot's own store."""
        own, page = self._stores.robots[node], self._page
        sheet = StoredSheet(own, page.file, self.jobs, node, self.alert, page=page, name=f"{node}/{page.file}")
        self.sheets.add(robot_key(node, page.file), sheet)

    def _note_limit(self) -> None:
        """Say that changes are found late, as soon as that is so."""
        limit = self._watch.limit
        if limit is not None and limit is not self._limit:
            self._limit = limit
            found = coded("tree.scanned", said=limit.found, s=INTERVAL)
            feed = Finding(limit.code, "inotify", coded("file.inotify"), found, limit.fix, warning=True)
            self.alert("inotify", feed)

    def _listen(self) -> StoreWatch:
        # Of open jobs only new ones: the lines that our own lanes write would wake this thread against them.
        keys = (*self.sheets.keys(), *self._watched, OPEN, CANCEL, CONTROL, ALERTS, STOPS, TURNS, APPROVALS)
        return self._stores.watch(*keys, arrivals=(OPEN,))

    def _listen_again(self) -> None:
        """Other stores are to be heard: everything is looked at once more, because the new watch begins now."""
        before, self._watch = self._watch, self._listen()
        before.close()
        self.handle_changes([StoreChange("", StoreChangeKind.RESYNC)])
        self.wake()

    # -- in -----------------------------------------------------------------------------------------------------

    def handle_changes(self, changes: Sequence[StoreChange]) -> None:
        """Read what the change feed names, stops first. New orders and cancels are found by their file names."""
        self.stopping.read_changes(changes)
        for change in changes:
            self.sheets.note_change(change.key)
            if change.key.startswith(STOPS):
                continue
            if change.kind is StoreChangeKind.RESYNC:
                self._resync = True
                self._turns.refresh()
                self._approvals.refresh()
                self.sheets.look_aside()
                self.stopping.read_all()
                self._put_off.update(self._watched)
            elif change.key in self._watched:
                self._put_off.add(change.key)
            elif change.key == ALERTS:
                if change.kind is StoreChangeKind.DELETE:
                    self.alert.rewrite()
            elif change.key.startswith(TURNS):
                self._turns.refresh()
            elif change.key.startswith(APPROVALS):
                self._approvals.refresh()
            elif change.kind is StoreChangeKind.DISPLACED:
                self.sheets.look_aside()
            elif change.key.startswith(OPEN + "/"):
                id = id_of(change.key)
                if id is not None and id not in self.open and change.kind is StoreChangeKind.PUT:
                    self._intake.discover(id)
                elif id is not None and change.kind is StoreChangeKind.DELETE and self.open.awaits(id):
                    self.open.ended_elsewhere([id])
            elif change.key.startswith(CANCEL + "/") and change.kind is StoreChangeKind.PUT:
                self.cancel(change.key[len(CANCEL) + 1 :])
            elif change.key.startswith(CONTROL + "/") and change.kind is StoreChangeKind.PUT:
                self._controls.submit(change.key[len(CONTROL) + 1 :])

    def look_again(self, key: str) -> None:
        """From any thread: what watches that file is called soon, as if the file had changed."""
        self._put_off.add(key)
        self.wake()

    def _look(self) -> None:
        """Call what watches the other files that changed. What changes during a call is called for again."""
        for key in list(self._put_off):
            self._put_off.discard(key)
            try:
                again = key in self._watched and not self._watched[key]()
            except Exception:
                self._put_off.add(key)
                raise
            if again:
                self._put_off.add(key)

    def _read_sheets(self) -> bool:
        if self._resync:
            self._resync = False
            for id in self.jobs.open_ids():
                if id not in self.open:
                    self._intake.discover(id)
            self.open.ended_elsewhere(self.open.awaited())
            for id in self.jobs.cancel_requests():
                self.cancel(id)
            self._controls.submit_all()
        taken = self.sheets.read_changes()
        try:
            forward = self._intake.take(taken)
        finally:  # also where no new order can be stored
            for id in taken.cancel:
                self.cancel(id)
        forward |= bool(taken.cancel)
        if taken.displaced:
            self.sheets.forget()
        return forward

    def cancel(self, id: str) -> None:
        """Cancel in every state but an end; a running driver is asked to stop where it safely can."""
        if not self.open.cancel(id) and self.jobs.ended(id):
            self.jobs.archive(id)

    # -- work ---------------------------------------------------------------------------------------------------

    def _able(self, node: str) -> bool:
        if not self.nodes[node].is_open or self.stopping.is_stopped(node):
            return False
        if self.stopping.is_other(node) or (self.stopping.is_held(node) and not self.nodes[node].refuses):
            return False
        return node not in self.off_now() and not self.unserved(node)

    def _note_running(self) -> None:
        """Show an attempt as running once it lasts longer than SLOW_START_S."""
        for attempt in self.open.running.values():
            job = attempt.job  # read once: the lane may write the end meanwhile, which is shown only when it is durable
            if not attempt.shown and job.status.state is JobState.RUNNING and not attempt.over:
                attempt.shown = True
                self.open.table[job.id] = job
                self.log("running", job)
                self._showing.changed(job, attempt.since)

    def _write_end(self, job: Job) -> None:
        """Called from its lane, or by the scheduler."""
        if job.status.outcome is not None and job.status.attempt:
            self.stopping.note_end(job.order.node, job.status.outcome)
        self.jobs.write_status(job.id, job.status)

    def _attempt_is_running(self, attempt: JobAttempt) -> None:
        """Called from its lane."""
        if self.clock.monotonic() - attempt.since > SLOW_START_S:
            self.wake()

    # -- out ----------------------------------------------------------------------------------------------------

    def _show(self, force: bool = False) -> bool:
        """Render the sheets; True: new orders were read meanwhile."""
        return self._showing.show(self._read_sheets, busy=not force and bool(self.open.running or self.open.finished))

    def _changed(self, job: Job) -> None:
        if is_ended(job):
            self._ended[job.id] = job
        self._showing.changed(job)

    def _archive(self) -> None:
        ended, self._ended = self._ended, {}
        for job in ended.values():  # what the store refuses here is archived when all is looked at again
            self._put_away(job)

    def _put_away(self, job: Job) -> None:
        """Archive an ended job. While its robot may still move it stays among the open ones: the next kernel learns
        that from it."""
        outcome = job.status.outcome
        if outcome is not None and may_move_on(outcome) and self.stopping.is_held(job.order.node):
            self._ended[job.id] = job
        else:
            self.jobs.archive(job.id)

    def _patience(self) -> float | None:
        """Seconds to wait for the change feed; None: until something changes."""
        now, waits = self.clock.monotonic(), []
        shown = self._showing.patience(now)
        if shown is not None:
            waits.append(shown)
        for attempt in self.open.running.values():
            if not attempt.over and not attempt.shown and (soon := attempt.since + WAIT_S - now) > 0:
                waits.append(soon)
        patience = (
            self.open.patience,
            self._turns.patience,
            self.stopping.patience,
            *(one.patience for one in self.timed),
        )
        waits += [wait for asked in patience if (wait := asked()) is not None]
        if self._resync_at is not None:
            waits.append(self._resync_at - now)
        if self._refused_at is not None:
            waits.append(self._refused_at + 2 * AGAIN_S + EDGE_S - now)
        return None if not waits else max(0.0, min(waits))

    # -- words --------------------------------------------------------------------------------------------------

    def _followed(self, order: Order) -> bool:
        node = self.nodes.get(order.node)
        return node is not None and isinstance(node.driver, RemoteKernel) and node.driver.follows(order.id)

    def _repeatable(self, order: Order) -> bool:
        node = self.nodes.get(order.node)
        if node is not None and isinstance(node.driver, RemoteKernel):
            return True
        operation = None if node is None else node.operation(order.op)
        return operation is not None and operation.repeatable
