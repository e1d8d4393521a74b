"""`paos watch`: events of the world, or changes of one file, as they happen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .call import Call
from .likely import likely, visible
from .news import line, news

if TYPE_CHECKING:
    from worldfs.tree.stores.contract import Watch
    from worldfs.world.world import World


def run(call: Call) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with call.open() as world, likely(visible(world, call)):
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


def follow(call: Call, world: World, watch: Watch, over: threading.Event) -> None:
    """Tell the news of `world` until `over` is set and `watch` woken; the last look is taken after that."""
    before = world.status()
    for event in news({}, before):
        _tell(call, event)
    last = False
    while not last:
        watch.read()
        last = over.is_set()
        after = world.status()
        for event in news(before, after):
            _tell(call, event)
        before = after


def _tell(call: Call, event: dict[str, object]) -> None:
    text, mood = line(event)
    call.voice.say(text, event, mood)
