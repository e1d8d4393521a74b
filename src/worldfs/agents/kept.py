"""A document of an agent that others may rewrite at any time: the file is the file, and copies make every edit safe.

    tasks.json                         what everybody reads; an acknowledged write of ours is fsynced into it
    .paos/generations/tasks.json/      the last good versions, newest last, `<number>-<revision>`: not fsynced, verified
                                       when read; what a foreign edit is compared with, merged with and undone from

A mind with file tools only opens the file and writes it whole, perhaps from an old reading, perhaps half. So before
every change of ours the file is looked at: what somebody wrote is accepted, merged, or set aside and named.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.ground.errors import BadInput, Conflict, Exists, NotFound, UserError, WorldError
from worldfs.ground.linux import written_now
from worldfs.ground.walk import Folder, Place
from worldfs.tree.stores.contract import ABSENT, ANY, Expected
from worldfs.tree.stores.revision import KEPT, of

from .rewrite import Document, Merged, Rules, keep_doubled, settle
from .room import Room

if TYPE_CHECKING:
    from worldfs.ground.model import Finding

    from .history import History

GENERATIONS: Final = f"{KEPT}/generations"
LONG: Final = 1 << 18  # bytes; of a longer document fewer versions are kept
KEEP_LONG: Final = 10
GRACE_S: Final = 1.0  # a file that is not valid and younger may still be being written


def write_many(
    room: Room,
    kept: Mapping[str, Kept],
    files: Mapping[str, bytes],
    *,
    looked: bool = False,
    between: Callable[[], object] | None = None,
) -> None:
    """Replace several files as a group, durable; names that are not `kept` are machine-kept ones. Inside `alone`.

    `looked`: they have been taken in since, and nothing of ours was written to them. `between`: what must be done
    before the first of them takes its place; their drafts are durable by then.
    """
    todo = [between] if between is not None else []
    for round in itertools.count():
        items: list[tuple[str, bytes, Expected]] = []
        for name, data in files.items():
            if name in kept and (round or not looked):
                kept[name].take_in(settle=True)
            items.append((name, data, kept[name].expected() if name in kept else ANY))
        with suppress(Conflict, Exists):  # somebody writes right now: those in place are seen by the next round
            return _written(room, kept, items, todo)


def _written(
    room: Room,
    kept: Mapping[str, Kept],
    items: Sequence[tuple[str, bytes, Expected]],
    todo: list[Callable[[], object]],
    *,
    merged: bool = False,
) -> None:
    """One try of it. The copies of what shall stand there are written while the disk is at work on the drafts."""
    drafts = room.store.prepare_many(items)
    ours = [
        (kept[name], data, swap.new)
        for (name, data, _), (_, swap) in zip(items, drafts.begun, strict=True)
        if name in kept
    ]
    try:
        for one, data, revision in ours:
            if one.known_as_ours():  # else, after a crash, beside a newer copy it would look like somebody's edit
                one.copy(data, revision, merged=merged)
        if todo:
            room.store.finish_many(drafts)
            todo.pop()()
        room.store.place_many(drafts)
    except BaseException as error:
        room.store.drop_many(drafts)
        if isinstance(error, (WorldError, OSError)):  # a crash takes nothing back
            for one, _, _ in ours:
                one.take_back()
        raise
    for one, data, revision in ours:
        one.keep(data, revision, merged=merged)
        one.stamped = revision


class Generation(NamedTuple):
    number: int
    revision: str
    foreign: bool = False  # a rewrite, as it stands: whoever writes next has read it
    merged: bool = False  # made of a rewrite and of what was there

    @property
    def name(self) -> str:
        return f"{self.number:08d}-{self.revision}{'-foreign' if self.foreign else '-merged' if self.merged else ''}"

    @property
    def by(self) -> int:
        """As `history` has it: whose change it was."""
        return 0 if self.foreign else 1 if self.merged else 2


class Kept:
    """One file of a room. Changes are made inside `room.alone()`; reading takes no lock."""

    def __init__(self, room: Room, name: str, rules: Rules) -> None:
        self.room, self.name, self.rules = room, name, rules
        self._home = f"{GENERATIONS}/{name}"
        self._known: list[Generation] | None = None
        self._folder: Folder | None = None  # of the generations
        self._turn = -1  # of the room, when `_known` was read
        self._late_at = 0.0  # when to look for late writes to old copies again
        self._standing: str | None = None  # revision of the file when `take_in` was done with it
        self._good: tuple[str, bytes] | None = None  # revision and bytes of the newest generation, if we have them
        self._early = ""  # revision of a copy whose version does not stand there yet
        self.stamped = ""  # revision that we put in its place ourselves
        self._history: History | None = None

    # -- reading ----------------------------------------------------------------------------------------------------

    def read(self) -> bytes | None:
        """What counts now: the file if it is ours or valid, else the last good version; None if there is neither."""
        newest = self._newest()
        try:
            stored = None if self._too_long() else self.room.store.get(self.name)
        except UserError:  # a link or a FIFO in its place: the next change sets it aside
            if newest is None:
                raise
            stored = None
        if stored is not None and (newest is None or stored.revision == newest.revision or self._fine(stored.data)):
            return stored.data
        if newest is not None and (good := self.version(newest)) is not None:
            return good
        if stored is None and (size := self._too_long()):
            raise BadInput(
                f"{size} bytes", path=self.name, op="read", expected=f"at most {self.rules.most >> 20} MiB",
                fix="mend it with: paos check --fix",
            )  # fmt: skip
        return None if stored is None else stored.data

    def generations(self) -> list[Generation]:
        """The versions that are kept, oldest first."""
        found = []
        for name in self.room.store.list(self._home):
            number, _, revision = name.partition("-")
            if number.isdecimal():
                of_, _, by = revision.partition("-")
                found.append(Generation(int(number), of_, by == "foreign", by == "merged"))
        return found

    def version(self, generation: Generation) -> bytes | None:
        """Its bytes, or None if a power cut tore them."""
        if self._good is not None and self._good[0] == generation.revision:
            return self._good[1]
        stored = self.room.store.get(f"{self._home}/{generation.name}")
        return None if stored is None or stored.revision != generation.revision else stored.data

    # -- changing (inside `alone`) ----------------------------------------------------------------------------------

    def change(self, edit: Callable[[bytes], bytes], *, merged: bool = False) -> bytes:
        """Take in what others wrote, then `edit` what counts; durable when it returns. May call `edit` again."""
        with self.room.alone():
            while True:
                found = self.take_in(settle=True)
                data = edit(found or b"")
                if data == found:
                    return data
                if len(data) > self.rules.most:
                    raise BadInput(
                        f"{len(data)} bytes", path=self.name, op="write",
                        expected=f"at most {self.rules.most >> 20} MiB",
                        fix="take out what is no longer needed, or keep it in a file of its own",
                    )  # fmt: skip
                with suppress(Conflict):
                    self.write(data, merged=merged)
                    return data

    def offer(self, theirs: bytes) -> bytes:
        """A whole valid text by somebody who may have read an older one: merged as a foreign edit is; durable."""

        def edit(ours: bytes) -> bytes:
            merged = self._merged(theirs)[1] if ours else Merged(theirs)
            return merged.data

        return self.change(edit, merged=True)

    def take_in(self, *, settle: bool = False, late: bool | None = None, young: bool = False) -> bytes | None:
        """Look at what somebody else may have done to the file, and settle it; what counts afterwards.

        `settle`: even an unfinished-looking text is decided about now, because ours is about to be written. `late`:
        look for what was written to old copies, too; None: only if nobody has done so for a while. `young`: also to
        those that were replaced a moment ago.
        """
        counts = self._look(settle)
        now = time.monotonic()
        if not (now >= self._late_at if late is None else late):
            return counts
        self._late_at = now + GRACE_S / 2
        found = self.room.store.displaced(self.name, keep=True, young=young)
        for text in found:
            counts = self._late(text, counts)
        if found:
            self.room.store.forget(self.name)
        return counts

    def _look(self, settle: bool) -> bytes | None:
        if size := self._too_long():
            key = self.room.move_aside(self.name, f"{size} bytes")
            self.room.found(
                "TOO_LARGE", self.name, f"at most {self.rules.most >> 20} MiB", f"{size} bytes",
                f"it is kept as {key}: take from it what is needed, and keep long texts in files of their own",
            )  # fmt: skip
        try:
            stored = self.room.store.get(self.name)
        except UserError:
            if not self.room.clear(self.name):
                raise
            stored = None
        newest = self._newest(fresh=True)
        self._standing = None if stored is None else stored.revision
        if stored is None:
            return self._missing(newest)
        if newest is not None and stored.revision == newest.revision:
            self._good = (stored.revision, stored.data)
            return stored.data
        if self.room.store.ours(self.name) == stored.revision:  # our last write, and its copy was lost with the power
            self.keep(stored.data, stored.revision)
            return stored.data
        if newest is None:
            return self._first(stored.data)
        if self._fine(stored.data):
            return self._foreign(stored.data)
        if not settle and self._unfinished():
            return self.version(newest)
        return self._refuse(stored.data, newest)

    def write(self, data: bytes, *, merged: bool = False) -> None:
        """Replace what `take_in` returned. `Conflict` if somebody was faster: take in again."""
        try:
            _written(self.room, {self.name: self}, [(self.name, data, self.expected())], [], merged=merged)
        except Exists:
            raise Conflict("it appeared meanwhile", path=self.name, op="write") from None

    def keep(self, data: bytes, revision: str = "", *, foreign: bool = False, merged: bool = False) -> None:
        """Note a version as the newest good one, which stands there. Not durable: it is a copy of what is."""
        revision = revision or of(data)
        if self._early != revision:
            self.copy(data, revision, foreign=foreign, merged=merged)
        self._early, self._standing = "", revision

    def known_as_ours(self) -> bool:
        """Does what stands there carry our stamp, so that it is told from an edit even without its copy?"""
        return self.room.disk.stamps and self.stamped == self._standing

    def copy(self, data: bytes, revision: str, *, foreign: bool = False, merged: bool = False) -> None:
        """The first half of `keep`, before the version stands there; `take_back` if it never does."""
        turn = self.room.turn()
        known = self._known if self._known is not None and self._turn == turn else self.generations()
        self._known = None  # until it is true again
        generation = Generation(self._number(known), revision, foreign, merged)
        keep = self.rules.keep if len(data) <= LONG else min(self.rules.keep, KEEP_LONG)
        spare, known = [*known, generation][:-keep], [*known, generation][-keep:]
        if spare:
            self._remember([*spare, *known[:-1]], spare[-1].number)
        try:
            self._copy(spare, generation.name, data)
        except FileNotFoundError:  # somebody removed the directory
            self._folder = None
            self._copy(spare, generation.name, data)
        if not self.room.disk.stamps:  # were this copy lost with the power, nothing else would tell that it is ours
            self.room.root.flush(f"{self._home}/{generation.name}")
        self._known, self._turn, self._good, self._early = known, turn, (revision, data), revision

    def _number(self, known: Sequence[Generation]) -> int:
        if known:
            return known[-1].number + 1
        history = self.history()  # knows how far it was, if somebody removed the versions
        if history is None:
            return 1
        history.load()
        return history.number + 1

    def history(self) -> History | None:
        """What is known of versions that are gone; None for a document that only we change."""
        if self._history is None and self.rules.facts is not None:
            from .history import History

            self._history = History(self.room, self.name, self.rules.facts)
        return self._history

    def _remember(self, known: Sequence[Generation], number: int) -> None:
        """The history has taken in a later version than `number`, durable: the bytes of that one may go."""
        history = self.history()
        if history is None or history.saved > number:
            return
        history.load()  # another process may have done it
        if history.saved <= number:
            self._learnt(history, known)
            history.save()

    def _learnt(self, history: History, known: Sequence[Generation]) -> None:
        by_number = {one.number: one for one in known}

        def version(number: int) -> tuple[int, bytes] | None:
            data = self.version(by_number[number])
            return None if data is None else (by_number[number].by, data)

        history.take_in(list(by_number), version)

    def take_back(self) -> None:
        """Forget the copy of a version that did not take its place."""
        if self._early and self._known and self._folder is not None:
            name = self._known[-1].name
            self.room.root.drop(Place(self._folder, name, f"{self._home}/{name}"))
        self._known, self._good, self._early = None, None, ""

    def _copy(self, spare: Sequence[Generation], name: str, data: bytes) -> None:
        disk, home = self.room.disk, self._folder
        if home is None:
            home = self._folder = self.room.root.room(f"{self._home}/{name}").folder
        path = f"{self._home}/{name}"
        for old in spare:
            with suppress(FileNotFoundError):
                # The oldest becomes the newest: a file system makes a new file much more slowly than it writes an old.
                disk.rename(Place(home, old.name, f"{self._home}/{old.name}"), Place(home, name, path), "over")
        # Written over and then cut, not emptied first: file systems flush what was emptied as soon as it is closed.
        fd = disk.create(home.fd, name, path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            disk.write(fd, data, path)
            if os.fstat(fd).st_size > len(data):
                disk.truncate(fd, len(data), path)
        finally:
            os.close(fd)

    def settle(self) -> None:
        """Make the newest good version durable: a mind with plain file tools is about to work on the file."""
        newest = self._newest(fresh=True)
        if newest is not None:
            self.room.root.flush(f"{self._home}/{newest.name}")

    def undo(self, steps: int = 1) -> bytes:
        """Go back `steps` versions; the present one stays among the generations. Durable when it returns."""
        with self.room.alone():
            self.take_in(settle=True)
            known = self.generations()
            if steps < 1 or steps >= len(known):
                raise BadInput(
                    f"{steps} steps back", path=self.name, op="undo", expected=f"1 to {max(0, len(known) - 1)}"
                )
            data = self.version(known[-1 - steps])
            if data is None:
                raise NotFound("that version was lost with the power", path=self.name, op="undo", fix="try another")
            self.write(data)
            return data

    def expected(self) -> Expected:
        """The revision that `take_in` left: what a compare-and-swap of this file expects."""
        return ABSENT if self._standing is None else self._standing

    # -- inside -----------------------------------------------------------------------------------------------------

    def _newest(self, *, fresh: bool = False) -> Generation | None:
        if fresh and self._turn != (turn := self.room.turn()):
            self._known, self._turn = None, turn
        if self._known is None:
            self._known = self.generations()
            while self._known and self.version(self._known[-1]) is None:
                self._known.pop()
        return self._known[-1] if self._known else None

    def _fine(self, data: bytes) -> bool:
        return not any(not finding.warning for finding in self.rules.judge(data))

    def _unfinished(self) -> bool:
        """Is somebody writing it, or was until a moment ago?"""
        place = self.room.root.place(self.name)
        fd = None if place is None else self.room.root.open(place)
        if fd is None:
            return False
        try:
            return bool(written_now(fd)) or self.room.clock.now().timestamp() - os.fstat(fd).st_mtime < GRACE_S
        finally:
            os.close(fd)

    def _missing(self, newest: Generation | None) -> bytes | None:
        if newest is None or (data := self.version(newest)) is None:
            return None
        self._put(data)
        self.room.found("FILE_REMOVED", self.name, "the file", "nothing: somebody removed it", "it is back as it was")
        return data

    def _too_long(self) -> int:
        """The size of the file, if it is one that is not read as a whole; else 0."""
        place = self.room.root.place(self.name)
        info = None if place is None else self.room.root.glance(place)
        return info.st_size if info is not None and info.st_size > self.rules.most else 0

    def _first(self, data: bytes) -> bytes | None:
        """A file from before us. What is wrong with it is named; it stays until something must be written."""
        for finding in self.rules.judge(data):
            if not finding.warning:
                self.room.set_aside(self.name, data, f"unreadable when first seen: {finding.found}")
                self._tell(finding, "its text is kept; the next change begins anew")
                return None
        keep_doubled(self.room, self.name, data)
        clean = self.rules.clean(data)
        if clean == data:
            self.keep(data)
        else:
            self._put(clean)
            self.keep(clean)
        return clean

    def _refuse(self, data: bytes, newest: Generation) -> bytes | None:
        """A foreign text that means nothing: set aside, the last good version back, and the fault named."""
        good = self.version(newest)
        key = self.room.set_aside(self.name, data, "not readable as what it should be")
        for finding in self.rules.judge(data):
            if not finding.warning:
                self._tell(finding, f"your text is kept in {key}, the file is as it was before")
        if good is not None:
            self._put(good)
        return good

    def _foreign(self, theirs: bytes) -> bytes:
        """A valid text by somebody else: accepted as it is, merged with ours, or set aside where both cannot be."""
        ours, merged = self._merged(theirs)
        if merged.data == theirs:
            self.room.root.flush(self.name)
            self.keep(theirs, self._standing or "", foreign=True)
        elif merged.data == ours:
            self._put(ours)  # it is the newest generation already
        else:
            self._put(merged.data)
            self.keep(merged.data, merged=True)
        return merged.data

    def _late(self, theirs: bytes, ours: bytes | None) -> bytes | None:
        """What somebody wrote to an old copy of the file, found beside it; what counts then."""
        if any(of(theirs) == old.revision for old in self.generations()):
            return ours
        if not self._fine(theirs):
            self.room.set_aside(self.name, theirs, "written to an old copy of the file, and not readable")
            return ours
        _, merged = self._merged(theirs)
        if merged.data != ours:
            self._put(merged.data)
            self.keep(merged.data, merged=True)
        return merged.data

    def _merged(self, theirs: bytes) -> tuple[bytes, Merged]:
        """(ours, what becomes of theirs), conflicts told and set aside."""
        known = self._known or self.generations()
        versions = [(old.number, text) for old in known if (text := self.version(old)) is not None]
        if not versions:
            return b"", Merged(theirs)
        history = self.history()
        if history is not None:
            self._learnt(history, known)
        document = Document(self.room, self.name, self.rules, history, versions)
        merged = settle(document, theirs, newest_only=known[-1].foreign)
        return versions[-1][1], merged

    def _put(self, data: bytes) -> None:
        """Replace what stands there; if somebody was faster, the next look meets what they wrote."""
        with suppress(Conflict, Exists):
            self._standing = self.room.store.put(self.name, data, self.expected())

    def _tell(self, finding: Finding, then: str) -> None:
        fix = f"{finding.fix}; {then}" if finding.fix else then
        self.room.found(finding.code, finding.field, finding.expected, finding.found, fix)
