"""What a row of the table of system calls is made of: a call in an empty directory, and what comes of it.

The areas are those of pjdfstest's list, the errors those of the standard's tables (IEEE 1003.1, "ERRORS" of each page).
A row says nothing of what is right: it is run on a disk and on what is compared with it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LONG = "n" * 256
DEEP = "/".join(["d" * 200] * 21)  # more than PATH_MAX
NOBODY = 65534
NOREPLACE, EXCHANGE = 1, 2


class Check(NamedTuple):
    area: str
    name: str
    run: Callable[[Path], object]


def answer(check: Check, place: Path) -> str:
    """The name of the errno, or what the call gave."""
    place.mkdir()
    try:
        found = check.run(place)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return "done" if found is None else str(found)


# -- what the rows are made of -----------------------------------------------------------------------------------------


def made(place: Path, data: bytes = b"data", name: str = "file") -> Path:
    (place / name).write_bytes(data)
    return place / name


def source_for(path: Path) -> Path:
    """A file to be given another name."""
    return made(next(above for above in path.parents if os.path.isdir(above)), b"new", "source")


def directory(place: Path, name: str = "dir") -> Path:
    (place / name).mkdir()
    return place / name


def full(place: Path, name: str = "full") -> Path:
    made(directory(place, name), name="inside")
    return place / name


def loop(place: Path) -> Path:
    os.symlink("loop", place / "loop")
    return place / "loop"


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(os.lstat(path).st_mode))


def opened(path: Path, flags: int, use: Callable[[int], object], permission: int = 0o644) -> object:
    fd = os.open(path, flags, permission)
    try:
        return use(fd)
    finally:
        os.close(fd)


def after(act: Callable[[], object], look: Callable[[], object]) -> object:
    act()
    return look()


def then(*acts: Callable[[], object]) -> object:
    found = None
    for act in acts:
        found = act()
    return found


def rename2(old: Path, new: Path, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags):
        raise OSError(ctypes.get_errno(), "renameat2")


def advanced(path: Path, act: Callable[[], object], field: str) -> bool:
    """Whether a time of a file was set anew."""
    os.utime(path, ns=(10**18, 10**18))
    before = getattr(os.lstat(path), field)
    act()
    return bool(getattr(os.lstat(path), field) != before)


def unlinked_but_open(place: Path) -> object:
    path = made(place)
    with path.open("rb") as file:
        os.unlink(path)
        return file.read(), os.fstat(file.fileno()).st_nlink, path.exists()


def written_after_unlink(place: Path) -> object:
    with (place / "file").open("w+b") as file:
        os.unlink(place / "file")
        file.write(b"still mine")
        file.seek(0)
        return file.read(), (place / "file").exists()


def replaced_but_open(place: Path) -> object:
    old, new = made(place, b"old", "old"), made(place, b"new", "new")
    with old.open("rb") as file:
        os.rename(new, old)
        return file.read(), old.read_bytes(), new.exists()


def with_path(area: str, call: Callable[[Path], object], *, last_link: bool = True) -> list[Check]:
    """The errors that every call with a path has. `last_link`: it follows a link in the last place."""
    rows = [
        Check(area, "no such file", lambda d: call(d / "none")),
        Check(area, "no such directory on the way", lambda d: call(d / "none/file")),
        Check(area, "a file on the way", lambda d: call(made(d) / "below")),
        Check(area, "a name of 256 bytes", lambda d: call(d / LONG)),
        Check(area, "a path of more than 4,096 bytes", lambda d: call(d / DEEP)),
        Check(area, "a link that leads to itself, on the way", lambda d: call(loop(d) / "file")),
    ]
    if last_link:
        rows.append(Check(area, "a link that leads to itself", lambda d: call(loop(d))))
    return rows


def with_new_name(area: str, call: Callable[[Path], object]) -> list[Check]:
    """The errors of a call that makes a name."""
    return [
        *(row for row in with_path(area, call, last_link=False) if row.name != "no such file"),
        Check(area, "a file is there", lambda d: call(made(d))),
        Check(area, "a directory is there", lambda d: call(directory(d))),
        Check(
            area,
            "a link that leads nowhere is there",
            lambda d: then(lambda: os.symlink("none", d / "link"), lambda: call(d / "link")),
        ),
        Check(area, "a name of 255 bytes", lambda d: call(d / LONG[1:])),
        Check(area, "a name with a newline", lambda d: call(d / "a\nb")),
        Check(area, "a name that is no UTF-8", lambda d: call(d / os.fsdecode(b"\xff\xfe"))),
    ]
