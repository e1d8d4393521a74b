"""The changes of a home that other processes make, as publications of the feed: of its workspace, or of one file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound, WorldError
from worldfs.runtime.approvals import APPROVALS
from worldfs.runtime.job_store import CANCEL, CONTROL, OPEN, id_of
from worldfs.runtime.stop_log import STOPS
from worldfs.tree.feed_reader import FeedReader
from worldfs.tree.workspace_stores import robot_key

from .store_notifier import StoreNotifier

if TYPE_CHECKING:
    from worldfs.storage.store_interface import StoreChange

    from .world import World

STATUS = "/meta/status.json"


class WorkspaceNotifier:
    """`start` publishes what the status and the documents depend on; `of_file` one file, while it is read."""

    def __init__(self, world: World, project: str) -> None:
        self._world, self._project = world, project
        self._lock = threading.Lock()
        self._notifier: StoreNotifier | None = None
        self._closed = False

    def start(self) -> None:
        """Idempotent. What changes after it returns is published."""
        world = self._world
        with self._lock:
            if self._notifier is None and not self._closed:
                self._notifier = self._listen(world)

    def restart(self) -> None:
        """Robots came or went: from now on the stores that there are now are heard."""
        with self._lock:
            if (before := self._notifier) is not None:
                self._notifier = self._listen(self._world)
        if before is not None:
            before.close()

    def _listen(self, world: World) -> StoreNotifier:
        keys = ("", *(robot_key(node, "") for node in tuple(world.stores.robots)))
        return StoreNotifier(world.stores.watch(*keys, OPEN, CANCEL, STOPS, CONTROL, APPROVALS), self._publish)

    def close(self) -> None:
        with self._lock:
            notifier, self._notifier, self._closed = self._notifier, None, True
        if notifier is not None:
            notifier.close()

    def of_status(self) -> FeedReader:
        """A reader of the changes of the status; it must be closed."""
        self.start()
        return FeedReader(self._world.feed, self._world.clock, STATUS)

    @contextmanager
    def of_file(self, path: str, role: str) -> Iterator[FeedReader]:
        """A reader of the changes of one file as a role sees it; the file need not be there yet.

        Raises `NotFound`, and `BadInput` for a computed file, whose changes are those of its sources.
        """
        world = self._world
        store, key = world.namespace(role).source(path)

        def publish(changes: Sequence[StoreChange]) -> None:
            for change in changes:
                world.feed.publish(path, kind=change.kind.value)

        with (
            FeedReader(world.feed, world.clock, path) as reader,
            closing(StoreNotifier(store.watch(key), publish)),
        ):
            yield reader

    def wait(
        self, path: str, role: str, ready: Callable[[bytes | None], bool], *, timeout: float | None = None
    ) -> bool:
        """Block until `ready` holds for the content of a file (None: it is not there); False when the time is over."""
        clock, namespace = self._world.clock, self._world.namespace(role)
        over = None if timeout is None else clock.monotonic() + timeout
        with self.of_file(path, role) as changes:
            while True:
                try:
                    data: bytes | None = namespace.read(path).data
                except NotFound:
                    data = None
                if ready(data):
                    return True
                left = None if over is None else over - clock.monotonic()
                if left is not None and left <= 0:
                    return False
                changes.read(left)

    def _publish(self, changes: Sequence[StoreChange]) -> None:
        topics = dict.fromkeys(topic for change in changes for topic in self._paths(change.key))
        self._world.feed.publish(STATUS, *topics)

    def _paths(self, key: str) -> list[str]:
        """The paths of a changed key: a document of the project and its nodes, or a job of a node."""
        folder, _, name = key.rpartition("/")
        if folder == CONTROL:
            return [f"/nodes/{name}/film"]
        if folder == OPEN:
            return self._job_paths(name)
        if key == OPEN:  # all of it: there was no such directory before, or changes were lost
            return [f"/nodes/{id}/jobs" for id in self._world.node_ids()]
        if APPROVALS in (folder, key):
            return [f"/nodes/{id}/approvals.json" for id in self._world.node_ids()]
        if folder.startswith("@"):  # of a robot's own store
            return [f"/nodes/{folder[1:]}/{name}"]
        if folder:
            return []
        return [f"/projects/{self._project}/{name}", *(f"/nodes/{id}/{name}" for id in self._world.node_ids())]

    def _job_paths(self, name: str) -> list[str]:
        """Of an order to a robot, its directory; the other jobs of the store publish their own changes."""
        with suppress(WorldError):
            job = self._world.jobs.load(id_of(name) or "")
            return [f"/nodes/{job.order.node}/jobs/{job.id}"]
        return []
