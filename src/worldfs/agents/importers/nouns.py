"""What an importer finds and reads: a source, items with an identity of their own, and what was not understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from worldfs.ground.model import AgentTask, Message, Remark

Json = dict[str, Any]
T = TypeVar("T")


class Source(NamedTuple):
    """One thing to bring over: a file, or files that belong together. Nothing in it is ever changed."""

    importer: str
    place: Path  # the directory that nothing leads out of
    path: str  # below the place, for people: the file, or the folder of the files
    files: tuple[str, ...] = ()  # every file that is read, below the place
    size: int = 0  # bytes of them all
    agent: str | None = None  # whose it is, where its place says so
    offered: str = ""  # taken only by who asks for it by this word


class Item(NamedTuple, Generic[T]):
    """One thing that comes over. `key` stays the same when its content changes; `value` is the content."""

    key: str
    value: T
    where: str  # file, and line or pointer: for people
    to: str | None = None  # the one agent that it is meant for
    offered: str = ""
    counts: Mapping[str, int] = {}  # what it adds to the lifetime figures of metrics.json


class Left(NamedTuple):
    """What did not come over. `data` are its bytes as they stand in the source (`whole`: all of them)."""

    where: str
    found: str
    expected: str = ""
    fix: str = ""
    data: bytes = b""
    whole: bool = True
    meant: bool = False  # understood, and left out on purpose: deleted at the source, a reader's own bookkeeping


class Imported:
    """What one source holds. `entries` of a stream are read while they are taken; `left` and `passed` grow meanwhile.

    `entries()`: lines for the journal, with their own time; each is made from one place of the source, the same at
    every reading. `passed`: what is understood and not taken, counted by kind.
    """

    def __init__(
        self,
        *,
        agent: str | None = None,
        tasks: list[Item[AgentTask]] | None = None,
        remarks: list[Item[Remark]] | None = None,
        letters: list[Item[Message]] | None = None,
        entries: Callable[[], Iterator[Item[Json]]] | list[Item[Json]] | None = None,
        baseline: list[Item[Mapping[str, int]]] | None = None,
        left: list[Left] | None = None,
        passed: dict[str, int] | None = None,
    ) -> None:
        self.agent = agent
        self.tasks = [] if tasks is None else tasks
        self.remarks = [] if remarks is None else remarks
        self.letters = [] if letters is None else letters
        self.baseline = [] if baseline is None else baseline
        self.left = [] if left is None else left
        self.passed = {} if passed is None else passed
        self.stream = callable(entries)
        self._entries = [] if entries is None else entries

    def entries(self) -> Iterator[Item[Json]]:
        """Each call reads from the beginning."""
        return iter(self._entries() if callable(self._entries) else self._entries)

    def passed_over(self, kind: str) -> None:
        self.passed[kind] = self.passed.get(kind, 0) + 1
