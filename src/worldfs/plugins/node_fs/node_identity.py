"""A node's identity at its server: the state file, private and durable.

Source: acheron §7.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from typing import Final

from worldfs.base.durable import Disk, Root
from worldfs.base.errors import BadInput, Busy, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.formats.wire.frames import Json

SCHEMA: Final = 1
KEYS: Final = (
    "node_id",
    "node_secret",
    "lease_token",
    "lease_expires_at_ms",
    "request_id",
    "node_name",
    "fs_url",
)


class NodeIdentity:
    """The state file of one node. `server`: the secret is sent to no other server."""

    def __init__(self, path: str, server: str, *, disk: Disk | None = None) -> None:
        self.path = os.path.abspath(path)
        self.server = server
        folder, self._name = os.path.split(self.path)
        Root.build(folder, 0o700)
        self._root = Root(folder, disk)
        self._said: Json = {}
        self._lock = threading.Lock()
        self._held = -1
        self.services: Json = {}  # state of each service, by id

    def load(self) -> None:
        """Raises `BadInput` for a foreign file or one of another server, `Busy` while another process runs as this
        node."""
        self._hold()
        try:
            data = self._root.read(self._name)
            if data is not None:
                self._take_in(data)
        except BaseException as error:
            self.close()
            if isinstance(error, UserError):
                error.path = self.path
            raise

    def _take_in(self, data: bytes) -> None:
        try:
            value: object = parse_json(data)
        except ValueError:
            value = None
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            raise BadInput(coded("node.no_state"), path=self.path, op="node", expected='{"schema":1,…}')
        if value.get("server", self.server) != self.server:
            raise BadInput(
                coded("node.state_of", server=value["server"]),
                path=self.path,
                op="node",
                expected=coded("node.one_of_server", server=self.server),
                fix=coded("node.other_state"),
            )
        self._said = {key: value[key] for key in KEYS if key in value}
        services = value.get("services")
        self.services = services if isinstance(services, dict) else {}

    def _hold(self) -> None:
        """Lock the file: two processes with one id would take the tunnel from each other without end."""
        self._held = self._root.lock_file(f"{self._name}.lock")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise Busy(
                coded("node.taken"),
                path=self.path,
                op="node",
                fix=coded("node.stop_it"),
            ) from None

    def close(self) -> None:
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def keep(self, service: str, kept: Json) -> bool:
        """Save a service's state; False if it is unchanged."""
        with self._lock:
            if self.services.get(service) == kept:
                return False
            self.services[service] = kept
        self.save()
        return True

    def save(self, **said: object) -> None:
        """Durable when it returns; None forgets a key."""
        with self._lock:
            self._save(said)

    def _save(self, said: Json) -> None:
        self._said |= {key: value for key, value in said.items() if key in KEYS}
        value = {"schema": SCHEMA, **{key: self._said.get(key) for key in KEYS}, "server": self.server}
        if self.services:
            value["services"] = self.services
        self._root.replace(self._name, json.dumps(value, indent=1).encode() + b"\n", private=True)

    @property
    def node(self) -> str:
        return str(self._said.get("node_id") or "")

    @property
    def secret(self) -> str:
        return str(self._said.get("node_secret") or "")

    @property
    def request(self) -> str:
        return str(self._said.get("request_id") or "")
