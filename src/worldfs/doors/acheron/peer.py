"""One client of the server's own tree: its requests in order, its waits set aside, its bindings.

A request that needs not wait is answered in the step that brought it. One that asks a thread holds up those behind
it, so that a read after a write sees the write. One that waits for a change holds up nothing (decisions D3, D9, D41).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from worldfs.ground.errors import WorldError
from worldfs.plane.refusal import PlaneError
from worldfs.tree.binding import NODE, Binding
from worldfs.verbs import Interrupted, Rest, begin
from worldfs.wire.frames import ACHERON, BadFrame, Frame, read

from . import replies
from .asked import AGREED, OPERATIONS, Answer
from .control import carry_out
from .kinds import KNOWN
from .line import Line
from .seats import Refused, Seat, Seats, first_binding
from .stream import Stream
from .who import Who

if TYPE_CHECKING:
    from .server import Server

MSIZE: Final = 1_048_576
LEAST_MSIZE: Final = 8_192
VERSION: Final = "acheron-1"
EXTENSIONS: Final = ("create", "stage", "stats", "truncate", "remove", "rename", "setattr", "times", "attributes")
"""Named only to a client that asks (docs/decisions/2026-11-22-words-beyond-the-reference.md)."""
MANY: Final = 64  # requests not yet begun: from here on the peer waits
MUCH: Final = 1 << 20  # bytes of them
TURN: Final = 32  # requests in a row: then the others have theirs, however many arrived at once
WAITS: Final = 1_024  # requests of one connection that may wait at once
_ENVELOPE: Final = 256  # bytes of a read's reply that are not data, generously
_LOG: Final = logging.getLogger("worldfs.acheron")


class Turn:
    """One request, from its frame to its answer."""

    __slots__ = ("_peer", "data", "flushed", "frame", "key", "seat", "task", "waiting")

    def __init__(self, peer: Peer, frame: Frame, seat: Seat | None, data: bytes | None) -> None:
        self._peer, self.frame, self.seat, self.data = peer, frame, seat, data
        self.task: asyncio.Task[None] | None = None
        self.waiting = self.flushed = False
        self.key = -1

    @property
    def most(self) -> int:
        return self._peer.most

    def knows(self, extension: str) -> bool:
        return extension in self._peer.extensions

    def aside(self) -> None:
        if not self.waiting:
            self.waiting = True
            if self.task is not None:
                self._peer.set_aside(self)

    def wrote(self, answer: Answer) -> None:
        if self.seat is not None and "result_path" in answer:
            self._peer.said(self.seat)


class Peer:
    """The receiver of a connection on `/`. All on the loop."""

    __slots__ = (
        "_batch", "_busy", "_queue", "_queued", "_taken", "_unnamed", "_waiting", "ends", "extensions", "greeted",
        "line", "most", "msize", "seats", "server", "stream", "unseated", "versioned", "who",
    )  # fmt: skip

    def __init__(self, server: Server, line: Line, who: Who) -> None:
        self.server, self.line, self.who = server, line, who
        self.seats = Seats()
        self.unseated: Refused | None = None  # why there is no seat yet
        self.stream: Stream | None = None  # while it listens to debug pushes, and what it was sent
        self.greeted = self.versioned = False
        self.extensions: frozenset[str] = frozenset()  # words beyond the reference's that both ends know
        self.ends = False  # after this answer there is nothing more to say
        self.msize, self.most = MSIZE, _fits(MSIZE)
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._busy: Turn | None = None
        self._waiting: dict[int, Turn] = {}  # by tag; those without one by a negative number
        self._unnamed = -1
        self._batch = self._taken = 0  # of which look at the line, how many requests were begun
        if who.role != NODE:
            first = first_binding(server.tokens, who.holder, server.realm.plane)
            if isinstance(first, Refused):
                self.unseated = first
            else:
                self.seat("main", first)

    # -- bindings --------------------------------------------------------------------------------------------------

    def seat(self, key: str, binding: Binding) -> Seat:
        """Bind a session_key, anew if it was bound."""
        seat = Seat(key, binding, self.server.verbs(binding, self), self.server.now_ms())
        self.seats.put(seat)
        self.unseated = None
        return seat

    def said(self, seat: Seat) -> None:
        binding = seat.binding
        self.server.tokens.count(self.who.holder.id, seat.key, binding.agent, binding.project, self.server.now_ms())

    def log(self) -> bytes:
        """What it was pushed for debugging so far."""
        return b"" if self.stream is None else self.stream.content()

    # -- Receiver --------------------------------------------------------------------------------------------------

    def heard(self, message: bytes) -> None:
        if self._batch != self.line.batch:
            self._batch, self._taken = self.line.batch, 0
        if self._busy is None and not self._queue and not self.line.full:
            if self._taken < TURN:
                self._taken += 1
                self._take(message)
                return
            asyncio.get_running_loop().call_soon(self._pump)
        self._queue.append(message)
        self._queued += len(message)
        if len(self._queue) >= MANY or self._queued >= MUCH:
            self.line.pause()

    def roomy(self) -> None:
        self._pump()

    def gone(self) -> None:
        self._queue.clear()
        self.server.left(self)
        for turn in (*self._waiting.values(), self._busy):
            if turn is not None and turn.task is not None:
                turn.task.cancel()
        self._waiting.clear()
        self.seats.close()

    # -- order -----------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Begin what has been waiting for its turn, as far as that goes."""
        if not self._queue:
            return
        self.line.cork()
        try:
            for _ in range(TURN):
                if not self._queue or self._busy is not None or self.line.full:
                    break
                message = self._queue.popleft()
                self._queued -= len(message)
                self._take(message)
            else:
                asyncio.get_running_loop().call_soon(self._pump)
        finally:
            self.line.uncork()
        if len(self._queue) < MANY and self._queued < MUCH:
            self.line.resume()

    def set_aside(self, turn: Turn) -> None:
        """It waits: by its tag it can be flushed, and the next one may begin."""
        if turn.frame.tag is None:
            self._unnamed -= 1
            turn.key = self._unnamed
        else:
            turn.key = turn.frame.tag
        self._waiting[turn.key] = turn
        if self._busy is turn:
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
            self.line.send(replies.malformed(bad))
            return
        meters.requests[frame.type] += 1
        if frame.channel == ACHERON:
            self._acheron(frame, data)
        else:
            turn = Turn(self, frame, None, None)
            self._begin(turn, carry_out(self, frame))

    def _begin(self, turn: Turn, work: Any) -> None:
        try:
            done = begin(work)
        except Exception as error:
            self.line.send(self._told(turn, error))
            if self.ends:
                self.line.close(1002, "protocol_mismatch")
            return
        if type(done) is not Rest:
            self.line.send(self._answer(turn, done))
            return
        turn.task = asyncio.get_running_loop().create_task(self._finish(turn, done))
        turn.task.add_done_callback(lambda task: self._finished(turn, done, task))
        if turn.waiting:
            self.set_aside(turn)
        else:
            self._busy = turn

    async def _finish(self, turn: Turn, rest: Rest[Any]) -> None:
        try:
            answer = self._answer(turn, await rest)
        except Exception as error:
            answer = self._told(turn, error)
        self.line.send(answer)

    def _finished(self, turn: Turn, rest: Rest[Any], task: asyncio.Task[None]) -> None:
        """Here and not in the task, which may be cancelled before it ever ran."""
        if self._waiting.get(turn.key) is turn:
            del self._waiting[turn.key]
        if task.cancelled():
            rest.close()
            if turn.flushed:
                self.line.send(self._told(turn, Interrupted("interrupted")))
        if self._busy is turn:
            self._busy = None
            self._pump()

    def _answer(self, turn: Turn, done: Any) -> bytes:
        if turn.frame.channel == ACHERON:
            return replies.acheron(turn.frame.type[10:], turn.frame.tag, done)
        assert isinstance(done, bytes)  # control operations have replies of several shapes
        return done

    def _told(self, turn: Turn, error: Exception) -> bytes:
        """What the peer is told of an error; what nobody foresaw goes to the log, not to the peer."""
        frame = turn.frame
        named = False
        if isinstance(error, PlaneError):
            code, message, named = error.code, error.message, error.correlated
        elif isinstance(error, Refused):
            code, message, named = error.code, error.message, error.named
        elif isinstance(error, WorldError):
            code, message = replies.told(error)
        else:
            _LOG.error("%s broke", frame.type, exc_info=error)
            code, message = "execution_failed", "internal error"
        self.server.meters.errors[code] += 1
        if frame.channel == ACHERON:
            return replies.acheron_error(frame.tag, code, message)
        return replies.control_error(frame.id, code, message, frame.correlation_id or frame.id, named=named)

    # -- the acheron channel ---------------------------------------------------------------------------------------

    def _acheron(self, frame: Frame, data: bytes | None) -> None:
        tag = frame.tag
        if self.who.role == NODE:
            self.refuse(frame, "forbidden", "a node has no namespace")
            return
        if len(self.seats) == 0 and self.unseated is not None:
            self.refuse(frame, self.unseated.code, self.unseated.message)
            return
        if frame.type == "acheron.t_version":
            self._version(frame)
            return
        if not self.versioned:
            self.refuse(frame, "protocol_mismatch", "acheron.t_version must be negotiated first")
            self.line.close(1002, "protocol_mismatch")
            return
        row = OPERATIONS.get(frame.type)
        if row is None or (row[0] in AGREED and row[0] not in self.extensions):
            if frame.type == "acheron.t_flush":
                self._flush(frame)
            else:
                agreed = "" if row is None else f": {row[0]} must be named in the extensions of t_version"
                self.refuse(frame, "unsupported", replies.UNSUPPORTED + agreed)
            return
        seat = self.seats.get(frame.session_key)
        if seat is None:
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
        turn = Turn(self, frame, seat, data)
        self._begin(turn, row[1](seat.verbs, frame, turn))

    def _version(self, frame: Frame) -> None:
        if frame.version != VERSION:
            self.refuse(frame, "protocol_mismatch", f"unsupported acheron version, expected {VERSION}")
            self.line.close(1002, "protocol_mismatch")
            return
        asked = MSIZE if frame.msize is None else frame.msize
        if asked < LEAST_MSIZE:
            self.refuse(frame, "invalid", f"msize must be at least {LEAST_MSIZE}")
            return
        self.versioned = True
        self.msize = min(asked, MSIZE)
        self.most = _fits(self.msize)
        answer: Answer = {"msize": self.msize, "version": VERSION}
        if frame.extensions is not None:
            agreed = [word for word in EXTENSIONS if word in frame.extensions]
            self.extensions = frozenset(agreed)
            answer["extensions"] = agreed
        self.line.send(replies.acheron("version", frame.tag, answer))

    def _flush(self, frame: Frame) -> None:
        """With `oldtag`, that request ends first: what it did, it says; else it says `eintr` (D9)."""
        answer = replies.acheron("flush", frame.tag, {})
        turn = None if frame.oldtag is None else self._waiting.get(frame.oldtag)
        if turn is None or turn.task is None:
            self.line.send(answer)
            return
        turn.flushed = True
        turn.task.cancel()
        turn.task.add_done_callback(lambda _: self.line.send(answer))

    def _too_large(self, frame: Frame) -> None:
        """Answered, not dropped (D2)."""
        self.server.meters.oversize += 1
        if frame.channel == ACHERON:
            self.refuse(frame, "invalid", "frame exceeds msize")
        else:
            self.refuse(frame, "invalid_envelope", "FrameTooLarge")

    def refuse(self, frame: Frame, code: str, message: str) -> None:
        self.server.meters.errors[code] += 1
        if frame.channel == ACHERON:
            self.line.send(replies.acheron_error(frame.tag, code, message))
        else:
            self.line.send(replies.control_error(frame.id, code, message))


def _fits(msize: int) -> int:
    """Bytes of data whose reply is no larger than `msize`."""
    return (msize - _ENVELOPE) // 4 * 3
