"""The disk store keeps the contract."""

import pytest

from worldfs.storage.disk_store import DiskStore
from worldfs.testing.store_contract import StoreContract


class TestDiskStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = DiskStore(tmp_path)
        yield store
        store.close()
