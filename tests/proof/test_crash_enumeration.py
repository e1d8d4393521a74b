"""The power goes before, and in the middle of, every write: nothing accepted is lost, nothing moves twice."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from worldfs.base.durable import Disk
from worldfs.base.model import Cause
from worldfs.formats import environment
from worldfs.testing.faulty_disk import CountingDisk, CrashingDisk, SimulatedCrash
from worldfs.testing.workspace_fixture import WorkspaceFixture, action, order, sheet
from worldfs.world.world import World

OLD, NEW = (0.4, 0.0, 0.4), (0.5, 0.1, 0.4)
ATTEMPTS = {"retried": 2}
SHEETED = ("by_rename", "by_hand")


@dataclass
class Play:
    """The scenario, step by step; what was told to its clients; what its foreign programs have finished writing."""

    site: WorkspaceFixture
    told: set[str] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    at: int = 0

    def steps(self, world: World) -> Iterator[Callable[[], object]]:
        site = self.site

        def submit(id: str, robot: str = "arm_1", **more: object) -> Callable[[], None]:
            def ask() -> None:
                world.submit(order(id, robot, **more))  # type: ignore[arg-type]
                self.told.add(id)

            return ask

        def cancel(id: str) -> Callable[[], None]:
            def ask() -> None:
                if not world.jobs.ended(id):  # it may have run after the power came back
                    world.cancel(id)
                    self.cancelled.add(id)

            return ask

        def by_rename() -> None:
            site.put("ACTION.md", sheet([*site.entries(), action("by_rename", "arm_2")]))
            self.written.add("by_rename")

        def by_hand() -> None:
            """A slow editor: it has the file open while the kernel replaces it, and writes afterwards."""
            stale = site.entries()
            with (site.root / "ACTION.md").open("r+b") as file:
                world.submit(order("meanwhile"))
                self.told.add("meanwhile")
                site.run_until_idle(world)
                file.truncate()
                file.write(sheet([*stale, action("by_hand")]))
            self.written.add("by_hand")

        yield submit("succeeds", params={"see": {"apple_01": {"position": list(NEW)}}})
        yield submit("fails", params={"fail": "it slipped"})
        yield world.tick
        yield submit("raises", "arm_2", params={"raise": "the gripper is on fire"})
        yield submit("refused", params={"refuse": "too heavy"})
        yield submit("cancelled")
        yield cancel("cancelled")
        yield lambda: site.run_until_idle(world)
        yield submit("retried", params={"fail": "again"}, attempts=2, backoff="exponential")
        yield world.tick
        yield by_rename
        yield world.tick
        yield by_hand
        yield world.tick
        yield lambda: site.put("ACTION.md", sheet([action("by_rename", "arm_2")]))  # a stale copy of everything
        yield lambda: site.run_until_idle(world)

    def go_on(self, world: World) -> None:
        """From where it stood; a step that the power cut off is begun again, as a careful client does."""
        for index, step in enumerate(self.steps(world)):
            if index == self.at:
                step()
                self.at += 1


def run(play: Play, disk: Disk, work: Callable[[World], None]) -> bool:
    """One life of a kernel; False when the power went."""
    lived = _lives(play, disk, work)
    if not lived:
        gc.collect()  # a dead process lets its locks go; here they hang on the world and on the frames of the crash
    return lived


def _lives(play: Play, disk: Disk, work: Callable[[World], None]) -> bool:
    try:
        world = play.site.open(disk)
        try:
            work(world)
            world.close()
        except SimulatedCrash:
            with suppress(SimulatedCrash):  # a spare draft that it would have unlinked stays, as after a real death
                world.abandon()
            world.leases.release()
            raise
    except SimulatedCrash:
        return False
    return True


def check_at_the_crash(site: WorkspaceFixture) -> None:
    """What any reader may find at any moment."""
    site.check_files()
    apple = environment.read(site.read("ENVIRONMENT.md")).scene.thing("apple_01")
    assert apple is not None and tuple(apple.position) in (OLD, NEW)


def check_in_the_end(play: Play) -> None:
    site = play.site
    site.check_files()
    jobs = site.jobs()
    missing = (play.told | play.written) - jobs.keys()
    assert not missing, f"accepted and lost: {missing}"
    for id, job in jobs.items():
        outcome, starts = job.status.outcome, site.starts(id)
        assert job.status.state.terminal and outcome is not None, id
        assert starts <= ATTEMPTS.get(id, 1), f"{id} was started {starts} times"
        if outcome.ok:
            assert starts == 1, id
        if outcome.cause in (Cause.REJECTED, Cause.CANCELLED):
            assert starts == 0, f"{id}: {outcome}"
        if id in play.cancelled:
            assert outcome.cause in (Cause.CANCELLED, Cause.LOST), f"{id}: {outcome}"
        if outcome.cause is Cause.LOST:
            assert id.encode() in site.read("LESSONS.md") or b"Outcome Unknown" in site.read("LESSONS.md")
    shown = {entry["action_id"]: entry["status"] for entry in site.entries()}
    for id in shown.keys() & jobs.keys():
        assert shown[id] == ("completed" if jobs[id].status.outcome.ok else "failed"), id  # type: ignore[union-attr]
    assert site.stray_files() == []


def crash_and_recover(root: Path, n: int, *, torn: bool = False, again: int = 0) -> Play:
    """Dies at boundary `n`, with `again` once more at that boundary of the next life; then lives to the end."""
    play = Play(WorkspaceFixture(root))
    assert not run(play, CrashingDisk(n, torn=torn), play.go_on), f"there is no boundary {n}"
    check_at_the_crash(play.site)
    if again and not run(play, CrashingDisk(again, torn=torn), play.site.run_until_idle):
        check_at_the_crash(play.site)
    assert run(play, Disk(), play.site.run_until_idle)
    check_in_the_end(play)
    assert run(play, Disk(), play.go_on)  # what had not been told is asked again, with the same ids
    check_in_the_end(play)
    return play


@pytest.fixture(scope="module")
def boundaries(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    play, disk = Play(WorkspaceFixture(tmp_path_factory.mktemp("whole"))), CountingDisk()
    assert run(play, disk, play.go_on)
    check_in_the_end(play)
    outcomes = {id: job.status.outcome for id, job in play.site.jobs().items()}
    assert {id for id, outcome in outcomes.items() if outcome.ok} == {"succeeds", "meanwhile", *SHEETED}  # type: ignore[union-attr]
    assert play.site.starts("retried") == 2
    return disk.seen


def test_at_some_boundaries(boundaries: list[tuple[str, str]], tmp_path: Path) -> None:
    for n in range(1, len(boundaries) + 1, 67):
        crash_and_recover(tmp_path / str(n), n, torn=boundaries[n - 1][0] == "write")


def test_at_some_boundaries_and_again_while_recovering(boundaries: list[tuple[str, str]], tmp_path: Path) -> None:
    rng = random.Random(7)
    for n in rng.sample(range(1, len(boundaries) + 1), 2):
        crash_and_recover(tmp_path / str(n), n, again=rng.randint(1, 40))


@pytest.mark.proof
def test_at_every_boundary(boundaries: list[tuple[str, str]], tmp_path: Path) -> None:
    torn = 0
    for n, (name, _) in enumerate(boundaries, 1):
        crash_and_recover(tmp_path / f"{n}", n)
        if name in ("write", "append"):
            torn += 1
            crash_and_recover(tmp_path / f"{n}-torn", n, torn=True)
    print(f"{len(boundaries)} boundaries, {torn} of them torn as well")


@pytest.mark.proof
def test_at_every_boundary_and_again_while_recovering(boundaries: list[tuple[str, str]], tmp_path: Path) -> None:
    rng = random.Random(11)
    for n in range(1, len(boundaries) + 1):
        for again in rng.sample(range(1, 60), 3):
            crash_and_recover(tmp_path / f"{n}-{again}", n, torn=bool(again % 2), again=again)
