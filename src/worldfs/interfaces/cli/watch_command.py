"""`paos watch`: events of the world, or changes of one file, as they happen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .command_context import CommandContext
from .name_suggestion import suggest_names, visible_names
from .status_diff import diff_status, event_line

if TYPE_CHECKING:
    from worldfs.storage.store_interface import StoreWatch
    from worldfs.world.world import World


def run(context: CommandContext) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with context.open() as world, suggest_names(visible_names(world, context)):
        if not context["path"]:
            with world.watch() as watch:
                follow(context, world, watch, threading.Event())
            return 0
        path = world.resolve(context["path"])
        with world.tree.watch(path, context.actor) as watch:
            while True:
                for change in watch.read():
                    kind = change.kind.value
                    context.output.report(f"{kind:9} {path}", {"event": "change", "kind": kind, "path": path})


def follow(context: CommandContext, world: World, watch: StoreWatch, over: threading.Event) -> None:
    """Print the events of `world` until `over` is set and `watch` woken; one last read follows."""
    before = world.status()
    for event in diff_status({}, before):
        _tell(context, event)
    last = False
    while not last:
        watch.read()
        last = over.is_set()
        after = world.status()
        for event in diff_status(before, after):
            _tell(context, event)
        before = after


def _tell(context: CommandContext, event: dict[str, object]) -> None:
    text, mood = event_line(event)
    context.output.report(text, event, mood)
