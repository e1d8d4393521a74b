"""The lease on a server: a key that expires unless its holder renews it.

The sequence of its first message is the holder's epoch: every later holder has a higher one. A holder that has not
renewed it in time, by its own clock, is none any more, whatever the server still says. Two hosts' clocks are never
compared: the server expires the key.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from worldfs.base.clock import Clock
from worldfs.base.errors import StorageError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.storage.lease import LEASE_LOST, busy, this_holder

from .bucket import GONE, TTL, is_live
from .jetstream_connection import EXPECTED, StreamMessage, WrongSequence

if TYPE_CHECKING:
    from .nats_store import NatsStore

EPOCH: Final = "Paos-Epoch"
PROCESS: Final = "Paos-Process"  # of the holder: boot, namespace, number, start: its host knows when it died
RENEWALS: Final = 3  # in the time that a lease lives
HELD: Final = 0.9  # of that time: the rest is for a robot at work to stop before another holder moves it


class LeaseLost(StorageError):
    """The holder did not renew its lease in time, or another one has it: nothing more is written under it."""

    code = LEASE_LOST


class NatsLease:
    """Held from `acquire` until `release`, the holder's death, or `lost`."""

    def __init__(self, store: NatsStore, name: str, purpose: str, clock: Clock) -> None:
        self._store, self.name, self.purpose, self._clock = store, name, purpose, clock
        self._bucket = store.bucket
        self._subject = self._bucket.lease_subject(name)
        self._holder: dict[str, object] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._write = asyncio.Lock()  # of the lease's own messages
        self.marks = {PROCESS: this_process()}  # what each of them says besides
        self.seq = 0  # of its last message
        self.epoch = 0
        self._valid_until = 0.0
        self.lost: LeaseLost | None = None

    def acquire(self) -> Self:
        holder = this_holder(self.purpose, self._clock)
        found = self._store.run(self._take(holder))
        if found is not None:
            raise busy(found, path=f"{self._store.name}: {self.name}", purpose=self.purpose)
        try:
            self._store.put(self.name, _line(holder))
        except BaseException:
            self.release()
            raise
        self._store.lease_taken(self)
        return self

    def note(self, **more: str) -> None:
        if self._holder is not None:
            self._holder |= more
            self._store.run(self._renew())
            self._store.put(self.name, _line(self._holder))

    def release(self) -> None:
        if self._holder is None or self._store.closed:
            return
        self._store.lease_freed(self)
        holder, self._holder = self._holder, None
        self._store.run(self._free())
        with suppress(LeaseLost):  # the kernel's of this store: then nothing is written
            if self.lost is None:
                self._store.put(self.name, _line(holder))

    def holder(self) -> dict[str, object] | None:
        found = self._store.run(self._bucket.last(self._subject, path=self.name, op="lease"))
        if found is None or not is_live(found.headers) or is_dead(found.headers.get(PROCESS, "")):
            return None
        return dict(as_object(parse_json(found.data)))

    def heard(self) -> datetime | None:
        return self._store.lease_heard(self.name)

    def demand(self) -> None:
        """Raises `LeaseLost` once it is not held any more."""
        if self.lost is None and self._keeper is not None and self._clock_now() >= self._valid_until:
            self._lose(coded("engine.not_renewed", name=self.name))
        if self.lost is not None:
            raise self.lost

    async def confirm(self) -> None:
        """Ask the server whether the lease is still this holder's. Raises `LeaseLost`."""
        self.demand()
        found = await self._bucket.last(self._subject, path=self.name, op="lease")
        if found is None or not is_live(found.headers) or epoch_of(found) != self.epoch:
            self._lose(coded("engine.taken_over", name=self.name))
        self.demand()

    def __enter__(self) -> Self:
        return self if self._holder is not None else self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    # -- on the loop -----------------------------------------------------------------------------------------------

    async def _take(self, holder: dict[str, object]) -> dict[str, object] | None:
        """None: `holder` has it now. Else the one that has it; {}: it was taken this moment."""
        found = await self._bucket.last(self._subject, path=self.name, op="lease")
        if found is not None and is_live(found.headers) and not is_dead(found.headers.get(PROCESS, "")):
            return dict(as_object(parse_json(found.data)))
        self._holder, self.epoch, self.lost = dict(holder), 0, None
        try:
            await self._publish(found.seq if found is not None else 0)
        except WrongSequence:
            self._holder = None
            late = await self._bucket.last(self._subject, path=self.name, op="lease")
            return dict(as_object(parse_json(late.data))) if late is not None and is_live(late.headers) else {}
        self.epoch = self.seq
        self._keep_on()
        return None

    def _keep_on(self) -> None:
        self._keeper = asyncio.ensure_future(self._keep())

    async def _publish(self, expected: int) -> None:
        """Its life is counted from before it was sent: by the holder's clock it ends before it does for the server."""
        life = self._store.ttl_s
        sent = self._clock_now()
        headers = {EXPECTED: str(expected), TTL: f"{int(life)}s", EPOCH: str(self.epoch), **self.marks}
        self.seq = await self._bucket.connection.publish(
            self._subject, _line(self._holder or {}), headers, path=self.name, op="lease"
        )
        self._bucket.acknowledged(self.seq)
        self._valid_until = sent + life * HELD

    async def _renew(self) -> None:
        async with self._write:
            if self._holder is None or self.lost is not None:
                return
            try:
                await self._publish(self.seq)
            except WrongSequence:
                self._lose(coded("engine.taken_over", name=self.name))

    async def _keep(self) -> None:
        life = self._store.ttl_s
        while self.lost is None:
            await asyncio.sleep(life / RENEWALS)
            try:
                async with asyncio.timeout(max(0.0, self._valid_until - self._clock_now())):
                    await self._renew()
            except (StorageError, TimeoutError):
                self._lose(coded("engine.not_renewed", name=self.name))

    async def _free(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
        async with self._write:
            if self.lost is None:
                try:
                    headers = {EXPECTED: str(self.seq), **GONE}
                    await self._bucket.connection.publish(self._subject, b"", headers, path=self.name, op="lease")
                except (WrongSequence, StorageError):
                    return  # another holder has it, or it expires

    def _lose(self, why: str) -> None:
        if self.lost is None:
            self.lost = LeaseLost(why, path=self.name, op="lease", fix=coded("engine.start_again"))
            self._store.lease_lost(self)

    def _clock_now(self) -> float:
        return self._store.loop_time()


def _line(holder: dict[str, object]) -> bytes:
    return json.dumps(holder).encode() + b"\n"


def epoch_of(message: StreamMessage) -> int:
    """The epoch of the holder that sent a lease's message."""
    return int(message.headers.get(EPOCH) or 0) or message.seq


def this_process() -> str:
    pid = os.getpid()
    return f"{_namespace()}.{pid}.{_started(pid)}"


def is_dead(processes: str) -> bool:
    """Whether they were processes of this host, under this process's view of it, and all have ended."""
    return bool(processes) and not live_processes(processes)


def live_processes(processes: str) -> list[str]:
    """Those of them that may live: of another host's this process knows nothing."""
    return [process for process in processes.split() if not _ended(process)]


def _ended(process: str) -> bool:
    where, _, rest = process.partition(".")
    pid, _, started = rest.partition(".")
    return bool(where) and where == _namespace() and pid.isdigit() and _started(int(pid)) != started


def _namespace() -> str:
    """This boot of this host, and the process namespace; "": unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process started, in ticks since boot; "": there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
