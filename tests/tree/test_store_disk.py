"""The disk store keeps the contract."""

import pytest

from worldfs.testing.store_contract import StoreContract
from worldfs.tree.stores.disk_store import DiskStore


class TestDiskStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = DiskStore(tmp_path)
        yield store
        store.close()
