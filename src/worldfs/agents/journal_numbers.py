"""The numbers of a journal's entries, all of them, without reading what the entries say: whether one is missing.

Our lines end with their number; nothing else of them is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .journal import LINE_MAX, parse, sequence_of

if TYPE_CHECKING:
    from worldfs.base.logfile import LogFile

    from .journal import Journal

_BLOCK: Final = 1 << 20  # bytes
_SEQ: Final = b',"seq":'


def sequence_numbers(journal: Journal) -> Iterator[int]:
    """In the order of the files; constant memory."""
    for name in (*journal.segments(), None):
        with journal.opened(name) as log:
            for block in _blocks(log):
                for raw in block.split(b"\n"):
                    seq = _number(raw)
                    if seq is not None:
                        yield seq


def gaps(journal: Journal) -> Iterator[tuple[int, int]]:
    """(number before, number after) of every gap."""
    last = 0
    for seq in sequence_numbers(journal):
        if seq != last + 1 and last and seq > last:
            yield last, seq
        last = max(last, seq)


def _number(raw: bytes) -> int | None:
    at = raw.rfind(_SEQ, len(raw) - 32 if len(raw) > 32 else 0)
    digits = raw[at + len(_SEQ) : -1]
    if at > 0 and raw.endswith(b"}") and digits.isdigit() and digits[0] != 48:  # the number of an object inside ends }}
        return int(digits)
    entry = parse(raw) if b"seq" in raw else None
    return None if entry is None else sequence_of(entry)


def _blocks(log: LogFile) -> Iterator[bytes]:
    """Whole lines, many at a time; what is longer than LINE_MAX is passed over, a torn end left out."""
    rest, at, skipping = b"", 0, False
    while at < log.size:
        chunk = log.read(at, _BLOCK)
        if not chunk:
            return
        at += len(chunk)
        if skipping:
            begin = chunk.find(b"\n") + 1
            if not begin:
                continue
            chunk, skipping = chunk[begin:], False
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk
        if len(rest) > LINE_MAX:
            rest, skipping = b"", True
