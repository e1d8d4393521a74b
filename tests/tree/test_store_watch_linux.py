"""The Linux change feed: what it says of foreign programs, and that it never goes deaf."""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from worldfs.base.syscalls import EXCHANGE, renameat2
from worldfs.storage import inotify_hub, watch_linux
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.inotify_hub import process_hub
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
        with process_hub()._lock:  # on a busy machine its thread would empty the queue while it is filled
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
    """Whether there are events for it: they are there when the call that makes them returns."""
    process_hub().hand_out()
    return bool(watch._watch._events.take(0)[0])


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


def test_all_watches_of_a_process_share_one_instance_and_have_no_descriptor_of_their_own(tmp_path):
    stores = [DiskStore(tmp_path / str(n)) for n in range(20) if (tmp_path / str(n)).mkdir() is None]
    stores[0].watch("jobs").close()
    for store in stores:
        store.put("jobs/none", b"0")
    before = open_files()
    watches = [store.watch("jobs", "ACTION.md") for store in stores for _ in range(5)]
    assert open_files() - before <= len(stores)  # a store may keep a directory open
    assert sum(os.readlink(f"/proc/self/fd/{fd}") == "anon_inode:inotify" for fd in open_fds()) == 1
    for n, store in enumerate(stores):
        store.put("jobs/one", b"%d" % n)
    for watch in watches:
        assert watch.read(PATIENCE_S) == [StoreChange("jobs/one", StoreChangeKind.PUT)]
        watch.close()
    for store in stores:
        store.close()


def open_fds():
    there = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            os.readlink(f"/proc/self/fd/{fd}")
            there.append(fd)
    return there


def open_files():
    return len(open_fds())


def test_a_watch_hears_only_what_it_asked_for_of_a_directory_that_another_one_watches(store):
    store.put("jobs/one", b"1")
    with store.watch("jobs") as wide, store.watch("jobs", arrivals=("jobs",)) as narrow:
        store.append("jobs/one", b"2")
        assert heard(wide) and not heard(narrow)
    with store.watch("jobs", arrivals=("jobs",)) as narrow:
        store.append("jobs/one", b"3")
        assert not heard(narrow)
        with store.watch("jobs") as wide:
            store.append("jobs/one", b"4")
            assert heard(wide) and not heard(narrow)
        store.put("jobs/two", b"1")
        assert narrow.read(PATIENCE_S) == [StoreChange("jobs/two", StoreChangeKind.PUT)]


def test_a_watch_that_is_closed_takes_nothing_from_the_others(store):
    store.put("jobs/one", b"1")
    first, second = store.watch("jobs"), store.watch("jobs")
    first.close()
    store.put("jobs/two", b"1")
    assert second.read(PATIENCE_S) == [StoreChange("jobs/two", StoreChangeKind.PUT)]
    second.close()
    with store.watch("jobs") as third:
        store.put("jobs/three", b"1")
        assert third.read(PATIENCE_S) == [StoreChange("jobs/three", StoreChangeKind.PUT)]


def test_a_watch_that_nobody_reads_keeps_a_bounded_number_of_events(store, monkeypatch):
    monkeypatch.setattr(inotify_hub, "PENDING_MOST", 100)
    with store.watch("jobs") as watch, store.watch("jobs") as other:
        for n in range(150):
            store.put(f"jobs/{n}", b"1", durable=False)
            process_hub().hand_out()
            other.read(0)
        assert StoreChange("jobs", StoreChangeKind.RESYNC) in watch.read(PATIENCE_S)


# -- no instance, or no watch, is left -----------------------------------------------------------------------------


class NoneLeft(OSError):
    def __init__(self, number):
        super().__init__(number, os.strerror(number))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSPC])
def test_without_an_instance_or_a_watch_changes_are_found_by_a_scan_and_it_says_why(store, monkeypatch, number):
    def refuse(*given):
        raise NoneLeft(number)

    monkeypatch.setattr(watch_linux, "process_hub", refuse)
    with store.watch("jobs") as watch:
        assert watch.limit.code == "INOTIFY_LIMIT" and "sysctl" in watch.limit.fix
        store.put("jobs/one", b"1")
        assert wait_for_change(watch, "jobs/one", StoreChangeKind.PUT)


def test_a_watch_that_meets_the_limit_later_goes_on_by_a_scan_and_looks_at_everything_once(
    store, tmp_path, monkeypatch
):
    with store.watch("jobs", "later/jobs") as watch:
        assert watch.limit is None

        def refuse(*given):
            raise NoneLeft(errno.ENOSPC)

        monkeypatch.setattr(inotify_hub.InotifyHub, "add", refuse)
        (tmp_path / "later").mkdir()
        found = watch.read(PATIENCE_S)
        assert {change.key for change in found} == {"jobs", "later/jobs"}
        assert watch.limit.code == "INOTIFY_LIMIT"
        store.put("later/jobs/one", b"1")
        assert wait_for_change(watch, "later/jobs/one", StoreChangeKind.PUT)
        reader = threading.Thread(target=watch.read)
        reader.start()
        watch.close()
        reader.join(PATIENCE_S)
        assert not reader.is_alive()


def test_where_the_user_may_have_no_instance_at_all_a_store_is_watched_all_the_same(tmp_path):
    """In a namespace of its own, so that no other program of this user is without."""
    script = (
        "import sys\n"
        "from worldfs.storage.disk_store import DiskStore\n"
        "store = DiskStore(sys.argv[1])\n"
        "with store.watch('jobs') as watch:\n"
        "    store.put('jobs/one', b'1')\n"
        "    print(watch.limit.code, watch.read(60.0)[0].key)\n"
    )
    limit = "/proc/sys/user/max_inotify_instances"
    shell = f'echo 0 > {limit} && exec "$0" -c "$1" "$2"'
    told = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", shell, sys.executable, script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if not told.stdout and ("unshare" in told.stderr or limit in told.stderr):
        pytest.skip(f"no namespace with a limit of its own here: {told.stderr.strip()}")
    assert told.stdout.split() == ["INOTIFY_LIMIT", "jobs/one"], told.stderr
