"""One kernel per root."""

import json
import os
import signal
import subprocess
import sys

import pytest

from worldfs.base.errors import Busy
from worldfs.storage.directory_lease import directory_lease
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
    assert set(content) == {"pid", "host", "command", "started_at", "purpose"}


def test_a_lock_file_that_says_nonsense_does_not_matter(tmp_path):
    (tmp_path / ".paos").mkdir()
    (tmp_path / ".paos" / "kernel.lock").write_bytes(b"\x00garbage")
    assert directory_lease(tmp_path).holder() is None
    with RootLock(tmp_path, "up"):
        assert directory_lease(tmp_path).holder()["pid"] == os.getpid()
