"""The rows of a file that is one list of flat objects (tasks.json), changed without printing the others.

Where the file has the specification's layout, rows are told apart by the lines between them, which no JSON string can
hold: so a change costs what it changes. Any other file is left to `jsonfile`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .jsonfile import DEEP, Json, flat, pretty

_BEGIN: Final = "\n    {"
_END: Final = "\n    }"
_MEMBER: Final = "\n      "
_BETWEEN: Final = _END + "," + _BEGIN


class RowLayout(NamedTuple):
    """A text taken apart: what is before the inside of the first row and after that of the last; the insides."""

    head: str
    tail: str
    rows: list[str]

    def text(self) -> str:
        return self.head + _BETWEEN.join(self.rows) + self.tail


def parse_rows(text: str, value: Json) -> RowLayout | None:
    """`text`, which holds `value`, taken apart; None where it has another layout."""
    name = _list(value)
    rows = value.get(name)
    if not rows or not all(map(_is_flat, rows)) or (frame := _frame(value, name)) is None:
        return None
    head, tail = frame
    if not (text.startswith(head) and text.endswith(tail)):
        return None
    pieces = text[len(head) : len(text) - len(tail)].split(_BETWEEN)
    # Every row is compared: with a list given twice, what is there is not what was read.
    if len(pieces) != len(rows) or any(piece != _inside(row) for piece, row in zip(pieces, rows, strict=True)):
        return None
    return RowLayout(head, tail, pieces)


def update_rows(known: RowLayout, old: Json, new: Json) -> RowLayout | None:
    """`known`, which is `old`, with those rows of `new` that are other objects; None where it cannot be done."""
    name = _list(old)
    rows, others = old[name], new.get(name)
    if type(others) is not list or len(rows) > len(others) or list(old) != list(new):
        return None
    if (frame := _frame(new, name)) is None:
        return None
    pieces = list(known.rows)
    for index, row in enumerate(others):
        if index < len(rows) and row is rows[index]:
            continue
        if not (type(row) is dict and row):
            return None
        pieces[index : index + 1] = [_inside(row)]
    return RowLayout(*frame, pieces)


def _list(value: Json) -> str:
    return next((key for key, item in value.items() if type(item) is list), "")


def _frame(value: Json, name: str) -> tuple[str, str] | None:
    """What is before the inside of the first row and after that of the last, if nothing else is deep."""
    if not _is_flat({**value, name: None}):
        return None
    head, _, tail = pretty({**value, name: [{"": None}]}).partition(_BEGIN)
    return head + _BEGIN, tail[tail.index(_END) :] + "\n"


def _is_flat(row: Any) -> bool:
    return type(row) is dict and bool(row) and DEEP.isdisjoint(map(type, row.values()))


def _inside(row: Json) -> str:
    """A row between its brackets, as it is in the file."""
    return _MEMBER + flat(_MEMBER)(row)[1:-1] if _is_flat(row) else pretty(row, "\n    ")[1 : -len(_END)]
