"""Durable bytes: the order of boundaries, create-only, modes, and that no path leaves its root."""

import errno
import fcntl
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from worldfs.base.durable import Disk, Root
from worldfs.base.errors import BadInput, Exists, NotFound, NotPermitted, StorageError, Unsafe
from worldfs.base.logfile import LogFile
from worldfs.base.syscalls import has_writer
from worldfs.testing.faulty_disk import CountingDisk, CrashingDisk, FailingDisk, SimulatedCrash
from worldfs.testing.waiting import PATIENCE_S, until


def boundaries(disk):
    return [f"{name} {path}" for name, path in disk.seen]


def test_a_replacement_is_written_synced_renamed_and_its_directory_synced_in_this_order(tmp_path):
    disk = CountingDisk()
    Root(tmp_path, disk).replace("a.md", b"1")
    names = [name for name, _ in disk.seen]
    assert names == ["create", "write", "fsync", "rename", "fsync_dir"]
    assert disk.seen[0][1].startswith(".a.md.paos-tmp-")
    assert disk.seen[3][1] == "a.md"
    assert disk.replaces == 1


def test_a_directory_is_durable_by_name_before_anything_lies_in_it(tmp_path):
    disk = CountingDisk()
    Root(tmp_path, disk).replace("a/b/c", b"1")
    assert [b for b in boundaries(disk) if "tmp" not in b] == [
        "mkdir a",
        "fsync_dir ",
        "mkdir a/b",
        "fsync_dir a",
        "rename a/b/c",
        "fsync_dir a/b",
    ]


def test_directories_that_others_made_are_made_durable_by_name_once(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    disk = CountingDisk()
    root = Root(tmp_path, disk)
    for data in (b"1", b"2"):
        root.replace("a/b/c", data)
        synced = [path for name, path in disk.seen if name == "fsync_dir"]
        disk.seen.clear()
        assert synced == (["a", "", "a/b"] if data == b"1" else ["a/b"])


def test_without_durability_the_content_is_synced_and_the_name_is_not(tmp_path):
    disk = CountingDisk()
    Root(tmp_path, disk).replace("a", b"1", durable=False)
    assert [name for name, _ in disk.seen] == ["create", "write", "fsync", "rename"]


def test_a_group_syncs_each_directory_once(tmp_path):
    disk = CountingDisk()
    root = Root(tmp_path, disk)
    places = [root.ensure_parent(f"jobs/{index}") for index in range(5)]
    disk.seen.clear()
    assert root.put_group([(place, b"1") for place in places]) == [True] * 5
    names = [name for name, _ in disk.seen]
    assert names == [*["create", "write"] * 5, *["fsync"] * 5, *["rename"] * 5, "fsync_dir"]
    assert disk.replaces == 5


@pytest.mark.parametrize("noreplace", [True, False])
def test_create_only_creates_once(tmp_path, noreplace):
    disk = Disk()
    disk.noreplace = noreplace
    root = Root(tmp_path, disk)
    root.create("a", b"1")
    with pytest.raises(Exists):
        root.create("a", b"2")
    place = root.locate("a")
    with pytest.raises(FileExistsError):
        root.put_at(place, b"3", None, "new")  # somebody made it after we looked
    assert root.read("a") == b"1"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("private", [True, False])
def test_private_files_are_for_their_owner_alone(tmp_path, private):
    old = os.umask(0o022)
    try:
        root = Root(tmp_path)
        root.replace("home/config.json", b"{}", private=private)
        root.replace("home/config.json", b"{ }", private=private)
        assert (tmp_path / "home" / "config.json").stat().st_mode & 0o777 == (0o600 if private else 0o644)
        assert (tmp_path / "home").stat().st_mode & 0o777 == (0o700 if private else 0o755)
    finally:
        os.umask(old)


def test_append_adds_and_syncs(tmp_path):
    disk = CountingDisk()
    root = Root(tmp_path, disk)
    root.append("log", b"1\n")
    root.append("log", b"2\n")
    assert root.read("log") == b"1\n2\n"
    assert boundaries(disk) == ["create log", "append log", "fsync log", "fsync_dir ", "append log", "fsync log"]


def test_the_name_of_a_file_that_somebody_else_made_is_made_durable_at_our_first_append(tmp_path):
    (tmp_path / "log").write_bytes(b"1\n")
    disk = CountingDisk()
    root = Root(tmp_path, disk)
    root.append("log", b"2\n")
    root.append("log", b"3\n")
    os.rename(tmp_path / "log", tmp_path / "old")
    (tmp_path / "log").write_bytes(b"another\n")
    root.append("log", b"4\n")
    first, later = ["append log", "fsync log", "fsync_dir "], ["append log", "fsync log"]
    assert boundaries(disk) == [*first, *later, *first]


def test_remove_is_durable_and_says_what_is_missing(tmp_path):
    disk = CountingDisk()
    root = Root(tmp_path, disk)
    root.replace("a", b"1")
    root.remove("a")
    assert boundaries(disk)[-2:] == ["unlink a", "fsync_dir "]
    for missing in ("a", "b/c"):
        with pytest.raises(NotFound):
            root.remove(missing)


def test_what_others_wrote_is_flushed_with_its_name(tmp_path):
    disk = CountingDisk()
    root = Root(tmp_path, disk)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/theirs").write_bytes(b"1")
    root.flush("a/theirs")
    assert boundaries(disk)[-2:] == ["fsync a/theirs", "fsync_dir a"]
    before = boundaries(disk)
    root.flush("a/nothing")
    assert boundaries(disk) == before


def test_to_wait_for_the_disk_is_to_ask_the_system(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "fsync", lambda fd: asked.append(("fsync", fd)))
    monkeypatch.setattr(os, "fdatasync", lambda fd: asked.append(("fdatasync", fd)))
    disk = Disk()
    disk.fsync(7, "a")
    disk.fsync(8, "a", data_only=True)
    disk.fsync_dir(9, "")
    assert asked == [("fsync", 7), ("fdatasync", 8), ("fsync", 9)]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "x\0", "link", "out/x"])
def test_no_path_leaves_the_root(tmp_path, path):
    (tmp_path / "root").mkdir()
    os.symlink("/etc/passwd", tmp_path / "root" / "link")
    os.symlink(tmp_path, tmp_path / "root" / "out")
    root = Root(tmp_path / "root")
    for act in (
        lambda: root.read(path),
        lambda: root.replace(path, b"1"),
        lambda: root.create(path, b"1"),
        lambda: root.append(path, b"1"),
    ):
        with pytest.raises(Unsafe):
            act()
    assert sorted(os.listdir(tmp_path)) == ["root"]


def test_the_directory_of_a_root_is_made_with_those_above_it_each_synced_in_its_parent(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(Disk, "fsync_dir", lambda disk, fd, path: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    assert Root.build(tmp_path / "a" / "b", 0o700)
    assert not Root.build(tmp_path / "a" / "b")
    assert synced == [str(tmp_path), str(tmp_path / "a")]
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BadInput):
        Root.build(tmp_path / "file" / "x")


def test_a_root_that_is_missing_or_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotFound):
        Root(tmp_path / "missing")
    with pytest.raises(BadInput):
        Root(tmp_path / "file")


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, StorageError), (errno.EROFS, NotPermitted)])
def test_a_failing_disk_is_a_clear_error_and_leaves_no_temporary(tmp_path, number, kind):
    (tmp_path / "a").write_bytes(b"old")
    root = Root(tmp_path, FailingDisk(number))
    with pytest.raises(kind) as error:
        root.replace("a", b"new")
    assert error.value.path == "a"
    assert error.value.fix
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_crash_leaves_its_torn_temporary_and_the_old_file(tmp_path):
    Root(tmp_path).replace("a", b"old")
    with pytest.raises(SimulatedCrash):
        Root(tmp_path, CrashingDisk(3, torn=True)).replace("a", b"new content")
    names = sorted(os.listdir(tmp_path))
    assert (tmp_path / names[0]).read_bytes() == b"new c"
    assert (tmp_path / "a").read_bytes() == b"old"


def test_what_a_crash_left_in_the_scratch_directory_is_swept_at_the_next_start(tmp_path):
    with pytest.raises(SimulatedCrash):
        Root(tmp_path, CrashingDisk(3), scratch="drafts").replace("a", b"1")
    assert os.listdir(tmp_path / "drafts") != []
    Root(tmp_path, scratch="drafts").sweep()
    assert os.listdir(tmp_path / "drafts") == []


def test_a_scratch_directory_that_somebody_removed_is_made_again(tmp_path):
    root = Root(tmp_path, scratch="kept/drafts")
    root.replace("a", b"1")
    (tmp_path / "kept" / "drafts").rmdir()
    root.replace("a", b"2")
    assert root.read("a") == b"2"


def test_whether_somebody_writes_can_be_asked(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    fd = os.open(tmp_path / "a", os.O_RDONLY)
    if has_writer(fd) is None:
        pytest.skip("this file system has no leases")
    with (tmp_path / "a").open("rb"):
        assert has_writer(fd) is False
    with (tmp_path / "a").open("ab"):
        assert has_writer(fd) is True
    assert has_writer(fd) is False
    os.close(fd)


def test_many_directories_need_few_descriptors(tmp_path):
    root = Root(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for index in range(400):
        root.replace(f"d{index}/x", b"1", durable=False)
    assert len(os.listdir("/proc/self/fd")) - before < 140
    root.close()
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="only Linux has leases")
@pytest.mark.parametrize(
    "add",
    [lambda root, log: root.append("a", b"2"), lambda root, log: (log.refresh(), log.append(b"2"))],
    ids=["once", "kept open"],
)
def test_an_append_waits_for_the_lease_of_a_watch_that_asks_for_writers(tmp_path, add):
    root = Root(tmp_path)
    root.append("a", b"1")
    log = LogFile(root, "a")
    fd = os.open(tmp_path / "a", os.O_RDONLY)
    fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)  # `has_writer`, between its two calls
    with ThreadPoolExecutor() as threads:
        added = threads.submit(add, root, log)
        until(lambda: fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_UNLCK)  # it is asked to give it back
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        added.result(PATIENCE_S)
    os.close(fd)
    log.close()
    assert (tmp_path / "a").read_bytes() == b"12"
