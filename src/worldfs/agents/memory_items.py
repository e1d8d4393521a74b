"""What memory.md says, piece by piece with the heading as it is: its list items, and all text that is none."""

from __future__ import annotations

from typing import NamedTuple

from worldfs.base.model.agent import Remark
from worldfs.formats.agent.memory_outline import MemoryOutline, parse


class MemoryItem(NamedTuple):
    heading: str  # as the file has it, a part below its section: "Open Questions › AMMs"; "" before the first
    remark: Remark  # `section` canonical where it is known
    item: bool  # False: a paragraph, a table, a block of code


def memory_items(data: bytes) -> list[MemoryItem]:
    """In the file's order; an agent with file tools writes paragraphs too, and nothing it wrote is passed over.

    Raises `BadInput` for bytes that are no UTF-8.
    """
    doc = parse(data)
    names = _names(doc)
    pieces = [MemoryItem(names[item.head] if item.head >= 0 else "", item.remark, True) for item in doc.items]
    taken = {line for item in doc.items for line in range(item.start, item.end)}
    taken.update(line for head in doc.heads for line in range(head.line, head.end))
    paragraph: list[int] = []
    for number in range(len(doc.lines) + 1):
        if number < len(doc.lines) and number not in taken and doc.lines[number].strip():
            paragraph.append(number)
        elif paragraph:
            if any(sign.isalnum() for line in paragraph for sign in doc.lines[line]):  # a rule says nothing
                pieces.append(_paragraph(doc, names, paragraph))
            paragraph = []
    return sorted(pieces, key=lambda piece: piece.remark.line)


def _names(doc: MemoryOutline) -> list[str]:
    names: list[str] = []
    above = ""
    for head in doc.heads:
        above = head.text if head.opens else above
        names.append(head.text if head.opens or not above else f"{above} › {head.text}")
    return names


def _paragraph(doc: MemoryOutline, names: list[str], numbers: list[int]) -> MemoryItem:
    text = "".join(doc.lines[number] for number in numbers).rstrip("\r\n")
    over = [number for number, head in enumerate(doc.heads) if head.line < numbers[0]]
    section = doc.heads[over[-1]].section if over else ""
    return MemoryItem(names[over[-1]] if over else "", Remark(section, text, line=numbers[0] + 1), False)
