"""The calls that open files, and change their length, their mode, their owner and their times."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from .posix_calls import NOBODY, Check, advanced, after, directory, made, mode, opened, then, with_new_name, with_path


def _chmod() -> list[Check]:
    return [
        *with_path("chmod", lambda p: os.chmod(p, 0o600)),
        *(
            Check(
                "chmod",
                f"a file to {bits:o}",
                lambda d, bits=bits: after(lambda: os.chmod(made(d), bits), lambda: mode(d / "file")),
            )
            for bits in (0o600, 0o000, 0o755, 0o4755)
        ),
        Check(
            "chmod",
            "a directory to 700",
            lambda d: after(lambda: os.chmod(directory(d), 0o700), lambda: mode(d / "dir")),
        ),
        Check(
            "chmod",
            "a file sets ctime",
            lambda d: advanced(made(d), lambda: os.chmod(d / "file", 0o600), "st_ctime_ns"),
        ),
        Check("chmod", "an open file", lambda d: opened(made(d), os.O_RDWR, lambda fd: os.fchmod(fd, 0o640))),
    ]


def _chown() -> list[Check]:
    return [
        *with_path("chown", lambda p: os.chown(p, NOBODY, NOBODY)),
        Check(
            "chown",
            "a file",
            lambda d: after(lambda: os.chown(made(d), NOBODY, NOBODY), lambda: os.stat(d / "file").st_uid),
        ),
        Check("chown", "a file to itself", lambda d: os.chown(made(d), -1, -1)),
        Check(
            "chown",
            "a directory",
            lambda d: after(lambda: os.chown(directory(d), NOBODY, NOBODY), lambda: os.stat(d / "dir").st_gid),
        ),
        Check(
            "chown",
            "a link itself",
            lambda d: then(
                lambda: os.symlink("none", d / "link"),
                lambda: os.lchown(d / "link", NOBODY, NOBODY),
                lambda: os.lstat(d / "link").st_uid,
            ),
        ),
        Check(
            "chown",
            "clears the set-user-id bit",
            lambda d: then(
                lambda: made(d).chmod(0o4755), lambda: os.chown(d / "file", NOBODY, NOBODY), lambda: mode(d / "file")
            ),
        ),
    ]


def _ftruncate() -> list[Check]:
    return [
        *_truncating("ftruncate", lambda p, n: opened(p, os.O_RDWR, lambda fd: os.ftruncate(fd, n))),
        Check(
            "ftruncate",
            "opened to be read only",
            lambda d: opened(made(d), os.O_RDONLY, lambda fd: os.ftruncate(fd, 0)),
        ),
        Check(
            "ftruncate",
            "a file that was removed",
            lambda d: opened(
                made(d),
                os.O_RDWR,
                lambda fd: then(
                    lambda: os.unlink(d / "file"), lambda: os.ftruncate(fd, 1), lambda: os.fstat(fd).st_size
                ),
            ),
        ),
    ]


def _open() -> list[Check]:
    create = os.O_CREAT | os.O_WRONLY
    return [
        *with_path("open", lambda p: opened(p, os.O_RDONLY, lambda fd: None)),
        *with_new_name("open O_CREAT|O_EXCL", lambda p: opened(p, create | os.O_EXCL, lambda fd: None)),
        Check(
            "open",
            "mode 600 of a new file",
            lambda d: after(lambda: opened(d / "new", create, lambda fd: None, 0o600), lambda: mode(d / "new")),
        ),
        Check("open", "a directory to be written", lambda d: opened(directory(d), os.O_WRONLY, lambda fd: None)),
        Check("open", "a directory to be written and read", lambda d: opened(directory(d), os.O_RDWR, lambda fd: None)),
        Check("open", "a directory, O_CREAT", lambda d: opened(directory(d), create, lambda fd: None)),
        Check("open", "a file, O_DIRECTORY", lambda d: opened(made(d), os.O_DIRECTORY, lambda fd: None)),
        Check(
            "open",
            "a link, O_NOFOLLOW",
            lambda d: then(
                lambda: os.symlink(made(d).name, d / "link"), lambda: opened(d / "link", os.O_NOFOLLOW, lambda fd: None)
            ),
        ),
        Check(
            "open",
            "what a link leads to",
            lambda d: then(
                lambda: os.symlink(made(d).name, d / "link"),
                lambda: opened(d / "link", os.O_RDONLY, lambda fd: os.read(fd, 9)),
            ),
        ),
        Check(
            "open",
            "a new file by a link that leads nowhere",
            lambda d: then(
                lambda: os.symlink("new", d / "link"),
                lambda: opened(d / "link", create, lambda fd: os.write(fd, b"x")),
                (d / "new").read_bytes,
            ),
        ),
        Check(
            "open",
            "O_TRUNC",
            lambda d: after(
                lambda: opened(made(d), os.O_WRONLY | os.O_TRUNC, lambda fd: None), lambda: os.stat(d / "file").st_size
            ),
        ),
        Check(
            "open",
            "O_TRUNC for reading",
            lambda d: after(
                lambda: opened(made(d), os.O_RDONLY | os.O_TRUNC, lambda fd: None), lambda: os.stat(d / "file").st_size
            ),
        ),
        Check(
            "open",
            "O_APPEND",
            lambda d: after(
                lambda: opened(
                    made(d),
                    os.O_WRONLY | os.O_APPEND,
                    lambda fd: then(lambda: os.lseek(fd, 0, 0), lambda: os.write(fd, b"+")),
                ),
                (d / "file").read_bytes,
            ),
        ),
        Check(
            "open",
            "write to what is open for reading",
            lambda d: opened(made(d), os.O_RDONLY, lambda fd: os.write(fd, b"x")),
        ),
        Check(
            "open",
            "read from what is open for writing",
            lambda d: opened(made(d), os.O_WRONLY, lambda fd: os.read(fd, 1)),
        ),
        Check(
            "open",
            "a hole is read as zeros",
            lambda d: after(
                lambda: opened(made(d), os.O_WRONLY, lambda fd: os.pwrite(fd, b"x", 8)),
                (d / "file").read_bytes,
            ),
        ),
        Check("open", "O_TMPFILE", lambda d: opened(d, os.O_TMPFILE | os.O_RDWR, lambda fd: None)),
        Check(
            "open",
            "a pipe with a name",
            lambda d: after(lambda: os.mkfifo(d / "pipe"), lambda: stat.S_ISFIFO(os.stat(d / "pipe").st_mode)),
        ),
        Check("open", "a device", lambda d: os.mknod(d / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))),
        Check(
            "open",
            "a plain file by mknod",
            lambda d: after(lambda: os.mknod(d / "plain"), lambda: os.stat(d / "plain").st_size),
        ),
    ]


def _truncate() -> list[Check]:
    return [
        *with_path("truncate", lambda p: os.truncate(p, 0)),
        *_truncating("truncate", os.truncate),
        Check("truncate", "a directory", lambda d: os.truncate(directory(d), 0)),
        Check(
            "truncate",
            "what a link leads to",
            lambda d: then(
                lambda: os.symlink(made(d).name, d / "link"),
                lambda: os.truncate(d / "link", 1),
                (d / "file").read_bytes,
            ),
        ),
    ]


def _truncating(area: str, call: Callable[[Path, int], object]) -> list[Check]:
    return [
        Check(area, "shorter", lambda d: after(lambda: call(made(d), 2), (d / "file").read_bytes)),
        Check(area, "longer", lambda d: after(lambda: call(made(d), 6), (d / "file").read_bytes)),
        Check(area, "as it is", lambda d: after(lambda: call(made(d), 4), lambda: os.stat(d / "file").st_size)),
        Check(area, "to nothing", lambda d: after(lambda: call(made(d), 0), lambda: os.stat(d / "file").st_size)),
        Check(area, "a negative length", lambda d: call(made(d), -1)),
        Check(area, "sets mtime", lambda d: advanced(made(d), lambda: call(d / "file", 1), "st_mtime_ns")),
    ]


def _utimensat() -> list[Check]:
    def kept(place: Path, *times: int) -> object:
        os.utime(place / "file", ns=times)  # type: ignore[arg-type]  # two of them
        found = os.stat(place / "file")
        return found.st_atime_ns, found.st_mtime_ns

    return [
        *with_path("utimensat", lambda p: os.utime(p, ns=(1, 1))),
        Check(
            "utimensat",
            "mtime to the nanosecond",
            lambda d: after(
                lambda: os.utime(made(d), ns=(10**18 + 1, 10**18 + 2)), lambda: os.stat(d / "file").st_mtime_ns
            ),
        ),
        Check(
            "utimensat",
            "atime to the nanosecond",
            lambda d: after(
                lambda: os.utime(made(d), ns=(10**18 + 1, 10**18 + 2)), lambda: os.stat(d / "file").st_atime_ns
            ),
        ),
        Check(
            "utimensat",
            "before 1970",
            lambda d: after(
                lambda: os.utime(made(d), ns=(-(10**9), -(10**9))), lambda: os.stat(d / "file").st_mtime_ns
            ),
        ),
        Check(
            "utimensat",
            "after 2038",
            lambda d: after(
                lambda: os.utime(made(d), ns=(10**19 // 2, 10**19 // 2)), lambda: os.stat(d / "file").st_mtime_ns
            ),
        ),
        Check("utimensat", "now", lambda d: advanced(made(d), lambda: os.utime(d / "file"), "st_mtime_ns")),
        Check(
            "utimensat",
            "a directory",
            lambda d: after(
                lambda: os.utime(directory(d), ns=(10**18, 10**18)), lambda: os.stat(d / "dir").st_mtime_ns
            ),
        ),
        Check(
            "utimensat",
            "a link itself",
            lambda d: then(
                lambda: os.symlink("none", d / "link"),
                lambda: os.utime(d / "link", ns=(10**18, 10**18), follow_symlinks=False),
                lambda: os.lstat(d / "link").st_mtime_ns,
            ),
        ),
        Check(
            "utimensat",
            "an open file",
            lambda d: opened(
                made(d),
                os.O_RDWR,
                lambda fd: then(lambda: os.utime(fd, ns=(10**18, 10**18)), lambda: os.fstat(fd).st_mtime_ns),
            ),
        ),
    ]


CONTENTS = [*_chmod(), *_chown(), *_ftruncate(), *_open(), *_truncate(), *_utimensat()]
