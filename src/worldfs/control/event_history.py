"""The last service events, for the replay to new watchers: 1,024 of them, in memory and as NDJSON on disk.

Source: acheron §3.2. An event is the payload of the push, so its bytes are kept as they
are sent. The file is not part of the plane's state: without it only old pushes are missing.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from worldfs.base.durable import Root
from worldfs.base.errors import WorldError
from worldfs.base.logfile import LogFile

KEPT: Final = 1024
BYTES: Final = 16 << 20  # of kept events together; a huge catalog must not be kept a thousand times
NAME: Final = "events.jsonl"


class ServiceEvent(NamedTuple):
    node_id: str
    at_ms: int
    data: bytes  # the payload, JSON


class _Known(msgspec.Struct):
    node_id: str
    service_delta: dict[str, object]


class EventHistory:
    """`root` None: memory only. Not thread-safe."""

    def __init__(self, root: Root | None = None) -> None:
        self.events: deque[ServiceEvent] = deque()
        self.bytes = 0
        self._root = root
        self._lines = 0  # in the file
        self._log = LogFile(root, NAME) if root is not None else None
        if root is not None and self._log is not None:
            self._load(root, self._log)

    def _load(self, root: Root, log: LogFile) -> None:
        data = root.read(NAME)
        if data is None:
            root.create(NAME, b"", private=True)
            data = b""
        good = data.rfind(b"\n") + 1
        for line in data[:good].splitlines():
            try:
                known = msgspec.json.decode(line, type=_Known)
            except msgspec.DecodeError:
                continue
            at = known.service_delta.get("timestamp_ms")
            self.keep(ServiceEvent(known.node_id, at if isinstance(at, int) else 0, line))
            self._lines += 1
        log.refresh()
        if good < len(data):
            log.cut(good)

    def keep(self, event: ServiceEvent) -> None:
        """Keep an event in memory: readers see it."""
        self.events.append(event)
        self.bytes += len(event.data)
        while len(self.events) > KEPT or (self.bytes > BYTES and len(self.events) > 1):
            self.bytes -= len(self.events.popleft().data)

    def save(self, event: ServiceEvent) -> None:
        """Write an event to disk; a failure costs the replay after a restart, not the upsert."""
        if self._log is None or self._root is None:
            return
        with suppress(WorldError):
            self._log.append(event.data + b"\n")
            self._lines += 1
            if self._lines > 2 * KEPT or self._log.size > 2 * BYTES:
                self._rewrite(self._root, self._log)

    def _rewrite(self, root: Root, log: LogFile) -> None:
        try:
            root.replace(NAME, b"".join(event.data + b"\n" for event in self.events), private=True)
            self._lines = len(self.events)
        finally:
            log.refresh()  # the rename may have happened before the error

    def last(self, node_id: str, limit: int) -> list[ServiceEvent]:
        """The newest `limit`, oldest first; of one node, or ("") of all."""
        if limit <= 0:
            return []
        found: list[ServiceEvent] = []
        for event in reversed(self.events):
            if not node_id or event.node_id == node_id:
                found.append(event)
                if len(found) == limit:
                    break
        return found[::-1]

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
