"""The text of memory.md as lines: which are headings, which are list items, and where a new item goes.

CommonMark where agents keep to it, and lenient where they do not: an unclosed fence is plain text, `##Heading`
is a heading, an item indented by one column is a sibling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.base.model.agent import Remark

from .memory_headings import SECTIONS, bare, canonical

PATH: Final = "memory.md"
BOM: Final = "\ufeff"
# Compiled where they are needed first: most memories have none of these, and a reader must start at once.
_BOLD: Final = r"(\*\*|__)(.+?)[:：]?\1[:：]?"
_PIN: Final = r"(?i)(?:\*\*|`)?(?:\[(?:pinned|pin|置顶|固定)\]|📌\ufe0f?)(?:\*\*|`)?[:：]?"
_DATE: Final = r"([12](?<!\d.)\d{3})(?:-(\d\d)-(\d\d)|/(\d{1,2})/(\d{1,2})|年(\d{1,2})月(\d{1,2})日)(?!\d)"


class MemoryHeading(NamedTuple):
    """A heading: lines `line` up to, without, `end`."""

    line: int
    end: int
    level: int
    text: str
    section: str  # the canonical one, or the text as it is
    opens: bool  # False: the title, or a part of the section above


class MemoryListItem(NamedTuple):
    """A list item with all that belongs to it: lines `start` up to, without, `end`, below heading number `head`."""

    start: int
    end: int
    head: int  # -1 before any
    indent: str
    mark: str
    remark: Remark


class MemoryOutline(NamedTuple):
    lines: list[str]  # with their ends; the last one has one, though the file may lack it
    end: str  # the line end of the file
    bom: bool
    final: bool  # the last line of the file has an end
    start: int  # the first line after front matter
    heads: list[MemoryHeading]
    items: list[MemoryListItem]

    @property
    def title(self) -> str:
        first = self.heads[0] if self.heads else None
        return first.text if first and first.level == 1 and not first.opens else ""

    def find(self, section: str) -> int | None:
        """The number of a section's heading: the canonical one, else one that says the same."""
        name = canonical(section)
        for index, head in enumerate(self.heads):
            if head.opens and head.section == (name or section):
                return index
        if not name:
            same = bare(section)
            for index, head in enumerate(self.heads):
                if bare(head.text) == same:
                    return index
        return None

    def level(self, section: str) -> int:
        """Of a new section's heading; one that is none of the five would be a part of the last, if it were lower."""
        level = next((head.level for head in self.heads if head.opens), 2)
        inside = section not in SECTIONS and self.heads and self.heads[-1].section in SECTIONS
        return min(level, _depth(self.heads)) if inside else level

    def text(self, item: MemoryListItem) -> list[str]:
        return self.lines[item.start : item.end]


def parse(data: bytes, *, dated: bool = True) -> MemoryOutline:
    """Raises `BadInput` for bytes that are no UTF-8. `dated` False: without the dates of remarks, which take time."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        from worldfs.formats import prose

        text = prose.utf8(data, PATH)  # says where
    bom = text.startswith(BOM)
    lines = _split(text.removeprefix(BOM))
    end = lines[0][len(lines[0].rstrip("\r\n")) :] or "\n" if lines else "\n"
    final = not lines or lines[-1][-1] in "\r\n"
    if not final:
        lines[-1] += end
    start = _front(lines)
    heads: list[MemoryHeading] = []
    items: list[MemoryListItem] = []
    open_at: dict[str, int] = {}  # sign of a fence that nothing closes: its length
    at, count = start, len(lines)
    while at < count:
        bare_line = lines[at].strip()
        if not bare_line:
            at += 1
            continue
        sign = bare_line[0]
        if sign == "#" and (level := _hashes(bare_line)):
            _head(heads, at, at + 1, level, _shorn(bare_line[level:]))
            at += 1
            continue
        if sign in "`~<" and (stop := _block(lines, at, bare_line, open_at)):
            at = stop
            continue
        indent = _columns(lines[at])
        if indent < 4 and (mark := list_marker(bare_line)) and not _rule(bare_line):
            stop = _stop(lines, at, indent, indent + len(mark.expandtabs(4)))
            item = _item(lines, at, stop, mark, heads)
            if dated and (newest := _newest(item.remark.text)):
                item = item._replace(remark=item.remark._replace(at=newest))
            items.append(item)
            at = stop
            continue
        if sign in "*_" and (match := re.fullmatch(_BOLD, bare_line)) and canonical(match[2]):
            _head(heads, at, at + 1, 6, match[2])
        elif at + 1 < count and (level := _underline(lines, at)):
            _head(heads, at, at + 2, level, bare_line)
            at += 1
        at += 1
    return MemoryOutline(lines, end, bom, final, start, heads, items)


def remark_text(text: str) -> tuple[str, bool]:
    """(what a remark says, as it is read back; whether it is marked as pinned)."""
    return _said("\n".join(line.rstrip() for line in _split(text.encode("utf-8", "replace").decode())))


def item_text(doc: MemoryOutline, index: int | None, body: str, pinned: bool) -> list[str]:
    """The lines of a new item, its mark as those of its section (else of the file) have it."""
    inside = [item for item in doc.items if item.head == index] or doc.items
    indent, mark = (inside[-1].indent, inside[-1].mark) if inside else ("", "- ")
    if mark[0].isdigit():
        same = index is not None and inside[-1].head == index
        number = re.match(r"\d+", mark)
        digits = number[0] if number else ""
        mark = f"{int(digits) + 1 if same else 1}{mark[len(digits) :]}"
    return lines_of(doc, indent, mark, body, pinned)


def lines_of(doc: MemoryOutline, indent: str, mark: str, body: str, pinned: bool) -> list[str]:
    """The lines of an item."""
    first, *more = body.split("\n")
    if pinned:
        first = (
            "📌 " if any("📌" in line for item in doc.items for line in doc.text(item)[:1]) else "[pinned] "
        ) + first
    if _rule(f"{mark}{first}"):
        mark = "+ "  # else it would be a rule across the page
    gap = " " * len((indent + mark).expandtabs(4))
    return [f"{indent}{mark}{first}{doc.end}", *(f"{gap}{line}{doc.end}" if line else doc.end for line in more)]


def insertion_point(doc: MemoryOutline, index: int) -> tuple[int, bool, bool]:
    """Where the next item below heading `index` (-1: before any) goes.

    The line before which it goes, whether a blank line must come first, whether blank lines are between items.
    """
    start = doc.heads[index].end if index >= 0 else doc.start
    stop = doc.heads[index + 1].line if index + 1 < len(doc.heads) else len(doc.lines)
    inside = [item for item in doc.items if item.head == index]
    loose = len(inside) > 1 and inside[-2].end < inside[-1].start
    if inside:
        at = inside[-1].end
        if at >= stop or not doc.lines[at].strip():
            return at, loose, loose
    at = stop
    while at > start and not doc.lines[at - 1].strip():
        at -= 1
    airy = index >= 0 and any(item.head >= 0 and doc.heads[item.head].end < item.start for item in doc.items[:1])
    return at, at > start or airy, loose


def apply_edits(doc: MemoryOutline, puts: Mapping[int, Sequence[str]], cuts: Sequence[tuple[int, int]] = ()) -> bytes:
    """The file with lines put before others and ranges cut; a blank line that a cut leaves double goes with it."""
    gone: set[int] = set()
    for start, stop in cuts:
        gone.update(range(start, stop))
    count = len(doc.lines)
    for start in sorted(gone):
        if start - 1 in gone or start == 0 or doc.lines[start - 1].strip():
            continue
        stop = start
        while stop in gone:
            stop += 1
        full = any(at in puts for at in range(start, stop + 1))
        if not full and (stop == count or not doc.lines[stop].strip()):
            gone.add(start - 1)
    out: list[str] = []
    for at, line in enumerate(doc.lines):
        if at in puts:
            out += puts[at]
        if at not in gone:
            out.append(line)
    out += puts.get(count, ())
    text = (BOM if doc.bom else "") + "".join(out)
    if not doc.final:
        text = text.removesuffix("\n").removesuffix("\r")
    return text.encode()


def _split(text: str) -> list[str]:
    """Lines with their ends; joined they are the text again."""
    if "\r" in text:
        from worldfs.formats import prose

        return prose.split(text)
    *whole, last = text.split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])


def _front(lines: Sequence[str]) -> int:
    """Front matter is no text: the line after it."""
    if len(lines) > 2 and lines[0].rstrip() == "---" and ":" in lines[1] and lines[1][0].isalpha():
        for at in range(1, min(len(lines), 200)):
            if lines[at].rstrip() in ("---", "..."):
                return at + 1
    return 0


def _head(heads: list[MemoryHeading], line: int, end: int, level: int, text: str) -> None:
    section = canonical(text)
    above = heads[-1] if heads else None
    if not section and level == 1 and not any(head.opens for head in heads) and above is None:
        opens = False  # the title
    elif above is not None and not section and above.section in SECTIONS and level > _depth(heads):
        section, opens = above.section, False
    else:
        opens = True
    heads.append(MemoryHeading(line, end, level, text, section or text, opens))


def _depth(heads: Sequence[MemoryHeading]) -> int:
    """The level of the section that is open."""
    return next((head.level for head in reversed(heads) if head.opens), 0)


def _hashes(line: str) -> int:
    """The level of a heading, 0 for none; `##Heading` is one, `#word` is a tag."""
    level = len(line) - len(line.lstrip("#"))
    follows = line[level : level + 1]
    return level if level < 7 and (follows in ("", " ", "\t") or level > 1) else 0


def list_marker(line: str) -> str:
    """The mark of a list item with the blanks after it; "" if the line is none, or an empty one."""
    at, blank = 1, True
    if line[0] not in "-*+•":
        while "0" <= line[at - 1 : at] <= "9" and at < 11:
            at += 1
        if at == 1 or line[at - 1 : at] not in (".", ")", "、"):
            return ""
        blank = line[at - 1] != "、"
    text = line[at:].lstrip(" \t")
    return line[: len(line) - len(text)] if text and (not blank or line[at] in " \t") else ""


def _shorn(text: str) -> str:
    """Without a closing run of `#`, which counts only after a blank."""
    text = text.strip()
    shorn = text.rstrip("#")
    return shorn.rstrip() if shorn[-1:] in ("", " ", "\t") else text


def _block(lines: Sequence[str], at: int, line: str, open_at: dict[str, int]) -> int:
    """The line after a fence or comment that begins here; 0 if none does, or none that ends."""
    if line.startswith("<!--"):
        sign, length = "<", 1
    elif line[:3] in ("```", "~~~") and _columns(lines[at]) < 4:
        sign, length = line[0], len(line) - len(line.lstrip(line[0]))
        if sign == "`" and "`" in line[length:]:
            return 0
    else:
        return 0
    if length >= open_at.get(sign, 1 << 30):
        return 0
    for stop in range(at if sign == "<" else at + 1, len(lines)):
        end = lines[stop].strip()
        if "-->" in end if sign == "<" else len(end) >= length and not end.strip(sign) and _columns(lines[stop]) < 4:
            return stop + 1
    open_at[sign] = length
    return 0


def _stop(lines: Sequence[str], at: int, indent: int, width: int) -> int:
    """The line after an item: what is indented below its mark, and lines that go on without a blank one between."""
    stop, blank = at + 1, False
    for number in range(at + 1, len(lines)):
        line = lines[number].strip()
        if not line:
            blank = True
            continue
        here = _columns(lines[number])
        mark = bool(list_marker(line))
        below = here >= width or here > indent + (1 if blank or mark else 0)
        if not below and (blank or mark or _interrupts(line)):
            return stop
        stop, blank = number + 1, False
    return stop


def _rule(line: str) -> bool:
    """Whether a line is a rule across the page: three or more of one sign."""
    return line[0] in "-*_" and not line.strip(line[0] + " \t") and line.count(line[0]) > 2


def _interrupts(line: str) -> bool:
    """Whether a line without indentation cannot go on with the paragraph above."""
    if line[0] in "#>|<`~" or _rule(line):
        return True
    match = re.fullmatch(_BOLD, line) if line[0] in "*_" else None
    return match is not None and bool(canonical(match[2]))


def _item(lines: Sequence[str], at: int, stop: int, mark: str, heads: Sequence[MemoryHeading]) -> MemoryListItem:
    line = lines[at]
    first = line.lstrip(" \t")
    lead = line[: len(line) - len(first)]
    said = first[len(mark) :].rstrip()
    if stop > at + 1:
        width = len((lead + mark).expandtabs(4))
        said = "\n".join([said, *(_dedented(lines[number], width).rstrip() for number in range(at + 1, stop))])
    text, pinned = _said(said)
    section = heads[-1].section if heads else ""
    return MemoryListItem(at, stop, len(heads) - 1, lead, mark, Remark(section, text, pinned, "", at + 1))


def _said(text: str) -> tuple[str, bool]:
    """A remark's text without the marks that pin it."""
    text, pinned = text.strip(), False
    if "[" not in text and "📌" not in text:
        return text, pinned
    while match := re.match(_PIN, text):
        text, pinned = text[match.end() :].strip(), True
    first, sign, rest = text.partition("\n")
    while (found := list(re.finditer(_PIN, first))) and found[-1].end() == len(first):
        first, pinned = first[: found[-1].start()].rstrip(), True
    return f"{first}{sign}{rest}".strip() if pinned else text, pinned


def _newest(text: str) -> str:
    best = ""
    if "20" not in text and "19" not in text:
        return best
    for year, *parts in re.findall(_DATE, text):
        month, day = (int(part) for part in parts if part)
        if 1 <= month <= 12 and 1 <= day <= 31:
            best = max(best, f"{year}-{month:02d}-{day:02d}")
    return best


def _columns(line: str) -> int:
    """How far a line is indented; a tab goes to the next fourth column."""
    if line[0] not in " \t":
        return 0
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    return len(lead.expandtabs(4)) if "\t" in lead else len(lead)


def _dedented(line: str, width: int) -> str:
    column = 0
    for at, sign in enumerate(line):
        if column >= width or sign not in " \t":
            return " " * (column - width) + line[at:]
        column += 4 - column % 4 if sign == "\t" else 1
    return ""


def _underline(lines: Sequence[str], at: int) -> int:
    """The level of a heading that the next line underlines: a title in the first line, or one that is known."""
    below = lines[at + 1].strip()
    if not below or (below.strip("=") and below.strip("-")):
        return 0
    if at == 0 and below[0] == "=":
        return 1
    return 2 if len(below) > 1 and canonical(lines[at].strip()) else 0
