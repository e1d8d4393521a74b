"""The power-cut lab sees what is not durable: without one kind of waiting, or under eatmydata, lives lose something."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from ctypes.util import find_library
from pathlib import Path

import pytest

from worldfs.testing import powercut
from worldfs.testing.crash_log import SYNCS, Recorder, Sync
from worldfs.testing.crashes import CrashCheckFailure
from worldfs.testing.powercut import cut_power, running_program
from worldfs.testing.workloads import WORKLOADS, load_workload

pytestmark = pytest.mark.proof
if why := powercut.missing():
    pytest.skip(why, allow_module_level=True)

STRONGER = {
    ("log", "fsync"), ("log", "fsync_dir"), ("plane", "fsync"), ("plane", "fsync_dir"), ("claims", "fsync_dir"),
    ("memory", "fsync_dir"),
}  # fmt: skip
"""Where ext4 keeps more than it promises: fdatasync commits the names that are under way, and these lives end each step
with one. The search over what a disk may do finds each of them (`test_lives`)."""
NOT_USED = {("claims", "fsync"), ("node", "fdatasync")}


@pytest.mark.parametrize("sync", SYNCS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_power_cut_finds_every_kind_of_sync_that_is_left_out(name: str, sync: Sync) -> None:
    if (name, sync) in STRONGER:
        pytest.skip("ext4 keeps this by itself")
    if (name, sync) in NOT_USED:
        pytest.skip("this one never waits so")
    one = load_workload(name)
    with pytest.raises(CrashCheckFailure) as lost:
        cut_power(one, lambda path: one.run(path, Recorder(path, without={sync})))
    print(f"{name} without {sync}: {told(lost.value)}")


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_power_cut_under_eatmydata_loses_what_was_acknowledged(name: str) -> None:
    library = find_library("eatmydata")
    if library is None:
        pytest.skip("eatmydata is not installed (Debian: apt-get install eatmydata)")
    with pytest.raises(CrashCheckFailure) as lost:
        cut_power(load_workload(name), lambda path: in_a_process(name, path, LD_PRELOAD=library), lots=0)
    print(f"{name}: {told(lost.value)}")


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_process_of_its_own_loses_nothing(name: str) -> None:
    """As under eatmydata, but without it: what is found there is eatmydata's doing."""
    print(f"{name}: {cut_power(load_workload(name), lambda path: in_a_process(name, path), lots=0)}")


def in_a_process(name: str, path: Path, **more: str) -> Iterator[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}
    return running_program([sys.executable, "-m", "worldfs.testing.workloads", name, str(path), "hold"], environ)


def told(lost: CrashCheckFailure) -> str:
    """What was lost, shortly, and where the power was cut."""
    first, *_, last = str(lost).splitlines()
    return f"{first[:120]}; {last}"
