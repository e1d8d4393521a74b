"""A registry: a list of entries under one of some keys, read one by one; a bad one is named and left out.

TARGETS.md and SKILLS.md are the operator's: they are read, never written (workspace §3.6, §3.7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from worldfs.base.errors import BadInput
from worldfs.base.json_text import KeyTwice
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json
from worldfs.formats import block, entry_ids, sheet_members
from worldfs.formats.entry_contradictions import refuse_beside
from worldfs.formats.sheet_members import EntryRefused

T = TypeVar("T")


class EntryRegistry(NamedTuple, Generic[T]):
    """`entries` by id, in the file's order; `findings`: what was left out, and warnings."""

    dialect: str  # page | r1 | r2 | empty
    entries: Mapping[str, T]
    findings: tuple[Finding, ...] = ()
    places: Mapping[str, int] = MappingProxyType({})  # id → index in the list, for findings that name a pointer
    refused: Mapping[str, Finding] = MappingProxyType({})  # id → why there is no such entry, though the file has one


def read(
    data: bytes, file: str, keys: Sequence[str], dialect: Callable[[Json], str], entry: Callable[[Json, str, str], T]
) -> EntryRegistry[T]:
    """Raises `BadInput` for a text that cannot be read at all, one whose list is no list, and one with a field beside
    the list that nothing reads and that may switch an entry off or limit it."""
    written_text = block.decode(data)
    found = block.find(written_text, keys, repeated=True)
    if found is None:
        return EntryRegistry("empty", {})
    key = next(key for key in keys if key in found.value)
    value = found.value[key]
    twice = next((name for one, name in found.repeated if one is found.value or one is value), "")
    if twice:
        raise KeyTwice(twice).refusal(path=file)
    refuse_beside(written_text, found, (key,), file)
    items = written = [] if value is None else value
    if isinstance(items, dict):  # some people write a mapping of ids; it says the same
        written = list(items.values())
        items = [{"id": id, **(item if isinstance(item, dict) else {})} for id, item in items.items()]
    if not isinstance(items, list):
        raise BadInput(
            coded("file.wrong_kind", name=key, kind=type(items).__name__),
            path=file,
            expected=coded("file.list"),
            fix=coded("file.make_list", name=key),
        )
    word, once = dialect(found.value), sheet_members.key_check(found)
    entries: dict[str, T] = {}
    places: dict[str, int] = {}
    findings: list[Finding] = []
    refused: dict[str, Finding] = {}
    for i, item in enumerate(items):
        at = f"/{key}/{i}"
        try:
            if not isinstance(item, dict):
                raise EntryRefused(at, coded("file.mapping"), item)
            once(written[i], at)
            id = item.get("id")
            if not isinstance(id, str) or entry_ids.unsafe(id):
                raise EntryRefused(f"{at}/id", coded("file.file_id"), id, coded("file.write_id"))
            if id in entries:
                raise EntryRefused(f"{at}/id", coded("file.own_id"), id, coded("file.first_counts"), "ID_DUPLICATE")
            entries[id] = entry(item, at, word)
            places[id] = i
        except EntryRefused as bad:
            findings.append(sheet_members.finding(bad, file))
            if isinstance(item, dict) and isinstance(id := item.get("id"), str) and id not in entries:
                refused.setdefault(id, findings[-1])
    return EntryRegistry(word, entries, tuple(findings), places, refused)


def text(item: Json, key: str, at: str, default: str = "") -> str:
    """A member that is a string, or absent."""
    value = item.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise EntryRefused(f"{at}/{key}", coded("file.text"), value)
    return value.strip()


def flag(item: Json, key: str, at: str, default: bool) -> bool:
    value = item.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise EntryRefused(f"{at}/{key}", coded("file.true_or_false"), value)
    return value


def mapping(item: Json, key: str, at: str) -> Json:
    value = item.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise EntryRefused(f"{at}/{key}", coded("file.mapping"), value)
    return value


def texts(item: Json, key: str, at: str) -> tuple[str, ...]:
    """A member that is a list of strings; one string alone counts as a list of it."""
    value = item.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise EntryRefused(f"{at}/{key}", coded("file.words"), value)
    return tuple(value)


def number(value: Any, at: str, low: float, high: float, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise EntryRefused(at, expected, value)
    return float(value)


def plain_ref(value: str) -> str:
    """An id without its scheme: `target://x`, `skill://x` and `skillruntime://x` name x."""
    return value.split("://", 1)[1] if "://" in value else value


def rest(item: Json, known: frozenset[str]) -> Json:
    return {key: value for key, value in item.items() if key not in known}
