"""The kernel's view of the approvals: which jobs may begin, and which must ask first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from worldfs.base.clock import Clock, parse_stamp
from worldfs.base.messages import coded
from worldfs.base.model import ApprovalPolicy, Cause, Job, Json, Order, Outcome
from worldfs.base.standard_operations import TAKE_OVER
from worldfs.storage.store_interface import Store

from .approvals import REFUSED, ApprovalRequest, Approvals
from .body_worker import KernelNode
from .instruction_turns import Holder, current_instruction


class OrderNames(Protocol):
    """What the names in orders mean, by the documents as they are now."""

    def places(self, order: Order) -> Json:
        """Each name among its parameters → where that is."""
        ...

    def moved(self, node: str, steps: Sequence[Mapping[str, object]]) -> Collection[str]:
        """Names of what the robot carries, or has moved by these steps."""
        ...


class GateEntry(NamedTuple):
    request: ApprovalRequest
    started: dict[int, str]  # step → the job that began it


class ApprovalGate:
    """`allows` and `tidy` are called by the kernel's thread, `begin` by the threads of its lanes."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        nodes: Mapping[str, KernelNode],
        log: Callable[[Job], None],
        elsewhere: Callable[[str], bool] = lambda node: False,
        *,
        names: OrderNames | None = None,
    ) -> None:
        """`elsewhere`: whether a node that is not among `nodes` is another kernel's. `names`: None, there are no
        documents that say where anything is."""
        self._elsewhere, self._names = elsewhere, names
        self._store, self._approvals, self._nodes, self._log = store, Approvals(store, clock), nodes, log
        self._lock = threading.Lock()
        self._known: dict[str, GateEntry] = {}  # by plan, the oldest first
        self.refresh()

    def refresh(self) -> None:
        """Read the requests and their answers; the change feed names no more than that there are new ones."""
        found = self._approvals.requests()
        with self._lock:
            self._known = {item.plan: GateEntry(item, self._approvals.started(item.plan)) for item in found}

    def allows(self, job: Job) -> bool:
        """Whether the job may begin. False: it waits for an answer; where nobody has been asked, this asks."""
        if not self._asks(job.order):
            return True
        for late in (False, True):
            if late:  # nobody is asked what they have answered, where its report has not come yet
                self.refresh()
            with self._lock:
                if self._step(job.order) is not None:
                    return True
                mine = [known.request for known in self._known.values() if known.request.node == job.order.node]
            if any(item.job and item.answer is None for item in mine):
                return False  # one question at a time
        expired = next((item for item in mine if item.job == job.id and item.answer is not None), None)
        if expired is not None:
            if expired.answer is not None and expired.answer.answer == REFUSED:
                return False  # `refused` ends it
            self._remove(expired.plan)
        order = job.order
        asked = self._approvals.ask(
            order.node,
            [order],
            order.asker,
            order.op,
            job.id,
            orderer=order.orderer,
            sources=self._nodes[order.node].sources(order),
            places=self._names.places if self._names is not None else lambda order: {},
        )
        with self._lock:
            self._known[asked.plan] = GateEntry(asked, {})
        self._log(job)
        return False

    def waits(self, order: Order) -> bool:
        """Whether nobody has approved it yet."""
        if not self._asks(order):
            return False
        with self._lock:
            return self._step(order) is None

    def begin(self, order: Order) -> Json:
        """Record durably that an approved step begins; its approval (`Run.approval`), empty where none was needed.

        Raises `LookupError` where the approval has expired since `allows`.
        """
        if not self._asks(order):
            return {}
        with self._lock:
            found = self._step(order)
            if found is None:
                raise LookupError(order.id)
            known, step = found
            if step not in known.started:
                self._approvals.start(known.request.plan, step, order.id)
                known.started[step] = order.id
        answer, sources = known.request.answer, known.request.steps[step].get("sources")
        if answer is None:
            return {}
        held: Json = {"plan": known.request.plan, "by": answer.by, "at": answer.at}
        return {**held, "sources": sources} if sources else held

    def refused(self, table: Mapping[str, Job]) -> list[tuple[Job, Outcome]]:
        """The open jobs whose own request was refused, and how they end."""
        found = []
        for known in tuple(self._known.values()):
            request = known.request
            job, answer = table.get(request.job), request.answer
            if job is not None and answer is not None and answer.answer == REFUSED:
                found.append((job, refused_outcome(request.plan, answer.by)))
        return found

    def tidy(self, table: Collection[str]) -> None:
        """Remove the requests whose job has ended, or whose planner's instruction has. Costs nothing without any.

        The lock itself is asked for the instruction: the change feed may report a request before the turn it is of.
        """
        for known in tuple(self._known.values()):
            request = known.request
            if request.node not in self._nodes and self._elsewhere(request.node):
                continue
            if request.job:
                over = request.job not in table
            else:
                by = current_instruction(self._store, request.node)
                over = by is None or (bool(by) and not _asked_in(request, by))
            if over:
                self._remove(request.plan)

    def _remove(self, plan: str) -> None:
        self._approvals.remove(plan)
        with self._lock:
            self._known.pop(plan, None)

    def _asks(self, order: Order) -> bool:
        """What its driver cannot do at all is refused, and needs no answer."""
        node = self._nodes.get(order.node)
        if node is None or node.approval.policy is ApprovalPolicy.NEVER:
            return False
        operation = node.operation(order.op)
        return operation is not None and node.approval.asks(operation)

    def _step(self, order: Order) -> tuple[GateEntry, int] | None:
        """The approved step that the order may be: one that has not begun, or that this very job has begun before."""
        for known in self._known.values():
            request = known.request
            if request.node != order.node or not self._approvals.is_valid(request):
                continue
            for step in request.step_of(order, self._nodes[order.node].sources(order)):
                mine = known.started.get(step, order.id) == order.id and self._may_use(request, order.id)
                if mine and self._means_the_same(known, step, order):
                    return known, step
        return None

    def _means_the_same(self, known: GateEntry, step: int, order: Order) -> bool:
        """Whether the order's names mean what was approved, but for what the plan itself has moved, or hands over."""
        if self._names is None:
            return True
        steps = known.request.steps
        done = [steps[number] for number in known.started if 0 <= number < len(steps)]
        done += [steps[step]] if order.op == TAKE_OVER.name else []
        return known.request.means_the_same(step, self._names.places(order), self._names.moved(order.node, done))

    def _may_use(self, request: ApprovalRequest, job: str) -> bool:
        """A job's own request is for that job; an instruction's for the jobs that this instruction waits for."""
        if request.job:
            return request.job == job
        by = current_instruction(self._store, request.node)
        return by is not None and by.get("job") == job and _asked_in(request, by)


def _asked_in(request: ApprovalRequest, by: Holder) -> bool:
    """Whether the request is of this instruction, and not of one before it."""
    began, asked = parse_stamp(str(by.get("started_at", ""))), parse_stamp(request.created_at)
    return began is not None and asked is not None and began <= asked


def refused_outcome(plan: str, by: str) -> Outcome:
    return Outcome.failure(Cause.REJECTED, "APPROVAL_REFUSED", coded("approval.refused", plan=plan, by=by))
