"""Displaced files: old files that a replacement pushed aside, kept until no program can write to them any more.

A program may have opened ACTION.md before we replaced it and write afterwards: its bytes go to the file that is no
longer there. So the old file keeps a name here, `TIME.OLD.NEW.KEY` (revisions of what was compared and of what was
put in its place). When its last writer has closed it, it is either unchanged, and is removed, or it is a foreign
edit, and gets a `+` in front: every watch, in any process, sees that rename.

Between finding the old file and opening it, a program may be delayed by the scheduler, and then nothing shows that
it is about to write. Files of guarded keys are therefore kept for a second after their replacement, and removed with
a later one: nothing needs a timer.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Container
from contextlib import suppress

from worldfs.base.clock import Clock, epoch_ns
from worldfs.base.dir_reader import DirEntryRef, DirFd, read_whole
from worldfs.base.durable import Root
from worldfs.base.errors import UserError
from worldfs.base.syscalls import has_no_other_user, has_writer

from .file_versions import FileVersions
from .revision import PRIVATE_DIR, of
from .trash import Trash, decode, encode

HOME = f"{PRIVATE_DIR}/displaced"
GRACE = 1_000_000_000  # ns
TICK = 10_000_000  # ns by which a file's time of last change may lag behind the clock
ODD = (errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR)  # errors of opening a link, a FIFO or a directory
KEEP = 16  # unchanged files kept where the system cannot tell whether a program still writes


class DisplacedFiles:
    """All methods but `names` need the store's lock held."""

    def __init__(self, root: Root, guarded: Container[str], trash: Trash, clock: Clock, versions: FileVersions) -> None:
        self._root, self._guarded, self._trash, self._clock, self._versions = root, guarded, trash, clock, versions
        self._home: DirFd | None = None  # the directory of the last one
        self._held: deque[str] = deque()
        self._out: dict[str, str] = {}  # returned by `take`, not forgotten: name → revision
        self.grace = GRACE

    def names(self) -> list[str]:
        """Files here, oldest first."""
        try:
            return sorted(self._names(), key=lambda name: name.lstrip("+"))
        except FileNotFoundError:
            return []

    def _names(self) -> list[str]:
        folder = self._home = self._root.folder(HOME)  # held, or its descriptor is closed before the listing
        return folder.names()

    def new_entry(self, key: str, old: str, new: str, at_ns: int, *, anew: bool = False) -> DirEntryRef:
        """A new entry for a file that is about to be displaced. `anew`: the known directory was removed."""
        name = f"{at_ns or epoch_ns(self._clock.now()):016x}.{old}.{new}.{encode(key)}"
        if self._home is None or anew:
            self._home = self._root.ensure_parent(f"{HOME}/{name}").folder
        return DirEntryRef(self._home, name, f"{HOME}/{name}")

    def track(self, aside: DirEntryRef) -> None:
        """Keep an unchanged file of a guarded key: it is reviewed when it is old enough, even with an open writer."""
        self._held.append(aside.name)

    def second_name(self, aside: DirEntryRef, key: str, new: str) -> DirEntryRef | None:
        """Another name for an edit that is about to change places with `new`; None: this file system has no links."""
        name = f"{aside.name.partition('.')[0]}..{new}.{encode(key)}"
        second = DirEntryRef(aside.folder, name, f"{HOME}/{name}")
        try:
            self._root.link(aside, second)
        except OSError:
            return None
        return second

    def tracks(self, key: str) -> bool:
        return key in self._guarded and self.grace > 0

    @staticmethod
    def key(name: str) -> str | None:
        """The key of a displaced file; None for a foreign name or one that holds only a hash."""
        parts = name.split(".", 3)
        return decode(parts[3]) if len(parts) == 4 else None

    def examine(self, place: DirEntryRef, *, ask: bool = True) -> tuple[bytes | None, bool | None]:
        """Content (None: no regular file) and whether a program may still write to it (None: the system cannot tell).

        `ask=False`: for a caller that reviews it again anyway; counts as being written to. `OSError`: unreadable now.
        """
        try:
            found = self._root.open_with_stat(place)
        except UserError:
            return None, False
        except OSError as error:
            if error.errno not in ODD:
                raise
            return None, False
        if found is None:
            return None, False
        fd, info = found
        try:
            if not ask:
                return read_whole(fd, info.st_size), True
            busy = has_writer(fd)  # checked first: the content read afterwards is final
            return read_whole(fd), busy
        finally:
            os.close(fd)

    def review(self, name: str) -> bool:
        """Decide about one file if its writers are done: remove it if unchanged, else mark it; whether it is marked."""
        place = self._at(name)
        if name.startswith("+") or name.count(".") < 3 or place is None:
            return False
        try:
            data, busy = self.examine(place)
        except OSError:  # not known to be a foreign edit: reviewed again
            return False
        if busy or (data is None and self._root.lstat(place) is None):
            return False
        _, old, new, _ = name.split(".", 3)
        if data is None or of(data) not in (old, new):
            self.finish(name)
            return True
        self.release(place, len(data), busy)
        return False

    def _spare(self, name: str) -> bool:
        """Reuse an unchanged old file as a spare to write over, if no other program has it open."""
        _, old, new, _ = name.split(".", 3)
        place = self._at(name)
        if not new or place is None:
            return False
        try:
            if (found := self._root.open_with_stat(place)) is None:
                return False
        except (OSError, UserError):
            return False
        fd, info = found
        try:
            if not has_no_other_user(fd) or of(read_whole(fd, info.st_size)) not in (old, new):
                return False
            with suppress(OSError):  # reviewed again
                if self._kept(place.name):
                    self._versions.defer(place, info)
                    return True
                return self._root.retire(place, info)
            return False
        finally:
            os.close(fd)

    def release(self, place: DirEntryRef, size: int, busy: bool | None) -> None:
        """Remove an unchanged file, unless a program may still write to it. Deleted ones (no NEW) go to the trash."""
        if busy or (self.is_recent(place.name) and self.key(place.name) in self._guarded):
            self._held.append(place.name)
            return
        if busy is None:
            return self._thin()
        with suppress(OSError):  # reviewed again: the replacement itself has succeeded
            key, kept = self.key(place.name) or place.path, self._kept(place.name)
            if place.name.split(".", 3)[2]:
                if kept:
                    return self._versions.defer(place, None)
                self._root.disk.unlink(place.folder.fd, place.name, place.path)
            else:
                if kept:
                    self._versions.sync(key)
                self._trash.discard(DirEntryRef(place.folder, place.name, key), size)

    def _kept(self, name: str) -> bool:
        """Whether versions of its key are kept: its bytes are given up only when those are durable elsewhere."""
        key = self.key(name)
        return key is not None and self._versions.keeps(key)

    def has_due(self) -> bool:
        """Whether a tracked file is old enough to be reviewed. Needs no lock."""
        held = next(iter(self._held), None)
        return held is not None and not self.is_recent(held)

    def review_due(self) -> None:
        """Review the tracked files that are old enough."""
        for _ in range(len(self._held)):
            if self.is_recent(self._held[0]):
                break
            name = self._held.popleft()
            if not self._spare(name):
                self.review(name)

    def settled(self, key: str) -> list[str]:
        """The files of a key that are finished, or old enough to be reviewed by any process."""
        mine = f".{encode(key)}"
        return [name for name in self._settled() if name.endswith(mine)]

    def settled_keys(self) -> set[str]:
        """The keys that have such files."""
        return {key for name in self._settled() if (key := self.key(name)) is not None}

    def written(self, since: int, *, alone: bool) -> list[str]:
        """The files displaced after `since` that were written to afterwards, or so shortly before that their time of
        last change does not tell. `alone`: those that this process tracks."""
        first = f"{since:016x}"
        return [
            name
            for name in (list(self._held) if alone else self.names())
            if name >= first
            and (place := self._at(name)) is not None
            and (info := self._root.lstat(place)) is not None
            and f"{info.st_mtime_ns + TICK:016x}" > name[:16]
        ]

    def _settled(self) -> list[str]:
        now = epoch_ns(
            self._clock.now()
        )  # a name begins with its time, in digits that sort; one from the future is not recent
        first, last = f"{now - self.grace:016x}", f"{now:016x}~"
        try:
            names = [name for name in self._names() if name < first or name > last]
        except FileNotFoundError:
            return []
        return sorted(names, key=lambda name: name.lstrip("+"))

    def is_recent(self, name: str) -> bool:
        try:
            displaced_at = int(name.partition(".")[0], 16)
        except ValueError:  # a foreign name
            return False
        return 0 <= epoch_ns(self._clock.now()) - displaced_at < self.grace

    def _thin(self) -> None:
        """Keep only KEEP files where the system cannot tell whether they are still written to."""
        for spare in [name for name in self.names() if not name.startswith("+")][:-KEEP]:
            place = self._at(spare)
            try:
                data = None if place is None else self.examine(place)[0]
            except OSError:
                continue
            if place is not None and data is not None and of(data) in spare.split(".", 3)[1:3]:
                if self._kept(spare):
                    self._versions.sync(self.key(spare) or "")
                self._root.drop(place)
            else:
                self.finish(spare)

    def finish(self, name: str) -> None:
        """Mark a foreign edit as complete; if that fails or is lost, it is reviewed again."""
        place = self._at(name)
        if place is not None:
            with suppress(OSError):
                self._root.rename(place, DirEntryRef(place.folder, f"+{name}", f"{HOME}/+{name}"))

    def waiting(self, prefix: str) -> set[str]:
        """Keys equal to or directly below `prefix` that have a finished foreign edit here."""
        keys = {self.key(name) or "" for name in self.names() if name.startswith("+")}
        return {key for key in keys if key and (key == prefix or key.rpartition("/")[0] == prefix)}

    def take(self, key: str) -> list[bytes]:
        """Finished foreign edits of `key`, oldest first; again and again until `forget`."""
        mine = encode(key)
        found: list[bytes] = []
        for name in self.names():
            if not name.startswith("+") or name.split(".", 3)[-1] != mine or (place := self._at(name)) is None:
                continue
            try:
                data, busy = self.examine(place)
            except OSError:
                continue
            if busy:
                continue  # another program has it open: its close will be seen
            self._out[name] = of(data or b"")
            if data is not None:
                found.append(data)
        return found

    def forget(self, key: str) -> None:
        """Files returned by `take` are tracked as any other from now on, with the returned content as their OLD.

        A second late writer is seen too, and its edit returned whole, including the first one's. At last the file goes
        to the trash.
        """
        mine = encode(key)
        for name in [name for name in self._out if name.split(".", 3)[-1] == mine]:
            place, digest = self._at(name), self._out.pop(name)
            if place is not None and self._root.lstat(place) is not None:
                held = f"{name[1:].partition('.')[0]}.{digest}..{mine}"
                self._root.rename(place, DirEntryRef(place.folder, held, f"{HOME}/{held}"))
                self.review(held)

    def _at(self, name: str) -> DirEntryRef | None:
        if self._home is None:
            place = self._root.locate(f"{HOME}/{name}")
            self._home = None if place is None else place.folder
            return place
        return DirEntryRef(self._home, name, f"{HOME}/{name}")
