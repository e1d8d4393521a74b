"""`paos wait`: until a file changes, or contains a text."""

from __future__ import annotations

from worldfs.base.errors import NotFound

from .command_context import CommandContext
from .name_suggestion import suggest_names, visible_names


def run(context: CommandContext) -> int:
    """Exit 0 when the condition held, 1 after the timeout."""
    until, timeout = context["until"], context["timeout"]
    with context.open() as world, suggest_names(visible_names(world, context)):
        path = world.resolve(context["path"])
        try:
            first: bytes | None = world.tree.read(path, context.actor)
        except NotFound:
            first = None

        def ready(found: bytes | None) -> bool:
            if until:
                return found is not None and until.encode() in found
            return found != first

        happened = False

        def look(found: bytes | None) -> bool:
            nonlocal happened
            happened = ready(found)
            return happened

        world.tree.wait(path, context.actor, look, timeout=timeout)
    if happened:
        text = "it contains the text" if until else "changed"
    else:
        text = f"timed out after {timeout:g} s: it {f'does not contain {until!r}' if until else 'did not change'}"
    context.output.report(f"{path}: {text}", {"path": path, "happened": happened}, "" if happened else "warn")
    return 0 if happened else 1
