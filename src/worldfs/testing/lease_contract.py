"""What every store promises of its leases: one holder of a name, freed by its release or its death."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import pytest

from worldfs.base.errors import Busy, Unsafe
from worldfs.storage.lease import Lease, busy
from worldfs.storage.store_interface import Store, StoreChangeKind

from .race_contract import run_concurrently
from .value_contract import OUTSIDE
from .watch_contract import wait_for_change


class LeaseContract:
    @pytest.fixture
    def dead_holder(self, store: Store) -> Callable[[str], None]:
        """Takes the lease of a name and dies with it. A store whose holders are processes overrides this."""

        def die(name: str) -> None:
            store.lease(name, "die").acquire()

        return die

    def test_of_two_claimers_of_a_lease_one_wins_and_the_other_is_told_of_it(self, store: Store) -> None:
        assert store.lease("turns/arm.lock").holder() is None
        with store.lease("turns/arm.lock", "first") as lease:
            with pytest.raises(Busy) as refusal:
                store.lease("turns/arm.lock", "second").acquire()
            holder = store.lease("turns/arm.lock").holder()
            assert holder is not None and set(holder) - {"root"} == {"pid", "host", "command", "started_at", "purpose"}
            assert (holder["pid"], holder["purpose"]) == (os.getpid(), "first")
            who = f"process {os.getpid()} on {holder['host']} since {holder['started_at']}: {holder['command']}"
            expected = busy(holder, path=refusal.value.path, purpose="second")
            assert str(refusal.value) == str(expected) and refusal.value.path
            assert expected.found == f"already in use by {who}"
            assert expected.fix == f"use that one, or stop it: kill {os.getpid()}"
            store.lease("turns/leg.lock", "another name").acquire().release()
            assert lease.holder() == holder
        assert store.lease("turns/arm.lock").holder() is None
        store.lease("turns/arm.lock", "second").acquire().release()

    def test_a_race_for_a_lease_has_one_winner(self, store: Store) -> None:
        for turn in range(10):
            won: list[Lease] = []

            def race(index: int, name: str = f"turns/{turn}", won: list[Lease] = won) -> None:
                with suppress(Busy):
                    won.append(store.lease(name, str(index)).acquire())

            run_concurrently(4, race)
            assert len(won) == 1
            won[0].release()

    def test_the_lease_of_a_dead_holder_is_free(self, store: Store, dead_holder: Callable[[str], None]) -> None:
        dead_holder("turns/arm.lock")
        assert store.lease("turns/arm.lock").holder() is None
        with store.lease("turns/arm.lock", "next") as lease:
            assert (lease.holder() or {})["purpose"] == "next"

    def test_only_its_holder_frees_a_lease(self, store: Store) -> None:
        with store.lease("a", "first"):
            store.lease("a", "second").release()
            assert (store.lease("a").holder() or {})["purpose"] == "first"

    def test_a_holder_can_add_to_what_its_lease_says(self, store: Store) -> None:
        with store.lease("a", "first") as lease:
            lease.note(job="act_001")
            assert (store.lease("a").holder() or {})["job"] == "act_001"
            found = store.get("a")
            assert found is not None and b"act_001" in found.data

    def test_a_watch_reports_that_a_lease_is_taken_and_that_it_is_free(self, store: Store) -> None:
        with store.watch("turns") as watch:
            lease = store.lease("turns/arm.lock", "first").acquire()
            assert wait_for_change(watch, "turns/arm.lock")
            while watch.read(0):
                pass
            lease.release()
            assert wait_for_change(watch, "turns/arm.lock", StoreChangeKind.PUT)
            assert store.list("turns") == ["arm.lock"]

    @pytest.mark.parametrize("name", OUTSIDE)
    def test_a_lease_outside_the_root_is_refused(self, store: Store, name: str) -> None:
        with pytest.raises(Unsafe):
            store.lease(name, "first").acquire()
