"""A document of an agent that others may rewrite at any time: the file is the file, and copies make every edit safe.

    tasks.json                         what every program reads; an acknowledged write of ours is fsynced into it
    .paos/generations/tasks.json/      the last good versions, newest last, `<number>-<revision>`: not fsynced, verified
                                       when read; what a foreign edit is compared with, merged with and undone from

An agent with file tools only opens the file and writes it whole, perhaps from an old reading, perhaps half. So before
every change of ours the file is checked: what another program wrote is accepted, merged, or set aside and named.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.dir_reader import DirEntryRef, DirFd
from worldfs.base.errors import BadInput, Conflict, Exists, NotFound, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.syscalls import has_writer
from worldfs.storage.revision import PRIVATE_DIR, of
from worldfs.storage.store_interface import ABSENT, ANY, Expected

from .agent_directory import AgentDirectory
from .document_merge import DocumentRules, MergeInput, MergeResult, keep_duplicate_keys, merge_edit

if TYPE_CHECKING:
    from worldfs.base.model import Finding

    from .fact_history import FactHistory

GENERATIONS: Final = f"{PRIVATE_DIR}/generations"
LONG: Final = 1 << 18  # bytes; of a longer document fewer versions are kept
KEEP_LONG: Final = 10
GRACE_S: Final = 1.0  # a file that is not valid and younger may still be being written


def write_many(
    agent_dir: AgentDirectory,
    documents: Mapping[str, MergedDocument],
    files: Mapping[str, bytes],
    *,
    looked: bool = False,
    between: Callable[[], object] | None = None,
) -> None:
    """Replace several files as a group, durable; other names are files that only we write. Inside `locked`.

    `looked`: they have been reconciled since, and nothing of ours was written to them. `between`: what must be done
    before the first of them takes its place; their drafts are durable by then.
    """
    todo = [between] if between is not None else []
    for round in itertools.count():
        items: list[tuple[str, bytes, Expected]] = []
        for name, data in files.items():
            if name in documents and (round or not looked):
                documents[name].reconcile(settle=True)
            items.append((name, data, documents[name].expected() if name in documents else ANY))
        with suppress(Conflict, Exists):  # another program writes right now: those in place are seen by the next round
            return _written(agent_dir, documents, items, todo)


def _written(
    agent_dir: AgentDirectory,
    documents: Mapping[str, MergedDocument],
    items: Sequence[tuple[str, bytes, Expected]],
    todo: list[Callable[[], object]],
    *,
    merged: bool = False,
) -> None:
    """One try of it. The copies of the new versions are written while the disk is at work on the drafts."""
    drafts = agent_dir.store.prepare_many(items)
    ours = [
        (documents[name], data, swap.new)
        for (name, data, _), (_, swap) in zip(items, drafts.begun, strict=True)
        if name in documents
    ]
    try:
        for one, data, revision in ours:
            if one.is_own_write():  # else, after a crash, beside a newer copy it would look like a program's edit
                one.copy(data, revision, merged=merged)
        if todo:
            agent_dir.store.finish_many(drafts)
            todo.pop()()
        agent_dir.store.place_many(drafts)
    except BaseException as error:
        agent_dir.store.drop_many(drafts)
        if isinstance(error, (WorldError, OSError)):  # a crash takes nothing back
            for one, _, _ in ours:
                one.discard_copy()
        raise
    for one, data, revision in ours:
        one.keep(data, revision, merged=merged)
        one.stamped = revision


class Generation(NamedTuple):
    number: int
    revision: str
    foreign: bool = False  # a rewrite, as it is: the next rewrite is based on it
    merged: bool = False  # made of a rewrite and of what was there

    @property
    def name(self) -> str:
        return f"{self.number:08d}-{self.revision}{'-foreign' if self.foreign else '-merged' if self.merged else ''}"

    @property
    def by(self) -> int:
        """Which kind of writer made it, as in `fact_history`."""
        return 0 if self.foreign else 1 if self.merged else 2


class MergedDocument:
    """One file of an agent directory. Changes are made inside `agent_dir.locked()`; reading takes no lock."""

    def __init__(self, agent_dir: AgentDirectory, name: str, rules: DocumentRules) -> None:
        self.agent_dir, self.name, self.rules = agent_dir, name, rules
        self._home = f"{GENERATIONS}/{name}"
        self._known: list[Generation] | None = None
        self._folder: DirFd | None = None  # of the generations
        self._change_count = -1  # of the agent directory, when `_known` was read
        self._late_at = 0.0  # when to check old copies for late writes again
        self._current: str | None = None  # revision of the file after `reconcile`
        self._good: tuple[str, bytes] | None = None  # revision and bytes of the newest generation, if we have them
        self._pending = ""  # revision of a copy whose version is not in place yet
        self.stamped = ""  # revision that we put in its place ourselves
        self._history: FactHistory | None = None

    # -- reading ----------------------------------------------------------------------------------------------------

    def read(self) -> bytes | None:
        """What counts now: the file if it is ours or valid, else the last good version; None if there is neither."""
        newest = self._newest()
        try:
            stored = None if self._too_long() else self.agent_dir.store.get(self.name)
        except UserError:  # a link or a FIFO in its place: the next change sets it aside
            if newest is None:
                raise
            stored = None
        if stored is not None and (newest is None or stored.revision == newest.revision or self._is_valid(stored.data)):
            return stored.data
        if newest is not None and (good := self.version(newest)) is not None:
            return good
        if stored is None and (size := self._too_long()):
            raise BadInput(
                coded("agent.bytes", n=size), path=self.name, op="read",
                expected=coded("agent.at_most_mib", n=self.rules.most >> 20), fix=coded("agent.check_fix"),
            )  # fmt: skip
        return None if stored is None else stored.data

    def generations(self) -> list[Generation]:
        """The versions that are kept, oldest first."""
        found = []
        for name in self.agent_dir.store.list(self._home):
            number, _, revision = name.partition("-")
            if number.isdecimal():
                of_, _, by = revision.partition("-")
                found.append(Generation(int(number), of_, by == "foreign", by == "merged"))
        return found

    def version(self, generation: Generation) -> bytes | None:
        """Its bytes, or None if a power cut tore them."""
        if self._good is not None and self._good[0] == generation.revision:
            return self._good[1]
        stored = self.agent_dir.store.get(f"{self._home}/{generation.name}")
        return None if stored is None or stored.revision != generation.revision else stored.data

    # -- changing (inside `locked`) ----------------------------------------------------------------------------------

    def change(self, edit: Callable[[bytes], bytes], *, merged: bool = False) -> bytes:
        """Take in what others wrote, then `edit` what counts; durable when it returns. May call `edit` again."""
        with self.agent_dir.locked():
            while True:
                found = self.reconcile(settle=True)
                data = edit(found or b"")
                if data == found:
                    return data
                if len(data) > self.rules.most:
                    raise BadInput(
                        coded("agent.bytes", n=len(data)), path=self.name, op="write",
                        expected=coded("agent.at_most_mib", n=self.rules.most >> 20), fix=coded("agent.take_out"),
                    )  # fmt: skip
                with suppress(Conflict):
                    self.write(data, merged=merged)
                    return data

    def write_merged(self, theirs: bytes) -> bytes:
        """Write a whole valid text whose author may have read an older one: merged like a foreign edit; durable."""

        def edit(ours: bytes) -> bytes:
            merged = self._merged(theirs)[1] if ours else MergeResult(theirs)
            return merged.data

        return self.change(edit, merged=True)

    def reconcile(self, *, settle: bool = False, late: bool | None = None, young: bool = False) -> bytes | None:
        """Accept, merge or reject what another program wrote to the file; returns the text that counts afterwards.

        `settle`: even an unfinished-looking text is decided about now, because ours is about to be written. `late`:
        check what was written to old copies, too; None: only if that was not done for a while. `young`: also to
        those that were replaced a moment ago.
        """
        counts = self._reconcile_file(settle)
        now = self.agent_dir.store.clock.monotonic()
        if not (now >= self._late_at if late is None else late):
            return counts
        self._late_at = now + GRACE_S / 2
        found = self.agent_dir.store.displaced(self.name, keep=True, young=young)
        for text in found:
            counts = self._merge_late_write(text, counts)
        if found:
            self.agent_dir.store.forget(self.name)
        return counts

    def _reconcile_file(self, settle: bool) -> bytes | None:
        if size := self._too_long():
            key = self.agent_dir.move_aside(self.name, f"{size} bytes")
            self.agent_dir.add_finding(
                "TOO_LARGE", self.name, coded("agent.at_most_mib", n=self.rules.most >> 20),
                coded("agent.bytes", n=size), coded("agent.kept_take_from_it", key=key),
            )  # fmt: skip
        try:
            stored = self.agent_dir.store.get(self.name)
        except UserError:
            if not self.agent_dir.clear_odd_file(self.name):
                raise
            stored = None
        newest = self._newest(fresh=True)
        self._current = None if stored is None else stored.revision
        if stored is None:
            return self._restore_missing(newest)
        if newest is not None and stored.revision == newest.revision:
            self._good = (stored.revision, stored.data)
            return stored.data
        if (
            self.agent_dir.store.ours(self.name) == stored.revision
        ):  # our last write, and its copy was lost in a power cut
            self.keep(stored.data, stored.revision)
            return stored.data
        if newest is None:
            return self._accept_first(stored.data)
        if self._is_valid(stored.data):
            return self._accept_foreign(stored.data)
        if not settle and self._unfinished():
            return self.version(newest)
        return self._reject(stored.data, newest)

    def write(self, data: bytes, *, merged: bool = False) -> None:
        """Replace what `reconcile` returned. `Conflict` if another process was faster: reconcile again."""
        try:
            _written(self.agent_dir, {self.name: self}, [(self.name, data, self.expected())], [], merged=merged)
        except Exists:
            raise Conflict(coded("agent.created_meanwhile"), path=self.name, op="write") from None

    def keep(self, data: bytes, revision: str = "", *, foreign: bool = False, merged: bool = False) -> None:
        """Note a version as the newest good one, which is there. Not durable: it is a copy of what is."""
        revision = revision or of(data)
        if self._pending != revision:
            self.copy(data, revision, foreign=foreign, merged=merged)
        self._pending, self._current = "", revision

    def is_own_write(self) -> bool:
        """Does the present file carry our stamp, so that it is known as ours even without its copy?"""
        return self.agent_dir.disk.stamps and self.stamped == self._current

    def copy(self, data: bytes, revision: str, *, foreign: bool = False, merged: bool = False) -> None:
        """The first half of `keep`, before the version is there; `discard_copy` if it never does."""
        turn = self.agent_dir.change_count()
        known = self._known if self._known is not None and self._change_count == turn else self.generations()
        self._known = None  # until it is true again
        generation = Generation(self._number(known), revision, foreign, merged)
        keep = self.rules.keep if len(data) <= LONG else min(self.rules.keep, KEEP_LONG)
        spare, known = [*known, generation][:-keep], [*known, generation][-keep:]
        if spare:
            self._save_history([*spare, *known[:-1]], spare[-1].number)
        try:
            self._copy(spare, generation.name, data)
        except FileNotFoundError:  # another program removed the directory
            self._folder = None
            self._copy(spare, generation.name, data)
        if not self.agent_dir.disk.stamps:  # if a power cut lost this copy, nothing else would show that it is ours
            self.agent_dir.root.flush(f"{self._home}/{generation.name}")
        self._known, self._change_count, self._good, self._pending = known, turn, (revision, data), revision

    def _number(self, known: Sequence[Generation]) -> int:
        if known:
            return known[-1].number + 1
        history = self.history()  # knows how far it was, if another program removed the versions
        if history is None:
            return 1
        history.load()
        return history.number + 1

    def history(self) -> FactHistory | None:
        """What is known of versions that are gone; None for a document that only we change."""
        if self._history is None and self.rules.facts is not None:
            from .fact_history import FactHistory

            self._history = FactHistory(self.agent_dir, self.name, self.rules.facts())
        return self._history

    def _save_history(self, known: Sequence[Generation], number: int) -> None:
        """The history has taken in a later version than `number`, durable: the bytes of that one may go."""
        history = self.history()
        if history is None or history.saved > number:
            return
        history.load()  # another process may have done it
        if history.saved <= number:
            self._update_history(history, known)
            history.save()

    def _update_history(self, history: FactHistory, known: Sequence[Generation]) -> None:
        by_number = {one.number: one for one in known}

        def version(number: int) -> tuple[int, bytes] | None:
            data = self.version(by_number[number])
            return None if data is None else (by_number[number].by, data)

        history.add_versions(list(by_number), version)

    def discard_copy(self) -> None:
        """Forget the copy of a version that did not take its place."""
        if self._pending and self._known and self._folder is not None:
            name = self._known[-1].name
            self.agent_dir.root.drop(DirEntryRef(self._folder, name, f"{self._home}/{name}"))
        self._known, self._good, self._pending = None, None, ""

    def _copy(self, spare: Sequence[Generation], name: str, data: bytes) -> None:
        disk, home = self.agent_dir.disk, self._folder
        if home is None:
            home = self._folder = self.agent_dir.root.ensure_parent(f"{self._home}/{name}").folder
        path = f"{self._home}/{name}"
        for old in spare:
            with suppress(FileNotFoundError):
                # The oldest becomes the newest: a file system makes a new file much more slowly than it writes an old.
                disk.rename(
                    DirEntryRef(home, old.name, f"{self._home}/{old.name}"), DirEntryRef(home, name, path), "over"
                )
        # Written over and then cut, not emptied first: file systems flush what was emptied as soon as it is closed.
        fd = disk.create(home.fd, name, path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            disk.write(fd, data, path)
            if os.fstat(fd).st_size > len(data):
                disk.truncate(fd, len(data), path)
        finally:
            os.close(fd)

    def sync(self) -> None:
        """Make the newest good version durable: an agent with plain file tools is about to work on the file."""
        newest = self._newest(fresh=True)
        if newest is not None:
            self.agent_dir.root.flush(f"{self._home}/{newest.name}")

    def undo(self, steps: int = 1) -> bytes:
        """Go back `steps` versions; the present one stays among the generations. Durable when it returns."""
        with self.agent_dir.locked():
            self.reconcile(settle=True)
            known = self.generations()
            if steps < 1 or steps >= len(known):
                expected = coded("agent.one_to", n=max(0, len(known) - 1))
                raise BadInput(coded("agent.steps_back", n=steps), path=self.name, op="undo", expected=expected)
            data = self.version(known[-1 - steps])
            if data is None:
                fix = coded("agent.try_another")
                raise NotFound(coded("agent.version_lost"), path=self.name, op="undo", fix=fix)
            self.write(data)
            return data

    def expected(self) -> Expected:
        """The revision after `reconcile`: what a compare-and-swap of this file expects."""
        return ABSENT if self._current is None else self._current

    # -- inside -----------------------------------------------------------------------------------------------------

    def _newest(self, *, fresh: bool = False) -> Generation | None:
        if fresh and self._change_count != (turn := self.agent_dir.change_count()):
            self._known, self._change_count = None, turn
        if self._known is None:
            self._known = self.generations()
            while self._known and self.version(self._known[-1]) is None:
                self._known.pop()
        return self._known[-1] if self._known else None

    def _is_valid(self, data: bytes) -> bool:
        return not any(not finding.warning for finding in self.rules.judge(data))

    def _unfinished(self) -> bool:
        """Is a program writing it, or was until a moment ago?"""
        place = self.agent_dir.root.locate(self.name)
        fd = None if place is None else self.agent_dir.root.open(place)
        if fd is None:
            return False
        try:
            return bool(has_writer(fd)) or self.agent_dir.clock.now().timestamp() - os.fstat(fd).st_mtime < GRACE_S
        finally:
            os.close(fd)

    def _restore_missing(self, newest: Generation | None) -> bytes | None:
        if newest is None or (data := self.version(newest)) is None:
            return None
        self._put(data)
        self.agent_dir.add_finding(
            "FILE_REMOVED", self.name, coded("agent.the_file"), coded("agent.was_removed"), coded("agent.restored")
        )
        return data

    def _too_long(self) -> int:
        """The size of the file, if it is one that is not read as a whole; else 0."""
        place = self.agent_dir.root.locate(self.name)
        info = None if place is None else self.agent_dir.root.lstat(place)
        return info.st_size if info is not None and info.st_size > self.rules.most else 0

    def _accept_first(self, data: bytes) -> bytes | None:
        """A file from before us. What is wrong with it is named; it stays until something must be written."""
        for finding in self.rules.judge(data):
            if not finding.warning:
                self.agent_dir.set_aside(self.name, data, f"unreadable when first seen: {finding.found}")
                self._add_finding(finding, coded("agent.kept_starts_new"))
                return None
        keep_duplicate_keys(self.agent_dir, self.name, data)
        clean = self.rules.clean(data)
        if clean == data:
            self.keep(data)
        else:
            self._put(clean)
            self.keep(clean)
        return clean

    def _reject(self, data: bytes, newest: Generation) -> bytes | None:
        """A foreign text that means nothing: set aside, the last good version back, and the fault named."""
        good = self.version(newest)
        key = self.agent_dir.set_aside(self.name, data, "unreadable or invalid")
        for finding in self.rules.judge(data):
            if not finding.warning:
                self._add_finding(finding, coded("agent.kept_as_before", key=key))
        if good is not None:
            self._put(good)
        return good

    def _accept_foreign(self, theirs: bytes) -> bytes:
        """A valid text by another process: accepted as it is, merged with ours, or set aside where both cannot be."""
        ours, merged = self._merged(theirs)
        if merged.data == theirs:
            self.agent_dir.root.flush(self.name)
            self.keep(theirs, self._current or "", foreign=True)
        elif merged.data == ours:
            self._put(ours)  # it is the newest generation already
        else:
            self._put(merged.data)
            self.keep(merged.data, merged=True)
        return merged.data

    def _merge_late_write(self, theirs: bytes, ours: bytes | None) -> bytes | None:
        """What another program wrote to an old copy of the file, found beside it; what counts then."""
        if any(of(theirs) == old.revision for old in self.generations()):
            return ours
        if not self._is_valid(theirs):
            self.agent_dir.set_aside(self.name, theirs, "written to an old copy of the file, and not readable")
            return ours
        _, merged = self._merged(theirs, late=True)
        if merged.data != ours:
            self._put(merged.data)
            self.keep(merged.data, merged=True)
        return merged.data

    def _merged(self, theirs: bytes, *, late: bool = False) -> tuple[bytes, MergeResult]:
        """(ours, what becomes of theirs); conflicts are reported and set aside. `late`: older than the last version."""
        known = self._known or self.generations()
        versions = [(old.number, text) for old in known if (text := self.version(old)) is not None]
        if not versions:
            return b"", MergeResult(theirs)
        history = self.history()
        if history is not None:
            self._update_history(history, known)
        document = MergeInput(self.agent_dir, self.name, self.rules, history, versions)
        merged = merge_edit(document, theirs, newest_only=known[-1].foreign and not late)
        return versions[-1][1], merged

    def _put(self, data: bytes) -> None:
        """Replace what is there; if another process was faster, the next `reconcile` merges what it wrote."""
        with suppress(Conflict, Exists):
            self._current = self.agent_dir.store.put(self.name, data, self.expected())

    def _add_finding(self, finding: Finding, then: str) -> None:
        fix = coded("agent.fix_then", fix=finding.fix, then=then) if finding.fix else then
        self.agent_dir.add_finding(finding.code, finding.field, finding.expected, finding.found, fix)
