"""Removed files, kept in a private directory for a while so that a person can restore them."""

from __future__ import annotations

import errno
import os
from collections import deque
from functools import lru_cache

from worldfs.base.clock import Clock, epoch_ns
from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.durable import Root

from .revision import PRIVATE_DIR, of

HOME = f"{PRIVATE_DIR}/trash"
FILES = 64  # kept
BYTES = 1 << 20  # larger files are not kept
LONGEST = 180  # bytes of an encoded key in a file name


@lru_cache(256)
def encode(key: str) -> str:
    """A key as one file name; a key too long for that as `=` and its hash."""
    from urllib.parse import quote  # here: readers should start fast

    name = quote(os.fsencode(key), safe=" ")
    return name if len(name) <= LONGEST else f"={of(os.fsencode(key))}"


@lru_cache(256)
def decode(name: str) -> str | None:
    """The key of a file name; None: it holds only a hash."""
    from urllib.parse import unquote  # here: readers should start fast

    return None if name.startswith("=") else os.fsdecode(unquote(name, errors="surrogateescape"))


class Trash:
    def __init__(self, root: Root, clock: Clock) -> None:
        self._root, self._clock = root, clock
        self._names: deque[str] | None = None

    def discard(self, place: DirEntryRef, size: int) -> None:
        """Move a file to the trash; the caller syncs its directory."""
        disk = self._root.disk
        if size > BYTES:
            return disk.unlink(place.folder.fd, place.name, place.path)
        bin = self._root.ensure_parent(f"{HOME}/{epoch_ns(self._clock.now()):016x}.{encode(place.path)}")
        if self._names is None:
            self._names = deque(sorted(bin.folder.names()))
        try:
            self._root.rename(place, bin)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return disk.unlink(place.folder.fd, place.name, place.path)
        self._names.append(bin.name)
        while len(self._names) > FILES:
            self._root.drop(DirEntryRef(bin.folder, self._names.popleft(), HOME))
        return None
