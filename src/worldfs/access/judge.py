"""The judge: whether an actor may do something to a thing. The one question, asked by every other folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, overload

from worldfs.tree.row_table import FileRow

from . import file_roles
from .decision import Decision
from .file_roles import RoleThing
from .role_things import HeldStop, InboxMessage, PlanOf
from .verb import Verb

if TYPE_CHECKING:
    from .binding import Binding
    from .binding_rights import BindingRights
    from .binding_rules import BindingThing
    from .bound_actors import CallerThing, PrincipalThing, RightsThing
    from .caller import Caller
    from .principal import Principal
    from .things import ServedFile


@overload
def judge(actor: str, verb: Verb, thing: FileRow | RoleThing | None) -> Decision: ...
@overload
def judge(actor: BindingRights, verb: Verb, thing: RightsThing) -> Decision: ...
@overload
def judge(actor: Binding, verb: Verb, thing: BindingThing) -> Decision: ...
@overload
def judge(actor: Caller, verb: Verb, thing: CallerThing) -> Decision: ...
@overload
def judge(actor: Principal, verb: Verb, thing: PrincipalThing) -> Decision: ...
def judge(
    actor: str | Binding | BindingRights | Caller | Principal,
    verb: Verb,
    thing: FileRow | RoleThing | RightsThing | BindingThing | CallerThing | PrincipalThing | None,
) -> Decision:
    """`actor`: a file role, or the name of an actor; a binding, or its rights as they were computed last; the caller
    of a control operation; a principal that is not bound yet."""
    if isinstance(actor, str):  # first: asked for each row of a listing
        assert thing is None or isinstance(thing, (FileRow, InboxMessage, PlanOf, HeldStop))
        return file_roles.decide(actor, verb, thing)
    return _rules()(actor, verb, thing)


@cache
def _rules() -> Callable[[Binding | BindingRights | Caller | Principal, Verb, object], Decision]:
    """Of every other actor. A command on files of this disk acts in a file role, and does without their modules."""
    from .bound_actors import decide

    return decide


def require(actor: str, verb: Verb, row: FileRow | None, path: str, op: str = "") -> None:
    """Raises `NotFound` for what the role may not see, and `NotPermitted`."""
    decision = judge(actor, verb, row)
    if not decision:
        raise file_roles.explained(decision, actor, row).error(path=path, op=op or verb.value, actor=actor)


def require_file(rights: BindingRights, verb: Verb, file: ServedFile, path: str, op: str = "") -> None:
    """As `require`, for a binding and a file of its tree."""
    decision = judge(rights, verb, file)
    if not decision:
        explained = file_roles.explained(decision, file.role, file.row)
        raise explained.error(path=path, op=op or verb.value, actor=file.role)
