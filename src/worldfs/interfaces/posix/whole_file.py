"""A file of a POSIX view, read as a whole by its path. One that is replaced meanwhile is opened again."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded

from .posix_errors import errno_of, refusal

if TYPE_CHECKING:
    from .posix_entry import PosixEntry
    from .posix_files import PosixFiles


async def read_whole(files: PosixFiles, path: str, most: int, *, wait: bool = True) -> bytes:
    """At most `most` bytes, else EFBIG. `wait`: a file that waits is waited for; else it gives its present bytes."""
    while True:
        entry = await files.look(path)
        if entry.size > most:
            raise refusal(errno.EFBIG, coded("tree.bad_size"), path, expected=coded("common.at_most_bytes", n=most))
        if entry.waits and not wait:
            return (await files.tree.read(path))[0]
        try:
            return await _read(files, entry, most)
        except WorldError as error:
            if errno_of(error) != errno.ESTALE:
                raise


async def _read(files: PosixFiles, entry: PosixEntry, most: int) -> bytes:
    file = await files.open(entry.path, os.O_RDONLY, entry)
    try:
        return await file.read(0, most)
    finally:
        await file.close()
