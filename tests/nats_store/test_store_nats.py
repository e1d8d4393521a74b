"""The store on NATS keeps the contract."""

import asyncio
import signal
import subprocess
import sys

import pytest

from worldfs.testing.store_contract import StoreContract

HOLD = (
    "import sys; from worldfs.plugins.nats_store.nats_store import NatsStore\n"
    "from worldfs.plugins.nats_store.store_address import StoreAddress\n"
    "store = NatsStore(StoreAddress(sys.argv[1], sys.argv[2], token=sys.argv[3], ttl_s=2.0))\n"
    "lease = store.lease(sys.argv[4], 'die').acquire()\n"
    "print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def store(nats_address):
    from worldfs.plugins.nats_store.nats_store import NatsStore

    store = NatsStore(nats_address)
    yield store
    store.close()


class TestNatsStore(StoreContract):
    @pytest.fixture
    def dead_holder(self, store, nats_address):
        """Another process: it is killed while it holds the lease."""

        def die(name):
            where = nats_address
            command = [sys.executable, "-c", HOLD, where.servers, where.bucket, where.token, name]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout.readline() == "held\n"
                assert store.lease(name).holder()["pid"] == process.pid
                process.send_signal(signal.SIGKILL)

        return die


def test_an_append_to_a_file_that_another_store_makes_meanwhile_keeps_what_stands_there(
    store, nats_address, monkeypatch
):
    from worldfs.plugins.nats_store.bucket_writer import BucketWriter
    from worldfs.plugins.nats_store.nats_store import NatsStore

    other, read = NatsStore(nats_address), BucketWriter.read
    writers = []

    async def read_and_be_overtaken(writer, key):
        found = await read(writer, key)
        if not writers:
            writers.append(writer)
            await asyncio.to_thread(other.append, "log", b"theirs\n")
        return found

    monkeypatch.setattr(BucketWriter, "read", read_and_be_overtaken)
    store.append("log", b"ours\n")
    assert store.get("log").data == b"theirs\nours\n"
    other.close()


@pytest.mark.parametrize("grows", [False, True])
def test_a_file_that_another_store_changes_while_it_is_moved_is_not_lost(store, nats_address, monkeypatch, grows):
    """It has seen the file at its target and removed the source, as a kernel does with an ended job; or has added."""
    from worldfs.plugins.nats_store.bucket_writer import BucketWriter
    from worldfs.plugins.nats_store.nats_store import NatsStore

    other, tombstone, overtaken = NatsStore(nats_address), BucketWriter._tombstone, []

    async def be_overtaken(writer, key, old):
        if key == "jobs/a" and not overtaken:
            overtaken.append(writer)
            await (asyncio.to_thread(other.append, key, b"2") if grows else asyncio.to_thread(other.delete, key))
        await tombstone(writer, key, old)

    other.put("jobs/a", b"1")
    monkeypatch.setattr(BucketWriter, "_tombstone", be_overtaken)
    store.move("jobs/a", "done/a")
    assert store.get("done/a").data == (b"12" if grows else b"1") and store.get("jobs/a") is None and overtaken
    other.close()
