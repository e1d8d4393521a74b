"""Publishes workspace changes to the change feed: programs on this machine write its files past every server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import WorldError
from worldfs.namespace.views.status_file import STATUS
from worldfs.runtime.job_store import CONTROL

from .world import PROJECT

if TYPE_CHECKING:
    from worldfs.storage.store_interface import StoreWatch
    from worldfs.tree.change_feed import ChangeFeed

    from .world import World

PAUSE_S: Final = 0.05  # between two publications: the feed remembers only so many


class WorkspaceNotifier:
    """Publishes changes of the status, from its first read on."""

    def __init__(self, world: World, feed: ChangeFeed) -> None:
        self._world, self._feed = world, feed
        self._lock, self._over = threading.Lock(), threading.Event()
        self._watch: StoreWatch | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Idempotent. What changes after it returns is published."""
        with self._lock:
            if self._watch is not None or self._over.is_set():
                return
            self._watch = self._world.watch()
            self._thread = threading.Thread(target=self._run, args=(self._watch,), name="paos-news", daemon=True)
            self._thread.start()

    def close(self) -> None:
        with self._lock:
            self._over.set()
            watch, thread = self._watch, self._thread
        if watch is not None and thread is not None:
            watch.wake()
            thread.join()
            watch.close()

    def _at(self, key: str) -> list[str]:
        """The paths of a changed key: a document of the project and its nodes, or a job of a node."""
        folder, _, name = key.rpartition("/")
        if folder == CONTROL:
            return [f"/nodes/{name}/film"]
        if folder.startswith("@"):  # of a robot's own store
            return [f"/nodes/{folder[1:]}/{name}"]
        return (
            [] if folder else [f"/projects/{PROJECT}/{name}", *(f"/nodes/{id}/{name}" for id in self._world.node_ids())]
        )

    def _run(self, watch: StoreWatch) -> None:
        while not self._over.is_set():
            try:
                changes = watch.read()
            except WorldError:  # the directory has gone: nothing more to publish
                return
            if not self._over.is_set():
                self._feed.publish(
                    STATUS, *dict.fromkeys(topic for change in changes for topic in self._at(change.key))
                )
            self._over.wait(PAUSE_S)
