"""What a text of tasks.json or memory.md holds, fact by fact, and the version a rewrite was made from, put together.

A fact is a part of an entry: a note of memory.md is an entry with one part, a task is one with a part for each member.
The part "" says that the entry exists.
"""

from __future__ import annotations

import json
from typing import Protocol

from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.formats.agent.memory_outline import list_marker, remark_text
from worldfs.formats.agent.object_schema import preview
from worldfs.storage.revision import of

Entries = dict[str, object]
"""By name; two that are equal hold the same facts."""
Facts = dict[str, str | None]
"""The parts of one entry by name, each a digest or a short text; None, or missing: it says nothing."""


class BaseFacts(Protocol):
    """What the file's history says of the version that a rewrite was based on (agents/fact_history.py)."""

    def was_read(self, name: str, part: str = "") -> bool:
        """Was this fact of ours in the version that was read?"""

    def is_stale(self, name: str, part: str, value: str | None) -> bool:
        """Is this what stood there when it was read, and no longer does?"""


class MemoryFacts:
    """memory.md: one entry for each line with words, without its list marks."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # by line

    def entries(self, data: bytes) -> Entries:
        known, found = self._names, dict[str, object]()
        if len(known) > 20_000:
            known.clear()
        for line in data.decode("utf-8-sig", "replace").splitlines():
            name = known.get(line)
            if name is None:
                name = known[line] = _note(line)
            if name:
                found[name] = line.strip()
        return found

    def facts(self, entry: object) -> Facts:
        return {"": "1"}

    def describe(self, entry: object, part: str) -> str:
        return preview(entry)

    def base(self, ours: bytes, theirs: bytes, reading: BaseFacts) -> bytes:
        """`ours` without what was not there yet, and with what has gone since as `theirs` still has it."""
        kept = [line for line in ours.splitlines(keepends=True) if not (name := _line(line)) or reading.was_read(name)]
        gone = [line for line in theirs.splitlines() if (name := _line(line)) and reading.is_stale(name, "", "1")]
        return b"".join(kept) + b"".join(b"\n" + line for line in gone) + b"\n"


class TaskFacts:
    """tasks.json: one entry a task, by its id."""

    def entries(self, data: bytes) -> Entries:
        return {id: task for task in as_objects(_tasks(data)["tasks"]) if isinstance(id := task.get("id"), str)}

    def facts(self, entry: object) -> Facts:
        return {"": "1", **{key: _digest(value) for key, value in as_object(entry).items() if key != "id"}}

    def describe(self, entry: object, part: str) -> str:
        return f"{as_object(entry)['id']}: {part} was {preview(as_object(entry).get(part))}"

    def base(self, ours: bytes, theirs: bytes, reading: BaseFacts) -> bytes:
        """`ours` without the tasks that were not there yet, with members as they were where `theirs` shows it."""
        value, there, tasks = _tasks(ours), self.entries(theirs), []
        listed = as_objects(value["tasks"])
        for task in listed:
            name = as_text(task.get("id"))
            other = as_object(there.get(name))
            if not reading.was_read(name):
                continue
            facts = self.facts(other) if other else {}
            old = {}
            for key in {**task, **other}:
                if key == "id" or reading.was_read(name, key):
                    old[key] = task.get(key)
                else:
                    old[key] = other.get(key) if reading.is_stale(name, key, facts.get(key)) else None
            tasks.append({key: item for key, item in old.items() if item is not None})
        ids = {task.get("id") for task in listed}
        gone = [name for name in there if name not in ids and reading.is_stale(name, "", "1")]
        tasks += [as_object(there[name]) for name in gone]
        return json.dumps({**value, "tasks": tasks}).encode()


def _tasks(data: bytes) -> dict[str, object]:
    from worldfs.formats.agent.task_normalizer import normalize

    value: dict[str, object] = normalize(parse_json(data.decode("utf-8-sig")))  # a text that was judged before
    return value


def _digest(value: object) -> str | None:
    if value is None:
        return None
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 16 else of(text.encode())


def _line(line: bytes) -> str:
    return _note(line.decode("utf-8-sig", "replace"))


def _note(line: str) -> str:
    """The name of what a line says; "" for a heading, and for one that says nothing."""
    bare = line.strip()
    if not bare or bare[0] == "#":
        return ""
    text = " ".join(remark_text(bare[len(list_marker(bare)) :])[0].split())
    return of(text.encode("utf-8", "replace")) if any(sign.isalnum() for sign in text) else ""
