"""Valid names of directory entries, and valid targets of links."""

from __future__ import annotations

import errno

from worldfs.base.dir_reader import NAME_MAX

from .fs_errors import FsError, invalid

TARGET_MAX = 4_095  # bytes of a link's target (PATH_MAX without the end)


def is_valid_name(name: str) -> bool:
    """One path component that every file system stores unchanged, without control characters."""
    if name in ("", ".", "..") or "/" in name or not is_clean_text(name):
        return False
    try:
        return len(name.encode()) <= NAME_MAX
    except UnicodeEncodeError:
        return False


def is_clean_text(text: str) -> bool:
    return text.isprintable() or not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)


def check(name: str) -> str:
    """The name, or `FsError` 22."""
    if not is_valid_name(name):
        raise invalid("invalid child name")
    return name


def check_target(target: str, depth: int) -> str:
    """A link's target, relative and going no further up than `depth` directories: other programs there may follow
    it. `FsError` 13, or 22 for an invalid path."""
    if not target or len(target.encode("utf-8", "surrogatepass")) > TARGET_MAX or not is_clean_text(target):
        raise invalid("invalid link target")
    if target.startswith("/"):
        raise FsError(errno.EACCES, "link target leaves the export")
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            raise FsError(errno.EACCES, "link target leaves the export")
    return target
