"""What the files of a disk store were at each time: kept for every replacement, without a further sync before it is
acknowledged.

    .paos/versions/<key>/    the log of a key (version_log.py): its newest lines may not be durable yet
    .paos/replaced/          old files, which are durable, and which keep their name until those lines are

A replacement is an exchange of the new file with the old one, so the old one's name beside it, `TIME.OLD.NEW.KEY`
(displaced_files.py), is as durable as the replacement. What a power cut takes from a log is read from there.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Collection, Container, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import Clock, epoch_ns
from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.durable import Root
from worldfs.base.errors import UserError, WorldError

from .revision import PRIVATE_DIR, of
from .trash import decode, encode
from .versioned_files import PastFile, PastKind

if TYPE_CHECKING:
    from .version_log import SegmentName, VersionLog

HOME: Final = f"{PRIVATE_DIR}/versions"
REPLACED: Final = f"{PRIVATE_DIR}/replaced"
DISPLACED: Final = f"{PRIVATE_DIR}/displaced"
BUDGET: Final = 64 << 20  # bytes of all logs of a store
TOGETHER: Final = 8  # old files that share a sync
_OPEN: Final = 32  # logs


class _Replaced(NamedTuple):
    """An old file: what it said until `at_ns`, and what took its place."""

    at_ns: int
    old: str
    new: str
    place: DirEntryRef

    @property
    def log_key(self) -> str:
        return self.place.name.split(".", 3)[3]


class _Version(NamedTuple):
    at_ns: int
    revision: str
    data: bytes | None


class FileVersions:
    """`keys`: those that are kept. Methods that write are called with the store's lock held."""

    def __init__(
        self, root: Root, keys: Container[str], clock: Clock, budget: int = BUDGET, *, few_files: bool = False
    ) -> None:
        self._root, self._keys, self._clock, self._budget, self._few = root, keys, clock, budget, few_files
        self._logs: OrderedDict[str, VersionLog] = OrderedDict()
        self._mutex = threading.Lock()
        self._scanned: dict[str, int] = {}  # the time of the last replacement up to which `note` has compared old files
        self._waiting: list[tuple[DirEntryRef, os.stat_result | None]] | None = None

    def close(self) -> None:
        with self._mutex:
            for log in self._logs.values():
                log.close()
            self._logs.clear()

    def keeps(self, key: str) -> bool:
        return key in self._keys and not encode(key).startswith("=")

    # -- writing ---------------------------------------------------------------------------------------------------

    def next_time(self, key: str) -> int:
        """The time of a version that is about to be written: no other version of the key has it."""
        now = epoch_ns(self._clock.now())
        last = self._log(encode(key)).tip()
        return last.at_ns + 1 if last is not None and now <= last.at_ns <= now + 999 else now

    def note(self, key: str, at_ns: int, revision: str, data: bytes | None, old: str | None) -> None:
        """A version is in place since `at_ns`, of `old` (None: no file) before. `revision` "": it was removed.

        `at_ns`: what `next_time` has said since the caller took the store's lock. Never a failure: the file is in
        place, and what the log lacks is read from beside it.
        """
        with suppress(OSError, WorldError):
            self._note(key, at_ns, revision, data, old)
            if self._few:
                self._log(encode(key)).close()

    def _note(self, key: str, at_ns: int, revision: str, data: bytes | None, old: str | None) -> None:
        name = encode(key)
        log = self._log(name)
        last = log.tip(asked=True)
        unknown = last is None or last.revision != (old or "")
        if unknown:
            if last is None and old is None:
                log.append(0, "", None)  # a file of ours was not there before its first version
            self._add(log, self._missing(key, name, log, before=at_ns, since=self._scanned.get(name, 0)))
        begun = log.append(at_ns, revision, data, asked=True)
        if unknown:
            self._scanned[name] = at_ns  # not before the line of that replacement is there
        if begun:
            self._thin()

    def note_move(self, source: str, target: str) -> None:
        """What is at `source`, a file or a directory, is about to be at `target`; durable when it returns.

        `OSError`, `WorldError`: a move leaves no old file beside the log, so what is not noted here is noted nowhere.
        """
        if source.startswith(f"{PRIVATE_DIR}/") and target.startswith(f"{PRIVATE_DIR}/"):
            return
        place = self._root.locate(source)
        info = None if place is None else self._root.status(place)
        if place is None or info is None:
            return
        if stat.S_ISDIR(info.st_mode):
            for name in self._root.folder(source).names():
                self.note_move(f"{source}/{name}", f"{target}/{name}")
        elif self.keeps(source) or self.keeps(target):
            data = self._root.read_at(place) or b""
            if self.keeps(source):
                self.see(source)  # content that the log lacks goes away with its file
            self._note_moved(source, "", None, of(data))
            self._note_moved(target, of(data), data, None)

    def _note_moved(self, key: str, revision: str, data: bytes | None, old: str | None) -> None:
        if self.keeps(key):
            self._note(key, self.next_time(key), revision, data, old)
            self._log(encode(key)).sync()  # not `_settle_log`: the file is not there yet, or not gone

    def see(self, key: str) -> bool:
        """Note what another program made of a file, as seen now; whether that was new."""
        name = encode(key)
        log = self._log(name)
        missing = self._missing(key, name, log)
        self._add(log, missing)
        return bool(missing)

    def sync(self, key: str) -> None:
        """What was noted of a key is durable when it returns."""
        self._settle_log(encode(key))

    def defer(self, place: DirEntryRef, info: os.stat_result | None) -> None:
        """Take an unchanged old file, which keeps a name until the log is durable. `info`: it may be written over."""
        if self._waiting is None:
            folder = self._root.ensure_parent(f"{REPLACED}/x").folder
            left = (DirEntryRef(folder, name, f"{REPLACED}/{name}") for name in sorted(folder.names()))
            self._waiting = [(one, None) for one in left if _parse(one) is not None]
            self._folder = folder
        there = DirEntryRef(self._folder, place.name, f"{REPLACED}/{place.name}")
        try:
            self._root.rename(place, there)
        except FileNotFoundError:  # it, or the directory: another program removed it
            self._waiting = None
            self._root.drop(place)
            return
        self._waiting.append((there, info))

    def due(self) -> bool:
        """Whether so many old files wait that the caller should `settle`, best right after another sync: the disk
        begins with it now. Needs no lock."""
        waiting = self._waiting  # once: another thread may set it
        if waiting is None or len(waiting) < TOGETHER:
            return False
        for name in self._names(waiting):
            self._log(name).begin_sync()
        return True

    def settle(self) -> None:
        """Make the logs durable, and give up the old files that waited for it. `WorldError`, `OSError`: those stay
        beside the log, for the next process."""
        waiting, self._waiting = self._waiting or [], []
        for name, times in self._names(waiting).items():
            self._settle_log(name, times)
        self._root.settle_spares()
        for place, info in waiting:
            if info is None or not self._root.retire(place, info):
                self._root.drop(place)

    @staticmethod
    def _names(waiting: Iterable[tuple[DirEntryRef, object]]) -> dict[str, set[int]]:
        """Of the logs that old files wait for; with the times at which those were replaced."""
        found: dict[str, set[int]] = {}
        for place, _ in waiting:
            if (entry := _parse(place)) is not None:
                found.setdefault(entry.log_key, set()).add(entry.at_ns)
        return found

    def _settle_log(self, name: str, times: Collection[int] = ()) -> None:
        """Make the log durable, with all that is on the disk. `times`: only the replacements of these times."""
        log = self._log(name)
        if not times or not log.times_since(min(times)).issuperset(times):
            self._add(log, self._missing(decode(name) or "", name, log))  # a writer may have died before it noted that
        log.sync()

    def _add(self, log: VersionLog, missing: list[_Version]) -> None:
        for version in missing:
            log.append(*version)

    # -- reading ---------------------------------------------------------------------------------------------------

    def at(self, key: str, at_ns: int) -> PastFile:
        name = encode(key)
        log = self._log(name)
        missing = self._missing(key, name, log)
        for version in reversed(missing):
            if version.at_ns <= at_ns:
                return _past(version.at_ns, version.revision, version.data)
        found = log.at(at_ns)
        if found is not None:
            return _past(found.record.at_ns, found.record.revision, log.content(found))
        segments = log.segments()
        if segments:
            return PastFile(PastKind.THINNED if segments[0].number > 1 else PastKind.UNKNOWN, segments[0].first_ns)
        return PastFile(PastKind.UNKNOWN, missing[0].at_ns) if missing else PastFile(PastKind.ABSENT)

    def newest_first(self, key: str) -> Iterator[tuple[int, str]]:
        """Time and revision of each version; "": the file was removed."""
        name = encode(key)
        log = self._log(name)
        for version in reversed(self._missing(key, name, log)):
            yield version.at_ns, version.revision
        for found in log.newest_first():
            if found.record.at_ns:
                yield found.record.at_ns, found.record.revision

    def keys(self) -> list[str]:
        """Of which there are versions."""
        try:
            names = self._root.folder(HOME).names()
        except FileNotFoundError:
            return []
        return sorted(key for name in names if (key := decode(name)) is not None)

    def size(self) -> int:
        """Bytes of all logs."""
        return sum(size for *_, size in self._files())

    # -- what the logs do not say ----------------------------------------------------------------------------------

    def _missing(
        self, key: str, name: str, log: VersionLog, *, before: int | None = None, since: int = 0
    ) -> list[_Version]:
        """The versions that are on the disk and not in the log, oldest first: of replacements whose lines a power cut
        took, and of other programs. `before`: what was so until a replacement of that time. `key` "": not the file.
        `since`: leave out the old files up to that time, which are known to be in the log."""
        last = log.last() if before is None else log.tip(asked=True)
        entries = self._replaced(name, since)
        known, since = (None, 0) if last is None else (last.revision, last.at_ns)
        found: list[_Version] = []
        logged = set() if [one.at_ns for one in entries] in ([], [before]) else log.times_since(entries[0].at_ns)
        for entry in entries:
            mine = before is not None and entry.at_ns >= before
            if (entry.at_ns in logged) or (mine and entry.at_ns != before):
                continue
            data, revision, changed = self._old_file(entry)
            if revision == entry.new != entry.old and not mine:
                continue  # the new file: it never took its place
            if entry.old and entry.old != known:
                since = max(since, min(changed, entry.at_ns - 1))
                found.append(_Version(since, entry.old, data))
            elif found and found[-1].data is None and found[-1].revision == entry.old:
                found[-1] = found[-1]._replace(data=data)
            known = entry.old
            if not mine:
                found.append(_Version(entry.at_ns, entry.new, None))
                known, since = entry.new, entry.at_ns
        if before is None and key:
            self._add_present(key, found, known, since)
        return found

    def _add_present(self, key: str, found: list[_Version], known: str | None, since: int) -> None:
        place = self._root.locate(key)
        stored = None
        with suppress(UserError, OSError):  # what is there is no file
            stored = None if place is None else self._root.read_with_stat(place)
        if stored is None:
            if known:
                found.append(_Version(max(since, epoch_ns(self._clock.now())), "", None))
            return
        data, info = stored
        revision = of(data)
        if found and found[-1].data is None and found[-1].revision == revision:
            found[-1] = found[-1]._replace(data=data)
        elif revision != known:
            found.append(_Version(max(since, info.st_ctime_ns), revision, data))

    def _replaced(self, name: str, since: int = 0) -> list[_Replaced]:
        """The old files of a key that were replaced after that time, oldest first."""
        found: dict[int, _Replaced] = {}
        first, end = f"{since:016x}~", f".{name}"  # their names begin with the time, in digits that sort
        for home in (DISPLACED, REPLACED):
            try:
                folder = self._root.folder(home)
            except FileNotFoundError:
                continue
            for one in folder.names():
                if one.endswith(end) and one.lstrip("+") > first:
                    entry = _parse(DirEntryRef(folder, one, f"{home}/{one}"))
                    if entry is not None and entry.log_key == name:
                        found[entry.at_ns] = entry  # under both names: it is moved just now
        return [found[at] for at in sorted(found)]

    def _old_file(self, entry: _Replaced) -> tuple[bytes | None, str, int]:
        """Its content, if it is what it was; its revision, and when it was written."""
        try:
            stored = self._root.read_with_stat(entry.place)
        except (UserError, OSError):
            return None, "", 0
        if stored is None:
            return None, "", 0
        data, info = stored
        revision = of(data)
        return (data if revision == entry.old else None), revision, info.st_mtime_ns

    # -- the budget ------------------------------------------------------------------------------------------------

    def _thin(self) -> None:
        """Drop the oldest files of logs, never the newest of a key, until all are within the budget."""
        files = list(self._files())
        total = sum(size for *_, size in files)
        newest = {name: segment for name, segment, _ in sorted(files)}
        for name, segment, size in sorted(files, key=lambda file: (file[1].first_ns, file[1].number)):
            if total <= self._budget:
                return
            if segment != newest[name]:
                self._log(name).drop(segment)
                total -= size

    def _files(self) -> Iterator[tuple[str, SegmentName, int]]:
        try:
            names = self._root.folder(HOME).names()
        except FileNotFoundError:
            return
        for name in names:
            log = self._log(name)
            for segment in log.segments():
                info = self._root.lstat(DirEntryRef(self._root.folder(log.home), segment.name, ""))
                if info is not None:
                    yield name, segment, info.st_size

    def _log(self, name: str) -> VersionLog:
        with self._mutex:
            log = self._logs.pop(name, None)
            if log is None:
                from .version_log import VersionLog  # who only reads the present does without

                log = VersionLog(self._root, f"{HOME}/{name}")
            self._logs[name] = log
            while len(self._logs) > _OPEN:
                self._logs.pop(next(iter(self._logs))).close()
            return log


def _parse(place: DirEntryRef) -> _Replaced | None:
    parts = place.name.removeprefix("+").split(".", 3)
    try:
        return _Replaced(int(parts[0], 16), parts[1], parts[2], place) if len(parts) == 4 else None
    except ValueError:
        return None


def _past(at_ns: int, revision: str, data: bytes | None) -> PastFile:
    if not revision:
        return PastFile(PastKind.ABSENT, at_ns)
    return PastFile(PastKind.LOST if data is None else PastKind.FOUND, at_ns, revision, data)
