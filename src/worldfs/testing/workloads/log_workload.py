"""Workload of a log file that stays open: appended to, truncated, restarted, replaced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.durable import Root
from worldfs.base.logfile import LogFile

from . import View, Workload

LINE = b"%04d a line that is about as long as one of a journal, with a number before it\n"


def prepare(path: Path) -> None:
    (path / "old.log").write_bytes(b"".join(LINE % n for n in range(1, 80)) + b"torn")


def run(path: Path, disk: Disk) -> Iterator[str]:
    root = Root(path, disk)
    old, new = LogFile(root, "old.log"), LogFile(root, "below/new.log")
    old.refresh()
    old.cut(79 * len(LINE % 1))
    yield "cut the torn end"
    for n in range(80, 84):
        old.append(LINE % n)
        yield f"appended {n}"
    new.append(LINE % 1)
    yield "begun"
    new.append(b"".join(LINE % n for n in range(2, 200)))
    yield "appended many"
    new.write(LINE % 200)
    new.write(LINE % 201)
    new.sync()
    yield "appended two, synced once"
    old.close()
    new.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    root = Root(path, disk)
    for name in ("old.log", "below/new.log"):
        log = LogFile(root, name)
        log.refresh()
        count = len(_whole(path / name) or ())
        if log.inode:
            log.cut(count * len(LINE % 1))
        log.append(LINE % (count + 1))
        yield f"{name} again"
        log.append(LINE % (count + 2))
        yield f"{name} once more"
        log.close()


def inspect(path: Path) -> View:
    return {"old": _whole(path / "old.log"), "new": _whole(path / "below/new.log")}


def _whole(path: Path) -> tuple[bytes, ...] | None:
    """The lines up to the first that is torn or out of sequence."""
    if not path.exists():
        return None
    found: list[bytes] = []
    for line in path.read_bytes().splitlines(keepends=True):
        if line != LINE % (len(found) + 1):
            break
        found.append(line)
    return tuple(found) or None


LIFE = Workload("log", prepare, run, restart, inspect)
