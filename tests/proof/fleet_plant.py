"""The bodies of a fleet, in a process that outlives every host: what moves them is seen here, and nowhere else.

Each body keeps an `EpochFence`. A host reaches it by a socket of its own, also while it is cut off from its engine: one
that has lost its lease, and does not know it, is refused here or not at all.
"""

from __future__ import annotations

import json
import select
import socketserver
import threading
import time
from pathlib import Path
from typing import Any

from worldfs.robots.epoch_fence import EpochFence
from worldfs.testing.fleet_history import FleetEvent

Seen = tuple[float, FleetEvent]


class Body:
    """One robot: where it stands, and what it does."""

    def __init__(self) -> None:
        self.fence, self.lock = EpochFence(), threading.Lock()
        self.opened = 0  # the highest epoch that has opened it
        self.pose = (0.0, 0.0, 0.0)


class FleetPlant:
    """`seen`: what the bodies did, with the time of it. `stale`: commands that the fences refused."""

    def __init__(self, address: Path, robots: tuple[str, ...]) -> None:
        self.bodies = {id: Body() for id in robots}
        self.seen: list[Seen] = []
        self.wrong: list[str] = []
        self.stale = self.halted = 0
        plant = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                line = self.rfile.readline()
                if line:
                    said = json.loads(line)
                    getattr(plant, f"_{said['do']}")(said, plant.bodies[said["robot"]], self)

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            request_queue_size = 64

        self._server = Server(str(address), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _note(self, kind: str, said: dict[str, Any], **more: Any) -> None:
        event = FleetEvent(kind, said["mission"], said["robot"], said["host"], said["epoch"], **more)
        self.seen.append((time.monotonic(), event))

    def _open(self, said: dict[str, Any], body: Body, peer: socketserver.StreamRequestHandler) -> None:
        with body.lock:
            known = body.fence.admit(said["epoch"])
            body.opened = max(body.opened, said["epoch"])
        _say(peer, "open" if known else "stale")

    def _where(self, said: dict[str, Any], body: Body, peer: socketserver.StreamRequestHandler) -> None:
        _say(peer, list(body.pose))

    def _move(self, said: dict[str, Any], body: Body, peer: socketserver.StreamRequestHandler) -> None:
        """A motion takes its time, and ends where it is when its host hangs up or asks for that. Only who asks knows of
        it: after the other, what was moved is not to be moved again."""
        if not body.lock.acquire(timeout=30.0):
            return _say(peer, "busy")
        try:
            if not body.fence.admit(said["epoch"]):
                self.stale += 1
                return _say(peer, "stale")
            if said["epoch"] < body.opened:
                self.wrong.append(f"{said['robot']} moved under epoch {said['epoch']} after {body.opened} opened it")
            self._note("claim", said, thing=str(said["pose"]))
            self._note("begin", said)
            _say(peer, "begun")
            if select.select([peer.connection], [], [], said["takes"])[0]:
                self.halted += 1
                if _asks(peer):
                    self._note("halt", said)
                self._note("free", said, thing=str(said["pose"]))
                return _say(peer, "halted")
            body.pose = tuple(said["pose"])
            self._note("done", said)
            self._note("free", said, thing=str(said["pose"]))
            _say(peer, "done")
        finally:
            body.lock.release()


def _asks(peer: socketserver.StreamRequestHandler) -> bool:
    try:
        return bool(peer.connection.recv(16))
    except OSError:  # its host was killed
        return False


def _say(peer: socketserver.StreamRequestHandler, value: object) -> None:
    try:
        peer.wfile.write(json.dumps(value).encode() + b"\n")
    except OSError:  # its host was killed meanwhile
        return
