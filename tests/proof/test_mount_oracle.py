"""Our server of the kernel's FUSE protocol beside pyfuse3's, over the same POSIX view of the same tree: each call on
each path gives the same, the table of system calls has the same answers, and so has the suite of the verbs."""

from __future__ import annotations

import errno
import os
import re
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.interfaces import test_one_tree as verbs
from tests.interfaces.mount.mounted import WITHOUT, abort, mounting
from tests.proof.test_robot_libraries import installed

from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S

from .posix_table import answers

pytestmark = pytest.mark.proof
ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = (
    "pyfuse3==3.5.0", "trio==0.35.0", "outcome==1.3.0.post0", "sortedcontainers==2.4.0", "sniffio==1.3.1",
    "attrs==26.1.0", "idna==3.20",
)  # fmt: skip
LEAST: Final = 250  # paths that a walk finds
TIMES: Final = re.compile(r"\d{13}")  # ms, in what the servers of the two mounts say of themselves

DIFFERENT: Final = ["utimensat: a directory"]
"""Rows of the table of system calls whose answers differ: a directory keeps no time, so it has its server's start."""

test_the_names_are_the_same = verbs.test_the_names_are_the_same
test_the_bytes_and_the_size_are_the_same = verbs.test_the_bytes_and_the_size_are_the_same
test_what_one_writes_all_read = verbs.test_what_one_writes_all_read
test_a_refusal_has_the_same_errno = verbs.test_a_refusal_has_the_same_errno
test_files_are_made_and_moved_and_removed = verbs.test_files_are_made_and_moved_and_removed


@contextmanager
def oracle(home: Path, directory: Path) -> Iterator[Path]:
    directory.mkdir()
    library = installed(sys.executable, ROOT / "build/pyfuse3", *PACKAGES)
    environ = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{library}"}
    server = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("pyfuse3_mount.py"), home, directory], env=environ,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None and "mounted" in server.stdout.readline()
        yield directory
    finally:
        subprocess.run(["fusermount3", "-u", "-z", directory], capture_output=True, check=False)
        try:
            server.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            abort(directory)
            server.kill()
            server.communicate(timeout=PATIENCE_S)


@contextmanager
def ours(home: Path, directory: Path) -> Iterator[Path]:
    directory.mkdir()
    with mounting(directory, home=home) as tree:
        yield tree.directory


def onboarded(place: Path) -> Path:
    if WITHOUT:
        pytest.skip(f"nothing can be mounted here: {WITHOUT}")
    assert main(["--home", str(place), "onboard"]) == 0
    return place


class Pyfuse3(verbs.Mount):
    """The suite names what it makes by the class."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """One home, mounted by pyfuse3 and by us."""
    place = tmp_path_factory.mktemp("one")
    home = onboarded(place / "home")
    with oracle(home, place / "pyfuse3") as theirs, ours(home, place / "ours") as mine:
        yield theirs, mine


@pytest.fixture(scope="module")
def doors(both: tuple[Path, Path]) -> Mapping[str, verbs.Mount]:
    """The suite of the verbs goes through both, and pyfuse3's answers are what is expected of ours."""
    theirs = Pyfuse3(both[0])
    return {"in process": theirs, "pyfuse3": theirs, "mount": verbs.Mount(both[1])}


@pytest.fixture(params=["pyfuse3", "mount"])
def door(request: pytest.FixtureRequest, doors: Mapping[str, verbs.Mount]) -> verbs.Mount:
    return doors[request.param]


# -- each call on each path --------------------------------------------------------------------------------------------


def _opened(flags: int, use: Callable[[int], object] = lambda fd: None) -> Callable[[str], object]:
    def call(path: str) -> object:
        fd = os.open(path, flags, 0o644)
        try:
            return use(fd)
        finally:
            os.close(fd)

    return call


def _looks(path: str) -> object:
    found = os.lstat(path)
    return found.st_mode, found.st_nlink, found.st_size, found.st_uid, found.st_gid, found.st_blocks, found.st_blksize


def _listed(path: str) -> object:
    found = ((entry.name, entry.is_dir(), entry.is_symlink()) for entry in os.scandir(path))
    return sorted(entry for entry in found if entry[0] != "last_error")


def _attributes(path: str) -> object:
    """Without what was refused last; of what is computed when it is read, without the revision: it may say the time."""
    found = {name: os.getxattr(path, name) for name in os.listxattr(path) if name != "user.paos.error"}
    return {name: value for name, value in found.items() if found.get("user.paos.kind") != b"view" or "rev" not in name}


LOOKS: Final[Mapping[str, Callable[[str], object]]] = {
    "lstat": _looks,
    "listed": _listed,
    "a directory opened": _opened(os.O_RDONLY | os.O_DIRECTORY),
    "statvfs": lambda path: tuple(os.statvfs(path))[:-1],
    "attributes": _attributes,
    "an attribute that is not there": lambda path: os.getxattr(path, "user.paos.nothing"),
    "an attribute of another's": lambda path: os.getxattr(path, "security.selinux"),
    "readlink": os.readlink,
    "below it": lambda path: _looks(f"{path}/nothing"),
    "a long name below it": lambda path: _looks(f"{path}/{'n' * 256}"),
    "a trailing slash": lambda path: _looks(f"{path}/"),
    **{f"access {mode}": lambda path, mode=mode: os.access(path, mode) for mode in (os.R_OK, os.W_OK, os.X_OK)},
}
READS: Final[Mapping[str, Callable[[str], object]]] = {
    "all of it": _opened(os.O_RDONLY, lambda fd: os.read(fd, 1 << 20)),
    "from byte 5": _opened(os.O_RDONLY, lambda fd: os.pread(fd, 7, 5)),
    "past its end": _opened(os.O_RDONLY, lambda fd: os.pread(fd, 7, 1 << 30)),
    "its end": _opened(os.O_RDONLY, lambda fd: os.lseek(fd, 0, os.SEEK_END)),
    "written while read-only": _opened(os.O_RDONLY, lambda fd: os.write(fd, b"x")),
    "cut while read-only": _opened(os.O_RDONLY, lambda fd: os.ftruncate(fd, 0)),
    "an fsync": _opened(os.O_RDONLY, os.fsync),
}
CHANGES: Final[Mapping[str, Callable[[str], object]]] = {
    "opened to write": _opened(os.O_WRONLY),
    "opened for both": _opened(os.O_RDWR),
    "opened to append": _opened(os.O_WRONLY | os.O_APPEND),
    "created, and it is there": _opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    "mkdir": os.mkdir,
    "rmdir": os.rmdir,
    "a directory below it": lambda path: os.mkdir(f"{path}/new"),
    "a link": lambda path: os.symlink("nowhere", path),
    "a hard link": lambda path: os.link(path, f"{path}.link"),
    "a pipe below it": lambda path: os.mkfifo(f"{path}/pipe"),
    "renamed to itself": lambda path: os.rename(path, path),
    "renamed to another name": lambda path: os.rename(path, f"{path}.other"),
    "renamed below itself": lambda path: os.rename(path, f"{path}/below"),
    "chmod": lambda path: os.chmod(path, 0o600),
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()),
    "times": lambda path: os.utime(path, ns=(10**18, 10**18)),
    "an attribute set": lambda path: os.setxattr(path, "user.mine", b"x"),
    "an attribute removed": lambda path: os.removexattr(path, "user.paos.kind"),
    "what is no document": _opened(os.O_WRONLY, lambda fd: os.write(fd, b"{no document")),
    "appended and read": _opened(os.O_RDWR | os.O_APPEND, lambda fd: (os.write(fd, b"{\n"), os.pread(fd, 99, 0))[0]),
    "cut to 3": lambda path: os.truncate(path, 3),
    "cut while opened": _opened(os.O_WRONLY | os.O_TRUNC),
    "a file below it": lambda path: _opened(os.O_WRONLY | os.O_CREAT, lambda fd: os.write(fd, b"new"))(f"{path}/new"),
    "unlink": os.unlink,
}


def _answer(call: Callable[[str], object], path: str) -> str:
    try:
        return TIMES.sub("TIME", repr(call(path)))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))


def _paths(directory: Path) -> list[str]:
    """Below a mounted tree, a directory before what is in it. Our server notes in `last_error` what it refused, and the
    other one notes nothing."""
    found = ["", "/nothing", "/projects/main/nothing.md", "/projects/main/TASK.md/below"]
    for place, _, files in os.walk(directory):
        above = place[len(str(directory)) :]
        found += [above, *(f"{above}/{name}" for name in files if name != "last_error")]
    return list(dict.fromkeys(found))


def _waits(path: str) -> bool:
    """Whether a read of a file of our mount would wait for somebody: nobody comes here."""

    def asked(fd: int) -> bool:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return not poll.poll(0)

    try:
        return bool(_opened(os.O_RDONLY, asked)(path))
    except OSError:
        return False


def _compared(
    theirs: Path, mine: Path, paths: Sequence[str], calls: Mapping[str, Callable[[str], object]]
) -> list[tuple[str, str, str, str]]:
    """What differs: the path, the call, pyfuse3's answer, ours."""
    found = []
    for path in paths:
        for name, call in calls.items():
            said = _answer(call, f"{theirs}{path}"), _answer(call, f"{mine}{path}")
            if said[0] != said[1] != _answer(call, f"{theirs}{path}"):  # it may have changed between the two
                found.append((path, name, *said))
    return found


def test_each_look_at_each_path_gives_the_same(both: tuple[Path, Path]) -> None:
    theirs, mine = both
    paths = _paths(mine)
    assert sorted(paths) == sorted(_paths(theirs)) and len(paths) >= LEAST
    assert _compared(theirs, mine, paths, LOOKS) == []
    read = [path for path in paths if not _waits(f"{mine}{path}")]
    assert len(read) >= LEAST
    assert _compared(theirs, mine, read, READS) == []
    print(f"{len(paths) * len(LOOKS) + len(read) * len(READS)} looks at {len(paths)} paths, each as pyfuse3 answers")


def test_each_change_of_each_path_ends_the_same(tmp_path: Path) -> None:
    """In two homes made alike: what is changed in one is changed in the other."""
    with (
        oracle(onboarded(tmp_path / "a"), tmp_path / "pyfuse3") as theirs,
        ours(onboarded(tmp_path / "b"), tmp_path / "ours") as mine,
    ):
        paths = list(reversed(_paths(mine)))  # what is in a directory before it
        assert _compared(theirs, mine, paths, CHANGES) == []
        assert sorted(_paths(theirs)) == sorted(_paths(mine))
        print(f"{len(paths) * len(CHANGES)} changes of {len(paths)} paths, each as pyfuse3 answers")


def test_the_table_of_system_calls_has_the_same_answers(both: tuple[Path, Path]) -> None:
    theirs, mine = (answers(place / "projects/main/artifacts") for place in both)
    found = {row: f"{said} -> {mine[row]}" for row, said in theirs.items() if said != mine[row]}
    assert list(found) == DIFFERENT, found
    print(f"{len(theirs)} rows of the table of system calls, {len(found)} differ from pyfuse3")
