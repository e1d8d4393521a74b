"""Two changed copies of one file made one: tasks.json and memory.md (003; agent_state §3).

`ours` holds what was acknowledged and wins where both changed the same thing; every such conflict is named. `theirs` is
a whole text by a writer that read some older version, `base`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from worldfs.base.errors import BadInput
from worldfs.formats.values import same

from .jsonfile import Json, load_any, render
from .merge_memory import merge_memory
from .object_schema import preview
from .task_normalizer import normalize
from .time_normalizer import normalize_time

__all__ = ["best_base", "merge_memory", "merge_tasks"]

FILE: Final = "tasks.json"
_END: Final = ("status", "completed_at", "outcome")  # they say one thing together
_NEEDED: Final = ("id", "description", "agent", "schema_version")  # no rewrite can take them away


def best_base(generations: Sequence[bytes], theirs: bytes) -> int:
    """Which version, oldest first, `theirs` was most likely made from: the fewest differences, of equals the newest."""
    texts = [*generations, theirs]
    listed = [_entries(text) for text in texts] if _is_json(theirs) else []
    values = [value for value in listed if value is not None]
    if len(values) != len(texts):
        values = [_lines(text) for text in texts]
    *older, asked = values
    best, fewest = 0, -1
    for index, here in enumerate(older):
        count = 0 if here == asked else sum(_apart(here.get(key), asked.get(key)) for key in {**here, **asked})
        if fewest < 0 or count <= fewest:
            best, fewest = index, count
    return best


def _apart(here: Any, there: Any) -> int:
    """In how many members two entries differ; one that is missing differs in all of the other's."""
    if type(here) is not dict and type(there) is not dict:
        return int(here != there)
    here, there = here if type(here) is dict else {}, there if type(there) is dict else {}
    return sum(not same(here.get(key), there.get(key)) for key in here.keys() | there.keys())


def merge_tasks(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, tuple[str, ...]]:
    """(the merged tasks.json, conflicts in words). No task of ours is ever lost: a rewrite cannot delete one."""
    if theirs in (base, ours):
        return ours, ()
    old: Json = normalize(load_any(base, FILE))
    mine: Json = normalize(load_any(ours, FILE))
    found = _recognised(load_any(theirs, FILE), mine)
    new: Json = normalize(found, [task["id"] for task in mine["tasks"]])
    alone = ours == base or same(old, mine)
    conflicts: list[str] = []
    before, here, there = ({task["id"]: task for task in value["tasks"]} for value in (old, mine, new))
    there = {name: one for name, one in there.items() if name in here or not same(one, before.get(name))}
    names = _named(before, here, there)
    merged: dict[str, Json] = dict(here)
    for own, task in there.items():
        name = names[own]
        up = task.get("follow_up_from")
        called = {"id": name} | ({"follow_up_from": names[up]} if type(up) is str and up in names else {})
        merged[name] = {**task, **called}
        if name in here and not alone:
            merged[name], clashes = _fields(before.get(name, {}), here[name], merged[name])
            conflicts += [f"{name}: {clash}" for clash in clashes]
    order = _order([names[own] for own in there], list(here), list(before), alone)
    if alone:
        out = dict(new) if type(found) is dict else {**mine, **new}
    else:
        stamp = _newer(mine.get("updated_at"), new.get("updated_at"))
        above = new if type(found) is dict else {**old, **new}
        was, own, other = ({**value, "tasks": [], "updated_at": stamp} for value in (old, mine, above))
        out, conflicts_above = _fields(was, own, other)
        conflicts += conflicts_above
        if stamp is None:
            del out["updated_at"]
    out["tasks"] = [merged[name] for name in order]
    return render(out, theirs if alone else ours), tuple(conflicts)


def _recognised(value: Any, mine: Json) -> Any:
    """`value` with the ids of our tasks given back to those that say the same and forgot theirs."""
    listed = value if type(value) is list else value.get("tasks") if type(value) is dict else None
    if type(listed) is not list or all(type(task) is not dict or task.get("id") not in (None, "") for task in listed):
        return value
    used = {str(task.get("id")) for task in listed if type(task) is dict}
    known = {text: task["id"] for task in reversed(mine["tasks"]) if task["id"] not in used and (text := _says(task))}
    out = []
    for task in listed:
        if type(task) is dict and task.get("id") in (None, "") and (own := known.pop(_says(task), None)):
            out.append({"id": own, **{key: item for key, item in task.items() if key != "id"}})
        else:
            out.append(task)
    return out if type(value) is list else {**value, "tasks": out}


def _says(task: Json) -> str:
    return " ".join(str(task.get("description") or task.get("title") or task.get("name") or "").split())


def _named(before: dict[str, Json], here: dict[str, Json], there: dict[str, Json]) -> dict[str, str]:
    """What each task of theirs is called here: an id that both gave to different tasks becomes a new one."""
    names = {}
    for own, task in there.items():
        name = own
        if own in here and own not in before and _says(here[own]) != _says(task):
            number = 2
            while (name := f"{own}-{number}") in here or name in there or name in before:
                if name in here and name not in there and _says(here[name]) == _says(task):
                    break  # it was met before
                number += 1
        names[own] = name
    return names


def _fields(base: Json, ours: Json, theirs: Json) -> tuple[Json, list[str]]:
    """(what is merged member by member, in our order; conflicts). Absent and null say the same."""
    out, conflicts = dict(ours), []
    together = False
    for key in [*theirs, *(key for key in ours if key not in theirs)]:
        was, mine, yours = base.get(key), ours.get(key), theirs.get(key)
        if same(mine, yours) or same(yours, was):
            continue
        if not same(mine, was):
            conflicts.append(f"{key} is {_short(mine)} here and {_short(yours)} there; {_short(mine)} is kept")
            together = together or key in _END
        elif key in theirs:
            out[key] = yours
        elif key not in _NEEDED:
            del out[key]
    if together:
        for key in _END:
            out.pop(key, None)
        out = {key: ours[key] if key in _END else out[key] for key in [*ours, *out] if key in _END or key in out}
    return out, conflicts


def _short(value: Any) -> str:
    return preview(value)


def _order(theirs: list[str], ours: list[str], base: list[str], alone: bool) -> list[str]:
    """Our order, unless only they changed it; what the other has besides follows what it followed there."""
    mine, yours = set(ours), set(theirs)
    both = [name for name in base if name in mine and name in yours]
    there = set(both)
    kept = both == [name for name in ours if name in there]
    lead = alone or (kept and both != [name for name in theirs if name in there])
    first, second = (theirs, ours) if lead else (ours, theirs)
    out = list(first)
    known = set(first)
    tail = len(second)
    while tail and second[tail - 1] not in known:
        tail -= 1
    for number, name in enumerate(second[:tail]):
        if name not in known:
            out.insert(out.index(second[number - 1]) + 1 if number else 0, name)
            known.add(name)
    return out + second[tail:]


def _newer(ours: Any, theirs: Any) -> Any:
    if type(ours) is not str or type(theirs) is not str:
        return ours if type(ours) is str else theirs
    return theirs if (normalize_time(theirs) or "") > (normalize_time(ours) or "") else ours


def _is_json(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def _entries(data: bytes) -> dict[Any, Any] | None:
    """Every member of every task by its place; None for what is no list of tasks."""
    try:
        value = normalize(load_any(data, FILE))
    except BadInput:
        return None
    if type(value) is not dict or type(value.get("tasks")) is not list:
        return None
    out: dict[Any, Any] = {key: item for key, item in value.items() if key != "tasks"}
    for number, task in enumerate(value["tasks"]):
        if type(task) is dict:
            out[task.get("id", number),] = {key: item for key, item in task.items() if item is not None}
    return out


def _lines(data: bytes) -> dict[Any, Any]:
    """How often each line is in a text; blank ones say nothing."""
    out: dict[Any, Any] = {}
    for line in data.splitlines():
        bare = line.strip()
        if bare:
            out[bare] = out.get(bare, 0) + 1
    return out
