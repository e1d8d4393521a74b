"""The rows of a file that is one list of flat objects (tasks.json), changed without printing the others.

Where the file has the specification's layout, rows are told apart by the lines between them, which no JSON string can
hold: so a change costs what it changes. Any other file is left to `jsonfile`.
"""

from __future__ import annotations

from typing import Any, Final

from .jsonfile import DEEP, Json, flat, pretty

_BEGIN: Final = "\n    {"
_END: Final = "\n    }"
_MEMBER: Final = "\n      "
_BETWEEN: Final = _END + "," + _BEGIN


def changed(text: str, old: Json, new: Json) -> str | None:
    """`text`, which holds `old`, with those rows of `new` that are other objects; None where it cannot be done."""
    name = next((key for key, item in old.items() if type(item) is list), "")
    rows, others = old.get(name), new.get(name)
    if not rows or type(others) is not list or len(rows) > len(others) or not all(map(_is_flat, rows)):
        return None
    before, after = _frame(old, name), _frame(new, name)
    if before is None or after is None or list(old) != list(new):
        return None
    if not (text.startswith(before[0]) and text.endswith(before[1])):
        return None
    pieces = text[len(before[0]) : len(text) - len(before[1])].split(_BETWEEN)
    # The first row is compared too: with a list given twice, what stands first is not what was read.
    if len(pieces) != len(rows) or pieces[0] != _inside(rows[0]):
        return None
    for index, row in enumerate(others):
        if index < len(rows) and row is rows[index]:
            continue
        if not (type(row) is dict and row) or (index < len(rows) and pieces[index] != _inside(rows[index])):
            return None
        pieces[index : index + 1] = [_inside(row)]
    return after[0] + _BETWEEN.join(pieces) + after[1]


def _frame(value: Json, name: str) -> tuple[str, str] | None:
    """What stands before the inside of the first row and after that of the last, if nothing else is deep."""
    if not _is_flat({**value, name: None}):
        return None
    head, _, tail = pretty({**value, name: [{"": None}]}).partition(_BEGIN)
    return head + _BEGIN, tail[tail.index(_END) :] + "\n"


def _is_flat(row: Any) -> bool:
    return type(row) is dict and bool(row) and DEEP.isdisjoint(map(type, row.values()))


def _inside(row: Json) -> str:
    """A row between its brackets, as it stands in the file."""
    return _MEMBER + flat(_MEMBER)(row)[1:-1] if _is_flat(row) else pretty(row, "\n    ")[1 : -len(_END)]
