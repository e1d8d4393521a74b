"""The kernel of one root: takes orders in, runs them serially per node, shows how they ended."""

from __future__ import annotations

import threading
from collections import ChainMap, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from worldfs.formats import action_write
from worldfs.formats.page import Page
from worldfs.ground.clock import Clock, stamp
from worldfs.ground.errors import BrokenHouse, UserError
from worldfs.ground.model import Cause, Finding, Job, Order, Outcome, State
from worldfs.tree.stores.contract import Change, ChangeKind, Store

from .admission import admit
from .alerts import Alerts
from .control import Controls
from .dispatch import GRACE_S, Dispatch, House, Lane, Node, Ticket, refusal
from .jobs import ALERTS, CANCEL, CONTROL, OPEN, Jobs, dependencies_first, ended, id_of, job_key
from .lessons import Lessons
from .line import Lines
from .record import read_job
from .recovery import disowned, read_open, recover
from .sheet import Sheet
from .sheets import Sheets
from .showing import WAIT_S, Showing
from .stopping import Stopping
from .stops import STOPS, Stop
from .turns import TURNS, Taken
from .waiting import Waiting

Log = Callable[[str, Job], None]
GROUP = 128  # orders accepted at a time
TURN_S = 1.0  # while an instruction has its turn at a robot: its end is heard, and looked for so often


class Kernel:
    """Holds what is open in memory; everything that counts is in the files. One per root: the caller holds the lock."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        house: House,
        nodes: Mapping[str, Node],
        *,
        pages: Sequence[Page] = (action_write.PAGE,),
        watched: Mapping[str, Callable[[], bool]] | None = None,
        off: Collection[str] = (),
        threads: bool = True,
        log: Log = lambda what, job: None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.house = house
        self.nodes = dict(nodes)
        self.off = frozenset(off)  # robots that are declared and disabled
        self.jobs = Jobs(store, clock)
        self.log = log
        self.alert = Alerts(store)
        default = next(iter(nodes)) if len(nodes) == 1 else ""
        self.sheets = Sheets(
            {page.file: Sheet(store, page.file, self.jobs, default, self.alert, page=page) for page in pages}
        )
        self._threads = threads
        self.lanes = {name: Lane(name, threads) for name in nodes}
        self._open: dict[str, Job] = {}
        self._line = Lines(nodes)
        self._running: dict[str, Ticket] = {}
        self._intake: deque[Order] = deque()  # read from the sheet, not yet accepted
        self._finished: deque[tuple[str, Ticket]] = deque()
        self._waiting = Waiting(self.jobs, clock)
        self._cancel_late: set[str] = set()  # asked for while a lane was writing the end of an attempt
        self._showing = Showing(self.sheets, self.alert, clock)
        self._controls = Controls(store, house, self.lanes, self.alert)
        self._lessons = Lessons(house, self.alert)
        self._watched = dict(watched or {})  # other files, and what to do when they change; False: not while a job runs
        self._put_off: set[str] = set()  # those of them to be looked at when no job runs
        pages_and_ours = (*(page.file for page in pages), *self._watched, OPEN, CANCEL, CONTROL, ALERTS, STOPS, TURNS)
        self._watch = store.watch(*pages_and_ours)
        self._taken = Taken(store, self.nodes)
        self.stopping = Stopping(store, clock, self.nodes, self._running, self.alert)
        self.stopping.look()
        if threads:
            self.stopping.listen()
        self._resync = True
        self._again = False  # the last tick has left something to do
        self._rung = False  # `wake` was called, and no tick has followed yet
        self.dispatch = Dispatch(self.jobs, house, clock, self._lessons.learn, self.wake)

    # -- life ---------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Once, before the first tick: what the last run left."""
        going, gone = recover(
            self.jobs, self.clock, self._repeatable, self._lessons.learn, self._unreadable, say=self.house.say
        )
        for job in gone:
            self.log("lost", job)
            self.sheets.update(job)
        for job in going:
            self._enter(job)

    def run(self, stop: threading.Event, *, until_idle: bool = False) -> None:
        """Work until `stop` is set (call `wake()` then); with `until_idle` until nothing is open."""
        changes = self._watch.read(0.0)
        while not stop.is_set():
            forward = self.tick(changes)
            if until_idle and self.idle and not forward:
                return
            changes = self._hear(at_once=until_idle and self.idle)

    def _hear(self, *, at_once: bool) -> Sequence[Change]:
        """Wait until a tick has something to do. What our own lanes write to open jobs is heard too, and is nothing."""
        while True:
            ready = at_once or self._again or bool(self._finished)
            changes = self._watch.read(0.0 if ready else self._patience())
            if ready or self._rung or not changes or not all(map(self._ours, changes)):
                self._rung = False
                return changes

    def _ours(self, change: Change) -> bool:
        """Is it what `take` would pass over: another line of an open job, or its file put away?"""
        if not change.key.startswith(f"{OPEN}/"):
            return False
        return change.kind is ChangeKind.DELETE or (change.kind is ChangeKind.PUT and id_of(change.key) in self._open)

    def wake(self) -> None:
        self._rung = True  # first: the bell may be heard together with changes that are nothing
        self._watch.wake()

    def close(self, timeout: float = 10.0) -> None:
        """Stop what runs, safely, and write its end; then let go, also of a house that is broken.

        A driver that does not stop in `timeout` s is left behind: its job is found `running` by the next start.
        """
        try:
            for ticket in self._running.values():
                ticket.closing = True
                ticket.ask()
            for name, lane in self.lanes.items():
                lane.submit(partial(self._let_go, name))
            end = self.clock.monotonic() + timeout
            for lane in self.lanes.values():
                lane.close(max(0.0, end - self.clock.monotonic()))
            for ticket in self._running.values():
                ticket.leave()
            self._collect()
            self._show(force=True)
        finally:
            self.stopping.close()
            self._watch.close()

    def abandon(self) -> None:
        """Let go of the change feed and write nothing: what a killed kernel does."""
        self.stopping.close()
        self._watch.close()

    def _let_go(self, name: str) -> None:
        try:
            self.nodes[name].driver.close()
        except Exception as error:  # at the end there is nobody left to mend it; say it and go on closing
            self.alert(
                name, Finding("DRIVER_CLOSE", f"node {name}", "a driver that closes", repr(error), "see the driver")
            )

    def tick(self, changes: Sequence[Change] | None = None) -> bool:
        """Do what is due and return; True when something went forward."""
        self.take(self._watch.read(0.0) if changes is None else changes)
        self._look()
        forward = self._take_in()
        collected = self._collect()
        self._note_running()
        self._overdue()
        forward |= self._start()
        shown = self._show()
        self._again = bool(self._intake) or shown or (collected and bool(self._put_off))
        return forward or collected or shown

    @property
    def idle(self) -> bool:
        return not self._open and not self._intake

    @property
    def busy(self) -> bool:
        """Is a job being carried out?"""
        return bool(self._running)

    def open_jobs(self) -> list[Job]:
        return list(self._open.values())

    def add(self, node: Node) -> None:
        """A node that has come while we work. Only from our own thread: from `watched`, or before `run`."""
        if node.id not in self.nodes:
            self.lanes[node.id] = Lane(node.id, self._threads)
            self._line.open(node.id)
            self.nodes[node.id] = node
            self.stopping.look()

    # -- in -----------------------------------------------------------------------------------------------------

    def take(self, changes: Sequence[Change]) -> None:
        """Look where the change feed points. New orders and cancels are read from their names."""
        for change in changes:
            if change.kind is ChangeKind.RESYNC:
                self._resync = True
                self._taken.look()
                self.sheets.look_aside()
                self.stopping.look()
                self._put_off.update(self._watched)
            elif change.key in self._watched:
                self._put_off.add(change.key)
            elif change.key == ALERTS:
                if change.kind is ChangeKind.DELETE:
                    self.alert.again()
            elif change.key.startswith(STOPS):
                self.stopping.look()
            elif change.key.startswith(TURNS):
                self._taken.look()
            elif change.kind is ChangeKind.DISPLACED:
                self.sheets.look_aside()
            elif change.key.startswith(OPEN + "/"):
                id = id_of(change.key)
                if id is not None and id not in self._open and change.kind is ChangeKind.PUT:
                    self._discover(id)
            elif change.key.startswith(CANCEL + "/") and change.kind is ChangeKind.PUT:
                self.cancel(change.key[len(CANCEL) + 1 :])
            elif change.key.startswith(CONTROL + "/") and change.kind is ChangeKind.PUT:
                self._controls.take(change.key[len(CONTROL) + 1 :])

    def _look(self) -> None:
        """At the other files that changed."""
        for key in list(self._put_off):
            if self._watched[key]():
                self._put_off.discard(key)

    def _take_in(self) -> bool:
        forward = False
        if self._resync:
            self._resync = False
            for id in self.jobs.open_ids():
                if id not in self._open:
                    self._discover(id)
            for id in self.jobs.cancels():
                self.cancel(id)
            self._controls.take_all()
        taken = self.sheets.take_in()
        if taken.new:
            new = {order.id: order for order in reversed(taken.new)}  # of an id that comes twice, the first
            self._intake.extend(new[id] for id in dependencies_first(dict(reversed(new.items()))))
        if taken.withdrawn:
            self._intake = deque(order for order in self._intake if order.id not in taken.withdrawn)
        if self._intake:
            # A group at a time, so that the first of many is under way while the last is being accepted; all at once
            # what came from copies that are forgotten below.
            count = len(self._intake) if taken.displaced else min(GROUP, len(self._intake))
            for item in self.jobs.accept([self._intake.popleft() for _ in range(count)]):
                id = item.order.id
                if item.new and id not in self._open:
                    self._read_in(id, partial(read_job, item.line, job_key(id)))
            forward = True
        for order, finding in taken.refused:
            self._lessons.learn(order, refusal((finding,)))
        for order in taken.lost:
            forward = True
            job = disowned(order, self.clock, self.house.say)
            if not self.jobs.known(order.id):
                self._lessons.remember(job)
                self.jobs.history(job)
                self.sheets.update(job)
        for id in taken.cancel:
            self.cancel(id)
            forward = True
        if taken.displaced:
            self.sheets.forget()
        return forward

    def _discover(self, id: str) -> None:
        """An order lies in the open directory: admit it, or end it at once."""
        if id not in self._open:
            self._read_in(id, partial(read_open, self.jobs, id))

    def _read_in(self, id: str, read: Callable[[], Job | None]) -> None:
        try:
            job = read()
        except UserError as error:
            self._unreadable(id, error)
            return
        if job is not None:
            self._enter(job)

    def _enter(self, job: Job) -> None:
        findings = admit(
            job.order,
            self.nodes,
            self.jobs.known,
            ChainMap({job.id: job}, self._open) if job.order.depends_on else {},
            self.off,
        )
        self._open[job.id] = job
        if findings:
            outcome = refusal(tuple(findings))
            self._lessons.learn(job.order, outcome)
            self._end(job, outcome)
            return
        self.log("accepted", job)
        if not self._waiting.add(job, self._open):
            self._line.add(job)
        self._showing.changed(job)

    def cancel(self, id: str) -> None:
        """Obeyed in every state that is not the end; a running driver is told and stops where it safely can."""
        job = self._open.get(id)
        if job is None:
            if self.jobs.ended(id):
                self.jobs.put_away(id)
            return
        for ticket in self._running.values():
            if ticket.job.id == id and not ticket.settled:
                if not ticket.ask() or ticket.stopped is not None:
                    self._cancel_late.add(id)
                return
        self._end(job, Outcome.failure(Cause.CANCELLED, "CANCELLED", "cancelled before it started"))

    # -- work ---------------------------------------------------------------------------------------------------

    def _start(self) -> bool:
        forward = self._judge_waiting()
        chosen = self._line.choose(self._running, self.clock.now(), self._able, self._taken.allows)
        for job in chosen:
            node = self.nodes[job.order.node]
            ticket = Ticket(job, since=self.clock.monotonic())
            with self.stopping.lock:
                if self.stopping.held(node.id):
                    continue  # stopped since it was chosen
                self._running[node.id] = ticket
            self._line.drop(job)
            self._waiting.drop(job.id)
            self.log("started", job)
            self.lanes[node.id].submit(partial(self._carry, ticket, node))
        return forward or bool(chosen)

    def _able(self, node: str) -> bool:
        return self.nodes[node].enabled and not self.stopping.held(node)

    def _note_running(self) -> None:
        """What runs longer than a moment is shown as running."""
        for ticket in self._running.values():
            job = ticket.job  # read once: its lane may write the end meanwhile, which is shown only when it is durable
            if not ticket.shown and job.status.state is State.RUNNING and not ticket.over:
                ticket.shown = True
                self._open[job.id] = job
                self.log("running", job)
                self._showing.changed(job, ticket.since)

    def _carry(self, ticket: Ticket, node: Node) -> None:
        self.dispatch.carry(ticket, node)
        self._finished.append((node.id, ticket))
        self.wake()

    def _collect(self) -> bool:
        forward = False
        while self._finished:
            forward = True
            node, ticket = self._finished.popleft()
            if self._running.get(node) is ticket:
                del self._running[node]
            if ticket.broken is not None:
                if isinstance(ticket.broken, Exception):
                    raise BrokenHouse(
                        f"job {ticket.job.id} stands as its files say: {ticket.broken}", op="carry"
                    ) from ticket.broken
                raise ticket.broken
            if ticket.stopped is not None and ticket.over and ticket.settled:
                self.alert(f"stop {node}", None)  # it has returned at last
            if not ticket.settled and not ticket.left:
                self._settled(ticket)
            elif ticket.stopped is not None and not ticket.settled and not ticket.closing:
                self._wait_again(ticket)
        return forward

    def _wait_again(self, ticket: Ticket) -> None:
        """Its node was stopped before it had begun."""
        ticket.settled = True
        job = ticket.job
        if not self._waiting.add(job, self._open):
            self._line.add(job)
        if job.id in self._cancel_late:
            self._cancel_late.discard(job.id)
            self.cancel(job.id)

    def _settled(self, ticket: Ticket) -> None:
        """Its end is written, or that it waits for another attempt."""
        job, ticket.settled = ticket.job, True
        if ended(job):
            self._gone(job)
        else:
            self._open[job.id] = job
            self._line.add(job)
            self.log("retry", job)
        self._showing.changed(job)
        if job.id in self._cancel_late:
            self._cancel_late.discard(job.id)
            self.cancel(job.id)

    def _overdue(self) -> None:
        """A driver that does not stop in time: the job ends without it, its node stays taken until it returns."""
        now = self.clock.monotonic()
        for ticket in self._running.values():
            stop = ticket.stopped
            if stop is not None and ticket.deadline and now > ticket.stopped_at + GRACE_S and ticket.claim_end():
                self._unconfirmed(ticket, stop)
            elif ticket.deadline and now > ticket.deadline + GRACE_S and ticket.claim_end():
                order = ticket.job.order
                why = f"no end after {order.timeout_s:g} s, and the driver did not stop when asked"
                outcome = Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", why)
                self._lessons.learn(order, outcome)
                self.dispatch.write_end(ticket, outcome)
                ticket.cancel.set()  # after its end is decided: this is no cancelling of the job
                self._settled(ticket)

    def _unconfirmed(self, ticket: Ticket, stop: Stop) -> None:
        """A driver that was told to stop and has not returned: whether its robot holds still, nobody knows."""
        node = ticket.job.order.node
        why = f"stopped by {stop.by}, and the driver of {node} has not confirmed it: the robot may still move"
        fix = "use the robot's own emergency stop, then start the kernel anew"
        self.alert(f"stop {node}", Finding("STOP_UNCONFIRMED", f"stop {node}", "a driver that returns", why, fix))
        evidence = {"stopped": {"by": stop.by, "at": stop.at}, "held": False}
        self.dispatch.write_end(
            ticket, Outcome.failure(Cause.CANCELLED, "STOP_UNCONFIRMED", f"{why}; {fix}", evidence=evidence)
        )
        self._settled(ticket)

    def _judge_waiting(self) -> bool:
        """End what waited too long (D20) or depends on what failed (D21)."""
        over = self._waiting.judge()
        for job, outcome in over:
            if job.id in self._open:
                self._end(job, outcome)
        return bool(over)

    def _end(self, job: Job, outcome: Outcome) -> None:
        """End a job that is not running."""
        outcome = self.house.say(outcome)
        state = State.SUCCEEDED if outcome.ok else State.FAILED
        job = replace(
            job, status=replace(job.status, state=state, completed_at=stamp(self.clock.now()), outcome=outcome)
        )
        self.jobs.end(job)
        self._line.drop(job)
        self._waiting.drop(job.id)
        self._gone(job)
        self._showing.changed(job)

    def _gone(self, job: Job) -> None:
        """It has ended: who waited for it may start now, or never."""
        self._open.pop(job.id, None)
        self.log("ended", job)
        for freed in self._waiting.over(job.id, ok=job.status.state is State.SUCCEEDED):
            self._line.add(freed)

    # -- out ----------------------------------------------------------------------------------------------------

    def _show(self, force: bool = False) -> bool:
        """True: orders came in meanwhile."""
        return self._showing.show(self._take_in, busy=not force and bool(self._running or self._finished))

    def _patience(self) -> float | None:
        """How long the change feed may be waited for; None: until something happens."""
        now, waits = self.clock.monotonic(), []
        shown = self._showing.patience(now)
        if shown is not None:
            waits.append(shown)
        for ticket in self._running.values():
            if not ticket.over:
                left = (ticket.deadline or ticket.since + ticket.job.order.timeout_s) + GRACE_S - now
                if ticket.stopped is not None and ticket.deadline:
                    left = min(left, ticket.stopped_at + GRACE_S - now)
                if ticket.deadline or left > 0:  # still being judged after so long: its lane will wake us
                    waits.append(left)
                if not ticket.shown and (soon := ticket.since + WAIT_S - now) > 0:
                    waits.append(soon)
        limit = self._waiting.patience()
        if limit is not None:
            waits.append(limit)
        if self._taken.any:
            waits.append(TURN_S)
        moment = self._line.next_due()
        if moment is not None:
            waits.append((moment - self.clock.now()).total_seconds())
        return None if not waits else max(0.0, min(waits))

    # -- words --------------------------------------------------------------------------------------------------

    def _repeatable(self, order: Order) -> bool:
        node = self.nodes.get(order.node)
        return node is not None and order.op in node.driver.repeatable

    def _unreadable(self, id: str, error: Exception) -> None:
        found = error.found if isinstance(error, UserError) else str(error) or repr(error)
        self.alert(
            f"{OPEN}/{id}",
            Finding(
                "SCHEMA_VALIDATION", f"{OPEN}/{id}", "a job file of ours", found, "`paos check --fix` sets it aside"
            ),
        )
