"""New orders of one kernel, from its sheets and its directory of open orders: accepted, admitted, entered."""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Callable, Collection, Mapping
from functools import partial

from worldfs.base.clock import Clock
from worldfs.base.driver import Demanding
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job, Order
from worldfs.base.plugin_calls import plugin_name
from worldfs.base.plugin_faults import fault

from .admission import admit, means_stop
from .alerts import Alerts
from .approval_gate import ApprovalGate
from .body_worker import JobHooks, KernelNode
from .job_codec import read_job
from .job_end import refusal_outcome
from .job_recovery import disowned_job
from .job_store import OPEN, JobStore, dependencies_first, is_ended, job_key
from .left_moving import read_open
from .lesson_writer import LessonWriter
from .open_jobs import OpenJobs
from .stored_sheet import SheetDiff
from .stored_sheets import StoredSheets

GROUP = 128  # orders accepted at a time


class OrderIntake:
    """What is not yet a job stands here, of each robot in the order in which it was read. The robots take turns."""

    def __init__(
        self,
        jobs: JobStore,
        open: OpenJobs,
        sheets: StoredSheets,
        *,
        hooks: JobHooks,
        lessons: LessonWriter,
        approvals: ApprovalGate,
        alert: Alerts,
        clock: Clock,
        nodes: Mapping[str, KernelNode],
        off: Callable[[], Collection[str]],
        refused: Callable[[str], Finding | None],
        elsewhere: Callable[[str], bool],
        ours: Callable[[str], bool],
        put_away: Callable[[Job], None],
        doubt: Callable[[str, str], None],
    ) -> None:
        """`off`: robots that are declared and disabled, or that leave. `refused`: why what declares a node counts
        as nothing. `elsewhere`: is a node without a driver here
        another kernel's? `ours`: is an order, by its id, to begin here? The others wait for a later kernel, which also
        admits them. `put_away`: archive an ended job. `doubt`: a robot may move that no order of ours moves."""
        self._jobs, self._open, self._sheets, self._hooks = jobs, open, sheets, hooks
        self._lessons, self._approvals, self._alert, self._clock = lessons, approvals, alert, clock
        self._nodes, self._off, self._elsewhere, self._refused = nodes, off, elsewhere, refused
        self._ours, self._put_away, self._doubt = ours, put_away, doubt
        self._waiting: dict[str, deque[Order]] = {}  # by robot, the one whose turn it is first: read, not yet accepted
        self._robots: dict[str, str] = {}  # the robot of each of them, by id

    def __len__(self) -> int:
        """How many wait to be accepted."""
        return len(self._robots)

    def take(self, taken: SheetDiff) -> bool:
        """What other programs wrote into sheets, but for what they cancel; True when something changed."""
        new = {order.id: order for order in reversed(taken.new)}  # of a repeated id, the first
        for id in dependencies_first(dict(reversed(new.items()))):
            if id not in self._robots:
                self._wait(new[id])
        gone = taken.withdrawn & self._robots.keys()
        for robot in {self._robots.pop(id) for id in gone}:
            self._waiting[robot] = deque(order for order in self._waiting[robot] if order.id not in gone)
        # A group at a time, so that the first of many runs while the last is being accepted; all at once for entries
        # of displaced copies, which are forgotten afterwards.
        forward = self._accept(len(self) if taken.displaced else GROUP)
        for order, finding in taken.refused:
            self._lessons.learn(order, refusal_outcome((finding,)))
        for order in taken.lost:
            self._disown(order)
        return forward or bool(taken.lost)

    def _wait(self, order: Order, *, again: bool = False) -> None:
        queue = self._waiting.setdefault(order.node, deque())
        (queue.appendleft if again else queue.append)(order)
        self._robots[order.id] = order.node

    def _next(self, most: int) -> list[Order]:
        """Of each robot in turn its oldest, and of none what depends on another robot's order that still waits: of a
        sheet with very many entries, some at a time."""
        group: list[Order] = []
        while self._robots and len(group) < most:
            turns = [robot for robot, queue in self._waiting.items() if queue]
            free = [
                robot
                for robot in turns
                if all(self._robots.get(id, robot) == robot for id in self._waiting[robot][0].depends_on)
            ]
            for robot in (free or turns[:1])[: most - len(group)]:
                queue = self._waiting.pop(robot)
                group.append(queue.popleft())
                del self._robots[group[-1].id]
                if queue:
                    self._waiting[robot] = queue
        return group

    def _accept(self, most: int) -> bool:
        if not self._robots:
            return False
        group = self._next(most)
        try:
            accepted = self._jobs.accept(group)
        except Exception:
            for order in reversed(group):
                self._wait(order, again=True)
            raise
        for item in accepted:
            id = item.order.id
            if item.new and id not in self._open:
                self._sheets.accepted(item.order)
                self._read_in(id, partial(read_job, item.line, job_key(id)))
        return True

    def _disown(self, order: Order) -> None:
        """Its entry was shown as accepted, and no file of it is there."""
        job = disowned_job(order, self._clock, self._hooks.localise)
        if not self._jobs.known(order.id):
            self._doubt(order.node, order.id)
            self._lessons.remember(job)
            self._jobs.accept_ended(job)
            self._sheets.update(job)

    def discover(self, id: str) -> None:
        """A new order is in the open directory: admit it, or end it at once."""
        if id not in self._open:
            self._read_in(id, partial(read_open, self._jobs, id))

    def _read_in(self, id: str, read: Callable[[], Job | None]) -> None:
        try:
            job = read()
        except UserError as error:
            self.unreadable(id, error)
            return
        if job is not None and is_ended(job):  # it was about to be archived
            self._put_away(job)
        elif job is not None:
            self.enter(job)

    def is_elsewhere(self, order: Order) -> bool:
        return order.node not in self._nodes and self._elsewhere(order.node)

    def enter(self, job: Job) -> None:
        if self.is_elsewhere(job.order):
            return
        if not self._ours(job.id):
            self._open.hold(job)
            return
        findings = admit(
            job.order,
            self._nodes,
            self._jobs.known,
            ChainMap({job.id: job}, self._open.table) if job.order.depends_on else {},
            self._off(),
            asks=self._approvals.waits(job.order),
            refused=self._refused,
        )
        if not findings and self._nodes[job.order.node].operation(job.order.op) is None:
            findings = means_stop(job.order)
        findings = findings or self._demanded(job)
        if findings:
            outcome = refusal_outcome(tuple(findings))
            self._lessons.learn(job.order, outcome)
            self._open.end(job, outcome)
            return
        self._open.enter(job)

    def _demanded(self, job: Job) -> list[Finding]:
        """What the driver itself asks of the jobs that this one depends on."""
        driver = self._nodes[job.order.node].driver
        if not isinstance(driver, Demanding):
            return []
        needed = [self._jobs.load(id) for id in job.order.depends_on]
        try:
            return list(driver.demands(job, needed))
        except Exception as error:  # whatever a package raises refuses this one order
            where = f"{job.order.node}: {plugin_name(driver)} demands"
            wrong = error if isinstance(error, UserError) else fault(error, where)
            return [Finding(wrong.code, wrong.path, wrong.expected, wrong.found, wrong.fix, job.id)]

    def unreadable(self, id: str, error: Exception) -> None:
        """The file of an open job cannot be read: it stays where it is, and is named."""
        found = error.found if isinstance(error, UserError) else str(error) or repr(error)
        fix = coded("runtime.fix_sets_aside")
        self._alert(f"{OPEN}/{id}", Finding("SCHEMA_VALIDATION", f"{OPEN}/{id}", coded("runtime.job_file"), found, fix))
