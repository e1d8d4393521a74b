"""A group of nats-servers, or one alone: processes with disks of their own, killed, frozen and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from worldfs.plugins.nats_store.server_binary import find_server
from worldfs.testing.freezing import freeze

TOKEN = "of-this-group"
CLIENTS, ROUTES = 4222, 6222
CONFIG = """
server_name: "server-{index}"
host: "{host}"
port: {port}
authorization {{ token: "{token}" }}
jetstream {{ store_dir: "{place}", sync_interval: always }}
{cluster}
log_file: "{place}/log"
"""


CLUSTER = 'cluster {{ name: "group", host: "{host}", port: {route}, routes: [{routes}] }}'


class ServerGroup:
    """`hosts`: the addresses of the servers; none: three on this machine. `commands`: what starts a program there."""

    def __init__(self, place: Path, hosts: Sequence[str] = (), commands: Sequence[Sequence[str]] = ()) -> None:
        ports = [CLIENTS, ROUTES] * len(hosts) if hosts else _free_ports(6)
        hosts = hosts or ["127.0.0.1"] * 3
        self._commands = commands or [()] * len(hosts)
        self.servers = [f"{host}:{port}" for host, port in zip(hosts, ports[::2], strict=True)]
        routes = ", ".join(f'"nats://{host}:{port}"' for host, port in zip(hosts, ports[1::2], strict=True))
        self._configs: list[Path] = []
        for index, host in enumerate(hosts):
            home = place / f"server-{index}"
            home.mkdir(parents=True)
            self._configs.append(home / "nats.conf")
            cluster = CLUSTER.format(host=host, route=ports[2 * index + 1], routes=routes) if len(hosts) > 1 else ""
            values = {"index": index, "host": host, "port": ports[2 * index], "token": TOKEN, "place": home}
            self._configs[-1].write_text(CONFIG.format(**values, cluster=cluster))
        self._program = find_server(os.environ)
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * len(hosts)
        for index in range(len(hosts)):
            self.start(index)

    def address(self, options: str = "replicas=3&ttl=15", bucket: str = "fleet") -> str:
        return f"nats://{TOKEN}@{','.join(self.servers)}/{bucket}?{options}"

    def start(self, index: int) -> None:
        if self._processes[index] is None:
            self._processes[index] = subprocess.Popen(
                [*self._commands[index], self._program, "--config", str(self._configs[index])]
            )

    def kill(self, index: int) -> None:
        process, self._processes[index] = self._processes[index], None
        if process is not None:
            process.kill()
            process.wait()

    def stop(self, index: int) -> None:
        """In order, as its operator does."""
        process, self._processes[index] = self._processes[index], None
        if process is not None:
            process.terminate()
            process.wait()

    def freeze(self, index: int) -> None:
        """Return once no thread of it answers any more: on a busy machine one may go on for a while."""
        if (process := self._processes[index]) is not None:
            freeze(process.pid)

    def thaw(self, index: int) -> None:
        self._signal(index, signal.SIGCONT)

    def _signal(self, index: int, number: signal.Signals) -> None:
        process = self._processes[index]
        if process is not None:
            process.send_signal(number)

    def close(self) -> None:
        with ExitStack() as stack:
            for index in range(len(self._processes)):
                stack.callback(self.kill, index)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in found]
