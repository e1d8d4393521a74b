"""A document is parsed again when the store has another revision of it, and then alone."""

import pytest

from worldfs.base.document_size import DOCUMENT_MOST
from worldfs.base.errors import BadInput
from worldfs.namespace.cached_document import CachedDocument
from worldfs.namespace.mounts.joined_mounts import JoinedMounts
from worldfs.namespace.mounts.workspace_mount import WorkspaceMount
from worldfs.namespace.namespace import Namespace
from worldfs.namespace.tree import Tree
from worldfs.runtime.job_store import JobStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.workspace_stores import WorkspaceStores
from worldfs.world.layout import home_table

PATH = "/projects/main/TASK.md"


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def parsed():
    return []


@pytest.fixture
def document(store, parsed):
    mount = WorkspaceMount("main", lambda: ["arm"], WorkspaceStores(store, {}), JobStore(store, ManualClock()))
    planner = Namespace(Tree(home_table(), JoinedMounts({"workspace": mount}), {}), "planner")
    return CachedDocument(planner, PATH, lambda data: parsed.append(data) or data.decode())


def test_a_text_that_cannot_be_read_is_refused_with_the_name_of_its_file(store, document):
    def broken(data):
        raise BadInput("unexpected end of file")

    store.put("TASK.md", b"{")
    document._parse = broken
    with pytest.raises(BadInput) as refused:
        document.get()
    assert refused.value.path == PATH


def test_it_is_parsed_once_for_each_revision(store, document, parsed):
    for text in (b"one", b"two"):
        store.put("TASK.md", text)
        assert (document.get(), document.get()) == (text.decode(), text.decode())
    store.put("TASK.md", b"two")
    assert document.get() == "two"
    assert parsed == [b"one", b"two"]


def test_a_file_that_goes_is_empty_and_one_that_comes_back_is_read(store, document, parsed):
    assert document.get() == ""
    store.put("TASK.md", b"one")
    assert document.get() == "one"
    store.delete("TASK.md")
    assert document.get() == ""
    assert parsed == [b"", b"one", b""]


def test_a_file_that_is_there_is_walked_to_once(store, document, monkeypatch):
    walked, walk = [], Namespace.walk
    monkeypatch.setattr(Namespace, "walk", lambda space, path: walked.append(path) or walk(space, path))
    for text in (b"one", b"two", b"three"):
        store.put("TASK.md", text)
        assert document.get() == text.decode()
    assert walked == [PATH]


@pytest.mark.parametrize("before", [b"one", None])
def test_a_change_is_applied_again_to_what_another_wrote_meanwhile(store, document, before):
    if before is not None:
        store.put("TASK.md", before)
    others = iter([b"theirs"])

    def edit(data):
        for other in others:
            store.put("TASK.md", other)
        return data + b"+ours"

    assert document.change(edit)
    assert store.get("TASK.md").data == b"theirs+ours"
    assert not document.change(lambda data: data)


def test_a_change_that_makes_it_too_large_to_be_read_again_is_refused_by_its_name(store, document):
    store.put("TASK.md", b"one")
    with pytest.raises(BadInput, match="at most 8,388,608") as refused:
        document.change(lambda data: b" " * (DOCUMENT_MOST + 1))
    assert refused.value.path == PATH and store.get("TASK.md").data == b"one"
