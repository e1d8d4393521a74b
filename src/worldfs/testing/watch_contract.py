"""What every store promises to those who watch it: no last change is missed."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput, Exists, NotFound
from worldfs.storage.store_interface import ABSENT, Store, StoreChangeKind, StoreWatch

from .race_contract import run_concurrently
from .value_contract import data_of
from .waiting import PATIENCE_S


def wait_for_change(watch: StoreWatch, key: str, *kinds: StoreChangeKind, patience: float = PATIENCE_S) -> bool:
    """Read the watch until it reports `key` (or a resync of something above it)."""
    wanted = kinds or tuple(StoreChangeKind)
    while changes := watch.read(patience):
        for change in changes:
            above = change.kind is StoreChangeKind.RESYNC and (not change.key or f"{key}/".startswith(f"{change.key}/"))
            if (change.key == key and change.kind in wanted) or (above and StoreChangeKind.RESYNC in wanted):
                return True
    return False


class WatchMirror:
    """A reader that rereads only what a watch reported."""

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
            if change.kind is StoreChangeKind.RESYNC:
                self.look_at_all()
            else:
                self.look_at(change.key)
        return len(changes)


_OPS = st.lists(
    st.tuples(
        st.sampled_from(("put", "delete", "move", "append", "create")),
        st.sampled_from(("a", "b", "c/d")),
        st.sampled_from(("a", "b", "e")),
    ),
    max_size=12,
)


class WatchContract:
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
                assert wait_for_change(watch, key, StoreChangeKind.PUT)
            store.move("jobs/one", "jobs/three")
            assert wait_for_change(watch, "jobs/three", StoreChangeKind.PUT)
            store.delete("ACTION.md")
            assert wait_for_change(watch, "ACTION.md", StoreChangeKind.DELETE)
            while watch.read(0):
                pass
            store.put("elsewhere/x", b"")
            store.put("jobs/two/deeper", b"")
            assert watch.read(0) == []

    def test_a_watch_of_what_does_not_exist_yet_hears_it_come(self, store: Store) -> None:
        with store.watch("robots/arm/jobs") as watch:
            store.put("robots/arm/jobs/one", b"1")
            assert wait_for_change(watch, "robots/arm/jobs/one")
            while watch.read(0):
                pass
            store.put("robots/arm/jobs/two", b"1")
            assert wait_for_change(watch, "robots/arm/jobs/two", StoreChangeKind.PUT)

    def test_a_directory_moved_away_and_back_is_heard(self, store: Store) -> None:
        store.put("a/b/one", b"1")
        with store.watch("a/b") as watch:
            store.move("a", "c")
            assert wait_for_change(watch, "a/b", StoreChangeKind.RESYNC)
            store.put("c/b/two", b"1")
            assert watch.read(0) == []
            store.move("c", "a")
            assert wait_for_change(watch, "a/b", StoreChangeKind.RESYNC)
            store.put("a/b/three", b"1")
            assert wait_for_change(watch, "a/b/three", StoreChangeKind.PUT)

    def test_waking_ends_a_blocked_read_and_the_next_one(self, store: Store) -> None:
        with store.watch("a") as watch:
            watch.wake()
            assert watch.read(PATIENCE_S) == []
            answers: list[Sequence[object]] = []
            reader = threading.Thread(target=lambda: answers.append(watch.read(None)))
            reader.start()
            watch.wake()
            reader.join(PATIENCE_S)
            assert answers == [[]]

    def test_a_watch_never_misses_a_final_value(self, store: Store) -> None:
        mirror = WatchMirror(store, "jobs")
        done = threading.Event()

        def write(index: int) -> None:
            for turn in range(40):
                store.put(f"jobs/{turn % 5}", b"%d %d" % (index, turn), durable=False)

        def read() -> None:
            while not done.is_set():
                mirror.follow(PATIENCE_S)
            while mirror.follow(0):
                pass

        reader = threading.Thread(target=read)
        reader.start()
        run_concurrently(2, write)
        done.set()
        mirror.watch.wake()
        reader.join()
        mirror.watch.close()
        assert mirror.files == {f"jobs/{n}": data_of(store, f"jobs/{n}") for n in range(5)}

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
        mirror = WatchMirror(store, "p")
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
