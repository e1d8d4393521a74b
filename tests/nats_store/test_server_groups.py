"""Groups of three servers: what is acknowledged stays, and is listed, whichever server is killed, frozen or behind."""

import threading
from contextlib import ExitStack, suppress
from functools import partial
from uuid import uuid4

import pytest

from worldfs.base.errors import MissingRequirement, StorageError
from worldfs.plugins.nats_store import jetstream_connection
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.store_interface import ABSENT, StoreChangeKind
from worldfs.testing.race_contract import run_concurrently
from worldfs.testing.waiting import until

from .server_group import TOKEN, ServerGroup

pytestmark = pytest.mark.usefixtures("nats_server")  # skipped by name where there is none


@pytest.fixture(scope="module")
def servers(tmp_path_factory, nats_server):
    group = ServerGroup(tmp_path_factory.mktemp("group"))
    with ExitStack() as stack:
        stack.callback(group.close)
        yield group


@pytest.fixture
def group(servers, monkeypatch):
    """Three servers that work, and a bucket of the test's own."""
    bucket = f"test-{uuid4().hex[:12]}"
    monkeypatch.setattr(servers, "address", partial(ServerGroup.address, servers, bucket=bucket))
    _thaw(servers)
    until(lambda: _opened(servers)).close()
    return servers


@pytest.fixture
def stores(group):
    """Opens stores on the group, and closes them."""
    with ExitStack() as stack:
        stack.callback(_thaw, group)  # before they are closed

        def more(count):
            opened = [until(lambda: _opened(group)) for _ in range(count)]
            for store in opened:
                stack.callback(store.close)
            return opened

        yield more


def _thaw(group):
    for index in range(3):
        group.thaw(index)
        group.start(index)


def _opened(group):
    with suppress(MissingRequirement, StorageError):
        return NatsStore(group.address())
    return None


def _leader(store):
    """The number of the server that leads the bucket's stream."""
    found = store.run(store.connection.ask(f"STREAM.INFO.{store.bucket.stream}"))
    return int(found["cluster"]["leader"].removeprefix("server-"))


def _server_of(group, store):
    """The number of the server that a store is connected to; None while it is to none."""
    url = store.connection.client.connected_url
    return None if url is None else group.servers.index(url.netloc)


def _watched_server(store):
    """The number of the server that has the consumer of a store's watch."""
    found = store.run(store.connection.ask(f"CONSUMER.LIST.{store.bucket.stream}"))
    inbox = store.bucket._watch._subscription.subject
    (leader,) = (each["cluster"]["leader"] for each in found["consumers"] if each["config"]["deliver_subject"] == inbox)
    return int(leader.removeprefix("server-"))


def _move(group, store, *, off):
    """Have a store connected to another server than this one."""
    until(lambda: _server_of(group, store) not in (off, None) or store.loop_call(store.connection.leave))


class Readers:
    """Each lists a directory again and again, and watches it; what is missing of the acknowledged keys is kept."""

    def __init__(self, stores, acknowledged):
        self.missing, self.deleted, self.lists = [], [], [0] * len(stores)
        self._stores, self._acknowledged, self._done = stores, acknowledged, threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(index,)) for index in range(len(stores))]

    def _read(self, index):
        store = self._stores[index]
        with store.watch("jobs") as watch:
            while not self._done.is_set():
                known = {*self._acknowledged.copy()}
                with suppress(StorageError):  # for some seconds there may be no leader to ask
                    self.missing += known - set(store.list("jobs"))
                    self.lists[index] += 1
                self.missing += known - {key.removeprefix("jobs/") for key in store.bucket.index.keys("jobs")}
                changes = watch.read(0)
                self.deleted += [change.key for change in changes if change.kind is StoreChangeKind.DELETE]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        for thread in self._threads:
            thread.join()

    def wait(self):
        """Until each has listed what is there now."""
        aims = [count + 2 for count in self.lists]
        until(lambda: all(count >= aim for count, aim in zip(self.lists, aims, strict=True)))


def test_a_server_that_is_behind_hides_no_key_from_those_who_watch_there(group, stores):
    writer, *readers = stores(7)
    acknowledged = {}
    writer.put("jobs/first", b"")
    acknowledged["first"] = None
    leader = _leader(writer)
    behind = (leader + 1) % 3
    _move(group, writer, off=behind)
    group.freeze(behind)
    for round_ in range(15):
        names = [f"{round_}-{number}" for number in range(100)]
        writer.put_many([(f"jobs/{name}", b"x" * 2000) for name in names])
        acknowledged.update(dict.fromkeys(names))
    with Readers(readers, acknowledged) as reading:
        reading.wait()
        group.kill(leader)
        group.thaw(behind)
        writer.put("jobs/last", b"", ABSENT)
        acknowledged["last"] = None
        reading.wait()
    assert not reading.missing and not reading.deleted, (len(reading.missing), reading.deleted[:3])


def test_nothing_acknowledged_is_lost_or_missing_in_a_list_when_the_leader_ends_under_writes(group, stores):
    *writers, one, two = stores(4)
    acknowledged, done = {}, threading.Event()

    def write(index):
        number = 0
        while not done.is_set():
            name = f"{index}-{number}"
            writers[index].put(f"jobs/{name}", b"%d" % number, ABSENT)  # an `Exists` would be a write that ran twice
            acknowledged[name] = b"%d" % number
            number += 1

    threads = [threading.Thread(target=write, args=(index,)) for index in range(len(writers))]
    for thread in threads:
        thread.start()
    with Readers([one, two], acknowledged) as reading:
        for end in (group.kill, group.stop):
            _grow(acknowledged)
            leader = _leader(one)
            end(leader)
            _grow(acknowledged)
            group.start(leader)
            reading.wait()
        done.set()
        for thread in threads:
            thread.join()
        reading.wait()
    assert not reading.missing and not reading.deleted, (len(reading.missing), reading.deleted[:3])
    assert {name: one.get(f"jobs/{name}").data for name in acknowledged} == acknowledged
    assert set(two.list("jobs")) == acknowledged.keys()


def _grow(acknowledged):
    aim = len(acknowledged) + 40
    until(lambda: len(acknowledged) > aim)


def test_writers_of_one_key_overtake_each_other_without_an_error(stores):
    opened = stores(3)

    def write(index):
        for number in range(60):
            opened[index].append("log", f"{index}-{number}\n".encode())
            opened[index].put("last", f"{index}-{number}".encode())

    run_concurrently(3, write)
    lines = opened[0].get("log").data.decode().splitlines()
    assert sorted(lines) == sorted(f"{index}-{number}" for index in range(3) for number in range(60))


def _without_pings(store):
    """So that only what this package does can find out that a server is silent."""
    store.connection.client.options["ping_interval"] = 3600


def test_a_write_to_a_frozen_server_goes_to_another_one(group, stores):
    (store,) = stores(1)
    _without_pings(store)
    store.put("a", b"1")
    frozen = _server_of(group, store)
    group.freeze(frozen)
    store.put("a", b"2")  # an error, if it stayed there
    assert _server_of(group, store) != frozen and store.get("a").data == b"2"


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("server", [_server_of, lambda group, store: _watched_server(store)], ids=["client", "watch"])
def test_a_watch_of_which_nothing_is_asked_leaves_a_frozen_server(group, stores, server):
    writer, reader = stores(2)
    _without_pings(reader)
    frozen = server(group, reader)
    _move(group, writer, off=frozen)
    with reader.watch("jobs") as watch:
        group.freeze(frozen)
        writer.put("jobs/a", b"1")
        until(lambda: reader.bucket.index.head("jobs/a").live, "the watch stays at a server that is silent")
        assert watch.read(0)


def test_what_an_earlier_leader_says_is_asked_for_again(stores, monkeypatch):
    """It was cut off from the others, and answers before it knows that they have another leader."""
    writer, reader = stores(2)
    subject = reader.bucket.subject("jobs/a")
    writer.put("jobs/a", b"pending")
    old = reader.run(reader.bucket.last(subject, path="jobs/a"))
    new = writer.put("jobs/a", b"running")
    until(lambda: (found := reader.stored("jobs/a")) is not None and found.revision == new)
    ask, answers = reader.connection.last_message, [old, None]

    async def answer(stream, of, **more):
        return answers.pop() if of == subject and answers else await ask(stream, of, **more)

    monkeypatch.setattr(reader.connection, "last_message", answer)
    assert reader.get("jobs/a").data == b"running" and not answers
    answers += [old] * 100
    monkeypatch.setattr("worldfs.plugins.nats_store.bucket.PATIENCE_S", 0.0)
    with pytest.raises(StorageError, match="was acknowledged"):
        reader.get("jobs/a")


def test_what_is_listed_under_a_lease_has_all_that_was_stored_before_it(stores, monkeypatch):
    """Also where the server that is asked how far the bucket is was its leader once."""
    (store,) = stores(1)

    async def nothing(*, stored=False):
        return 0

    with store.lease(KERNEL_LEASE, "next") as lease:
        taken = lease.seq
        monkeypatch.setattr(store.bucket, "_last_seq", nothing)
        store.bucket._seen = 0  # the watch is far behind
        store.list("jobs")
        assert store.bucket._seen >= taken


def test_a_lease_is_kept_though_the_leader_is_killed(group, stores):
    store, second = stores(2)
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    epoch = lease.epoch
    group.kill(_leader(second))
    before = lease.seq
    until(lambda: lease.lost or lease.seq > before)
    assert second.lease(KERNEL_LEASE).holder()["purpose"] == "first"
    store.put("a", b"1")
    lease.demand()
    assert lease.epoch == epoch
    lease.release()
    with second.lease(KERNEL_LEASE, "second") as next_one:
        assert next_one.epoch > epoch


def test_with_two_of_three_missing_a_write_is_refused_with_all_addresses_and_no_login(group, stores, monkeypatch):
    (store,) = stores(1)
    store.put("a", b"1")
    stays = _server_of(group, store)
    for index in {0, 1, 2} - {stays}:
        group.kill(index)
    monkeypatch.setattr(jetstream_connection, "PATIENCE_S", 3.0)
    with pytest.raises(StorageError) as refused:
        store.put("a", b"2")
    said = str(refused.value)
    assert all(server in said for server in group.servers) and "not answered for 3 s" in said, said
    assert TOKEN not in said and refused.value.fix
    monkeypatch.undo()
    for index in range(3):
        group.start(index)
    until(lambda: _writes(store))
    assert store.get("a").data == b"3" and store.list("") == ["a"]


def _writes(store):
    with suppress(StorageError):
        return store.put("a", b"3")


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("missing", ["kill", "freeze"])
def test_a_store_opens_while_the_first_of_its_servers_is_missing(group, stores, missing, monkeypatch):
    (before,) = stores(1)
    before.put("a", b"1")
    monkeypatch.setattr("nats.aio.client.shuffle", lambda servers: None)  # in the order of the address
    getattr(group, missing)(0)
    store = NatsStore(group.address())
    try:
        assert store.list("") == ["a"] and store.get("a").data == b"1"
        assert store.put("a", b"1") and _server_of(group, store) != 0
    finally:
        store.close()


def test_no_server_of_a_group_is_a_refusal_with_all_addresses(tmp_path, nats_server):
    group = ServerGroup(tmp_path)
    group.close()
    with pytest.raises(MissingRequirement) as refused:
        NatsStore(group.address())
    assert all(server in str(refused.value) for server in group.servers) and TOKEN not in str(refused.value)
