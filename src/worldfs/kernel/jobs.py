"""The table of jobs of one root: orders written once, statuses written by the kernel, ended jobs set apart.

    .paos/jobs/<id>.job.json      who asks writes it, create-only; gone once the job has ended
    .paos/jobs/<id>.status.json   the kernel writes it; no file = pending
    .paos/done/<xx>/<id>.json     the whole ended job: the one write that ends it
    .paos/cancel/<id>             who asks drops it

A job moves from `jobs` to `done` only, and `done` decides: whatever a crash leaves behind in `jobs` beside it is waste.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from worldfs.ground.clock import Clock, stamp
from worldfs.ground.errors import Exists, NotFound, Unsafe
from worldfs.ground.model import Job, JobStatus, Order
from worldfs.tree.path import safe_name
from worldfs.tree.stores.contract import ABSENT, Store

from .record import done_bytes, order_bytes, read_done, read_order, read_status, status_bytes

OPEN = ".paos/jobs"
DONE = ".paos/done"
CANCEL = ".paos/cancel"
ALERTS = ".paos/alerts.json"  # what is wrong now, rendered by the kernel when it changes
_JOB = ".job.json"
_STATUS = ".status.json"


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of one submitted order: new, or known already (then nothing was written)."""

    order: Order
    new: bool


def job_key(id: str) -> str:
    return f"{OPEN}/{id}{_JOB}"


def status_key(id: str) -> str:
    return f"{OPEN}/{id}{_STATUS}"


def done_key(id: str) -> str:
    shard = hashlib.blake2b(id.encode("utf-8", "surrogateescape"), digest_size=1).hexdigest()
    return f"{DONE}/{shard}/{id}.json"


def id_of(key: str) -> str | None:
    """The id when `key` is an order in the open directory."""
    name = key.rsplit("/", 1)[1]
    return name[: -len(_JOB)] if name.endswith(_JOB) else None


class Jobs:
    """Reads and writes of job files. Keeps nothing in memory: any process may use it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock

    def known(self, id: str) -> bool:
        # Open first, then done: a job only ever moves that way, so it cannot slip between the two looks.
        return self.store.probe(job_key(id)) is not None or self.ended(id)

    def ended(self, id: str) -> bool:
        return self.store.probe(done_key(id)) is not None

    def accept(self, orders: Sequence[Order]) -> list[Accepted]:
        """Durable when it returns. An id that exists is left alone, whatever its order says."""
        at = stamp(self.clock.now())
        fresh: dict[str, Order] = {}  # an id that comes twice counts once: the first
        for index, order in enumerate(orders):
            if not safe_name(order.id):
                raise Unsafe(
                    f"the id {order.id[:80]!r} is no name", expected="no '/', '\\', '.', '..', control characters"
                )
            if order.id not in fresh and not self.known(order.id):
                fresh[order.id] = replace(order, created_at=order.created_at or at, seq=index)
        ids = _dependencies_first(fresh)  # a kernel that looks between two of them finds what the second needs
        made = self.store.put_many((job_key(id), order_bytes(fresh[id], at)) for id in ids)
        new = {fresh[id].seq for id, revision in zip(ids, made, strict=True) if revision is not None}
        return [Accepted(order, index in new) for index, order in enumerate(orders)]

    def load(self, id: str) -> Job:
        """Open or ended. Raises `NotFound`, or `BadInput` when its files say nothing."""
        done = self.store.get(done_key(id))
        if done is not None:
            return read_done(done.data, done_key(id))
        stored = self.store.get(job_key(id))
        if stored is None:
            done = self.store.get(done_key(id))  # it ended between our two looks
            if done is None:
                raise NotFound(f"no job {id!r}", path=id, op="load", fix="`paos status` lists the open and newest jobs")
            return read_done(done.data, done_key(id))
        order, accepted_at = read_order(stored.data, job_key(id))
        word = self.store.get(status_key(id))
        status = JobStatus() if word is None else read_status(word.data, status_key(id))
        return Job(order, replace(status, accepted_at=accepted_at))

    def open_ids(self) -> list[str]:
        return [id for name in self.store.list(OPEN) if (id := id_of(f"{OPEN}/{name}")) is not None]

    def done_ids(self) -> list[str]:
        """Every ended job; costs what there is of history: for listings and `paos check`, never for the hot path."""
        return [
            name.removesuffix(".json")
            for shard in self.store.list(DONE)
            if shard.endswith("/")
            for name in self.store.list(f"{DONE}/{shard[:-1]}")
        ]

    def write_status(self, id: str, status: JobStatus) -> None:
        """An open job's new status: durable when it returns."""
        self.store.put(status_key(id), status_bytes(status))

    def end(self, job: Job) -> None:
        """The last write of a job, durable; then the open files may go, in any order, at any time."""
        self.store.put(done_key(job.id), done_bytes(job))
        self.sweep(job.id)

    def sweep(self, id: str) -> None:
        """Remove an ended job's open files. The order goes last: those who wait for the end watch it go."""
        for key in (status_key(id), f"{CANCEL}/{id}", job_key(id)):
            try:
                self.store.delete(key, durable=False)
            except NotFound:
                continue

    def ask_cancel(self, id: str, actor: str) -> None:
        """Durable when it returns; cancelling an ended job does nothing."""
        self.load(id)
        if self.ended(id):
            return
        try:
            self.store.put(f"{CANCEL}/{id}", actor.encode(), ABSENT)
        except Exists:
            return

    def cancels(self) -> list[str]:
        return self.store.list(CANCEL)


def _dependencies_first(orders: dict[str, Order]) -> list[str]:
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
