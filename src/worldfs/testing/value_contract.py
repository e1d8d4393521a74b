"""What every store promises of its keys: values, revisions, compare-and-swap, names, directories, append."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from worldfs.base.errors import BadInput, Conflict, Exists, NotFound, Unsafe, WorldError
from worldfs.storage.store_interface import ABSENT, ANY, Store

AWKWARD = (
    "with space",
    " leading and trailing ",
    "中文/环境.md",
    "全角　空格",
    "mount::src",
    "quo'te\"s",
    "-dash",
    "a" * 200,
    "深" * 85,
    "%2F",
    "=x",
    "~y",
    "+plus",
    ".hidden",
    "two..dots",
    "back\\slash",
    "*?[glob]",
    "deep/er/and/deeper/still",
)

OUTSIDE = ("..", "../x", "a/../../x", "/etc/passwd", "", ".", "./x", "a/.", "x\0y")
MEANINGLESS = ("a//b", "a/", "line\nbreak", "tab\there", "bell\x07", "x" * 256, "深" * 86)


def data_of(store: Store, key: str) -> bytes:
    """The content of a key that must be there."""
    found = store.get(key)
    assert found is not None, key
    return found.data


class ValueContract:
    # -- get and put ---------------------------------------------------------------------------------------------

    def test_nothing_is_there_at_first(self, store: Store) -> None:
        assert store.get("a") is None
        assert store.get("no/such/place") is None
        assert store.probe("a") is None
        assert list(store.list("")) == []
        assert list(store.list("no/such")) == []

    def test_what_is_put_can_be_read_with_the_revision_that_put_gave(self, store: Store) -> None:
        revision = store.put("a/b", b"text")
        found = store.get("a/b")
        assert found is not None
        assert (found.data, found.revision) == (b"text", revision)

    def test_another_content_is_another_revision(self, store: Store) -> None:
        assert store.put("a", b"1") != store.put("a", b"2")

    def test_create_only_creates_once(self, store: Store) -> None:
        store.put("a", b"first", ABSENT)
        with pytest.raises(Exists):
            store.put("a", b"second", ABSENT)
        assert data_of(store, "a") == b"first"

    def test_the_expected_revision_is_replaced(self, store: Store) -> None:
        revision = store.put("a", b"1")
        second = store.put("a", b"2", revision)
        assert data_of(store, "a") == b"2"
        assert store.put("a", b"3", second)

    def test_another_revision_is_a_conflict_and_stays(self, store: Store) -> None:
        old = store.put("a", b"1")
        store.put("a", b"2")
        with pytest.raises(Conflict):
            store.put("a", b"3", old)
        assert data_of(store, "a") == b"2"

    def test_a_revision_of_what_is_gone_is_a_conflict(self, store: Store) -> None:
        old = store.put("a", b"1")
        store.delete("a")
        with pytest.raises(Conflict):
            store.put("a", b"2", old)
        assert store.get("a") is None

    def test_any_replaces_whatever_is_there(self, store: Store) -> None:
        store.put("a", b"1", ANY)
        store.put("a", b"2", ANY, durable=False)
        assert data_of(store, "a") == b"2"

    @pytest.mark.parametrize("size", [0, 1, 4096, 1 << 20])
    def test_every_size_comes_back_whole(self, store: Store, size: int) -> None:
        data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
        store.put("a", data)
        assert data_of(store, "a") == data

    @pytest.mark.parametrize("key", AWKWARD)
    def test_awkward_names_are_names(self, store: Store, key: str) -> None:
        revision = store.put(key, b"1")
        store.put(key, b"2", revision)
        store.append(key, b"3")
        above, _, name = key.rpartition("/")
        assert name in store.list(above)
        assert data_of(store, key) == b"23"
        store.delete(key)
        assert store.get(key) is None

    @pytest.mark.parametrize("key", OUTSIDE)
    def test_a_key_that_leaves_the_root_is_refused(self, store: Store, key: str) -> None:
        for call in _calls(store, key):
            with pytest.raises(Unsafe):
                call()

    @pytest.mark.parametrize("key", MEANINGLESS)
    def test_a_key_that_is_no_name_is_refused(self, store: Store, key: str) -> None:
        for call in _calls(store, key):
            with pytest.raises(BadInput):
                call()

    def test_a_directory_is_no_file_and_a_file_no_directory(self, store: Store) -> None:
        store.put("a/b", b"1")
        for wrong in ("a", "a/b/c"):
            for call in _calls(store, wrong)[:4]:
                with pytest.raises(BadInput):
                    call()
        with pytest.raises(BadInput):
            store.list("a/b")
        assert data_of(store, "a/b") == b"1"

    # -- probe, list, delete, move, append -------------------------------------------------------------------------

    def test_probe_changes_with_the_content(self, store: Store) -> None:
        store.put("a", b"1")
        one = store.probe("a")
        assert one is not None
        assert store.probe("a") == one
        store.put("a", b"2")
        assert store.probe("a") != one

    def test_a_list_is_sorted_and_marks_directories(self, store: Store) -> None:
        for key in ("b", "a/x", "c/y/z", "B"):
            store.put(key, b"")
        assert list(store.list("")) == ["B", "a/", "b", "c/"]
        assert list(store.list("c")) == ["y/"]

    def test_a_name_leads_to_a_file_a_directory_or_nothing(self, store: Store) -> None:
        for key in ("b", "a/x"):
            store.put(key, b"")
        store.mkdir("a/empty")
        assert store.present("") == ["a/", "b"] and store.present("a") == ["empty/", "x"]
        kinds = {key: store.is_directory(key) for key in ("a", "a/empty", "b", "a/x", "c", "b/x", "a/../b")}
        assert kinds == {"a": True, "a/empty": True, "b": False, "a/x": False, "c": None, "b/x": None, "a/../b": None}

    def test_delete_removes_once(self, store: Store) -> None:
        store.put("a", b"1")
        store.delete("a")
        assert store.get("a") is None
        assert list(store.list("")) == []
        with pytest.raises(NotFound):
            store.delete("a")

    def test_delete_of_another_revision_is_a_conflict(self, store: Store) -> None:
        old = store.put("a", b"1")
        new = store.put("a", b"2")
        with pytest.raises(Conflict):
            store.delete("a", old)
        assert data_of(store, "a") == b"2"
        store.delete("a", new)
        assert store.get("a") is None

    def test_an_empty_directory_goes_and_a_full_one_stays(self, store: Store) -> None:
        store.put("a/b/c", b"1")
        for full in ("a", "a/b"):
            with pytest.raises(BadInput, match="not empty"):
                store.rmdir(full)
        store.delete("a/b/c")
        store.rmdir("a/b")
        store.rmdir("a")
        store.rmdir("a")  # it has gone already
        assert list(store.list("")) == []

    def test_a_directory_is_made_once_and_is_there_while_it_is_empty(self, store: Store) -> None:
        store.mkdir("a/b")
        assert list(store.list("a")) == ["b/"] and list(store.list("a/b")) == []
        store.put("f", b"1")
        for there in ("a/b", "a", "f"):
            with pytest.raises(Exists):
                store.mkdir(there)
        with pytest.raises(BadInput):
            store.mkdir("f/x")
        store.put("a/b/c", b"1")
        store.delete("a/b/c")
        store.rmdir("a/b")
        assert list(store.list("a")) == []

    def test_move_takes_a_file_or_all_below_a_prefix(self, store: Store) -> None:
        store.put("jobs/one/job.json", b"1")
        store.put("jobs/one/status.json", b"2")
        store.move("jobs/one", "done/2026/one")
        assert list(store.list("jobs")) == []
        assert data_of(store, "done/2026/one/status.json") == b"2"
        store.move("done/2026/one/job.json", "kept.json")
        assert data_of(store, "kept.json") == b"1"

    def test_move_never_replaces(self, store: Store) -> None:
        store.put("a", b"1")
        store.put("b", b"2")
        store.put("d/x", b"3")
        for source, target in (("a", "b"), ("a", "d"), ("d", "a")):
            with pytest.raises(Exists):
                store.move(source, target)
        with pytest.raises(NotFound):
            store.move("nothing", "c")
        with pytest.raises(WorldError):
            store.move("d", "d/inside")
        assert (data_of(store, "a"), data_of(store, "b"), data_of(store, "d/x")) == (b"1", b"2", b"3")

    def test_append_adds_in_order_and_creates(self, store: Store) -> None:
        for index in range(5):
            store.append("log/journal.jsonl", b"%d\n" % index, durable=index % 2 == 0)
        assert data_of(store, "log/journal.jsonl") == b"0\n1\n2\n3\n4\n"

    def test_a_group_is_created_in_order_and_existing_keys_are_left(self, store: Store) -> None:
        store.put("jobs/b/job.json", b"old")
        made = store.put_many((f"jobs/{name}/job.json", name.encode()) for name in "abca")
        assert [revision is not None for revision in made] == [True, False, True, False]
        assert made[0] == _revision(store, "jobs/a/job.json")
        assert data_of(store, "jobs/b/job.json") == b"old"
        assert list(store.put_many(())) == []


def _revision(store: Store, key: str) -> str:
    found = store.get(key)
    assert found is not None, key
    return found.revision


def _calls(store: Store, key: str) -> list[Callable[[], object]]:
    calls: list[Callable[[], object]] = [
        lambda: store.put(key, b""),
        lambda: store.put(key, b"", ABSENT),
        lambda: store.append(key, b""),
        lambda: store.get(key),
        lambda: store.put_many([(key, b"")]),
        lambda: store.delete(key),
        lambda: store.move(key, "x"),
        lambda: store.probe(key),
    ]
    if key:
        calls += [lambda: store.list(key), lambda: store.watch(key)]
    return calls
