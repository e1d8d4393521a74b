"""A connection to JetStream whose requests are repeated until they are answered, or for `PATIENCE_S`."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from nats.aio.client import Server
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from worldfs.base.errors import MissingRequirement, StorageError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .loop_thread import LoopThread
from .nats_client import NatsClient, NotEncrypted, is_login_refusal
from .store_address import StoreAddress
from .write_history import AFTER, MESSAGE_ID, was_stored

OLDEST: Final = (2, 12, 3)  # before it, streams could be lost when a server was killed or its group changed
PATIENCE_S: Final = 20.0  # a group has a new leader after 5 to 7 s
CONNECT_S: Final = 5.0
CLOSE_S: Final = 1.0
REQUEST_S: Final = 3.0  # then it is sent again, to another server if there is one; a write is known by its id
UNDECIDED_S: Final = 10.0  # a server that decides nothing for longer is left: others may have a leader that does
RETRY_S: Final = (0.02, 1.0)  # between two attempts, doubled each time, with jitter
WRONG_SEQUENCE: Final = 10071  # JSStreamWrongLastSequenceErr
THE_SAME: Final = 10158  # of a group: this message has arrived before, and is not decided
IN_FLIGHT: Final = frozenset({THE_SAME, 10164})  # or another of the subject is not
NO_MESSAGE: Final = 10037  # JSNoMessageFoundErr
UNAVAILABLE: Final = 503  # a group without a leader, or a server that is cut off from it
FULL: Final = frozenset({10023, 10047, 10054, 10077, 10110})  # resources, storage, message size, maximum bytes
KEYS: Final = "$KV."  # a leaf node lets such subjects through only as part of its domain's API
STATUS: Final = "Status"
EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"
EXPECTED_OF: Final = "Nats-Expected-Last-Subject-Sequence-Subject"


class StreamMessage(NamedTuple):
    """One message of a stream."""

    seq: int
    headers: Mapping[str, str]
    data: bytes


class WrongSequence(Exception):
    """The subject's last message is another than the one that was expected."""


class RefusedRequest(StorageError):
    """The server answered with an error. `number`: its own."""

    def __init__(self, error: Mapping[str, object], path: str, op: str) -> None:
        number = error.get("err_code")
        self.number = number if isinstance(number, int) else 0
        full = _is_full(error)
        super().__init__(
            coded("engine.full") if full else coded("engine.refused", why=str(error.get("description", ""))),
            path=path,
            op=op,
            fix=coded("engine.make_room") if full else "",
            code="ENOSPC" if full else "BROKEN",
        )


class JetStreamConnection:
    """Its coroutines run on `loop`. `reconnected` is awaited after each new connection of a broken one.

    `revive` starts a server of our own again, where there is one.
    """

    def __init__(self, address: StoreAddress, loop: LoopThread, revive: Callable[[], object] | None = None) -> None:
        self.address, self.loop, self._revive = address, loop, revive
        self.api = f"$JS.{address.domain}.API" if address.domain else "$JS.API"
        self.version = ""
        self.reconnected: Callable[[], Awaitable[None]] | None = None
        self._client: NatsClient | None = None
        self._up = asyncio.Event()
        self._delay = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0  # of the first connection
        self._refusal: MissingRequirement | None = None  # what a server said, where it is more than that none answers
        self._since = 0.0  # of this connection
        self._left = ""  # the silent server that was left last
        self._others = 0  # attempts in which another one is tried first
        self._closed = False

    @property
    def client(self) -> NatsClient:
        assert self._client is not None
        return self._client

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def connect(self) -> None:
        """Raises `MissingRequirement` for no server, one that refuses the login or offers no TLS, is too old, or is
        without JetStream."""
        client, where = NatsClient(), self.address
        self._failures, self._refusal = 0, None
        try:
            await asyncio.wait_for(
                client.connect(
                    where.urls,
                    name="paos",
                    tls=where.tls,
                    user=where.user or None,
                    password=where.password or None,
                    token=where.token or None,
                    user_credentials=where.creds or None,
                    error_cb=partial(self._failed, client),
                    disconnected_cb=self._lost,
                    reconnected_cb=self._back,
                    reconnect_to_server_handler=self._next_server,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=0,
                    connect_timeout=2,
                    ping_interval=10,
                    allow_reconnect=True,
                ),
                CONNECT_S * len(where.urls),
            )
        except (TimeoutError, Error, OSError) as error:
            await _close(client)
            raise self._refusal or unreachable(where.servers, str(error) or type(error).__name__) from None
        self._client = client
        self._since = _now()
        self._up.set()
        try:
            self._demand_server()
        except MissingRequirement:
            await self.close()
            raise

    async def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        if self._client is not None:
            await _close(self._client)

    async def ask(
        self, name: str, body: object = None, *, path: str = "", op: str = "ask", patience: float | None = None
    ) -> Json:
        """A request of the JetStream API; its answer. Raises `RefusedRequest`, and `StorageError` for none."""
        data = b"" if body is None else json.dumps(body).encode()
        begun = _now()
        end = begun + (patience or PATIENCE_S)
        while True:
            answer, _ = await self._request(f"{self.api}.{name}", data, None, end=end, path=path, op=op)
            found = as_object(parse_json(answer.data))
            if (error := found.get("error")) is None:
                return found
            await self._unavailable(as_object(error), begun, end, path=path, op=op)

    async def _unavailable(self, error: Mapping[str, object], begun: float, end: float, *, path: str, op: str) -> None:
        """Wait for the next attempt, where a later one or another server may have another answer. Else raises."""
        undecided = error.get("err_code") in IN_FLIGHT  # for good, where the majority of a group is missing
        if not undecided and (error.get("code") != UNAVAILABLE or _is_full(error)):
            raise RefusedRequest(error, path, op)
        if _now() >= end:
            raise self.silent(path, op)
        if not undecided or _now() - begun > UNDECIDED_S:
            self._missed(begun)
        await asyncio.sleep((RETRY_S[0] if undecided else RETRY_S[1]) * _jitter())

    async def answers(self, name: str, seconds: float) -> bool:
        """Whether this connection's server answers a request of the JetStream API within that time."""
        try:
            await self.client.request(f"{self.api}.{name}", b"", seconds)
        except (TimeoutError, Error, OSError):
            return False
        return True

    def leave(self) -> None:
        """Go to another server, if there is one: this one is silent."""
        client = self._client
        if client is not None and len(client.server_pool) > 1 and (url := client.connected_url) is not None:
            self._left, self._others = url.netloc, len(client.server_pool) - 1
            client.break_off()
            self.spawn(client.force_reconnect())

    def _missed(self, begun: float) -> None:
        """A request was not answered since then."""
        self.client.go_on_reconnecting()
        if _now() - max(begun, self._since) > 0.9 * REQUEST_S:
            self.leave()

    async def publish(self, subject: str, data: bytes, headers: dict[str, str], *, path: str, op: str = "write") -> int:
        """Store a message; its sequence, when it is durable. Raises `WrongSequence`, `RefusedRequest`, `StorageError`.

        An attempt may have been stored although its answer was lost: the next one is then known by the message's id. If
        it was replaced meanwhile, the sequence is one before its successor's.
        """
        headers[MESSAGE_ID] = secrets.token_urlsafe(9)
        to = f"{self.api}.{subject}" if self.address.domain and subject.startswith(KEYS) else subject
        first = True
        begun = _now()
        end = begun + PATIENCE_S
        while True:
            answer, again = await self._request(to, data, headers, end=end, path=path, op=op)
            first = first and not again
            found = as_object(parse_json(answer.data))
            error = as_object(found.get("error") or {})
            if not error:
                return as_int(found["seq"])
            number = error.get("err_code")
            first = first and number != THE_SAME
            try:
                await self._unavailable(error, begun, end, path=path, op=op)
            except RefusedRequest:
                if not first and (own := await self._stored_as(subject, headers, path=path, op=op)):
                    return own
                if number == WRONG_SEQUENCE:
                    raise WrongSequence(subject) from None
                raise

    async def _stored_as(self, subject: str, sent: Mapping[str, str], *, path: str, op: str) -> int:
        """The sequence of a message, or one before its successor's; 0: it was not stored. Raises `StorageError` where
        that is not known."""
        last = await self.last_message(f"KV_{self.address.bucket}", subject, direct=False, path=path, op=op)
        if last is None:
            return 0
        if last.headers.get(MESSAGE_ID) == sent[MESSAGE_ID]:
            return last.seq
        stored = was_stored(sent, last.headers, last.seq) if AFTER in sent else False
        if stored is None and EXPECTED in sent and EXPECTED_OF not in sent:  # others replace whatever is there
            raise StorageError(coded("engine.unknown"), path=path, op=op, fix=coded("engine.read_again"))
        return last.seq - 1 if stored else 0

    async def last_message(
        self, stream: str, subject: str, *, direct: bool, path: str = "", op: str = "read"
    ) -> StreamMessage | None:
        """The last message of a subject. `direct`: of any server that has the stream; else of its leader."""
        if direct:
            answer = await self.request(f"{self.api}.DIRECT.GET.{stream}.{subject}", path=path, op=op)
            headers = answer.headers or {}
            if STATUS in headers:
                return None
            return StreamMessage(int(headers["Nats-Sequence"]), headers, answer.data)
        try:
            found = await self.ask(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject}, path=path, op=op)
        except RefusedRequest as error:
            if error.number == NO_MESSAGE:
                return None
            raise
        message = as_object(found["message"])
        lines = base64.b64decode(as_text(message.get("hdrs"))).decode().split("\r\n")[1:]
        headers = dict(line.split(": ", 1) for line in lines if ": " in line)
        return StreamMessage(as_int(message["seq"]), headers, base64.b64decode(as_text(message.get("data"))))

    async def request(self, subject: str, data: bytes = b"", *, path: str = "", op: str = "read") -> Msg:
        """The answer to a request that may be sent twice."""
        answer, _ = await self._request(subject, data, None, end=_now() + PATIENCE_S, path=path, op=op)
        return answer

    async def _request(
        self, subject: str, data: bytes, headers: dict[str, str] | None, *, end: float, path: str, op: str
    ) -> tuple[Msg, bool]:
        """The answer, and whether an attempt before it may have arrived."""
        attempt, begun, arrived = 0, _now(), False
        while True:
            sent = False
            try:
                if not self._up.is_set():
                    async with asyncio.timeout(max(0.0, min(REQUEST_S, end - _now()))):
                        await self._up.wait()
                sent = True
                return await self.client.request(subject, data, REQUEST_S, headers=headers), arrived
            except (TimeoutError, Error, OSError) as error:
                arrived = arrived or (sent and not isinstance(error, NoRespondersError))
                if _now() >= end or self.client.is_closed:
                    raise self.silent(path, op) from error
            self._missed(begun)
            attempt += 1
            await asyncio.sleep(min(RETRY_S[1], RETRY_S[0] * 2**attempt) * _jitter())

    def silent(self, path: str, op: str) -> StorageError:
        if self._closed:
            return StorageError(coded("engine.closed"), path=path, op=op)
        if (refusal := self._refusal) is not None:
            return StorageError(refusal.found, path=path, op=op, fix=refusal.fix, code=refusal.code)
        said = coded("engine.silent", server=self.address.servers, seconds=PATIENCE_S)
        return StorageError(said, path=path, op=op, fix=coded("engine.start_server"))

    def _demand_server(self) -> None:
        self.version = self.client.server_version
        fix = coded("engine.get_server", oldest=".".join(map(str, OLDEST)))
        if version_of(self.version) < OLDEST:
            found = coded("engine.too_old", server=self.address.servers, version=self.version)
            expected = coded("engine.at_least", oldest=".".join(map(str, OLDEST)))
            raise MissingRequirement(found, op="open a store", expected=expected, fix=fix, code="ENGINE_VERSION")
        if not self.client.has_jetstream:
            found = coded("engine.no_jetstream", server=self.address.servers)
            raise MissingRequirement(found, op="open a store", fix=coded("engine.enable"), code="ENGINE_JETSTREAM")

    async def _failed(self, client: NatsClient, error: Exception) -> None:
        """The client would retry the first connection without end: each server is tried once. Later each request
        reports its own failure."""
        if not client.is_connected:
            client.break_off()  # of the attempt that failed: the client forgets it
            self._refusal = refusal_of(self.address, error) or self._refusal
        if self._client is None:
            self._failures += 1
            if self._failures >= len(self.address.urls):
                raise error

    async def _lost(self) -> None:
        """What was asked is asked again at once, and not when its time is up."""
        self._up.clear()
        if self._client is not None:
            self._client.end_requests()

    async def _back(self) -> None:
        self._delay, self._others, self._since, self._refusal = 0.0, 0, _now(), None
        self._up.set()
        if self.reconnected is not None:
            self.spawn(self.reconnected())

    def _next_server(self, servers: list[Server], info: Json) -> tuple[Server | None, float]:
        """The next of the known servers, after a time that grows with each failure. A silent one takes connections, so
        it is tried again after all others."""
        if self._revive is not None:  # at each attempt: a connection breaks before its server's process has ended
            self._revive()
        delay, self._delay = self._delay, min(RETRY_S[1], max(RETRY_S[0], self._delay * 2))
        if self._others > 0:
            self._others -= 1
            servers = [server for server in servers if server.uri.netloc != self._left] or servers
        return min(servers, key=lambda server: server.reconnects), delay * _jitter()

    def spawn(self, work: Awaitable[None]) -> None:
        """Run it in the background until `close`."""
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _close(client: NatsClient) -> None:
    """It may be lost already; without a bound, closing one whose TLS was refused would never return."""
    with suppress(TimeoutError, Error, OSError):
        async with asyncio.timeout(CLOSE_S):
            await client.close()


def _is_full(error: Mapping[str, object]) -> bool:
    """And not that of a server which is just being stopped, and has closed what it stores."""
    return error.get("err_code") in FULL and "closed" not in str(error.get("description"))


def _jitter() -> float:
    return 0.5 + random.random()  # noqa: S311 # clients that wait for one server shall not ask it at once


def _now() -> float:
    return asyncio.get_running_loop().time()


def version_of(text: str) -> tuple[int, ...]:
    """(2, 12, 3) of "2.12.3-RC.1"; () of what is no version."""
    numbers = text.partition("-")[0].split(".")
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else ()


def unreachable(server: str, why: str) -> MissingRequirement:
    return MissingRequirement(
        coded("engine.unreachable", server=server, why=why),
        op="open a store",
        fix=coded("engine.start_server"),
        code="ENGINE_UNREACHABLE",
    )


def refusal_of(address: StoreAddress, error: Exception) -> MissingRequirement | None:
    """What a server that answers refuses; None: another error."""
    if isinstance(error, NotEncrypted):
        found, fix, code = coded("engine.no_tls", server=address.servers), coded("engine.offer_tls"), "ENGINE_NO_TLS"
    elif is_login_refusal(error):
        found, fix, code = coded("engine.login", server=address.servers), coded("engine.right_login"), "ENGINE_LOGIN"
    else:
        return None
    return MissingRequirement(found, op="open a store", fix=fix, code=code)
