"""The memory store keeps the contract."""

import pytest

from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()
