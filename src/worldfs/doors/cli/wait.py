"""`paos wait`: until a file changes, or says something."""

from __future__ import annotations

from worldfs.ground.errors import NotFound

from .command_context import CommandContext
from .name_suggestion import suggest_names, visible_names


def run(call: CommandContext) -> int:
    """Exit 0 when it happened, 1 when the time was up."""
    until, timeout = call["until"], call["timeout"]
    with call.open() as world, suggest_names(visible_names(world, call)):
        path = world.resolve(call["path"])
        try:
            first: bytes | None = world.tree.read(path, call.actor)
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

        world.tree.wait(path, call.actor, look, timeout=timeout)
    if happened:
        text = "it holds the text" if until else "changed"
    else:
        text = f"waited {timeout:g} s for it to {'hold ' + repr(until) if until else 'change'}"
    call.voice.say(f"{path}: {text}", {"path": path, "happened": happened}, "" if happened else "warn")
    return 0 if happened else 1
