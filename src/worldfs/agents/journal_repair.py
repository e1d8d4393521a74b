"""Repair of the live journal: torn by a crash, added to, or changed by another process.

Runs inside the agent directory's lock. What is good stays as it is; what cannot stay is set aside byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from worldfs.base.logfile import LogFile
from worldfs.base.messages import coded

from .journal import NAME, parse, sequence_of

if TYPE_CHECKING:
    from .journal import Journal

GIANT = 16 << 20  # bytes; a live segment beyond this was not written by us, and is never read as a whole


class _TailScan(NamedTuple):
    good: int  # bytes from the start that stay
    seq: int
    first: int
    foreign: list[bytes]  # whole lines to take over


def repair(journal: Journal) -> None:
    """Afterwards `journal.seen` is true, the live segment ends with a whole line, and every line of ours is there."""
    live = journal.live
    kept = _kept(journal)
    if live.size > GIANT:
        return _put_giant_away(journal, kept)
    text = live.read(0, live.size)
    if not kept:
        known = 0
    elif text.startswith(kept):
        known = len(kept)
    else:
        return _undo(journal, kept, text)
    judged = scan_tail(text, known, _last(kept) if known else _before(journal), adopting=not known)
    _settle(journal, text, judged)


def _kept(journal: Journal) -> bytes:
    """The live segment as we left it. Empty where there is no copy to compare with (a file of another tool; or with the
    power the copy was lost, or fell back behind a rotation): the file is the truth then."""
    shadow, mark = journal.shadow, journal.marked()
    if shadow.size != mark.size or shadow.size > GIANT:
        return b""
    kept = shadow.read(0, shadow.size)
    return b"" if crc32(kept) != mark.crc or 0 < _last(kept) <= _before(journal) else kept


def scan_tail(text: bytes, known: int, seq: int, *, adopting: bool) -> _TailScan:
    """Read what is after `known` bytes; `seq` is the number of the last line before it.

    `adopting`: lines without a number are another tool's and stay as they are.
    """
    first = _first(text[:known])
    good = at = known
    foreign: list[bytes] = []
    torn = False  # from here on nothing of ours was acknowledged, and a batch of ours is not taken over in part
    end = len(text)
    while at < end:
        stop = text.find(b"\n", at)
        raw = text[at : end if stop < 0 else stop]
        entry = parse(raw)
        if stop < 0 and entry is None:
            break
        at = end if stop < 0 else stop + 1  # a whole entry, and only its newline is missing
        numbered = None if entry is None else sequence_of(entry)
        if entry is None and b"\0" in raw:  # bytes that a power cut kept from arriving
            torn = True
        ours = numbered is not None and (numbered == seq + 1 or (adopting and numbered > seq))
        if numbered is not None and ours and not foreign and not torn:
            seq, good = numbered, at
            first = first or numbered
        elif adopting and not foreign and not torn:
            good = at
        elif entry is not None and not (torn and numbered is not None):
            foreign.append(raw)
    return _TailScan(good, seq, first, foreign)


def _settle(journal: Journal, text: bytes, judged: _TailScan) -> None:
    agent_dir, live = journal.agent_dir, journal.live
    rest = text[judged.good :]
    if rest:
        reason = "lines added by another program, numbered and kept" if judged.foreign else "a line torn by a crash"
        agent_dir.set_aside(NAME, rest, reason)
        live.cut(judged.good)
    good = text[: judged.good]
    if good and not good.endswith(b"\n"):
        live.append(b"\n")
        good += b"\n"
    if live.inode or judged.seq:
        journal.replace_shadow(good)
    journal.save_mark(judged.seq, judged.first, crc32(good))
    if judged.foreign:
        entries = [entry for raw in judged.foreign if (entry := parse(raw)) is not None]
        journal.append_many([{key: value for key, value in entry.items() if key != "seq"} for entry in entries])


def _undo(journal: Journal, kept: bytes, text: bytes) -> None:
    """Another program changed or removed lines: their version is set aside, ours is back, and lines they added stay."""
    agent_dir = journal.agent_dir
    if text:
        agent_dir.set_aside(NAME, text, "lines of the journal were changed or removed; they are as before again")
    known = set(kept.split(b"\n"))
    added: list[bytes] = []
    for raw in reversed(text.split(b"\n")[:-1]):
        entry = parse(raw)
        if entry is None or raw in known or sequence_of(entry) is not None:
            break
        added.append(raw)
    _restore(journal, kept + _later(text, _last(kept)))
    if added:
        entries = [entry for raw in reversed(added) if (entry := parse(raw)) is not None]
        journal.append_many(entries)


def _restore(journal: Journal, kept: bytes) -> None:
    agent_dir = journal.agent_dir
    journal.drop_second_name()
    agent_dir.root.replace(NAME, kept)
    journal.live.refresh()
    journal.replace_shadow(kept)
    journal.save_mark(_last(kept), _first(kept), crc32(kept))
    expected, found, fix = coded("agent.as_written"), coded("agent.lines_changed"), coded("agent.lines_back")
    agent_dir.add_finding("JOURNAL_EDITED", NAME, expected, found, fix)


def _put_giant_away(journal: Journal, kept: bytes) -> None:
    """A file larger than any of ours becomes a sealed segment as it is: what others put there keeps having no number.

    Only where it does not begin with our lines is it set aside, and they are back. Constant memory.
    """
    live, agent_dir = journal.live, journal.agent_dir
    if kept and live.read(0, len(kept)) != kept:
        agent_dir.move_aside(NAME, "lines of the journal were changed or removed, and very much was added")
        return _restore(journal, kept)
    tail_at = max(0, live.size - (1 << 20))
    tail = live.read(tail_at, live.size - tail_at)
    end = tail.rfind(b"\n") + 1
    if end and end < len(tail):
        agent_dir.set_aside(NAME, tail[end:], "a line torn by a crash")
        live.cut(tail_at + end)
    before = _before(journal)
    seq = _last(kept) if kept else max(_last(tail[:end]), journal.marked().seq)
    first = _first(kept or live.read(0, 1 << 20))
    journal.save_mark(max(seq, before), first if first > before else before + 1 if before else 0, 0)
    journal.rotate()


def _before(journal: Journal) -> int:
    """The number that the sealed segments end with."""
    from .journal import SEALED, _backwards

    for name in reversed(journal.segments()):
        log = LogFile(journal.agent_dir.root, f"{SEALED}/{name}")
        log.refresh()
        try:
            for raw in _backwards(log):
                entry = parse(raw)
                if entry is not None and (seq := sequence_of(entry)) is not None:
                    return seq
        finally:
            log.close()
    return 0


def _later(text: bytes, seq: int) -> bytes:
    """The lines that go on after number `seq`: ours, and newer than a copy that fell back with the power."""
    found = []
    for raw in text.split(b"\n")[:-1]:
        entry = parse(raw)
        if entry is not None and sequence_of(entry) == seq + 1:
            found.append(raw + b"\n")
            seq += 1
    return b"".join(found)


def _last(text: bytes) -> int:
    for raw in reversed(text.split(b"\n")):
        entry = parse(raw) if raw else None
        if entry is not None and (seq := sequence_of(entry)) is not None:
            return seq
    return 0


def _first(text: bytes) -> int:
    for raw in text.split(b"\n"):
        entry = parse(raw) if raw else None
        if entry is not None and (seq := sequence_of(entry)) is not None:
            return seq
    return 0
