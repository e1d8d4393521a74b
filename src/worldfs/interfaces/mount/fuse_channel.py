"""The kernel's end of one mount: requests are read when there are any, replies and notifications are written."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from typing import Final

from .fuse_protocol import BUFFER, HANDLE_OUT, HEADER_IN, HEADER_OUT, NOTIFY_POLL

AT_ONCE: Final = 16  # requests that one wake-up reads

Receive = Callable[[int, int, int, int, memoryview], None]  # opcode, unique, node, process, body


class FuseChannel:
    """`fd` is that of /dev/fuse, non-blocking. `on_end` is called once, when the kernel has let the mount go."""

    def __init__(self, fd: int, receive: Receive, on_end: Callable[[], None]) -> None:
        self.fd, self._receive, self._on_end = fd, receive, on_end
        self._buffer = bytearray(BUFFER)
        self._view = memoryview(self._buffer)
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._loop.add_reader(fd, self._drain)

    def close(self) -> None:
        """Let go of the mount: requests that wait end with ENOTCONN."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self.fd)
            os.close(self.fd)
            self._on_end()

    def reply(self, unique: int, body: bytes = b"") -> None:
        self._write(HEADER_OUT.pack(16 + len(body), 0, unique) + body)

    def fail(self, unique: int, number: int) -> None:
        self._write(HEADER_OUT.pack(16, -number, unique))

    def notify_poll(self, handle: int) -> None:
        self._write(HEADER_OUT.pack(24, NOTIFY_POLL, 0) + HANDLE_OUT.pack(handle))

    def _drain(self) -> None:
        buffer, view, unpack = self._buffer, self._view, HEADER_IN.unpack_from
        for _ in range(AT_ONCE):
            if not self._open:
                return
            try:
                size = os.readv(self.fd, (buffer,))
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):  # the request went away while it was read
                    continue
                self.close()  # ENODEV: unmounted
                return
            if not size:
                self.close()
                return
            found = unpack(buffer)
            self._receive(found[1], found[2], found[3], found[6], view[40:size])

    def _write(self, data: bytes) -> None:
        if not self._open:
            return
        try:
            os.write(self.fd, data)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINTR, errno.EAGAIN):  # ENOENT: the request has gone
                self.close()
