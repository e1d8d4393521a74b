"""ACTION.md read as a sheet of orders: the page's queue and q1's actions (000, "ACTION.md"; reference §3.2, §3.3).

A bad entry is named and refused alone; the rest of the sheet goes on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from worldfs.formats import block, ids
from worldfs.formats.block import Block
from worldfs.formats.values import not_finite
from worldfs.ground.clock import parse_stamp
from worldfs.ground.errors import BadInput
from worldfs.ground.model import Finding, Json, Order

FILE = "ACTION.md"
MAX_ENTRIES = 100_000  # a sheet of more is refused whole; its bytes are bounded by block.MAX_BYTES
MAX_ATTEMPTS = 1000
PRIORITIES = ("high", "normal", "medium", "low")
BACKOFFS = ("none", "linear", "exponential")

# §3.3: every word that any dialect writes, and what it means for an entry that is new
STATES = {
    "pending": "pending",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    **dict.fromkeys(
        ("completed", "failed", "succeeded", "timed_out", "rejected", "replanned", "done"),
        "terminal",
    ),
    **dict.fromkeys(
        ("running", "claimed", "preflight_checking", "cancelling", "finalizing", "awaiting_verification", "verifying",
         "awaiting_replan"),
        "between",
    ),
}  # fmt: skip

_KNOWN = ids.TRANSIENT | {
    "action_id", "id", "action_type", "params", "parameters", "robot_id", "created_at", "priority", "timeouts",
    "timeout_s", "retry", "max_retries", "depends_on",
}  # fmt: skip
_DEFAULT = Order("", "", "")


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


class _Place(NamedTuple):
    """Where entries were found: pointer of their list, dialect, the robot whose directory it is, all numbers finite."""

    list: str
    dialect: str
    node: str
    finite: bool


class _Refused(Exception):
    """This entry cannot be read."""

    def __init__(self, pointer: str, expected: str, found: Any, fix: str = "", code: str = "SCHEMA_VALIDATION") -> None:
        super().__init__(pointer)
        self.pointer, self.expected, self.found, self.fix, self.code = pointer, expected, found, fix, code


def read(data: bytes, *, node: str = "") -> Sheet:
    """The sheet in `data`; `node` is the robot whose directory it lies in, "" if that says nothing (D14).

    Raises BadInput for a half-written text, one with more than MAX_ENTRIES entries, and one whose list is no list.
    """
    found, dialect = locate(block.decode(data))
    if found is None or dialect == "empty":
        return Sheet()
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
            raise _Refused(at, "a mapping", entry)
        word, state = _status(entry, at)
        key = "id" if "id" in entry and "action_id" not in entry else "action_id"
        if id is None:
            raise _Refused(f"{at}/{key}", "a string", entry.get(key), "write the id in quotes, or leave it out")
        reason = ids.unsafe(id)
        if reason:
            fix = "use letters, digits, _ and - only"
            raise _Refused(f"{at}/{key}", "an id that can be a file name", f"{id!r}: {reason}", fix)
        bad_number = None if place.finite else not_finite(entry)
        if bad_number is not None:
            raise _Refused(at + bad_number, "a finite number", "NaN or Infinity")
        order, warning = _order(entry, id, at, place.node)
        if id in taken:
            fix = "give this entry another id; the first one counts"
            raise _Refused(f"{at}/{key}", "an id of its own", id, fix, "ID_DUPLICATE")
    except _Refused as bad:
        return Entry(index, id or "", None, word, state, _finding(bad, id or ""))
    taken.add(id)
    return Entry(index, id, order, word, state, _finding(warning, id, warning=True) if warning else None)


def _finding(bad: _Refused, job: str, *, warning: bool = False) -> Finding:
    found = bad.found if isinstance(bad.found, str) else f"{type(bad.found).__name__} {bad.found}"
    fix = bad.fix or "correct this entry; the others go on"
    return Finding(bad.code, f"{FILE} {bad.pointer or '/'}", bad.expected, found[:200], fix, job, warning)


def _status(entry: Json, at: str) -> tuple[str, str]:
    word = entry.get("status")
    if word is None:
        return "", "pending"
    state = STATES.get(word.strip().lower()) if isinstance(word, str) else None
    if state is None:
        raise _Refused(f"{at}/status", "pending, running, completed, failed or cancelled", word)
    return str(word), state


def _order(entry: Json, id: str, at: str, node: str) -> tuple[Order, _Refused | None]:
    """The order of an entry, and a warning where a part of it could not be used."""
    op = entry.get("action_type")
    if not isinstance(op, str) or not op.strip():
        raise _Refused(f"{at}/action_type", "the name of an action", op if op is not None else "nothing")
    key = "parameters" if "parameters" in entry and "params" not in entry else "params"
    params = entry.get(key)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise _Refused(f"{at}/{key}", "a mapping", params)
    created, warning = _created(entry, at)
    timeout, queue_timeout = _limits(entry, at)
    attempts, backoff = _retry(entry, at)
    order = Order(
        id=id,
        node=_node(entry, params, at, key, node),
        op=op.strip(),
        params=params,
        created_at=created,
        priority=_word(entry.get("priority"), PRIORITIES, "normal", f"{at}/priority"),
        sheet=FILE,
        depends_on=_depends(entry, at),
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
            raise _Refused(pointer, "the id of a robot", value)
        named[pointer] = value
    if node:
        named["the directory"] = node
    chosen = next(iter(named.values()), "")
    for pointer, value in named.items():
        if value != chosen:
            where = next(iter(named))
            raise _Refused(
                where,
                f"{value} ({pointer})",
                chosen,
                "name one robot, or move the entry to its ACTION.md",
                "NODE_MISMATCH",
            )
    return chosen


def _created(entry: Json, at: str) -> tuple[str, _Refused | None]:
    value = entry.get("created_at")
    if value is None or value == "":
        return "", None
    if not isinstance(value, str):
        raise _Refused(f"{at}/created_at", "a time such as 2025-04-01T12:00:00Z", value)
    if parse_stamp(value) is None:
        fix = "write ISO 8601; the time of acceptance is used"
        return "", _Refused(f"{at}/created_at", "a time such as 2025-04-01T12:00:00Z", value, fix)
    return value, None


def _word(value: Any, words: tuple[str, ...], default: str, at: str) -> str:
    if value is None:
        return default
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in words:
        raise _Refused(at, ", ".join(words), value)
    return str(word)


def _seconds(value: Any, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf or value > 1e9:
        raise _Refused(at, "seconds, more than 0", value)
    return float(value)


def _limits(entry: Json, at: str) -> tuple[float, float]:
    """Of one attempt, and of waiting (D20). `session` bounds all attempts, so one attempt may last no longer either."""
    timeouts = entry.get("timeouts")
    if timeouts is None and entry.get("timeout_s") is None:
        return _DEFAULT.timeout_s, _DEFAULT.queue_timeout_s
    if timeouts is not None and not isinstance(timeouts, dict):
        raise _Refused(f"{at}/timeouts", "a mapping of seconds", timeouts)
    given = {
        key: _seconds(value, f"{at}/timeouts/{key}") for key, value in (timeouts or {}).items() if value is not None
    }
    attempt = [given[key] for key in ("execute", "session") if key in given]
    if entry.get("timeout_s") is not None:
        attempt.append(_seconds(entry["timeout_s"], f"{at}/timeout_s"))
    return min(attempt, default=_DEFAULT.timeout_s), given.get("queue", _DEFAULT.queue_timeout_s)


def _retry(entry: Json, at: str) -> tuple[int, str]:
    """Attempts and backoff (D19): attempts are retries + 1; either name is understood."""
    retry = entry.get("retry")
    if retry is None and entry.get("max_retries") is None:
        return _DEFAULT.attempts, _DEFAULT.backoff
    if retry is not None and not isinstance(retry, dict):
        raise _Refused(f"{at}/retry", "a mapping with max_attempts and backoff", retry)
    retry = retry or {}
    attempts = 1
    places: tuple[tuple[Mapping[str, Any], str, str, int], ...] = (
        (entry, "max_retries", f"{at}/max_retries", 1),
        (retry, "max_attempts", f"{at}/retry/max_attempts", 0),
    )
    for place, key, pointer, more in places:
        value = place.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value + more <= MAX_ATTEMPTS:
            raise _Refused(pointer, f"a whole number up to {MAX_ATTEMPTS}", value)
        attempts = value + more
    return attempts, _word(retry.get("backoff"), BACKOFFS, "none", f"{at}/retry/backoff")


def _depends(entry: Json, at: str) -> tuple[str, ...]:
    value = entry.get("depends_on")
    if not value:
        return ()
    wanted = [value] if isinstance(value, str) and value else value or []
    if not isinstance(wanted, list):
        raise _Refused(f"{at}/depends_on", "a list of ids", value)
    for i, id in enumerate(wanted):
        if not isinstance(id, str) or ids.unsafe(id):
            raise _Refused(f"{at}/depends_on/{i}", "the id of an action", id)
    return tuple(wanted)
