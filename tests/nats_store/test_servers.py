"""Servers: our own child, too old ones, ones without JetStream, and what happens when one is killed."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest

from worldfs.base.errors import BadInput, MissingRequirement, NotFound, StorageError
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.plugins.nats_store.server_binary import find_server
from worldfs.plugins.nats_store.store_address import parse_address
from worldfs.plugins.nats_store.store_opening import open_nats_store
from worldfs.storage.store_interface import ABSENT, StoreChangeKind
from worldfs.testing.waiting import until
from worldfs.testing.watch_contract import wait_for_change

pytestmark = pytest.mark.usefixtures("nats_server")  # skipped by name where there is none

OWNER = (
    "import sys; from worldfs.plugins.nats_store.store_opening import open_nats_store\n"
    "store = open_nats_store('nats', sys.argv[1])\n"
    "store.put('a', b'1')\n"
    "print(store._server.pid, flush=True); sys.stdin.read()"
)


@pytest.fixture
def own(tmp_path):
    store = open_nats_store("nats", str(tmp_path / "engine"))
    yield store
    store.close()


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def _speak(said, *, jetstream=True):
    """A server that greets as `said` and answers pings: enough for a client to connect."""
    listener = socket.create_server(("127.0.0.1", 0))
    info = {"server_id": "x", "version": said, "max_payload": 1048576, "headers": True, "proto": 1}

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"INFO " + json.dumps(info | {"jetstream": jetstream}).encode() + b"\r\n")
            while data := connection.recv(4096):
                connection.sendall(b"PONG\r\n" * data.count(b"PING\r\n"))

    threading.Thread(target=serve, daemon=True).start()
    return listener, f"nats://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("version", ["2.9.10", "2.12.2", "2.11.99", "nonsense", ""])
def test_a_server_that_is_too_old_is_refused_by_its_version(version):
    listener, url = _speak(version)
    with listener, pytest.raises(MissingRequirement) as refused:
        NatsStore(url)
    assert refused.value.code == "ENGINE_VERSION"
    assert version in refused.value.found and "2.12.3 or newer" in refused.value.expected


def test_a_server_without_jetstream_is_refused():
    listener, url = _speak("2.15.1", jetstream=False)
    with listener, pytest.raises(MissingRequirement, match="without JetStream"):
        NatsStore(url)


def test_no_server_is_a_refusal_with_its_address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(MissingRequirement, match=f"127.0.0.1:{port}"):
        NatsStore(f"nats://127.0.0.1:{port}")


def test_a_program_that_is_too_old_is_named_and_passed_over(tmp_path):
    old = tmp_path / "nats-server"
    old.write_text("#!/bin/sh\necho nats-server: v2.9.10\n")
    old.chmod(0o755)
    with pytest.raises(MissingRequirement, match=r"2\.9\.10"):
        find_server({"PAOS_NATS_SERVER": str(old)})
    assert find_server({"PATH": str(tmp_path)}) != str(old)


def test_our_server_is_private_durable_and_on_loopback(own, tmp_path):
    place = tmp_path / "engine"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    for name in ("nats.conf", "server.json"):
        assert stat.S_IMODE((place / name).stat().st_mode) == 0o600
    said = (place / "nats.conf").read_text()
    assert 'host: "127.0.0.1"' in said and "sync_interval: always" in said
    with pytest.raises(MissingRequirement, match="uthorization"):
        NatsStore(own.address._replace(token="another"))


def test_our_server_ends_with_the_store_and_keeps_what_it_has(tmp_path):
    store = open_nats_store("nats", str(tmp_path / "engine"))
    pid = store._server.pid
    store.put("a/b", b"kept")
    store.append("log", b"1\n")
    store.close()
    assert not _lives(pid)
    again = open_nats_store("nats", str(tmp_path / "engine"))
    assert again.get("a/b").data == b"kept" and again.list("") == ["a/", "log"]
    again.append("log", b"2\n")
    assert again.get("log").data == b"1\n2\n"
    again.close()


def test_our_server_does_not_outlive_a_killed_owner_and_another_process_starts_it_again(tmp_path):
    command = [sys.executable, "-c", OWNER, str(tmp_path / "engine")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        server = int(owner.stdout.readline())
        other = open_nats_store("nats", str(tmp_path / "engine"))
        assert other._server.pid is None and other.get("a").data == b"1"
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        until(lambda: not _lives(server), "the server outlived its owner")
        assert other.put("b", b"2") and other.get("a").data == b"1"
        assert other._server.pid != server
        other.close()


def test_nothing_acknowledged_is_lost_when_the_server_is_killed_under_load(own):
    acknowledged, done = {}, threading.Event()

    def write(writer):
        number = 0
        while not done.is_set():
            key = f"jobs/{writer}-{number}"
            own.put(key, b"%d" % number, ABSENT)  # an `Exists` would be a write that ran twice
            acknowledged[key] = b"%d" % number
            number += 1

    writers = [threading.Thread(target=write, args=(index,)) for index in range(4)]
    for writer in writers:
        writer.start()
    for kills in range(1, 4):
        until(lambda aim=kills * 40: len(acknowledged) > aim)
        server = own._server.pid
        os.kill(server, signal.SIGKILL)
        until(lambda old=server: own._server.pid not in (old, None))
    until(lambda: len(acknowledged) > 200)
    done.set()
    for writer in writers:
        writer.join()
    assert {key: own.get(key).data for key in acknowledged} == acknowledged
    assert set(own.list("jobs")) == {key.removeprefix("jobs/") for key in acknowledged}


def test_a_watch_reports_a_resync_after_the_server_was_killed_and_hears_what_follows(own):
    own.put("jobs/a", b"1")
    with own.watch("jobs") as watch:
        os.kill(own._server.pid, signal.SIGKILL)
        assert wait_for_change(watch, "jobs", StoreChangeKind.RESYNC)
        own.put("jobs/b", b"2")
        assert wait_for_change(watch, "jobs/b", StoreChangeKind.PUT)


def test_a_change_of_another_client_while_the_server_was_away_is_known_afterwards(own):
    other = NatsStore(own.address)
    try:
        own.put("jobs/a", b"1")
        own.put("jobs/b", b"1")
        with other.watch("jobs") as watch:
            os.kill(own._server.pid, signal.SIGKILL)
            own.delete("jobs/a")
            own.put("jobs/c", b"1")
            assert wait_for_change(watch, "jobs/c")
            until(lambda: other.list("jobs") == ["b", "c"])
    finally:
        other.close()


def test_a_full_stream_refuses_what_it_cannot_hold_and_keeps_what_it_has(own):
    own.put("a", b"1")
    config = own.run(own.connection.ask(f"STREAM.INFO.{own.bucket.stream}"))["config"]
    own.run(own.connection.ask(f"STREAM.UPDATE.{own.bucket.stream}", config | {"max_bytes": 20_000}))
    with pytest.raises(StorageError, match="the store is full") as refused:
        for number in range(100):
            own.put(f"more/{number}", b"x" * 1000)
    assert refused.value.code == "ENOSPC" and "room" in refused.value.fix
    assert own.get("a").data == b"1"
    own.delete("more/0")  # there is a way out
    assert own.get("more/0") is None


@pytest.mark.parametrize(("said", "code"), [("always", ""), ("'2m'", "ENGINE_NOT_DURABLE")])
def test_the_check_tells_whether_a_server_is_durable_and_how_often_it_keeps_things(tmp_path, said, code):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        port, monitor = one.getsockname()[1], two.getsockname()[1]
    (tmp_path / "nats.conf").write_text(
        f'host: "127.0.0.1"\nport: {port}\nhttp: "127.0.0.1:{monitor}"\n'
        f'jetstream {{ store_dir: "{tmp_path}", sync_interval: {said} }}\n'
    )
    command = [find_server({}), "--config", str(tmp_path / "nats.conf")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server, ExitStack() as stack:
        stack.callback(server.terminate)
        store = until(lambda: _opened(f"nats://127.0.0.1:{port}?monitor=http://127.0.0.1:{monitor}"))
        stack.callback(store.close)
        found = {finding.code: finding for finding in store.findings()}
        assert set(found) == ({code} if code else set()) | {"ENGINE_ONE_COPY"}
        assert not code or "120 s" in found[code].found
        other = NatsStore(f"nats://127.0.0.1:{port}")
        stack.callback(other.close)
        assert {finding.code for finding in other.findings()} == {"ENGINE_DURABILITY_UNKNOWN", "ENGINE_ONE_COPY"}


def _opened(address):
    try:
        return NatsStore(address)
    except MissingRequirement:
        return None


def test_our_own_server_has_no_findings(own):
    assert own.findings() == []


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://host", "no address"),
        ("nats://", "no address"),
        ("nats://host/a.b", "bucket 'a.b'"),
        ("nats://host?color=red", "'color'"),
        ("nats://host?replicas=9", "replicas=9"),
        ("nats://host?ttl=soon", "ttl=soon"),
    ],
)
def test_an_address_that_is_none_is_refused_by_what_is_wrong(address, said):
    with pytest.raises(BadInput, match=said):
        parse_address(address)


def test_a_file_of_credentials_that_others_may_read_is_refused(tmp_path):
    creds = tmp_path / "host.creds"
    creds.write_text("secret")
    creds.chmod(0o644)
    with pytest.raises(BadInput, match="0644") as refused:
        parse_address(f"tls://host/fleet?creds={creds}")
    assert refused.value.fix == f"chmod 600 {creds}"
    creds.chmod(0o600)
    where = parse_address(f"tls://ada:pa%40ss@host/fleet?creds={creds}&replicas=3&ttl=30&domain=arm")
    assert (where.servers, where.bucket, where.user, where.password) == ("tls://host:4222", "fleet", "ada", "pa@ss")
    assert (where.replicas, where.ttl_s, where.domain, where.creds) == (3, 30.0, "arm", str(creds))
    with pytest.raises(NotFound):
        parse_address("nats://host?ca=/nowhere.pem")
