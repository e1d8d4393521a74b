"""The plan of one set-up or its undoing: which files change, how, and the record that the home keeps of it."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Conflict, NotFound
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_object
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .settings_file import FileSettings, holds, put, take_out


class FileChange(NamedTuple):
    """A file and its text before and after; None: no file."""

    path: str
    old: str | None
    new: str | None


class SetupPlan(NamedTuple):
    changes: list[FileChange]
    record: Json  # by path; what `take_out` needs, and which directories were made
    left: list[str]  # by --undo: what others have changed since, and so stays

    @property
    def diff(self) -> str:
        return "".join(line for change in self.changes for line in _diff(change))


def plan_setup(files: Sequence[FileSettings], record: Json) -> SetupPlan:
    """What is still to be done; a file that holds its settings is left as it is."""
    changes: list[FileChange] = []
    kept: Json = {}
    for settings in files:
        path = settings.path
        old = _read(path)
        mine = as_object(record.get(path))
        if holds(settings, old):
            if mine:
                kept[path] = mine
            continue
        base, changed = take_out(path, old, mine)
        if changed:
            raise Conflict(
                coded("setup.changed_since", names=changed), path=path, op="setup", fix=coded("setup.remove_it")
            )
        new, made = put(settings, base)
        dirs = mine.get("dirs") or _missing_dirs(path)
        kept[path] = {**made, "dirs": dirs} if made else {}
        changes.append(FileChange(path, old, new))
    return SetupPlan(changes, {**record, **kept}, [])


def plan_undo(record: Json) -> SetupPlan:
    """What takes out everything that the record says was put in."""
    changes: list[FileChange] = []
    left: list[str] = []
    for path, mine in record.items():
        old = _read(path)
        new, changed = take_out(path, old, as_object(mine))
        left += changed
        if new != old:
            changes.append(FileChange(path, old, new))
    return SetupPlan(changes, record, left)


def carry_out(plan: SetupPlan) -> None:
    """Write the files. Raises `Conflict` if one has changed since it was planned."""
    for change in plan.changes:
        if _read(change.path) != change.old:
            raise Conflict(coded("setup.changed_meanwhile"), path=change.path, op="setup", fix=coded("setup.again"))
    for change in plan.changes:
        place = os.path.realpath(change.path)  # settings are often links into a directory of their own
        top = _existing(os.path.dirname(place))
        root = Root(top)
        try:
            if change.new is None:
                root.remove(os.path.relpath(place, top))
            else:
                root.replace(os.path.relpath(place, top), change.new.encode("utf-8"))
        finally:
            root.close()


def remove_made_dirs(record: Json) -> None:
    """Remove the directories that a set-up made, where nothing else is in them."""
    made = {str(path) for mine in record.values() for path in as_list(as_object(mine).get("dirs"))}
    for path in sorted(made, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(path)


# -- the record ------------------------------------------------------------------------------------------------------


def record_name(tool: str, project: str) -> str:
    """Its place in the home."""
    return f".paos/setup/{tool}-{hashlib.sha256(os.fsencode(project)).hexdigest()[:16]}.json"


def read_record(home: str, name: str) -> Json:
    text = _read(os.path.join(home, name))
    try:
        return as_object(parse_json(text or "{}"))
    except ValueError:
        raise BadInput(coded("setup.unreadable", why="JSON"), path=os.path.join(home, name), op="setup") from None


def write_record(home: str, name: str, record: Json) -> None:
    """Keep it in the home; an empty one is removed."""
    root = Root(home)
    try:
        if record:
            root.replace(name, json.dumps(record, ensure_ascii=True, indent=1).encode() + b"\n", private=True)
        elif os.path.exists(os.path.join(home, name)):
            root.remove(name)
    finally:
        root.close()


# -- files -----------------------------------------------------------------------------------------------------------


def _read(path: str) -> str | None:
    try:
        return read_given_file(path, op="setup").decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError:
        raise BadInput(
            coded("setup.unreadable", why="UTF-8"), path=path, op="setup", fix=coded("setup.repair")
        ) from None


def _missing_dirs(path: str) -> list[str]:
    place, missing = os.path.dirname(path), []
    while not os.path.isdir(place):
        missing.append(place)
        place = os.path.dirname(place)
    return missing


def _existing(place: str) -> str:
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    return place


def _diff(change: FileChange) -> Iterator[str]:
    one, other = (change.path if text is not None else os.devnull for text in (change.old, change.new))
    before, after = ((text or "").splitlines(keepends=True) for text in (change.old, change.new))
    for line in difflib.unified_diff(before, after, one, other, n=1):
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
