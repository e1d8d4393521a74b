"""Paths of the namespace: absolute, `/`-separated, already normal or refused."""

from __future__ import annotations

from worldfs.ground.errors import BadInput, Unsafe

MAX_BYTES = 2000  # a longer path could not become a key of every store


def parse(text: str) -> str:
    """A normal absolute path: one leading `/`, no empty, `.` or `..` segments, no control characters."""
    # Every look at the tree begins here: what is plainly right is not examined sign by sign.
    if len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadInput("the path is too long", path=text[:60] + "…", expected=f"at most {MAX_BYTES} bytes")
    if not text.isprintable() and any(_unfit(sign) for sign in text):
        raise Unsafe("the path holds control characters", path=repr(text))
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Unsafe("the path climbs with '..'", path=text, fix="write the path from the root down")
    return "/" + "/".join(parts)


def segments(path: str) -> tuple[str, ...]:
    return tuple([part for part in path.split("/") if part])  # a list first: faster than a generator


def join(*parts: str) -> str:
    return parse("/".join(parts))


def safe_name(text: str) -> bool:
    """May `text` be one segment? (ids from people and models: workspace_protocol D22)"""
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
