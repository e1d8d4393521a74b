"""What every store must keep: inherit `StoreContract`, give it a `store` fixture."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.ground.errors import BadInput, Conflict, Exists, NotFound, Unsafe, WorldError
from worldfs.tree.stores.contract import ABSENT, ANY, ChangeKind, Store, Watch

from .waiting import PATIENCE_S

PATIENCE = PATIENCE_S  # after which a change that should have been heard is taken as lost

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


def hear(watch: Watch, key: str, *kinds: ChangeKind, patience: float = PATIENCE) -> bool:
    """Read the watch until it reports `key` (or a resync of something above it)."""
    wanted = kinds or tuple(ChangeKind)
    while changes := watch.read(patience):
        for change in changes:
            above = change.kind is ChangeKind.RESYNC and (not change.key or f"{key}/".startswith(f"{change.key}/"))
            if (change.key == key and change.kind in wanted) or (above and ChangeKind.RESYNC in wanted):
                return True
    return False


class Mirror:
    """A reader that knows only what a watch told it to look at."""

    def __init__(self, store: Store, prefix: str) -> None:
        self.store, self.prefix = store, prefix
        self.watch = store.watch(prefix)
        self.files: dict[str, bytes] = {}
        self.look_at_all()

    def look_at_all(self) -> None:
        self.files.clear()
        for name in self.store.list(self.prefix):
            if not name.endswith("/"):
                self.look_at(f"{self.prefix}/{name}")

    def look_at(self, key: str) -> None:
        try:
            found = self.store.get(key)
        except BadInput:  # a directory
            found = None
        if found is None:
            self.files.pop(key, None)
        else:
            self.files[key] = found.data

    def follow(self, timeout: float) -> int:
        changes = self.watch.read(timeout)
        for change in changes:
            if change.kind is ChangeKind.RESYNC:
                self.look_at_all()
            else:
                self.look_at(change.key)
        return len(changes)


def together(count: int, work: Callable[[int], None]) -> None:
    """Run `work(0)` … `work(count - 1)` at once; the first failure is raised here."""
    start, failures = threading.Barrier(count), list[BaseException]()

    def run(index: int) -> None:
        start.wait()
        try:
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def add_one(store: Store, key: str) -> None:
    """Count up by compare-and-swap, as often as it takes."""
    while True:
        found = store.get(key)
        try:
            if found is None:
                store.put(key, b"1", ABSENT)
            else:
                store.put(key, b"%d" % (int(found.data) + 1), found.revision)
            return
        except (Conflict, Exists):
            continue


_OPS = st.lists(
    st.tuples(
        st.sampled_from(("put", "delete", "move", "append", "create")),
        st.sampled_from(("a", "b", "c/d")),
        st.sampled_from(("a", "b", "e")),
    ),
    max_size=12,
)


class StoreContract:
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
        assert _data(store, "a") == b"first"

    def test_the_expected_revision_is_replaced(self, store: Store) -> None:
        revision = store.put("a", b"1")
        second = store.put("a", b"2", revision)
        assert _data(store, "a") == b"2"
        assert store.put("a", b"3", second)

    def test_another_revision_is_a_conflict_and_stays(self, store: Store) -> None:
        old = store.put("a", b"1")
        store.put("a", b"2")
        with pytest.raises(Conflict):
            store.put("a", b"3", old)
        assert _data(store, "a") == b"2"

    def test_a_revision_of_what_is_gone_is_a_conflict(self, store: Store) -> None:
        old = store.put("a", b"1")
        store.delete("a")
        with pytest.raises(Conflict):
            store.put("a", b"2", old)
        assert store.get("a") is None

    def test_any_replaces_whatever_is_there(self, store: Store) -> None:
        store.put("a", b"1", ANY)
        store.put("a", b"2", ANY, durable=False)
        assert _data(store, "a") == b"2"

    @pytest.mark.parametrize("size", [0, 1, 4096, 1 << 20])
    def test_every_size_comes_back_whole(self, store: Store, size: int) -> None:
        data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
        store.put("a", data)
        assert _data(store, "a") == data

    @pytest.mark.parametrize("key", AWKWARD)
    def test_awkward_names_are_names(self, store: Store, key: str) -> None:
        revision = store.put(key, b"1")
        store.put(key, b"2", revision)
        store.append(key, b"3")
        above, _, name = key.rpartition("/")
        assert name in store.list(above)
        assert _data(store, key) == b"23"
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
        assert _data(store, "a/b") == b"1"

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
        assert _data(store, "a") == b"2"
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
        assert _data(store, "done/2026/one/status.json") == b"2"
        store.move("done/2026/one/job.json", "kept.json")
        assert _data(store, "kept.json") == b"1"

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
        assert (_data(store, "a"), _data(store, "b"), _data(store, "d/x")) == (b"1", b"2", b"3")

    def test_append_adds_in_order_and_creates(self, store: Store) -> None:
        for index in range(5):
            store.append("log/journal.jsonl", b"%d\n" % index, durable=index % 2 == 0)
        assert _data(store, "log/journal.jsonl") == b"0\n1\n2\n3\n4\n"

    def test_a_group_is_created_in_order_and_existing_keys_are_left(self, store: Store) -> None:
        store.put("jobs/b/job.json", b"old")
        made = store.put_many((f"jobs/{name}/job.json", name.encode()) for name in "abca")
        assert [revision is not None for revision in made] == [True, False, True, False]
        assert made[0] == _revision(store, "jobs/a/job.json")
        assert _data(store, "jobs/b/job.json") == b"old"
        assert list(store.put_many(())) == []

    # -- many at once ------------------------------------------------------------------------------------------------

    def test_no_update_is_lost_among_many_writers(self, store: Store) -> None:
        def count(_: int) -> None:
            for _ in range(10):
                add_one(store, "count")

        together(8, count)
        assert _data(store, "count") == b"80"

    def test_a_race_to_create_has_one_winner(self, store: Store) -> None:
        for turn in range(10):
            won: list[int] = []

            def race(index: int, key: str = f"lease/{turn}", won: list[int] = won) -> None:
                try:
                    store.put(key, b"%d" % index, ABSENT)
                    won.append(index)
                except Exists:
                    pass

            together(4, race)
            assert len(won) == 1
            assert _data(store, f"lease/{turn}") == b"%d" % won[0]

    def test_a_reader_never_sees_half_a_value(self, store: Store) -> None:
        values = [bytes([65 + index]) * (1000 + 40_000 * index) for index in range(4)]
        store.put("a", values[0])
        done, seen = threading.Event(), set[bytes]()

        def read() -> None:
            while not done.is_set():
                seen.add(_data(store, "a"))

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        revision = store.put("a", values[0])
        for turn in range(60):
            revision = store.put("a", values[turn % 4], revision if turn % 2 else ANY)
        done.set()
        for reader in readers:
            reader.join()
        assert seen <= set(values)

    # -- watch -------------------------------------------------------------------------------------------------------

    def test_a_watch_hears_the_key_and_what_is_directly_below(self, store: Store) -> None:
        store.put("jobs/one", b"1")
        with store.watch("jobs", "ACTION.md") as watch:
            assert watch.read(0) == []
            for act, key in (
                (lambda: store.put("jobs/one", b"2"), "jobs/one"),
                (lambda: store.put("ACTION.md", b"2"), "ACTION.md"),
                (lambda: store.append("jobs/log", b"2"), "jobs/log"),
                (lambda: store.put("jobs/two/job.json", b"2"), "jobs/two"),
            ):
                act()
                assert hear(watch, key, ChangeKind.PUT)
            store.move("jobs/one", "jobs/three")
            assert hear(watch, "jobs/three", ChangeKind.PUT)
            store.delete("ACTION.md")
            assert hear(watch, "ACTION.md", ChangeKind.DELETE)
            while watch.read(0):
                pass
            store.put("elsewhere/x", b"")
            store.put("jobs/two/deeper", b"")
            assert watch.read(0) == []

    def test_a_watch_of_what_does_not_exist_yet_hears_it_come(self, store: Store) -> None:
        with store.watch("robots/arm/jobs") as watch:
            store.put("robots/arm/jobs/one", b"1")
            assert hear(watch, "robots/arm/jobs/one")
            while watch.read(0):
                pass
            store.put("robots/arm/jobs/two", b"1")
            assert hear(watch, "robots/arm/jobs/two", ChangeKind.PUT)

    def test_a_directory_moved_away_and_back_is_heard(self, store: Store) -> None:
        store.put("a/b/one", b"1")
        with store.watch("a/b") as watch:
            store.move("a", "c")
            assert hear(watch, "a/b", ChangeKind.RESYNC)
            store.put("c/b/two", b"1")
            assert watch.read(0) == []
            store.move("c", "a")
            assert hear(watch, "a/b", ChangeKind.RESYNC)
            store.put("a/b/three", b"1")
            assert hear(watch, "a/b/three", ChangeKind.PUT)

    def test_waking_ends_a_blocked_read_and_the_next_one(self, store: Store) -> None:
        with store.watch("a") as watch:
            watch.wake()
            assert watch.read(PATIENCE) == []
            answers: list[Sequence[object]] = []
            reader = threading.Thread(target=lambda: answers.append(watch.read(None)))
            reader.start()
            watch.wake()
            reader.join(PATIENCE)
            assert answers == [[]]

    def test_a_watch_never_misses_a_final_value(self, store: Store) -> None:
        mirror = Mirror(store, "jobs")
        done = threading.Event()

        def write(index: int) -> None:
            for turn in range(40):
                store.put(f"jobs/{turn % 5}", b"%d %d" % (index, turn), durable=False)

        def read() -> None:
            while not done.is_set() or mirror.follow(0):
                mirror.follow(PATIENCE)

        reader = threading.Thread(target=read)
        reader.start()
        together(2, write)
        done.set()
        mirror.watch.wake()
        reader.join()
        mirror.watch.close()
        assert mirror.files == {f"jobs/{n}": _data(store, f"jobs/{n}") for n in range(5)}

    @given(ops=_OPS, batch=st.integers(1, 4))
    @settings(
        max_examples=40,
        deadline=None,
        # one store for all examples is wanted, and each subclass is a run of its own
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    def test_whatever_happens_a_follower_ends_with_the_truth(
        self, store: Store, ops: list[tuple[str, str, str]], batch: int
    ) -> None:
        mirror = Mirror(store, "p")
        with mirror.watch:
            for turn, (op, one, two) in enumerate(ops):
                _do(store, op, f"p/{one}", f"p/{two}", b"%d" % turn)
                if turn % batch == 0:
                    mirror.follow(0)
            while mirror.follow(0):
                pass
            told = dict(mirror.files)
            mirror.look_at_all()
            assert told == mirror.files


def _data(store: Store, key: str) -> bytes:
    found = store.get(key)
    assert found is not None, key
    return found.data


def _revision(store: Store, key: str) -> str:
    found = store.get(key)
    assert found is not None, key
    return found.revision


def _do(store: Store, op: str, one: str, two: str, data: bytes) -> None:
    try:
        if op == "put":
            store.put(one, data, durable=False)
        elif op == "create":
            store.put(one, data, ABSENT, durable=False)
        elif op == "append":
            store.append(one, data, durable=False)
        elif op == "delete":
            store.delete(one)
        else:
            store.move(one, two, durable=False)
    except (Exists, NotFound, BadInput):
        pass


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
