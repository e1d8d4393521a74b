"""The judge: whether an actor may do something to a thing. The one question, asked by every other folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from worldfs.tree.row_table import FileRow

from . import file_roles
from .binding import Binding
from .decision import ALLOWED, HIDDEN, Decision
from .things import (
    AgentName,
    ExportName,
    JobOwner,
    NodeName,
    ProjectName,
    Realm,
    RobotName,
    ServedFile,
    ServicePermissions,
)
from .verb import Verb

if TYPE_CHECKING:
    from .binding_rights import BindingRights

RightsThing = ServedFile | NodeName | RobotName | AgentName | ProjectName | ExportName | ServicePermissions | Realm


@overload
def judge(actor: str, verb: Verb, thing: FileRow | None) -> Decision: ...
@overload
def judge(actor: BindingRights, verb: Verb, thing: RightsThing) -> Decision: ...
@overload
def judge(actor: Binding, verb: Verb, thing: JobOwner) -> Decision: ...
def judge(actor: str | Binding | BindingRights, verb: Verb, thing: FileRow | RightsThing | JobOwner | None) -> Decision:
    """`actor`: a file role, a binding, or the rights of a binding as they were computed last."""
    if isinstance(actor, str):  # first: asked for each row of a listing
        assert thing is None or isinstance(thing, FileRow)
        return file_roles.decide(actor, verb, thing)
    if isinstance(actor, Binding):
        assert isinstance(thing, JobOwner)
        return ALLOWED if (actor.agent, actor.project) == thing else HIDDEN
    return actor.decide(verb, thing)


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
