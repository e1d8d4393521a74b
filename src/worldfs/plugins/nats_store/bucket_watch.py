"""The watch of a bucket: its messages in order, and every second a sign of life of the server that sends them.

The consumer is in the memory of one server. In a group that one may be behind the others, or die: then another is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error
from nats.nuid import NUID

from worldfs.base.errors import StorageError
from worldfs.base.messages import coded

from .jetstream_connection import PATIENCE_S, REQUEST_S, STATUS, JetStreamConnection, StreamMessage

BEAT_S: Final = 1.0  # between two signs of life of a consumer that has nothing to send
SILENT_S: Final = 2.25 * BEAT_S  # two were missed
BEHIND_S: Final = 5.0  # a server that is behind for longer is left for another one
LAST_CONSUMER: Final = "Nats-Last-Consumer"
LAST_STREAM: Final = "Nats-Last-Stream"
STALLED: Final = "Nats-Consumer-Stalled"
_BEAT: Final = "100"


class BucketWatch:
    """One consumer, from `open` to `close`. Its coroutines run on the connection's loop."""

    def __init__(
        self,
        connection: JetStreamConnection,
        stream: str,
        subjects: str,
        *,
        take: Callable[[str, StreamMessage], None],
        reached: Callable[[int], None],
        lost: Callable[[BucketWatch], Coroutine[object, object, None]],
    ) -> None:
        """`take` is given each message, `reached` the sequence up to which all were given. `lost` is run once it is no
        watch any more: messages were missed, or its server is silent.
        """
        self._connection, self._stream, self._subjects = connection, stream, subjects
        self._take, self._reached, self._lost = take, reached, lost
        self.seq = 0  # of the stream: everything up to it was given
        self._count = 0  # messages that were given
        self._drained = False  # its server had no more to send
        self._ended = False  # it is no watch any more
        self._news = asyncio.Event()
        self._heard_at = 0.0
        self._subscription: Subscription | None = None
        self._guard: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Raises `StorageError` where the server that shall have it does not answer: the next one may be on another."""
        client, name = self._connection.client, NUID().next().decode()
        inbox = client.new_inbox()
        try:
            self._subscription = await client.subscribe(
                inbox, cb=self._hear, pending_msgs_limit=-1, pending_bytes_limit=-1
            )
        except (TimeoutError, Error, OSError) as error:
            raise self._connection.silent(self._stream, "watch") from error
        config = {
            "name": name,
            "deliver_subject": inbox,
            "deliver_policy": "last_per_subject",
            "filter_subject": self._subjects,
            "ack_policy": "none",
            "max_deliver": 1,
            "headers_only": True,
            "flow_control": True,
            "idle_heartbeat": int(BEAT_S * 1e9),
            "num_replicas": 1,
            "mem_storage": True,
        }
        body = {"stream_name": self._stream, "config": config}
        create = f"CONSUMER.CREATE.{self._stream}.{name}"
        await self._connection.ask(create, body, path=self._stream, op="watch", patience=REQUEST_S)
        self._heard_at = self._now()
        self._guard = asyncio.ensure_future(self._mind_beats())

    async def reach(self, seq: int, *, of_several: bool) -> None:
        """Wait until everything up to this sequence was given; where there is one server only, or until it has no more.

        What the server says is pending may never become none where keys are overwritten meanwhile; and one that is
        behind the others has nothing pending although it lacks what they have acknowledged. Raises `StorageError`, also
        at once when the watch ends.
        """
        try:
            async with asyncio.timeout(BEHIND_S if of_several else PATIENCE_S):
                while self.seq < seq and (of_several or not self._drained):
                    if self._ended:
                        raise self._behind(seq)
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise self._behind(seq) from None

    def _behind(self, seq: int) -> StorageError:
        said = coded("engine.behind", server=self._connection.address.servers, seq=self.seq, newest=seq)
        return StorageError(said, path=self._stream, op="watch", fix=coded("engine.start_server"))

    async def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.cancel()
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(Exception):  # it belongs to a connection of before
                await subscription.unsubscribe()

    async def _hear(self, message: Msg) -> None:
        self._heard_at = self._now()
        headers = message.headers or {}
        if STATUS not in headers:
            seq, count, pending = _numbers(message.reply)
            if count != self._count + 1:
                return self._end()
            self._count = count
            self._take(message.subject, StreamMessage(seq, headers, b""))
            self._reach(seq, drained=not pending)
        elif answer := message.reply or headers.get(STALLED):  # it waits for us to say that we keep up
            with suppress(Error, OSError):
                await self._connection.client.publish(answer)
        elif headers[STATUS] != _BEAT or int(headers.get(LAST_CONSUMER, -1)) != self._count:
            self._end()
        else:
            self._reach(int(headers[LAST_STREAM]), drained=True)

    def _reach(self, seq: int, *, drained: bool) -> None:
        self.seq, self._drained = max(self.seq, seq), self._drained or drained
        self._news.set()
        self._reached(self.seq)

    async def _mind_beats(self) -> None:
        """A server that answers, and sends nothing to this watch, is asked for another watch; one that is silent is
        left."""
        while True:
            await asyncio.sleep(BEAT_S / 2)
            if self._is_silent() and self._connection.connected:
                if not await self._connection.answers(f"STREAM.INFO.{self._stream}", BEAT_S):
                    self._connection.leave()
                elif self._is_silent():  # what had been on its way has come before that answer
                    return self._end()

    def _is_silent(self) -> bool:
        return self._now() - self._heard_at > SILENT_S

    def _end(self) -> None:
        if self._subscription is not None and not self._ended:
            self._ended = True
            self._news.set()
            self._connection.spawn(self._lost(self))

    def _now(self) -> float:
        return self._connection.loop.loop.time()


def _numbers(reply: str) -> tuple[int, int, int]:
    """A message's sequence in the stream, that in its consumer, and how many are still to come, of
    $JS.ACK[.domain.account].stream.consumer.delivered.seq.n.time.pending[.token]"""
    fields = reply.split(".")
    at = 5 if len(fields) < 11 else 7
    return int(fields[at]), int(fields[at + 1]), int(fields[at + 3])
