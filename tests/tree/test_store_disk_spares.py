"""Old files of replacements become the drafts of later ones: only what nobody else can see is ever written over."""

import os

import pytest

from worldfs.storage.disk_store import DiskStore
from worldfs.testing.faulty_disk import CountingDisk
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.one_thread import in_one_thread

GRACE = 1_000_000  # ns


def store_at(path):
    store = DiskStore(path, CountingDisk(), guarded={"a", "b"}, clock=ManualClock())
    store.aside.grace = GRACE
    return store


@pytest.fixture
def store(tmp_path):
    store = store_at(tmp_path)
    yield store
    store.close()


def put(store, key, data):
    store.put(key, data)
    store.clock.advance(2 * GRACE / 1e9)


def test_no_file_is_made_or_removed_while_old_ones_can_be_written_over(store):
    for turn in range(40):
        put(store, "a", b"%d" % turn * (1 + turn % 7))
        assert store.get("a").data == b"%d" % turn * (1 + turn % 7)
    removed = [path for name, path in store.disk.seen if name == "unlink"]
    assert removed == []
    store.close()
    for name in ("drafts", "displaced"):
        assert len(os.listdir(store.root.path + "/.paos/" + name)) <= 1  # the last one is too young to be looked at


def test_a_file_that_was_just_replaced_waits_until_its_grace_is_over(store):
    """A program may have found the old file and not opened it yet."""
    for turn in range(5):
        store.put("a", b"%d" % turn)
    assert len(store.aside.names()) == 4 and store.aside.settled_keys() == set()
    store.clock.advance(2 * GRACE / 1e9)
    assert store.aside.settled_keys() == {"a"}


def test_what_somebody_reads_or_has_another_name_for_is_never_written_over(store, tmp_path):
    readers, links = [], []
    for turn in range(40):
        put(store, "a", b"%d" % turn)
        if turn % 2:
            readers.append(((tmp_path / "a").open("rb"), b"%d" % turn))
        else:
            os.link(tmp_path / "a", tmp_path / f"copy{turn}")
            links.append((tmp_path / f"copy{turn}", b"%d" % turn))
    for reader, said in readers:
        assert reader.read() == said
        reader.close()
    assert [path.read_bytes() for path, _ in links] == [said for _, said in links]


def test_the_mode_of_what_is_replaced_is_kept(store, tmp_path):
    put(store, "a", b"0")
    put(store, "b", b"0")
    (tmp_path / "b").chmod(0o600)
    for turn in range(20):
        put(store, "ab"[turn % 2], b"%d" % turn)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


def test_a_forked_child_leaves_its_parents_old_files_alone(tmp_path):
    assert in_one_thread(written_by_parent_and_child, tmp_path) == (b"parent 19", b"child 19")


def written_by_parent_and_child(path):
    store = store_at(path)
    put(store, "b", b"0")
    for turn in range(20):
        put(store, "a", b"%d" % turn)
    child = os.fork()
    if child == 0:
        for turn in range(20):
            put(store, "b", b"child %d" % turn)
        os._exit(0)
    for turn in range(20):
        put(store, "a", b"parent %d" % turn)
    assert os.waitpid(child, 0)[1] == 0
    return store.get("a").data, store.get("b").data
