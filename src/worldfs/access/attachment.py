"""Attachment: the binding of a principal, the first one and every other, and whether its token still stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .binding import ADMIN, HOME_PROJECT, MOTHER, NODE, SYSTEM, USER, Binding, binding_of_role
from .decision import ALLOWED, HIDDEN, Decision
from .operation_rights import ADMINS_ONLY
from .principal import Principal, TokenHolder
from .roles import OPERATOR, PLANNER
from .things import AgentClaim, AttachableProjects, AttachClaim, Realm, UnboundCall
from .token_file import TokenVisit
from .tokens import TokenStore
from .verb import Verb

VIEWER: Final = "viewer"  # the agent that a planner's page speaks for unless another is named
UNPROVISIONED: Final = Decision(  # as recorded
    False,
    "provisioning_required",
    coded("access.unprovisioned"),
)
LAST_GONE: Final = Decision(
    False, "last_target_invalid", coded("access.last_gone")
)  # fmt: skip
LAST_LOCKED: Final = ("missing_field", "project_auth_failed")  # of a project that is there, and asks for its token
NO_NAMESPACE: Final = Decision(False, "forbidden", coded("access.no_namespace"))
NO_MOTHER: Final = Decision(False, "forbidden", coded("access.no_mother"))
NO_SYSTEM: Final = Decision(False, "forbidden", coded("access.no_system"))
MAIN_STAYS: Final = Decision(False, "forbidden", coded("access.main_stays"))
REVOKED: Final = Decision(False, "forbidden", coded("access.revoked"))
OPERATORS_ONLY: Final = Decision(False, "forbidden", coded("access.operators_only"))
AGENT_TAKEN: Final = Decision(False, "forbidden", coded("access.agent_taken"))


def decide(principal: Principal, verb: Verb, thing: object) -> Decision:
    match thing:
        case AgentClaim(agent, tokens):
            return _decide_agent(principal, agent, tokens)
        case AttachClaim():
            return _decide_attach(principal, thing)
        case UnboundCall(free):  # only a user has to be provisioned
            return ALLOWED if free or principal.role != USER else UNPROVISIONED
        case Realm.EVERY_AGENT:
            return ALLOWED if principal.role == ADMIN else HIDDEN
        case Realm.ROLE_TOKENS:
            return ALLOWED if principal.person == OPERATOR else OPERATORS_ONLY
        case Realm.PUSHES:
            return ALLOWED if principal.role == ADMIN else ADMINS_ONLY
    raise TypeError(f"no rule for {thing!r}")


def _decide_agent(principal: Principal, agent: str, tokens: TokenStore) -> Decision:
    holder = principal.holder
    if not tokens.acts_for(holder, agent):
        if holder.agent:
            return Decision(False, "forbidden", coded("access.only_agent", agent=holder.agent))
        return Decision(False, "forbidden", coded("access.own_token", agent=agent))
    return NO_MOTHER if principal.role == USER and agent == MOTHER else ALLOWED


def _decide_attach(principal: Principal, claim: AttachClaim) -> Decision:
    binding = claim.binding
    decision = _decide_agent(principal, binding.agent, claim.tokens)
    if not decision:
        return decision
    if principal.role == USER and binding.project == SYSTEM:
        return NO_SYSTEM
    if not binding.project:
        return UNPROVISIONED if principal.role == USER else ALLOWED
    return claim.projects.attachable(binding)


def first_binding(principal: Principal, tokens: TokenStore, projects: AttachableProjects) -> Binding | Decision:
    """The first binding of a connection (acheron §1.2): the last project that is still open to the token and the agent
    that it spoke for last; else, for a token that acts for an agent, its usual one."""
    if principal.role == NODE:
        return NO_NAMESPACE
    holder = principal.holder
    if holder.role == ADMIN and holder.agent in ("", MOTHER):
        return principal.bound(MOTHER, SYSTEM)
    visits = [visit for visit in tokens.visits(holder.id) if visit.project and visit.project != SYSTEM]
    for visit in visits:
        if not holder.agent and visit.agent != visits[0].agent:
            continue  # it does not speak for another one unasked
        binding = principal.bound(holder.agent or visit.agent, visit.project)
        there = visit.project in projects.project_ids() and projects.allows(binding, "read")
        if there and tokens.acts_for(holder, binding.agent):
            return binding
    open_to = _usual_project(holder, projects) if holder.agent else ""
    if open_to or (not visits and holder.role == ADMIN):
        return principal.bound(holder.agent, open_to)
    return _why_gone(principal, visits, projects) if visits else UNPROVISIONED


def _why_gone(principal: Principal, visits: Sequence[TokenVisit], projects: AttachableProjects) -> Decision:
    """A project that asks for its token now is named: it is there, and an attach without the token does not help."""
    last = visits[0]
    found = projects.attachable(principal.bound(principal.holder.agent or last.agent, last.project))
    if found.code not in LAST_LOCKED:
        return LAST_GONE
    return LAST_GONE._replace(reason=coded("access.last_locked", project=last.project))


def _usual_project(holder: TokenHolder, projects: AttachableProjects) -> str:
    """The home's own project, else the only one that there is for it: no project that another agent makes, or removes,
    takes an agent's place from it."""
    named = (id for id in projects.project_ids() if id != SYSTEM)
    open_to = [id for id in named if projects.allows(Binding(USER, holder.agent, id), "read")]
    return HOME_PROJECT if HOME_PROJECT in open_to else open_to[0] if len(open_to) == 1 else ""


def default_project(principal: Principal, agent: str, present: str) -> str:
    """The project of an attach that names none: the primary agent's own, else `present`, that of the session."""
    if agent == MOTHER and principal.role == ADMIN:
        return SYSTEM
    return "" if present == SYSTEM else present


def unbound_agents(principal: Principal) -> tuple[str, ...]:
    """The agents that a user sees before it is bound: the primary agent, and the one that its token acts for."""
    return MOTHER, principal.agent


def page_holder(file_role: str, agent: str) -> tuple[str, str, str]:
    """The agent, the role and the person of a page's token: the operator's is the home's owner, a planner's sees what
    a user of the served tree sees. Raises `BadInput` for a role that no token has."""
    bound = binding_of_role(file_role, agent, "")
    if bound.role not in (ADMIN, USER):
        expected = f"{OPERATOR}, {PLANNER}"
        raise BadInput(coded("command.page_role", role=file_role), op="page", expected=expected, code="USAGE")
    return bound.agent if agent or bound.admin else VIEWER, bound.role, bound.person


def still_admitted(principal: Principal, tokens: TokenStore, agents: Iterable[str]) -> Decision:
    """Whether the token of an open connection, which is bound to these agents, still stands."""
    if not tokens.is_valid(principal.holder):
        return REVOKED
    return ALLOWED if all(tokens.acts_for(principal.holder, agent) for agent in agents) else AGENT_TAKEN
