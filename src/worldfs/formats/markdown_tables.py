"""Markdown pipe tables: found by their header, read by column name, changed cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .prose import BOM, one_line, width, without_brackets

_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*\|?[ \t]*+")


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table of a document: `first` is its header's line, `body` the line of each row."""

    first: int
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    body: tuple[int, ...]

    @property
    def end(self) -> int:
        """The line after the table."""
        return (self.body[-1] if self.body else self.first + 1) + 1

    def column(self, *names: str) -> int | None:
        """The first column whose header is one of `names`, without regard to case, bold or a unit in brackets."""
        wanted = {name.casefold() for name in names}
        return next((i for i, word in enumerate(self.header) if plain(word) in wanted), None)

    def named(self, spellings: Mapping[str, Iterable[str]]) -> dict[str, int]:
        """Which column says what: {meaning: column} for the meanings that the header has."""
        found = {meaning: self.column(*words) for meaning, words in spellings.items()}
        return {meaning: column for meaning, column in found.items() if column is not None}


def plain(header: str) -> str:
    """A header as it is compared: no bold, no back-ticks, no brackets, lower case, single spaces."""
    bare = without_brackets(header)
    return " ".join(re.sub(r"[*`_:：]+", " ", bare).split()).casefold()


def find(lines: Sequence[str], mask: Sequence[int] | None = None) -> list[MarkdownTable]:
    """Every table outside fenced blocks, in order."""
    found, number = [], 1
    while number < len(lines):
        rule = lines[number].rstrip("\r\n")
        if (
            "-" in rule
            and "|" in rule
            and "|" in lines[number - 1]
            and (mask is None or (mask[number] and mask[number - 1]))
            and _RULE.fullmatch(rule)
        ):
            stop = number + 1
            while stop < len(lines) and "|" in lines[stop] and (mask is None or mask[stop]):
                stop += 1
            header = tuple(values(lines[number - 1].removeprefix(BOM)))
            body = tuple(range(number + 1, stop))
            rows = tuple(tuple((values(lines[i]) + [""] * len(header))[: len(header)]) for i in body)
            found.append(MarkdownTable(number - 1, header, rows, body))
            number = stop + 1
        else:
            number += 1
    return found


def spans(line: str) -> list[tuple[int, int]]:
    """Where the cells of a row begin and end in the line (blanks included, bars excluded); `\\|` is no bar."""
    bare = line.rstrip("\r\n")
    bars, i = [], 0
    while i < len(bare):
        if bare[i] == "\\":
            i += 2
            continue
        if bare[i] == "|":
            bars.append(i)
        i += 1
    left = len(bare) - len(bare.lstrip())
    right = len(bare.rstrip())
    begin = left
    if bars and bars[0] == left:
        begin = bars.pop(0) + 1
    cells = []
    for bar in bars:
        cells.append((begin, bar))
        begin = bar + 1
    if begin < right or (not cells and begin <= right):
        cells.append((begin, right))
    return cells


def values(line: str) -> list[str]:
    """The cells of a row as they read: trimmed, escapes undone."""
    return [unescape(line[a:b].strip()) for a, b in spans(line)]


def is_whole(line: str, header: Sequence[str]) -> bool:
    """Whether a row has a cell for each column. The last line of a text, if it has no line end, may be the first part
    of what its writer adds later: it is whole only with its closing bar."""
    cells = spans(line)
    closed = line.endswith(("\n", "\r")) or line[cells[-1][1] :].startswith("|")
    return closed and len(cells) >= len(header)


def strays(lines: Sequence[str], mask: Sequence[int]) -> list[int]:
    """Lines that begin or end with a bar and belong to no table."""
    inside = {line for table in find(lines, mask) for line in range(table.first, table.end)}
    outside = (number for number in range(len(lines)) if mask[number] and number not in inside)
    return [number for number in outside if "|" in (text := lines[number].strip())[:1] + text[-1:]]


def replace(line: str, column: int, value: str) -> str:
    """The row with one cell changed, padded to its old width; every other byte stays. A short row is lengthened."""
    cells = spans(line)
    if column >= len(cells):
        bare = line.rstrip("\r\n")
        head = bare.rstrip() if bare.rstrip().endswith("|") else bare.rstrip() + " |"
        blanks = "  |" * (column - len(cells))
        return f"{head}{blanks} {escape(value)} |{line[len(bare) :]}"
    a, b = cells[column]
    return line[:a] + _pad(f" {escape(value)} ", width(line[a:b])) + line[b:]


def row(cells: Sequence[str], widths: Sequence[int] = ()) -> str:
    """A row without its line end; cells escaped and padded to `widths` (columns on a terminal)."""
    padded = [_pad(escape(c), widths[i] if i < len(widths) else 0) for i, c in enumerate(cells)]
    return "| " + " | ".join(padded) + " |"


def render(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A whole table as lines without ends, its columns aligned."""
    widths = [max(3, *(width(escape(r[i])) for r in (header, *rows))) for i in range(len(header))]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return [row(header, widths), rule, *(row(r, widths) for r in rows)]


def escape(value: str) -> str:
    """A value as it may be in a cell: one line, bars and the backslashes that would eat one escaped."""
    text = one_line(value)
    return re.sub(r"\\(?=[\\|]|$)|\|", lambda m: "\\" + m[0], text) if "|" in text or "\\" in text else text


def unescape(cell: str) -> str:
    """What `escape` made, and `\\|` as people write it."""
    return re.sub(r"\\([\\|])", r"\1", cell) if "\\" in cell else cell


def _pad(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))
