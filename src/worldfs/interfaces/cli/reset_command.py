"""`paos reset`: a fresh scene, which can be undone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotFound

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.world.reset import ResetLosses


def run(context: CommandContext) -> int:
    """Exit 0 when the scene is fresh (or, with --undo, as it was), 1 when the user declined."""
    from worldfs.world.reset import reset, reset_losses, undo_reset

    workspace = context.workspace
    if not workspace.is_dir():
        raise NotFound(
            "no workspace here", path=str(workspace), op="reset", fix=f"make one with: {context.name} onboard"
        )
    if context["undo"]:
        names = undo_reset(workspace)
        context.output.report(f"restored: {', '.join(names)}", {"restored": list(names)}, "good")
        return 0
    found = reset_losses(workspace)
    if not found:
        context.output.report("nothing to reset: the scene is fresh", {"reset": [], "cancelled": [], "kept": ""})
        return 0
    if not context["yes"] and not _agreed(context, found):
        return 1
    kept = reset(workspace)
    context.output.report(
        f"the next `{context.name} up` makes a fresh scene; undo with: {context.name} reset --undo",
        {"reset": list(found.documents), "cancelled": list(found.jobs), "kept": kept},
        "good",
    )
    return 0


def _agreed(context: CommandContext, found: ResetLosses) -> bool:
    """Whether the user at the terminal confirms; a program must pass --yes."""
    goes = ", ".join([*found.documents, *([f"{len(found.jobs)} waiting jobs"] if found.jobs else [])])
    if context.output.json or not sys.stdin.isatty():
        raise BadInput(f"this would reset {goes}", op="reset", expected="--yes", fix=f"{context.name} reset --yes")
    print(f"Reset {goes}? Lessons and declarations stay; `reset --undo` undoes it. [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes", "j", "是")
