"""Power cuts by enumeration: carry out an operation once, then open everything that a crash might have left of it.

def operate(path, disk, ack):
    store = DiskStore(path, disk)
    store.put("a", b"1")
    ack("a")

def check(path, acked):
    assert ("a" in acked) <= ((path / "a").exists())

print(enumerate_crashes(prepare, operate, check))
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from worldfs.ground.disk import Disk

from .crash_log import Op, Recorder, Snapshot, Sync
from .crash_states import CrashState, History, materialise, states

__all__ = ["Broken", "CrashState", "Recorder", "Tally", "enumerate_crashes", "materialise", "states", "try_states"]

Prepare = Callable[[Path], None]
"""Puts there what is durable before the operation begins."""
Operate = Callable[[Path, Disk, Callable[[str], None]], None]
"""Opens what is at the path over the disk, changes it, and calls the third for each thing that is acknowledged."""
Check = Callable[[Path, tuple[str, ...]], None]
"""Opens what a crash left, with the real recovery, and raises if something is wrong; what had been acknowledged."""
Again = Callable[[Path, Disk], None]
"""Opens what a crash left and does what a restart does, to be cut off in turn."""


class Broken(AssertionError):
    """A crash that the program does not survive; its text tells which one, and what went wrong."""


class Tally(NamedTuple):
    """What was tried."""

    operations: int
    states: int
    seconds: float

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        operations, states, seconds = other
        return Tally(self.operations + operations, self.states + states, self.seconds + seconds)

    def __str__(self) -> str:
        rate = self.states / self.seconds if self.seconds else 0.0
        return f"{self.operations} operations, {self.states} crash states, {rate:.0f} a second, nothing lost"


def enumerate_crashes(
    prepare: Prepare,
    operate: Operate,
    check: Check,
    *,
    again: Again | None = None,
    times: int = 3,
    lots: int = 8,
    without: Collection[Sync] = (),
    seed: int = 0,
) -> Tally:
    """Every state after every operation, each once. `Broken` at the first that `check` refuses.

    `again`: at `times` moments the program is killed, and at as many the power is cut; this is what is started then,
    and cut off in turn. `lots`: states drawn by lot at each operation. `without`: see `Recorder`.
    """
    rng = random.Random(seed)  # noqa: S311  # the same at every run
    with desk() as place:
        prepare(_made(place / "first"))
        first = Recorder(place / "first", without=without)
        operate(place / "first", first, first.ack)
        tally = try_states(place, first.start, first.ops, check, lots=lots)
        if again is None:
            return tally
        history = History(first.start, first.ops)
        for turn in range(2 * times):
            upto = rng.randrange(1, len(first.ops) + 1)
            found = [history.everything(upto)] if turn % 2 else list(history.states(upto, lots=lots, rng=rng))
            state = rng.choice(found)
            materialise(state, place / "again")
            second = Recorder(place / "again", without=without, ops=[Op("ack", label) for label in state.acked])
            if turn % 2:  # killed: what was not durable then is not durable now
                second.start, second.ops = first.start, first.ops[:upto]
            begin = len(second.ops)
            again(place / "again", second)
            tally += try_states(
                place, second.start, second.ops, check, begin=begin, lots=lots, before=f"{state.note}; then again: "
            )
            shutil.rmtree(place / "again")
        return tally


def try_states(
    place: Path,
    start: Snapshot,
    ops: Sequence[Op],
    check: Check,
    *,
    begin: int = 0,
    lots: int = 8,
    before: str = "",
) -> Tally:
    """Check what crashes may leave of a log, from its operation `begin` on; directories are made below `place`."""
    history = History(start, ops)
    seen: set[int] = set()
    since = time.perf_counter()
    for upto in range(begin, len(ops) + 1):
        for state in history.states(upto, lots=lots, rng=random.Random(upto)):  # noqa: S311  # same
            if state.signature not in seen:
                seen.add(state.signature)
                _try(place / f"s{len(seen)}", state, check, ops, before)
    return Tally(len(ops) - begin, len(seen), time.perf_counter() - since)


def _try(target: Path, state: CrashState, check: Check, ops: Sequence[Op], before: str) -> None:
    materialise(state, target)
    try:
        check(target, state.acked)
    except Exception as error:
        last = "\n".join(f"  {index} {ops[index]}" for index in range(max(0, state.after - 12), state.after))
        raise Broken(
            f"{type(error).__name__}: {error}\nacknowledged: {', '.join(state.acked) or 'nothing'}\n"
            f"the power was cut after:\n{last}\n{before}{state.note}"
        ) from error
    finally:
        shutil.rmtree(target)


@contextmanager
def desk() -> Iterator[Path]:
    """A directory in memory where there is one: thousands of directories are made there and thrown away."""
    memory = "/dev/shm"  # noqa: S108  # a new directory of our own is made in it
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as path:
        yield Path(path)


def _made(path: Path) -> Path:
    path.mkdir()
    return path
