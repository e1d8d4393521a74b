"""What a document says beside its orders and nothing reads: what would hold them back, or says another order.

Only what tells of the order (who, when, why) is kept and means nothing; whatever else nothing reads refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.order_parameters import AXES, OBJECT, POINT, SUPPORT, TURNS
from worldfs.base.restricting_fields import bare_name, resembles, restricting, says_nothing, unread
from worldfs.base.standard_operations import meaning
from worldfs.formats import block
from worldfs.formats.block import Block
from worldfs.formats.sheet_members import EntryRefused
from worldfs.formats.values import same

# What other tools call the terms of an entry; compared without case, "_" and "-".
_OTHERS: Final = {
    **dict.fromkeys(("robot", "robotname", "node", "nodeid", "agent", "agentid", "targetrobot"), "robot_id"),
    **dict.fromkeys(("after", "runafter", "depends", "dependencies", "dependency", "deps", "requires", "needs",
                     "waitfor", "prerequisites", "blockedby"), "depends_on"),
    **dict.fromkeys(("timeoutms", "timeoutsec", "timeoutseconds", "deadline"), "timeout_s"),
    **dict.fromkeys(("retries", "maxattempts", "attempts"), "max_retries"),
    **dict.fromkeys(("instruction", "languageinstruction", "nltask", "task"), "task_description"),
}  # fmt: skip
PARAMS: Final = frozenset(("param", "args", "arguments", "actionparams", "actionparameters", "actionargs", "kwargs"))
_ACTION: Final = ("type", "action", "op", "operation", "command", "primitive")
_PLAIN: Final = frozenset(("id", "in", "on", "into"))  # the entry's own, or words that say little outside parameters
_MOVING: Final = frozenset((*OBJECT, *POINT, *SUPPORT, *AXES, *TURNS, "direction", "distance", "speed")) - _PLAIN


def refuse_beside(text: str, found: Block, known: Collection[str], file: str = "") -> None:
    """Raises `BadInput` for the first field beside the list of entries, or before the text, that nothing reads and that
    may hold the entries back, and for one in another block that holds back. The document is refused whole and its
    entries are left as they are.

    `file`: the path of the error begins with it.
    """
    before = block.front_matter(text) if found.fenced else {}
    unused = [(found.value, unread(found.value, known)), (before, unread(before))]
    unused += [(other, restricting(other)) for other in block.others(text, found)]
    for members, names in unused:
        for name in names:
            said, fix = _unread_field(name, members[name])[0], coded("file.take_out_beside")
            expected, where = coded("file.beside_entries", names=sorted(known)), f"{file} /{name}".strip()
            raise BadInput(said, path=where, expected=expected, fix=fix, code="FIELD_UNREAD")


def refuse_restrictions(
    entry: Json,
    at: str,
    known: Collection[str],
    terms: Collection[str],
    parts: Mapping[str, Collection[str]],
    *,
    refused: Callable[[Json, Collection[str]], Iterable[str]] = restricting,
) -> None:
    """Raises `EntryRefused` for the first field that would hold the entry back or limit it, and that nothing reads.

    `known`: the members that are read, `terms` those of them without which it would be carried out otherwise; `parts`:
    its own mappings, with the members that are read of each. Whatever `timeouts` holds is a limit.
    """
    _refuse(entry, at, known, terms, refused(entry, known))
    for part, read in parts.items():
        if isinstance(members := entry.get(part), dict):
            _refuse(members, f"{at}/{part}", read, read, members if part == "timeouts" else refused(members, read))


def _refuse(members: Json, at: str, known: Collection[str], terms: Collection[str], holding: Iterable[str]) -> None:
    held = {*holding}
    for name, value in members.items():
        if name in known or says_nothing(value):
            continue
        where = f"{at}/{name}"
        if likely := meant(name, terms):
            raise misspelt(where, name, likely)
        if name in held:
            found, fix = _unread_field(name, value)
            raise EntryRefused(where, coded("file.carried_out"), found, fix, "FIELD_UNREAD")


def _unread_field(name: str, value: object) -> tuple[str, str]:
    """What is wrong with a field that nothing reads, and what to do."""
    if any(restricting({name: value})):
        return coded("file.holds_back", name=name[:80], value=str(value)[:80]), coded("file.take_out")
    return coded("session.unread", name=name[:80]), coded("file.take_out_or_mark")


def meant(name: str, known: Collection[str]) -> str:
    """The one of `known` that a field which nothing reads is meant for: as others call it, or misspelt; "" for none."""
    other = _OTHERS.get(bare_name(name), "")
    return other if other in known else resembles(name, known)


def misspelt(where: str, name: str, likely: str) -> EntryRefused:
    fix = coded("world.did_you_mean", likely=likely)
    return EntryRefused(where, likely, coded("session.unread", name=name[:80]), fix, "FIELD_UNREAD")


def refuse_contradictions(entry: Json, op: str, params: Json, at: str) -> frozenset[str]:
    """The fields of the entry that say its order once more; raises `EntryRefused` for the first that says another."""
    again: set[str] = set()
    both = entry.get("params"), entry.get("parameters")
    if None not in both and not same(*both):
        raise _other(f"{at}/parameters", "parameters", both[1])
    for name, value in entry.items():
        if value in (None, "", [], {}) or (name in ("params", "parameters")):
            continue
        if bare_name(name) in PARAMS:
            differs = not same(value, params)
        elif name in _ACTION and isinstance(value, str):
            differs = value.strip() != op and meaning(value.strip()) is not None
        elif name in _MOVING:
            differs = not any(same(value, given) for given in params.values())
        else:
            continue
        if differs:
            raise _other(f"{at}/{name}", name, value)
        again.add(name)
    return frozenset(again)


def _other(where: str, name: str, value: object) -> EntryRefused:
    found = coded("file.says_other", name=name, value=value)
    return EntryRefused(where, coded("file.one_order"), found, coded("file.into_params"), "FIELD_UNREAD")
