"""10,000 random (path, time) reads of the past equal copies taken live, by writers that are killed again and again."""

from __future__ import annotations

import random
import subprocess
import sys
from bisect import bisect_right
from pathlib import Path

import pytest

from worldfs.namespace.past_time import time_name
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.world import World

from .version_writer import KEYS

pytestmark = pytest.mark.proof
LIVES, WRITES, READS = 40, 50, 10_000
PATHS = {key: f"/projects/main/{key}" for key in KEYS}


def test_ten_thousand_reads_of_the_past_equal_copies_taken_live(tmp_path: Path) -> None:
    WorkspaceFixture(tmp_path)
    writes: dict[str, list[tuple[int, int, bytes]]] = {key: [] for key in KEYS}
    for life in range(LIVES):
        _live(tmp_path, life, writes)
    lot, read, changed = random.Random(7), 0, sum(len(text) for rows in writes.values() for *_, text in rows)
    first = min(row[0] for rows in writes.values() for row in rows)
    last = max(row[1] for rows in writes.values() for row in rows)
    with World.open(tmp_path) as world:
        tree = world.namespace("operator")
        while read < READS:
            key, at = lot.choice(KEYS), lot.randrange(first, last)
            rows = writes[key]
            place = bisect_right([row[1] for row in rows], at)  # acknowledged by then
            if place == 0 or (place < len(rows) and rows[place][0] <= at):
                continue  # before its first write, or in the middle of one
            found = tree.read(f"/at/{time_name(at)}{PATHS[key]}").data
            expected = rows[place - 1][2]
            assert found == expected, (key, time_name(at), found[:40], expected[:40])
            read += 1
        kept = world.store.history.size()  # type: ignore[attr-defined]
    assert kept <= 1.3 * changed, (kept, changed)
    print(
        f"{READS} reads of {sum(map(len, writes.values()))} versions, {LIVES} kills, {kept / changed:.2f} of the bytes"
    )


def _live(place: Path, life: int, writes: dict[str, list[tuple[int, int, bytes]]]) -> None:
    """A writer, killed in the middle of a write, which then may have happened or not."""
    command = [sys.executable, "-m", "tests.proof.version_writer", str(place), str(life)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        done = 0
        begun: tuple[int, str, bytes] | None = None
        killed = False
        for line in process.stdout:
            word, at, *rest = line.rstrip("\n").split(" ", 3)
            if word == "begin":
                begun = int(at), rest[0], rest[1].encode()
            elif begun is not None:
                began, key, text = begun
                writes[key].append((began, int(at), text))
                begun, done = None, done + 1
            if done >= WRITES and not killed:
                process.kill()
                killed = True
    if begun is not None:
        began, key, text = begun
        if (place / key).exists() and (place / key).read_bytes() == text:
            writes[key].append((began, _now(), text))


def _now() -> int:
    from worldfs.base.clock import SystemClock, epoch_ns

    return epoch_ns(SystemClock().now())
