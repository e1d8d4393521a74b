"""The file-role model: a role's rights on a row of the table. Default deny."""

from __future__ import annotations

from typing import Final

from worldfs.base.errors import NotPermitted
from worldfs.base.messages import coded
from worldfs.tree.row_table import AT_STARTUP, FileKind, FileRow

from .decision import ALLOWED, FIXED_NAMES, HIDDEN, Decision
from .role_things import HeldStop, InboxMessage, PlanOf
from .roles import OPERATOR
from .standing import person_of, shown_actor, standing_of
from .verb import Verb

RoleThing = InboxMessage | PlanOf | HeldStop
NO_WRITER: Final = Decision(False, NotPermitted.code, coded("access.no_writer"))
_NAMES: Final = coded("access.free_names")
COMPUTED: Final = Decision(False, NotPermitted.code, coded("tree.computed"), _NAMES)
WRONG_INBOX: Final = Decision(False, NotPermitted.code, coded("access.wrong_inbox"))
OTHER_NAMES: Final = FIXED_NAMES._replace(expected=_NAMES)


def decide(role: str, verb: Verb, row: FileRow | RoleThing | None) -> Decision:
    """None: a path that no row describes. What a role may not see does not exist for it.

    `role`: for a plan and a stop the name of the actor, as `standing.py` says.
    """
    if row is None:
        return FIXED_NAMES
    if isinstance(row, InboxMessage):
        return ALLOWED if row.to == row.inbox else WRONG_INBOX
    if isinstance(row, PlanOf):
        return _decide_plan(role, row)
    if isinstance(row, HeldStop):
        return ALLOWED if standing_of(role) >= row.standing else _stays_stopped(row)
    if verb is Verb.READ:
        return ALLOWED if may_read(row, role) else HIDDEN
    if verb is Verb.REMOVE:
        return _decide_remove(row, role)
    if may_write(row, role, starting=verb is Verb.WRITE_AT_STARTUP):
        return ALLOWED
    return NO_WRITER if may_read(row, role) else HIDDEN


def _decide_plan(actor: str, plan: PlanOf) -> Decision:
    """Two deliberate acts: another person approves the plan, or the only person confirms it a second time."""
    person = person_of(actor)
    if not person:
        reason = coded("approval.no_person", actor=shown_actor(actor))
        return Decision(False, NotPermitted.code, reason, coded("approval.a_person"), coded("approval.as_person"))
    others = plan.persons - {person}
    if person != plan.ordered_by or (plan.confirmed and not others):
        return ALLOWED
    if others:
        expected = coded("approval.other_person", names=sorted(others))
        return Decision(False, NotPermitted.code, coded("approval.own", actor=person), expected)
    reason, expected = coded("approval.own", actor=person), coded("approval.confirmation")
    return Decision(False, "UNCONFIRMED", reason, expected, coded("approval.confirm"))


def _stays_stopped(stop: HeldStop) -> Decision:
    reason = coded("access.stays_stopped", node=stop.node, by=stop.by, at=stop.at)
    fix = coded("access.person_resumes", node=stop.node)
    return Decision(False, NotPermitted.code, reason, coded("access.a_person"), fix)


def may_read(row: FileRow, role: str) -> bool:
    """Readers, the operator, and the file's writers: a writer may read back what it writes (workspace D3).

    A message dropped into an inbox is readable by its recipient only.
    """
    return role == OPERATOR or role in row.readers or (role in row.writers and row.kind is not FileKind.DROP)


def may_write(row: FileRow, role: str, *, starting: bool = False) -> bool:
    condition = row.writers.get(role)
    return row.kind is not FileKind.VIEW and condition is not None and (condition != AT_STARTUP or starting)


def _decide_remove(row: FileRow, role: str) -> Decision:
    """Only a stored file below a row with `{rest*}` may be removed or renamed, by one of its writers."""
    if not may_read(row, role):
        return HIDDEN
    if row.view or not row.pattern.endswith("*}"):
        return COMPUTED if row.kind is FileKind.VIEW else OTHER_NAMES
    return ALLOWED if may_write(row, role) else NO_WRITER


def explained(decision: Decision, role: str, row: FileRow | None) -> Decision:
    """The refusal in words for this role and row. Not in `decide`, which is asked often."""
    if decision is HIDDEN:
        return decision._replace(fix=coded("access.hidden", role=role))
    if decision is NO_WRITER and row is not None:
        named = [f"{name} ({when})" if when else name for name, when in row.writers.items()]
        expected = coded("access.writers", names=named or coded("access.no_writers"))
        return decision._replace(reason=coded("access.role_may_not", role=role), expected=expected)
    return decision
