"""The jobs of one root: a file for each, first its order, then a status line for each change.

    .paos/jobs/<id>.jsonl   open: the submitter creates it with the order, whole; then only the kernel appends
    .paos/done/<id>.jsonl   the same file, once the job has ended: scans of open jobs skip it
    .paos/cancel/<id>       a request to cancel

The last whole line is the job's state. A job ends with an append; the move afterwards may be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import Exists, NotFound, Unsafe
from worldfs.base.messages import coded
from worldfs.storage.store_interface import ABSENT, Store
from worldfs.tree.path import safe_name

# `job_codec` is imported when a job is opened: most readers of the tree never open one.
if TYPE_CHECKING:
    from worldfs.base.model import Job, JobStatus, Order

    from .job_codec import JobVersion

OPEN = ".paos/jobs"
DONE = ".paos/done"
CANCEL = ".paos/cancel"
CONTROL = ".paos/control"  # one file for each node: a command that is no job, removed once it is executed
ALERTS = ".paos/alerts.json"  # the current alerts, written by the kernel when they change
_ENDING = ".jsonl"


class SubmitResult(NamedTuple):
    """What became of one submitted order: new, with the line that was written, or known already, and nothing was."""

    order: Order
    line: bytes

    @property
    def new(self) -> bool:
        return bool(self.line)


def job_key(id: str) -> str:
    return f"{OPEN}/{id}{_ENDING}"


def done_key(id: str) -> str:
    return f"{DONE}/{id}{_ENDING}"


def id_of(key: str) -> str | None:
    """The id when `key` is an open job's file."""
    name = key.rsplit("/", 1)[-1]
    return name[: -len(_ENDING)] if name.endswith(_ENDING) else None


class JobStore:
    """Reads and writes of job files. Keeps nothing in memory: any process may use it.

    Ids come from documents that anyone may write. An id that cannot be a file name is the id of no job: a lookup of it
    finds nothing, as for every other unknown id, and no path is made from it.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock

    def known(self, id: str) -> bool:
        # Open first, then done: a job only ever moves that way, so it cannot be missed between the two reads.
        return safe_name(id) and (self.store.probe(job_key(id)) is not None or self.ended(id))

    def ended(self, id: str) -> bool:
        """Whether it is among the archived jobs (an open file may hold an end too, until it is moved)."""
        return safe_name(id) and self.store.probe(done_key(id)) is not None

    def accept(self, orders: Sequence[Order]) -> list[SubmitResult]:
        """Durable when it returns. An id that exists is left alone, whatever its order says."""
        from dataclasses import replace

        from .job_codec import order_line

        at = stamp(self.clock.now())
        fresh: dict[str, Order] = {}  # an id that comes twice counts once: the first
        for index, order in enumerate(orders):
            if not safe_name(order.id):
                raise Unsafe(coded("runtime.bad_job_id", id=order.id[:80]), expected=coded("runtime.no_such_signs"))
            if order.id not in fresh and not self.known(order.id):
                fresh[order.id] = replace(order, created_at=order.created_at or at, seq=index)
        ids = dependencies_first(fresh)  # a kernel that reads between two of them finds the dependencies of the second
        lines = [order_line(fresh[id], at) for id in ids]
        made = self.store.put_many((job_key(id), line) for id, line in zip(ids, lines, strict=True))
        new = {fresh[id].seq: line for id, line, revision in zip(ids, lines, made, strict=True) if revision is not None}
        return [SubmitResult(order, new.get(index, b"")) for index, order in enumerate(orders)]

    def load(self, id: str) -> Job:
        """Open or ended. Raises `NotFound`, or `BadInput` when its file is unreadable."""
        from .job_codec import read_job

        return read_job(*self._stored(id))

    def versions(self, id: str) -> list[JobVersion]:
        """What the job was since each change of its status. Raises as `load`."""
        from .job_codec import read_job_versions

        return read_job_versions(*self._stored(id))

    def _stored(self, id: str) -> tuple[bytes, str]:
        """A job's file, and its key."""
        # A recorded end decides; and the job may be moved between the first two reads.
        for key in (done_key(id), job_key(id), done_key(id)) if safe_name(id) else ():
            stored = self.store.get(key)
            if stored is not None:
                return stored.data, key
        raise NotFound(coded("runtime.no_job", id=id), path=id, op="load", fix=coded("runtime.status_lists"))

    def open_ids(self) -> list[str]:
        return [id for name in self.store.list(OPEN) if (id := id_of(name)) is not None]

    def done_ids(self) -> list[str]:
        """Every ended job; the cost grows with the history: for listings and `paos check` only."""
        return [id for name in self.store.list(DONE) if (id := id_of(name)) is not None]

    def write_status(self, id: str, status: JobStatus, *, durable: bool = True) -> None:
        """An open job's new status: durable when it returns."""
        from .job_codec import status_line

        self.store.append(job_key(id), status_line(status), durable=durable)

    def end(self, job: Job, *, durable: bool = True) -> None:
        """The last line of a job, durable; then its file is moved out of the way.

        `durable=False`: for a caller that has committed the end elsewhere, and finds it there after a crash.
        """
        self.write_status(job.id, job.status, durable=durable)
        self.archive(job.id)

    def accept_ended(self, job: Job) -> None:
        """An order that ends as it is accepted (a sheet shows it as running): one create, never open."""
        from .job_codec import order_line, status_line

        text = order_line(job.order, job.status.accepted_at) + status_line(job.status)
        self.store.put(done_key(job.id), text, ABSENT)

    def close_id(self, order: Order) -> bool:
        """End an order as cancelled that was never accepted, so that one who is late cannot submit it. False: it was
        accepted before, and is left alone.

        It takes the name of the open file, as its submitter would: one of the two has it first.
        """
        from worldfs.base.model import Cause, JobStatus, Outcome

        from .job_codec import order_line, status_line
        from .job_end import ended_status

        if not safe_name(order.id) or self.ended(order.id):
            return False
        now = self.clock.now()
        why = Outcome.failure(Cause.CANCELLED, "CANCELLED", coded("runtime.cancelled_before"))
        status = ended_status(JobStatus(accepted_at=stamp(now)), why, now)
        try:
            self.store.put(job_key(order.id), order_line(order, status.accepted_at) + status_line(status), ABSENT)
        except Exists:
            return False
        self.archive(order.id)
        return True

    def archive(self, id: str) -> None:
        """Move an ended job's file to `done`. Not durable: a start repeats it for an ended job that is still open."""
        with suppress(NotFound, Exists):
            self.store.move(job_key(id), done_key(id), durable=False)
        if self.store.probe(cancel := f"{CANCEL}/{id}") is not None:  # hardly ever
            with suppress(NotFound):
                self.store.delete(cancel, durable=False)

    def drop_copy(self, id: str) -> None:
        """An open file of a job that has ended: it was submitted again while it ended. `done` decides."""
        with suppress(NotFound):
            self.store.delete(job_key(id), durable=False)  # a start that finds it again drops it again

    def close_torn_line(self, id: str) -> None:
        """End a line that a crash tore, so that the next append begins a new one."""
        from .job_codec import is_torn

        stored = self.store.get(job_key(id))
        if stored is not None and is_torn(stored.data):
            self.store.append(job_key(id), b"\n", durable=False)  # the next durable append syncs both

    def request_cancel(self, id: str, actor: str) -> None:
        """Durable when it returns; cancelling an ended job does nothing."""
        if is_ended(self.load(id)):
            return
        with suppress(Exists):
            self.store.put(f"{CANCEL}/{id}", actor.encode(), ABSENT)

    def cancel_requests(self) -> list[str]:
        return self.store.list(CANCEL)


def dependencies_first(orders: Mapping[str, Order]) -> list[str]:
    """Each id after those that it depends on, else in the order given; a cycle is cut at one of its ids."""
    if not any(order.depends_on for order in orders.values()):
        return list(orders)
    placed: dict[str, None] = {}
    begun: set[str] = set()
    for id in orders:
        ahead = [id]
        while ahead:
            last = ahead[-1]
            first = [] if last in begun else [other for other in orders[last].depends_on if other in orders]
            begun.add(last)
            if first:
                ahead += reversed(first)
            else:
                placed.setdefault(ahead.pop())
    return list(placed)


def is_ended(job: Job) -> bool:
    return job.status.state.terminal
