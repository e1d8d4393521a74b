"""One 9P connection: frames in, replies out, tags, and which request waits for which.

A request that needs a thread delays those behind it, so that a read after a write sees the write; one that waits for a
change delays nothing, and a flush of its tag ends it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.formats.wire.error_codes import errno_of
from worldfs.namespace.suspended_coroutine import SuspendedCoroutine, start_eagerly

from .ninep_frames import (
    HEADER,
    MOST_NAMES,
    NO_TAG,
    MalformedRequest,
    NinePRequest,
    decode,
    error_frame,
    frame,
    numbers,
    text_field,
)
from .ninep_session import Attacher, NinePRefused, NinePSession

VERSION: Final = "9P2000.L"
UNKNOWN: Final = "unknown"
MSIZE: Final = 262_144
LEAST_MSIZE: Final = 4_096  # a stat, a name and a walk of 16 names fit
MOST_WAITS: Final = 1_024  # requests of one connection that wait at once
_LOG: Final = logging.getLogger("worldfs.ninep")

assert LEAST_MSIZE > HEADER + MOST_NAMES * 13


class _Pending:
    """A request that has not been answered."""

    __slots__ = ("aside", "released", "task")

    def __init__(self) -> None:
        self.aside = False
        self.task: asyncio.Task[bytes] | None = None
        self.released: asyncio.Future[None] | None = None  # done when the next request may begin

    def step_aside(self) -> None:
        self.aside = True
        self.release()

    def release(self) -> None:
        if self.released is not None and not self.released.done():
            self.released.set_result(None)


class NinePConnection:
    """`serve` returns when the peer has gone, or has sent what is no frame."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, attacher: Callable[[], Attacher]
    ) -> None:
        self._reader, self._writer, self._attacher = reader, writer, attacher
        self._session: NinePSession | None = None
        self._pending: dict[int, _Pending] = {}
        self._ended = False

    async def serve(self) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while not self._ended:
                    received = await self._frame()
                    if received is None:
                        break
                    await self._take(received)
                    await self._writer.drain()
        finally:
            self._reset()
            self._writer.close()

    def close(self) -> None:
        """Ends the connection, from another task of the loop."""
        self._ended = True
        self._writer.close()
        self._reader.feed_eof()

    async def _frame(self) -> bytes | None:
        """The next frame; None after one that is too long or too short to go on behind it."""
        head = await self._reader.readexactly(4)
        size = int.from_bytes(head, "little")
        most = LEAST_MSIZE if self._session is None else self._session.msize
        if size < HEADER or size > most:
            start = await self._reader.readexactly(3) if size >= HEADER else b""
            tag = int.from_bytes(start[1:], "little") if start else NO_TAG
            self._writer.write(error_frame(tag, errno.EMSGSIZE if size > most else errno.EPROTO))
            return None
        return head + await self._reader.readexactly(size - 4)

    async def _take(self, received: bytes) -> None:
        try:
            request = decode(received)
        except MalformedRequest as bad:
            self._writer.write(error_frame(bad.tag, bad.number))
            return
        if request.name == "version":
            self._version(request)
        elif self._session is None:
            self._writer.write(error_frame(request.tag, errno.EPROTO))
        elif request.name == "flush":
            await self._flush(request)
        elif request.tag in self._pending:
            self._writer.write(error_frame(request.tag, errno.EINVAL))
        elif len(self._pending) >= MOST_WAITS:
            self._writer.write(error_frame(request.tag, errno.EAGAIN))
        else:
            await self._begin(self._session, request)

    def _version(self, request: NinePRequest) -> None:
        """Starts again: every earlier fid and waiting request is gone."""
        self._reset()
        msize, known = min(request.number("msize"), MSIZE), request.text("version").startswith(VERSION)
        if msize < LEAST_MSIZE:
            self._writer.write(error_frame(request.tag, errno.EINVAL))
            return
        if known:
            self._session = NinePSession(self._attacher(), msize)
        body = numbers("4", msize) + text_field(VERSION if known else UNKNOWN)
        self._writer.write(frame(request.type + 1, request.tag, body))

    async def _begin(self, session: NinePSession, request: NinePRequest) -> None:
        """Returns when the next request may begin."""
        pending = _Pending()
        try:
            done = start_eagerly(session.answer(request, pending.step_aside))
        except Exception as error:
            self._writer.write(error_frame(request.tag, _number(request, error)))
            return
        if not isinstance(done, SuspendedCoroutine):
            self._writer.write(frame(request.type + 1, request.tag, done))
            return
        loop = asyncio.get_running_loop()
        rest: SuspendedCoroutine[bytes] = done
        pending.released = loop.create_future()
        pending.task = loop.create_task(_awaited(rest))
        self._pending[request.tag] = pending
        pending.task.add_done_callback(lambda task: self._finished(request, pending, rest, task))
        if not pending.aside:
            await pending.released

    def _finished(
        self,
        request: NinePRequest,
        pending: _Pending,
        rest: SuspendedCoroutine[bytes],
        task: asyncio.Task[bytes],
    ) -> None:
        if self._pending.get(request.tag) is pending:
            del self._pending[request.tag]
        pending.release()
        if task.cancelled():
            rest.close()  # it may never have run
            return
        error = task.exception()
        if self._writer.is_closing():
            return
        if error is None:
            self._writer.write(frame(request.type + 1, request.tag, task.result()))
        else:
            self._writer.write(error_frame(request.tag, _number(request, error)))

    async def _flush(self, request: NinePRequest) -> None:
        """The flushed request is answered first, or never."""
        pending = self._pending.get(request.number("oldtag"))
        if pending is not None and pending.task is not None:
            pending.task.cancel()
            await asyncio.wait([pending.task])
            await asyncio.sleep(0)  # its callback, which may write its answer
        self._writer.write(frame(request.type + 1, request.tag))

    def _reset(self) -> None:
        for pending in list(self._pending.values()):
            if pending.task is not None:
                pending.task.cancel()
        self._pending.clear()
        if self._session is not None:
            self._session.close()
        self._session = None


async def _awaited(rest: SuspendedCoroutine[bytes]) -> bytes:
    return await rest


def _number(request: NinePRequest, error: BaseException) -> int:
    if isinstance(error, NinePRefused):
        return error.number
    if isinstance(error, WorldError):
        return errno_of(error)
    _LOG.error("9P %s broke", request.name, exc_info=error)
    return errno.EIO
