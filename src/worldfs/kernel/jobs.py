"""The table of jobs of one root: a file a job, its order first, then the kernel's word on it line by line.

    .paos/jobs/<id>.jsonl   open: who asks creates it with the order, whole; then only the kernel appends a status
    .paos/done/<id>.jsonl   the same file, once it has ended: out of the way of everything that looks at open jobs
    .paos/cancel/<id>       who asks drops it

The last whole line is the job's state. A job ends with an append; the move afterwards is tidying and may be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from worldfs.ground.clock import Clock, stamp
from worldfs.ground.errors import Exists, NotFound, Unsafe
from worldfs.tree.path import safe_name
from worldfs.tree.stores.contract import ABSENT, Store

# `record` and the nouns in it are loaded by who opens a job: most readers of the tree never do.
if TYPE_CHECKING:
    from worldfs.ground.model import Job, JobStatus, Order

OPEN = ".paos/jobs"
DONE = ".paos/done"
CANCEL = ".paos/cancel"
CONTROL = ".paos/control"  # one file a node: what its body is asked to do beside its jobs, gone once it is done
ALERTS = ".paos/alerts.json"  # what is wrong now, rendered by the kernel when it changes
_ENDING = ".jsonl"


class Accepted(NamedTuple):
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


class Jobs:
    """Reads and writes of job files. Keeps nothing in memory: any process may use it.

    Ids come from documents that anyone may write. An id that cannot be a file name is the id of no job: it is looked
    up and not found, like every other unknown id, and no path is made from it.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock

    def known(self, id: str) -> bool:
        # Open first, then done: a job only ever moves that way, so it cannot slip between the two looks.
        return safe_name(id) and (self.store.probe(job_key(id)) is not None or self.ended(id))

    def ended(self, id: str) -> bool:
        """Is it among the ended ones? (an open file may also say so, until it is moved)"""
        return safe_name(id) and self.store.probe(done_key(id)) is not None

    def accept(self, orders: Sequence[Order]) -> list[Accepted]:
        """Durable when it returns. An id that exists is left alone, whatever its order says."""
        from dataclasses import replace

        from .record import order_line

        at = stamp(self.clock.now())
        fresh: dict[str, Order] = {}  # an id that comes twice counts once: the first
        for index, order in enumerate(orders):
            if not safe_name(order.id):
                raise Unsafe(
                    f"the id {order.id[:80]!r} is no name", expected="no '/', '\\', '.', '..', control characters"
                )
            if order.id not in fresh and not self.known(order.id):
                fresh[order.id] = replace(order, created_at=order.created_at or at, seq=index)
        ids = dependencies_first(fresh)  # a kernel that looks between two of them finds what the second needs
        lines = [order_line(fresh[id], at) for id in ids]
        made = self.store.put_many((job_key(id), line) for id, line in zip(ids, lines, strict=True))
        new = {fresh[id].seq: line for id, line, revision in zip(ids, lines, made, strict=True) if revision is not None}
        return [Accepted(order, new.get(index, b"")) for index, order in enumerate(orders)]

    def load(self, id: str) -> Job:
        """Open or ended. Raises `NotFound`, or `BadInput` when its file says nothing."""
        from .record import read_job

        # An end decides, whatever lies beside it; and the job may be moved between our first two looks.
        for key in (done_key(id), job_key(id), done_key(id)) if safe_name(id) else ():
            stored = self.store.get(key)
            if stored is not None:
                return read_job(stored.data, key)
        raise NotFound(f"no job {id!r}", path=id, op="load", fix="`paos status` lists the open and the newest jobs")

    def open_ids(self) -> list[str]:
        return [id for name in self.store.list(OPEN) if (id := id_of(name)) is not None]

    def done_ids(self) -> list[str]:
        """Every ended job; costs what there is of history: for listings and `paos check`, never for the hot path."""
        return [id for name in self.store.list(DONE) if (id := id_of(name)) is not None]

    def write_status(self, id: str, status: JobStatus, *, durable: bool = True) -> None:
        """An open job's new status: durable when it returns."""
        from .record import status_line

        self.store.append(job_key(id), status_line(status), durable=durable)

    def end(self, job: Job, *, durable: bool = True) -> None:
        """The last line of a job, durable; then its file is moved out of the way.

        `durable=False`: for who has committed the end elsewhere, and finds it there after a crash.
        """
        self.write_status(job.id, job.status, durable=durable)
        self.put_away(job.id)

    def history(self, job: Job) -> None:
        """An order that ends as it is accepted (found under way in somebody's sheet): one create, never open."""
        from .record import order_line, status_line

        text = order_line(job.order, job.status.accepted_at) + status_line(job.status)
        self.store.put(done_key(job.id), text, ABSENT)

    def put_away(self, id: str) -> None:
        """Not durable: a start finds an ended job that is still open, and puts it away again."""
        with suppress(NotFound, Exists):
            self.store.move(job_key(id), done_key(id), durable=False)
        if self.store.probe(cancel := f"{CANCEL}/{id}") is not None:  # hardly ever
            with suppress(NotFound):
                self.store.delete(cancel, durable=False)

    def drop_copy(self, id: str) -> None:
        """An open file of a job that has ended: it was asked for again while it ended. `done` decides."""
        with suppress(NotFound):
            self.store.delete(job_key(id), durable=False)  # a start that finds it again drops it again

    def mend(self, id: str) -> None:
        """Close a line that a crash tore, so that the next one begins at its own beginning."""
        from .record import torn

        stored = self.store.get(job_key(id))
        if stored is not None and torn(stored.data):
            self.store.append(job_key(id), b"\n", durable=False)  # the line that follows waits for both

    def ask_cancel(self, id: str, actor: str) -> None:
        """Durable when it returns; cancelling an ended job does nothing."""
        if ended(self.load(id)):
            return
        with suppress(Exists):
            self.store.put(f"{CANCEL}/{id}", actor.encode(), ABSENT)

    def cancels(self) -> list[str]:
        return self.store.list(CANCEL)


def dependencies_first(orders: Mapping[str, Order]) -> list[str]:
    """Each id after those that it depends on, else in the order given; a circle is cut somewhere."""
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


def ended(job: Job) -> bool:
    return job.status.state.terminal
