"""Markdown prose as lines: which of them are text, and which are inside a fence or a comment."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from worldfs.base.document_size import refuse_large
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

BOM = "\ufeff"
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")  # Markdown's line ends only; str.splitlines knows more
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\r\n]*)")
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+(\S[^\r\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_LABEL = re.compile(
    r"(?:\*\*|__)(?P<bold>.{1,60}?)(?:\*\*|__)\s*[:：]?\s*(?P<rest>.*)|(?P<plain>[^:：]{1,60}?)\s*[:：]\s*(?P<more>.*)"
)
_BRACKETS = re.compile(r"[(（][^)）\n]*+([)）]?)")  # one that does not end is read once


class Fence(NamedTuple):
    """A fenced block or comment: lines `first` (opening) to `last` (closing) inclusive; `closed` False: to the end."""

    first: int
    last: int
    info: str  # first word after the sign, lower case; "<!--" for a comment
    closed: bool


class Heading(NamedTuple):
    line: int
    level: int
    text: str


def decode(data: bytes, path: str) -> str:
    """The text of a document. Raises `BadInput` for one that is too large, and as `utf8`."""
    refuse_large(data, path, "file.shorten")
    return utf8(data, path)


def utf8(data: bytes, path: str) -> str:
    """The text of a file. Raises `BadInput` with the place of the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            coded("file.bad_byte_line", byte=data[error.start], at=error.start, line=line),
            path=path,
            op="read",
            expected=coded("file.utf8_text"),
            fix=coded("file.save_utf8_left"),
        ) from None


def split(text: str) -> list[str]:
    """Lines with their ends; joined they are the text again."""
    if "\r" in text:
        return _LINES.findall(text)
    *whole, last = text.split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])


def ending(lines: Sequence[str]) -> str:
    """The line end that the file uses (its first), a plain newline when it has none."""
    for line in lines:
        bare = line.rstrip("\r\n")
        if len(bare) < len(line):
            return line[len(bare) :]
    return "\n"


def fences(lines: Sequence[str], *, inline: bool = False) -> Iterator[Fence]:
    """Fenced blocks (3 or more back-ticks or tildes, closed by a line of at least as many) and comment blocks.

    `inline`: so are comments of several lines that begin within a line, from the next line on.
    """
    sign, start, info = "", 0, ""
    for number, line in enumerate(lines):
        head = line.lstrip(" ")[:4]
        if sign == "<!--":
            if "-->" in line:
                yield Fence(start, number, sign, True)
                sign = ""
        elif sign:
            if head[:1] == sign[0]:
                bare = line.strip()
                if len(bare) >= len(sign) and not bare.strip(sign[0]):
                    yield Fence(start, number, info, True)
                    sign = ""
        elif head == "<!--":
            if "-->" in line:
                yield Fence(number, number, head, True)
            else:
                sign, start, info = head, number, head
        elif head[:3] in ("```", "~~~"):
            match = _FENCE.match(line)
            if match and not (match[1][0] == "`" and "`" in match[2]):
                words = match[2].split()
                sign, start, info = match[1], number, words[0].lower() if words else ""
        elif inline and "<!--" in line and "`" not in line and "-->" not in line.rpartition("<!--")[2]:
            sign, start, info = "<!--", number + 1, "<!--"
    if sign and start < len(lines):
        yield Fence(start, len(lines) - 1, info, False)


def visible(lines: Sequence[str], blocks: Sequence[Fence]) -> bytearray:
    """One byte a line: 1 where it is text, 0 inside (and on the borders of) a block."""
    mask = bytearray(b"\x01" * len(lines))
    for block in blocks:
        mask[block.first : block.last + 1] = bytes(block.last + 1 - block.first)
    return mask


def headings(lines: Sequence[str], mask: Sequence[int]) -> list[Heading]:
    """ATX headings outside blocks, in order."""
    found = []
    for number, line in enumerate(lines):
        if "#" in line[:10] and mask[number]:
            bare = line if number else line.removeprefix(BOM)
            match = _HEADING.match(bare)
            if match:
                text = bare[match.end() :].rstrip()
                shorn = text.rstrip("#")  # a closing run of # counts only after a blank
                found.append(Heading(number, len(match[1]), shorn.rstrip() if shorn[-1:] in ("", " ", "\t") else text))
    return found


def bullet(line: str) -> str | None:
    """The text of a list item without its sign; None if the line is none."""
    match = _BULLET.match(line)
    return match[1].rstrip() if match else None


def parse_label(text: str) -> tuple[str, str] | None:
    """`**Label**: value`, `**Label:** value`, `Label：value` as (label, value); None without a label."""
    match = _LABEL.fullmatch(text.strip())
    if not match:
        return None
    if match["bold"] is not None:
        return match["bold"].strip().rstrip(":：").strip(), match["rest"].strip()
    return match["plain"].strip(" `*"), match["more"].strip()


def without_brackets(text: str, instead: str = "") -> str:
    """The text without what stands in round brackets."""
    return _BRACKETS.sub(lambda found: instead if found[1] else found[0], text)


_DROP = frozenset(("Cc", "Zl", "Zp", "Cs"))


def one_line(text: str, limit: int = 2000) -> str:
    """One line of visible text: line ends, controls and runs of space become one space; clipped at `limit`."""
    clipped = text if len(text) <= limit * 2 else text[: limit * 2]
    if not (clipped.isascii() and clipped.isprintable()):
        clipped = "".join(
            " " if (kind := unicodedata.category(c)) in _DROP else "" if kind == "Cf" else c for c in clipped
        )
    line = " ".join(clipped.split())
    return line if len(line) <= limit and len(text) <= limit * 2 else line[: limit - 1].rstrip() + "…"


def width(text: str) -> int:
    """Columns on a terminal: East Asian wide signs take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or c in "\u200d\ufe0f" else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
