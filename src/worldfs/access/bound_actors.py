"""What a binding, its rights, a caller or a principal may do: each asked of the module that has its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import attachment, binding_rules, operation_rights
from .binding import Binding
from .caller import Caller
from .decision import Decision
from .principal import Principal
from .things import (
    AgentClaim,
    AgentName,
    AttachClaim,
    ExportName,
    NodeClaim,
    NodeName,
    OperationCall,
    ProjectName,
    Realm,
    RobotName,
    ServedFile,
    ServiceEvents,
    ServicePermissions,
    UnboundCall,
)
from .verb import Verb

if TYPE_CHECKING:
    from .binding_rights import BindingRights

RightsThing = ServedFile | NodeName | RobotName | AgentName | ProjectName | ExportName | ServicePermissions | Realm
PrincipalThing = AgentClaim | AttachClaim | UnboundCall | Realm
CallerThing = OperationCall | NodeClaim | ServiceEvents


def decide(actor: Binding | BindingRights | Caller | Principal, verb: Verb, thing: object) -> Decision:
    if isinstance(actor, Binding):
        return binding_rules.decide(actor, verb, thing)
    if isinstance(actor, Caller):
        return operation_rights.decide(actor, verb, thing)
    if isinstance(actor, Principal):
        return attachment.decide(actor, verb, thing)
    return actor.decide(verb, thing)
