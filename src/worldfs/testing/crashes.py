"""Power cuts by enumeration: carry out an operation once, then check every state that a crash could leave.

def operate(path, disk, ack):
    store = DiskStore(path, disk)
    store.put("a", b"1")
    ack("a")

def check(path, acked):
    assert ("a" in acked) <= ((path / "a").exists())

print(enumerate_crashes(prepare, operate, check))
"""

from __future__ import annotations

import math
import os
import random
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from worldfs.base.disk import STAMP, Disk

from .crash_log import DiskOp, Recorder, Snapshot, Sync
from .crash_states import CrashState, DiskOpHistory, materialise, states

__all__ = [
    "CrashCheckCounts",
    "CrashCheckFailure",
    "CrashState",
    "DiskOpLog",
    "Recorder",
    "enumerate_crashes",
    "materialise",
    "record",
    "scratch_directory",
    "states",
    "try_states",
]  # fmt: skip

Prepare = Callable[[Path], None]
"""Puts there what is durable before the operation begins."""
Operate = Callable[[Path, Disk, Callable[[str], None]], None]
"""Opens what is at the path over the disk, changes it, and calls the third for each thing that is acknowledged."""
Check = Callable[[Path, tuple[str, ...]], object]
"""Opens what a crash left, with the real recovery, and raises if something is wrong; what had been acknowledged."""


class CrashCheckFailure(AssertionError):
    """A crash that the program does not survive; the text names the crash and the error."""


class CrashCheckCounts(NamedTuple):
    """Counts of a check."""

    operations: int = 0
    states: int = 0
    seconds: float = 0.0

    def __add__(self, other: object) -> CrashCheckCounts:
        if not isinstance(other, CrashCheckCounts):
            return NotImplemented
        operations, states, seconds = other
        return CrashCheckCounts(self.operations + operations, self.states + states, self.seconds + seconds)

    def __str__(self) -> str:
        rate = self.states / self.seconds if self.seconds else 0.0
        return f"{self.operations} operations, {self.states} crash states, {rate:.0f} a second, nothing lost"


class DiskOpLog(NamedTuple):
    """The initial snapshot, and the operations on it."""

    start: Snapshot
    ops: Sequence[DiskOp]


def enumerate_crashes(
    prepare: Prepare,
    operate: Operate,
    check: Check,
    *,
    lots: int = 8,
    without: Collection[Sync] = (),
) -> CrashCheckCounts:
    """Check every state after every operation, each once. `CrashCheckFailure` at the first that `check` rejects.

    `lots`: random states at each operation. `without`: see `Recorder`.
    """
    with scratch_directory() as place:
        log = record(place / "first", prepare, operate, without=without)
        return try_states(place, log, check, lots=lots)


def record(path: Path, prepare: Prepare, operate: Operate, *, without: Collection[Sync] = ()) -> DiskOpLog:
    """Carry out the operation in the new directory `path`."""
    path.mkdir()
    prepare(path)
    recorder = Recorder(path, without=without)
    operate(path, recorder, recorder.ack)
    return DiskOpLog(recorder.start, recorder.ops)


def try_states(
    place: Path, log: DiskOpLog, check: Check, *, begin: int = 0, lots: int = 8, share: float = 1.0, before: str = ""
) -> CrashCheckCounts:
    """Check the crash states of a log, from its operation `begin` on; directories are made below `place`.

    `share`: random fraction of the states, for a quick check; the moments come in any order then, so that a loss that
    many of them show is found soon.
    """
    history = DiskOpHistory(log.start, log.ops)
    seen: set[int] = set()
    tried, since = 0, time.perf_counter()
    some = share**0.5  # of the moments, and of the states at each
    for upto in _moments(begin, len(log.ops), some):
        rng = random.Random(upto)  # noqa: S311  # the same at every run
        for state in history.states(upto, lots=lots, rng=rng, share=some):
            if state.signature not in seen:
                seen.add(state.signature)
                tried += 1
                _try(place / f"s{tried}", state, check, log.ops, before)
    return CrashCheckCounts(len(log.ops) - begin, tried, time.perf_counter() - since)


def _moments(begin: int, end: int, share: float) -> list[int]:
    moments = list(range(begin, end + 1))
    if share == 1.0:
        return moments
    dice = random.Random(begin)  # noqa: S311  # the same at every run
    return dice.sample(moments, math.ceil(share * len(moments)))


def _try(target: Path, state: CrashState, check: Check, ops: Sequence[DiskOp], before: str) -> None:
    materialise(state, target)
    try:
        check(target, state.acked)
    except Exception as error:
        last = "\n".join(f"  {index} {ops[index]}" for index in range(max(0, state.after - 12), state.after))
        raise CrashCheckFailure(
            f"{type(error).__name__}: {error}\nacknowledged: {', '.join(state.acked) or 'nothing'}\n"
            f"the power was cut after:\n{last}\n{before}{state.note}"
        ) from error
    finally:
        _remove(target)


def _remove(path: Path | str) -> None:
    """As shutil.rmtree, for our own small directories, and in a third of its time."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path)
            else:
                os.unlink(entry.path)
    os.rmdir(path)


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """A directory in memory where there is one: thousands of directories are made there and thrown away."""
    memory = "/dev/shm"  # noqa: S108  # a new directory of our own is made in it
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as path:
        if _keeps_stamps(path):
            yield Path(path)
            return
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def _keeps_stamps(path: str) -> bool:
    try:
        os.setxattr(path, STAMP, b"")
    except OSError:
        return False
    return True
