"""`paos token`: tokens of single agents for the served tree: created, listed, revoked in the home."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from worldfs.access.binding import ADMIN, MOTHER, USER
from worldfs.access.tokens import ASIDE, TokenStore, shared_token_agents
from worldfs.base.agent_names import check_new_name
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded

from .command_context import CommandContext


def add(context: CommandContext) -> int:
    """Prints the token, this once: only its hash is kept."""

    if context["person"]:
        return _add_person(context)
    name = check_new_name(context.agents, context["agent"])
    issued, token = _tokens(context).add(name, context["role"] or USER)
    Root.build(Path(context.agents) / issued.agent)
    context.output.report(token, {**issued.to_json(), "token": token})
    context.output.notice(coded("command.token_for", id=issued.id, agent=issued.agent, role=issued.role))
    return 0


def _add_person(context: CommandContext) -> int:
    if context.session_agent:
        raise BadInput(coded("command.agent_session", agent=context.session_agent), op="token", code="USAGE")
    issued, token = _tokens(context).add(MOTHER, context["role"] or ADMIN, person=context["agent"])
    context.output.report(token, {**issued.to_json(), "token": token})
    context.output.notice(coded("command.token_for_person", id=issued.id, person=issued.person))
    return 0


def list_tokens(context: CommandContext) -> int:
    """The two role tokens, and those of single agents."""

    tokens = _tokens(context)
    shown = tokens.masked()
    rows: list[dict[str, object]] = [
        {"id": role, "agent_id": None, "role": role, "created_at_ms": None} for role in tokens.roles()
    ]
    rows += as_objects(shown["agent_tokens"])
    for row in rows:
        context.output.line(f"{row['id']:12} {row['role']:6} {_whose(row)}")
    context.output.value({"tokens": rows})
    return 0


def _whose(row: Mapping[str, object]) -> object:
    return row.get("person") or row["agent_id"] or shared_token_agents(str(row["role"]))


def revoke(context: CommandContext) -> int:
    """A running server refuses the token from now on, and ends its connections within seconds."""
    gone = _tokens(context).revoke(context["name"])
    context.output.report(coded("command.revoked", names=list(gone)), {"revoked": gone})
    return 0


def opened_tokens(context: CommandContext) -> TokenStore:
    """The home's tokens. What was wrong in the file is said."""
    tokens = TokenStore.open(context.home.path)
    if tokens.set_aside:
        context.output.notice(coded("access.tokens_aside", names=tokens.set_aside, place=ASIDE))
    return tokens


def _tokens(context: CommandContext) -> TokenStore:
    home = context.home.path
    if not home.is_dir():
        fix = coded("command.make_it", name=context.name)
        raise NotFound(coded("command.no_home"), path=str(home), op="token", fix=fix)
    return opened_tokens(context)
