"""SESSIONS.md read as a sheet of orders: node = target, op = skill (000 "SESSIONS.md", workspace §3.5).

Dialects: the page's, r1 (`version: runtime_sessions_v1`) and r2 (`skillruntime_ref`). A bad entry is refused alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json, Order
from worldfs.base.model.session import CHUNK_MODES
from worldfs.base.restricting_fields import restricting, unread
from worldfs.formats import block, entry_ids, sheet_members
from worldfs.formats.action import ParsedSheet, SheetEntry, refuse_two_lists, without_entries
from worldfs.formats.block import Block
from worldfs.formats.entry_contradictions import refuse_beside, refuse_restrictions
from worldfs.formats.sheet_members import EntryCheck, EntryRefused

from .entry_registry import plain_ref

FILE: Final = "SESSIONS.md"
KEY: Final = "sessions"
MAX_ENTRIES: Final = 100_000
_SKILL_KEYS = ("skill_ref", "skillruntime_ref")
_KNOWN = entry_ids.TRANSIENT | {
    "session_id", "id", "target_ref", *_SKILL_KEYS, "created_at", "priority", "timeouts", "retry", "depends_on",
    "updated_at", "claimed_by", "claim_token", "max_retries", "attempts", "duration_s",
}  # fmt: skip
# Members of an entry's own mappings; what links a session to a goal or a parent is no part of how it is carried out
_READ = {
    "": ("task_description", "routing", "execution", "comment", "name", "note", "notes", "description", "goal_id",
         "parent_goal_id", "horizon", "parent_session_id", "replan_attempt"),
    "routing": ("target_adapter", "skill_runtime"),
    "execution": ("control_hz", "max_steps", "replan_every", "replan_every_steps", "action_chunk_mode", "seed",
                  "real_time", "record"),
    "retry": sheet_members.RETRY,
}  # fmt: skip
# Seconds by what they bound (workspace D20): the page's words, then r1's
_TOTAL = ("session",)
_ATTEMPT = ("execute", "execute_timeout_s")
_STEP = ("skill", "policy", "policy_timeout_s")
_QUEUE = ("queue", "queue_timeout_s")
_PREFLIGHT = ("preflight", "preflight_timeout_s")
_LIMITS = (*_TOTAL, *_ATTEMPT, *_STEP, *_QUEUE, *_PREFLIGHT)
_FIELDS = _KNOWN | {*_READ[""]}
_TERMS = _FIELDS & {*sheet_members.TERMS, "target_ref", *_SKILL_KEYS, "execution", "routing", "task_description"}
# What the specification's planners write beside a session: nothing reads it, and it may hold nothing back
_PLANNED = frozenset(("runtime_hints", "verification", "gateway_action", "safety_profile", "chunk_switch_mode"))
_PARTS = {
    "timeouts": _LIMITS, "routing": _READ["routing"], "retry": _READ["retry"],
    "execution": (*_READ["execution"], "params"),
}  # fmt: skip


def read(data: bytes, *, node: str = "") -> ParsedSheet:
    """The sheet in `data`. Raises `BadInput` for a half-written text, too many entries, a list that is none, or a field
    beside the list that nothing reads and that may hold a session back."""
    text = block.decode(data)
    found, dialect = locate(text)
    if found is None or dialect == "empty":
        return without_entries(FILE, text, (KEY,))
    refuse_two_lists(found, (KEY,))
    check = sheet_members.entry_check(found)
    taken: set[str] = set()
    entries = tuple(_entry(i, item, taken, dialect, check) for i, item in enumerate(entries_of(found.value)))
    if any(entry.state == "pending" for entry in entries):
        refuse_beside(text, found, (KEY,))
    return ParsedSheet(dialect, entries, tuple(entry.finding for entry in entries if entry.finding))


def locate(text: str) -> tuple[Block | None, str]:
    """The data of a SESSIONS.md and its dialect; with "empty" the block, if any, is the place to write to."""
    found = block.find(text, (KEY,), repeated=True)
    if found is not None:
        items = found.value[KEY]
        r2 = isinstance(items, list) and any(isinstance(item, dict) and "skillruntime_ref" in item for item in items)
        return found, "r2" if r2 else "r1" if "version" in found.value else "page"
    found = block.find(text, ()) if text.strip() else None
    return (found if found and (not found.value or not found.fenced) else None), "empty"


def list_key(value: Json) -> str:
    return KEY if KEY in value else ""


def entries_of(value: Json) -> list[Any]:
    """The entries of a document. Raises `BadInput` if they are no list, or too many."""
    entries = value.get(KEY)
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise BadInput(
            coded("file.wrong_kind", name=KEY, kind=type(entries).__name__),
            expected=coded("file.sessions"),
            fix=coded("file.make_list", name=KEY),
        )
    if len(entries) > MAX_ENTRIES:
        raise BadInput(
            coded("file.n_entries", n=len(entries)), expected=coded("file.most_entries", n=MAX_ENTRIES),
            fix=coded("file.submit_in_parts"),
        )  # fmt: skip
    return entries


def id_of(entry: Any, dialect: str) -> str | None:
    """The id that an entry goes by, made from its content where it has none; None if it can have none."""
    if not isinstance(entry, dict):
        return None
    for key in ("session_id", "id"):
        value = entry.get(key)
        if isinstance(value, str) and value:
            return value
        if value not in (None, ""):
            return None
    skill = next((entry[key] for key in _SKILL_KEYS if isinstance(entry.get(key), str)), "")
    name = plain_ref(skill)
    return entry_ids.of_entry(entry, f"sess_{name}_" if name and not entry_ids.unsafe(name) else "sess_")


def entry_digest(order: Order) -> str:
    """What an order asks for, to detect a known id with another order (workspace D23)."""
    return entry_ids.digest([order.node, order.op, order.params, order.extra.get("task_description", "")])


def unread_fields(order: Order) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of each member of a session's entry that nothing reads: its path in the entry, and the members that are read."""
    for name, value in order.extra.items():
        if name in ("timeouts", *_READ) and isinstance(value, dict):
            read = _LIMITS if name == "timeouts" else _READ[name]
            yield from (
                (f"{name}.{inner}", read) for inner, given in value.items() if inner not in read and given is not None
            )
        elif name not in _READ[""] and value is not None:
            yield name, tuple(sorted(_FIELDS - entry_ids.TRANSIENT))


def _entry(index: int, entry: Any, taken: set[str], dialect: str, check: EntryCheck) -> SheetEntry:
    at = f"/{KEY}/{index}"
    id = id_of(entry, dialect)
    word, state = "", "pending"
    try:
        if not isinstance(entry, dict):
            raise EntryRefused(at, coded("file.mapping"), entry)
        word, state = sheet_members.status(entry, at)
        if id is None:
            raise EntryRefused(
                f"{at}/session_id", coded("file.string"), entry.get("session_id"), coded("file.quote_session_id")
            )
        reason = entry_ids.unsafe(id)
        if reason:
            found, fix = coded("file.at", where=repr(id[:80]), found=reason), coded("file.plain_id")
            raise EntryRefused(f"{at}/session_id", coded("file.file_id"), found, fix)
        check(entry, at)
        order, warning = _order(entry, id, at)
        if state == "pending":
            refuse_restrictions(entry, at, _FIELDS, _TERMS, _PARTS, refused=_refused)
        if id in taken:
            fix = coded("file.first_one_counts")
            raise EntryRefused(f"{at}/session_id", coded("file.own_id"), id, fix, "ID_DUPLICATE")
    except EntryRefused as bad:
        return SheetEntry(index, id or "", None, word, state, sheet_members.finding(bad, FILE, id or ""))
    taken.add(id)
    return SheetEntry(
        index, id, order, word, state, sheet_members.finding(warning, FILE, id, warning=True) if warning else None
    )


def _refused(members: Json, known: Collection[str]) -> Iterable[str]:
    return unread(members, {*known, *(_PLANNED - {*restricting(members, known)})})


def _order(entry: Json, id: str, at: str) -> tuple[Order, EntryRefused | None]:
    skill_key = next((key for key in _SKILL_KEYS if entry.get(key) is not None), _SKILL_KEYS[0])
    execution = _mapping(entry.get("execution"), f"{at}/execution")
    params = _mapping(execution.get("params"), f"{at}/execution/params")
    _texts(_mapping(entry.get("routing"), f"{at}/routing"), ("skill_runtime",), f"{at}/routing")
    _texts(entry, ("task_description",), at)
    _figures(execution, f"{at}/execution")
    created, warning = sheet_members.created(entry, at)
    limit = _limits(entry, at)
    attempts, backoff = sheet_members.retry(entry, at)
    order = Order(
        id=id,
        node=_ref(entry.get("target_ref"), f"{at}/target_ref", coded("file.target_id")),
        op=_ref(entry.get(skill_key), f"{at}/{skill_key}", coded("file.skill_id")),
        params=params,
        created_at=created,
        priority=sheet_members.word(entry.get("priority"), sheet_members.PRIORITIES, "normal", f"{at}/priority"),
        sheet=FILE,
        depends_on=sheet_members.depends(entry, at),
        extra=_extra(entry, execution, at),
        attempts=attempts,
        backoff=backoff,
    )
    return replace(order, **limit), warning


def _extra(entry: Json, execution: Json, at: str) -> Json:
    """What the skill's runtime may read beside its parameters: routing, task_description, the rest of execution.

    Members of `timeouts` and `retry` that nothing reads stay here, to be named as warnings.
    """
    more = {key: value for key, value in entry.items() if key not in _KNOWN and key != "execution"}
    rest = {key: value for key, value in execution.items() if key != "params"}
    unread = {
        name: left
        for name, read in (("timeouts", _LIMITS), ("retry", _READ["retry"]))
        if (left := {key: value for key, value in _mapping(entry.get(name), at).items() if key not in read})
    }
    return more | unread | ({"execution": rest} if rest else {})


def _texts(value: Json, names: tuple[str, ...], at: str) -> None:
    for name in names:
        if not isinstance(value.get(name), str | None):
            raise EntryRefused(f"{at}/{name}", coded("file.text"), value[name])


def _figures(execution: Json, at: str) -> None:
    """Refuse a value of `execution` in whose place the default would be taken."""
    for name in ("control_hz", "max_steps", "replan_every", "replan_every_steps"):
        value = execution.get(name)
        if value is None:
            continue
        if not (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 < value <= 1e9
            and (name == "control_hz" or value == int(value))
        ):
            raise EntryRefused(f"{at}/{name}", coded("file.positive" if name == "control_hz" else "file.count"), value)
    if type(execution.get("seed")) not in (int, type(None)):
        raise EntryRefused(f"{at}/seed", coded("file.whole_number"), execution["seed"])
    for name in ("real_time", "record"):
        if not isinstance(execution.get(name), bool | None):
            raise EntryRefused(f"{at}/{name}", coded("file.true_or_false"), execution[name])
    _texts(execution, ("action_chunk_mode",), at)
    if (mode := execution.get("action_chunk_mode")) and mode not in CHUNK_MODES:
        raise EntryRefused(f"{at}/action_chunk_mode", coded("common.either_of", names=[*CHUNK_MODES]), mode)


def _ref(value: Any, at: str, expected: str) -> str:
    name = plain_ref(value.strip()) if isinstance(value, str) else ""
    if not name or entry_ids.unsafe(name):
        raise EntryRefused(at, expected, value if value is not None else coded("file.nothing"))
    return name


def _mapping(value: Any, at: str) -> Json:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise EntryRefused(at, coded("file.mapping"), value)
    return value


def _limits(entry: Json, at: str) -> dict[str, Any]:
    """Seconds of an order, by field. `session` bounds all attempts, so each attempt too (workspace D20)."""
    timeouts = _mapping(entry.get("timeouts"), f"{at}/timeouts")
    given = {
        key: sheet_members.seconds(value, f"{at}/timeouts/{key}")
        for key, value in timeouts.items()
        if value is not None and key in _LIMITS
    }
    least = {
        field: min(found)
        for field, keys in (
            ("timeout_s", _ATTEMPT + _TOTAL), ("total_timeout_s", _TOTAL), ("step_timeout_s", _STEP),
            ("queue_timeout_s", _QUEUE), ("preflight_timeout_s", _PREFLIGHT),
        )
        if (found := [given[key] for key in keys if key in given])
    }  # fmt: skip
    return least
