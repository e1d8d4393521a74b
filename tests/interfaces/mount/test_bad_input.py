"""What programs should not do, on the mount and on tmpfs: the errno is the same, nothing is torn, nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import unicodedata
from contextlib import contextmanager
from pathlib import Path

import pytest

from worldfs.base.syscalls import EXCHANGE, renameat2
from worldfs.interfaces.cli.main import main

from .mounted import mounting

TARGETS = "projects/main/TARGETS.md"
ARTIFACTS = "projects/main/artifacts"
SMALL = 8 << 20
LONG = "n" * 255
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a tmpfs")


@contextmanager
def small_disk(place):
    """A tmpfs of some MiB."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(scope="module")
def disk(tmp_path_factory, fuse):
    with small_disk(tmp_path_factory.mktemp("disk") / "small") as place:
        yield place


@pytest.fixture(scope="module")
def tree(disk, tmp_path_factory):
    """A home on the small disk, mounted for its operator."""
    assert main(["--home", str(disk / "home"), "onboard"]) == 0
    with mounting(tmp_path_factory.mktemp("tree"), home=disk / "home") as found:
        yield found


def result(action, base):
    try:
        return action(base)
    except OSError as error:
        return errno.errorcode[error.errno]


def touch(path, flags=os.O_CREAT | os.O_WRONLY):
    os.close(os.open(path, flags, 0o644))


def exchange(base):
    at = os.open(base, os.O_RDONLY)
    try:
        renameat2(at, "full", at, "empty", EXCHANGE)
    finally:
        os.close(at)


def long_name(work):
    return lambda base: work(f"{base}/{LONG}x")


def twins(first, second):
    """Two names that some systems hold to be one."""

    def work(base):
        for number, name in enumerate((first, second)):
            with open(f"{base}/{name}", "w") as file:
                file.write(str(number))
        said = [Path(f"{base}/{name}").read_text() for name in (first, second)]
        return said, sorted(set(os.listdir(base)) & {first, second})

    return work


def removed_while_open(base):
    """A reader that never closes keeps its bytes; the name is free."""
    with open(f"{base}/held", "w") as file:
        file.write("first")
    held = os.open(f"{base}/held", os.O_RDONLY)
    try:
        os.unlink(f"{base}/held")
        with open(f"{base}/held", "w") as file:
            file.write("second!")
        return os.pread(held, 99, 0), os.stat(f"{base}/held").st_size, sorted(os.listdir(base)).count("held")
    finally:
        os.close(held)


def foreign_attribute(base):
    """Of an open file whose name is gone: no attribute, and not no file."""
    with open(f"{base}/file") as file:
        os.unlink(f"{base}/file")
        return os.getxattr(file.fileno(), "trusted.other")


SAME = {
    "create a name of 256 bytes": long_name(touch),
    "stat a name of 256 bytes": long_name(os.stat),
    "make a directory of 256 bytes": long_name(os.mkdir),
    "remove a name of 256 bytes": long_name(os.unlink),
    "rename to 256 bytes": lambda base: os.rename(f"{base}/file", f"{base}/{LONG}x"),
    "a name of 255 bytes": lambda base: (touch(f"{base}/{LONG}"), os.unlink(f"{base}/{LONG}")),
    "make ..": lambda base: os.mkdir(f"{base}/full/.."),
    "make .": lambda base: os.mkdir(f"{base}/."),
    "remove directory .": lambda base: os.rmdir(f"{base}/full/."),
    "remove directory ..": lambda base: os.rmdir(f"{base}/full/.."),
    "remove file ..": lambda base: os.unlink(f"{base}/full/.."),
    "create ..": lambda base: touch(f"{base}/full/..", os.O_CREAT | os.O_EXCL | os.O_WRONLY),
    "leave by .. and come back": lambda base: os.stat(f"{base}/full/../file").st_size,
    "case twins": twins("Twin", "twin"),
    "Unicode twins": twins("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")),
    "remove a full directory": lambda base: os.rmdir(f"{base}/full"),
    "unlink a directory": lambda base: os.unlink(f"{base}/full"),
    "rmdir a file": lambda base: os.rmdir(f"{base}/file"),
    "make what is there": lambda base: os.mkdir(f"{base}/full"),
    "make below nothing": lambda base: os.mkdir(f"{base}/nothing/x"),
    "make below a file": lambda base: os.mkdir(f"{base}/file/x"),
    "open below a file": lambda base: touch(f"{base}/file/x"),
    "open below nothing": lambda base: touch(f"{base}/nothing/x"),
    "a directory into itself": lambda base: os.rename(f"{base}/full", f"{base}/full/x"),
    "a file over a directory": lambda base: os.rename(f"{base}/file", f"{base}/full"),
    "a directory over a file": lambda base: os.rename(f"{base}/full", f"{base}/file"),
    "a directory over a full one": lambda base: os.rename(f"{base}/empty", f"{base}/full"),
    "rename nothing": lambda base: os.rename(f"{base}/nothing", f"{base}/x"),
    "create what is there": lambda base: touch(f"{base}/file", os.O_CREAT | os.O_EXCL | os.O_WRONLY),
    "write a directory": lambda base: touch(f"{base}/full", os.O_WRONLY),
    "a file as a directory": lambda base: touch(f"{base}/file", os.O_RDONLY | os.O_DIRECTORY),
    "read a directory": lambda base: Path(f"{base}/full").read_text(),
    "list a file": lambda base: os.listdir(f"{base}/file"),
    "read a link that is none": lambda base: os.readlink(f"{base}/file"),
    "an attribute that is not ours": foreign_attribute,
    "a negative size": lambda base: os.truncate(f"{base}/file", -1),
    "a reader that never closes": removed_while_open,
}
# What a local file system takes and the tree does not.
REFUSED = {
    "a newline in a name": (lambda base: touch(f"{base}/two\nlines"), "EINVAL"),
    "a hard link": (lambda base: os.link(f"{base}/file", f"{base}/hard"), "EPERM"),
    "an exchange of two names": (exchange, "EINVAL"),
    "a pipe": (lambda base: os.mkfifo(f"{base}/pipe"), "EPERM"),
    "a link out of the tree": (lambda base: os.symlink("/etc/passwd", f"{base}/link"), "EPERM"),
}


def furnished(base):
    os.makedirs(f"{base}/full/below")
    os.mkdir(f"{base}/empty")
    with open(f"{base}/file", "w") as file:
        file.write("content")
    return base


@pytest.mark.slice(3)
@ROOT
@pytest.mark.parametrize("what", SAME)
def test_the_errno_is_that_of_a_local_file_system(tree, disk, what):
    mine, local = tree / f"{ARTIFACTS}/bad", disk / "plain"
    try:
        said = result(SAME[what], furnished(mine))
        assert said == result(SAME[what], furnished(local))
        assert sorted(os.listdir(mine)) == sorted(os.listdir(local))
    finally:
        for base in (mine, local):
            shutil.rmtree(base, ignore_errors=True)


@ROOT
@pytest.mark.parametrize("what", REFUSED)
def test_what_the_tree_cannot_keep_is_refused_by_name(tree, what):
    base = furnished(tree / f"{ARTIFACTS}/bad")
    try:
        action, expected = REFUSED[what]
        assert result(action, base) == expected
        assert set(os.listdir(base)) - {"last_error"} == {"empty", "file", "full"}
    finally:
        shutil.rmtree(base)


@ROOT
def test_the_file_that_says_why_keeps_no_directory_from_its_end(tree):
    base = tree / f"{ARTIFACTS}/bad"
    base.mkdir()
    assert result(touch, base / "two\nlines") == "EINVAL"
    assert os.listdir(base) == ["last_error"]
    base.rmdir()
    assert not base.exists()


def fill(path):
    """Write until the disk is full; the errno of the end."""
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    try:
        for _ in range(2 * SMALL >> 18):
            os.write(fd, bytes(1 << 18))
        os.fsync(fd)
    finally:
        os.close(fd)


def synced(path, data):
    """What fsync says of bytes that were written. It says it once, as a disk does, and the close commits nothing."""
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CREAT)
    os.write(fd, data)
    said = result(os.fsync, fd)
    os.close(fd)
    return said


@ROOT
def test_a_full_disk_is_said_and_nothing_is_torn(tree, disk):
    stored, local = disk / "home/workspace/TARGETS.md", disk / "plain"
    local.mkdir()
    (tree / TARGETS).write_bytes(b"# old\n" * 100)
    assert result(fill, local / "filler") == "ENOSPC"
    try:
        replacements = {
            tree / TARGETS: stored,
            tree / f"{ARTIFACTS}/new.bin": disk / "home/workspace/artifacts/new.bin",
        }
        for path, behind in replacements.items():
            before = behind.read_bytes() if behind.exists() else None
            with pytest.raises(OSError) as caught, open(path, "wb", buffering=0) as file:
                file.write(b"# new\n" * 100_000)
            assert caught.value.errno == errno.ENOSPC
            assert synced(path, b"# new\n" * 100_000) == "ENOSPC"
            assert (behind.read_bytes() if behind.exists() else None) == before
        assert (tree / TARGETS).read_bytes() == b"# old\n" * 100
        assert "space" in os.getxattr(tree / TARGETS, "user.paos.error").decode()
    finally:
        shutil.rmtree(local)
    (tree / TARGETS).write_bytes(b"# there is space again\n")
    assert stored.read_bytes() == b"# there is space again\n"


def everything_of(home):
    """Content by path, of what programs cannot take away."""
    workspace = home / "workspace"
    kept = [path for path in workspace.glob("*.md") if path.is_file()]
    return {path.name: path.read_bytes() for path in kept}


@ROOT
def test_rm_of_the_whole_tree_takes_only_what_its_actor_may_remove(tree, disk):
    (tree / TARGETS).write_bytes(b"# Targets\n")
    before = everything_of(disk / "home")
    (tree / f"{ARTIFACTS}/mine").write_text("mine")
    done = tree.sh(f"rm -rf {tree.directory}/* {tree.directory}/projects", timeout=120)
    assert done.returncode != 0 and "ermi" in done.stderr
    assert everything_of(disk / "home") == before
    assert sorted(os.listdir(tree.directory)) and (tree / TARGETS).read_bytes() == before["TARGETS.md"]
    assert not (tree / f"{ARTIFACTS}/mine").exists()


@ROOT
def test_a_mount_inside_a_mount(tree, disk):
    inner = tree / f"{ARTIFACTS}/inner"
    inner.mkdir()
    with mounting(inner, home=disk / "home") as second:
        assert (second / TARGETS).read_bytes() == (tree / TARGETS).read_bytes()
        busy = result(os.rmdir, inner)
        assert busy == "EBUSY"
        assert inner.is_mount() and "projects" in os.listdir(inner)
    assert os.listdir(inner) == []
    inner.rmdir()


@ROOT
def test_what_is_written_in_one_mount_is_read_in_another(tree, disk, tmp_path):
    with mounting(tmp_path, home=disk / "home") as second:
        (second / TARGETS).write_bytes(b"# by the second\n")
        assert (tree / TARGETS).read_bytes() == b"# by the second\n"
        assert (second / TARGETS).stat().st_size == (tree / TARGETS).stat().st_size
