"""What the disk store refuses, and what it keeps when the disk or the process fails."""

import errno
import os
import socket

import pytest

from worldfs.base.disk import Disk
from worldfs.base.errors import BadInput, Conflict, NotPermitted, StorageError, Unsafe, WorldError
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.revision import of
from worldfs.storage.store_interface import ABSENT, ANY
from worldfs.testing.faulty_disk import CountingDisk, CrashingDisk, FailingDisk, SimulatedCrash
from worldfs.testing.one_thread import in_one_thread
from worldfs.testing.waiting import PATIENCE_S


def leftovers(root):
    """Temporaries and displaced files anywhere below a root."""
    found = []
    for folder, _, names in os.walk(root):
        inside = os.path.basename(folder) in ("drafts", "displaced")
        found += [os.path.join(folder, name) for name in names if inside or "paos-tmp" in name]
    return found


def accesses(store, key):
    return (
        lambda: store.get(key),
        lambda: store.probe(key),
        lambda: store.put(key, b"new"),
        lambda: store.put(key, b"new", ABSENT),
        lambda: store.put(key, b"new", of(b"secret")),
        lambda: store.put_many([(key, b"new")]),
        lambda: store.append(key, b"new"),
        lambda: store.delete(key),
        lambda: store.move(key, "taken"),
        lambda: store.list(key),
    )


@pytest.fixture
def outside(tmp_path):
    place = tmp_path / "outside"
    place.mkdir()
    (place / "secret").write_bytes(b"secret")
    return place


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "root"
    place.mkdir()
    return place


def test_a_link_to_a_file_outside_is_refused_and_the_file_untouched(root, outside):
    os.symlink(outside / "secret", root / "link")
    store = DiskStore(root)
    for access in accesses(store, "link"):
        with pytest.raises(WorldError) as refusal:
            access()
        assert isinstance(refusal.value, Unsafe), refusal.value
        assert refusal.value.path == "link"
    assert (outside / "secret").read_bytes() == b"secret"
    assert (root / "link").is_symlink()


def test_a_link_on_the_way_is_refused_and_named(root, outside):
    (root / "a").mkdir()
    os.symlink(outside, root / "a" / "out")
    store = DiskStore(root)
    for access in (*accesses(store, "a/out/secret"), lambda: store.list("a/out"), lambda: store.watch("a/out/secret")):
        with pytest.raises(Unsafe) as refusal:
            access()
        assert refusal.value.path.startswith("a/out")
    assert os.listdir(outside) == ["secret"]


def test_a_link_in_the_place_of_a_watched_file_stops_no_watch_and_is_heard_when_it_goes(root, outside):
    os.symlink(outside / "secret", root / "ACTION.md")
    store = DiskStore(root)
    with store.watch("ACTION.md", "ENVIRONMENT.md") as watch:
        with pytest.raises(Unsafe):
            store.get("ACTION.md")
        (root / "ACTION.md").unlink()
        (root / "ACTION.md").write_bytes(b"{}")
        assert ("ACTION.md", "put") in [(change.key, change.kind.value) for change in watch.read(PATIENCE_S)]


def test_a_directory_exchanged_for_a_link_later_is_refused(root, outside):
    store = DiskStore(root)
    store.put("a/b/x", b"1")
    os.rename(root / "a" / "b", root / "a" / "old")
    os.symlink(outside, root / "a" / "b")
    with pytest.raises(Unsafe):
        store.put("a/b/x", b"2")
    with pytest.raises(Unsafe):
        store.get("a/b/secret")
    assert os.listdir(outside) == ["secret"]


def test_a_directory_that_somebody_moved_or_made_anew_is_found_again(root):
    store = DiskStore(root)
    store.put("a/x", b"1")
    os.rename(root / "a", root / "b")
    assert store.get("a/x") is None
    store.put("a/x", b"2")
    assert (root / "a" / "x").read_bytes() == b"2"
    assert (root / "b" / "x").read_bytes() == b"1"


def test_odd_files_are_refused_without_blocking(root):
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        store = DiskStore(root)
        for key in ("fifo", "socket"):
            for access in accesses(store, key):
                with pytest.raises(BadInput):
                    access()


def test_the_store_keeps_its_own_files_for_itself(root):
    store = DiskStore(root)
    store.put("a", b"1")
    for key in (".paos/store.lock", ".paos/displaced/x", ".paos/drafts", ".paos/kernel.lock"):
        with pytest.raises(Unsafe):
            store.put(key, b"")
    store.put(".paos/jobs/one", b"1")
    assert store.list(".paos/jobs") == ["one"]


def test_opening_and_reading_write_nothing(root):
    (root / "ACTION.md").write_bytes(b"")
    store = DiskStore(root, guarded={"ACTION.md"})
    with store.watch("ACTION.md", "jobs"):
        store.get("ACTION.md")
        store.list("")
        assert store.displaced("ACTION.md") == ()
    assert os.listdir(root) == ["ACTION.md"]


def test_what_is_replaced_keeps_its_mode_and_private_things_stay_private(root):
    store = DiskStore(root)
    store.put("shared", b"1")
    os.chmod(root / "shared", 0o664)
    store.put("shared", b"2")
    assert (root / "shared").stat().st_mode & 0o777 == 0o664
    store.put("shared", b"3", of(b"2"))
    assert (root / "shared").stat().st_mode & 0o777 == 0o664


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("at", ["write", "fsync", "rename", "mkdir"])
def test_a_failing_disk_leaves_the_old_content_and_no_temporary(root, number, at):
    DiskStore(root).put("a", b"old")
    disk = FailingDisk(number, {at})
    store = DiskStore(root, disk, guarded={"g"})
    for act in (
        lambda: store.put("a", b"new"),
        lambda: store.put("a", b"new", of(b"old")),
        lambda: store.put("new/b", b"new", ABSENT),
        lambda: store.put_many([("x/1", b"1"), ("x/2", b"2")]),
    ):
        try:
            act()
        except (StorageError, NotPermitted) as error:
            assert error.fix
            assert (root / "a").read_bytes() == b"old"
            assert leftovers(root) == []
        else:
            assert at == "mkdir"  # nothing to make for a
            (root / "a").write_bytes(b"old")
    disk.broken = False
    store.put("a", b"new")
    assert (root / "a").read_bytes() == b"new"


def test_an_append_that_does_not_fit_is_taken_back(root):
    disk = FailingDisk(errno.ENOSPC, {"append"})
    disk.broken = False
    store = DiskStore(root, disk)
    store.append("log", b"one\n")
    disk.broken = True
    with pytest.raises(StorageError):
        store.append("log", b"two\n")
    assert (root / "log").read_bytes() == b"one\n"


def as_nobody(work):
    """Run `work` in a child without root's powers, of a process of one thread; its refusal or None."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            work()
        except BaseException as error:
            os.write(tell, f"{type(error).__name__} {error}".encode())
        os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    with os.fdopen(told) as answer:
        return answer.read()


def test_a_read_only_directory_is_a_refusal_with_a_way_out(root):
    in_one_thread(refused_in_a_read_only_directory, root)
    assert os.listdir(root) == ["a"]


def refused_in_a_read_only_directory(root):
    (root / "a").write_bytes(b"1")
    os.chmod(root, 0o555)
    store = DiskStore(root)
    for act in (lambda: store.put("a", b"2"), lambda: store.put("b/c", b"2", ABSENT), lambda: store.append("l", b"")):
        answer = as_nobody(act)
        assert answer.startswith("NotPermitted")
        assert "chmod" in answer
    assert as_nobody(lambda: store.get("a").data.decode("ascii")) == ""
    os.chmod(root, 0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_where_leases_are_not_ours_to_take_late_edits_are_kept_all_the_same(root):
    in_one_thread(keep_a_late_edit_without_a_lease, root)


def keep_a_late_edit_without_a_lease(root):
    (root / "ACTION.md").write_bytes(b"old")  # root's file in nobody's directory: no lease for nobody
    os.chown(root, 65534, 65534)
    os.chmod(root, 0o777)
    store = DiskStore(root, guarded={"ACTION.md"})
    warm = DiskStore(root.parent, guarded={"other"})  # what a write loads must be loaded: nobody may read those files
    for data in (b"1", b"2"):
        warm.put("other", data)
    warm.displaced("other")
    foreign = (root / "ACTION.md").open("ab", buffering=0)

    def work():
        store.put("ACTION.md", b"new")
        assert store.displaced("ACTION.md") == []
        foreign.write(b" late")
        foreign.close()
        assert store.displaced("ACTION.md") == [b"old late"]

    answer = as_nobody(work)
    assert answer == "", answer
    foreign.close()


def test_what_cannot_be_cleaned_up_does_not_fail_a_replacement(root):
    disk = FailingDisk(errno.EIO, {"unlink"})
    store = DiskStore(root, disk)
    store.put("a", b"1")
    store.put("a", b"2", of(b"1"))
    assert store.get("a").data == b"2"
    assert len(leftovers(root)) == 1
    disk.broken = False
    assert not store.displaced("a")
    assert leftovers(root) == []


def _change(store, what):
    if what == "replace":
        store.put("d/a", b"new" * 100)
    elif what == "swap":
        store.put("d/a", b"new" * 100, of(b"old"))
    elif what == "guarded":
        store.put("d/g", b"new" * 100, ANY)
    elif what == "create":
        store.put("d/e/f", b"new" * 100, ABSENT)
    elif what == "group":
        store.put_many([("d/e/f", b"new" * 100), ("d/h/f", b"new" * 100)])
    elif what == "delete":
        store.delete("d/a")
    elif what == "delete revision":
        store.delete("d/a", of(b"old"))
    else:
        store.move("d/a", "m/a")


def _world(root, disk=None):
    store = DiskStore(root, disk, guarded={"d/g"})
    store.aside.grace = 0
    return store


CHANGES = ["replace", "swap", "guarded", "create", "group", "delete", "delete revision", "move"]


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("what", CHANGES)
def test_a_crash_at_every_boundary_leaves_the_old_or_the_new(tmp_path, what, torn):
    for n in range(1, 100):
        root = tmp_path / str(n)
        root.mkdir()
        before = _world(root)
        before.put("d/a", b"old")
        before.put("d/g", b"old")
        before.close()
        store = _world(root, CrashingDisk(n, torn=torn))
        try:
            _change(store, what)
            break
        except SimulatedCrash:
            pass
        finally:
            store.close()
        after = _world(root)
        with after.watch("d") as watch:
            assert watch.read(0) == []
        for key in ("d/a", "d/g", "d/e/f", "d/h/f", "m/a"):
            found = after.get(key)
            assert found is None or found.data in (b"old", b"new" * 100)
        moved, stayed = after.get("m/a"), after.get("d/a")
        assert what.startswith("delete") or (moved is None) != (stayed is None)
        assert after.displaced("d/a") == after.displaced("d/g") == ()
        assert leftovers(root) == []
        _change_again(after, what)
        after.close()
    assert n > 2  # at least a rename and a sync


def _change_again(store, what):
    """A restart may do the same thing once more."""
    try:
        _change(store, what)
    except WorldError as error:
        assert what in ("swap", "delete", "delete revision", "move", "create"), error


@pytest.mark.parametrize("torn", [False, True])
def test_a_crash_while_appending_leaves_a_prefix(tmp_path, torn):
    for n in range(1, 10):
        root = tmp_path / str(n)
        root.mkdir()
        DiskStore(root).append("log", b"one\n")
        store = DiskStore(root, CrashingDisk(n, torn=torn))
        try:
            store.append("log", b"two\n")
            break
        except SimulatedCrash:
            pass
        found = DiskStore(root).get("log")
        assert b"one\ntwo\n".startswith(found.data)
        assert found.data.startswith(b"one\n")
    assert n == 4  # append, fsync, fsync of the directory: it is the first append of this store


def test_what_was_deleted_can_be_found_in_the_trash_which_stays_small(root):
    store = DiskStore(root)
    for turn in range(70):
        store.put("inbox/letter", b"%d" % turn)
        store.delete("inbox/letter")
    kept = sorted(os.listdir(root / ".paos" / "trash"))
    assert len(kept) == 64
    assert (root / ".paos" / "trash" / kept[-1]).read_bytes() == b"69"


def test_a_living_writers_temporaries_are_not_swept(root):
    class Watching(CountingDisk):
        def fsync(self, fd, path, *, data_only=False):
            if "drafts" in path:
                DiskStore(root).close()  # another process opens the same root in the middle of our put
            super().fsync(fd, path, data_only=data_only)

    store = DiskStore(root, Watching())
    store.put("a", b"1")
    store.put("a", b"2", of(b"1"))
    assert (root / "a").read_bytes() == b"2"


def test_a_full_rewrite_in_place_is_a_conflict(root):
    store = DiskStore(root)
    revision = store.put("a", b"1")
    (root / "a").write_bytes(b"foreign")
    with pytest.raises(Conflict):
        store.put("a", b"2", revision)
    assert (root / "a").read_bytes() == b"foreign"


def test_a_directory_that_was_removed_stays_away_after_a_power_cut(root):
    done = []
    store = DiskStore(root, Disk(lambda name, path: done.append((name, path))))
    store.put("a/b/one", b"1")
    store.delete("a/b/one")
    done.clear()
    store.rmdir("a/b")
    assert done == [("rmdir", "a/b"), ("fsync_dir", "a")]


def test_a_directory_that_was_made_is_there_after_a_power_cut(root):
    done = []
    store = DiskStore(root, Disk(lambda name, path: done.append((name, path))))
    store.mkdir("a/b")
    assert [name for name, _ in done].count("mkdir") == 2
    assert done[-1] == ("fsync_dir", "a") and ("fsync_dir", "") in done
