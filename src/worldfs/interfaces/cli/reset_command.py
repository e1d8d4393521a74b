"""`paos reset`: a fresh scene, which can be undone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded, render

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.world.reset import ResetLosses


def run(context: CommandContext) -> int:
    """Exit 0 when the scene is fresh (or, with --undo, as it was), 1 when the user declined."""
    from worldfs.world.reset import reset, reset_losses, undo_reset

    workspace = context.workspace
    if not workspace.is_dir():
        raise NotFound(
            coded("command.no_workspace"),
            path=str(workspace),
            op="reset",
            fix=coded("command.make_it", name=context.name),
        )
    robots = context.config.instances if context.config.mode == "fleet" else ()
    if context["undo"]:
        names = undo_reset(workspace, robots)
        context.output.report(coded("command.restored", names=names), {"restored": list(names)}, "good")
        return 0
    found = reset_losses(workspace, robots)
    if not found:
        context.output.report(coded("command.fresh"), {"reset": [], "cancelled": [], "missions": [], "kept": ""})
        return 0
    if not context["yes"] and not _agreed(context, found):
        return 1
    kept = reset(workspace, robots=robots)
    context.output.report(
        coded("command.reset", name=context.name),
        {
            "reset": list(found.documents),
            "cancelled": list(found.jobs),
            "missions": list(found.missions),
            "kept": kept,
        },
        "good",
    )
    return 0


def _agreed(context: CommandContext, found: ResetLosses) -> bool:
    """Whether the user at the terminal confirms; a program must pass --yes."""
    counted = (("command.waiting_jobs", found.jobs), ("command.waiting_missions", found.missions))
    goes = [*found.documents, *(coded(code, n=len(ids)) for code, ids in counted if ids)]
    if context.output.json or not sys.stdin.isatty():
        fix = coded("command.reset_yes", name=context.name)
        raise BadInput(coded("command.would_reset", names=goes), op="reset", expected="--yes", fix=fix)
    print(render(coded("command.ask_reset", names=goes), context.language), end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes", "j", "是")
