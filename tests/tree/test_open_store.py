"""Stores are opened in one place, by kind; a package may bring a kind."""

import ast
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import worldfs
from worldfs.base.errors import BadInput
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.foreign_edits import ForeignEdits
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.open_store import STORES, open_store
from worldfs.storage.plain_files import PlainFiles
from worldfs.storage.store_interface import Store
from worldfs.testing.store_contract import StoreContract

SOURCES = Path(worldfs.__file__).parent
OPENERS = {"DiskStore", "MemoryStore"}


def _opened(folder):
    """Where a class of store is called: relative path and line."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in OPENERS) else ():
            name = node.func if isinstance(node, ast.Call) else None
            if isinstance(name, ast.Name) and name.id in OPENERS:
                yield f"{path.relative_to(folder).as_posix()}:{node.lineno}"


def test_no_other_module_opens_a_store():
    assert [place for place in _opened(SOURCES) if not place.startswith("testing/")] == []


def test_the_search_for_openers_finds_one(tmp_path):
    (tmp_path / "one.py").write_text("from x import DiskStore\n\nstore = DiskStore('here')\n")
    assert list(_opened(tmp_path)) == ["one.py:3"]


def test_the_built_in_kinds(tmp_path):
    assert list(STORES)[:2] == ["disk", "memory"]
    with pytest.raises(BadInput, match="no kind of store 'tape'") as error:
        open_store("tape")
    assert "disk, memory" in error.value.expected
    assert type(open_store("memory")) is MemoryStore
    store = open_store("disk", tmp_path, guarded={"ACTION.md"})
    assert type(store) is DiskStore and "ACTION.md" in store.guarded
    store.close()


def test_only_the_disk_has_plain_files_that_other_programs_edit(tmp_path):
    with closing(open_store("disk", tmp_path)) as disk:
        assert isinstance(disk, ForeignEdits) and isinstance(disk, PlainFiles)
        assert disk.directory == str(tmp_path)
    memory = open_store("memory")
    assert not isinstance(memory, ForeignEdits) and not isinstance(memory, PlainFiles)
    ports = ForeignEdits.__abstractmethods__ | PlainFiles.__abstractmethods__
    assert [name for name in ports if hasattr(Store, name) or hasattr(memory, name)] == []


class TestStoreOfAPackage(StoreContract):
    """A kind that an installed package brings is opened by its name and keeps the contract."""

    @pytest.fixture
    def store(self, install):
        code = "from worldfs.storage.memory_store import MemoryStore\n\n\nclass Toy(MemoryStore):\n    pass\n"
        install("toy", {"worldfs.stores": {"toy": "toy_store:Toy"}}, toy_store=code)
        store = open_store("toy")
        assert type(store).__module__ == "toy_store"
        return store


def test_a_built_in_kind_loads_no_list_of_packages(tmp_path):
    code = (
        "import sys; from worldfs.storage.open_store import open_store\n"
        "open_store('disk', sys.argv[1]).close()\n"
        "print([name for name in ('importlib.metadata', 'worldfs.storage.memory_store') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
