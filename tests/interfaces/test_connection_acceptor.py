"""Connections of strangers have a limit, and a server without descriptors goes on: whoever is served stays served."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from worldfs.interfaces.connection_acceptor import ConnectionAcceptor, Known, bound_sockets
from worldfs.testing.waiting import PATIENCE_S

LOG = logging.getLogger("test.acceptor")


class Echo(asyncio.Protocol):
    """A peer that says `known` is no stranger any more."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"known"):
            self._known()
        self._transport.write(data)


def carried_out(life: Callable[[ConnectionAcceptor, int], Awaitable[None]], **options: Any) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        sockets = await bound_sockets(loop, "127.0.0.1", 0)
        port = sockets[0].getsockname()[1]
        acceptor = ConnectionAcceptor(loop, Echo, LOG, **options)
        acceptor.listen(sockets)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await life(acceptor, port)
        finally:
            acceptor.close()

    asyncio.run(run())


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def answers(self, word: bytes = b"hello") -> bool:
        try:
            self.writer.write(word)
            return await self.reader.readexactly(len(word)) == word
        except (asyncio.IncompleteReadError, ConnectionError):
            return False

    def close(self) -> None:
        self.writer.close()


async def connected(port: int) -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", port))


def test_a_new_stranger_takes_the_place_of_the_oldest_and_those_who_are_known_stay() -> None:
    async def life(acceptor: ConnectionAcceptor, port: int) -> None:
        assert (acceptor.most, acceptor.strangers_most) == (8, 4)
        friends = [await connected(port) for _ in range(4)]
        assert all([await one.answers(b"known") for one in friends])
        strangers = [await connected(port) for _ in range(40)]
        last = strangers[-4:]
        assert all([await one.answers() for one in (*friends, *last)])
        assert not any([await one.answers() for one in strangers[:-4]])
        late = await connected(port)
        assert await late.answers(b"known") and all([await one.answers() for one in friends])
        for one in (*friends, *strangers, late):
            one.close()

    carried_out(life, most=8)


def test_beyond_all_that_may_be_held_a_new_one_is_closed_until_another_ends() -> None:
    async def life(acceptor: ConnectionAcceptor, port: int) -> None:
        friends = []
        for _ in range(8):
            friends.append(await connected(port))
            assert await friends[-1].answers(b"known")
        refused = await connected(port)
        assert not await refused.answers(b"known") and all([await one.answers() for one in friends])
        friends[0].close()
        while not await (new := await connected(port)).answers(b"known"):
            new.close()
        for one in (*friends[1:], new, refused):
            one.close()

    carried_out(life, most=8)


def test_a_stranger_has_a_time_limit_where_one_is_given_and_a_known_peer_has_none() -> None:
    async def life(acceptor: ConnectionAcceptor, port: int) -> None:
        friend, stranger = await connected(port), await connected(port)
        assert await friend.answers(b"known")
        assert await stranger.reader.read() == b""
        assert await friend.answers()
        friend.close()
        stranger.close()

    carried_out(life, stranger_s=0.2)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EPERM])
def test_where_the_system_accepts_none_the_log_has_one_line_and_they_are_taken_later(
    number: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, tried = socket.socket.accept, [0]

    def accept(self: socket.socket) -> Any:
        tried[0] += 1
        if tried[0] <= 3:
            raise OSError(number, os.strerror(number))
        return real(self)

    monkeypatch.setattr("worldfs.interfaces.connection_acceptor.RETRY_S", 0.01)
    monkeypatch.setattr(socket.socket, "accept", accept)

    async def life(acceptor: ConnectionAcceptor, port: int) -> None:
        client = await connected(port)
        assert await client.answers()
        client.close()

    with caplog.at_level(logging.WARNING):
        carried_out(life)
    (line,) = caplog.records
    assert os.strerror(number) in line.getMessage() and line.exc_info is None


def test_the_line_comes_again_after_a_minute_with_how_often_it_was_met(caplog: pytest.LogCaptureFixture) -> None:
    class Loop:
        now = 1000.0

        def time(self) -> float:
            return self.now

    acceptor = ConnectionAcceptor(Loop(), Echo, LOG)  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        for _ in range(600):
            acceptor._say("new connections wait")
            Loop.now += 0.25
    said = [record.getMessage() for record in caplog.records]
    assert said == ["new connections wait", *["new connections wait (239 times more in the last minute)"] * 2]


def test_a_peer_that_speaks_no_tls_takes_no_place(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=localhost"], check=True, capture_output=True,
    )  # fmt: skip
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    trusting.check_hostname = False

    async def life(acceptor: ConnectionAcceptor, port: int) -> None:
        silent = [await connected(port) for _ in range(20)]
        shouting = [await connected(port) for _ in range(20)]
        for one in shouting:
            assert not await one.answers()
        client = Client(*await asyncio.open_connection("127.0.0.1", port, ssl=trusting))
        assert await client.answers(b"known")
        for one in (*silent, *shouting, client):
            one.close()

    carried_out(life, most=8, tls=server)


@contextmanager
def served(home: Path, descriptors: int, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    script = f'ulimit -n {descriptors}; exec "$0" -m worldfs.interfaces.cli.main --json --home "$1" {" ".join(words)}'
    log = (home.parent / "log").open("w")
    process = subprocess.Popen(
        ["bash", "-c", script, sys.executable, str(home)], stdout=subprocess.PIPE, stderr=log, text=True
    )
    try:
        assert process.stdout is not None
        said: dict[str, Any] = {}
        while said.get("event") != "serve":
            line = process.stdout.readline()
            assert line, (home.parent / "log").read_text()
            said = json.loads(line)
        yield process, said
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        if process.stdout is not None:
            process.stdout.close()
        log.close()


@pytest.mark.slice(2)
@pytest.mark.parametrize("listener", ["served", "metrics", "9p", "9p_socket"])
def test_more_idle_connections_than_descriptors_leave_a_server_that_answers_and_a_short_log(
    listener: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    nine = str(tmp_path / "s") if listener == "9p_socket" else "127.0.0.1:0"
    with served(home, 160, "serve", "--port 0", "--metrics-port 0", f"--serve-9p {nine}") as (process, said):
        port = {"served": said["port"], "metrics": said["metrics_port"]}.get(listener, 0)
        idle = []
        for _ in range(500):
            made = socket.socket(socket.AF_UNIX if listener == "9p_socket" else socket.AF_INET)
            made.settimeout(PATIENCE_S)
            if listener == "9p_socket":
                made.connect(nine)
            else:
                made.connect(("127.0.0.1", port or int(str(said["9p"]).rpartition(":")[2])))
            idle.append(made)
        ask = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home), "--connect", said["url"]]
        done = subprocess.run([*ask, "ls", "/"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "") and "nodes" in done.stdout
        assert process.poll() is None
        for made in idle:
            made.close()
    log = (tmp_path / "log").read_text()
    assert len(log) < 2_000 and "Traceback" not in log
