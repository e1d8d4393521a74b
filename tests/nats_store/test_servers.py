"""Servers: our own child, too old ones, ones without JetStream, and what happens when one is killed."""

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from nats.errors import ConnectionReconnectingError

from worldfs.base.errors import BadInput, MissingRequirement, StorageError
from worldfs.plugins.nats_store import jetstream_connection
from worldfs.plugins.nats_store.bucket import Bucket
from worldfs.plugins.nats_store.bucket_watch import BucketWatch
from worldfs.plugins.nats_store.jetstream_connection import EXPECTED_OF, STATUS
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.plugins.nats_store.server_binary import find_server
from worldfs.plugins.nats_store.store_opening import open_nats_store
from worldfs.plugins.nats_store.write_history import LENGTH
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.store_interface import ABSENT, StoreChangeKind
from worldfs.testing.free_port import free_port
from worldfs.testing.race_contract import run_concurrently
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
    port = free_port()
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
    with pytest.raises(MissingRequirement, match="refuses this login"):
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


@pytest.mark.slice(2)
@pytest.mark.parametrize("at", [1, 10, 300])
def test_a_gap_while_the_bucket_is_read_is_one_more_reading_of_it(own, monkeypatch, at):
    """As when the connection breaks in the middle."""
    own.put_many([(f"jobs/{number}", b"1") for number in range(300)])
    other = NatsStore(own.address)
    readings, missed, hear, read_all = [], [], BucketWatch._hear, Bucket._read_all

    async def hear_all_but_one(watch, message):
        if len(readings) > 1 or STATUS in (message.headers or {}) or watch._count != at - 1 or missed:
            return await hear(watch, message)
        missed.append(message)

    async def count(bucket):
        readings.append(bucket)
        return await read_all(bucket)

    monkeypatch.setattr(BucketWatch, "_hear", hear_all_but_one)
    monkeypatch.setattr(Bucket, "_read_all", count)
    try:
        with other.watch("jobs") as watch:
            other.run(other.bucket.refollow())
            until(lambda: len(readings) > 1, "the gap was not noticed")
            other.run(other.bucket.follow(unless=1))  # after all that waited before it
            assert missed and len(readings) == 2
            own.put("jobs/new", b"1")
            assert wait_for_change(watch, "jobs/new", StoreChangeKind.PUT)
        assert len(other.list("jobs")) == 301
    finally:
        other.close()


def test_threads_that_wait_for_a_server_return_when_the_store_is_closed(own, monkeypatch):
    other = NatsStore(own.address)
    monkeypatch.setattr(own.connection, "_revive", None)
    own._server.stop()
    until(lambda: not other.connection.connected)
    refused = []

    def write(index):
        with pytest.raises(StorageError) as error:
            other.put(f"{index}", b"1")
        refused.append(str(error.value))

    threads = [threading.Thread(target=write, args=(index,), daemon=True) for index in range(20)]
    for thread in threads:
        thread.start()
    until(lambda: len(other._loop._tasks) == 20)
    other.close()
    until(lambda: not any(thread.is_alive() for thread in threads), "threads wait in a store that is closed")
    assert len(refused) == 20 and all("the store is closed" in said for said in refused), set(refused)
    with pytest.raises(StorageError, match="the store is closed"):
        other.put("a", b"1")


def test_a_thread_that_a_closing_store_wakes_writes_nothing_more(own):
    """As of a world that is dropped: what waits for an end, and hears of none, would take back its order."""
    other = NatsStore(own.address)
    watch, refused = other.watch("jobs"), []

    def wait_and_write():
        watch.read(None)
        try:
            other.put("late", b"1")
        except StorageError as error:
            refused.append(error.found)

    thread = threading.Thread(target=wait_and_write, daemon=True)
    thread.start()
    shut = other._shut

    async def late():
        await asyncio.sleep(0.05)  # whatever the woken thread does comes before
        await shut()

    other._shut = late
    other.close()
    thread.join()
    assert refused == ["the store is closed"] and "late" not in own.list("")


def test_a_client_that_has_given_up_to_connect_again_is_made_to(own):
    server, client = own._server.pid, own.connection.client
    own._server.stop()
    until(lambda: client.is_reconnecting)
    own.loop_call(client._reconnection_task.cancel)  # as after an error in it
    until(client._reconnection_task.done)
    assert own.put("a", b"1") and own._server.pid not in (server, None)


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


def test_a_write_that_meets_a_server_which_is_being_stopped_is_sent_again(own, monkeypatch):
    request = own.connection._request
    said = [{"error": {"code": 503, "err_code": 10077, "description": "store is closed"}}]

    async def answer(subject, data, headers, **more):
        if headers and said:
            return SimpleNamespace(data=json.dumps(said.pop()).encode()), False
        return await request(subject, data, headers, **more)

    monkeypatch.setattr(own.connection, "_request", answer)
    own.put("a", b"1")
    assert not said and own.get("a").data == b"1"


@pytest.fixture
def interrupt(own, monkeypatch):
    """The next write of a key arrives, or does not; its answer is lost with the server, and another host writes before
    it is sent again."""
    other = NatsStore(own.address)

    def make(key, meanwhile, *, arrives=True):
        request = own.connection.client.request

        async def lose(subject, *words, **more):
            if subject != own.bucket.subject(key):
                return await request(subject, *words, **more)
            monkeypatch.setattr(own.connection.client, "request", request)
            if arrives:
                await request(subject, *words, **more)
            os.kill(own._server.pid, signal.SIGKILL)
            await asyncio.to_thread(meanwhile, other)
            raise ConnectionReconnectingError

        monkeypatch.setattr(own.connection.client, "request", lose)
        return other

    yield make
    other.close()


@pytest.mark.slice(3)
@pytest.mark.parametrize("before", [b"", b"1\n"])
@pytest.mark.parametrize("arrives", [True, False])
def test_an_append_whose_answer_is_lost_is_stored_once_also_if_another_host_appends_meanwhile(
    own, interrupt, before, arrives
):
    if before:
        own.append("log", before)
    interrupt("log", lambda other: other.append("log", b"theirs\n"), arrives=arrives)
    own.append("log", b"ours\n")
    lines = [b"ours\n", b"theirs\n"] if arrives else [b"theirs\n", b"ours\n"]
    assert own.get("log").data == b"".join([before, *lines])
    own.append("log", b"more\n")
    assert own.get("log").data == b"".join([before, *lines, b"more\n"])


@pytest.mark.parametrize("expect", [ABSENT, "found"])
def test_a_put_whose_answer_is_lost_is_no_conflict_with_a_host_that_goes_on_from_it(own, interrupt, expect):
    if expect == "found":
        expect = own.put("a", b"0")
    interrupt("a", lambda other: other.put("a", b"2", other.get("a").revision))
    assert own.put("a", b"1", expect)
    assert own.get("a").data == b"2"


def test_a_file_that_is_made_and_deleted_by_another_host_before_the_answer_comes_is_not_made_again(own, interrupt):
    interrupt("a", lambda other: other.delete("a"))
    own.put("a", b"1", ABSENT)
    assert own.get("a") is None


def test_a_delete_whose_answer_is_lost_leaves_what_another_host_makes_meanwhile(own, interrupt):
    own.put("a", b"1")
    interrupt("a", lambda other: other.put("a", b"2", ABSENT))
    own.delete("a")
    assert own.get("a").data == b"2"


def _as_a_foreign_program(other):
    subject = other.bucket.subject("log")
    other.run(other.connection.request(subject, b"2"))


def _often(other):
    for _ in range(LENGTH):
        other.append("log", b"theirs\n")


@pytest.mark.parametrize("meanwhile", [_as_a_foreign_program, _often])
def test_an_append_of_which_is_not_known_whether_it_was_stored_is_an_error_that_says_so(own, interrupt, meanwhile):
    own.append("log", b"1\n")
    interrupt("log", meanwhile)
    with pytest.raises(StorageError, match="not known whether") as unknown:
        own.append("log", b"ours\n")
    assert unknown.value.path == "log" and unknown.value.fix
    own.append("log", b"more\n")
    assert own.get("log").data.endswith(b"more\n")


def test_a_write_after_a_foreign_programs_or_an_older_hosts_is_known_again(own, interrupt):
    other = interrupt("log", lambda other: other.append("log", b"theirs\n"))
    _as_a_foreign_program(other)
    own.append("log", b"ours\n")
    assert own.get("log").data == b"2ours\ntheirs\n"


@pytest.mark.slice(2)
@pytest.mark.parametrize(("error", "left"), [(10164, 1), (10158, 1), (10008, 3)])
def test_a_server_that_answers_that_another_write_comes_first_is_left_after_ten_seconds_only(
    own, monkeypatch, error, left
):
    request, now, answered, leave = own.connection._request, jetstream_connection._now, [], []

    async def answer(subject, data, headers, **more):
        if headers and len(answered) < 3:
            answered.append(subject)
            return SimpleNamespace(data=json.dumps({"error": {"code": 503, "err_code": error}}).encode()), False
        return await request(subject, data, headers, **more)

    monkeypatch.setattr(jetstream_connection, "_now", lambda: now() + 4 * len(answered))  # 4 s for each answer
    monkeypatch.setattr(own.connection, "leave", lambda: leave.append(1))
    monkeypatch.setattr(own.connection, "_request", answer)
    own.put("a", b"1")
    assert len(answered) == 3 and len(leave) == left


def test_writes_under_a_lease_do_not_refuse_each_other_in_a_group(own, monkeypatch):
    own.bucket.replicas = 3  # it counts as a group: a group refuses the second of two that expect the same sequence
    publish, under_way, together = own.connection.publish, [], []

    async def count(subject, data, headers, **more):
        fenced = EXPECTED_OF in headers
        under_way.extend([1] * fenced)
        together.append(len(under_way))
        try:
            return await publish(subject, data, headers, **more)
        finally:
            del under_way[len(under_way) - fenced :]

    with own.lease(KERNEL_LEASE):
        monkeypatch.setattr(own.connection, "publish", count)
        run_concurrently(8, lambda index: [own.put(f"{index}", b"%d" % number) for number in range(10)])
        assert max(together) == 1 and len(together) >= 80
        monkeypatch.undo()


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


@pytest.mark.parametrize("which", ["stream", "parts"])
@pytest.mark.parametrize(
    "changed",
    [
        {"max_age": 3600 * 10**9, "duplicate_window": 60 * 10**9},
        {"discard": "old"},
        {"max_msgs": 1000},
        {"max_msg_size": 4096},
        {"max_msgs_per_subject": 5},
        {"discard_new_per_subject": True},
        {"allow_direct": False},
        {"no_ack": True},
        {"subjects": ["$KV.another.>"]},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_stream_that_would_forget_or_refuse_is_named_when_it_is_opened(own, which, changed):
    own.put("a", b"1")
    name = getattr(own.bucket, which)
    config = own.run(own.connection.ask(f"STREAM.INFO.{name}"))["config"]
    own.run(own.connection.ask(f"STREAM.UPDATE.{name}", config | changed))
    member = next(iter(changed))
    with pytest.raises(BadInput) as refused:
        NatsStore(own.address)
    assert (refused.value.code, refused.value.path) == ("ENGINE_STREAM", own.address.bucket)
    assert (
        name in refused.value.found and f"{member}=" in refused.value.found and f"{member}=" in refused.value.expected
    )
    own.run(own.connection.ask(f"STREAM.UPDATE.{name}", config))
    NatsStore(own.address).close()


def test_a_stream_that_another_program_made_without_files_on_a_disk_is_refused(own):
    made = {"name": "KV_other", "subjects": ["$KV.other.>"], "storage": "memory", "discard": "new",
            "max_msgs_per_subject": 1, "allow_direct": True, "allow_rollup_hdrs": True, "deny_delete": True,
            "allow_msg_ttl": True}  # fmt: skip
    own.run(own.connection.ask("STREAM.CREATE.KV_other", made))
    with pytest.raises(BadInput, match="storage=memory") as refused:
        NatsStore(own.address._replace(bucket="other"))
    assert refused.value.expected == "storage=file"


@pytest.mark.parametrize(("said", "code"), [("always", ""), ("'2m'", "ENGINE_NOT_DURABLE")])
def test_the_check_tells_whether_a_server_is_durable_and_how_often_it_keeps_things(tmp_path, said, code):
    port, monitor = free_port(), free_port()
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
