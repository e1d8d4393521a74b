"""Quoting: text of files between marks that it cannot contain, so that no model takes it for our own instructions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from zlib import crc32

_LONGEST: Final = 80  # of an attribute


class Quote:
    """One mark for one rendering, chosen so that none of the texts to be quoted contains it, in any case of letters."""

    def __init__(self, texts: Iterable[str]) -> None:
        whole = "\n".join(texts).casefold()
        seed = whole.encode("utf-8", "replace")
        number = crc32(seed)
        while f"{number:08x}" in whole:
            number = crc32(seed, number + 1)
        self.mark = f"data-{number:08x}"

    def open(self, **attributes: str | None) -> str:
        """`<data-… from="theseus">`; attributes are one line of at most 80 signs, "" and None are left out."""
        said = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items() if value)
        return f"<{self.mark}{said}>"

    def close(self) -> str:
        return f"</{self.mark}>"


def quote_line(text: str, longest: int = 400) -> str:
    """The text as one line: no data can begin a line of its own. Longer than `longest`: cut, and saying so."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat if len(flat) <= longest else f"{flat[:longest]}… (+{len(flat) - longest})"


def quote_block(text: str, indent: str = "") -> str:
    """The text with its lines, each after `indent`; signs that steer a terminal or a reader are taken out."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    return "\n".join(
        (indent + "".join(s if s.isprintable() or s == "\t" else " " for s in one)).rstrip() for one in lines
    )


def _attribute(value: str) -> str:
    return quote_line(value, _LONGEST).replace("\\", "\\\\").replace('"', '\\"')
