"""What lies below a directory of ours and is none of our files: readers pass over it, and `paos check` names it."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from typing import Final

from worldfs.base.dir_reader import path_error
from worldfs.base.errors import WorldError

SET_ASIDE: Final = "aside"  # below `below`: what was found odd before


def odd_entries(
    root: str | os.PathLike[str], below: str, *, flat: Collection[str] = (), sockets: str = ""
) -> Iterator[WorldError]:
    """Links and special files that are not set aside; directories, where one of `flat` holds files alone. It follows no
    link.

    `sockets`: the directory in which sockets are ours.
    """
    waiting = [below]
    while waiting:
        folder = waiting.pop()
        if folder == f"{below}/{SET_ASIDE}":
            continue
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield path_error(error, folder, "check")
            continue
        for entry in listed:
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            odd = odd_entry(entry, path, directory=folder not in flat, socket=folder == sockets)
            if odd is not None:
                yield odd


def odd_entry(
    entry: os.DirEntry[str], path: str, *, directory: bool = False, socket: bool = False
) -> WorldError | None:
    """Why it is none of our files; `directory`, `socket`: whether it may be one."""
    if entry.is_symlink():
        kind = errno.ELOOP
    elif entry.is_dir():
        kind = 0 if directory else errno.EISDIR
    else:
        kind = 0 if entry.is_file() or socket else errno.ENXIO
    return path_error(OSError(kind, os.strerror(kind)), path, "check") if kind else None
