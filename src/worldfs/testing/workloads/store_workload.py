"""Workload of a disk store: every way of writing."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.durable import DRAFT
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.store_interface import ABSENT

from . import View, Workload

LOG = b"".join(b"line %03d of the first part\n" % n for n in range(60))
MORE = b"".join(b"line %03d of the second part, which is longer\n" % n for n in range(120))


LOGS = {"log": b"line of old\n" + LOG + MORE, "new/log": LOG}


def prepare(path: Path) -> None:
    store = DiskStore(path, guarded={"guarded"})
    store.put("old", b"old " * 300)
    store.put("guarded", b"guarded " * 100)
    store.append("log", b"line of old\n")
    store.close()


def run(path: Path, disk: Disk) -> Iterator[str]:
    store = DiskStore(path, disk, guarded={"guarded"})
    store.put("deep/down/new", b"new " * 3000, ABSENT)
    yield "created"
    store.put("old", b"replaced " * 200)
    yield "replaced"
    store.put("guarded", b"again " * 900)
    yield "replaced what others edit"
    revision = store.put("guarded", b"compared " * 50, _revision(store, "guarded"))
    yield "compared and swapped"
    store.put("guarded", b"", revision)
    yield "emptied"
    for count, name in enumerate(store.put_many((f"many/{n}", b"%d " % n * 700) for n in range(3))):
        assert name, count
    yield "many created"
    store.swap_many(
        [
            ("old", b"swapped " * 10, _revision(store, "old")),
            ("guarded", b"swapped " * 900, _revision(store, "guarded")),
            ("fresh", b"swapped", ABSENT),
        ]
    )
    yield "many swapped"
    store.append("log", LOG)
    yield "appended"
    store.append("log", MORE)
    yield "appended again"
    store.append("new/log", LOG)
    yield "begun a log"
    store.move("many/1", "moved/1")
    yield "moved"
    store.move("deep", "moved/deep")
    yield "moved a directory"
    store.delete("many/0")
    yield "deleted"
    store.delete("guarded", _revision(store, "guarded"))
    yield "deleted what others edit"
    store.root.replace("by the root", b"1" * 5000)
    yield "replaced by the root"
    store.root.create("private/thing", b"2", private=True)
    yield "created by the root"
    store.root.remove("by the root")
    yield "removed by the root"
    store.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    store = DiskStore(path, disk, guarded={"guarded"})
    store.put("deep/down/again", b"again", ABSENT)
    yield "created again"
    for key in ("old", "guarded"):
        if store.get(key) is not None:
            store.put(key, b"again " * 700, _revision(store, key))
            yield f"swapped {key} again"
    store.put("new/again", b"again")
    yield "put into a directory again"
    store.close()


def inspect(path: Path) -> View:
    """Whole lines of logs, as far as they are in sequence; whole content of everything else."""
    store = DiskStore(path, guarded={"guarded"})
    try:
        found: dict[str, object] = {}
        for key in _keys(store, ""):
            stored = store.get(key)
            assert stored is not None, key
            found[key] = stored.data
            if key in LOGS and not (lines := _whole(stored.data, LOGS[key])):
                del found[key]
            elif key in LOGS:
                found[key] = lines
        places = {name for name in ("many/1", "moved/1") if name in found}
        assert len(places) < 2, "the moved file is at both places"
        drafts = path / ".paos" / "drafts"
        assert not drafts.exists() or not os.listdir(drafts), "drafts that nobody swept"
        return found
    finally:
        store.close()


def _keys(store: DiskStore, prefix: str) -> Iterator[str]:
    for name in store.list(prefix):
        if name.endswith("/"):
            yield from _keys(store, prefix + name.rstrip("/") if not prefix else f"{prefix}/{name[:-1]}")
        else:
            assert DRAFT not in name
            yield f"{prefix}/{name}" if prefix else name


def _whole(data: bytes, right: bytes) -> tuple[bytes, ...]:
    pairs = zip(data.splitlines(keepends=True), right.splitlines(keepends=True), strict=False)
    return tuple(line for line, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _revision(store: DiskStore, key: str) -> str:
    stored = store.get(key)
    assert stored is not None
    return stored.revision


LIFE = Workload("store", prepare, run, restart, inspect)
