"""The power-cut lab itself: two at once, and the end of one whose check fails."""

import os
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from worldfs.testing import powercut
from worldfs.testing.crash_log import Recorder
from worldfs.testing.crashes import CrashCheckFailure
from worldfs.testing.workloads import load_workload

if why := powercut.missing():
    pytest.skip(why, allow_module_level=True)

LAB = "from worldfs.testing import powercut, workloads; print(powercut.cut_power(workloads.load_workload('node')))"


@pytest.mark.proof
def test_two_labs_at_once_are_not_in_each_others_way() -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    labs = [subprocess.Popen([sys.executable, "-c", LAB], env=environ, stderr=subprocess.PIPE) for _ in range(2)]
    assert [(lab.communicate(timeout=300)[1], lab.returncode) for lab in labs] == [(b"", 0)] * 2


def test_a_lab_waits_for_its_own_file_to_leave_a_device_and_for_no_other(tmp_path: Path) -> None:
    """A device that was let go of may show the file of another lab at once."""
    one, two = tmp_path / "one", tmp_path / "two"
    for image in (one, two):
        image.write_bytes(bytes(1 << 20))
    with powercut._loop(one) as device:
        assert powercut._shows(device, one) and not powercut._shows(device, two)
    assert not powercut._shows(device, one)


def test_a_disk_that_another_mount_namespace_keeps_is_not_taken_for_the_next(tmp_path: Path, monkeypatch: Any) -> None:
    """Its next mount would show what that one remembers: a loss that was none."""
    system, image, place = powercut.FILE_SYSTEMS["ext4"], tmp_path / "image", tmp_path / "place"
    place.mkdir()
    image.write_bytes(bytes(16 << 20))
    monkeypatch.setattr(powercut, "_until", partial(powercut._until, seconds=0.1))
    with powercut._loop(image) as device:
        subprocess.run([*system.make, device], check=True, capture_output=True)
        refused = pytest.raises(OSError, match="another mount namespace")
        with ExitStack() as elsewhere, refused, powercut._mounted(device, place, system):
            words = ["unshare", "--mount", "sh", "-c", "echo; exec sleep 600"]
            keeper = elsewhere.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE))
            elsewhere.callback(keeper.kill)
            keeper.stdout.readline()
        with powercut._mounted(device, place, system):
            pass


@pytest.mark.parametrize("name", ["node"])
def test_a_check_that_fails_lets_go_of_its_disk(name: str) -> None:
    """A file system with open files cannot be unmounted."""
    life = load_workload(name)
    with pytest.raises(CrashCheckFailure):
        powercut.cut_power(life, lambda path: life.run(path, Recorder(path, without={"fsync"})))
