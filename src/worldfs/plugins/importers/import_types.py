"""What an importer finds and reads: a source, items with an identity of their own, and what was not understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from worldfs.base.messages import coded
from worldfs.base.model import AgentTask, Message, Remark

Json = dict[str, object]
T = TypeVar("T")

LEFT_MAX = 1000  # of one source
BYTES_MAX = 4 << 20  # of them, held and kept


class ImportSource(NamedTuple):
    """One thing to bring over: a file, or files that belong together. Nothing in it is ever changed."""

    importer: str
    base_dir: Path  # the directory that nothing leads out of
    path: str  # below the place, for people: the file, or the folder of the files
    files: tuple[str, ...] = ()  # every file that is read, below the place
    size: int = 0  # bytes of them all
    agent: str | None = None  # whose it is, where its place says so
    offered: str = ""  # taken only if the caller asks for it by this word


class ImportItem(NamedTuple, Generic[T]):
    """One thing that comes over. `key` (16 hex digits) stays the same when its content changes; `value` is the content.

    For a line of the journal the key says what it is and what it says: a line is never changed.
    """

    key: str
    value: T
    location: str  # file, and line or pointer: for people
    to: str | None = None  # the one agent that it is meant for
    offered: str = ""
    at: str = ""  # when its file was last written: the time of what has none of its own


class SkippedItem(NamedTuple):
    """What did not come over. `data` are its bytes as they are in the source (`whole`: all of them)."""

    location: str
    found: str
    expected: str = ""
    fix: str = ""
    data: bytes = b""
    whole: bool = True
    intended: bool = False  # understood, and left out on purpose: deleted at the source, or there twice


class SkippedItems(list[SkippedItem]):
    """What was left, in their order: a source of rubbish fills neither memory nor screen.

    The first 1,000 are named, the first megabytes of them with their bytes; `more` counts the rest.
    """

    def __init__(self) -> None:
        super().__init__()
        self.more = 0
        self._bytes = 0

    def append(self, left: SkippedItem) -> None:
        if len(self) >= LEFT_MAX:
            self.more += 1
            return
        self._bytes += len(left.data)
        super().append(left if self._bytes <= BYTES_MAX else left._replace(data=b"", whole=False))

    def clear(self) -> None:
        super().clear()
        self.more = self._bytes = 0


class ParsedSource:
    """What one source holds.

    `lines` go to the journal, with their own time. A `stream` gives them one by one instead, the same at every call;
    `left` and `passed` grow while it is read. `passed`: what is understood and not taken, counted by kind.
    """

    def __init__(self, agent: str | None = None) -> None:
        self.agent = agent
        self.tasks: list[ImportItem[AgentTask]] = []
        self.remarks: list[ImportItem[Remark]] = []
        self.messages: list[ImportItem[Message]] = []
        self.lines: list[ImportItem[Json]] = []
        self.stream: Callable[[], Iterator[ImportItem[Json]]] | None = None
        self.baseline: list[ImportItem[Mapping[str, object]]] = []  # a metrics.json that another program has counted
        self.skipped = SkippedItems()
        self.ignored: dict[str, int] = {}

    def entries(self) -> Iterator[ImportItem[Json]]:
        """Each call reads from the beginning."""
        return iter(self.lines) if self.stream is None else self.stream()

    def ignore(self, kind: str) -> None:
        self.ignored[kind] = self.ignored.get(kind, 0) + 1

    def too_large(self, where: str, fields: Iterable[str]) -> None:
        """Fields of a thing that comes over without them."""
        for field in fields:
            self.skipped.append(
                SkippedItem(
                    f"{where}/{field}", coded("plugin.large_field"), coded("plugin.small_field"), coded("plugin.stays")
                )
            )

    def shortened(self, where: str, characters: int) -> None:
        """A text that comes over without its end."""
        if characters:
            found = coded("plugin.more_characters", n=characters)
            self.skipped.append(
                SkippedItem(where, found, coded("plugin.shorter"), coded("plugin.they_stay"), intended=True)
            )
