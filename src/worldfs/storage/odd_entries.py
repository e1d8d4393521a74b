"""What lies below a directory of ours and is none of our files: readers pass over it, and `paos check` names it."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator

from worldfs.base.dir_reader import path_error
from worldfs.base.errors import WorldError


def odd_entries(
    root: str | os.PathLike[str], below: str, *, flat: Collection[str] = (), sockets: str = ""
) -> Iterator[WorldError]:
    """Links and special files, by their path; directories, where one of `flat` holds files alone. Follows no link.

    `sockets`: the directory in which sockets are ours.
    """
    waiting = [below]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield path_error(error, folder, "check")
            continue
        for entry in listed:
            path, kind = f"{folder}/{entry.name}", 0
            if entry.is_symlink():
                kind = errno.ELOOP
            elif entry.is_dir():
                kind = errno.EISDIR if folder in flat else 0
                waiting.append(path)
            elif not entry.is_file() and folder != sockets:
                kind = errno.ENXIO
            if kind:
                yield path_error(OSError(kind, os.strerror(kind)), path, "check")
