"""The change feed where there is no inotify."""

import pytest

from worldfs.storage.disk_store import DiskStore
from worldfs.storage.store_interface import StoreChangeKind
from worldfs.storage.watch_scan import ScanWatch
from worldfs.testing.store_contract import StoreContract
from worldfs.testing.watch_contract import wait_for_change


class Scanned(DiskStore):
    def watch(self, *prefixes):
        super().watch(*prefixes).close()  # for its refusals
        return ScanWatch(self, prefixes, interval=0.005)


@pytest.fixture
def store(tmp_path):
    store = Scanned(tmp_path)
    yield store
    store.close()


class TestScannedStore:
    @pytest.fixture
    def store(self, tmp_path):
        return Scanned(tmp_path)

    test_the_key_and_below = StoreContract.test_a_watch_hears_the_key_and_what_is_directly_below
    test_not_yet_there = StoreContract.test_a_watch_of_what_does_not_exist_yet_hears_it_come
    test_waking = StoreContract.test_waking_ends_a_blocked_read_and_the_next_one
    test_final_value = StoreContract.test_a_watch_never_misses_a_final_value


def test_a_late_writer_is_heard_by_looking(tmp_path):
    (tmp_path / "ACTION.md").write_bytes(b"old")
    store = Scanned(tmp_path, guarded={"ACTION.md"})
    with store.watch("ACTION.md") as watch, (tmp_path / "ACTION.md").open("ab") as foreign:
        store.put("ACTION.md", b"new")
        foreign.write(b" late")
        foreign.close()
        assert wait_for_change(watch, "ACTION.md", StoreChangeKind.DISPLACED)
    assert store.displaced("ACTION.md") == [b"old late"]
