"""ACTION.md read as a sheet of orders: the page's queue and q1's actions (000, "ACTION.md"; workspace §3.2, §3.3).

A bad entry is named and refused alone; the rest of the sheet goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Order
from worldfs.base.restricting_fields import restricts, says_nothing, unread
from worldfs.formats import block, entry_ids, sheet_members
from worldfs.formats.block import Block
from worldfs.formats.entry_contradictions import (
    meant,
    misspelt,
    refuse_beside,
    refuse_contradictions,
    refuse_restrictions,
)
from worldfs.formats.sheet_members import EntryCheck, EntryRefused

FILE = "ACTION.md"
MAX_ENTRIES = 100_000  # a sheet of more is refused whole; its bytes are bounded as those of any document

_KNOWN = entry_ids.TRANSIENT | {
    "action_id", "id", "action_type", "params", "parameters", "robot_id", "created_at", *sheet_members.TERMS,
}  # fmt: skip


_PARTS = {  # members of an entry's own mappings: an action has no phases, and gives their limits no meaning
    "timeouts": ("execute", "session", "queue", "skill", "policy", "policy_timeout_s", "preflight",
                 "preflight_timeout_s"),
    "retry": sheet_members.RETRY,
}  # fmt: skip
_WRITTEN = sorted(_KNOWN - entry_ids.TRANSIENT)
# What is done, by which robot, when, how long, how often
_RESTRICTING = frozenset(("action_type", "params", "parameters", "robot_id", *sheet_members.TERMS))
_PLAIN = _KNOWN - _RESTRICTING


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """One entry of the sheet. `order` is None if it is refused; `finding` says why, or warns."""

    index: int
    id: str
    order: Order | None
    word: str  # the status as written, "" if absent
    state: str  # pending | cancelled | terminal (history, never run: workspace D26) | between (lost: workspace D27)
    finding: Finding | None = None


class ParsedSheet(NamedTuple):
    dialect: str = "empty"  # page | q1 | empty
    entries: tuple[SheetEntry, ...] = ()
    findings: tuple[Finding, ...] = ()
    note: Finding | None = None  # of a text that is no queue at all; among the findings


class _EntryContext(NamedTuple):
    """Where entries were found: pointer of their list, dialect, the robot whose directory it is, and a check."""

    list: str
    dialect: str
    node: str
    check: EntryCheck


def read(data: bytes, *, node: str = "") -> ParsedSheet:
    """The sheet in `data`; `node` is the robot whose directory it lies in, "" if that says nothing (workspace D14).

    Raises BadInput for a half-written text, one with more than MAX_ENTRIES entries, one whose list is no list, and one
    with a field beside the list that nothing reads and that may hold an entry back.
    """
    text = block.decode(data)
    found, dialect = locate(text)
    if found is None or dialect == "empty":
        return without_entries(FILE, text, ("queue", "actions"))
    key = list_key(found.value)
    refuse_two_lists(found, ("queue", "actions") if key else ())
    check = sheet_members.entry_check(found)
    place = _EntryContext(f"/{key}/" if key else "", dialect, node, check)
    taken: set[str] = set()
    entries = tuple(_entry(i, entry, taken, place) for i, entry in enumerate(entries_of(found.value)))
    if key and any(entry.state == "pending" for entry in entries):
        refuse_beside(text, found, {key} | _robot_of_all(found.value, node, entries))
    return ParsedSheet(dialect, entries, tuple(entry.finding for entry in entries if entry.finding))


def _robot_of_all(document: Json, node: str, entries: tuple[SheetEntry, ...]) -> set[str]:
    """`robot_id` beside the entries, if it is the robot of the directory and of each entry."""
    robot = document.get("robot_id")
    others = {node, *(entry.order.node for entry in entries if entry.order is not None)} - {""}
    return {"robot_id"} if others == {robot} else set()


def locate(text: str) -> tuple[Block | None, str]:
    """The data of an ACTION.md and its dialect; with "empty" the block, if any, is the place to write to."""
    found = block.find(text, ("queue", "actions"), repeated=True, among=("action_type",))
    if found is not None:
        return found, "page" if "queue" in found.value else "q1"
    found = block.find(text, ("action_type",), repeated=True)  # one bare action as the document, as q1 allows
    if found is not None:
        return found, "q1"
    found = block.find(text, ()) if text.strip() else None
    return (found if found and (not found.value or not found.fenced) else None), "empty"


def without_entries(file: str, text: str, keys: tuple[str, ...]) -> ParsedSheet:
    """The sheet of a text that holds none of `keys`: empty, with a note where the text says something else."""
    said = block.said(text)
    if not said:
        return ParsedSheet()
    expected = coded("file.queue_or_nothing", names=" or ".join(f"`{key}`" for key in keys))
    found, fix = coded("file.nothing_read", said=said), coded("file.write_block", key=keys[0])
    note = Finding("NO_QUEUE", file, expected, found, fix, warning=True)
    return ParsedSheet(findings=(note,), note=note)


def refuse_two_lists(found: Block, keys: tuple[str, ...]) -> None:
    """Raises BadInput where it is not clear which list of entries is meant."""
    twice = next((key for one, key in found.repeated if one is found.value and key in keys), "")
    if twice or sum(key in found.value for key in keys) > 1:
        said = [f"`{key}`" for key in keys if key in found.value] if not twice else [f"`{twice}`"] * 2
        raise BadInput(
            coded("file.two_lists", names=said), expected=coded("file.one_list"), fix=coded("file.join_lists")
        )


def list_key(value: Json) -> str:
    """The key under which the entries are; "" for one bare action."""
    return "queue" if "queue" in value else "actions" if "actions" in value else ""


def entries_of(value: Json) -> list[Any]:
    """The entries of a document. Raises BadInput if they are no list, or too many."""
    key = list_key(value)
    if not key:
        return [value]
    entries = value[key]
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise BadInput(
            coded("file.wrong_kind", name=key, kind=type(entries).__name__),
            expected=coded("file.actions"),
            fix=coded("file.make_list", name=key),
        )
    if len(entries) > MAX_ENTRIES:
        raise BadInput(
            coded("file.n_entries", n=len(entries)),
            expected=coded("file.most_entries", n=MAX_ENTRIES),
            fix=coded("file.submit_in_parts"),
        )
    return entries


def id_of(entry: Any, dialect: str) -> str | None:
    """The id that an entry goes by, made from its content where it has none; None if it can have none."""
    if not isinstance(entry, dict):
        return None
    keys = ("action_id", "id") if dialect == "page" else ("id", "action_id")
    for key in keys:
        value = entry.get(key)
        if isinstance(value, str) and value:
            return value
        if value not in (None, ""):
            return None
    return entry_ids.of_entry(entry, "act_" if dialect == "page" else "")


def entry_digest(order: Order) -> str:
    """What an order asks for, to detect a known id with another order (workspace D23). A node in params counts once."""
    params = {key: value for key, value in order.params.items() if key != "robot_id"}
    return entry_ids.digest([order.node, order.op, params])


def _entry(index: int, entry: Any, taken: set[str], place: _EntryContext) -> SheetEntry:
    at = f"{place.list}{index}" if place.list else ""
    id = id_of(entry, place.dialect)
    word, state = "", "pending"
    try:
        if not isinstance(entry, dict):
            raise EntryRefused(at, coded("file.mapping"), entry)
        word, state = sheet_members.status(entry, at)
        key = "id" if "id" in entry and "action_id" not in entry else "action_id"
        if id is None:
            raise EntryRefused(f"{at}/{key}", coded("file.string"), entry.get(key), coded("file.quote_id"))
        reason = entry_ids.unsafe(id)
        if reason:
            found, fix = coded("file.at", where=repr(id[:80]), found=reason), coded("file.plain_id")
            raise EntryRefused(f"{at}/{key}", coded("file.file_id"), found, fix)
        place.check(entry, at)
        order, warning = _order(entry, id, at, place.node)
        if state == "pending":
            again = refuse_contradictions(entry, order.op, order.params, at)
            warned = {name for name, value in order.extra.items() if meant(name, _PLAIN) and not restricts(name, value)}
            refuse_restrictions(entry, at, _KNOWN | again | warned, _RESTRICTING, _PARTS, refused=unread)
        if warning is not None and warning.code == "FIELD_UNREAD" and warning.expected in _RESTRICTING:
            raise warning  # it would be carried out without the restriction
        if id in taken:
            fix = coded("file.first_one_counts")
            raise EntryRefused(f"{at}/{key}", coded("file.own_id"), id, fix, "ID_DUPLICATE")
    except EntryRefused as bad:
        return SheetEntry(index, id or "", None, word, state, sheet_members.finding(bad, FILE, id or ""))
    taken.add(id)
    return SheetEntry(
        index, id, order, word, state, sheet_members.finding(warning, FILE, id, warning=True) if warning else None
    )


def _order(entry: Json, id: str, at: str, node: str) -> tuple[Order, EntryRefused | None]:
    """The order of an entry, and a warning where a part of it could not be used."""
    op = entry.get("action_type")
    if not isinstance(op, str) or not op.strip():
        raise EntryRefused(
            f"{at}/action_type", coded("file.action_name"), op if op is not None else coded("file.nothing")
        )
    key = "parameters" if "parameters" in entry and "params" not in entry else "params"
    params = entry.get(key)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise EntryRefused(f"{at}/{key}", coded("file.mapping"), params)
    created, warning = sheet_members.created(entry, at)
    order = Order(
        id=id,
        node=_node(entry, params, at, key, node),
        op=op.strip(),
        params=params,
        created_at=created,
        sheet=FILE,
        extra={key: value for key, value in entry.items() if key not in _KNOWN},
        **sheet_members.terms(entry, at)._asdict(),
    )
    return order, warning or _misspelt(order.extra, at)


def _misspelt(extra: Json, at: str) -> EntryRefused | None:
    """A field that nothing reads and that looks like one that is read, one that restricts the order first."""
    found: list[EntryRefused] = []
    for name, value in extra.items():
        if says_nothing(value):
            continue
        if likely := meant(str(name), _WRITTEN) or "".join(get_close_matches(str(name), _WRITTEN, 1, 0.75)):
            found.append(misspelt(f"{at}/{name}", str(name), likely))
    return min(found, key=lambda one: one.expected not in _RESTRICTING, default=None)


def _node(entry: Json, params: Json, at: str, key: str, node: str) -> str:
    """workspace D14: the entry's robot, else the arguments', else the directory's; all that are named must agree."""
    named: dict[str, str] = {}
    for pointer, value in ((f"{at}/robot_id", entry.get("robot_id")), (f"{at}/{key}/robot_id", params.get("robot_id"))):
        if value is None or value == "":
            continue
        if not isinstance(value, str) or entry_ids.unsafe(value):
            raise EntryRefused(pointer, coded("file.robot_id"), value)
        named[pointer] = value
    if node:
        named["the directory"] = node
    chosen = next(iter(named.values()), "")
    for pointer, value in named.items():
        if value != chosen:
            where = next(iter(named))
            raise EntryRefused(
                where,
                f"{value} ({pointer})",
                chosen,
                coded("file.one_robot"),
                "NODE_MISMATCH",
            )
    return chosen
