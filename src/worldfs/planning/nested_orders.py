"""The fields of the orders inside an order, at each depth: judged as an entry of ACTION.md is.

An order inside an order has no robot, time, condition or limit of its own. What would give it one is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from worldfs.base.compound_orders import ENTRY, MOVEMENTS, STEPS, STRATEGY, listed_order, script_name
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Order
from worldfs.base.order_parameters import POINT, REMARKS, SCRIPT, SUPPORT
from worldfs.base.restricting_fields import says_nothing, unread
from worldfs.formats import action, entry_ids, sheet_members
from worldfs.formats.entry_contradictions import refuse_contradictions, refuse_restrictions
from worldfs.formats.sheet_members import EntryRefused

_KNOWN: Final = frozenset((*ENTRY, "action_id", "id", "robot_id", "created_at", *entry_ids.TRANSIENT))
_USED: Final[Mapping[str, tuple[str, ...]]] = {  # what each sequence uses of the parameters of a strategy
    **dict.fromkeys(MOVEMENTS, ()),
    "look_and_pick": ("object_id",),
    "pick_and_place": ("object_id", *POINT, *SUPPORT),
    STEPS: (STEPS,),
}


def review_nested(order: Order) -> Iterator[Finding]:
    """A refusal for each order inside, by the first field of it that nothing reads and that may hold it back."""
    try:
        _refuse_robot(order.params, "/params", order.node)
        _refuse_unused(order.op, order.params, "/params")
    except EntryRefused as bad:
        yield sheet_members.finding(bad, action.FILE, order.id)
    for at, entry in _entries(order.op, order.params):
        try:
            _refuse(entry, at, order.node)
        except EntryRefused as bad:
            yield sheet_members.finding(bad, action.FILE, order.id)


def _entries(op: str, params: Json) -> Iterator[tuple[str, Json]]:
    """The orders inside, each with its place: the steps of a strategy, and any mapping with an `action_type`."""
    stack: list[tuple[str, object, bool]] = [("/params", params, False)]
    strategies = {id(params)} if op == STRATEGY else set()
    seen: set[int] = set()
    while stack:
        at, value, listed = stack.pop()
        if not isinstance(value, Mapping | list | tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            entry = as_object(value)
            if listed or "action_type" in entry:
                yield at, entry
                inner, given = listed_order(entry)
                strategies |= {id(given), id(value)} if inner == STRATEGY else set()
            steps = id(value) in strategies
            stack += [(f"{at}/{key}", one, steps and key == STEPS) for key, one in reversed(entry.items())]
        else:
            stack += [(f"{at}/{number}", one, listed) for number, one in reversed([*enumerate(value)])]


def _refuse(entry: Json, at: str, node: str) -> None:
    op, params = listed_order(entry)
    word, state = sheet_members.status(entry, at)
    if state != "pending":
        found, fix = coded("file.holds_back", name="status", value=word), coded("file.take_out_step")
        raise EntryRefused(f"{at}/status", coded("file.pending_step"), found, fix, "FIELD_UNREAD")
    own = next((key for key in ("params", "parameters") if entry.get(key) is params), "")
    inside = f"{at}/{own}" if own else at
    for where, members in ((at, entry), (inside, params)):
        _refuse_robot(members, where, node)
    if own:  # else its fields are the parameters
        again = refuse_contradictions(entry, op, params, at)
        refuse_restrictions(entry, at, _KNOWN | again, ENTRY, {}, refused=unread)
    if op in MOVEMENTS:
        refuse_restrictions(params, inside, ("robot_id", *REMARKS), (), {}, refused=unread)
    _refuse_unused(op, params, inside)


def _refuse_robot(members: Json, at: str, node: str) -> None:
    robot = members.get("robot_id")
    if node and not says_nothing(robot) and robot != node:
        raise EntryRefused(f"{at}/robot_id", node, robot, coded("file.one_robot"), "NODE_MISMATCH")


def _refuse_unused(op: str, params: Json, at: str) -> None:
    """A strategy carries out one sequence: what another one would use is not left out of it."""
    name = script_name(params)
    if op != STRATEGY or name not in _USED:
        return
    known = {*SCRIPT, *_USED[name], "robot_id", *REMARKS}
    if other := next((key for key, value in params.items() if key not in known and not says_nothing(value)), ""):
        found, expected = coded("session.unread", name=other[:80]), coded("common.some_of", names=sorted(known))
        raise EntryRefused(f"{at}/{other}", expected, found, coded("session.remove_field"), "FIELD_UNREAD")
