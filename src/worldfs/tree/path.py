"""Paths of the namespace: absolute, `/`-separated, already normal or refused."""

from __future__ import annotations

from worldfs.base.errors import BadInput, Unsafe
from worldfs.base.messages import coded

MAX_BYTES = 2000  # a longer path could not become a key of every store


def parse(text: str) -> str:
    """A normal absolute path: one leading `/`, no empty, `.` or `..` segments, no control characters."""
    # Every access to the tree begins here: a plain path is accepted without a check of each character.
    if len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadInput(
            coded("tree.path_too_long"), path=text[:60] + "…", expected=coded("common.at_most_bytes", n=MAX_BYTES)
        )
    if not text.isprintable() and any(_unfit(sign) for sign in text):
        raise Unsafe(coded("tree.path_control"), path=repr(text))
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Unsafe(coded("tree.path_climbs"), path=text, fix=coded("tree.from_root"))
    return "/" + "/".join(parts)


def segments(path: str) -> tuple[str, ...]:
    return tuple([part for part in path.split("/") if part])  # a list first: faster than a generator


def join(*parts: str) -> str:
    return parse("/".join(parts))


def safe_name(text: str) -> bool:
    """Whether `text` may be one segment of a path (ids from people and models: workspace D22)."""
    return (
        bool(text)
        and text not in (".", "..")
        and len(text.encode("utf-8", "surrogatepass")) <= 200
        and "/" not in text
        and "\\" not in text
        and (text.isprintable() or not any(_unfit(sign) for sign in text))
    )


def _unfit(sign: str) -> bool:
    """A control character, or half a surrogate pair."""
    return ord(sign) < 32 or ord(sign) == 127 or 0xD800 <= ord(sign) < 0xE000
