"""tasks.json as an agent with file tools writes it, brought to the specification's form.

Known synonyms of words, forgotten ids, dates without a time and a bare list are understood; nothing is taken away. What
is not understood stays as it is, for `check` to name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from . import synonyms
from .document_schemas import TASK_PRIORITY, TASK_STATUS, TASK_TYPE
from .object_schema import is_time

_ENUMS: Final = (
    ("status", TASK_STATUS, synonyms.task_status),
    ("priority", TASK_PRIORITY, synonyms.task_priority),
    ("type", TASK_TYPE, synonyms.task_type),
)
_TIMES: Final = ("created_at", "completed_at")
_TEXTS: Final = ("description", "title", "name", "subject", "summary", "task")


def normalize(value: Any, taken: Iterable[str] = ()) -> Any:
    """The document with what is understood in the specification's words; `value` itself when that changes nothing.

    `taken`: ids of tasks elsewhere, which no forgotten id may become.
    """
    if type(value) is list:
        value = {"tasks": value}
    if type(value) is not dict or type(value.get("tasks")) is not list:
        return value
    old: list[Any] = value["tasks"]
    new = [_task(task) if type(task) is dict else task for task in old]
    new = _ids(new, taken)
    changed = len(new) != len(old) or any(a is not b for a, b in zip(old, new, strict=True))
    out = {**value, "tasks": new} if changed else value
    stamp = out.get("updated_at", "")
    if stamp is None or (type(stamp) is str and stamp and not is_time(stamp)):
        mended = _time(stamp)
        out = {**out, "updated_at": mended} if mended != stamp else out
    return out


def _task(task: dict[str, Any]) -> dict[str, Any]:
    out = task
    for name, known, own in _ENUMS:
        here = task.get(name)
        if type(here) is str and here not in known and (word := own(here)) != here:
            out = {**out, name: word}
    for name in _TIMES:
        here = task.get(name)
        if type(here) is str and not is_time(here) and (time := _time(here)) != here:
            out = {**out, name: time}
    number = task.get("id")
    if type(number) is int:
        out = {**out, "id": str(number)}
    if "description" not in task:
        text = next((task[key] for key in _TEXTS if type(task.get(key)) is str and task[key].strip()), None)
        if text is not None:
            out = {**out, "description": text}
    return out


def _time(text: str | None) -> str | None:
    """The time in the specification's form; "" means none; a text that is none stays for `check`."""
    if text is None or not text.strip():
        return "" if text is None else None
    from .time_normalizer import normalize_time

    return normalize_time(text) or text


def _ids(found: list[Any], taken: Iterable[str]) -> list[Any]:
    """Give every task an id of its own. The same task twice is one, its later copy holds."""
    by_id: dict[str, int] = {}
    out: list[Any] = []
    nameless: list[int] = []
    for task in found:
        name = task.get("id") if type(task) is dict else None
        if type(task) is not dict or (name is not None and (type(name) is not str)):
            out.append(task)
        elif not name or not name.strip():
            nameless.append(len(out))
            out.append(task)
        elif name not in by_id:
            by_id[name] = len(out)
            out.append(task)
        elif _says(out[by_id[name]]) == _says(task):
            out[by_id[name]] = {**out[by_id[name]], **task}
        else:
            nameless.append(len(out))
            out.append(task)
    if not nameless:
        return out
    used = {*by_id, *taken}
    for index in nameless:
        out[index] = {"id": next_id(used), **{k: v for k, v in out[index].items() if k != "id"}}
        used.add(out[index]["id"])
    return out


def _says(task: dict[str, Any]) -> str:
    return " ".join(str(task.get("description") or "").split())


def next_id(used: Iterable[str]) -> str:
    """The next id of the form `task-001`."""
    numbers = [int(match[1]) for name in used if (match := re.fullmatch(r"task-(\d{1,9})", name))]
    return f"task-{max(numbers, default=0) + 1:03d}"
