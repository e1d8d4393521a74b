"""`/at/<time>/…` and `/versions/<path>/…`: what the files of this tree were, with the rights of today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from worldfs.access.judge import judge
from worldfs.access.verb import Verb
from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.messages import coded
from worldfs.storage.plain_files import PlainFiles
from worldfs.storage.versioned_files import PastKind, VersionedFiles
from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import Stat, Wait, WriteContext, Written
from worldfs.tree.virtual_file import DatedView, DocumentView, Names, Subtree

from ..past_time import NO_PAST, parse_time, time_name
from .past_sources import DatedPath, PastSource, UnchangedPath, VersionedPath

if TYPE_CHECKING:
    from worldfs.base.clock import Clock
    from worldfs.storage.dated_versions import DatedVersions
    from worldfs.tree.row_table import FileRow

    from ..namespace import Namespace

ROOTS: Final = ("at", "versions")
LISTED: Final = 1000  # versions, the newest ones
Parts = tuple[str, ...]


def past_subtrees(space: Namespace) -> Mapping[str, Subtree]:
    """By view. `space`: whose rights are judged."""
    return {"at": AtSubtree(space), "versions": VersionsSubtree(space)}


class _PastSubtree:
    """Directories are those of today; files, those that were."""

    light = False

    def __init__(self, space: Namespace, clock: Clock | None = None) -> None:
        self._space, self._clock = space, clock or SystemClock()

    def read(self, names: Names) -> bytes:
        raise NotImplementedError

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None:
        raise NotImplementedError  # judged before: the rows have no writers

    def wait(self, names: Names) -> Wait | None:
        return None

    def _file(self, parts: Parts) -> PastSource | None:
        """A path whose past the actor may read; None: a directory, or nothing. `BadInput`: nothing is known of it."""
        path = "/" + "/".join(parts)
        real, role = self._space.real_path(path)
        found = self._space.tree.find_row(real) if role else None
        if found is None:
            return None
        row, names = found
        if not judge(role, Verb.READ, row):
            return None
        if row.key and row.kind in (FileKind.RECORD, FileKind.SHEET):
            store, key = self._space.stored(row, names)
            if isinstance(store, VersionedFiles) and store.keeps_versions(key):
                return None if self._holds_below(store, key) else VersionedPath(path, store, key)
        if self._directory(parts):
            return None
        source = self._view(path, row, names) if row.view else self._unchanged(path, row, names)
        if source is None:
            raise BadInput(
                coded("tree.no_past"), path=path, op="read", fix=coded("tree.read_now", path=path), code=NO_PAST
            )
        return source

    def _view(self, path: str, row: FileRow, names: Names) -> PastSource | None:
        """A computed file that follows from one document, or carries its own times."""
        view = self._space.behaviour(row)
        if isinstance(view, DatedView):
            return DatedPath(path, view.past(names))
        source = self._file(_segments(view.source(names))) if isinstance(view, DocumentView) else None
        if isinstance(source, VersionedPath) and isinstance(view, DocumentView):
            return VersionedPath(path, source.store, source.key, partial(view.read_past, names))
        return None

    def _unchanged(self, path: str, row: FileRow, names: Names) -> PastSource | None:
        """A stored file without versions."""
        if row.kind is not FileKind.RECORD or not row.key:
            return None
        store, key = self._space.stored(row, names)
        return UnchangedPath(path, store, key) if isinstance(store, PlainFiles) and store.info(key) else None

    def _dated(self, parts: Parts) -> DatedVersions | None:
        """Of a directory that is there with its files: the past of one of them."""
        real, _ = self._space.real_path("/" + "/".join(parts))
        for place, captured in self._space.tree.table.matches(real):
            for child in place.fixed.values():
                if child.row is not None and child.row.view:
                    view = self._space.behaviour(child.row)
                    if isinstance(view, DatedView):
                        return view.past(self._space.tree.full_names(captured, child.row))
        return None

    def _directory(self, parts: Parts) -> bool:
        """Whether there is such a directory: today, or of files that are gone."""
        if not parts:
            return True
        real, role = self._space.real_path("/" + "/".join(parts))
        found = self._space.tree.resolve(real, role) if role and real[0] not in ROOTS else None
        return (found is not None and found.directory) or next(self._gone(parts), None) is not None

    def _holds_below(self, store: VersionedFiles, key: str) -> bool:
        return any(other.startswith(f"{key}/") for other in store.versioned_keys())

    def _gone(self, parts: Parts) -> Iterator[str]:
        """Names in a directory whose names are not the layout's, of which there are versions; "/" after a directory."""
        real, role = self._space.real_path("/" + "/".join(parts))
        tree = self._space.tree
        places = [(row, {**names, _variable(row.pattern): ""}) for place, names in tree.table.matches(real)
                  if place.rest is not None and (row := place.rest[1])]  # fmt: skip
        for row, captured in [*tree.table.rests(real), *places]:
            names = tree.full_names(captured)
            if row.view or not row.key or not judge(role, Verb.READ, row) or not tree.mounts.holds(row.mount, names):
                continue
            store, key = self._space.stored(row, names)
            above = key.rstrip("/") + "/"
            for other in store.versioned_keys() if isinstance(store, VersionedFiles) else ():
                if other.startswith(above):
                    first, more, _ = other[len(above) :].partition("/")
                    yield first + more

    def _children(self, parts: Parts) -> set[str]:
        """The names in a directory, today's and those of files that are gone; "/" after a directory."""
        found = set(self._gone(parts))
        with suppress(UserError):
            real, role = self._space.real_path("/" + "/".join(parts))
            for name, row in self._space.tree.children(real, role).items():
                if parts or name not in ROOTS:
                    found.add(name if row is not None else f"{name}/")
        return found


class AtSubtree(_PastSubtree):
    """`/at/<time>/…`: the tree as it was. Its times are not listed: every time is there."""

    def dir_entry(self, names: Names) -> Stat | None:
        time, *parts = _segments(names["past"])
        at_ns = parse_time(time, self._clock)
        file = self._file(tuple(parts)) if parts else None
        if file is not None:
            return file.stat(at_ns)
        return Stat(True) if self._directory(tuple(parts)) and self._was(tuple(parts), at_ns) else None

    def _was(self, parts: Parts, at_ns: int) -> bool:
        """Whether a directory of today was there, as far as it is known."""
        dated = self._dated(parts)
        return dated is None or dated.at(at_ns).kind is not PastKind.ABSENT

    def list(self, names: Names) -> list[str]:
        time, *rest = _segments(names["past"]) or [""]
        if not time:
            return []
        at_ns, parts, found = parse_time(time, self._clock), tuple(rest), []
        for name in sorted(self._children(parts)):
            with suppress(UserError):
                if name.endswith("/"):
                    there = self._was((*parts, name[:-1]), at_ns)
                else:
                    file = self._file((*parts, name))
                    there = file is not None and bool(file.stat(at_ns))
                if there:
                    found.append(name)
        return found

    def read(self, names: Names) -> bytes:
        time, *parts = _segments(names["past"])
        file = self._file(tuple(parts))
        if file is None:
            raise NotFound(coded("tree.no_file"), op="read")
        return file.read(parse_time(time, self._clock))


class VersionsSubtree(_PastSubtree):
    """`/versions/<path>/<time>`: each version that is kept of a file, the newest ones listed."""

    def dir_entry(self, names: Names) -> Stat | None:
        parts = _segments(names["of"])
        if self._named(parts) is not None or self._directory(parts):
            return Stat(True)
        file = self._named(parts[:-1])
        if file is not None:
            return file.stat(parse_time(parts[-1], self._clock))
        self._file(parts)  # raises why there are none
        return None

    def _named(self, parts: Parts) -> PastSource | None:
        """A file of which there are versions."""
        with suppress(UserError):
            file = self._file(parts) if parts else None
            if file is not None and next(file.times(), None) is not None:
                return file
        return None

    def list(self, names: Names) -> list[str]:
        parts = _segments(names["of"])
        if not parts:
            return []
        file = self._named(parts)
        if file is not None:
            return [time_name(at) for at in islice(file.times(), LISTED)]
        found = []
        for name in sorted(self._children(parts)):
            if name.endswith("/") or self._named((*parts, name)) is not None:
                found.append(name if name.endswith("/") else f"{name}/")
        return found

    def read(self, names: Names) -> bytes:
        parts = _segments(names["of"])
        file = self._file(parts[:-1])
        if file is None:
            raise NotFound(coded("tree.no_file"), op="read")
        return file.read(parse_time(parts[-1], self._clock))


def _segments(rest: str) -> Parts:
    return tuple(part for part in rest.split("/") if part)


def _variable(pattern: str) -> str:
    return pattern.rpartition("{")[2].removesuffix("*}")
