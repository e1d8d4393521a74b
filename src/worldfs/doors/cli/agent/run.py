"""`paos agent run`: any command as a session of an agent."""

from __future__ import annotations

from ..call import Call
from . import opened
from .step import session_fields


def run(call: Call) -> int:
    """Exit 0 completed, 1 failed or out of time, 2 it could not start."""
    from worldfs.drivers.command import Command, Hooks
    from worldfs.drivers.command import run as carry

    with opened(call) as state:
        argv, stdin = tuple(call["argv"]), None
        if call["prompt"] != "none":
            text = state.prompt(budget=call["budget"], language=call["language"], template=call["template"] or "")
            argv, stdin = ((*argv, text), None) if call["prompt"] == "arg" else (argv, text.encode())
        about = session_fields(call)
        about.pop("timeout_seconds", None)
        command = Command(argv, call["type"], call["timeout"], call["silence"], stdin=stdin)
        ended = carry(state, command, hooks=Hooks(call["pre"], call["post"], call["error"]), about=about, alone=True)
    call.voice.value(ended._asdict() | {"session": ended.session._asdict()})
    if not call.voice.json:
        word = f"{ended.session.session_id} {ended.outcome}" + (f" ({ended.cause})" if ended.cause else "")
        call.voice.aside("\n      ".join((f"paos: {word}", *ended.errors)))
    if ended.outcome == "completed":
        return 0
    return 2 if ended.cause == "spawn" else 1
