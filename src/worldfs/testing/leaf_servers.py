"""Two NATS servers for tests: a hub, and a robot's own as its leaf node, each with a JetStream domain."""

from __future__ import annotations

import subprocess
from pathlib import Path
from unittest.mock import patch

from worldfs.base.errors import MissingRequirement, StorageError
from worldfs.plugins.nats_store import jetstream_connection
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.plugins.nats_store.server_binary import find_server
from worldfs.testing.free_port import free_port

HUB = 'leafnodes {{ host: "127.0.0.1", port: {leaf} }}'
LEAF = 'leafnodes {{ remotes: [{{ url: "nats-leaf://127.0.0.1:{leaf}" }}], reconnect: "200ms" }}'


class LeafServers:
    """`hub`, and `arm`, its leaf node: `start` and `kill` by name; `close` kills both."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.port = {name: free_port() for name in ("hub", "arm", "leaf")}
        for name, role in (("hub", HUB), ("arm", LEAF)):
            (place / name).mkdir()
            (place / f"{name}.conf").write_text(
                f'host: "127.0.0.1"\nport: {self.port[name]}\nserver_name: {name}\n'
                f'jetstream {{ store_dir: "{place / name}", domain: {name}, sync_interval: always }}\n'
                + role.format(leaf=self.port["leaf"]) + "\n"
            )  # fmt: skip

    def start(self, name: str) -> None:
        command = [find_server({}), "--config", str(self.place / f"{name}.conf")]
        self.running[name] = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def close(self) -> None:
        for name in list(self.running):
            self.kill(name)

    def address(self, server: str, domain: str) -> str:
        """Of the bucket `arm_1` of a domain, by way of a server."""
        return f"nats://127.0.0.1:{self.port[server]}/arm_1?domain={domain}"

    def store(self, server: str, domain: str) -> NatsStore | None:
        """That bucket; None while there is no way."""
        with patch.object(jetstream_connection, "PATIENCE_S", 2.0):  # of this attempt alone
            try:
                return NatsStore(self.address(server, domain))
            except (MissingRequirement, StorageError):
                return None
