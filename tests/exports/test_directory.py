"""No path leaves an export, ids follow their files, and a read-only one stays as it is."""

import errno
import itertools
import os
import threading
import time

import pytest

from worldfs.exports.below import Below
from worldfs.exports.directory import XATTR_MAX, Directory
from worldfs.exports.names import fit
from worldfs.exports.source import DIRECTORY, FILE, LINK
from worldfs.exports.trouble import FsError
from worldfs.testing.waiting import PATIENCE_S

OUTSIDE = b"not yours"


def number(call, *args):
    with pytest.raises((FsError, OSError)) as caught:
        call(*args)
    error = caught.value
    return error.number if isinstance(error, FsError) else error.errno


def look(source, *names):
    return source.walk(source.root, names)[-1]


def content(source, *names):
    file, _ = source.open(look(source, *names).id, True, False)
    try:
        return file.read(0, 1 << 20)[0]
    finally:
        file.close()


@pytest.mark.parametrize(
    "name",
    ["..", ".", "", "/", "a/b", "/etc/passwd", "a\0b", "a\nb", "\x1b[2J", "\x7f", "\x9b1m", "x" * 256, "é" * 128],
)
def test_a_name_that_is_no_plain_component_is_refused_by_every_operation(source, name):
    root = source.root
    calls = (
        (source.walk, root, [name]),
        (source.create, root, name, 0o644, True, True),
        (source.mkdir, root, name),
        (source.rmdir, root, name),
        (source.unlink, root, name),
        (source.symlink, root, name, "a.txt"),
        (source.rename, root, name, root, "new"),
        (source.rename, root, "a.txt", root, name),
    )
    assert [number(*call) for call in calls] == [errno.EINVAL] * len(calls)
    assert not fit(name)


def test_names_of_other_scripts_and_of_255_bytes_are_names(source):
    for name in ("文件.txt", "naïve café", "x" * 255, "a\u00a0b", "-rf", "~", "*"):
        source.mkdir(source.root, name)
        assert look(source, name).k == DIRECTORY


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../outside/secret.txt", "sub/../../outside/secret.txt", "..", "in/../.."]
)
def test_a_link_that_leads_outside_is_neither_made_nor_followed(source, work, target):
    assert number(source.symlink, source.root, "made", target) == errno.EACCES
    os.symlink(target, work / "found")
    assert number(source.walk, source.root, ["found"]) in (errno.EACCES, errno.ENOENT)
    assert dict(source.listing(source.root, ["found"])[0])["found"].k == LINK
    link = dict(source.listing(source.root, ["found"])[0])["found"].id
    assert number(source.open, link, True, False) in (errno.EACCES, errno.ENOENT)
    assert number(source.walk, link, ["secret.txt"]) in (errno.EACCES, errno.ENOENT, errno.ENOTDIR)


def test_a_link_that_stays_inside_is_the_file_that_it_leads_to(source, work):
    os.symlink("sub", work / "way")
    os.symlink("../a.txt", work / "sub" / "up")
    os.symlink("way/up", work / "far")
    assert look(source, "far").id == look(source, "a.txt").id == look(source, "way", "up").id
    assert look(source, "far").k == FILE
    assert content(source, "far") == b"file A\n"
    source.unlink(source.root, "far")
    assert content(source, "a.txt") == b"file A\n"


def test_a_link_to_the_export_itself_by_its_own_name_outside_is_refused(source, work):
    os.symlink(f"../{work.name}/a.txt", work / "round")
    os.symlink(str(work / "a.txt"), work / "whole")
    assert number(source.walk, source.root, ["round"]) == errno.EACCES
    assert number(source.walk, source.root, ["whole"]) == errno.EACCES


def test_links_in_a_circle_lead_nowhere(source, work):
    os.symlink("b", work / "a")
    os.symlink("a", work / "b")
    os.symlink("self/x", work / "self")
    assert number(source.walk, source.root, ["a"]) == errno.ENOENT
    assert number(source.walk, source.root, ["self"]) == errno.ENOENT


def test_a_directory_replaced_by_a_link_outside_is_no_longer_reached_by_its_id(source, work, tmp_path):
    sub = look(source, "sub").id
    file = look(source, "sub", "b.txt").id
    (work / "sub").rename(work / "kept")
    (work / "sub").symlink_to(tmp_path / "outside")
    assert number(source.walk, sub, ["secret.txt"]) == errno.ENOENT
    assert number(source.create, sub, "new", 0o644, True, True) == errno.ENOENT
    assert number(source.open, file, True, False) == errno.ENOENT
    assert os.listdir(tmp_path / "outside") == ["secret.txt"]
    look(source, "kept")  # seen again, its id works again
    assert source.walk(sub, ["b.txt"])[0].id == file


@pytest.mark.parametrize("whole", [True, False], ids=["openat2", "by component"])
def test_a_race_of_a_directory_and_a_link_never_reads_or_writes_outside(source, work, tmp_path, whole):
    source.below._whole = whole
    stop = threading.Event()
    (tmp_path / "outside" / "b.txt").write_bytes(OUTSIDE)
    (work / "link").symlink_to(tmp_path / "outside")

    def swap():
        while not stop.is_set():
            for old, new in (("sub", "hidden"), ("link", "sub"), ("sub", "link"), ("hidden", "sub")):
                os.rename(work / old, work / new)

    racer = threading.Thread(target=swap)
    racer.start()
    read = failed = 0
    try:
        until = time.monotonic() + PATIENCE_S
        for turn in itertools.count():
            if (turn > 1500 and read and failed) or time.monotonic() > until:
                break
            try:
                assert content(source, "sub", "b.txt") != OUTSIDE
                read += 1
                node = look(source, "sub").id
                if turn % 10 == 0:
                    source.create(node, f"n{turn}", 0o644, True, True)[1].close()
                source.truncate(look(source, "sub", "b.txt").id, 7)
            except (FsError, OSError):
                failed += 1
    finally:
        stop.set()
        racer.join()
    assert read
    assert failed
    assert sorted(os.listdir(tmp_path / "outside")) == ["b.txt", "secret.txt"]
    assert (tmp_path / "outside" / "b.txt").read_bytes() == OUTSIDE


def test_what_is_no_file_or_directory_is_not_there(source, work):
    os.mkfifo(work / "pipe")
    assert number(source.walk, source.root, ["pipe"]) == errno.ENOENT
    assert source.listing(source.root, ["pipe"])[0] == []


def test_an_id_follows_its_file_through_renames_of_it_and_of_directories_above(source):
    file = look(source, "sub", "b.txt").id
    sub = look(source, "sub").id
    source.rename(source.root, "sub", source.root, "moved")
    assert source.getattr(file).sz == 7
    source.rename(sub, "b.txt", source.root, "here.txt")
    assert source.getattr(file).id == file == look(source, "here.txt").id
    source.unlink(source.root, "here.txt")
    assert number(source.getattr, file) == errno.ENOENT


def test_an_id_never_names_what_has_taken_its_files_place(source, work):
    old = look(source, "a.txt").id
    (work / "new").write_bytes(b"another file")
    os.rename(work / "new", work / "a.txt")
    assert number(source.getattr, old) == errno.ENOENT
    assert content(source, "a.txt") == b"another file"


def test_a_file_of_two_names_keeps_its_id_when_one_goes(source, work):
    os.link(work / "a.txt", work / "sub" / "twin")
    id = look(source, "a.txt").id
    assert look(source, "sub", "twin").id == id
    source.unlink(look(source, "sub").id, "twin")
    assert source.getattr(id).n == 1


def test_the_table_of_ids_is_bounded_and_what_it_forgot_is_looked_up_again(work):
    for n in range(50):
        (work / f"f{n}").write_bytes(b"")
    source = Directory("work", str(work), limit=16)
    ids = [look(source, f"f{n}").id for n in range(50)]
    assert len(source.ids._recent) == 16
    assert number(source.getattr, ids[0]) == errno.ENOENT
    assert look(source, "f0").id == ids[0]
    assert source.getattr(ids[0]).k == FILE


def test_node_ids_hold_the_exports_number_and_the_inode(work):
    source = Directory("second", str(work), index=1)
    info = os.stat(work / "a.txt")
    assert source.root == (2 << 48) | os.stat(work).st_ino
    assert look(source, "a.txt").id == (2 << 48) | info.st_ino


def test_a_read_only_export_refuses_every_change_with_30(work):
    source = Directory("ro", str(work), ro=True)
    root, file = source.root, look(source, "a.txt").id
    calls = (
        (source.open, file, True, True),
        (source.create, root, "n", 0o644, True, True),
        (source.truncate, file, 0),
        (source.unlink, root, "a.txt"),
        (source.mkdir, root, "d"),
        (source.rmdir, root, "sub"),
        (source.symlink, root, "l", "a.txt"),
        (source.rename, root, "a.txt", root, "b"),
        (source.setxattr, file, "user.x", b"1", 0),
        (source.removexattr, file, "user.x"),
    )
    assert [number(*call) for call in calls] == [errno.EROFS] * len(calls)
    assert content(source, "a.txt") == b"file A\n"


def test_only_user_attributes_are_shown_and_kept(source, monkeypatch):
    file = look(source, "a.txt").id
    source.setxattr(file, "user.x", b"\0\1", 0)
    assert source.listxattr(file) == ["user.x"]
    assert source.getxattr(file, "user.x") == b"\0\1"
    assert number(source.setxattr, file, "security.capability", b"1", 0) == errno.EACCES
    assert number(source.setxattr, file, "trusted.x", b"1", 0) == errno.EACCES
    assert number(source.getxattr, file, "security.capability") == errno.ENODATA
    source.removexattr(file, "user.x")
    assert source.listxattr(file) == []
    for name in ("user.a\0b", "user." + "é" * 126):
        assert number(source.setxattr, file, name, b"1", 0) == errno.EINVAL
        assert number(source.getxattr, file, name) == errno.EINVAL
    asked = []
    monkeypatch.setattr(os, "setxattr", lambda *words: asked.append(words))  # file systems take less than we do
    assert number(source.setxattr, file, "user.x", b"1" * (XATTR_MAX + 1), 0) == errno.E2BIG and not asked
    source.setxattr(file, "user.x", b"1" * XATTR_MAX, 0)
    assert len(asked) == 1


def test_what_a_peer_creates_is_never_set_user_id(source, work):
    source.create(source.root, "n", 0o6777, True, True)[1].close()
    assert os.stat(work / "n").st_mode & 0o7000 == 0


def test_a_long_path_is_walked_by_component(source, work):
    node = source.root
    for n in range(12):
        source.mkdir(node, "d" * 200 + str(n))
        node = source.walk(node, ["d" * 200 + str(n)])[0].id
    source.create(node, "f", 0o644, True, True)[1].close()
    assert source.names(node) == ["f"]


def test_what_the_quick_way_says_of_a_path_is_not_asked_a_second_time(work, monkeypatch):
    below = Below(str(work))
    monkeypatch.setattr(below, "_by_component", lambda path, flags: pytest.fail(f"{path} was looked for again"))
    for _ in range(2):
        assert number(below.open, ("missing",), os.O_RDONLY) == errno.ENOENT


def test_a_component_walk_refuses_links_as_openat2_does(work, tmp_path):
    (work / "out").symlink_to(tmp_path / "outside")
    for whole in (True, False):
        below = Below(str(work))
        below._whole = whole
        for path in (("out", "secret.txt"), ("out",)):
            assert number(below.open, path, os.O_RDONLY) in (errno.ELOOP, errno.ENOTDIR)
