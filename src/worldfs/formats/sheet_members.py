"""One entry of a sheet: what refuses it alone, and the members that every sheet shares (workspace §3.2, §3.3, §3.5).

`at` is the entry's JSON pointer in its document; a refusal names the member below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from worldfs.base.clock import parse_stamp
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Finding, Json, Order
from worldfs.formats import entry_ids
from worldfs.formats.block import Block
from worldfs.formats.values import not_finite, repeated_key

MAX_ATTEMPTS: Final = 1000
PRIORITIES: Final = ("high", "normal", "medium", "low")
BACKOFFS: Final = ("none", "linear", "exponential")

# workspace §3.3: every word that any dialect writes, and what it means for an entry that is new
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

_DEFAULT = Order("", "", "")
TERMS: Final = ("priority", "timeouts", "timeout_s", "retry", "max_retries", "depends_on")  # keys of an entry

RETRY: Final = ("max_attempts", "max_retries", "backoff", "attempted")  # members of `retry`


class OrderTerms(NamedTuple):
    """How an order is carried out, beside what it asks for: fields of `Order`."""

    priority: str = _DEFAULT.priority
    timeout_s: float = _DEFAULT.timeout_s
    queue_timeout_s: float = _DEFAULT.queue_timeout_s
    attempts: int = _DEFAULT.attempts
    backoff: str = _DEFAULT.backoff
    depends_on: tuple[str, ...] = ()


class EntryRefused(Exception):
    """This entry cannot be read."""

    def __init__(self, pointer: str, expected: str, found: Any, fix: str = "", code: str = "SCHEMA_VALIDATION") -> None:
        super().__init__(pointer)
        self.pointer, self.expected, self.found, self.fix, self.code = pointer, expected, found, fix, code


def finding(bad: EntryRefused, file: str, job: str = "", *, warning: bool = False) -> Finding:
    found = bad.found if isinstance(bad.found, str) else f"{type(bad.found).__name__} {bad.found}"
    if not isinstance(found, CodedText):
        found = found[:200] or '""'
    fix = bad.fix or coded("file.others_go_on")
    return Finding(bad.code, f"{file} {bad.pointer or '/'}", bad.expected, found, fix, job, warning)


EntryCheck = Callable[[Json, str], None]


def key_check(sheet: Block) -> EntryCheck:
    """What refuses an entry at a pointer: a key that is written twice."""

    def check(entry: Json, at: str) -> None:
        if sheet.repeated and (found := repeated_key(entry, sheet.repeated)) is not None:
            where, key = found
            said, fix = coded("file.key_twice", key=key), coded("file.leave_one")
            raise EntryRefused(f"{at}{where}/{key}", coded("file.each_once"), said, fix)

    return check


def entry_check(sheet: Block) -> EntryCheck:
    """What refuses an entry at a pointer: a key that is written twice, or a number that is not finite."""
    finite, once = not_finite(sheet.value) is None, key_check(sheet)

    def check(entry: Json, at: str) -> None:
        once(entry, at)
        bad_number = None if finite else not_finite(entry)
        if bad_number is not None:
            raise EntryRefused(at + bad_number, coded("file.finite_number"), coded("file.not_finite"))

    return check


def status(entry: Json, at: str) -> tuple[str, str]:
    word = entry.get("status")
    if word is None:
        return "", "pending"
    state = STATES.get(word.strip().lower()) if isinstance(word, str) else None
    if state is None:
        raise EntryRefused(f"{at}/status", coded("file.status_words"), word)
    return str(word), state


def created(entry: Json, at: str) -> tuple[str, EntryRefused | None]:
    value = entry.get("created_at")
    if value is None or value == "":
        return "", None
    if not isinstance(value, str):
        raise EntryRefused(f"{at}/created_at", coded("file.a_time"), value)
    if parse_stamp(value) is None:
        fix = coded("file.write_time")
        return "", EntryRefused(f"{at}/created_at", coded("file.a_time"), value, fix)
    return value, None


def word(value: Any, words: tuple[str, ...], default: str, at: str) -> str:
    if value is None:
        return default
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in words:
        raise EntryRefused(at, ", ".join(words), value)
    return str(word)


def seconds(value: Any, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf or value > 1e9:
        raise EntryRefused(at, coded("file.seconds"), value)
    return float(value)


def terms(entry: Json, at: str) -> OrderTerms:
    """What the `TERMS` of an entry say."""
    priority = word(entry.get("priority"), PRIORITIES, _DEFAULT.priority, f"{at}/priority")
    return OrderTerms(priority, *limits(entry, at), *retry(entry, at), depends(entry, at))


def limits(entry: Json, at: str) -> tuple[float, float]:
    """Of one attempt, and of waiting (workspace D20). `session` bounds all attempts, so each attempt too."""
    timeouts = entry.get("timeouts")
    if timeouts is None and entry.get("timeout_s") is None:
        return _DEFAULT.timeout_s, _DEFAULT.queue_timeout_s
    if timeouts is not None and not isinstance(timeouts, dict):
        raise EntryRefused(f"{at}/timeouts", coded("file.seconds_mapping"), timeouts)
    given = {
        key: seconds(value, f"{at}/timeouts/{key}") for key, value in (timeouts or {}).items() if value is not None
    }
    attempt = [given[key] for key in ("execute", "session") if key in given]
    if entry.get("timeout_s") is not None:
        attempt.append(seconds(entry["timeout_s"], f"{at}/timeout_s"))
    return min(attempt, default=_DEFAULT.timeout_s), given.get("queue", _DEFAULT.queue_timeout_s)


def retry(entry: Json, at: str) -> tuple[int, str]:
    """Attempts and backoff (workspace D19): attempts are retries + 1; either name is understood."""
    given = entry.get("retry")
    if given is None and entry.get("max_retries") is None:
        return _DEFAULT.attempts, _DEFAULT.backoff
    if given is not None and not isinstance(given, dict):
        raise EntryRefused(f"{at}/retry", coded("file.retry_mapping"), given)
    given = given or {}
    attempts = 1
    places: tuple[tuple[Mapping[str, Any], str, str, int], ...] = (
        (entry, "max_retries", f"{at}/max_retries", 1),
        (given, "max_retries", f"{at}/retry/max_retries", 1),
        (given, "max_attempts", f"{at}/retry/max_attempts", 0),
    )
    for place, key, pointer, more in places:
        value = place.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value + more <= MAX_ATTEMPTS:
            raise EntryRefused(pointer, coded("file.whole_limit", n=MAX_ATTEMPTS), value)
        attempts = value + more
    return attempts, word(given.get("backoff"), BACKOFFS, "none", f"{at}/retry/backoff")


def depends(entry: Json, at: str) -> tuple[str, ...]:
    value = entry.get("depends_on")
    if not value:
        return ()
    wanted = [value] if isinstance(value, str) and value else value or []
    if not isinstance(wanted, list):
        raise EntryRefused(f"{at}/depends_on", coded("file.ids"), value)
    for i, id in enumerate(wanted):
        if not isinstance(id, str) or entry_ids.unsafe(id):
            raise EntryRefused(f"{at}/depends_on/{i}", coded("file.action_id"), id)
    return tuple(wanted)
