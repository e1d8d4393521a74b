"""The possible contents of a file whose last changes were not synced: all, none, or a part, torn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from .crash_log import DiskOp

SECTOR: Final = 512  # bytes: what a disk writes whole
WHOLE: Final = "whole"
PAGE: Final = 4096  # bytes: what the system writes at once


def apply_change(data: bytes, op: DiskOp) -> bytes:
    if op.kind == "truncate":
        return data[: op.at].ljust(op.at, b"\0")
    return data[: op.at].ljust(op.at, b"\0") + op.data + data[op.at + len(op.data) :]


def torn_contents(base: bytes, pending: Sequence[DiskOp]) -> Iterator[tuple[str, bytes]]:
    done = [base]
    for op in pending:
        done.append(apply_change(done[-1], op))
    whole = done[-1]
    yield WHOLE, whole
    if not pending:
        return
    yield "its unsynced bytes are missing", base
    seen = {whole, base}
    for words, data in _odd(done, pending):
        if data not in seen:
            seen.add(data)
            yield words, data


def _odd(done: Sequence[bytes], pending: Sequence[DiskOp]) -> Iterator[tuple[str, bytes]]:
    base, whole, last = done[0], done[-1], pending[-1]
    few = range(1, len(pending)) if len(pending) < 6 else (1, len(pending) // 2, len(pending) - 1)
    for count in few:
        yield f"the last {len(pending) - count} unsynced changes are missing", done[count]
    for left_out in (0, len(pending) - 2):
        if 0 <= left_out < len(pending) - 1:
            data = base
            for position, op in enumerate(pending):
                data = data if position == left_out else apply_change(data, op)
            yield f"unsynced change {left_out} is missing, later ones are there", data
    if last.kind == "truncate":
        return
    before, begin, end = done[-2], last.at, last.at + len(last.data)
    for at, unit in _cuts(begin, end):
        part = apply_change(before, last._replace(data=last.data[: at - begin]))
        yield f"torn after byte {at} ({unit})", part
        yield f"zeros from byte {at} ({unit})", part.ljust(len(whole), b"\0") if len(before) <= at else part
        late = apply_change(before, last._replace(at=at, data=last.data[at - begin :]))
        yield f"the bytes before {at} ({unit}) have not arrived", late
    if len(whole) > len(base):
        yield "longer, and zeros instead of all unsynced bytes", base.ljust(len(whole), b"\0")
        for size in (SECTOR, PAGE):
            first = -(-len(base) // size) * size
            if first < len(whole):  # blocks arrive in any order
                yield f"zeros up to byte {first}", base.ljust(first, b"\0") + whole[first:]
                middle = (first + len(whole)) // 2 // size * size
                hole = whole[:middle].ljust(min(middle + size, len(whole)), b"\0") + whole[middle + size :]
                yield f"a hole of zeros at byte {middle}", hole


def _cuts(begin: int, end: int) -> Iterator[tuple[int, str]]:
    """Where a write from `begin` to `end` may be torn: half way, and at the first and the last boundary."""
    seen: set[int] = set()
    cuts: list[tuple[int, str]] = [(begin + (end - begin) // 2, "half")]
    for unit, word in ((SECTOR, "sector"), (PAGE, "page")):
        cuts += [((begin // unit + 1) * unit, word), ((end - 1) // unit * unit, word)]
    cuts.append((end - 1, "all but one byte"))
    for at, word in cuts:
        if begin < at < end and at not in seen:
            seen.add(at)
            yield at, word
