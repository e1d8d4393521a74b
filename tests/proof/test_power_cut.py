"""The power goes after every write that reached the disk of a real file system: what was acknowledged is there."""

from __future__ import annotations

import pytest

from worldfs.testing import powercut
from worldfs.testing.powercut import FILE_SYSTEMS, cut_power
from worldfs.testing.workloads import WORKLOADS, load_workload

pytestmark = pytest.mark.proof
if why := powercut.missing():
    pytest.skip(why, allow_module_level=True)

LOTS = {"ext4": 3, "xfs": 1, "btrfs": 1}
"""Of each of some 6,500 writes; ten disks a second are tried, so that all of them take three quarters of an hour."""


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_power_cut_after_any_write_loses_nothing(name: str, kind: str) -> None:
    if why := powercut.missing(kind):
        pytest.skip(why)
    print(f"{name} on {kind}: {cut_power(load_workload(name), kind=kind, lots=LOTS[kind])}")
