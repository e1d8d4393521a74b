"""Content cut to what a client can show: how much was left out is said, and where to read on."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Final, TypeVar

from worldfs.base.model import Json

T = TypeVar("T")
BYTES_MOST: Final = 24_000  # of one result: the strictest client cuts text beyond 40,000 characters
_CONTINUED: Final = 0x80  # first bit of a byte within a sign of UTF-8


def piece(data: bytes, offset: int, count: int) -> Json:
    """`count` bytes from `offset` as text, never within a sign; what is no text as base64."""
    size = len(data)
    start = min(offset, size)
    end = min(size, start + min(count, BYTES_MOST))
    cut = end
    while cut < size and cut > start and cut > end - 4 and data[cut] & 0xC0 == _CONTINUED:
        cut -= 1
    told: Json = {"bytes": size, "offset": start}
    try:
        told |= {"text": data[start:cut].decode(), "encoding": "utf-8"}
    except UnicodeDecodeError:
        cut = min(end, start + BYTES_MOST * 3 // 4)
        told |= {"text": b64encode(data[start:cut]).decode("ascii"), "encoding": "base64"}
    return {**told, **left_out(size - cut, "bytes", cut)}


def page(items: Sequence[T], offset: int, count: int) -> tuple[Sequence[T], Json]:
    """`count` items from `offset`, and how to go on."""
    shown = items[offset : offset + count]
    end = offset + len(shown)
    return shown, left_out(max(0, len(items) - end), "entries", end)


def left_out(number: int, what: str, next_offset: int) -> Json:
    """Nothing where nothing was left out."""
    return {f"{what}_left_out": number, "next_offset": next_offset} if number else {}


def line(text: str, most: int = 400) -> str:
    """A text in one line, cut with a sign."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
