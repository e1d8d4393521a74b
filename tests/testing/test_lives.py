"""Every crash of everything that is durable, in short; and without what makes it durable, the same must fail."""

from __future__ import annotations

import pytest

from worldfs.testing.crashes import CrashCheckFailure
from worldfs.testing.workloads import WORKLOADS, load_workload
from worldfs.testing.workloads.crash_check import check_all_crashes, compare

SHARE = {
    "store": 0.15, "versions": 0.01, "jobs": 0.3, "kernel": 0.08, "calls": 0.08, "plane": 0.2, "journal": 0.03,
    "agent": 0.001, "claims": 0.15, "memory": 0.2,
}  # fmt: skip
"""Of the states, drawn from all moments alike; each of them is tried in `make proof`."""
NOT_USED = {("log", "fsync"), ("claims", "fsync"), ("node", "fdatasync")}


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", WORKLOADS)
def test_nothing_that_was_acknowledged_is_lost_by_a_crash(name: str) -> None:
    """A drawn share of the states; whether so few see a loss is what the next test shows."""
    tally = check_all_crashes(load_workload(name), lots=2, times=1, share=SHARE.get(name, 1.0))
    assert tally.states > 60


@pytest.mark.proof
@pytest.mark.parametrize("name", WORKLOADS)
def test_nothing_that_was_acknowledged_is_lost_by_any_crash(name: str) -> None:
    print(name, check_all_crashes(load_workload(name)))


@pytest.mark.slice(4)
@pytest.mark.parametrize("kind", ["fsync", "fdatasync", "fsync_dir"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_without_waiting_for_the_disk_something_is_lost(name: str, kind: str) -> None:
    """Proof that the proof can fail: the same search finds the loss as soon as one kind of sync does nothing."""
    if (name, kind) in NOT_USED:
        pytest.skip("this one never waits so")
    with pytest.raises(CrashCheckFailure):
        check_all_crashes(load_workload(name), lots=2, times=0, share=0.3, without=[kind])  # type: ignore[list-item]


def test_what_is_found_must_lie_between_what_was_acknowledged_and_what_was_under_way() -> None:
    old, new = {"log": (1, 2), "set": frozenset({1}), "a": 1}, {"log": (1, 2, 3, 4), "set": frozenset(), "a": 2}
    compare({"log": (1, 2, 3), "set": frozenset(), "a": 1}, (old, new))
    for wrong in ({"log": (1,)}, {"log": (1, 2, 4)}, {"set": frozenset({2})}, {"a": 3}, {"a": None}, {"b": 1}):
        with pytest.raises(AssertionError):
            compare({**new, **wrong}, (old, new))
