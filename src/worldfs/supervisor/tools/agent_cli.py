"""A command-line agent: its command line, and the reader of its report of its own run."""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Final

from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import Json

LINE: Final = 1 << 24  # bytes: a longer line is no report
WHOLE: Final = 1 << 20  # bytes kept of what is no line of JSON: a report may be one document of many lines
REFUSED: Final = re.compile(
    r"permission|not in workspace|outside the allowed|denied|not granted|read-only file system|not registered"
    r"|tool_not_|policy|sandbox|operation not permitted",
    re.IGNORECASE,
)


class ReportReader(ABC):
    """A tool's report on its standard output, read as it comes.

    Access to the state directory is of two kinds, "read" and "write"; a shell command that was refused is of neither
    (""). What was refused and never worked afterwards was out of reach.
    """

    def __init__(self, state_dir: str) -> None:
        self.places = tuple({os.path.abspath(state_dir), os.path.realpath(state_dir)})
        self.answer = ""
        self.model = ""
        self.tokens: int | None = None
        self.cost: float | None = None
        self.errors: list[str] = []
        self.worked: set[str] = set()  # kinds of access
        self.refused: dict[str, str] = {}  # kind of access → what was refused
        self.granted = False  # the tool itself reports that it may read and write there
        self._rest = b""
        self._other: list[bytes] = []

    @abstractmethod
    def read_event(self, value: Json) -> bool:
        """One object of the report; False: not useful in the log."""

    def feed(self, data: bytes) -> bytes:
        """Bytes as they come, in any pieces; what of them belongs in the log."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        kept = b"".join(line + b"\n" for line in lines if self._line(line))
        if len(self._rest) > LINE:
            kept, self._rest = kept + self._rest, b""
        return kept

    def end(self) -> bytes:
        """The tool has ended: what did not end with a line, for the log."""
        rest, self._rest = self._rest, b""
        kept = rest if rest and self._line(rest) else b""
        value = _json(b"\n".join(self._other))
        if isinstance(value, dict):
            self.read_event(value)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    self.read_event(item)
        return kept

    def _line(self, line: bytes) -> bool:
        value = _json(line) if line[:1] == b"{" else None
        if isinstance(value, dict):
            try:
                return self.read_event(value)
            except (TypeError, ValueError, KeyError, AttributeError):  # a shape of another version: kept, not read
                return True
        if sum(map(len, self._other)) + len(line) <= WHOLE:
            self._other.append(line)
        return True

    # -- what the readers share --------------------------------------------------------------------------------------

    def touches(self, value: object) -> bool:
        """Does a tool's input name something in the state directory?"""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return any(place in text for place in self.places)

    def note_access(self, kind: str, value: object, error: str | None) -> None:
        """One access to the state and its result; an error that is no refusal is ignored."""
        if not self.touches(value):
            return
        if error is None:
            self.worked.add(kind or "read")
        elif REFUSED.search(error):
            self.refused[kind] = " ".join(error.split())[:300]

    def out_of_reach(self, wrote: bool) -> str:
        """Why the tool could not use the state; "" if it could. `wrote`: a file there was changed."""
        worked = self.worked | ({"write"} if wrote else set())
        for kind, what in self.refused.items():
            if kind not in worked if kind else not worked:
                return coded("command.refused_access", what=what)
        if wrote or self.granted or "write" in worked:
            return ""
        return coded("command.no_evidence")


class AgentCli(ABC):
    """One known tool. Stateless."""

    name: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]  # base names of its executable and of its package
    format_options: ClassVar[tuple[str, ...]]
    reads: ClassVar[type[ReportReader]]
    grants: ClassVar[bool] = False  # its own option for a directory is enough: nothing else can stop it there

    @abstractmethod
    def preset(self, state_dir: str, words: Sequence[str], model: str | None) -> tuple[str, ...]:
        """The whole command line that grants it one directory more than its workspace, and makes it report."""

    @abstractmethod
    def headless(self, words: Sequence[str]) -> bool:
        """Whether these arguments start a run without a terminal."""

    @abstractmethod
    def with_report_options(self, words: Sequence[str]) -> tuple[str, ...]:
        """The same arguments, and those that make it report line by line."""

    def silent(self, words: Sequence[str]) -> bool:
        """Whether the caller's own output format prints nothing before the end."""
        return not any("stream" in word for word in words)

    def reader(self, state_dir: str) -> ReportReader:
        return self.reads(state_dir)


def base_name(word: str) -> str:
    """A program's name without its folder; a package's without its version (`npx @openai/codex@latest`)."""
    name = word.rpartition("/")[2]
    return name.partition("@")[0] or name


def _json(data: bytes) -> object:
    try:
        return parse_json(data)
    except ValueError:
        return None
