"""The row: one file of the world, declared. A tree is a table of rows (layout.py holds them)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from .path import segments


class Kind(StrEnum):
    """The seven kinds of file (HOUSE §3)."""

    RECORD = "record"
    LOG = "log"
    DROP = "drop"
    VIEW = "view"
    CONTROL = "control"
    SHEET = "sheet"
    LINK = "link"


AT_STARTUP = "at startup"  # a writer only while the world is being assembled


class Row(NamedTuple):
    """`pattern` holds `{name}` for one segment and, last, `{name*}` for the rest.

    `writers` maps a role to a condition: "" or `AT_STARTUP`. `key` is where the bytes lie in the room's store, with the
    same braces; "" means computed. `view` names the function that computes a View, Sheet or Control.
    """

    pattern: str
    kind: Kind
    about: str
    readers: frozenset[str] = frozenset()
    writers: Mapping[str, str] = MappingProxyType({})
    key: str = ""
    view: str = ""
    document: str = ""  # name of the format that reads it
    blocking: bool = False  # a read may wait for the next change
    template: str = ""  # what onboard writes: name of a template
    in_matrix: bool = False  # one of the ten files of the specification's permission matrix

    @property
    def name(self) -> str:
        return self.pattern.rsplit("/", 1)[1]

    def fill(self, names: Mapping[str, str]) -> str:
        """The store key of this row for these segment names."""
        text = self.key
        for name, value in names.items():
            text = text.replace("{" + name + "}", value).replace("{" + name + "*}", value)
        return text


def match(pattern: Sequence[str], path: Sequence[str]) -> dict[str, str] | None:
    """Names captured when `path` is an instance of `pattern`, else None."""
    names: dict[str, str] = {}
    for index, part in enumerate(pattern):
        if part.startswith("{") and part.endswith("*}"):
            if index >= len(path):
                return None
            names[part[1:-2]] = "/".join(path[index:])
            return names
        if index >= len(path):
            return None
        if part.startswith("{"):
            names[part[1:-1]] = path[index]
        elif part != path[index]:
            return None
    return names if len(pattern) == len(path) else None


class Table(NamedTuple):
    """All rows, found by path."""

    rows: tuple[Row, ...]

    def find(self, path: str) -> tuple[Row, dict[str, str]] | None:
        parts = segments(path)
        for row in self.rows:
            names = match(segments(row.pattern), parts)
            if names is not None:
                return row, names
        return None

    def below(self, path: str) -> Iterator[tuple[str, Row, dict[str, str], bool]]:
        """Possible children of a directory: (segment pattern, row, names so far, is this the row itself)."""
        parts = segments(path)
        for row in self.rows:
            pattern = segments(row.pattern)
            if pattern and pattern[-1].endswith("*}") and len(parts) >= len(pattern):
                names = match(pattern, parts)
                if names is not None:
                    yield pattern[-1], row, names, True
                continue
            if len(pattern) <= len(parts):
                continue
            names = match(pattern[: len(parts)], parts)
            if names is not None:
                yield pattern[len(parts)], row, names, len(pattern) == len(parts) + 1
