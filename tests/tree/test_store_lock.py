"""One kernel per root."""

import json
import os
import signal
import subprocess
import sys

import pytest

from worldfs.base.errors import Busy, StorageError
from worldfs.storage.directory_lease import directory_lease
from worldfs.storage.lease import KERNEL_LEASE, LEASE_LOST
from worldfs.storage.root_lock import RootLock

HOLD = (
    "import sys; from worldfs.storage.root_lock import RootLock\n"
    "lock = RootLock(sys.argv[1], 'up').acquire(); print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def other(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_the_second_is_refused_and_told_who_is_first(tmp_path, other):
    with pytest.raises(Busy) as refusal:
        RootLock(tmp_path, "up").acquire()
    known = directory_lease(tmp_path).holder()
    assert known["pid"] == other.pid
    for word in (str(other.pid), known["started_at"], known["host"], "RootLock"):
        assert word in str(refusal.value)
    assert f"kill {other.pid}" in refusal.value.fix


def test_a_killed_holder_holds_nothing(tmp_path, other):
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    assert directory_lease(tmp_path).holder() is None
    with RootLock(tmp_path, "up"):
        assert directory_lease(tmp_path).holder()["pid"] == os.getpid()


def test_two_in_one_process_exclude_each_other(tmp_path):
    with RootLock(tmp_path, "one") as first:
        with pytest.raises(Busy):
            RootLock(tmp_path, "two").acquire()
        assert directory_lease(tmp_path).holder()["purpose"] == "one"
        first.release()
        RootLock(tmp_path, "two").acquire().release()


def test_asking_takes_nothing(tmp_path):
    assert directory_lease(tmp_path).holder() is None
    assert os.listdir(tmp_path) == []
    lock = RootLock(tmp_path, "up").acquire()
    for _ in range(3):
        assert directory_lease(tmp_path).holder()["command"]
    lock.release()
    assert directory_lease(tmp_path).holder() is None


def test_what_the_lock_file_says_is_json_for_people_and_programs(tmp_path):
    with RootLock(tmp_path, "up"):
        content = json.loads((tmp_path / ".paos" / "kernel.lock").read_text())
    assert set(content) == {"pid", "host", "command", "started_at", "purpose", "root"}
    assert content["root"] == str(tmp_path)


def test_a_lock_file_that_says_nonsense_does_not_matter(tmp_path):
    (tmp_path / ".paos").mkdir()
    (tmp_path / ".paos" / "kernel.lock").write_bytes(b"\x00garbage")
    assert directory_lease(tmp_path).holder() is None
    with RootLock(tmp_path, "up"):
        assert directory_lease(tmp_path).holder()["pid"] == os.getpid()


# -- a path that leads elsewhere by now ----------------------------------------------------------------------------


@pytest.fixture
def held(tmp_path):
    (tmp_path / "place").mkdir()
    with RootLock(tmp_path / "place", "up") as lock:
        yield lock


def test_a_lease_is_kept_as_long_as_its_path_leads_to_it(tmp_path, held):
    place, descriptor = tmp_path / "place", held.descriptor
    held.keep()
    place.rename(tmp_path / "away")
    (tmp_path / "away").rename(place)
    held.keep()
    assert held.descriptor == descriptor


@pytest.mark.parametrize("there", ["nothing", "directory", "file", "link"])
def test_a_directory_that_was_replaced_is_no_longer_held(tmp_path, held, there):
    place = tmp_path / "place"
    place.rename(tmp_path / "away")
    if there == "directory":
        place.mkdir()
    elif there == "file":
        place.write_text("")
    elif there == "link":
        (tmp_path / "other").mkdir()
        place.symlink_to("other")
    with pytest.raises(StorageError, match=str(place)) as lost:
        held.keep()
    assert lost.value.code == LEASE_LOST and "paos up" in lost.value.fix


@pytest.mark.parametrize("how", ["removed", "replaced", "with its directory"])
def test_a_lease_whose_file_was_replaced_is_taken_again(tmp_path, held, how):
    file = tmp_path / "place" / KERNEL_LEASE
    if how == "replaced":
        (tmp_path / "other").write_text("{}")
        (tmp_path / "other").rename(file)
    elif how == "removed":
        file.unlink()
    else:
        file.unlink()
        file.parent.rmdir()
    assert directory_lease(tmp_path / "place").holder() is None
    held.keep()
    assert directory_lease(tmp_path / "place").holder()["pid"] == os.getpid()
    with pytest.raises(Busy):
        RootLock(tmp_path / "place", "up").acquire()
    held.release()
    assert directory_lease(tmp_path / "place").holder() is None


def test_a_lease_that_another_took_meanwhile_is_lost(tmp_path, held):
    (tmp_path / "place" / KERNEL_LEASE).unlink()
    with RootLock(tmp_path / "place", "up") as other:
        with pytest.raises(StorageError, match="already in use") as lost:
            held.keep()
        assert lost.value.code == LEASE_LOST
        other.keep()


def test_what_is_not_known_loses_no_lease(tmp_path, held, monkeypatch):
    def refuse(*more, **names):
        raise OSError(5, "input/output error")

    (tmp_path / "place" / KERNEL_LEASE).unlink()
    monkeypatch.setattr("worldfs.storage.root_lock._status", refuse)
    held.keep()
    monkeypatch.undo()
    monkeypatch.setattr("worldfs.base.durable.Root.lock_file", lambda self, path: refuse())
    held.keep()
    monkeypatch.setattr("worldfs.base.durable.Root.lock_file", lambda self, path: os.open("/nowhere/at/all", 0))
    held.keep()
    held.release()
    held.keep()
