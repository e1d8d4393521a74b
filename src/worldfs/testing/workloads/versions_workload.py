"""Workload of the versions of files: replaced, removed, made again; asked for as they were at each moment so far."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from worldfs.base.clock import epoch_ns
from worldfs.base.disk import Disk
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.manual_clock import ManualClock

from . import View, Workload

BEGIN = datetime(2100, 1, 1, tzinfo=UTC)  # later than what the file system of the test says
STEPS = 16
KEYS = ("plain", "guarded", "long")


def prepare(path: Path) -> None:
    store = _open(path, Disk(), 0)
    for key in KEYS:
        store.put(key, f"{key} at first".encode())
        store.history.sync(key)
    store.close()


def run(path: Path, disk: Disk) -> Iterator[str]:
    store = _open(path, disk, 1)
    for turn in range(9):
        key = KEYS[turn % 2]
        _tick(store)
        store.put(key, f"{key} {turn} ".encode() * 40)
        yield f"{key} {turn}"
    _tick(store)
    store.put("long", b"long " * 3000)
    yield "a long one"
    _tick(store)
    store.swap_many([(key, f"{key} together".encode(), _revision(store, key)) for key in KEYS])
    yield "together"
    _tick(store)
    store.delete("plain")
    yield "removed"
    _tick(store)
    store.move("long", "private-name")
    yield "moved"
    store.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    store = _open(path, disk, 13)
    for turn in range(2):
        _tick(store)
        store.put("guarded", f"again {turn} ".encode() * 40)
        yield f"again {turn}"
    store.close()


def inspect(path: Path) -> View:
    """What each key was after each step; of the steps that are still to come, what it is now."""
    store = _open(path, Disk(), STEPS)
    try:
        found: dict[str, object] = {}
        for key in KEYS:
            now = store.get(key)
            found[key] = None if now is None else now.data
            for step in range(0, STEPS + 1, 2):
                past = store.version_at(key, epoch_ns(BEGIN + timedelta(seconds=step)))
                found[f"{key} at {step}"] = past.kind.value if past.data is None else past.data
            assert found[f"{key} at {STEPS}"] == (found[key] or "absent"), "the present is not the last version"
        return found
    finally:
        store.close()


def _open(path: Path, disk: Disk, step: int) -> DiskStore:
    clock = ManualClock(BEGIN + timedelta(seconds=step))
    return DiskStore(path, disk, guarded={"guarded"}, versioned=frozenset(KEYS), clock=clock)


def _tick(store: DiskStore) -> None:
    """A second later: what was displaced before the one before is old enough to be given up."""
    clock = store.clock
    assert isinstance(clock, ManualClock)
    clock.advance(1)


def _revision(store: DiskStore, key: str) -> str:
    stored = store.get(key)
    assert stored is not None
    return stored.revision


LIFE = Workload("versions", prepare, run, restart, inspect)
