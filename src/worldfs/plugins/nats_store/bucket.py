"""A bucket on the server: its streams, the messages of its keys, and the index that a watch of it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from worldfs.base.errors import BadInput, StorageError
from worldfs.base.json_values import as_int, as_object
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.storage.revision import of

from .bucket_index import BucketIndex, KeyHead
from .bucket_watch import BEAT_S, BucketWatch
from .jetstream_connection import PATIENCE_S, JetStreamConnection, RefusedRequest, StreamMessage
from .key_codec import DIRECTORY, LEASE, decode_key, encode_key
from .stream_demands import demand_stream
from .write_history import following

OPERATION: Final = "KV-Operation"
MARKER: Final = "Nats-Marker-Reason"
TTL: Final = "Nats-TTL"
REVISION: Final = "Paos-Revision"  # the hash of the whole content
SIZE: Final = "Paos-Size"
GONE: Final = {OPERATION: "DEL", TTL: "1m"}  # of a deleted key; a watch that was away for longer reads all anew
NOT_FOUND: Final = 10059  # JSStreamNotFoundErr
ALONE: Final = 10074  # JSStreamReplicasNotSupportedErr: it belongs to no group
IN_USE: Final = 10058  # JSStreamNameExistErr: with another configuration
RETRY_S: Final = 0.2
PART: Final = 512 * 1024  # bytes of a message; the server takes 1 MiB, headers included


class Bucket:
    """Its coroutines run on the connection's loop."""

    def __init__(self, connection: JetStreamConnection, leases: Callable[[str, bool], None]) -> None:
        """`leases` is told of the key of each lease that was taken (True) or freed."""
        self.connection, self._leases = connection, leases
        self.name = connection.address.bucket
        self.stream, self.parts = f"KV_{self.name}", f"PARTS_{self.name}"
        below = connection.address.below
        self._subjects = f"$KV.{self.name}."
        self.prefix = f"{self._subjects}{encode_key(below)}." if below else self._subjects
        self.part_prefix = f"$PARTS.{self.name}."
        self.replicas = connection.address.replicas
        self.index = BucketIndex()
        self._seen = 0  # the index has everything up to this sequence
        self._newest = 0  # the highest sequence of which this client knows that it was acknowledged
        self._waiting: list[asyncio.Future[None]] = []  # for `_seen` to grow
        self._watch: BucketWatch | None = None
        self._opening = asyncio.Lock()

    # -- streams ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Make what is missing, and read the index."""
        common = {"storage": "file", "retention": "limits", "num_replicas": self.replicas, "discard": "new"}
        found = await self._stream(
            self.stream,
            {
                **common,
                "subjects": [f"{self._subjects}>"],
                "max_msgs_per_subject": 1,
                "allow_rollup_hdrs": True,
                "deny_delete": True,
                "allow_direct": True,
                "allow_msg_ttl": True,
            },
        )
        self.replicas = as_int(found.get("num_replicas"), 1)
        await self._stream(
            self.parts,
            {**common, "subjects": [f"{self.part_prefix}>"], "max_msgs_per_subject": 1, "allow_direct": True},
        )
        await self.follow()

    async def _stream(self, name: str, config: Mapping[str, object]) -> Json:
        ask = self.connection.ask
        try:
            found = await ask(f"STREAM.INFO.{name}", op="open a store", path=self.name)
        except RefusedRequest as error:
            if error.number != NOT_FOUND:
                raise
            try:
                found = await ask(f"STREAM.CREATE.{name}", {"name": name, **config}, op="open a store", path=self.name)
            except RefusedRequest as late:
                if late.number == ALONE:
                    found_alone, fix = coded("engine.no_group", n=self.replicas), coded("engine.set_one")
                    expected = coded("engine.a_group", n=self.replicas)
                    raise BadInput(found_alone, op="open a store", path=self.name, expected=expected, fix=fix) from late
                if late.number != IN_USE:  # else another process made it just now
                    raise
                found = await ask(f"STREAM.INFO.{name}", op="open a store", path=self.name)
        own = as_object(found["config"])
        demand_stream(self.name, name, own, config)
        return own

    async def _last_seq(self, *, stored: bool = False) -> int:
        """Of the last message that the watch will see, 0: there is none. `stored`: of one that has not expired."""
        if stored or self.prefix != self._subjects:
            last = await self.connection.last_message(self.stream, f"{self.prefix}>", direct=False)
            return 0 if last is None else last.seq
        state = as_object((await self.connection.ask(f"STREAM.INFO.{self.stream}", path=self.name)).get("state"))
        return as_int(state.get("last_seq")) if state.get("messages") else 0

    # -- messages --------------------------------------------------------------------------------------------------

    def subject(self, key: str, op: str = "") -> str:
        return self.prefix + encode_key(key, op=op)

    def mark_subject(self, prefix: str, op: str = "") -> str:
        return f"{self.subject(prefix, op)}.{DIRECTORY}"

    def lease_subject(self, key: str) -> str:
        return f"{self.prefix}{LEASE}.{encode_key(key, op='lease')}"

    async def last(self, subject: str, *, path: str, op: str = "read") -> StreamMessage | None:
        """The last message of a subject. In a group, of its leader: another server may be behind."""
        return await self.connection.last_message(self.stream, subject, direct=self.replicas == 1, path=path, op=op)

    async def last_of(self, key: str, op: str = "read") -> StreamMessage | None:
        """The last message of a key. What was a group's leader may answer before it knows that it is none any more: an
        answer from before what the index has is no answer. Raises `StorageError` if there is no other one."""
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE_S
        while True:
            found = await self.last(self.subject(key, op), path=key, op=op)
            known = self.index.head(key)
            if self.replicas == 1 or (found.seq >= known.seq if found is not None else not known.live):
                return found
            if loop.time() > end:
                seq = 0 if found is None else found.seq
                said = coded("engine.behind", server=self.connection.address.servers, seq=seq, newest=known.seq)
                raise StorageError(said, path=key, op=op, fix=coded("engine.start_server"))
            await asyncio.sleep(RETRY_S)

    def acknowledged(self, seq: int) -> None:
        """A message was stored: whatever is listed from now on has everything before it."""
        self._newest = max(self._newest, seq)

    async def refresh(self, key: str, op: str) -> KeyHead:
        """Ask the server for the head of a key, when a write found another one than expected."""
        found = await self.last_of(key, op)
        if found is None:
            self.index.forget(key)
        else:
            self.index.apply(key, head_of(found, whole=True))
        return self.index.head(key)

    async def store_part(self, name: str, data: bytes, *, path: str) -> None:
        await self.connection.publish(self.part_prefix + name, data, {}, path=path)

    async def load_part(self, name: str, *, path: str) -> bytes | None:
        found = await self.connection.last_message(
            self.parts, self.part_prefix + name, direct=self.replicas == 1, path=path
        )
        return None if found is None else found.data

    async def drop_part(self, name: str) -> None:
        with suppress(StorageError):  # waste, which costs room and nothing else
            await self.connection.ask(f"STREAM.PURGE.{self.parts}", {"filter": self.part_prefix + name})

    # -- the watch -------------------------------------------------------------------------------------------------

    async def follow(self, unless: int = 0, lost: BucketWatch | None = None) -> None:
        """Watch the whole bucket from its present state on; called again after each new connection.

        `unless`: the index has it meanwhile. `lost`: only if no other watch was opened after this one. Raises
        `StorageError`.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE_S  # of all that wait for the same server
        async with self._opening:
            if lost is not None and self._watch not in (None, lost):
                return None
            while not unless or self._seen < unless:
                try:
                    return await self._read_all()
                except StorageError as error:  # the next watch may be on another server
                    if isinstance(error, RefusedRequest) or loop.time() > end or self.connection.client.is_closed:
                        await self._unwatch()  # half read, it would never be finished
                        raise
                await asyncio.sleep(RETRY_S)

    async def _read_all(self) -> None:
        """A key that is not found is gone: so in a group nothing is taken from a server that is behind what this client
        knows to be acknowledged."""
        await self._unwatch()
        several = self.replicas > 1
        last = await self._last_seq(stored=several)
        needed = max(last, self._newest) if several else last
        self.index.begin()
        self._watch = BucketWatch(
            self.connection, self.stream, f"{self.prefix}>",
            take=self.take, reached=self._reached, lost=self._watch_lost,
        )  # fmt: skip
        await self._watch.open()
        if needed:
            await self._watch.reach(needed, of_several=several)
        self.index.finish()
        self._reached(last)

    async def _watch_lost(self, watch: BucketWatch) -> None:
        if watch is self._watch:
            await self.refollow(watch)

    async def refollow(self, lost: BucketWatch | None = None) -> None:
        """After a new connection: a watch of before may be silent, and has missed what happened meanwhile."""
        while self.connection.connected:
            try:
                return await self.follow(lost=lost)
            except StorageError:  # it broke again, or has no leader yet
                await asyncio.sleep(RETRY_S)

    async def catch_up(self) -> None:
        """Wait until the index has everything that was stored before this call; in a group also what this client knows
        to be stored, whatever a server that was its leader says."""
        last = await self._last_seq()
        self.acknowledged(last)
        if self.replicas > 1:
            last = self._newest
        try:
            async with asyncio.timeout(1.5 * BEAT_S):  # if what was stored last has expired, the next beat says so
                while self._seen < last:
                    self._waiting.append(grown := asyncio.get_running_loop().create_future())
                    await grown
        except TimeoutError:
            await self.follow(unless=last)

    async def close(self) -> None:
        await self._unwatch()

    async def _unwatch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            await watch.close()

    def _reached(self, seq: int) -> None:
        self._seen = max(self._seen, seq)
        waiting, self._waiting = self._waiting, []
        for grown in waiting:
            if not grown.done():
                grown.set_result(None)

    def take(self, subject: str, message: StreamMessage) -> None:
        """A message of the bucket, of the watch or of our own: into the index."""
        self.acknowledged(message.seq)
        levels = subject[len(self.prefix) :]
        if levels.startswith(f"{LEASE}."):
            if (key := decode_key(levels[len(LEASE) + 1 :])) is not None:
                self._leases(key, is_live(message.headers))
        elif levels.endswith(f".{DIRECTORY}"):
            if (key := decode_key(levels[: -len(DIRECTORY) - 1])) is not None:
                self.index.apply_mark(key, head_of(message))
        elif (key := decode_key(levels)) is not None:
            self.index.apply(key, head_of(message))


def is_live(headers: Mapping[str, str]) -> bool:
    """Whether it is a value, and neither a deletion nor the server's mark of an expiry."""
    return OPERATION not in headers and MARKER not in headers


def head_of(message: StreamMessage, *, whole: bool = False) -> KeyHead:
    """`whole`: its content was read too, so that one of a foreign program has a revision."""
    headers, writes = message.headers, following(message.headers, message.seq)
    if not is_live(headers):
        return KeyHead(message.seq, writes=writes)
    size = headers.get(SIZE) or headers.get("Nats-Msg-Size") or str(len(message.data))
    revision = headers.get(REVISION) or (of(message.data) if whole else "")
    return KeyHead(message.seq, revision, int(size), writes)
