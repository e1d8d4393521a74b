"""The store on NATS JetStream: a bucket of documents on a server, shared by hosts.

Compare-and-swap is the server's: the sequence that the index has for the revision that the caller expects must still be
the last. A holder of a lease writes only while it holds it, and the server refuses what it sends too late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, TypeVar

from worldfs.base.clock import Clock, SystemClock
from worldfs.base.dir_reader import check_path
from worldfs.base.errors import BadInput, Exists, MissingRequirement, StorageError, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.storage.lease import KERNEL_LEASE, is_kernel_lease
from worldfs.storage.revision import of
from worldfs.storage.shared_store import SharedStore, StoredHead
from worldfs.storage.store_interface import ANY, Expected, StoredValue, StoreWatch

from .bucket import Bucket, head_of, is_live
from .bucket_writer import BucketWriter
from .held_leases import HeldLeases
from .host_lease import HostLease
from .jetstream_connection import JetStreamConnection
from .key_codec import encode_key
from .loop_thread import LoopClosed, LoopThread
from .nats_lease import NatsLease
from .own_server import OwnServer
from .server_check import server_findings
from .store_address import StoreAddress, parse_address
from .workspace_files import WorkspaceFiles

T = TypeVar("T")
START_S: Final = 15.0  # a server with much to recover takes a while


class NatsStore(SharedStore):
    """Usable from many threads. `durable=False` is as durable as anything else: the server acknowledges what it has."""

    def __init__(
        self, address: str | StoreAddress, *, server: OwnServer | None = None, clock: Clock | None = None
    ) -> None:
        """`server`: of our own, where the address names none; it is started and stopped with the store."""
        self.address = parse_address(address) if isinstance(address, str) else address
        self.clock = clock or SystemClock()
        self.ttl_s = self.address.ttl_s
        self._server = server
        self._loop = LoopThread(f"store {self.address.bucket}")
        self.connection = JetStreamConnection(self.address, self._loop, self._revive)
        self.bucket = Bucket(self.connection, self._lease_message)
        self._leases = HeldLeases(self.bucket)
        self._writer = BucketWriter(self.bucket, self._leases)
        self._expiries: dict[str, asyncio.TimerHandle] = {}
        self._heard: dict[str, datetime] = {}  # lease → when it was renewed last
        self._files: WorkspaceFiles | None = None
        self._closed = False
        try:
            self.run(self._open())
        except BaseException:
            self.run(self._shut())
            self._loop.close()
            raise

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run it on the loop of the connection, and wait."""
        if self._closed:
            work.close()
            raise StorageError(coded("engine.closed"), path=self.name)
        try:
            return self._loop.run(work)
        except LoopClosed:
            raise StorageError(coded("engine.closed"), path=self.name) from None

    def loop_call(self, call: Callable[[], object]) -> None:
        self._loop.loop.call_soon_threadsafe(call)

    def loop_time(self) -> float:
        return self._loop.loop.time()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def name(self) -> str:
        return f"{self.address.servers}/{self.address.bucket}"

    async def _open(self) -> None:
        await (self.connection.connect() if self._server is None else self._start(self._server))
        await self.bucket.open()
        self.connection.reconnected = self.bucket.refollow

    async def _start(self, server: OwnServer) -> None:
        """Connect to the server of our own: the process that started it may have ended a moment ago."""
        end = self.loop_time() + START_S
        while True:
            self.address = self.connection.address = server.ensure(self.address)
            try:
                return await self.connection.connect()
            except MissingRequirement as error:
                if error.code not in ("ENGINE_UNREACHABLE", "ENGINE_LOGIN"):  # another one has its port for a moment
                    raise
                if self.loop_time() > end:
                    raise server.failure() from None
            await asyncio.sleep(0.02)

    def _revive(self) -> None:
        """The connection broke. On the loop: a child process ends with the thread that started it."""
        if self._server is not None:
            with suppress(MissingRequirement):
                self._server.ensure(self.address)

    def close(self) -> None:
        if self._closed:
            return
        if self._files is not None:
            if self._is_free():
                with suppress(WorldError):
                    self._files.sync()
            self._files.close()
        for lease in self._leases.all():
            with suppress(StorageError):
                lease.release()
        self._closed = True  # first: a thread that waits at a watch writes nothing more when it is woken
        for watch in self.bucket.index.watches():
            watch.wake()
        self._loop.run(self._shut())
        self._loop.close()

    async def _shut(self) -> None:
        for timer in self._expiries.values():
            timer.cancel()
        await self.bucket.close()
        await self.connection.close()
        if self._server is not None:
            self._server.close()

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, key: str) -> StoredValue | None:
        encode_key(key, op="read")
        self.bucket.index.demand_file(key, "read")
        found = self.run(self._writer.read(key))
        return None if found is None else StoredValue(found[1], head_of(found[0], whole=True).revision or of(found[1]))

    def probe(self, key: str) -> str | None:
        encode_key(key, op="stat")
        return self.bucket.index.token(key)

    def list(self, prefix: str) -> list[str]:
        if prefix:
            encode_key(prefix, op="list")
        self.run(self.bucket.catch_up())
        return self.bucket.index.names(prefix)

    def stored(self, key: str) -> StoredHead | None:
        head = self.bucket.index.head(key)
        return None if head.revision is None else StoredHead(head.revision, head.size)

    def all_keys(self) -> Sequence[str]:
        self.run(self.bucket.catch_up())
        return self.bucket.index.keys("")

    # -- writing ---------------------------------------------------------------------------------------------------

    def put(self, key: str, data: bytes, expect: Expected = ANY, *, durable: bool = True) -> str:
        encode_key(key, op="write")
        self.bucket.index.demand_file(key, "write")
        return self.run(self._writer.put(key, bytes(data), expect))

    def put_many(self, items: Iterable[tuple[str, bytes]]) -> Sequence[str | None]:
        given = list(items)
        for key, _ in given:
            encode_key(key, op="write")
            self.bucket.index.demand_file(key, "write")
        return self.run(self._writer.put_many(given))

    def append(self, key: str, data: bytes, *, durable: bool = True) -> None:
        encode_key(key, op="append")
        self.bucket.index.demand_file(key, "append")
        self.run(self._writer.append(key, bytes(data)))

    def touch(self, key: str) -> None:
        self.append(key, b"")

    def delete(self, key: str, expect: Expected = ANY, *, durable: bool = True) -> None:
        encode_key(key, op="delete")
        self.bucket.index.demand_file(key, "delete")
        self.run(self._writer.delete(key, expect))

    # -- directories -----------------------------------------------------------------------------------------------

    def mkdir(self, prefix: str) -> None:
        encode_key(prefix, op="mkdir")
        index = self.bucket.index
        if index.is_directory(prefix) or index.head(prefix).live:
            raise Exists(coded("tree.exists"), path=prefix, op="mkdir")
        index.demand_file(prefix, "mkdir")
        self.run(self._writer.mark(prefix))

    def rmdir(self, prefix: str) -> None:
        super().rmdir(prefix)
        if self.bucket.index.mark(prefix).live:
            self.run(self._writer.unmark(prefix))

    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        check_path(source, op="move")
        encode_key(source, op="move")
        encode_key(target, op="move")
        index = self.bucket.index
        if target.startswith(f"{source}/"):
            raise BadInput(coded("tree.into_itself"), path=target, op="move")
        if index.is_directory(target) or index.head(target).live:
            raise Exists(coded("tree.exists"), path=target, op="move")
        if not index.is_directory(source):
            return self.run(self._writer.move(source, target))
        index.demand_file(target, "move")
        self.run(self.bucket.catch_up())
        for mark in index.marked(source):
            self.run(self._writer.mark(target + mark[len(source) :]))
        for key in index.keys(source):
            self.run(self._writer.move(key, target + key[len(source) :]))
        for mark in index.marked(source):
            self.run(self._writer.unmark(mark))

    # -- watches and leases ----------------------------------------------------------------------------------------

    def watch(self, *prefixes: str, arrivals: Collection[str] = ()) -> StoreWatch:
        for prefix in prefixes:
            if prefix:
                encode_key(prefix, op="watch")
        watch = self.bucket.index.watch(prefixes)
        for lease in self._leases.kernels:
            if lease.lost is not None:
                watch.fail(lease.lost)
        return watch

    def lease(self, name: str, purpose: str = "", *, clock: Clock | None = None) -> NatsLease:
        encode_key(name, op="lease")
        return NatsLease(self, name, purpose, clock or self.clock)

    def host_lease(self, name: str, purpose: str, host: str) -> HostLease:
        """As `lease`, of all processes of a host: they share it."""
        encode_key(name, op="lease")
        return HostLease(self, name, purpose, self.clock, host)

    def findings(self) -> Sequence[Finding]:
        """What `paos check` says of the server."""
        own = self._server is not None
        return [*server_findings(self.address, self.connection.version, self.bucket.replicas, own=own)]

    def follow_files(self, files: WorkspaceFiles) -> None:
        """Keep the files of the workspace: now, and when this store is closed, unless a kernel does; as long as this
        store has the kernel's lease, all the time."""
        self._files = files
        if self._is_free():
            files.sync()

    def _is_free(self) -> bool:
        return not self._leases.kernels and self.lease(KERNEL_LEASE).holder() is None

    def lease_taken(self, lease: NatsLease) -> None:
        self._leases.add(lease)
        if lease.name == KERNEL_LEASE and self._files is not None:
            self._files.start()

    def lease_freed(self, lease: NatsLease) -> None:
        if lease.name == KERNEL_LEASE and self._files is not None:
            self._files.stop()
        self._leases.remove(lease)

    def lease_lost(self, lease: NatsLease) -> None:
        """Nothing more is written, and every watch says so to its reader."""
        if is_kernel_lease(lease.name) and lease.lost is not None:
            for watch in self.bucket.index.watches():
                watch.fail(lease.lost)

    def lease_heard(self, name: str) -> datetime | None:
        """When its holder renewed it last, as this process heard of it, by its own clock."""
        return self._heard.get(name)

    def _lease_message(self, key: str, live: bool) -> None:
        """On the loop: it was taken or renewed, or else freed."""
        if live:
            self._heard[key] = self.clock.now()
        self._lease_changed(key, live)

    def _lease_changed(self, key: str, taken: bool) -> None:
        """On the loop. A lease that is not renewed expires without a message: it is asked for then."""
        if (timer := self._expiries.pop(key, None)) is not None:
            timer.cancel()
        if taken:
            loop = self._loop.loop
            self._expiries[key] = loop.call_later(self.ttl_s + 0.5, lambda: loop.create_task(self._ask_lease(key)))
        else:
            self.bucket.index.touched(key)

    async def _ask_lease(self, key: str) -> None:
        try:
            found = await self.bucket.last(self.bucket.lease_subject(key), path=key, op="lease")
        except StorageError:  # no answer: asked once more when the lease would have ended again
            return self._lease_changed(key, True)
        self._lease_changed(key, found is not None and is_live(found.headers))
