"""`paos reset`: a fresh scene, with a way back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from worldfs.ground.errors import BadInput, NotFound

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.world.reset import ResetLosses


def run(call: CommandContext) -> int:
    """Exit 0 when the scene is fresh (or, with --undo, as it was), 1 when the user said no."""
    from worldfs.world.reset import reset, reset_losses, undo_reset

    workspace = call.workspace
    if not workspace.is_dir():
        raise NotFound("no workspace here", path=str(workspace), op="reset", fix=f"make one with: {call.name} onboard")
    if call["undo"]:
        names = undo_reset(workspace)
        call.voice.say(f"back as before: {', '.join(names)}", {"restored": list(names)}, "good")
        return 0
    found = reset_losses(workspace)
    if not found:
        call.voice.say("nothing to reset: the scene is fresh", {"reset": [], "cancelled": [], "kept": ""})
        return 0
    if not call["yes"] and not _agreed(call, found):
        return 1
    kept = reset(workspace)
    call.voice.say(
        f"the next `{call.name} up` makes a fresh scene; take it back with: {call.name} reset --undo",
        {"reset": list(found.documents), "cancelled": list(found.jobs), "kept": kept},
        "good",
    )
    return 0


def _agreed(call: CommandContext, found: ResetLosses) -> bool:
    """Whether the user at the terminal says yes; a program has to say --yes."""
    goes = ", ".join([*found.documents, *([f"{len(found.jobs)} waiting jobs"] if found.jobs else [])])
    if call.voice.json or not sys.stdin.isatty():
        raise BadInput(f"this would reset {goes}", op="reset", expected="--yes", fix=f"{call.name} reset --yes")
    print(f"Reset {goes}? Lessons and declarations stay, and `reset --undo` takes it back. [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes", "j", "是")
