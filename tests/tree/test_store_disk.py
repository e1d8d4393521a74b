"""The disk store keeps the contract."""

import os
import signal
import subprocess
import sys

import pytest

from worldfs.storage.disk_store import DiskStore
from worldfs.testing.store_contract import StoreContract

HOLD = (
    "import sys; from worldfs.storage.open_store import open_store\n"
    "lease = open_store('disk', sys.argv[1]).lease(sys.argv[2], 'die').acquire()\n"
    "print('held', flush=True); sys.stdin.read()"
)


class TestDiskStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = DiskStore(tmp_path)
        yield store
        store.close()

    @pytest.fixture
    def dead_holder(self, store, tmp_path):
        """Another process: it is killed while it holds the lease."""

        def die(name):
            command = [sys.executable, "-c", HOLD, str(tmp_path), name]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout.readline() == "held\n"
                assert store.lease(name).holder()["pid"] == process.pid
                process.send_signal(signal.SIGKILL)

        return die


class Everything:
    def __contains__(self, key):
        return not key.startswith(".paos/")


class TestDiskStoreThatKeepsVersions(TestDiskStore):
    @pytest.fixture
    def store(self, tmp_path):
        store = DiskStore(tmp_path, versioned=Everything())
        yield store
        store.close()


def test_a_listing_of_what_is_present_costs_one_listing(tmp_path, monkeypatch):
    """Links, sockets and names that no key can have are left out; nothing is asked of the single files."""
    store = DiskStore(tmp_path)
    store.mkdir("many/below")
    for number in range(100):
        (tmp_path / f"many/{number:03}").touch()
    (tmp_path / "many/link").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "many/pipe")
    (tmp_path / "many/two\nlines").touch()
    store.present("many")
    asked, stat = [], os.stat
    monkeypatch.setattr(os, "stat", lambda *args, **options: asked.append(args) or stat(*args, **options))
    assert store.present("many") == [*(f"{number:03}" for number in range(100)), "below/"]
    assert len(asked) < 10
    assert all(store.is_directory(f"many/{name}") is None for name in ("link", "pipe", "two\nlines", "link/many"))
    store.close()
