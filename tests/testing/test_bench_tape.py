"""The floor of `make bench`: what a kernel asked of the disk, written down and done again bare."""

import sys
from pathlib import Path

from worldfs.storage.disk_store import DiskStore

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from bench._tape import Replay, Tape  # after the path is set


def test_what_makes_a_directory_is_written_down_and_done_again_in_each_cycle(tmp_path):
    disk, place = Tape(), tmp_path / "taped"
    place.mkdir()
    store = DiskStore(place, disk)
    store.put("first", b"x")
    disk.taping = True
    store.put("new/deep/page", b"1234")
    steps = disk.take()
    assert [step.path for step in steps if step.call == "mkdir"] == ["new", "new/deep"]
    floor = Replay(tmp_path / "floor", [steps], 2)
    assert all(seconds > 0 for _ in range(2) for seconds in floor.seconds())
    floor.close()
    assert (tmp_path / "floor/new/deep/page.1").read_bytes() == b"xxxx"
