"""A connection to JetStream whose requests are repeated until they are answered, or for `PATIENCE_S`."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from nats.aio.client import Client, Server
from nats.aio.msg import Msg
from nats.errors import ConnectionReconnectingError, Error

from worldfs.base.errors import MissingRequirement, StorageError
from worldfs.base.json_values import as_int, as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .loop_thread import LoopThread
from .store_address import StoreAddress

OLDEST: Final = (2, 12, 3)  # before it, streams could be lost when a server was killed or its group changed
PATIENCE_S: Final = 20.0  # a group has a new leader after 5 to 7 s
CONNECT_S: Final = 5.0
CLOSE_S: Final = 1.0
REQUEST_S: Final = 3.0  # then it is sent again; a write is known by its id
RETRY_S: Final = (0.02, 1.0)  # between two attempts, doubled each time, with jitter
WRONG_SEQUENCE: Final = 10071  # JSStreamWrongLastSequenceErr
NO_MESSAGE: Final = 10037  # JSNoMessageFoundErr
FULL: Final = frozenset({10023, 10047, 10054, 10077, 10110})  # resources, storage, message size, maximum bytes
STATUS: Final = "Status"
MESSAGE_ID: Final = "Nats-Msg-Id"
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
        full = self.number in FULL
        super().__init__(
            coded("engine.full") if full else coded("engine.refused", why=str(error.get("description", ""))),
            path=path,
            op=op,
            fix=coded("engine.make_room") if full else "",
            code="ENOSPC" if full else "BROKEN",
        )


class JetStreamConnection:
    """Its coroutines run on `loop`. `reconnected` is awaited after each new connection of a broken one.

    `revive` makes a server of our own anew, where there is one.
    """

    def __init__(self, address: StoreAddress, loop: LoopThread, revive: Callable[[], object] | None = None) -> None:
        self.address, self.loop, self._revive = address, loop, revive
        self.api = f"$JS.{address.domain}.API" if address.domain else "$JS.API"
        self.version = ""
        self.reconnected: Callable[[], Awaitable[None]] | None = None
        self._client: Client | None = None
        self._up = asyncio.Event()
        self._delay = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def connect(self) -> None:
        """Raises `MissingRequirement` for no server, one that is too old, or one without JetStream."""
        client, where = Client(), self.address
        try:
            await asyncio.wait_for(
                client.connect(
                    where.servers,
                    name="paos",
                    tls=where.tls,
                    user=where.user or None,
                    password=where.password or None,
                    token=where.token or None,
                    user_credentials=where.creds or None,
                    error_cb=self._failed,
                    disconnected_cb=self._lost,
                    reconnected_cb=self._back,
                    reconnect_to_server_handler=self._next_server,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=0,
                    connect_timeout=2,
                    ping_interval=10,
                    allow_reconnect=True,
                ),
                CONNECT_S,
            )
        except (TimeoutError, Error, OSError) as error:
            await _close(client)
            raise unreachable(where.servers, str(error) or type(error).__name__) from None
        self._client = client
        self._up.set()
        try:
            self._demand_server()
        except MissingRequirement:
            await self.close()
            raise

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._client is not None:
            await _close(self._client)

    async def ask(self, name: str, body: object = None, *, path: str = "", op: str = "ask") -> Json:
        """A request of the JetStream API; its answer. Raises `RefusedRequest`."""
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.request(f"{self.api}.{name}", data, path=path, op=op)
        found = as_object(json.loads(answer.data))
        if (error := found.get("error")) is not None:
            raise RefusedRequest(as_object(error), path, op)
        return found

    async def publish(self, subject: str, data: bytes, headers: dict[str, str], *, path: str, op: str = "write") -> int:
        """Store a message; its sequence, when it is durable. Raises `WrongSequence`, `RefusedRequest`, `StorageError`.

        An attempt may have been stored although its answer was lost: the next one is then known by the message's id.
        """
        headers[MESSAGE_ID] = secrets.token_urlsafe(9)
        first = True
        end = _now() + PATIENCE_S
        while True:
            answer, again = await self._request(subject, data, headers, end=end, path=path, op=op)
            first = first and not again
            found = as_object(json.loads(answer.data))
            error = as_object(found.get("error") or {})
            if not error:
                return as_int(found["seq"])
            number = error.get("err_code")
            if number == WRONG_SEQUENCE:
                if not first and (own := await self.stored_as(subject, headers[MESSAGE_ID])):
                    return own
                raise WrongSequence(subject)
            if number in FULL or error.get("code") != 503 or _now() > end:
                raise RefusedRequest(error, path, op)
            await asyncio.sleep(RETRY_S[1] * _jitter())

    async def stored_as(self, subject: str, id: str) -> int:
        """The sequence of the subject's last message if it has that id, else 0."""
        found = await self.last_message(f"KV_{self.address.bucket}", subject, direct=False)
        return found.seq if found is not None and found.headers.get(MESSAGE_ID) == id else 0

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

    async def request(
        self,
        subject: str,
        data: bytes = b"",
        *,
        path: str = "",
        op: str = "read",
    ) -> Msg:
        """The answer to a request that may be sent twice."""
        answer, _ = await self._request(subject, data, None, end=_now() + PATIENCE_S, path=path, op=op)
        return answer

    async def _request(
        self, subject: str, data: bytes, headers: dict[str, str] | None, *, end: float, path: str, op: str
    ) -> tuple[Msg, bool]:
        """The answer, and whether an attempt before it may have arrived."""
        attempt = 0
        while True:
            try:
                if not self._up.is_set():
                    async with asyncio.timeout(max(0.0, end - _now())):
                        await self._up.wait()
                return await self.client.request(subject, data, REQUEST_S, headers=headers), attempt > 0
            except (TimeoutError, Error, OSError) as error:
                if _now() >= end or self.client.is_closed:
                    raise self.silent(path, op) from error
            attempt += 1
            await asyncio.sleep(min(RETRY_S[1], RETRY_S[0] * 2**attempt) * _jitter())

    def silent(self, path: str, op: str) -> StorageError:
        said = coded("engine.silent", server=self.address.servers, seconds=PATIENCE_S)
        return StorageError(said, path=path, op=op, fix=coded("engine.start_server"))

    def _demand_server(self) -> None:
        info = self.client._server_info  # the client has no other access to what the server says of itself
        self.version = str(info.get("version", ""))
        fix = coded("engine.get_server", oldest=".".join(map(str, OLDEST)))
        if version_of(self.version) < OLDEST:
            found = coded("engine.too_old", server=self.address.servers, version=self.version)
            expected = coded("engine.at_least", oldest=".".join(map(str, OLDEST)))
            raise MissingRequirement(found, op="open a store", expected=expected, fix=fix, code="ENGINE_VERSION")
        if not info.get("jetstream"):
            found = coded("engine.no_jetstream", server=self.address.servers)
            raise MissingRequirement(found, op="open a store", fix=coded("engine.enable"), code="ENGINE_JETSTREAM")

    async def _failed(self, error: Exception) -> None:
        """The client would try for ever to connect for the first time. Later each request reports its own failure."""
        if self._client is None:
            raise error

    async def _lost(self) -> None:
        """What was asked is asked again at once, and not when its time is up."""
        self._up.clear()
        for waiting in [*self._client._resp_map.values()] if self._client is not None else ():
            if not waiting.done():
                waiting.set_exception(ConnectionReconnectingError())

    async def _back(self) -> None:
        self._delay = 0.0
        self._up.set()
        if self.reconnected is not None:
            self._spawn(self.reconnected())

    def _next_server(self, servers: list[Server], info: Json) -> tuple[Server | None, float]:
        """The next of the known servers, after a time that grows with each failure."""
        if self._revive is not None:  # at each attempt: a connection breaks before its server's process has ended
            self._revive()
        delay, self._delay = self._delay, min(RETRY_S[1], max(RETRY_S[0], self._delay * 2))
        return min(servers, key=lambda server: server.reconnects), delay * _jitter()

    def _spawn(self, work: Awaitable[None]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _close(client: Client) -> None:
    """It may be lost already; one whose TLS was refused would wait for its end for ever."""
    with suppress(TimeoutError, Error, OSError):
        async with asyncio.timeout(CLOSE_S):
            await client.close()


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
