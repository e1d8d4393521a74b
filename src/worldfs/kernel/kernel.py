"""The kernel of one root: takes orders in, runs them serially per node, shows how they ended."""

from __future__ import annotations

import bisect
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

from worldfs.ground.clock import Clock, parse_stamp, stamp
from worldfs.ground.errors import BadInput, BrokenHouse, NotFound
from worldfs.ground.model import Cause, Finding, Job, JobStatus, Order, Outcome, State
from worldfs.tree.stores.contract import Change, ChangeKind, Store

from . import schedule
from .admission import admit, circle
from .dispatch import GRACE_S, Dispatch, House, Lane, Node, Ticket, refusal
from .jobs import ALERTS, CANCEL, OPEN, Jobs, ended, id_of
from .recovery import lost, recover
from .sheet import Sheet

Log = Callable[[str, Job], None]
GROUP = 128
RENDER_WAIT_S = 0.02  # a busy kernel shows its progress this often, or at 1/20 of its time if the sheet is long


class Kernel:
    """Holds what is open in memory; everything that counts is in the files. One per root: the caller holds the lock."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        house: House,
        nodes: Mapping[str, Node],
        *,
        sheet_key: str = "ACTION.md",
        threads: bool = True,
        log: Log = lambda what, job: None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.house = house
        self.nodes = nodes
        self.jobs = Jobs(store, clock)
        self.log = log
        self.alerts: dict[str, Finding] = {}
        self.alerts_changed = store.probe(ALERTS) is not None  # what an earlier run found is judged anew
        default = next(iter(nodes)) if len(nodes) == 1 else ""
        self.sheet = Sheet(store, sheet_key, self.jobs, default, self.alert)
        self.lanes = {name: Lane(name, threads) for name in nodes}
        self._open: dict[str, Job] = {}
        self._line: dict[str, list[Job]] = {name: [] for name in nodes}  # pending, sorted by rank
        self._running: dict[str, Ticket] = {}
        self._intake: deque[Order] = deque()  # read from the sheet, not yet accepted
        self._finished: deque[tuple[str, Ticket]] = deque()
        self._conditional: set[str] = set()  # pending jobs with dependencies or a queue timeout
        self._delayed = 0  # pending jobs that wait for a time
        self._dirty_since: float | None = None
        self._render_cost = 0.0
        self._watch = store.watch(sheet_key, OPEN, CANCEL)
        self._resync = True
        self.dispatch = Dispatch(self.jobs, house, clock, self._watch.wake)

    # -- life ---------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Once, before the first tick: what the last run left."""
        going, gone = recover(self.jobs, self.clock, self._repeatable, self.house.remember, self._unreadable)
        for job in gone:
            self.log("lost", job)
            self.sheet.update(job)
        for job in going:
            self._enter(job)

    def run(self, stop: threading.Event, *, until_idle: bool = False) -> None:
        """Work until `stop` is set (call `wake()` then); with `until_idle` until nothing is open."""
        changes = self._watch.read(0.0)
        while not stop.is_set():
            forward = self.tick(changes)
            if until_idle and self.idle and not forward:
                return
            changes = self._watch.read(0.0 if forward or self._finished else self._patience())

    def wake(self) -> None:
        self._watch.wake()

    def close(self, timeout: float = 10.0) -> None:
        """Stop what runs, safely, and write its end; then let go."""
        for ticket in self._running.values():
            ticket.cancel.set()
        for name, lane in self.lanes.items():
            lane.submit(partial(self._let_go, name))
        for lane in self.lanes.values():
            lane.close(timeout)
        self._collect()
        self._show(force=True)
        self._watch.close()

    def abandon(self) -> None:
        """Let go of the change feed and write nothing: what a killed kernel does."""
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
        forward = self._take_in()
        forward |= self._collect()
        self._note_running()
        self._overdue()
        forward |= self._start()
        self._show()
        return forward

    @property
    def idle(self) -> bool:
        return not self._open and not self._intake

    def open_jobs(self) -> list[Job]:
        return list(self._open.values())

    # -- in -----------------------------------------------------------------------------------------------------

    def take(self, changes: Sequence[Change]) -> None:
        """Look where the change feed points. New orders and cancels are read from their names."""
        for change in changes:
            if change.kind is ChangeKind.RESYNC:
                self._resync = self.sheet.look_aside = True
            elif change.kind is ChangeKind.DISPLACED:
                self.sheet.look_aside = True
            elif change.key.startswith(OPEN + "/"):
                id = id_of(change.key)
                if id is not None and id not in self._open and change.kind is ChangeKind.PUT:
                    self._discover(id)
            elif change.key.startswith(CANCEL + "/") and change.kind is ChangeKind.PUT:
                self.cancel(change.key[len(CANCEL) + 1 :])

    def _take_in(self) -> bool:
        forward = False
        if self._resync:
            self._resync = False
            for id in self.jobs.open_ids():
                if id not in self._open:
                    self._discover(id)
            for id in self.jobs.cancels():
                self.cancel(id)
        taken = self.sheet.take_in()
        self._intake.extend(taken.new)
        if self._intake:
            # A group at a time, so that the first of many is under way while the last is being accepted.
            group = [self._intake.popleft() for _ in range(min(GROUP, len(self._intake)))]
            for item in self.jobs.accept(group):
                if item.new:
                    self._discover(item.order.id)
                    forward = True
        for order, finding in taken.refused:
            self.house.remember(order, refusal((finding,)))
        for order in taken.lost:
            forward = True
            at = stamp(self.clock.now())
            job = lost(
                replace(order, created_at=order.created_at or at),
                JobStatus(accepted_at=at),
                self.clock,
                "the sheet said it was under way, but no worker here has it",
            )
            if not self.jobs.known(order.id):
                self._remember(job)
                self.jobs.history(job)
                self.sheet.update(job)
        for id in taken.cancel:
            self.cancel(id)
            forward = True
        return forward

    def _discover(self, id: str) -> None:
        """An order lies in the open directory: admit it, or end it at once."""
        if self.jobs.ended(id):
            self.jobs.drop_copy(id)
            return
        try:
            job = self.jobs.load(id)
        except NotFound:
            return
        except BadInput as error:
            self._unreadable(id, error)
            return
        if job.order.id != id:
            self._unreadable(
                id, BadInput(f"the order calls itself {job.order.id!r}", path=id, expected="its file's name")
            )
            return
        self._enter(job)

    def _enter(self, job: Job) -> None:
        findings = admit(job.order, self.nodes, self.jobs.known)
        if not findings and job.order.depends_on and circle(job.order, {**self._open, job.id: job}):
            findings = [
                Finding(
                    "DEPENDENCY_FAILED",
                    f"{job.order.sheet} {job.id} depends_on",
                    "no circle",
                    "it waits for itself",
                    "break the circle",
                    job.id,
                )
            ]
        self._open[job.id] = job
        if findings:
            outcome = refusal(tuple(findings))
            self.house.remember(job.order, outcome)
            self._end(job, outcome)
            return
        self.log("accepted", job)
        if job.order.depends_on or job.order.queue_timeout_s:
            self._conditional.add(job.id)
        bisect.insort(self._line[job.order.node], job, key=schedule.rank)
        self._delayed += bool(job.status.not_before)
        self._changed(job)

    def cancel(self, id: str) -> None:
        """Obeyed in every state that is not the end; a running driver is told and stops where it safely can."""
        job = self._open.get(id)
        if job is None:
            if self.jobs.ended(id):
                self.jobs.put_away(id)
            return
        for ticket in self._running.values():
            if ticket.job.id == id:
                ticket.cancel.set()
                return
        self._end(job, Outcome.failure(Cause.CANCELLED, "CANCELLED", "cancelled before it started"))

    # -- work ---------------------------------------------------------------------------------------------------

    def _start(self) -> bool:
        forward = self._judge_waiting()
        chosen = schedule.choose(self._line, self._running, self.clock.now(), self._ready)
        for job in chosen:
            node = self.nodes[job.order.node]
            self._leave_line(job)
            ticket = Ticket(job, since=self.clock.monotonic())
            self._running[node.id] = ticket
            self.log("started", job)
            self.lanes[node.id].submit(partial(self._carry, ticket, node))
        return forward or bool(chosen)

    def _note_running(self) -> None:
        """What runs longer than a moment is shown as running."""
        for ticket in self._running.values():
            if not ticket.shown and ticket.job.status.state is State.RUNNING and not ticket.over:
                ticket.shown = True
                self._open[ticket.job.id] = ticket.job
                self.log("running", ticket.job)
                self._changed(ticket.job)

    def _carry(self, ticket: Ticket, node: Node) -> None:
        self.dispatch.carry(ticket, node)
        self._finished.append((node.id, ticket))
        self._watch.wake()

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
            if ticket.job.id in self._open:
                self._settled(ticket.job)
        return forward

    def _settled(self, job: Job) -> None:
        """Its lane has written its end, or that it waits for another attempt."""
        if ended(job):
            self._open.pop(job.id, None)
            self.log("ended", job)
        else:
            self._open[job.id] = job
            bisect.insort(self._line[job.order.node], job, key=schedule.rank)
            self._delayed += 1
            self.log("retry", job)
        self._changed(job)

    def _overdue(self) -> None:
        """A driver that does not stop in time: the job ends without it, its node stays taken until it returns."""
        now = self.clock.monotonic()
        for ticket in self._running.values():
            if ticket.deadline and not ticket.over and now > ticket.deadline + GRACE_S:
                order = ticket.job.order
                why = f"no end after {order.timeout_s:g} s, and the driver did not stop when asked"
                outcome = Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", why)
                ticket.cancel.set()
                if self.dispatch.finish(ticket, outcome):
                    self.house.remember(order, outcome)
                    self._settled(ticket.job)

    def _judge_waiting(self) -> bool:
        """End what waited too long (D20) or depends on what failed (D21)."""
        forward = False
        for id in list(self._conditional):
            job = self._open.get(id)
            if job is None or job.status.state is not State.PENDING:
                self._conditional.discard(id)
                continue
            outcome = self._too_late(job) or self._doomed(job)
            if outcome is not None:
                forward = True
                self._conditional.discard(id)
                self._end(job, outcome)
        return forward

    def _too_late(self, job: Job) -> Outcome | None:
        since, limit = parse_stamp(job.status.accepted_at), job.order.queue_timeout_s
        if not limit or job.status.attempt or since is None or (self.clock.now() - since).total_seconds() <= limit:
            return None
        return Outcome.failure(Cause.REJECTED, "QUEUE_TIMEOUT", f"waited longer than {limit:g} s for its turn")

    def _doomed(self, job: Job) -> Outcome | None:
        for other in job.order.depends_on:
            if other not in self._open and self.jobs.load(other).status.state is State.FAILED:
                field = f"{job.order.sheet} {job.id} depends_on"
                fix = f"see why {other} failed, then submit both again under new ids"
                return refusal(
                    (Finding("DEPENDENCY_FAILED", field, f"{other} succeeded", f"{other} failed", fix, job.id),)
                )
        return None

    def _ready(self, job: Job) -> bool:
        """Nothing that it depends on is open any more; what failed has ended it before."""
        return not any(other in self._open for other in job.order.depends_on)

    def _end(self, job: Job, outcome: Outcome) -> None:
        """End a job that is not running."""
        state = State.SUCCEEDED if outcome.ok else State.FAILED
        job = replace(
            job, status=replace(job.status, state=state, completed_at=stamp(self.clock.now()), outcome=outcome)
        )
        self.jobs.end(job)
        self._leave_line(job)
        self._open.pop(job.id, None)
        self.log("ended", job)
        self._changed(job)

    def _leave_line(self, job: Job) -> None:
        line = self._line.get(job.order.node, [])
        for index, waiting in enumerate(line):  # its place is near the front: it was chosen from there
            if waiting.id == job.id:
                del line[index]
                self._delayed -= bool(waiting.status.not_before)
                return

    # -- out ----------------------------------------------------------------------------------------------------

    def _changed(self, job: Job) -> None:
        self.sheet.update(job)
        if self._dirty_since is None:
            self._dirty_since = self.clock.monotonic()

    def _show(self, force: bool = False) -> None:
        """Render when nothing moves; while jobs run one after the other, only now and then."""
        if not self.sheet.dirty:
            return
        now = self.clock.monotonic()
        since = now if self._dirty_since is None else self._dirty_since
        if not force and (self._running or self._finished) and now - since < self._render_wait():
            self._dirty_since = since
            return
        for _ in range(100):
            started = self.clock.monotonic()
            if self.sheet.render():
                self._render_cost = self.clock.monotonic() - started
                break
            self._take_in()  # somebody wrote between our look and our write: theirs first
            if not self.sheet.readable:
                break
        self._dirty_since = None
        if self.alerts_changed:
            self.alerts_changed = False
            text = json.dumps(
                {where: asdict(item) for where, item in self.alerts.items()}, ensure_ascii=False, indent=1
            )
            self.store.put(ALERTS, text.encode(), durable=False)

    def _render_wait(self) -> float:
        return max(RENDER_WAIT_S, 20 * self._render_cost)

    def _patience(self) -> float | None:
        """How long the change feed may be waited for; None: until something happens."""
        now, waits = self.clock.monotonic(), []
        if self.sheet.dirty and self.sheet.readable and self._dirty_since is not None:
            waits.append(self._dirty_since + self._render_wait() - now)
        for ticket in self._running.values():
            if not ticket.over:
                waits.append((ticket.deadline or ticket.since + ticket.job.order.timeout_s) + GRACE_S - now)
        for id in self._conditional:
            since, limit = parse_stamp(self._open[id].status.accepted_at), self._open[id].order.queue_timeout_s
            if since and limit:
                waits.append(limit + 0.001 - (self.clock.now() - since).total_seconds())
        if self._delayed:
            moment = schedule.next_due(self._line, self._running)
            if moment is not None:
                waits.append((moment - self.clock.now()).total_seconds())
        return None if not waits else max(0.0, min(waits))

    # -- words --------------------------------------------------------------------------------------------------

    def _remember(self, job: Job) -> None:
        if job.status.outcome is not None:
            self.house.remember(job.order, job.status.outcome)

    def _repeatable(self, order: Order) -> bool:
        node = self.nodes.get(order.node)
        return node is not None and order.op in node.driver.repeatable

    def _unreadable(self, id: str, error: Exception) -> None:
        found = error.found if isinstance(error, BadInput) else str(error)
        self.alert(
            f"{OPEN}/{id}",
            Finding(
                "SCHEMA_VALIDATION", f"{OPEN}/{id}", "a job file of ours", found, "`paos check --fix` sets it aside"
            ),
        )

    def alert(self, where: str, finding: Finding | None) -> None:
        if finding is None:
            self.alerts_changed |= self.alerts.pop(where, None) is not None
        elif self.alerts.get(where) != finding:
            self.alerts[where] = finding
            self.alerts_changed = True
            while len(self.alerts) > 100:
                del self.alerts[next(iter(self.alerts))]
