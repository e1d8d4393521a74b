"""The output of the command: plain lines for people, JSON for programs, never both on one stream."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from worldfs.base.messages import CodedText, coded, render
from worldfs.base.shown_text import shown_json, shown_text

_COLOURS = {"good": "32", "bad": "31", "dim": "2", "warn": "33"}
LATE = "late output"  # the name of threads that print


class CommandOutput:
    """Writes a command's output. `json` decides the form; colour is for terminals only."""

    def __init__(self, *, json: bool = False, out: IO[str] | None = None, err: IO[str] | None = None) -> None:
        self.json = json
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.lost: OSError | None = None  # why a report could not be written to `out`
        self.language: Callable[[], str] = lambda: "en"  # of messages for people
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def line(self, text: str = "", mood: str = "") -> None:
        """A line for people; silent under --json. No part of it begins another: a line end in it is shown as a code."""
        if not self.json:
            for part in wrapped(one_visible_line(self._said(text)), self._width()):
                self._print(self._coloured(part, mood))

    def lines(self, text: str, mood: str = "") -> None:
        """A text that is meant to have several lines, as a page or an answer has."""
        for line in visible(self._said(text)).split("\n"):
            self.line(line, mood)

    def value(self, value: object) -> None:
        """An answer for programs; silent without --json."""
        if self.json:
            self._print(shown_json(value))

    def report(self, text: str, value: Mapping[str, object], mood: str = "") -> None:
        """The same fact as a line for people or a value for programs; on standard error if it cannot be written, as on
        a full disk."""
        try:
            self.line(text, mood)
            self.value(value)
        except BrokenPipeError:
            raise  # its reader went away
        except OSError as error:
            error.filename = "stdout"
            self.lost = error
            self.notice(text)

    def write_raw(self, data: bytes, *, last: bool = False) -> None:
        """A file's own bytes: untouched in a pipe or a file, as `visible` text on a terminal. `last`: no more come."""
        buffer = getattr(self.out, "buffer", None)
        if buffer is None or self.out.isatty():
            print(visible(self._decoder.decode(data, last)), end="", file=self.out, flush=True)
            return
        self.out.flush()
        buffer.write(data)
        buffer.flush()

    def write_file(self, data: bytes) -> None:
        """The whole of a file; on a terminal the last line is ended, so that the prompt begins a new line."""
        self.write_raw(data, last=True)
        if data and not data.endswith(b"\n") and self.out.isatty():
            self._print("")

    def redraw(self, lines: Sequence[tuple[str, str]]) -> None:
        """Replace the terminal's screen with these lines (text, mood); elsewhere, append them."""
        if self.out.isatty():
            print("\x1b[H\x1b[2J\x1b[3J", end="", file=self.out)
        for text, mood in lines:
            self.line(text, mood)
        if not self.out.isatty():
            self.line()

    def notice(self, text: str) -> None:
        """A notice on standard error, in both forms: one line, as `line`. Where nothing can be written, nothing is."""
        with suppress(OSError, ValueError):  # ValueError: a plug-in has closed it
            _put(one_visible_line(self._said(text)), self.err)

    def error(self, text: str, value: Mapping[str, object]) -> None:
        if self.json:
            try:
                return self.value({"error": dict(value)})
            except BrokenPipeError:
                raise
            except OSError:
                pass  # it is said below
        self.notice(coded("command.paos", said=text))

    def _said(self, text: str) -> str:
        return render(text, self.language()) if isinstance(text, CodedText) else text

    def _print(self, text: str) -> None:
        """Raises `OSError` where it cannot be written, also where a plug-in has closed the stream."""
        try:
            _put(text, self.out)
        except ValueError as error:
            raise OSError(errno.EBADF, str(error)) from error

    def _is_terminal(self) -> bool:
        return not getattr(self.out, "closed", False) and self.out.isatty()

    def _width(self) -> int:
        """The terminal's width; 0: no terminal, lines are not wrapped."""

        try:
            return os.get_terminal_size(self.out.fileno()).columns if self._is_terminal() else 0
        except (OSError, ValueError):
            return 0

    def _coloured(self, text: str, mood: str) -> str:
        if mood in _COLOURS and self._is_terminal() and not os.environ.get("NO_COLOR"):
            return f"\x1b[{_COLOURS[mood]}m{text}\x1b[0m"
        return text


def _put(text: str, stream: IO[str]) -> None:
    """At once: a pipe or a log is followed live."""
    try:
        print(text, file=stream, flush=True)
    except RuntimeError:  # a signal's handler says it, and what the signal interrupted is writing to the stream
        threading.Thread(target=_put_late, args=(text, stream), name=LATE).start()


def _put_late(text: str, stream: IO[str]) -> None:
    with suppress(OSError, ValueError):
        print(text, file=stream, flush=True)


def visible(text: str) -> str:
    """Text that may come from any file or peer, its lines as they are."""
    return shown_text(text, keep="\t\n")


def one_visible_line(text: str) -> str:
    """Such a text as a part of one line."""
    return shown_text(text, keep="\t")


class LentStream(io.TextIOWrapper):
    """A standard stream of a process that runs plug-ins: they print on it, and one that closes it closes nothing."""

    def close(self) -> None:
        with suppress(OSError, ValueError):
            self.flush()


class VisibleStream(LentStream):
    """Standard error of a process: also what a library logs, or a traceback, may quote any peer."""

    def write(self, text: str) -> int:
        return super().write(visible(text))


def columns(rows: Sequence[tuple[str, ...]], indent: str = "") -> list[str]:
    """Rows as lines with aligned columns; wide (Chinese) signs count twice. No text makes a row: further lines of a
    last cell stand below it, those of any other are joined."""
    if not rows:
        return []
    cells = [[" ".join(visible(cell).splitlines()) for cell in row[:-1]] for row in rows]
    widths = [max(_cells(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = []
    for row, (*_, last) in zip(cells, rows, strict=True):
        head = indent + "".join(c + " " * (w + 2 - _cells(c)) for c, w in zip(row, widths, strict=True))
        for text in visible(last).splitlines() or [""]:
            lines.append((head + text).rstrip())
            head = " " * _cells(head)
    return lines


def wrapped(text: str, width: int, hang: int = 4) -> list[str]:
    """A line in pieces of at most `width` cells (0: whole), those after the first indented by `hang` more. A word that
    is longer, as paths are, stays whole, so that it can be copied."""
    if not width or _cells(text) <= width:
        return [text]
    indent = " " * min(len(text) - len(text.lstrip()) + hang, width // 2)
    lines, line = [], ""
    for word in _words(text):
        if line.strip() and _cells(line + word.rstrip()) > width:
            lines.append(line.rstrip())
            line = indent + word.lstrip()
        else:
            line += word
    return [*lines, line.rstrip()]


def _words(text: str) -> list[str]:
    """Pieces after which a line may end: after spaces, and after each wide (Chinese) sign."""

    return re.findall(r"\s*[\u2e80-\u9fff\uff00-\uffef]|\s*[^\s\u2e80-\u9fff\uff00-\uffef]+|\s+$", text)


def _cells(text: str) -> int:
    """Its width in terminal cells."""
    from unicodedata import east_asian_width

    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)
