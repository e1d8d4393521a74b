"""One watch over several stores."""

import threading

import pytest

from worldfs.base.errors import StorageError
from worldfs.storage.joined_watch import JoinedWatch
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.store_interface import StoreChange, StoreChangeKind
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.tree.workspace_stores import WorkspaceStores, robot_key

PUT = StoreChangeKind.PUT


@pytest.fixture
def stores():
    return WorkspaceStores(MemoryStore(), {"arm": MemoryStore(), "dog": MemoryStore()})


def test_each_prefix_is_watched_in_its_own_store(stores):
    with stores.watch("jobs", "ACTION.md", robot_key("dog", "ACTION.md"), "@nobody/ACTION.md") as watch:
        stores.shared.put("jobs/a", b"")
        stores.shared.put("other", b"")
        stores.shared.put("@nobody/ACTION.md", b"")
        for store in stores.robots.values():
            store.put("ACTION.md", b"")
            store.put("jobs/b", b"")
        heard = {(change.key, change.kind) for change in watch.read(0.0) if change.kind is PUT}
        assert heard == {("jobs/a", PUT), ("@nobody/ACTION.md", PUT), ("@dog/ACTION.md", PUT)}
        assert watch.read(0.0) == []


def test_one_store_has_its_own_watch():
    store = MemoryStore()
    assert type(WorkspaceStores(store, {}).watch("a")) is type(store.watch("a"))


def test_a_waiting_read_hears_every_store_and_a_wake(stores):
    heard, done = [], threading.Event()
    with stores.watch("a", robot_key("arm", "a"), robot_key("dog", "a")) as watch:

        def follow():
            while not done.is_set():
                heard.extend(change.key for change in watch.read())

        reader = threading.Thread(target=follow, daemon=True)
        reader.start()
        for key, store in (("@arm/a", stores.robots["arm"]), ("a", stores.shared), ("@dog/a", stores.robots["dog"])):
            store.put("a", b"")
            until(lambda key=key: key in heard)
        done.set()
        watch.wake()
        reader.join(PATIENCE_S)
        assert not reader.is_alive()


def test_what_was_heard_between_two_reads_is_not_lost(stores):
    with stores.watch("a", robot_key("arm", "a")) as watch:
        watch.read(0.001)  # its threads listen from now on
        stores.robots["arm"].put("a", b"")
        heard = []
        until(lambda: heard.extend(watch.read(0.0)) or heard)
        assert heard == [StoreChange("@arm/a", PUT)]


def test_the_end_of_a_watch_ends_its_threads(stores):
    watch = stores.watch("a", robot_key("arm", "a"))
    watch.read(0.001)
    listener = next(thread for thread in threading.enumerate() if thread.name == "watch @arm/")
    watch.close()
    listener.join(PATIENCE_S)
    assert not listener.is_alive()


def test_the_reader_gets_the_failure_of_another_store(stores):
    class Broken(type(stores.shared.watch("a"))):
        def read(self, timeout=None):
            if timeout == 0.0:
                return []
            raise StorageError("the disk has gone", op="watch")

    broken = Broken(("a",), lambda watch: None)
    with JoinedWatch(stores.shared.watch("a"), {"@arm/": broken}) as watch, pytest.raises(StorageError, match="gone"):
        watch.read(PATIENCE_S)
        watch.read(PATIENCE_S)
