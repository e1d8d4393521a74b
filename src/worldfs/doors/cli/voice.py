"""The voice of the command: plain lines for people, JSON for programs, never both on one stream."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

_COLOURS = {"good": "32", "bad": "31", "dim": "2", "warn": "33"}


class Voice:
    """Where a command's words go. `json` decides the form; colour is for terminals only."""

    def __init__(self, *, json: bool = False, out: IO[str] | None = None, err: IO[str] | None = None) -> None:
        self.json = json
        self.out = out or sys.stdout
        self.err = err or sys.stderr

    def line(self, text: str = "", mood: str = "") -> None:
        """A line for people; silent under --json."""
        if not self.json:
            self._print(self._coloured(text, mood))

    def value(self, value: object) -> None:
        """An answer for programs; silent without --json."""
        if self.json:
            import json

            self._print(json.dumps(value, ensure_ascii=False, default=str))

    def say(self, text: str, value: Mapping[str, Any], mood: str = "") -> None:
        """The same fact for either listener."""
        self.line(text, mood)
        self.value(value)

    def raw(self, data: bytes) -> None:
        """A file's own bytes, untouched."""
        self.out.flush()
        buffer = getattr(self.out, "buffer", None)
        if buffer is None:
            self.out.write(data.decode("utf-8", "replace"))
        else:
            buffer.write(data)
        self.out.flush()

    def aside(self, text: str) -> None:
        """A remark on standard error, in both forms."""
        print(text, file=self.err, flush=True)

    def error(self, text: str, value: Mapping[str, Any]) -> None:
        if self.json:
            self.value({"error": dict(value)})
        else:
            self.aside(f"paos: {text}")

    def _print(self, text: str) -> None:
        print(text, file=self.out, flush=True)  # at once: a pipe or a log is watched live

    def _coloured(self, text: str, mood: str) -> str:
        import os

        if mood in _COLOURS and self.out.isatty() and not os.environ.get("NO_COLOR"):
            return f"\x1b[{_COLOURS[mood]}m{text}\x1b[0m"
        return text


def columns(rows: Sequence[tuple[str, ...]], indent: str = "") -> list[str]:
    """Rows as lines with aligned columns; wide (Chinese) signs count twice."""
    from unicodedata import east_asian_width

    def width(text: str) -> int:
        return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)

    if not rows:
        return []
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(c + " " * (w - width(c)) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
