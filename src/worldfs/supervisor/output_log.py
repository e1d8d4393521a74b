"""The log of a command's output: its first and its last MiB, without secrets, in constant memory.

DIR/output.log holds the beginning; what comes later goes to parts DIR/output.<n>.part, of which the last two are kept,
and which are joined to the log at the end, by its writer or, if that one was killed, by the next session.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from worldfs.base.durable import Root
from worldfs.base.errors import WorldError
from worldfs.base.logfile import LogFile

NAME: Final = "output.log"
MOST: Final = 1 << 20  # bytes of the beginning, and of the end
NEAR: Final = 1024  # bytes: the longest secret in one line
GAP: Final = b"\n[paos: output left out here]\n"
PIECE: Final = 1 << 16  # a line without an end is cut there
PAUSE: Final = 0.2  # s between two writes to the log
KEY_BEGINS, KEY_ENDS = b"-----BEGIN ", b"-----END "
KEY_MOST: Final = 1 << 14  # no key block is longer
_BREAKS: Final = frozenset(b" \t\r\n\"'`,;:|&<>()[]{}")  # no secret goes across one of these

Redact = Callable[[str], str]


class OutputLog:
    """Usable from many threads. A failing disk ends the log, never the session: `fault` holds the reason."""

    def __init__(
        self,
        root: Root,
        folder: str,
        redact: Redact,
        *,
        now: Callable[[], float],
        most: int = MOST,
    ) -> None:
        self._root, self._folder, self._redact, self._most, self.now = root, folder, redact, most, now
        self._mutex = threading.Lock()
        self._head: LogFile | None = LogFile(root, f"{folder}/{NAME}")
        self._part: LogFile | None = None
        self._count = 0  # parts begun
        self._pending: deque[bytes] = deque()
        self._size = 0
        self._gap = False  # something before what is pending is not kept
        self._torn = False  # what is pending begins anywhere
        self._in_key = False  # what was dropped ended inside a key block
        self._flushed = -math.inf
        self.received_bytes = 0  # bytes of output
        self.spoke_at = now()
        self.last_line = ""  # the newest line that is not blank, for people
        self.fault = ""

    def write(self, data: bytes) -> None:
        now = self.now()
        with self._mutex:
            self.received_bytes += len(data)
            self.spoke_at = now
            if self.fault:
                return
            self._pending.append(data)
            self._size += len(data)
            if self._head is not None and self._size >= PIECE:
                self._flush()  # the beginning is kept whole
            while self._pending and self._size - len(self._pending[0]) >= self._most:
                self._drop()
            if now - self._flushed >= PAUSE:
                self._flush()

    @property
    def behind(self) -> bool:
        """Whether some output is not in the log yet."""
        return self._size > 0

    def flush(self) -> None:
        """Writes all output to the log's file, except a line that has not ended. Nothing here is fsynced."""
        with self._mutex:
            self._flush()

    def close(self) -> None:
        """Writes the rest too; then the log is one durable file."""
        with self._mutex:
            self._flush(last=True)
            for file in (self._head, self._part):
                if file is not None:
                    file.close()
            self._head = self._part = None
            if not self.fault:
                try:
                    join(self._root, self._folder, most=self._most)
                except WorldError as error:
                    self.fault = str(error)

    # -- one step each, with the mutex held --------------------------------------------------------------------------

    def _drop(self) -> None:
        data = self._pending.popleft()
        self._size -= len(data)
        self._gap = self._torn = True
        begins, ends = data.rfind(KEY_BEGINS), data.rfind(KEY_ENDS)
        if begins != ends:
            self._in_key = begins > ends

    def _flush(self, *, last: bool = False) -> None:
        self._flushed = self.now()
        if not self._pending or self.fault:
            return
        try:
            self._write_out(last=last)
        except Exception as error:  # whatever it is: the command's output must go on flowing
            self.fault = str(error) or type(error).__name__
            self._pending.clear()
            self._size = 0

    def _write_out(self, *, last: bool) -> None:
        data = b"".join(self._pending)
        if self._torn:
            data = self._after_gap(data)
        at = len(data) if last else self._cut(data)
        self._pending = deque([data[at:]] if at < len(data) else [])
        self._size = len(data) - at
        if at == 0:
            return
        text = self._redact(data[:at].decode("utf-8", "surrogateescape"))
        for line in reversed(text[-2000:].splitlines()):
            if line.strip():
                self.last_line = "".join(sign if sign.isprintable() else "?" for sign in line.strip())[:200]
                break
        out = text.encode("utf-8", "surrogateescape")
        if self._gap:
            out, self._gap = GAP + out, False
        self._keep(out)

    def _cut(self, data: bytes) -> int:
        """The position up to which no secret is cut: after a line, and not within a key block. 0: wait for more."""
        at = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if at == 0:
            return self._cut_line(data) if len(data) >= PIECE else 0
        begins = data.rfind(KEY_BEGINS, 0, at)
        if begins >= 0 and data.find(KEY_ENDS, begins, at) < 0 and len(data) - begins < KEY_MOST:
            return begins
        return at

    def _cut_line(self, data: bytes) -> int:
        """The position at which an unfinished line can be cut: between words, with no secret around it."""
        near = NEAR // 2
        for at in range(len(data) - near, len(data) - 4096, -1):
            if data[at - 1] in _BREAKS:
                around = data[at - near : at + near].decode("utf-8", "surrogateescape")
                if self._redact(around) == around:
                    return at
        return len(data) - near  # words as long as that are no secrets

    def _after_gap(self, data: bytes) -> bytes:
        """The rest of a cut line, or of a cut key, could be half a secret: it is dropped too."""
        cut = 0
        if self._in_key and 0 <= (end := data.find(KEY_ENDS)) < KEY_MOST:
            cut = end
        line = data.find(b"\n", cut, cut + PIECE)
        cut = line + 1 if line >= 0 else cut + _word_end(data[cut : cut + 4096])
        self._torn = self._in_key = False
        return data[cut:]

    def _keep(self, data: bytes) -> None:
        if self._head is not None:
            self._head.refresh()
            room = self._most - self._head.size
            self._head.append(data[:room], durable=False)
            data = data[room:]
            if self._head.size < self._most:
                return
            self._head.close()
            self._head = None
        if not data:
            return
        if self._part is None or self._part.size + len(data) > self._most:
            self._next_part()
        assert self._part is not None
        self._part.append(data[-self._most :], durable=False)

    def _next_part(self) -> None:
        if self._part is not None:
            self._part.close()
        self._count += 1
        self._part = LogFile(self._root, part_name(self._folder, self._count))
        self._part.refresh()
        if self._count > 2:
            _unlink(self._root, part_name(self._folder, self._count - 2))


def _word_end(front: bytes) -> int:
    for at, value in enumerate(front):
        if value in _BREAKS:
            return at + 1
    return 0


def part_name(folder: str, number: int) -> str:
    return f"{folder}/output.{number}.part"


def join(root: Root, folder: str, *, most: int = MOST) -> None:
    """The parts become the end of the log; durable. Does nothing where there are none."""
    place = root.locate(f"{folder}/x")
    if place is None:
        return
    numbers = sorted(
        int(words[1])
        for name in place.folder.names()
        if len(words := name.split(".")) == 3 and words[0] == "output" and words[2] == "part" and words[1].isdecimal()
    )
    log = LogFile(root, f"{folder}/{NAME}")
    log.refresh()
    try:
        if numbers:
            if log.size > most:  # parts begin when the beginning is full: more of it is a join that was cut off
                log.cut(most)
            data = b"".join(root.read(part_name(folder, number)) or b"" for number in numbers)
            cut = max(0, len(data) - most)
            if cut:
                line = data.find(b"\n", cut, cut + 4096)
                cut = line + 1 if line >= 0 else cut
            lead = GAP if cut or numbers[0] > 1 else b""
            log.append(lead + data[cut:], durable=False)
        if log.inode:
            log.sync()
    finally:
        log.close()
    for number in numbers:
        _unlink(root, part_name(folder, number))


def _unlink(root: Root, path: str) -> None:
    """A temporary file of this module: it may be back after a power cut."""
    place = root.locate(path)
    if place is not None:
        with suppress(FileNotFoundError):
            root.disk.unlink(place.folder.fd, place.name, path)
