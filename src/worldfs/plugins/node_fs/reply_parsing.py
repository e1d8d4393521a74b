"""Validation of a node's replies as hostile input: a value of the right shape, or `MalformedReply`.

A node is a foreign machine. Its replies are checked here, once, and trusted afterwards; a name that is not valid in a
directory is dropped and counted, so that one bad name hides no other.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeGuard

from worldfs.base.json_values import as_object
from worldfs.formats.wire.frames import U64, BadFrame, Frame, Json, decode_base64

from .export_source import DIRECTORY, FILE, LINK, FileAttr, FsCapacity
from .file_names import is_clean_text, is_valid_name
from .fs_errors import FsError, MalformedReply

EXPORTS_MAX: Final = 1_024  # of one node
LISTED_MAX: Final = 200_000  # names of one directory
PAGE_SPARE: Final = 2  # `.` and `..`, which no client counts
SIZE_MAX: Final = 2**63 - 1
WORDS_MAX: Final = 500  # characters of a node's error message
ERRNO_MAX: Final = 133  # the highest errno of Linux
_SIGNED: Final = frozenset({"at", "mt", "ct", "gen"})


class Export(NamedTuple):
    """An export of a node."""

    name: str
    root: int
    ro: bool
    source_id: str
    notifies: bool = False  # the node tells of its changes


class ListingEntry(NamedTuple):
    name: str
    attr: FileAttr


class ListingPage(NamedTuple):
    """A part of a listing. `dropped`: the invalid names."""

    entries: list[ListingEntry]
    dropped: list[str]
    next: int
    end: bool


def exports(payload: Json) -> tuple[list[Export], list[str]]:
    """The exports of a node, and the names that were dropped."""
    rows = _list(payload, "exports", EXPORTS_MAX)
    kept: dict[str, Export] = {}
    dropped: list[str] = []
    for row in rows:
        name, root = row.get("name"), row.get("root")
        if isinstance(name, str) and is_valid_name(name) and name not in kept and _whole(root, U64):
            notifies = as_object(row.get("caps")).get("native_watch") is True
            kept[name] = Export(name, root, row.get("ro") is not False, text(row.get("source_id")), notifies)
        else:
            dropped.append(_named(name))
    return list(kept.values()), dropped


def attr(payload: Json) -> FileAttr:
    found = _attr(payload.get("attr"))
    if found is None:
        raise MalformedReply("no attributes")
    return found


def page(payload: Json, cookie: int, most: int) -> ListingPage:
    """One page of a listing from `cookie`, at most `most` entries."""
    kept, dropped = [], []
    for row in _list(payload, "ents", most + PAGE_SPARE):
        name, found = row.get("name"), _attr(row.get("attr"))
        if name in (".", ".."):
            continue
        if isinstance(name, str) and is_valid_name(name) and found is not None:
            kept.append(ListingEntry(name, found))
        else:
            dropped.append(_named(name))
    after = payload.get("next")
    if not _whole(after, U64) or after <= cookie:  # else the same page would be requested for ever
        return ListingPage(kept, dropped, cookie, True)
    return ListingPage(kept, dropped, after, payload.get("eof") is not False)


def handle(payload: Json) -> int:
    return _number(payload, "h", U64)


def read_reply(payload: Json, most: int) -> tuple[bytes, bool]:
    """The data, and whether they reach the end: never more than requested."""
    packed = payload.get("data_b64")
    if not isinstance(packed, str):
        raise MalformedReply("no data")
    if len(packed) > (most + 2) // 3 * 4:
        raise MalformedReply(f"more than the {most} bytes that were asked for")
    data = _unpacked(packed)
    if len(data) > most:
        raise MalformedReply(f"more than the {most} bytes that were asked for")
    return data, payload.get("eof") is True


def write_reply(payload: Json, most: int) -> int:
    """How many of `most` bytes the node wrote."""
    return _number(payload, "n", most)


def value(payload: Json) -> bytes:
    packed = payload.get("value_b64")
    if not isinstance(packed, str):
        raise MalformedReply("no value")
    return _unpacked(packed)


def names(payload: Json) -> list[str]:
    found = payload.get("names")
    if not isinstance(found, list) or len(found) > LISTED_MAX:
        raise MalformedReply("no list of names")
    return [name for name in found if isinstance(name, str) and is_clean_text(name)]


def capacity(payload: Json) -> FsCapacity:
    return FsCapacity(**{key: payload[key] for key in FsCapacity._fields if _whole(payload.get(key), SIZE_MAX)})


def body(frame: Frame) -> Json:
    """The payload of a reply."""
    try:
        return frame.body()
    except BadFrame as bad:
        raise MalformedReply(f"a payload that is no object ({bad})") from None


def opened_handle(frame: Frame) -> int | None:
    """The handle that a reply opened, if any."""
    try:
        return handle(body(frame))
    except MalformedReply:
        return None


def error(frame: Frame) -> FsError:
    """The error of a reply, with a valid errno and a printable message."""
    told = frame.error or {}
    number, words = told.get("errno"), text(told.get("message"))
    known = number if _whole(number, ERRNO_MAX) and number else errno.EIO
    return FsError(known, words or f"an unexpected reply {text(frame.type)}")


def text(given: object) -> str:
    """One line of a node's text, cut and without control characters; "" for a value that is no text."""
    if not isinstance(given, str):
        return ""
    cut = given[:WORDS_MAX]
    return (
        cut
        if is_clean_text(cut)
        else "".join(char if is_clean_text(char) else "\N{REPLACEMENT CHARACTER}" for char in cut)
    )


def dropped_names(dropped: Iterable[str], most: int = 3) -> str:
    """Some of the names that were dropped, for a log."""
    rows = list(dropped)
    return ", ".join(rows[:most]) + (f" and {len(rows) - most} more" if len(rows) > most else "")


def _named(name: object) -> str:
    return ascii(name[:60] + "…" if len(name) > 60 else name) if isinstance(name, str) else "(no text)"


def _attr(given: object) -> FileAttr | None:
    """The attributes; None for anything but a file, directory or link."""
    if not isinstance(given, Mapping):
        return None
    found = {key: given.get(key, 0) for key in FileAttr._fields}
    for key, number in found.items():
        # Times are signed: a file may be older than 1970.
        if not _whole(abs(number) if key in _SIGNED and isinstance(number, int) else number, U64):
            return None
    made = FileAttr(**found)
    return made if made.k in (FILE, DIRECTORY, LINK) and made.sz <= SIZE_MAX else None


def _list(payload: Json, key: str, most: int) -> Iterator[Mapping[str, object]]:
    found = payload.get(key)
    if not isinstance(found, list):
        raise MalformedReply(f"no list of {key}")
    if len(found) > most:
        raise MalformedReply(f"{len(found)} {key} where at most {most} were asked for")
    return (row if isinstance(row, Mapping) else {} for row in found)


def _number(payload: Json, key: str, most: int) -> int:
    found = payload.get(key)
    if not _whole(found, most):
        raise MalformedReply(f"no {key}")
    return found


def _whole(given: object, most: int) -> TypeGuard[int]:
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= most


def _unpacked(packed: str) -> bytes:
    try:
        return decode_base64(packed)
    except BadFrame:
        raise MalformedReply("data that is no base64") from None
