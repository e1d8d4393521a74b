"""The states of a directory that a power cut may leave: a model weaker than real file systems.

The model, weaker than ext4, xfs and btrfs are:

- the bytes and the length of a file are durable once it is fsynced or fdatasynced; of what came later any part may be
  there, torn at sectors and pages, in any order, and a length may be there without its bytes (zeros);
- a name is durable once its directory is fsynced; of the later changes of names any set may be there, each whole, those
  of one name in their order;
- a rename happens whole or not at all, and syncing either directory makes it durable;
- nothing follows from anything else: not the bytes from the name, not the directory's own name from its content.
"""

from __future__ import annotations

import os
import random
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.disk import STAMP

from .crash_log import DiskOp, Snapshot
from .torn_writes import WHOLE, apply_change, torn_contents

NEWEST: Final = 8  # pending changes of names that are varied one by one; older ones vary together, or at random
FILES: Final = 6  # files with pending changes that are varied one by one: those changed last; older ones were before


class CrashState(NamedTuple):
    """A possible directory after a crash between operation `after` and the next."""

    after: int
    acked: tuple[str, ...]
    folders: tuple[str, ...]  # parents first
    files: dict[str, tuple[int, bytes, bytes]]  # by path: file id, content, stamp
    note: str  # what is missing, as text

    @property
    def signature(self) -> int:
        """Equal for states that a client with the same acknowledgements cannot tell apart."""
        return hash((len(self.acked), self.folders, frozenset(self.files.items())))


class _File:
    __slots__ = ("base", "changes", "id", "memo", "stamp", "syncs")

    def __init__(self, id: int, base: bytes = b"", stamp: bytes = b"") -> None:
        self.id, self.base, self.stamp = id, base, stamp
        self.changes: list[tuple[int, DiskOp]] = []
        self.syncs: list[int] = []
        self.memo: dict[tuple[int, int], list[tuple[str, bytes]]] = {}


class _Folder:
    __slots__ = ("id", "syncs")

    def __init__(self, id: int) -> None:
        self.id = id
        self.syncs: list[int] = []


_Node = _File | _Folder


_Table = dict[tuple[_Folder, str], _Node]


class _Names(NamedTuple):
    """One change of names, by the operation `at`: it happens whole."""

    at: int
    changes: tuple[tuple[_Folder, str, _Node | None], ...]


_Draw = tuple[tuple[_Table, list[_Names]], dict[_File, tuple[str, bytes]], str]
"""A state to be made: the names at first and the changes of names, the variants of files, and a note."""


class DiskOpHistory:
    """The log's analysis: the file and directory of each operation, and when each was made durable."""

    def __init__(self, start: Snapshot, ops: Iterable[DiskOp]) -> None:
        self.ops = list(ops)
        self._count = 0
        self.top = self._folder()
        self._first: _Table = {}
        self._now: _Table = {}
        self._names: list[_Names] = []
        self._files: list[_File] = []
        self._acks: list[tuple[int, str]] = []
        for path in start.folders:
            self._first[self._key(path, self._first)] = self._folder()
        for path, data in start.files.items():
            self._first[self._key(path, self._first)] = self._file(data, start.stamps.get(path, b""))
        for path, other in start.hard_links.items():
            self._first[self._key(path, self._first)] = self._first[self._key(other, self._first)]
        self._now.update(self._first)
        for index, op in enumerate(self.ops):
            self._read(index, op)

    # -- understanding the log -------------------------------------------------------------------------------------

    def _folder(self) -> _Folder:
        self._count += 1
        return _Folder(self._count)

    def _file(self, data: bytes = b"", stamp: bytes = b"") -> _File:
        self._count += 1
        file = _File(self._count, data, stamp)
        self._files.append(file)
        return file

    def _key(self, path: str, table: _Table) -> tuple[_Folder, str]:
        folder = self.top
        *above, name = path.split("/")
        for part in above:
            node = table[folder, part]
            assert isinstance(node, _Folder), f"{path}: {part} is no directory"
            folder = node
        return folder, name

    def _read(self, index: int, op: DiskOp) -> None:
        if op.kind == "ack":
            self._acks.append((index, op.path))
        elif op.kind == "sync_dir":
            node = self._now[self._key(op.path, self._now)] if op.path else self.top
            assert isinstance(node, _Folder), op
            node.syncs.append(index)
        elif op.kind in ("write", "truncate", "stamp", "sync"):
            node = self._now[self._key(op.path, self._now)]
            if isinstance(node, _Folder) or op.kind == "sync":  # a trace does not say which of both was synced
                node.syncs.append(index)
            else:
                node.changes.append((index, op))
        else:
            self._name(index, op)

    def _name(self, index: int, op: DiskOp) -> None:
        here = self._key(op.path, self._now)
        there = self._key(op.other, self._now) if op.other else here
        changes: tuple[tuple[tuple[_Folder, str], _Node | None], ...]
        if op.kind == "create":
            changes = ((here, self._file()),)
        elif op.kind == "mkdir":
            changes = ((here, self._folder()),)
        elif op.kind == "unlink":
            changes = ((here, None),)
        elif op.kind == "link":
            changes = ((there, self._now[here]),)
        elif op.kind == "swap":
            changes = ((here, self._now[there]), (there, self._now[here]))
        else:
            changes = ((there, self._now[here]), (here, None))
        for key, node in changes:
            if node is None:
                self._now.pop(key, None)
            else:
                self._now[key] = node
        self._names.append(_Names(index, tuple((folder, name, node) for (folder, name), node in changes)))

    # -- what a crash leaves ---------------------------------------------------------------------------------------

    def acked(self, upto: int) -> tuple[str, ...]:
        return tuple(label for index, label in self._acks if index < upto)

    def everything(self, upto: int) -> CrashState:
        """All operations, durable or not: the state after a killed process."""
        names = [names for names in self._names if names.at < upto]
        return self._state(upto, self._first, names, {}, "nothing is missing")

    def states(
        self, upto: int, *, lots: int = 8, rng: random.Random | None = None, share: float = 1.0
    ) -> Iterator[CrashState]:
        """After the first `upto` operations: the boundary cases first, then `lots` at random. `share`: of both."""
        rng = rng or random.Random(upto)  # noqa: S311  # the same lots at every run
        for names, drawn, note in self._draws(upto, lots, rng):
            if share == 1.0 or rng.random() < share:
                table, both = names
                yield self._state(upto, table, both, drawn, note)

    def _draws(self, upto: int, lots: int, rng: random.Random) -> Iterator[_Draw]:
        sure: list[_Names] = []
        pending: list[_Names] = []
        for names in self._names:
            if names.at >= upto:
                break
            (sure if self._durable(names, upto) else pending).append(names)
        open_files = [file for file in self._files if self._pending(file, upto)]
        nothing = {file: self._variants(file, upto)[1] for file in open_files}
        begin = pending[0].at if pending else upto
        table = _changed(self._first, [names for names in sure if names.at < begin])
        sure = [names for names in sure if names.at >= begin]
        for words, chosen in dict(_subsets(pending)).items():
            both = sorted([*sure, *chosen], key=_in_order)
            yield (table, both), {}, f"names: {words}"
            if nothing:
                yield (table, both), nothing, f"names: {words}; unsynced bytes missing"
        whole = sorted([*sure, *pending], key=_in_order)
        for file in sorted(open_files, key=lambda file: self._pending(file, upto)[-1][0])[-FILES:]:
            for variant in self._variants(file, upto):
                yield (table, whole), {file: variant}, ""
        for _ in range(lots if pending or open_files else 0):
            share = rng.choice((0.2, 0.5, 0.8))
            lot = [names for names in pending if rng.random() < share]
            drawn = {file: rng.choice(self._variants(file, upto)) for file in open_files if rng.random() < 0.7}
            missing = ", ".join(str(self.ops[names.at]) for names in pending if names not in lot)
            both = sorted([*sure, *lot], key=_in_order)
            yield (table, both), drawn, f"by lot, without: {missing}"

    def _durable(self, names: _Names, upto: int) -> bool:
        return any(_synced(folder.syncs, names.at, upto) for folder, _, _ in names.changes)

    def _pending(self, file: _File, upto: int) -> Sequence[tuple[int, DiskOp]]:
        last = _last(file.syncs, upto)
        return [change for change in file.changes if last < change[0] < upto]

    def _variants(self, file: _File, upto: int) -> list[tuple[str, bytes]]:
        """The variants of a file: all pending changes, only durable ones, then torn ones."""
        last = _last(file.syncs, upto)
        end = bisect_left(file.changes, upto, key=lambda change: change[0])
        known = file.memo.get((last, end))
        if known is None:
            base = file.base
            pending = []
            for index, op in file.changes[:end]:
                if op.kind == "stamp":
                    continue
                if index < last:
                    base = apply_change(base, op)
                else:
                    pending.append(op)
            known = list(torn_contents(base, pending)) if pending else [(WHOLE, base), ("its stamp is missing", base)]
            file.memo[last, end] = known
        return known

    def _stamp(self, file: _File, upto: int, whole: bool) -> bytes:
        """A stamp is durable once the file is synced, and else whole or missing."""
        end = upto if whole else _last(file.syncs, upto)
        stamps = [op.data for index, op in file.changes if index < end and op.kind == "stamp"]
        return stamps[-1] if stamps else file.stamp

    def _state(
        self, upto: int, table: _Table, names: Iterable[_Names], drawn: dict[_File, tuple[str, bytes]], note: str
    ) -> CrashState:
        table = _changed(table, names)
        children: dict[_Folder, list[tuple[str, _Node]]] = {}
        for (folder, name), node in table.items():
            children.setdefault(folder, []).append((name, node))
        folders: list[str] = []
        files: dict[str, tuple[int, bytes, bytes]] = {}
        words = [note] if note else []
        seen = {self.top}
        todo: list[tuple[str, _Folder]] = [("", self.top)]
        while todo:
            above, folder = todo.pop()
            for name, node in children.get(folder, ()):
                path = f"{above}/{name}" if above else name
                if isinstance(node, _Folder):
                    if node not in seen:  # under a second name: a rename of a directory that is there half
                        seen.add(node)
                        folders.append(path)
                        todo.append((path, node))
                    continue
                variant = drawn.get(node)
                if variant is not None:
                    words.append(f"{path}: {variant[0]}")
                words_, data = variant or self._variants(node, upto)[0]
                files[path] = (node.id, data, self._stamp(node, upto, words_ == WHOLE))
        return CrashState(upto, self.acked(upto), tuple(sorted(folders)), files, "; ".join(words))


def states(start: Snapshot, ops: Sequence[DiskOp], upto: int, *, lots: int = 8) -> Iterator[CrashState]:
    """The directories that a crash after the first `upto` operations may leave; see `DiskOpHistory.states`."""
    return DiskOpHistory(start, ops[:upto]).states(upto, lots=lots)


def materialise(state: CrashState, target: Path) -> None:
    """Write the state into the directory `target`, which must not exist."""
    os.mkdir(target)
    top = f"{target}/"
    for folder in state.folders:
        os.mkdir(top + folder)
    made: dict[int, str] = {}
    for path, (file, data, stamp) in state.files.items():
        if file in made:
            os.link(made[file], top + path)
            continue
        made[file] = top + path
        fd = os.open(top + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, data)
        if stamp:
            os.setxattr(fd, STAMP, stamp)
        os.close(fd)


def _changed(table: _Table, names: Iterable[_Names]) -> _Table:
    table = dict(table)
    for _, changes in names:
        for folder, name, node in changes:
            if node is None:
                table.pop((folder, name), None)
            else:
                table[folder, name] = node
    return table


def _in_order(names: _Names) -> int:
    return names.at


def _synced(syncs: Sequence[int], index: int, upto: int) -> bool:
    at = bisect_left(syncs, index)
    return at < len(syncs) and syncs[at] < upto


def _last(syncs: Sequence[int], upto: int) -> int:
    at = bisect_left(syncs, upto)
    return syncs[at - 1] if at else -1


def _subsets(pending: Sequence[_Names]) -> Iterator[tuple[str, Sequence[_Names]]]:
    """The sets of unsynced changes of names that find most: all, none, each beginning, all but one, one alone."""
    yield "all", pending
    if not pending:
        return
    yield "only the synced ones", ()
    old, new = pending[:-NEWEST], pending[-NEWEST:]
    for count in range(len(new)):
        if old or count:
            yield f"the last {len(new) - count} are missing", [*old, *new[:count]]
    for position, one in enumerate(new):
        yield f"one is missing: {_words(one)}", [*old, *new[:position], *new[position + 1 :]]
        yield f"the only unsynced one that is there: {_words(one)}", [one]


def _words(names: _Names) -> str:
    return f"{names.at} ({', '.join(('+' if node else '-') + name for _, name, node in names.changes)})"
