"""Old files that a replacement pushed aside, kept until nobody can write to them any more.

A program may have opened ACTION.md before we replaced it and write afterwards: its bytes go to the file that is no
longer there. So the old file keeps a name here, `TIME.OLD.NEW.KEY` (revisions of what was compared and of what was
put in its place). When its last writer has closed it, it is either what was replaced, and goes, or it is a foreign
edit, and gets a `+` in front: that rename is what every watch, in any process, hears.

Between finding the old file and having it open, a program may be held up by the scheduler, and then nothing tells that
it is about to write. Files of guarded keys are therefore kept for a second after their replacement, and let go with
a later one: nothing needs a timer.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Container
from contextlib import suppress

from worldfs.ground.durable import Root
from worldfs.ground.errors import UserError
from worldfs.ground.linux import written_now
from worldfs.ground.walk import Place, read_whole

from .revision import KEPT, of
from .trash import Trash, encode

HOME = f"{KEPT}/displaced"
GRACE = 1_000_000_000  # ns
KEEP = 16  # unchanged files kept where the system cannot tell whether somebody still writes


class Displaced:
    """All methods but `names` need the store's lock held."""

    def __init__(self, root: Root, guarded: Container[str], trash: Trash) -> None:
        self._root, self._guarded, self._trash = root, guarded, trash
        self._held: deque[str] = deque()
        self._out: dict[str, str] = {}  # handed out and not forgotten: name → revision of what was handed out
        self.grace = GRACE

    def names(self) -> list[str]:
        """Files here, oldest first."""
        try:
            return sorted(self._root.folder(HOME).names(), key=lambda name: name.lstrip("+"))
        except FileNotFoundError:
            return []

    def place(self, key: str, old: str, new: str) -> Place:
        """A name for what is about to be pushed aside."""
        return self._root.room(f"{HOME}/{time.time_ns():016x}.{old}.{new}.{encode(key)}")

    @staticmethod
    def key(name: str) -> str | None:
        """The key of a file here; None for a name that is not ours or holds only a hash."""
        parts = name.split(".", 3)
        if len(parts) < 4 or parts[3].startswith("="):
            return None
        from urllib.parse import unquote  # here: readers should start fast

        return os.fsdecode(unquote(parts[3], errors="surrogateescape"))

    def examine(self, place: Place) -> tuple[bytes | None, bool | None]:
        """Content (None: no regular file) and whether somebody may still write to it (None: the system is silent)."""
        try:
            fd = self._root.open(place)
        except (OSError, UserError):
            return None, False
        if fd is None:
            return None, False
        try:
            busy = written_now(fd)  # asked first: what is read afterwards is final
            return read_whole(fd), busy
        finally:
            os.close(fd)

    def settle(self, name: str) -> None:
        """Decide about one file if its writers are done: let it go if unchanged, else mark it."""
        place = self._at(name)
        if name.startswith("+") or name.count(".") < 3 or place is None or self._root.glance(place) is None:
            return
        data, busy = self.examine(place)
        if busy:
            return
        _, old, new, _ = name.split(".", 3)
        if data is None or of(data) not in (old, new):
            self.finish(name)
        else:
            self.release(place, len(data), busy)

    def release(self, place: Place, size: int, busy: bool | None) -> None:
        """Let go of an unchanged file, unless somebody may still write to it. Deleted ones (no NEW) go to the trash."""
        key = self.key(place.name) or place.path
        if busy or (self.young(place.name) and key in self._guarded):
            self._held.append(place.name)
            return
        if busy is None:
            return self._thin()
        with suppress(OSError):  # it is looked at again: the replacement itself has succeeded
            if place.name.split(".", 3)[2]:
                self._root.disk.unlink(place.folder.fd, place.name, place.path)
            else:
                self._trash.take(Place(place.folder, place.name, key), size)

    def let_go(self) -> None:
        """Look again at what was held back, as far as it is old enough."""
        for _ in range(len(self._held)):
            if self.young(self._held[0]):
                break
            self.settle(self._held.popleft())

    def rested(self, key: str) -> list[str]:
        """The files of a key that are finished, or old enough to be looked at again by anybody."""
        mine = f".{encode(key)}"
        return [name for name in self.names() if name.endswith(mine) and (name[0] == "+" or not self.young(name))]

    def young(self, name: str) -> bool:
        return 0 <= time.time_ns() - int(name.partition(".")[0], 16) < self.grace

    def _thin(self) -> None:
        """Keep few where nobody tells whether they are still written to."""
        for spare in [name for name in self.names() if not name.startswith("+")][:-KEEP]:
            place = self._at(spare)
            data = None if place is None else self.examine(place)[0]
            if place is not None and data is not None and of(data) in spare.split(".", 3)[1:3]:
                self._root.drop(place)
            else:
                self.finish(spare)

    def finish(self, name: str) -> None:
        """Mark a foreign edit as complete; if that fails, it is looked at again."""
        place = self._at(name)
        if place is not None:
            with suppress(OSError):
                self._root.rename(place, Place(place.folder, f"+{name}", f"{HOME}/+{name}"))
                self._root.sync(place)

    def waiting(self, prefix: str) -> set[str]:
        """Keys equal to or directly below `prefix` that have a finished foreign edit here."""
        keys = {self.key(name) or "" for name in self.names() if name.startswith("+")}
        return {key for key in keys if key and (key == prefix or key.rpartition("/")[0] == prefix)}

    def hand_out(self, key: str) -> list[bytes]:
        """Finished foreign edits of `key`, oldest first; again and again until `forget`."""
        mine = encode(key)
        found: list[bytes] = []
        for name in self.names():
            if not name.startswith("+") or name.split(".", 3)[-1] != mine or (place := self._at(name)) is None:
                continue
            data, busy = self.examine(place)
            if busy:
                continue  # one more has it open: its close will be heard
            self._out[name] = of(data or b"")
            if data is not None:
                found.append(data)
        return found

    def forget(self, key: str) -> None:
        """What was handed out is held as any other file from now on, with what was handed out as its OLD.

        A second late writer is heard too, and its edit handed out whole, the first one's within. In the end it goes
        to the trash.
        """
        mine = encode(key)
        for name in [name for name in self._out if name.split(".", 3)[-1] == mine]:
            place, digest = self._at(name), self._out.pop(name)
            if place is not None and self._root.glance(place) is not None:
                held = f"{name[1:].partition('.')[0]}.{digest}..{mine}"
                self._root.rename(place, Place(place.folder, held, f"{HOME}/{held}"))
                self.settle(held)

    def _at(self, name: str) -> Place | None:
        return self._root.place(f"{HOME}/{name}")
