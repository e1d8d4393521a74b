"""The Linux change feed: what it says of foreign programs, and that it never goes deaf."""

import os
import resource
import select
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from worldfs.base.syscalls import EXCHANGE, renameat2
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.store_interface import StoreChange, StoreChangeKind
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.watch_contract import WatchMirror, wait_for_change

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify")


@pytest.fixture
def store(tmp_path):
    (tmp_path / "jobs").mkdir()
    store = DiskStore(tmp_path)
    yield store
    store.close()


def test_a_file_being_written_is_reported_when_it_is_closed(store, tmp_path):
    with store.watch("jobs") as watch:
        with (tmp_path / "jobs" / "one").open("wb", buffering=0) as file:
            file.write(b"half")
            assert watch.read(0) == []
            file.write(b"whole")
            assert watch.read(0) == []
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]


def test_a_half_written_file_is_reported_once_its_writer_gave_up(store, tmp_path):
    with store.watch("jobs") as watch:
        (tmp_path / "jobs" / "one").write_bytes(b'{"half": ')
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]


def test_a_link_to_a_finished_file_is_reported(store, tmp_path):
    (tmp_path / "finished").write_bytes(b"1")
    with store.watch("jobs") as watch:
        os.link(tmp_path / "finished", tmp_path / "jobs" / "one")
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]
        os.symlink("/etc/passwd", tmp_path / "jobs" / "two")
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/two", StoreChangeKind.PUT)]


def test_changes_of_one_key_are_told_once(store):
    with store.watch("jobs") as watch:
        for turn in range(20):
            store.put("jobs/one", b"%d" % turn, durable=False)
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]
        assert watch.read(0) == []


def test_an_exchange_is_told_as_a_change_of_what_is_there(store):
    revision = store.put("jobs/one", b"1")
    with store.watch("jobs") as watch:
        store.put("jobs/one", b"2", revision)
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]


def test_our_own_temporaries_are_never_reported(store, tmp_path):
    with store.watch("jobs", "") as watch:
        store.put("jobs/one", b"1")
        store.put("jobs/one", b"2", store.get("jobs/one").revision)
        store.put("top", b"1")
        store.delete("top")
        seen = set()
        while changes := watch.read(0):
            seen |= {change.key for change in changes}
        assert seen == {"jobs/one", "top"}


def test_after_an_overflow_everything_is_looked_at_again(store, tmp_path):
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 50_000:
        pytest.skip(f"the event queue holds {limit} events here")
    mirror = WatchMirror(store, "jobs")
    with mirror.watch:
        names = [os.fsencode(tmp_path / "jobs" / str(index)) for index in range(2)]
        (tmp_path / "jobs" / "0").write_bytes(b"")
        for turn in range(limit // 2 + 10):
            os.rename(names[turn % 2], names[(turn + 1) % 2])  # two events each
        store.put("jobs/last", b"final")
        store.delete(f"jobs/{(limit // 2 + 10) % 2}")
        changes = []
        while more := mirror.watch.read(0):
            changes += more
        assert StoreChange("jobs", StoreChangeKind.RESYNC) in changes
        mirror.look_at_all()
        assert mirror.files == {"jobs/last": b"final"}
        store.put("jobs/next", b"1")
        assert wait_for_change(mirror.watch, "jobs/next", StoreChangeKind.PUT)


def test_a_directory_removed_and_made_again_by_others_is_heard(store, tmp_path):
    with store.watch("jobs") as watch:
        (tmp_path / "jobs").rmdir()
        assert wait_for_change(watch, "jobs", StoreChangeKind.RESYNC)
        (tmp_path / "jobs").mkdir()
        (tmp_path / "jobs" / "one").write_bytes(b"1")
        assert wait_for_change(watch, "jobs", StoreChangeKind.RESYNC)
        while watch.read(0):
            pass
        (tmp_path / "jobs" / "two").write_bytes(b"1")
        assert wait_for_change(watch, "jobs/two", StoreChangeKind.PUT)


def test_work_in_a_directory_above_what_is_watched_wakes_nobody(store, tmp_path):
    store.put("deep/er/one", b"2", store.put("deep/er/one", b"1"))  # the store has all of its own directories
    with store.watch("deep/er") as watch:
        (tmp_path / "draft").write_bytes(b"1")
        os.rename(tmp_path / "draft", tmp_path / "ACTION.md")
        assert not heard(watch)
        store.put("deep/er/two", b"1")
        assert watch.read(PATIENCE_S) == [StoreChange("deep/er/two", StoreChangeKind.PUT)]


def removed(root):
    shutil.rmtree(root / "deep")
    (root / "deep" / "er").mkdir(parents=True)


def moved_away(root):
    os.rename(root / "deep", root / "elsewhere")
    (root / "deep" / "er").mkdir(parents=True)


def exchanged(root):
    (root / "other" / "er").mkdir(parents=True)
    fd = os.open(root, os.O_RDONLY)
    renameat2(fd, "other", fd, "deep", EXCHANGE)
    os.close(fd)


def emptied_and_covered(root):
    (root / "other" / "er").mkdir(parents=True)
    os.rename(root / "deep" / "er", root / "elsewhere")
    os.rename(root / "other", root / "deep")


@pytest.mark.parametrize("lost", [removed, moved_away, exchanged, emptied_and_covered])
@pytest.mark.parametrize("read_between", [False, True])
def test_a_directory_above_that_is_lost_is_heard_and_the_next_one_too(store, tmp_path, lost, read_between):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    with store.watch("deep/er") as watch:
        for _ in range(2):
            lost(tmp_path)
            assert wait_for_change(watch, "deep/er", StoreChangeKind.RESYNC)
            while watch.read(0):
                pass
            (tmp_path / "deep" / "er" / "one").write_bytes(b"1")
            assert wait_for_change(watch, "deep/er/one", StoreChangeKind.PUT)
            for left in ("elsewhere", "other"):
                shutil.rmtree(tmp_path / left, ignore_errors=True)
            if read_between:
                while watch.read(0):
                    pass
            (tmp_path / "deep" / "er" / "one").unlink()


def test_the_root_itself_moved_away_is_a_resync(tmp_path):
    (tmp_path / "root" / "jobs").mkdir(parents=True)
    store = DiskStore(tmp_path / "root")
    with store.watch("jobs") as watch:
        os.rename(tmp_path / "root", tmp_path / "elsewhere")
        assert wait_for_change(watch, "jobs", StoreChangeKind.RESYNC)
        (tmp_path / "elsewhere" / "jobs" / "one").write_bytes(b"1")
        assert wait_for_change(watch, "jobs/one", StoreChangeKind.PUT)


def test_of_arrivals_an_append_and_a_move_away_wake_nobody(store):
    store.put("done/none", b"1")
    with store.watch("jobs", arrivals=("jobs",)) as watch:
        store.put_many([("jobs/one", b"1")])
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]
        store.append("jobs/one", b"2")
        store.move("jobs/one", "done/one")
        assert not heard(watch)
        store.put("jobs/two", b"2")
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/two", StoreChangeKind.PUT)]


def test_of_arrivals_a_file_written_in_place_is_reported_when_it_is_closed(store, tmp_path):
    with store.watch("jobs", arrivals=("jobs",)) as watch:
        with (tmp_path / "jobs" / "one").open("wb", buffering=0) as file:
            file.write(b"half")
            assert watch.read(0) == []
            file.write(b"whole")
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]


def test_of_arrivals_the_loss_of_the_directory_is_reported(store, tmp_path):
    with store.watch("jobs", arrivals=("jobs",)) as watch:
        shutil.rmtree(tmp_path / "jobs")
        assert wait_for_change(watch, "jobs", StoreChangeKind.RESYNC)
        store.put("jobs/one", b"1")
        assert wait_for_change(watch, "jobs", StoreChangeKind.RESYNC)
        store.put("jobs/two", b"2")
        assert wait_for_change(watch, "jobs/two", StoreChangeKind.PUT)


def test_a_watch_of_private_files_alone_is_not_woken_by_what_a_sheet_displaces(tmp_path):
    store = DiskStore(tmp_path, guarded={"ACTION.md"})
    for text in (b"0", b"1"):  # now all directories are there
        store.put("ACTION.md", text)
    store.put(".paos/stops/all", b"0")
    with store.watch(".paos/stops") as watch, store.watch("ACTION.md") as sheet:
        store.put("ACTION.md", b"2")
        assert heard(sheet) and not heard(watch)
        store.append(".paos/stops/all", b"1")
        assert watch.read(PATIENCE_S) == [StoreChange(".paos/stops/all", StoreChangeKind.PUT)]
    store.close()


def heard(watch):
    """Whether there are events: they are there when the call that makes them returns."""
    asked = select.poll()  # `select` takes no descriptor above 1023
    asked.register(watch._inotify.fileno(), select.POLLIN)
    return bool(asked.poll(0))


def test_closing_ends_a_blocked_read(store):
    watch = store.watch("jobs")
    answers = []
    reader = threading.Thread(target=lambda: answers.append(watch.read(None)))
    reader.start()
    watch.close()
    reader.join(PATIENCE_S)
    assert answers == [[]]
    assert watch.read(None) == []
    watch.wake()


def test_many_watches_of_one_store_hear_the_same(store):
    watches = [store.watch("jobs") for _ in range(5)]
    store.put("jobs/one", b"1")
    for watch in watches:
        with watch:
            assert wait_for_change(watch, "jobs/one", StoreChangeKind.PUT)


def test_no_more_instances_is_a_clear_error(tmp_path):
    script = (
        "import resource, sys\n"
        "from worldfs.storage.disk_store import DiskStore\n"
        "from worldfs.base.errors import StorageError\n"
        "import worldfs.storage.watch_linux, ctypes.util\n"
        "store = DiskStore(sys.argv[1])\n"
        "store.watch('a').close()\n"
        "import os\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(0), 100))\n"
        "try: store.watch('a')\n"
        "except StorageError as error: print(error)\n"
    )
    assert resource.getrlimit(resource.RLIMIT_NOFILE)
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "sysctl fs.inotify.max_user_instances" in told.stdout, told.stderr
