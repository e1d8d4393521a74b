"""Checks every crash of a workload, and of its restart."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.testing.crash_log import DiskOp, Recorder, Sync
from worldfs.testing.crash_states import DiskOpHistory, materialise
from worldfs.testing.crashes import CrashCheckCounts, DiskOpLog, record, scratch_directory, try_states

from . import View, Workload


def check_all_crashes(
    workload: Workload, *, lots: int = 8, times: int = 2, share: float = 1.0, without: Collection[Sync] = ()
) -> CrashCheckCounts:
    """Run it once, and check every crash of it. `CrashCheckFailure` at the first that it does not survive.

    `times`: so often the program is killed, and so often the power is cut, at random moments, and every crash of
    the restart after that is checked as well. `lots`, `share`, `without`: see crashes.py.
    """
    with scratch_directory() as place:
        log = record_workload(workload, place / "first", without=without)
        tally = check_log_crashes(workload, place, log, lots=lots, share=share)
        return tally + check_repeated_crashes(workload, place, log, lots=lots, times=times, share=share)


def record_workload(workload: Workload, path: Path, *, without: Collection[Sync] = ()) -> DiskOpLog:
    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        for step in workload.run(path, disk):
            ack(step)

    return record(path, workload.prepare, operate, without=without)


def check_log_crashes(
    workload: Workload, place: Path, log: DiskOpLog, *, lots: int = 8, share: float = 1.0
) -> CrashCheckCounts:
    """Check every crash of a log, wherever it was recorded."""
    views = list(views_of(workload, place, log))

    def check(path: Path, acked: tuple[str, ...]) -> None:
        compare(workload.inspect(path), (views[len(acked)], views[min(len(acked) + 1, len(views) - 1)]))

    return try_states(place, log, check, lots=lots, share=share)


def check_repeated_crashes(
    workload: Workload, place: Path, log: DiskOpLog, *, times: int, lots: int = 8, share: float = 1.0, seed: int = 0
) -> CrashCheckCounts:
    """Crash `times` times by a kill and as often by a power cut; restart, and check every crash of that."""
    rng = random.Random(seed)  # noqa: S311  # the same at every run
    history = DiskOpHistory(log.start, log.ops)
    tally = CrashCheckCounts()
    for turn in range(2 * times):
        killed = bool(turn % 2)
        upto = rng.randrange(1, len(log.ops) + 1)
        found = [history.everything(upto)] if killed else list(history.states(upto, lots=lots, rng=rng))
        state = rng.choice(found)
        materialise(state, place / "again")
        second = Recorder(place / "again", ops=[DiskOp("ack", label) for label in state.acked])
        if killed:  # what was not durable then is not durable now
            second.start, second.ops = log.start, list(log.ops[:upto])
        words = f"{'killed' if killed else 'power cut'} after operation {upto}: {state.note}; then again: "
        tally += _again(workload, place, second, lots=lots, share=share, words=words)
        shutil.rmtree(place / "again")
    return tally


def _again(
    workload: Workload, place: Path, second: Recorder, *, lots: int, share: float, words: str
) -> CrashCheckCounts:
    begin = len(second.ops)
    done = sum(op.kind == "ack" for op in second.ops)
    for step in workload.restart(place / "again", second):
        second.ack(step)
    log = DiskOpLog(second.start, second.ops)
    told = _view(workload, place, log, _last_ack(log.ops, begin))
    seen, *views = views_of(workload, place, log, begin)
    views = views or [seen]

    def check(path: Path, acked: tuple[str, ...]) -> None:
        new = len(acked) - done
        found = workload.inspect(path)
        if new == 0:
            compare(found, (told, seen), (told, views[0]), (seen, views[0]))
        else:
            # The step in progress when the first run ended was never acknowledged, but may have had an effect.
            before = views[new - 1]
            loose = {key for key in {**told, **seen} if told.get(key) != seen.get(key) == before.get(key)}
            compare(found, (before, views[min(new, len(views) - 1)]), also=(told, seen), loose=loose)

    return try_states(place, log, check, begin=begin, lots=lots, share=share, before=words)


def views_of(workload: Workload, place: Path, log: DiskOpLog, begin: int = 0) -> Iterator[View]:
    """The expected view after `begin` operations, and after each step acknowledged since."""
    yield _view(workload, place, log, begin)
    for index, op in enumerate(log.ops):
        if op.kind == "ack" and index >= begin:
            yield _view(workload, place, log, index)


def _view(workload: Workload, place: Path, log: DiskOpLog, upto: int) -> View:
    materialise(DiskOpHistory(log.start, log.ops).everything(upto), place / "view")
    try:
        return workload.inspect(place / "view")
    finally:
        shutil.rmtree(place / "view")


def _last_ack(ops: Sequence[DiskOp], upto: int) -> int:
    return max((index for index in range(upto) if ops[index].kind == "ack"), default=0)


def compare(
    found: View,
    *spans: tuple[View, View],
    also: tuple[View, View] = ({}, {}),
    loose: Collection[str] = (),
) -> None:
    """Raise unless each item is within one of the spans (old, new); the `loose` ones may be in `also`."""
    for key in {key for view in (found, *(view for span in spans for view in span)) for key in view}:
        now = found.get(key)
        allowed = [*spans, also] if key in loose else spans
        if not any(_between(old.get(key), new.get(key), now) for old, new in allowed):
            expected = dict.fromkeys(_short(view.get(key)) for span in allowed for view in span)
            raise AssertionError(f"{key}: found {_short(now)}, expected {' or '.join(expected)}")


def _between(old: object, new: object, found: object) -> bool:
    if found in (old, new):
        return True
    if isinstance(found, tuple):
        short, long = sorted((side if isinstance(side, tuple) else () for side in (old, new)), key=len)
        return len(short) <= len(found) and long[: len(found)] == found
    if isinstance(found, frozenset):
        one, two = (side if isinstance(side, frozenset) else frozenset() for side in (old, new))
        return one <= found <= two or two <= found <= one
    return False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:300]}…"
