"""`paos token`: tokens of the served tree that speak for one agent; made, listed, revoked in the home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .call import Call

if TYPE_CHECKING:
    from worldfs.doors.acheron.tokens import Tokens


def add(call: Call) -> int:
    """Prints the token, this once: only its hash is kept."""
    from pathlib import Path

    from worldfs.ground.durable import Root

    issued, token = _tokens(call).add(call["agent"], call["role"])
    Root.build(Path(call.agents) / issued.agent)
    call.voice.say(token, {**issued.shown(), "token": token})
    call.voice.aside(
        f"{issued.id} speaks for agent {issued.agent} alone, as {issued.role}. It is shown this once: put it into "
        "$PAOS_TOKEN, or into a file for --token-file"
    )
    return 0


def listed(call: Call) -> int:
    """The two role tokens, and those that speak for one agent."""
    tokens = _tokens(call)
    shown = tokens.masked()
    rows = [{"id": role, "agent_id": None, "role": role, "created_at_ms": None} for role in tokens.roles()]
    rows += shown["agent_tokens"]
    words = [f"{row['id']:12} {row['role']:6} {row['agent_id'] or _any(row['role'])}" for row in rows]
    call.voice.say("\n".join(words), {"tokens": rows})
    return 0


def _any(role: object) -> str:
    return "any agent" if role == "admin" else "any agent without a token of its own"


def revoke(call: Call) -> int:
    """A server that runs lets nobody in with it from now on, and ends its connections within seconds."""
    gone = _tokens(call).revoke(call["name"])
    call.voice.say(f"revoked: {', '.join(gone)}", {"revoked": gone})
    return 0


def _tokens(call: Call) -> Tokens:
    from worldfs.doors.acheron.tokens import Tokens
    from worldfs.ground.errors import NotFound

    home = call.home.path
    if not home.is_dir():
        raise NotFound("no home here", path=str(home), op="token", fix=f"make one with: {call.name} onboard")
    return Tokens.open(home)
