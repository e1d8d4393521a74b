"""What every store promises to many writers of one key at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from worldfs.base.errors import Conflict, Exists
from worldfs.storage.store_interface import ABSENT, ANY, Store

from .value_contract import data_of


def run_concurrently(count: int, work: Callable[[int], None]) -> None:
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
    """Count up by compare-and-swap, with retries."""
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


class RaceContract:
    def test_no_update_is_lost_among_many_writers(self, store: Store) -> None:
        def count(_: int) -> None:
            for _ in range(10):
                add_one(store, "count")

        run_concurrently(8, count)
        assert data_of(store, "count") == b"80"

    def test_a_race_to_create_has_one_winner(self, store: Store) -> None:
        for turn in range(10):
            won: list[int] = []

            def race(index: int, key: str = f"lease/{turn}", won: list[int] = won) -> None:
                try:
                    store.put(key, b"%d" % index, ABSENT)
                    won.append(index)
                except Exists:
                    pass

            run_concurrently(4, race)
            assert len(won) == 1
            assert data_of(store, f"lease/{turn}") == b"%d" % won[0]

    def test_a_reader_never_sees_half_a_value(self, store: Store) -> None:
        values = [bytes([65 + index]) * (1000 + 40_000 * index) for index in range(4)]
        store.put("a", values[0])
        done, seen = threading.Event(), set[bytes]()

        def read() -> None:
            while not done.is_set():
                seen.add(data_of(store, "a"))

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
