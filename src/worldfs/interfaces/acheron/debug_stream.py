"""The debug pushes of one connection: the Log behind its /debug/stream.log (acheron D46)."""

from __future__ import annotations

from collections import deque
from typing import Final

PATH: Final = "/debug/stream.log"
MOST: Final = 256 << 10  # bytes; the oldest lines are dropped


class DebugStream:
    """Lines of JSON, one per push."""

    __slots__ = ("_lines", "_size")

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._size = 0

    def add(self, frame: bytes) -> None:
        self._lines.append(frame + b"\n")
        self._size += len(frame) + 1
        while self._size > MOST:
            self._size -= len(self._lines.popleft())

    def content(self) -> bytes:
        return b"".join(self._lines)
