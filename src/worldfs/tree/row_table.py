"""The rows that declare the files of the world. A tree is a table of rows (world/layout/ holds them)."""

# The annotations are evaluated: typing.NamedTuple compiles each that is text, which takes longer.

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from .path import segments


class FileKind(StrEnum):
    """The seven kinds of file."""

    RECORD = "record"
    LOG = "log"
    DROP = "drop"
    VIEW = "view"
    CONTROL = "control"
    SHEET = "sheet"
    LINK = "link"


AT_STARTUP = "at startup"  # a writer only while the world is being assembled
COMMAND = "command"  # a binding needs the right to command the node of the row
INVOKE = "invoke"  # a binding needs the right to use the services that every agent has


class FileRow(NamedTuple):
    """`pattern` holds `{name}` for one segment and, last, `{name*}` for the rest.

    `writers` maps a role to a condition: "" or `AT_STARTUP`. `key` is the key in the mount's store, with the
    same braces; "" means computed. `view` names the function that computes a View, Sheet or Control.
    """

    pattern: str
    kind: FileKind
    about: str
    readers: frozenset[str] = frozenset()
    writers: Mapping[str, str] = MappingProxyType({})
    key: str = ""
    view: str = ""
    document: str = ""  # name of the format that reads it
    blocking: bool = False  # a read may wait for the next change
    template: str = ""  # what onboard writes: name of a template
    per_robot: bool = False  # where robots have stores of their own, it lies there
    in_matrix: bool = False  # one of the ten files of the specification's permission matrix
    mount: str = "workspace"  # name of its mount
    literal: object = None  # the JSON value of a View that never changes
    title: str = ""  # of a directory's README.md: its first line
    needs: str = ""  # COMMAND | INVOKE: the right of a binding that a write needs beside the role
    given: Mapping[str, str] = MappingProxyType({})  # names of this row in addition to those of its path

    @property
    def name(self) -> str:
        return self.pattern.rsplit("/", 1)[1]

    @property
    def written(self) -> bool:
        """Whether there is a role that writes it."""
        return bool(self.writers)

    def fill(self, names: Mapping[str, str]) -> str:
        """The store key of this row for these segment names."""
        text = self.key
        for name, value in names.items():
            text = text.replace("{" + name + "}", value).replace("{" + name + "*}", value)
        return text


Found = tuple[FileRow, dict[str, str]]


class PathNode:
    """A node of the trie: the possible next segments."""

    __slots__ = ("fixed", "mounts", "rest", "row", "rows", "variable")

    def __init__(self) -> None:
        self.fixed: dict[str, PathNode] = {}
        self.variable: tuple[str, PathNode] | None = None  # the variable's name, and the next node
        self.rest: tuple[str, FileRow] | None = None  # the row that takes all segments that are left
        self.row: FileRow | None = None  # the file that is exactly here
        self.rows: list[FileRow] = []  # every file here and below
        self.mounts: dict[str, tuple[str, ...]] = {}  # by role: those that it sees (`access.file_roles`)

    @property
    def file(self) -> bool:
        return self.row is not None


class RowTable:
    """All rows, found by path: a trie over segments, so that a look-up costs the path's length and nothing else."""

    def __init__(self, rows: tuple[FileRow, ...]) -> None:
        self.rows = rows
        self.root = PathNode()
        for row in rows:
            self._add(row)

    def _add(self, row: FileRow) -> None:
        place = self.root
        place.rows.append(row)
        for part in segments(row.pattern):
            if part.endswith("*}"):
                if place.rest is not None:
                    raise ValueError(f"{row.pattern}: already declared")
                place.rest = part[1:-2], row
                return
            if part.startswith("{"):
                if place.variable is None:
                    place.variable = part[1:-1], PathNode()
                name, place = place.variable
                if name != part[1:-1]:
                    raise ValueError(f"{row.pattern}: {{{name}}} is already the variable here")
            else:
                place = place.fixed.setdefault(part, PathNode())
            place.rows.append(row)
        if place.row is not None:
            raise ValueError(f"{row.pattern}: already declared")
        place.row = row

    def matches(self, parts: Sequence[str]) -> list[tuple[PathNode, dict[str, str]]]:
        """Every node that `parts` lead to; a literal segment comes before a variable."""
        found: list[tuple[PathNode, dict[str, str]]] = [(self.root, {})]
        for part in parts:
            after: list[tuple[PathNode, dict[str, str]]] = []
            for place, names in found:
                fixed = place.fixed.get(part)
                if fixed is not None:
                    after.append((fixed, names))
                if place.variable is not None:
                    after.append((place.variable[1], {**names, place.variable[0]: part}))
            if not after:
                return []
            found = after
        return found

    def rests(self, parts: Sequence[str]) -> list[tuple[FileRow, dict[str, str]]]:
        """Rows with `{rest*}` that take what `parts` end with, the longest literal part first. May be empty."""
        found: list[tuple[FileRow, dict[str, str]]] = []
        here: list[tuple[PathNode, dict[str, str]]] = [(self.root, {})]
        for index, part in enumerate(parts):
            after: list[tuple[PathNode, dict[str, str]]] = []
            for place, names in here:
                if place.rest is not None:
                    name, row = place.rest
                    found.append((row, {**names, name: "/".join(parts[index:])}))
                fixed = place.fixed.get(part)
                if fixed is not None:
                    after.append((fixed, names))
                if place.variable is not None:
                    after.append((place.variable[1], {**names, place.variable[0]: part}))
            if not after:
                break
            here = after
        found.reverse()
        return found

    def find_all(self, parts: Sequence[str]) -> list[Found]:
        """Every row that matches a path, the most literal first."""
        exact: list[Found] = [(place.row, names) for place, names in self.matches(parts) if place.row is not None]
        return exact + self.rests(parts)

    def find(self, path: str) -> Found | None:
        """The most literal row of a path."""
        found = self.find_all(segments(path))
        return found[0] if found else None

    def below(self, path: str) -> Iterator[tuple[str, FileRow, dict[str, str], bool]]:
        """Possible children of a directory: (segment pattern, row, names so far, is this the row itself)."""
        parts = segments(path)
        for row, names in self.rests(parts):
            yield segments(row.pattern)[-1], row, names, True
        for place, names in self.matches(parts):
            for row in place.rows:
                pattern = segments(row.pattern)
                if len(pattern) > len(parts):
                    yield pattern[len(parts)], row, names, len(pattern) == len(parts) + 1
