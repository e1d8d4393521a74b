"""`paos watch`: events of the world, or changes of one file, as they happen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .command_context import CommandContext
from .name_suggestion import suggest_names, visible_names
from .status_diff import diff_status, event_line

if TYPE_CHECKING:
    from worldfs.tree.stores.store_interface import StoreWatch
    from worldfs.world.world import World


def run(call: CommandContext) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with call.open() as world, suggest_names(visible_names(world, call)):
        if not call["path"]:
            with world.watch() as watch:
                follow(call, world, watch, threading.Event())
            return 0
        path = world.resolve(call["path"])
        with world.tree.watch(path, call.actor) as watch:
            while True:
                for change in watch.read():
                    kind = change.kind.value
                    call.voice.say(f"{kind:9} {path}", {"event": "change", "kind": kind, "path": path})


def follow(call: CommandContext, world: World, watch: StoreWatch, over: threading.Event) -> None:
    """Tell the news of `world` until `over` is set and `watch` woken; the last look is taken after that."""
    before = world.status()
    for event in diff_status({}, before):
        _tell(call, event)
    last = False
    while not last:
        watch.read()
        last = over.is_set()
        after = world.status()
        for event in diff_status(before, after):
            _tell(call, event)
        before = after


def _tell(call: CommandContext, event: dict[str, object]) -> None:
    text, mood = event_line(event)
    call.voice.say(text, event, mood)
