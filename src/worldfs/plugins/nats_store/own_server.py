"""A NATS server of our own: a child process on this machine, durable, that never outlives its owner.

Of the processes that use one directory, the first owns the server; the others connect to it. When the owner ends, the
next one that notices starts it again, on the same port: no client needs another address.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from worldfs.base.durable import Root
from worldfs.base.errors import Busy, NotFound, StorageError
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.storage.open_store import open_store
from worldfs.supervisor.launch import bound_command

from .server_binary import find_server
from .store_address import StoreAddress

LEASE: Final = "server.lock"
CONFIG: Final = "nats.conf"
ADDRESS: Final = "server.json"
DATA: Final = "jetstream"
LOG: Final = "server.log"
STOP_S: Final = 10.0

_CONFIG: Final = """\
# Written anew at each start.
host: "127.0.0.1"
port: {port}
server_name: "paos-{name}"
authorization {{ token: "{token}" }}
jetstream {{
    store_dir: "{data}"
    sync_interval: always # an acknowledged write survives a power cut
}}
log_file: "{log}"
logfile_size_limit: 1MB
"""


class OwnServer:
    """`ensure` and `stop` are called from one thread that lives as long as the server is needed."""

    def __init__(self, directory: str, environ: Mapping[str, str]) -> None:
        self.directory, self._environ = os.path.abspath(directory), environ
        Root.build(self.directory)
        os.chmod(self.directory, 0o700)
        self._store = open_store("disk", self.directory)
        self._lease = self._store.lease(LEASE, "nats-server")
        self._process: subprocess.Popen[bytes] | None = None
        self._owned = False

    @property
    def pid(self) -> int | None:
        """Of the server, in the process that owns it."""
        return self._process.pid if self._process is not None else None

    def ensure(self, address: StoreAddress) -> StoreAddress:
        """The address with the server's own, which runs or is just being started by its owner.

        Raises `MissingRequirement` where no program is found, `StorageError` where it does not start.
        """
        if not self._owned:
            try:
                self._lease.acquire()
                self._owned = True
            except Busy:
                return self._known(address)
        if self._process is None or self._process.poll() is not None:
            try:
                self._start()
            except BaseException:
                self.stop()
                raise
        return self._known(address)

    def stop(self) -> None:
        """The owner stops it and gives the directory to the next process."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._owned:
            self._owned = False
            self._lease.release()

    def close(self) -> None:
        self.stop()
        self._store.close()

    def _start(self) -> None:
        program = find_server(self._environ)
        said = self._said()
        port, token = int(str(said.get("port") or _free_port())), str(said.get("token") or secrets.token_urlsafe(24))
        text = _CONFIG.format(
            port=port,
            name=os.getpid(),
            token=token,
            data=self._path(DATA),
            log=self._path(LOG),
        )
        self._write(CONFIG, text)
        self._write(ADDRESS, json.dumps({"port": port, "token": token}) + "\n")
        self._process = subprocess.Popen(
            bound_command(signal.SIGTERM, [program, "--config", self._path(CONFIG)]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us: the server ends after the last write
        )

    def _known(self, address: StoreAddress) -> StoreAddress:
        said = self._said()
        return address._replace(servers=f"nats://127.0.0.1:{said.get('port', 0)}", token=str(said.get("token", "")))

    def _said(self) -> Mapping[str, object]:
        try:
            return as_object(parse_json(read_given_file(self._path(ADDRESS), op="start nats-server")))
        except (NotFound, ValueError):
            return {}

    def _write(self, name: str, text: str) -> None:
        with suppress(NotFound):
            self._store.delete(name, durable=False)
        root = Root(self.directory)
        try:
            root.create(name, text.encode(), private=True)
        finally:
            root.close()

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def failure(self) -> StorageError:
        """Why it does not answer, by its log."""
        try:
            with open(self._path(LOG), encoding="utf-8", errors="replace") as file:
                said = [line.partition("] ")[2].strip() for line in file if "[FTL]" in line or "[ERR]" in line]
        except OSError:
            said = []
        why = said[-1] if said else coded("engine.no_log", path=self._path(LOG))
        return StorageError(coded("engine.not_started", why=why), path=self.directory, op="start nats-server")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
