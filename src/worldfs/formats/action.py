"""ACTION.md read as a sheet of orders: the page's queue and q1's actions (000, "ACTION.md"; reference §3.2, §3.3).

A bad entry is named and refused alone; the rest of the sheet goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from worldfs.formats import block, ids, members
from worldfs.formats.block import Block
from worldfs.formats.members import Refused
from worldfs.formats.values import not_finite
from worldfs.ground.errors import BadInput
from worldfs.ground.model import Finding, Json, Order

FILE = "ACTION.md"
MAX_ENTRIES = 100_000  # a sheet of more is refused whole; its bytes are bounded by block.MAX_BYTES

_KNOWN = ids.TRANSIENT | {
    "action_id", "id", "action_type", "params", "parameters", "robot_id", "created_at", "priority", "timeouts",
    "timeout_s", "retry", "max_retries", "depends_on",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the sheet. `order` is None if it is refused; `finding` says why, or warns."""

    index: int
    id: str
    order: Order | None
    word: str  # the status as written, "" if absent
    state: str  # pending | cancelled | terminal (history, never run: D26) | between (lost, never run: D27)
    finding: Finding | None = None


class Sheet(NamedTuple):
    dialect: str = "empty"  # page | q1 | empty
    entries: tuple[Entry, ...] = ()
    findings: tuple[Finding, ...] = ()
    note: Finding | None = None  # of a text that is no queue at all; among the findings


class _Place(NamedTuple):
    """Where entries were found: pointer of their list, dialect, the robot whose directory it is, all numbers finite."""

    list: str
    dialect: str
    node: str
    finite: bool


def read(data: bytes, *, node: str = "") -> Sheet:
    """The sheet in `data`; `node` is the robot whose directory it lies in, "" if that says nothing (D14).

    Raises BadInput for a half-written text, one with more than MAX_ENTRIES entries, and one whose list is no list.
    """
    text = block.decode(data)
    found, dialect = locate(text)
    if found is None or dialect == "empty":
        return without_entries(FILE, text, ("queue", "actions"))
    key = list_key(found.value)
    place = _Place(f"/{key}/" if key else "", dialect, node, not_finite(found.value) is None)
    taken: set[str] = set()
    entries = tuple(_entry(i, entry, taken, place) for i, entry in enumerate(entries_of(found.value)))
    return Sheet(dialect, entries, tuple(entry.finding for entry in entries if entry.finding))


def locate(text: str) -> tuple[Block | None, str]:
    """The data of an ACTION.md and its dialect; with "empty" the block, if any, is the place to write to."""
    found = block.find(text, ("queue", "actions"))
    if found is not None:
        return found, "page" if "queue" in found.value else "q1"
    found = block.find(text, ("action_type",))  # one bare action as the document, as q1 allows
    if found is not None:
        return found, "q1"
    found = block.find(text, ()) if text.strip() else None
    return (found if found and (not found.value or not found.fenced) else None), "empty"


def without_entries(file: str, text: str, keys: tuple[str, ...]) -> Sheet:
    """The sheet of a text that holds none of `keys`: empty, with a note where the text says something else."""
    said = block.said(text)
    if not said:
        return Sheet()
    wanted = " or ".join(f"`{key}`" for key in keys)
    fix = f'write the orders in a block of JSON, ```json {{"{keys[0]}": []}} ```; the text stays as it is'
    note = Finding("NO_QUEUE", file, f"a list {wanted}, or nothing", f"{said}: nothing was read", fix, warning=True)
    return Sheet(findings=(note,), note=note)


def list_key(value: Json) -> str:
    """The key under which the entries stand; "" for one bare action."""
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
            f"`{key}` is a {type(entries).__name__}", expected="a list of actions", fix=f"make `{key}` a list"
        )
    if len(entries) > MAX_ENTRIES:
        raise BadInput(
            f"{len(entries):,} entries",
            expected=f"at most {MAX_ENTRIES:,} in one sheet",
            fix="submit them in parts; nothing was read from it",
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
    return ids.of_entry(entry, "act_" if dialect == "page" else "")


def entry_digest(order: Order) -> str:
    """What an order asks for, to tell a known id with another order (D23). A node repeated in params counts once."""
    params = {key: value for key, value in order.params.items() if key != "robot_id"}
    return ids.digest([order.node, order.op, params])


def _entry(index: int, entry: Any, taken: set[str], place: _Place) -> Entry:
    at = f"{place.list}{index}" if place.list else ""
    id = id_of(entry, place.dialect)
    word, state = "", "pending"
    try:
        if not isinstance(entry, dict):
            raise Refused(at, "a mapping", entry)
        word, state = members.status(entry, at)
        key = "id" if "id" in entry and "action_id" not in entry else "action_id"
        if id is None:
            raise Refused(f"{at}/{key}", "a string", entry.get(key), "write the id in quotes, or leave it out")
        reason = ids.unsafe(id)
        if reason:
            fix = "use letters, digits, _ and - only"
            raise Refused(f"{at}/{key}", "an id that can be a file name", f"{id!r}: {reason}", fix)
        bad_number = None if place.finite else not_finite(entry)
        if bad_number is not None:
            raise Refused(at + bad_number, "a finite number", "NaN or Infinity")
        order, warning = _order(entry, id, at, place.node)
        if id in taken:
            fix = "give this entry another id; the first one counts"
            raise Refused(f"{at}/{key}", "an id of its own", id, fix, "ID_DUPLICATE")
    except Refused as bad:
        return Entry(index, id or "", None, word, state, members.finding(bad, FILE, id or ""))
    taken.add(id)
    return Entry(index, id, order, word, state, members.finding(warning, FILE, id, warning=True) if warning else None)


def _order(entry: Json, id: str, at: str, node: str) -> tuple[Order, Refused | None]:
    """The order of an entry, and a warning where a part of it could not be used."""
    op = entry.get("action_type")
    if not isinstance(op, str) or not op.strip():
        raise Refused(f"{at}/action_type", "the name of an action", op if op is not None else "nothing")
    key = "parameters" if "parameters" in entry and "params" not in entry else "params"
    params = entry.get(key)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise Refused(f"{at}/{key}", "a mapping", params)
    created, warning = members.created(entry, at)
    timeout, queue_timeout = members.limits(entry, at)
    attempts, backoff = members.retry(entry, at)
    order = Order(
        id=id,
        node=_node(entry, params, at, key, node),
        op=op.strip(),
        params=params,
        created_at=created,
        priority=members.word(entry.get("priority"), members.PRIORITIES, "normal", f"{at}/priority"),
        sheet=FILE,
        depends_on=members.depends(entry, at),
        extra={key: value for key, value in entry.items() if key not in _KNOWN},
        timeout_s=timeout,
        queue_timeout_s=queue_timeout,
        attempts=attempts,
        backoff=backoff,
    )
    return order, warning


def _node(entry: Json, params: Json, at: str, key: str, node: str) -> str:
    """D14: the entry's robot, else the arguments', else the directory's; all that are named must agree."""
    named: dict[str, str] = {}
    for pointer, value in ((f"{at}/robot_id", entry.get("robot_id")), (f"{at}/{key}/robot_id", params.get("robot_id"))):
        if value is None or value == "":
            continue
        if not isinstance(value, str) or ids.unsafe(value):
            raise Refused(pointer, "the id of a robot", value)
        named[pointer] = value
    if node:
        named["the directory"] = node
    chosen = next(iter(named.values()), "")
    for pointer, value in named.items():
        if value != chosen:
            where = next(iter(named))
            raise Refused(
                where,
                f"{value} ({pointer})",
                chosen,
                "name one robot, or move the entry to its ACTION.md",
                "NODE_MISMATCH",
            )
    return chosen
