"""Workload of an agent's journal: appended to, rotated, edited by other programs, repaired."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.journal import NAME, Journal
from worldfs.base.disk import Disk
from worldfs.base.json_values import as_text
from worldfs.testing.manual_clock import ManualClock

from . import View, Workload
from .foreign_editors import add, rewrite

AGENT = "rio"
LIVE = f"{AGENT}/{NAME}"
LIMIT = 12_000  # bytes of a live segment: two rotations per run


def prepare(path: Path) -> None:
    (path / AGENT).mkdir()


def run(path: Path, disk: Disk) -> Iterator[str]:
    journal = _open(path, disk)
    for n in range(3):
        journal.append("note", {"n": n})
        yield f"note {n}"
    journal.append_many([{"event": "many", "n": n, "text": "x" * 400} for n in range(12)])
    yield "many"
    add(path, disk, LIVE, b'{"ts":"2026-03-31T20:30:00Z","event":"foreign","n":1}\n')
    journal.append("after", {"text": "y" * 5000})
    yield "a foreign line, and one after it"
    for n in range(6):
        journal.append("long", {"n": n, "text": "z" * 900})
        yield f"long {n}"
    journal.sync_shadow()
    yield "settled"
    text = (path / LIVE).read_bytes()
    rewrite(path, disk, LIVE, text[: len(text) // 2])  # an agent rewrote it, and lost half of it
    journal.append("after", {"text": "a rewrite"})
    yield "after a rewrite"
    journal.seal()
    yield "sealed"
    journal.append("last")
    yield "last"
    journal.close()
    journal.agent_dir.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    journal = _open(path, disk)
    for n in range(2):
        journal.append("again", {"n": n})
        yield f"again {n}"
    journal.close()
    journal.agent_dir.close()


def inspect(path: Path) -> View:
    """Every entry by its number, after the recovery that an append does."""
    journal = _open(path, Disk())
    try:
        with journal.agent_dir.locked():
            journal.reconcile()
        found = [
            (seq, entry["event"], entry.get("n"), len(as_text(entry.get("text")))) for seq, entry in journal.lines()
        ]
        assert [item[0] for item in found] == list(range(1, len(found) + 1)), f"gaps: {[item[0] for item in found]}"
        live = path / LIVE
        for line in live.read_bytes().splitlines() if live.exists() else ():
            json.loads(line)
        # A foreign line is imported, which is acknowledged with the next entry.
        return {"entries": tuple(found)}
    finally:
        journal.close()
        journal.agent_dir.close()


def _open(path: Path, disk: Disk) -> Journal:
    return Journal(AgentDirectory(path, AGENT, clock=ManualClock(), disk=disk), limit=LIMIT)


LIFE = Workload("journal", prepare, run, restart, inspect)
