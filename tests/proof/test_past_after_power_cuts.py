"""10,000 random reads of `/at/<time>/…`, of documents and of jobs, equal copies taken live: on disks as power cuts left
them, each read through the tree of a world that is opened there."""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from worldfs.base.clock import SystemClock, epoch_ns, stamp
from worldfs.base.errors import NotFound
from worldfs.base.model import JobState, Order, Outcome
from worldfs.namespace.past_time import time_name
from worldfs.runtime.job_end import ended_status
from worldfs.runtime.job_store import JobStore
from worldfs.testing import powercut
from worldfs.testing.crashes import CrashCheckFailure, scratch_directory
from worldfs.testing.powercut import FILE_SYSTEMS, live_logged, try_cuts
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.world import World

pytestmark = pytest.mark.proof
if why := powercut.missing():
    pytest.skip(why, allow_module_level=True)

READS: Final = 10_000
EACH: Final = 20  # reads of a disk
STEPS: Final = 120
LOTS: Final = 1  # random disks at each cut
DOCUMENTS: Final = ("/projects/main/LESSONS.md", "/projects/main/TASK.md", "/projects/main/skills/pour.md")
NODE: Final = "arm_1"


class Change(NamedTuple):
    """What a file says once `end_ns` has passed; between the two it may say this or what it said before."""

    begin_ns: int
    end_ns: int
    data: bytes | None


class LiveCopies:
    """Writes documents and jobs of a world, and keeps a copy of each after every step. A step is acknowledged."""

    def __init__(self, seed: int) -> None:
        self._lot = random.Random(seed)
        self.changes: dict[str, list[Change]] = {}
        self.acked_ns: list[int] = []  # when each step had been acknowledged

    def live(self, root: Path) -> Iterator[int]:
        with World.open(root) as world:
            tree, jobs = world.namespace("operator"), JobStore(world.store, SystemClock())
            for number in range(STEPS):
                begin = _now()
                if self._lot.random() < 0.5:
                    path = self._lot.choice(DOCUMENTS)
                    key = path.removeprefix("/projects/main/")
                    world.store.put(key, f"{number} ".encode() * self._lot.randrange(1, 300))
                    paths = [path]
                else:
                    paths = self._step_of_a_job(jobs)
                end = _now()
                for path in paths:
                    self.changes.setdefault(path, []).append(Change(begin, end, tree.read(path).data))
                self.acked_ns.append(_now())
                yield number

    def _step_of_a_job(self, jobs: JobStore) -> list[str]:
        id = self._lot.choice([*jobs.open_ids(), ""])
        if not id:
            id = f"job_{len(self.changes)}"
            jobs.accept([Order(id, NODE, "move_to", {"note": "x" * self._lot.randrange(2000)})])
        else:
            job, now = jobs.load(id), SystemClock().now()
            if job.status.state is JobState.PENDING:
                status = replace(job.status, state=JobState.RUNNING, attempt=1, started_at=stamp(now))
                jobs.write_status(id, status)
            else:
                jobs.end(replace(job, status=ended_status(job.status, Outcome.success("done"), now)))
        return [f"/nodes/{NODE}/jobs/{id}/{name}" for name in ("job.json", "status.json", "result.txt")]

    def check(self, path: Path, acked: int) -> None:
        """Compare random reads of times until the last of so many steps was acknowledged."""
        seed = time.monotonic_ns()  # each disk is checked in a process that begins as the others do
        names = [name for name in self.changes if acked and self.changes[name][0].end_ns < self.acked_ns[acked - 1]]
        lot, reads, last = random.Random(seed), EACH if names else 0, self.acked_ns[acked - 1]
        with World.open(path) as world:
            tree = world.namespace("operator")
            while reads:
                name = lot.choice(names)
                at = lot.randint(self.changes[name][0].end_ns, last)
                known, expected = self._at(name, at)
                if not known:
                    continue
                try:
                    found: bytes | None = tree.read(f"/at/{time_name(at)}{name}").data
                except NotFound:
                    found = None
                said = f"{name} at {time_name(at)}: {found!r:.80}, expected {expected!r:.80} (seed {seed})"
                assert found == expected, said
                reads -= 1

    def _at(self, name: str, at: int) -> tuple[bool, bytes | None]:
        changes = self.changes[name]
        place = bisect_right([change.end_ns for change in changes], at)
        if place == 0 or (place < len(changes) and changes[place].begin_ns <= at):
            return False, None  # before its first copy, or in the middle of a change
        return True, changes[place - 1].data


def _now() -> int:
    return epoch_ns(SystemClock().now())


def _prepare(root: Path) -> None:
    WorkspaceFixture(root)
    World.open(root).close()


def _run(kind: str, *, spoil: bool = False) -> int:
    """How many disks were tried."""
    copies = LiveCopies(7)
    with scratch_directory() as place:
        system = FILE_SYSTEMS[kind]
        lived = live_logged(place, system, _prepare, copies.live)
        assert len(lived.acks) == STEPS
        if spoil:  # a copy that is not what was written: the comparison sees it
            first = copies.changes[DOCUMENTS[0]]
            first[0] = first[0]._replace(data=b"never said")
        with closing(lived.log):
            return try_cuts(place, system, lived, copies.check, lots=LOTS).states


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_ten_thousand_reads_of_the_past_equal_live_copies_after_power_cuts(kind: str) -> None:
    if missing := powercut.missing(kind):
        pytest.skip(missing)
    disks = _run(kind)
    assert disks * EACH >= READS
    print(f"past on {kind}: {EACH} reads of /at on each of {disks} disks, {STEPS} steps")


def test_a_copy_that_was_never_written_is_found() -> None:
    with pytest.raises(CrashCheckFailure, match="expected"):
        _run("ext4", spoil=True)
