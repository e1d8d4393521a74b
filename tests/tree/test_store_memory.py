"""The memory store keeps the contract."""

import pytest

from worldfs.testing.store_contract import StoreContract
from worldfs.tree.stores.memory_store import MemoryStore


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()
