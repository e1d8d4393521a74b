"""Several processes on one disk store."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys

from worldfs.base.durable import Disk
from worldfs.storage.disk_store import DiskStore

COUNT = (
    "import sys\n"
    "from worldfs.testing.race_contract import add_one\n"
    "from worldfs.storage.disk_store import DiskStore\n"
    "store = DiskStore(sys.argv[1])\n"
    "for _ in range(int(sys.argv[2])): add_one(store, 'count')\n"
)
FLIP = (
    "import sys, itertools\n"
    "from worldfs.storage.disk_store import DiskStore\n"
    "store = DiskStore(sys.argv[1], guarded={'a'})\n"
    "print('going', flush=True)\n"
    "for turn in itertools.count(): store.put('a', (b'%d\\n' % turn) * 2000)\n"
)
READ = (
    "import sys\n"
    "from worldfs.storage.disk_store import DiskStore\n"
    "store = DiskStore(sys.argv[1])\n"
    "seen = set()\n"
    "for _ in range(5000):\n"
    "    lines = store.get('a').data.splitlines()\n"
    "    assert len(lines) == 2000 and len(set(lines)) == 1, len(lines)\n"
    "    seen.add(lines[0])\n"
    "print(len(seen))\n"
)


def start(script, *args, **more):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, args)], env=env, text=True, **more)


def test_no_update_is_lost_among_processes(tmp_path):
    workers = [start(COUNT, tmp_path, 40) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert DiskStore(tmp_path).get("count").data == b"120"


def test_names_change_only_under_the_lock_that_all_processes_share(tmp_path):
    refused = []

    def at(name, path):
        if name == "rename" and path == "a":
            with (tmp_path / ".paos" / "store.lock").open() as lock, contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            refused.append(path)

    store = DiskStore(tmp_path, Disk(at))
    store.put("b", b"1")
    store.put("a", b"1")
    store.put("a", b"2", store.get("a").revision)
    assert refused == ["a", "a"]


def test_a_reader_in_another_process_never_sees_half_a_value_and_a_killed_writer_leaves_a_whole_one(tmp_path):
    first = DiskStore(tmp_path)
    first.put("a", b"x\n" * 2000)
    first.close()
    writer = start(FLIP, tmp_path, stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == "going\n"
        told = start(READ, tmp_path, stdout=subprocess.PIPE).communicate()[0]
        assert int(told) > 1  # it did change meanwhile
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    store = DiskStore(tmp_path, guarded={"a"})
    lines = store.get("a").data.splitlines()
    assert len(lines) == 2000
    assert len(set(lines)) == 1
    assert store.displaced("a") in ([], ())
    store.aside.grace = 0
    store.put("a", b"")
    assert store.displaced("a") in ([], ())
    store.close()  # or it keeps what was replaced, to write it over
    for name in ("drafts", "displaced"):
        assert os.listdir(tmp_path / ".paos" / name) == []


def test_reading_starts_without_what_only_writing_needs(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    script = (
        "import sys; from worldfs.storage.disk_store import DiskStore\n"
        "assert DiskStore(sys.argv[1]).get('a').data == b'1'\n"
        "print({'ctypes', 'inotify_simple', 'numpy', 'msgspec'} & set(sys.modules))"
    )
    assert start(script, tmp_path, stdout=subprocess.PIPE).communicate()[0] == "set()\n"
