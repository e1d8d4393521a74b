"""`paos watch`: events of the world, or changes of one file, as they happen."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .call import Call
from .news import line, news

if TYPE_CHECKING:
    from worldfs.tree.stores.contract import Watch
    from worldfs.world.world import World


def run(call: Call) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with call.open() as world:
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


class Reporter:
    """Tells the news in a thread, through a world of its own, until left."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self._over = threading.Event()
        self._world = call.open()
        self._watch = self._world.watch()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def _run(self) -> None:
        try:
            follow(self.call, self._world, self._watch, self._over)
        except BrokenPipeError:
            return  # nobody listens: the kernel works on

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._watch.wake()
        self._thread.join()
        self._watch.close()
        self._world.close()
