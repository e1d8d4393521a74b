"""One client of the server's own tree: request order, deferred requests, attached sessions.

A request that does not wait is answered in the loop step that received it. One that uses a thread delays those behind
it, so that a read after a write sees the write. One that waits for a change delays nothing (acheron D3, D9, D41).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Final

from worldfs.access.attachment import first_binding
from worldfs.access.binding import Binding
from worldfs.access.decision import Decision
from worldfs.access.principal import Principal
from worldfs.base.errors import WorldError
from worldfs.control.plane_error import PlaneError
from worldfs.formats.wire.frames import ACHERON, BadFrame, Frame, read
from worldfs.namespace.fids import Interrupted
from worldfs.namespace.suspended_coroutine import SuspendedCoroutine, start_eagerly

from . import reply_frames
from .control_channel import execute_control
from .debug_stream import DebugStream
from .frame_types import KNOWN
from .operations import AGREED, OPERATIONS, Answer
from .session_table import AttachedSession, SessionRefused, SessionTable
from .websocket_transport import WebSocketTransport

if TYPE_CHECKING:
    from .server import Server

MSIZE: Final = 1_048_576
LEAST_MSIZE: Final = 8_192
VERSION: Final = "acheron-1"
EXTENSIONS: Final = (
    "create", "stage", "stats", "truncate", "remove", "rename", "setattr", "times", "attributes", "revision", "why",
    "repeat", "person",
)  # fmt: skip
"""Named only to a client that asks (docs/decisions/2026-11-22-words-beyond-the-reference.md)."""
QUEUE_MAX: Final = 64  # requests not yet begun: beyond it, reading from the peer pauses
QUEUE_BYTES_MAX: Final = 1 << 20  # bytes of them
TURN: Final = 32  # requests of one peer in a row; then other peers are served
WAITS: Final = 1_024  # requests of one connection that may wait at once
_ENVELOPE: Final = 256  # bytes of a read's reply that are not data, generously
_LOG: Final = logging.getLogger("worldfs.acheron")


class PeerRequest:
    """One request, from its frame to its answer."""

    __slots__ = ("_peer", "data", "flushed", "frame", "key", "session", "task", "waiting")

    def __init__(self, peer: ClientPeer, frame: Frame, session: AttachedSession | None, data: bytes | None) -> None:
        self._peer, self.frame, self.session, self.data = peer, frame, session, data
        self.task: asyncio.Task[None] | None = None
        self.waiting = self.flushed = False
        self.key = -1

    @property
    def max_bytes(self) -> int:
        return self._peer.max_bytes

    def has_extension(self, extension: str) -> bool:
        return extension in self._peer.extensions

    def defer(self) -> None:
        if not self.waiting:
            self.waiting = True
            if self.task is not None:
                self._peer.defer(self)

    def reply(self, answer: Answer) -> bool:
        return self._peer.reply(self, answer)

    def count_write(self, answer: Answer) -> None:
        if self.session is not None and "result_path" in answer:
            self._peer.count_message(self.session)


class ClientPeer:
    """The receiver of a connection on `/`. All on the loop."""

    __slots__ = (
        "_batch",
        "_busy",
        "_queue",
        "_queued",
        "_taken",
        "_unnamed",
        "_waiting",
        "closing",
        "extensions",
        "greeted",
        "max_bytes",
        "msize",
        "principal",
        "refusal",
        "server",
        "sessions",
        "stream",
        "transport",
        "versioned",
    )  # fmt: skip

    def __init__(self, server: Server, transport: WebSocketTransport, principal: Principal) -> None:
        self.server, self.transport, self.principal = server, transport, principal
        self.sessions = SessionTable()
        self.refusal: Decision | None = None  # why no session is attached yet
        self.stream: DebugStream | None = None  # the debug pushes sent, while subscribed
        self.greeted = self.versioned = False
        self.extensions: frozenset[str] = frozenset()  # protocol extensions that both ends know
        self.closing = False  # close after this answer
        self.msize, self.max_bytes = MSIZE, _fits(MSIZE)
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._busy: PeerRequest | None = None
        self._waiting: dict[int, PeerRequest] = {}  # by tag; those without one by a negative number
        self._unnamed = -1
        self._batch = self._taken = 0  # which read of the transport, and how many of its requests were begun
        first = first_binding(principal, server.tokens, server.realm.plane)
        if isinstance(first, Decision):
            self.refusal = first
        else:
            self.bind("main", first)

    # -- bindings --------------------------------------------------------------------------------------------------

    def bind(self, key: str, binding: Binding) -> AttachedSession:
        """Bind a session_key; a bound one is bound again."""
        session = AttachedSession(key, binding, self.server.verbs(binding, self), self.server.now_ms())
        self.sessions.put(session)
        self.refusal = None
        return session

    def count_message(self, session: AttachedSession) -> None:
        binding = session.binding
        self.server.tokens.count(
            self.principal.holder.id, session.key, binding.agent, binding.project, self.server.now_ms()
        )

    def log(self) -> bytes:
        """The debug pushes sent so far."""
        return b"" if self.stream is None else self.stream.content()

    # -- FrameReceiver --
    # ------------------------------------------------------------------------------------------------

    def on_message(self, message: bytes) -> None:
        if self._batch != self.transport.batch:
            self._batch, self._taken = self.transport.batch, 0
        if self._busy is None and not self._queue and not self.transport.congested:
            if self._taken < TURN:
                self._taken += 1
                self._take(message)
                return
            asyncio.get_running_loop().call_soon(self._pump)
        self._queue.append(message)
        self._queued += len(message)
        if len(self._queue) >= QUEUE_MAX or self._queued >= QUEUE_BYTES_MAX:
            self.transport.pause()

    def on_drained(self) -> None:
        self._pump()

    def on_closed(self) -> None:
        self._queue.clear()
        self.server.remove_peer(self)
        for request in (*self._waiting.values(), self._busy):
            if request is not None and request.task is not None:
                request.task.cancel()
        self._waiting.clear()
        self.sessions.close()

    # -- order -----------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Begin queued requests, as many as possible."""
        if not self._queue:
            return
        self.transport.cork()
        try:
            for _ in range(TURN):
                if not self._queue or self._busy is not None or self.transport.congested:
                    break
                message = self._queue.popleft()
                self._queued -= len(message)
                self._take(message)
            else:
                asyncio.get_running_loop().call_soon(self._pump)
        finally:
            self.transport.uncork()
        if len(self._queue) < QUEUE_MAX and self._queued < QUEUE_BYTES_MAX:
            self.transport.resume()

    def defer(self, request: PeerRequest) -> None:
        """The request waits: its tag can be flushed, and the next request may begin."""
        if request.frame.tag is None:
            self._unnamed -= 1
            request.key = self._unnamed
        else:
            request.key = request.frame.tag
        self._waiting[request.key] = request
        if self._busy is request:
            self._busy = None
            asyncio.get_running_loop().call_soon(self._pump)

    def _take(self, message: bytes) -> None:
        meters = self.server.meters
        meters.frames_in += 1
        try:
            frame = read(message)
            if frame.type not in KNOWN:
                raise frame.bad("UnsupportedType")
            if len(message) > self.msize:
                self._too_large(frame)
                return
            data = None if frame.data is None and frame.data_b64 is None else frame.bytes()
        except BadFrame as bad:
            meters.errors["invalid_envelope"] += 1
            self.transport.send(reply_frames.malformed(bad))
            return
        meters.requests[frame.type] += 1
        if frame.channel == ACHERON:
            self._acheron(frame, data)
        else:
            request = PeerRequest(self, frame, None, None)
            self._begin(request, execute_control(self, frame))

    def _begin(self, request: PeerRequest, work: Coroutine[object, object, object]) -> None:
        try:
            done = start_eagerly(work)
        except Exception as error:
            self.transport.send(self._error_frame(request, error))
            if self.closing:
                self.transport.close(1002, "protocol_mismatch")
            return
        if type(done) is not SuspendedCoroutine:
            self.transport.send(self._answer(request, done))
            return
        request.task = asyncio.get_running_loop().create_task(self._finish(request, done))
        request.task.add_done_callback(lambda task: self._finished(request, done, task))
        if request.waiting:
            self.defer(request)
        else:
            self._busy = request

    async def _finish(self, request: PeerRequest, rest: SuspendedCoroutine[object]) -> None:
        try:
            answer = self._answer(request, await rest)
        except Exception as error:
            answer = self._error_frame(request, error)
        self.transport.send(answer)

    def _finished(self, request: PeerRequest, rest: SuspendedCoroutine[object], task: asyncio.Task[None]) -> None:
        """A done callback and not the task's end: the task may be cancelled before it ever ran."""
        if self._waiting.get(request.key) is request:
            del self._waiting[request.key]
        if task.cancelled():
            rest.close()
            if request.flushed:
                self.transport.send(self._error_frame(request, Interrupted("interrupted")))
        if self._busy is request:
            self._busy = None
            self._pump()

    def reply(self, request: PeerRequest, answer: Answer) -> bool:
        """Send an answer that others follow, unless the peer does not read."""
        if self.transport.congested or not self.transport.open:
            return False
        self.transport.send(self._answer(request, {**answer, "more": True}))
        return True

    def _answer(self, request: PeerRequest, done: object) -> bytes:
        if request.frame.channel == ACHERON:
            return reply_frames.acheron(request.frame.type[10:], request.frame.tag, done)
        assert isinstance(done, bytes)  # control operations have replies of several shapes
        return done

    def _error_frame(self, request: PeerRequest, error: Exception) -> bytes:
        """The error frame; an unexpected error goes to the log, and the peer receives "internal error"."""
        frame = request.frame
        named = False
        if isinstance(error, PlaneError):
            code, message, named = error.code, error.message, error.correlated
        elif isinstance(error, SessionRefused):
            code, message, named = error.code, error.message, error.named
        elif isinstance(error, WorldError):
            code, message = reply_frames.error_fields(error)
        else:
            _LOG.error("%s broke", frame.type, exc_info=error)
            code, message = "execution_failed", "internal error"
        self.server.meters.errors[code] += 1
        if frame.channel == ACHERON:
            return reply_frames.acheron_error(frame.tag, code, message)
        return reply_frames.control_error(frame.id, code, message, frame.correlation_id or frame.id, named=named)

    # -- the acheron channel ---------------------------------------------------------------------------------------

    def _acheron(self, frame: Frame, data: bytes | None) -> None:
        tag = frame.tag
        if len(self.sessions) == 0 and self.refusal is not None:
            self.refuse(frame, self.refusal.code, self.refusal.message)
            return
        if frame.type == "acheron.t_version":
            self._version(frame)
            return
        if not self.versioned:
            self.refuse(frame, "protocol_mismatch", "acheron.t_version must be negotiated first")
            self.transport.close(1002, "protocol_mismatch")
            return
        row = OPERATIONS.get(frame.type)
        if row is None or (row[0] in AGREED and row[0] not in self.extensions):
            if frame.type == "acheron.t_flush":
                self._flush(frame)
            else:
                agreed = "" if row is None else f": {row[0]} must be named in the extensions of t_version"
                self.refuse(frame, "unsupported", reply_frames.UNSUPPORTED + agreed)
            return
        session = self.sessions.get(frame.session_key)
        if session is None:
            self.refuse(frame, "session_not_found", "unknown session_key")
            return
        if self._waiting:
            if tag in self._waiting:
                self.refuse(frame, "invalid", "tag is in use")
                return
            if len(self._waiting) >= WAITS and row[0] in ("read", "write"):
                self.server.meters.saturated += 1
                self.refuse(frame, "queue_saturated", f"{WAITS} requests wait already")
                return
        request = PeerRequest(self, frame, session, data)
        self._begin(request, row[1](session.verbs, frame, request))

    def _version(self, frame: Frame) -> None:
        if frame.version != VERSION:
            self.refuse(frame, "protocol_mismatch", f"unsupported acheron version, expected {VERSION}")
            self.transport.close(1002, "protocol_mismatch")
            return
        asked = MSIZE if frame.msize is None else frame.msize
        if asked < LEAST_MSIZE:
            self.refuse(frame, "invalid", f"msize must be at least {LEAST_MSIZE}")
            return
        self.versioned = True
        self.msize = min(asked, MSIZE)
        self.max_bytes = _fits(self.msize)
        answer: Answer = {"msize": self.msize, "version": VERSION}
        if frame.extensions is not None:
            agreed = [word for word in EXTENSIONS if word in frame.extensions]
            self.extensions = frozenset(agreed)
            answer["extensions"] = agreed
            session = self.sessions.get(None)
            if "person" in agreed and session is not None:  # whose token it is, also where a model writes
                answer["person"] = self.principal.bound(session.binding.agent).person
        self.transport.send(reply_frames.acheron("version", frame.tag, answer))

    def _flush(self, frame: Frame) -> None:
        """With `oldtag`, that request is answered first: with its result, or with `eintr` (acheron D9)."""
        answer = reply_frames.acheron("flush", frame.tag, {})
        request = None if frame.oldtag is None else self._waiting.get(frame.oldtag)
        if request is None or request.task is None:
            self.transport.send(answer)
            return
        request.flushed = True
        request.task.cancel()
        request.task.add_done_callback(lambda _: self.transport.send(answer))

    def _too_large(self, frame: Frame) -> None:
        """Answered, not dropped (acheron D2)."""
        self.server.meters.oversize += 1
        if frame.channel == ACHERON:
            self.refuse(frame, "invalid", "frame exceeds msize")
        else:
            self.refuse(frame, "invalid_envelope", "FrameTooLarge")

    def refuse(self, frame: Frame, code: str, message: str) -> None:
        self.server.meters.errors[code] += 1
        if frame.channel == ACHERON:
            self.transport.send(reply_frames.acheron_error(frame.tag, code, message))
        else:
            self.transport.send(reply_frames.control_error(frame.id, code, message))


def _fits(msize: int) -> int:
    """Bytes of data whose reply is no larger than `msize`."""
    return (msize - _ENVELOPE) // 4 * 3
