"""A JSON file of an agent: read with the place of what is wrong, written as it was found.

A file laid out as the specification prints it (two spaces, one member a line) is written so again; in any other layout
only what changed is spliced. Unknown members, their order and a mark at the beginning survive.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from json.encoder import c_make_encoder as _make  # type: ignore[attr-defined]  # what `dumps` builds at each call
from json.encoder import encode_basestring as _quote
from typing import Any, Final, NoReturn

from worldfs.base.errors import BadInput
from worldfs.base.json_text import nests_deeper
from worldfs.base.messages import coded
from worldfs.formats.values import not_finite, same

from .object_schema import ObjectSchema, preview

Json = dict[str, Any]
BOM: Final = "\ufeff"
MAX_DEPTH: Final = 100
DEEP: Final = frozenset((dict, list, tuple))
_SCALARS: Final = {None: "null", True: "true", False: "false"}
_NOTHING: Final[tuple[Any, ...]] = (None, "", [])


def load(data: bytes, file: str) -> Json:
    """The object that a file holds. `BadInput` with line and column, or with the pointer `#`, for anything else."""
    value = load_any(data, file)
    if type(value) is not dict:
        raise BadInput(
            preview(value), path=f"{file}#", op="read", expected=coded("file.object"), fix=coded("file.braces")
        )
    return value


def load_any(data: bytes, file: str) -> Any:
    """The value that a file holds, whatever it is."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        _explain(data, file)
    if text.startswith(BOM):
        text = text[1:]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        _explain(data, file)
    if ("NaN" in text or "Infinity" in text) and not_finite(value) is not None:
        raise BadInput(
            coded("file.no_number"), path=f"{file}#", op="read", expected=coded("file.rfc8259"),
            fix=coded("file.write_null"),
        )  # fmt: skip
    if nests_deeper(text, value, MAX_DEPTH):
        raise BadInput(
            coded("file.json_too_deep"), path=f"{file}#", op="read", expected=coded("file.most_levels", n=MAX_DEPTH),
            fix=coded("file.flatten"),
        )  # fmt: skip
    return value


def _explain(data: bytes, file: str) -> NoReturn:
    """Say what is wrong, with the slower reader that knows where."""
    from worldfs.formats import jsontext, prose

    text = prose.utf8(data, f"{file}#").removeprefix(BOM)
    if not text.strip("\x00 \t\r\n"):
        raise BadInput(
            coded("file.empty_file"),
            path=f"{file}#",
            op="read",
            expected=coded("file.object"),
            fix=coded("file.write_again"),
        )
    try:
        jsontext.parse(text)
    except BadInput as error:
        raise BadInput(error.found, path=f"{file}#", op="read", expected=error.expected, fix=error.fix) from None
    raise BadInput(coded("file.unreadable_json"), path=f"{file}#", op="read", expected=coded("file.rfc8259"))


def pretty(value: Any, line: str = "\n") -> str:
    """As `json.dumps(value, indent=2, ensure_ascii=False)` prints it, ten times as fast; the specification's layout.

    `line`: how its last line begins, for a value inside another.
    """
    parts: list[str] = []
    _pretty(value, line, parts.append)
    return "".join(parts)


def _pretty(value: Any, line: str, put: Any) -> None:
    kind = type(value)
    if kind is dict:
        if not value:
            put("{}")
            return
        inner, mark = line + "  ", "{"
        if DEEP.isdisjoint(map(type, value.values())):
            put(f"{{{inner}{flat(inner)(value)[1:-1]}{line}}}")
            return
        for key, item in value.items():
            put(f"{mark}{inner}{_quote(key)}: ")
            _pretty(item, inner, put)
            mark = ","
        put(line + "}")
    elif kind is list or kind is tuple:
        if not value:
            put("[]")
            return
        inner, mark = line + "  ", "["
        for item in value:
            put(mark + inner)
            _pretty(item, inner, put)
            mark = ","
        put(line + "]")
    elif kind is str:
        put(_quote(value))
    elif kind is int:
        put(int.__repr__(value))
    elif value is None or kind is bool:
        put(_SCALARS[value])
    else:
        put(json.dumps(value, ensure_ascii=False, allow_nan=False))


@cache
def flat(inner: str) -> Callable[[Any], str]:
    """Prints an object without objects in it, its members on lines that begin with `inner`."""
    if _make is None:  # not CPython
        return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=("," + inner, ": ")).encode
    print_parts = _make(None, None, _quote, None, ": ", "," + inner, False, False, False)
    return lambda value: "".join(print_parts(value, 0))


def encode(text: str) -> bytes:
    """UTF-8; halves of surrogate pairs, which no UTF-8 file can hold, as JSON escapes."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text).encode()


def render(value: Json, like: bytes = b"", table: ObjectSchema | None = None, *, old: Any = None) -> bytes:
    """The file that holds `value`, laid out as `like`; `like` itself when it holds that already.

    With a `table`, members of `like` that the table does not know are kept though `value` lacks them, and members that
    `like` lacks are not added while they say no more than their absence does. `old`: what `load_any` made of `like`,
    if the caller has it; what `value` shares with it costs nothing.
    """
    if old is None and like.strip(b"\x00 \t\r\n"):
        with suppress(BadInput):
            old = load_any(like, "")
    if type(old) is not dict:
        return encode(pretty(value) + "\n")
    new = arrange(value, old, table)
    if same(old, new):
        return like
    text = like.decode()
    from . import json_rows

    if (known := json_rows.parse_rows(text, old)) is not None and (
        quick := json_rows.update_rows(known, old, new)
    ) is not None:
        return encode(quick.text())
    if pretty(old) + "\n" == text:
        return encode(pretty(new) + "\n")
    from worldfs.formats import jsontext

    mark = BOM if text.startswith(BOM) else ""
    return encode(mark + jsontext.edit(text.removeprefix(BOM), old, new))


def arrange(value: Json, like: Json, table: ObjectSchema | None = None) -> Json:
    """`value` in the order of `like`, as `render` says."""
    inner = {field.name: field.item for field in table.fields if type(field.item) is ObjectSchema} if table else {}
    if list(value) != list(like):
        value = _ordered(value, like, table)
    for key, part in inner.items():
        if key in value and key in like:
            here = value[key]
            there = _inside(here, like[key], part)
            if there is not here:
                value = {**value, key: there}
    return value


def _ordered(value: Json, like: Json, table: ObjectSchema | None) -> Json:
    known = {field.name: field for field in table.fields} if table else {}
    keys: list[str] = [key for key in like if key in value or (table is not None and key not in known)]
    there = set(keys)
    before = ""
    for key, item in value.items():
        if key not in there:
            field = known.get(key)
            if field is not None and (same(item, field.default) or (field.default is None and item in _NOTHING)):
                continue
            keys.insert(keys.index(before) + 1 if before else 0, key)
            there.add(key)
        before = key
    return {key: value[key] if key in value else like[key] for key in keys}


def _inside(value: Any, like: Any, table: ObjectSchema) -> Any:
    """`value` itself when nothing of it moves."""
    if value is like:
        return value
    if type(value) is dict and type(like) is dict:
        return arrange(value, like, table)
    if type(value) is list and type(like) is list:
        by_id: dict[str, Json] | None = None
        out = list(value)
        for index, item in enumerate(value):
            if (index < len(like) and item is like[index]) or type(item) is not dict or type(item.get("id")) is not str:
                continue
            if by_id is None:
                by_id = {old["id"]: old for old in like if type(old) is dict and type(old.get("id")) is str}
            if item["id"] in by_id:
                out[index] = arrange(item, by_id[item["id"]], table)
        return out
    return value
