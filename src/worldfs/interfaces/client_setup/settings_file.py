"""One settings file of another program: what is put into its text, and how exactly that is taken out again."""

from __future__ import annotations

import copy
import hashlib
import tomllib
from typing import NamedTuple

from worldfs.base.errors import BadInput, Conflict
from worldfs.base.json_values import as_int, as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats import jsontext

from . import commented_json


class JsonValue(NamedTuple):
    """A value for a JSON file: a member by its keys, or one more element of the list that is there."""

    keys: tuple[str, ...]
    value: object
    element: bool = False


class FileSettings(NamedTuple):
    """What one file is to hold: values of a JSON file, a block at the end of a TOML file, or the whole file.

    `comments`: the program that it belongs to reads comments in JSON.
    """

    path: str
    values: tuple[JsonValue, ...] = ()
    block: str = ""
    whole: str = ""
    comments: bool = False


def put(settings: FileSettings, text: str | None) -> tuple[str, Json]:
    """The text with the settings, and the record that `take_out` needs. What is there already is not recorded.

    Raises `BadInput` for a text that cannot be read, `Conflict` where another value stands.
    """
    if settings.whole:
        if text is not None and text != settings.whole:
            raise _other(settings.path, coded("setup.other_file"))
        record: Json = {} if text is not None else {"whole": settings.whole}
        return settings.whole, record
    if settings.block:
        return _put_block(settings, text)
    return _put_values(settings, text)


def holds(settings: FileSettings, text: str | None) -> bool:
    """Whether the text holds all of the settings."""
    if text is None or settings.whole:
        return text == settings.whole
    if settings.block:
        return settings.block in text
    data = _object(settings.path, text, settings.comments)
    return all(_is_there(data, value) for value in settings.values)


def take_out(path: str, text: str | None, record: Json) -> tuple[str | None, list[str]]:
    """The text as if the settings had never been put in, and the names of those that others have changed since.

    None: no file. A file that is otherwise untouched becomes what it was, byte for byte.
    """
    if text is None or not record:
        return text, []
    if "whole" in record:
        return (None, []) if text == record["whole"] else (text, [path])
    if "block" in record:
        block = as_text(record["block"])
        if block not in text:
            return text, [path] if block.strip().partition("\n")[0] in text else []
        head, _, tail = text.partition(block)
        rest = head + ("\n" if tail and block.startswith("\n") else "") + tail
        return (None if record["new"] and not rest else rest), []
    if _hash(text) == record["after"]:
        for step in reversed(as_objects(record["steps"])):
            at, old, new = as_int(step["at"]), as_text(step["old"]), as_text(step["new"])
            text = text[:at] + old + text[at + len(new) :]
        return (None if record["new"] else text), []
    comments = bool(record.get("comments"))
    data = _object(path, text, comments)
    kept, changed = _without(data, record)
    rest = _edited(path, text, data, kept, comments)
    return (None if record["new"] and not kept else rest), [f"{path}: {name}" for name in changed]


# -- a block of TOML -------------------------------------------------------------------------------------------------


def _put_block(settings: FileSettings, text: str | None) -> tuple[str, Json]:
    before = text or ""
    block = settings.block if not before or before.endswith("\n") else "\n" + settings.block
    for candidate in (before, before + block):
        try:
            tomllib.loads(candidate)
        except tomllib.TOMLDecodeError as error:
            if candidate is before:
                raise _unreadable(settings.path, str(error)) from None
            raise _other(settings.path, settings.block.strip().splitlines()[1]) from None
    return before + block, {"block": block, "new": text is None}


# -- values of JSON --------------------------------------------------------------------------------------------------


def _object(path: str, text: str, comments: bool) -> Json:
    try:
        data = jsontext.parse(commented_json.bare(text) if comments else text)
    except BadInput as error:
        raise _unreadable(path, error.found) from None
    if not isinstance(data, dict):
        raise _unreadable(path, coded("setup.no_object"))
    return data


def _put_values(settings: FileSettings, text: str | None) -> tuple[str, Json]:
    now = "{}\n" if text is None else text
    data = _object(settings.path, now, settings.comments)
    steps: list[Json] = []
    placed: list[Json] = []
    made: list[tuple[str, ...]] = []
    for entry in settings.values:
        if _is_there(data, entry):
            continue
        new = copy.deepcopy(data)
        made += _add(settings.path, new, entry)
        after = _edited(settings.path, now, data, new, settings.comments)
        steps.append(_step(now, after))
        placed.append({"keys": list(entry.keys), "value": entry.value, "element": entry.element})
        data, now = new, after
    record = {"placed": placed, "made": made, "steps": steps, "after": _hash(now), "new": text is None}
    record |= {"comments": True} if settings.comments else {}
    return now, record if placed else {}


def _edited(path: str, text: str, old: Json, new: Json, comments: bool) -> str:
    made = commented_json.edit(text, old, new) if comments else jsontext.edit(text, old, new)
    if made is None:
        raise _unreadable(path, "// /* */")
    return made


def _is_there(data: Json, entry: JsonValue) -> bool:
    here: object = data
    for key in entry.keys:
        if not isinstance(here, dict) or key not in here:
            return False
        here = here[key]
    return entry.value in as_list(here) if entry.element else here == entry.value


def _add(path: str, data: Json, entry: JsonValue) -> list[tuple[str, ...]]:
    """Put the value in; returns the keys of the containers that were made for it."""
    made: list[tuple[str, ...]] = []
    here = data
    for depth, key in enumerate(entry.keys[:-1], 1):
        if key not in here:
            made.append(entry.keys[:depth])
        below = here.setdefault(key, {})
        if not isinstance(below, dict):
            raise _other(path, ".".join(entry.keys[:depth]))
        here = below
    key = entry.keys[-1]
    if not entry.element:
        if key in here:
            raise _other(path, ".".join(entry.keys))
        here[key] = entry.value
        return made
    if key not in here:
        made.append(entry.keys)
    elements = here.setdefault(key, [])
    if not isinstance(elements, list):
        raise _other(path, ".".join(entry.keys))
    elements.append(entry.value)
    return made


def _without(old: Json, record: Json) -> tuple[Json, list[str]]:
    """The values without those of the record, and the names of those that others have changed."""
    new, changed = copy.deepcopy(old), []
    for one in reversed(as_objects(record["placed"])):
        keys = [*map(str, as_list(one["keys"]))]
        above, key = _above(new, keys)
        there = above.get(key)
        if one["element"] and isinstance(there, list):
            if one["value"] in there:
                there.remove(one["value"])
        elif key in above and there == one["value"]:
            del above[key]
        elif key in above:
            changed.append(".".join(keys))
    for made in reversed(as_list(record["made"])):
        above, key = _above(new, [*map(str, as_list(made))])
        if above.get(key) in ({}, []):
            del above[key]
    return new, changed


def _above(data: Json, keys: list[str]) -> tuple[Json, str]:
    for key in keys[:-1]:
        data = as_object(data.get(key))
    return data, keys[-1]


def _step(old: str, new: str) -> Json:
    """Where two texts differ: the position, what was there, what is there."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return {"at": start, "old": old[start : len(old) - end], "new": new[start : len(new) - end]}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _unreadable(path: str, why: str) -> BadInput:
    return BadInput(coded("setup.unreadable", why=why), path=path, op="setup", fix=coded("setup.repair"))


def _other(path: str, what: str) -> Conflict:
    return Conflict(coded("setup.other", what=what), path=path, op="setup", fix=coded("setup.remove_it"))
