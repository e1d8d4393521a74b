"""The calls that make, move and remove names."""

from __future__ import annotations

import os
import stat

from .posix_calls import (
    EXCHANGE,
    NOREPLACE,
    Check,
    advanced,
    after,
    directory,
    full,
    loop,
    made,
    mode,
    opened,
    rename2,
    replaced_but_open,
    source_for,
    then,
    unlinked_but_open,
    with_new_name,
    with_path,
    written_after_unlink,
)


def _link() -> list[Check]:
    return [
        *with_new_name("link", lambda p: os.link(source_for(p), p)),
        Check(
            "link", "a file", lambda d: after(lambda: os.link(made(d), d / "new"), lambda: os.stat(d / "new").st_nlink)
        ),
        Check("link", "of nothing", lambda d: os.link(d / "none", d / "new")),
        Check("link", "of a directory", lambda d: os.link(directory(d), d / "new")),
        Check(
            "link",
            "both names say the same",
            lambda d: then(
                lambda: os.link(made(d), d / "new"),
                lambda: (d / "new").write_bytes(b"both"),
                (d / "file").read_bytes,
            ),
        ),
    ]


def _mkdir() -> list[Check]:
    return [
        *with_new_name("mkdir", os.mkdir),
        Check("mkdir", "mode 700", lambda d: after(lambda: os.mkdir(d / "dir", 0o700), lambda: mode(d / "dir"))),
        Check("mkdir", "has two links", lambda d: os.stat(directory(d)).st_nlink),
        Check(
            "mkdir",
            "counts as a link of the directory above",
            lambda d: after(lambda: directory(d), lambda: os.stat(d).st_nlink),
        ),
        Check("mkdir", "a slash at the end", lambda d: after(lambda: os.mkdir(f"{d}/dir/"), (d / "dir").is_dir)),
        Check(
            "mkdir",
            "sets mtime of the directory above",
            lambda d: advanced(directory(d), lambda: os.mkdir(d / "dir/new"), "st_mtime_ns"),
        ),
    ]


def _rename() -> list[Check]:
    return [
        *with_path("rename", lambda p: os.rename(p, p.parents[-2] / "never"), last_link=False),
        *(
            row
            for row in with_new_name(
                "rename to",
                lambda p: os.rename(source_for(p), p),
            )
            if row.name != "a path of more than 4,096 bytes"
        ),
        Check(
            "rename",
            "a file to a new name",
            lambda d: after(
                lambda: os.rename(made(d), d / "new"), lambda: ((d / "new").read_bytes(), (d / "file").exists())
            ),
        ),
        Check(
            "rename",
            "a file over a file",
            lambda d: after(lambda: os.rename(made(d), made(d, b"old", "old")), (d / "old").read_bytes),
        ),
        Check("rename", "a file over an open file", replaced_but_open),
        Check(
            "rename",
            "a file to itself",
            lambda d: after(lambda: os.rename(made(d), d / "file"), (d / "file").read_bytes),
        ),
        Check("rename", "a file over a directory", lambda d: os.rename(made(d), directory(d))),
        Check("rename", "a directory over a file", lambda d: os.rename(directory(d), made(d))),
        Check(
            "rename",
            "a directory over an empty one",
            lambda d: after(lambda: os.rename(full(d), directory(d)), (d / "dir/inside").read_bytes),
        ),
        Check("rename", "a directory over a full one", lambda d: os.rename(directory(d), full(d))),
        Check(
            "rename",
            "a full directory to a new name",
            lambda d: after(lambda: os.rename(full(d), d / "new"), (d / "new/inside").read_bytes),
        ),
        Check("rename", "a directory into itself", lambda d: os.rename(directory(d), d / "dir/new")),
        Check(
            "rename",
            "into another directory",
            lambda d: then(lambda: directory(d), lambda: os.rename(made(d), d / "dir/new"), (d / "dir/new").read_bytes),
        ),
        Check(
            "rename",
            "a link, not what it leads to",
            lambda d: then(
                lambda: os.symlink(made(d).name, d / "link"),
                lambda: os.rename(d / "link", d / "new"),
                lambda: os.readlink(d / "new"),
            ),
        ),
        Check(
            "rename",
            "an open file keeps its reader",
            lambda d: opened(
                made(d), os.O_RDONLY, lambda fd: then(lambda: os.rename(d / "file", d / "new"), lambda: os.read(fd, 9))
            ),
        ),
        Check(
            "rename",
            "a file keeps its inode number",
            lambda d: (os.stat(made(d)).st_ino, os.rename(d / "file", d / "new"))[0] == os.stat(d / "new").st_ino,
        ),
        Check("rename", "NOREPLACE over a file", lambda d: rename2(made(d), made(d, name="other"), NOREPLACE)),
        Check(
            "rename",
            "NOREPLACE to a new name",
            lambda d: after(lambda: rename2(made(d), d / "new", NOREPLACE), (d / "new").read_bytes),
        ),
        Check(
            "rename",
            "EXCHANGE",
            lambda d: after(lambda: rename2(made(d), made(d, b"other", "other"), EXCHANGE), (d / "file").read_bytes),
        ),
    ]


def _rmdir() -> list[Check]:
    return [
        *with_path("rmdir", os.rmdir),
        Check("rmdir", "an empty directory", lambda d: after(lambda: os.rmdir(directory(d)), (d / "dir").exists)),
        Check("rmdir", "a full directory", lambda d: os.rmdir(full(d))),
        Check("rmdir", "a file", lambda d: os.rmdir(made(d))),
        Check(
            "rmdir",
            "a link to a directory",
            lambda d: then(lambda: os.symlink(directory(d).name, d / "link"), lambda: os.rmdir(d / "link")),
        ),
        Check("rmdir", "DIR/.", lambda d: os.rmdir(f"{directory(d)}/.")),
        Check("rmdir", "DIR/..", lambda d: os.rmdir(f"{directory(d)}/..")),
    ]


def _symlink() -> list[Check]:
    return [
        *with_new_name("symlink", lambda p: os.symlink("target", p)),
        Check(
            "symlink",
            "says where it leads",
            lambda d: after(lambda: os.symlink("some/where", d / "link"), lambda: os.readlink(d / "link")),
        ),
        Check(
            "symlink",
            "has the size of that",
            lambda d: after(lambda: os.symlink("some/where", d / "link"), lambda: os.lstat(d / "link").st_size),
        ),
        Check(
            "symlink",
            "is a link",
            lambda d: after(lambda: os.symlink("none", d / "link"), lambda: stat.S_ISLNK(os.lstat(d / "link").st_mode)),
        ),
        Check(
            "symlink",
            "leads to a file",
            lambda d: after(lambda: os.symlink(made(d).name, d / "link"), (d / "link").read_bytes),
        ),
        Check(
            "symlink",
            "leads into a directory",
            lambda d: after(lambda: os.symlink(full(d).name, d / "link"), (d / "link/inside").read_bytes),
        ),
        Check(
            "symlink",
            "to 1,023 bytes",
            lambda d: after(lambda: os.symlink("t" * 1023, d / "link"), lambda: len(os.readlink(d / "link"))),
        ),
        Check("symlink", "to nothing", lambda d: os.symlink("", d / "link")),
        Check("symlink", "is listed", lambda d: after(lambda: os.symlink("none", d / "link"), lambda: os.listdir(d))),
    ]


def _unlink() -> list[Check]:
    return [
        *with_path("unlink", os.unlink, last_link=False),
        Check("unlink", "a file", lambda d: after(lambda: os.unlink(made(d)), lambda: os.listdir(d))),
        Check("unlink", "a directory", lambda d: os.unlink(directory(d))),
        Check(
            "unlink",
            "a link, not what it leads to",
            lambda d: then(
                lambda: os.symlink(made(d).name, d / "link"), lambda: os.unlink(d / "link"), lambda: os.listdir(d)
            ),
        ),
        Check(
            "unlink", "a link that leads to itself", lambda d: after(lambda: os.unlink(loop(d)), lambda: os.listdir(d))
        ),
        Check("unlink", "an open file", unlinked_but_open),
        Check("unlink", "a file that is being written", written_after_unlink),
        Check(
            "unlink",
            "sets mtime of the directory",
            lambda d: then(
                lambda: full(d), lambda: advanced(d / "full", lambda: os.unlink(d / "full/inside"), "st_mtime_ns")
            ),
        ),
    ]


NAMES = [*_link(), *_mkdir(), *_rename(), *_rmdir(), *_symlink(), *_unlink()]
