"""memory.md: what an agent remembers across sessions, as list items below headings (003, memory.md).

Read leniently, since agents write it with plain file tools: headings in English and Chinese and by other names, any
list mark, nested items, continuation lines. Written by insertion and removal of whole items only: every other byte
stays as it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded
from worldfs.base.model.agent import Remark

from .memory_headings import HEADINGS, SECTIONS, TITLES, canonical, remark_preview
from .memory_outline import MemoryOutline, apply_edits, insertion_point, item_text, parse, remark_text

__all__ = ["SECTIONS", "MemoryDocument", "add", "add_section", "insert", "read", "remark_text", "remove", "template"]

PATH: Final = "memory.md"


class MemoryDocument(NamedTuple):
    """What memory.md says; `sections` in the file's order, canonical names where they are known."""

    title: str
    remarks: tuple[Remark, ...]
    sections: tuple[str, ...]


def read(data: bytes) -> MemoryDocument:
    """Raises `BadInput` for bytes that are no UTF-8."""
    doc = parse(data)
    used = {item.head for item in doc.items}
    names: dict[str, None] = {}
    for index, head in enumerate(doc.heads):
        if head.opens or index in used:
            names.setdefault(head.section)
    return MemoryDocument(doc.title, tuple(item.remark for item in doc.items), tuple(names))


def add(data: bytes, section: str, text: str, *, pinned: bool = False, language: str = "") -> bytes:
    """The file with one remark more, the last of its section; further lines of `text` continue it.

    `section`: patterns, dead_ends, questions, corrections, flags, or any heading. One that is not there is added, the
    five in 003's order, in `language` (en, zh; else the file's own). Raises `BadInput` for a text that says nothing.
    """
    doc = parse(data)
    body, marked = remark_text(text)
    name = " ".join(section.strip().lstrip("#").split())
    if not body or not name:
        raise BadInput(
            repr(text if not body else section), path=PATH, op="remember",
            expected=coded("file.a_section", names=SECTIONS) if body else coded("file.to_remember"),
        )  # fmt: skip
    index = doc.find(name)
    item = item_text(doc, index, body, pinned or marked)
    if index is not None:
        out = insert(doc, index, [item])
    else:
        known = canonical(name)
        heading = HEADINGS[_language(doc, language)][known] if known else name
        out = add_section(doc, known or name, heading, [item])
    ends = "```" in body or "~~~" in body or "-->" in body
    if ends and _texts(parse(out)) != sorted([*_texts(doc), body]):
        raise BadInput(
            coded("file.ends_fence"), path=PATH, op="remember", expected=coded("file.all_closed"),
            fix=coded("file.close_memory"),
        )  # fmt: skip
    return out


def insert(doc: MemoryOutline, index: int, items: list[list[str]]) -> bytes:
    """The file with items, as lines, at the end of section number `index`."""
    line, apart, loose = insertion_point(doc, index)
    new: list[str] = []
    for number, item in enumerate(items):
        new += [doc.end, *item] if (loose if number else apart) else item
    return apply_edits(doc, {line: new})


def add_section(doc: MemoryOutline, section: str, heading: str, items: list[list[str]]) -> bytes:
    """The file with a section more: one of the five in 003's order, any other at the end."""
    level = doc.level(section)
    line = _place(doc, section, level)
    new = [f"{'#' * level} {heading}{doc.end}", *(line for item in items for line in item)]
    if line and doc.lines[line - 1].strip():
        new.insert(0, doc.end)
    if line < len(doc.lines) and doc.lines[line].strip():
        new.append(doc.end)
    return apply_edits(doc, {line: new})


def remove(data: bytes, remark: Remark) -> bytes:
    """The file without one remark: the one at its line, or the first that says the same. Raises `NotFound`."""
    doc = parse(data)
    alike = [item for item in doc.items if item.remark.text == remark.text and item.remark.section == remark.section]
    here = [item for item in alike if item.remark.line == remark.line] or alike
    if not here:
        expected, fix = coded("file.a_remark"), coded("file.read_memory")
        raise NotFound(remark_preview(remark.text), path=PATH, op="forget", expected=expected, fix=fix)
    return apply_edits(doc, {}, [(here[0].start, here[0].end)])


def template(agent: str, language: str = "en") -> bytes:
    """A memory with its five sections, empty."""
    own = language if language in HEADINGS else "en"
    title = f"# {agent[:1].upper()}{agent[1:]} — {TITLES[own]}"
    return "\n".join([title, *(f"\n## {heading}" for heading in HEADINGS[own].values()), ""]).encode()


def _texts(doc: MemoryOutline) -> list[str]:
    return sorted(item.remark.text for item in doc.items)


def _language(doc: MemoryOutline, language: str) -> str:
    if language in HEADINGS:
        return language
    said = [head.text for head in doc.heads] or [item.remark.text for item in doc.items]
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in text) for text in said)
    return "zh" if chinese * 2 > len(said) else "en"


def _place(doc: MemoryOutline, section: str, level: int) -> int:
    """The line before which a new section goes: not before another of a lower level, which would be a part of it."""
    if section in SECTIONS:
        rank = SECTIONS.index(section)
        later = [head for head in doc.heads if head.opens and head.section in SECTIONS[rank + 1 :]]
        if later:
            return later[0].line
        earlier = [i for i, head in enumerate(doc.heads) if head.opens and head.section in SECTIONS[:rank]]
        if earlier:
            for head in doc.heads[earlier[-1] + 1 :]:
                if head.opens and (head.section in SECTIONS or head.level <= level):
                    return head.line
    return len(doc.lines)
