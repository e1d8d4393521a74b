"""A foreign program writes ACTION.md at exactly one moment between two of our writes, for every such moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.testing.faulty_disk import CountingDisk
from worldfs.testing.workspace_fixture import WorkspaceFixture, action, order, sheet
from worldfs.world.world import World

Way = Callable[[WorkspaceFixture], Iterator[None] | None]


class At(CountingDisk):
    """Goes on with `work` before each boundary from `n` on, until it ends."""

    def __init__(self, n: int, work: Iterator[None]) -> None:
        super().__init__()
        self.n, self.work = n, work

    def _note(self, name: str, path: str) -> None:
        super()._note(name, path)
        if len(self.seen) >= self.n:
            next(self.work, None)


def by_rename(site: WorkspaceFixture) -> None:
    site.put("ACTION.md", sheet([*site.entries(), action("foreign", "arm_2")]))


def in_place(site: WorkspaceFixture) -> None:
    text = sheet([*site.entries(), action("foreign", "arm_2")])
    (site.root / "ACTION.md").write_bytes(text)


def stale(site: WorkspaceFixture) -> None:
    site.put("ACTION.md", sheet([action("first"), action("foreign", "arm_2")]))


def cancelling(site: WorkspaceFixture) -> None:
    entries = [
        {**entry, "status": "cancelled"} if entry["action_id"] == "second" else entry for entry in site.entries()
    ]
    site.put("ACTION.md", sheet([*entries, action("foreign", "arm_2")]))


def looking_again(site: WorkspaceFixture, wait: int = 1) -> Iterator[None]:
    """Adds an entry, reads the file a moment later, and some moments later writes back what it read and one more."""
    by_rename(site)
    yield
    entries = site.entries()
    for _ in range(wait):
        yield
    site.put("ACTION.md", sheet([*entries, action("foreign_2", "arm_2")]))


def looking_long(site: WorkspaceFixture) -> Iterator[None]:
    return looking_again(site, 3)


WAYS = (by_rename, in_place, stale, cancelling, looking_again, looking_long)


def play(site: WorkspaceFixture, world: World) -> None:
    site.put("ACTION.md", sheet([action("first")]))
    site.run_until_idle(world)
    world.submit(order("second"))
    world.submit(order("third", params={"refuse": "no"}))
    site.run_until_idle(world)


def steps(way: Way, site: WorkspaceFixture) -> Iterator[None]:
    yield from way(site) or ()


def write_at(root: Path, n: int, way: Way) -> None:
    site = WorkspaceFixture(root)
    work = steps(way, site)
    with site.open(At(n, work)) as world:
        play(site, world)
        list(work)  # what is left of it, after our last write
        site.run_until_idle(world)
        jobs = site.jobs()
        assert jobs.keys() >= {"first", "second", "third"}
        assert "foreign" in jobs, f"lost at boundary {n}"
        assert all(job.status.state.terminal for job in jobs.values())
        assert all(site.starts(id) <= 1 for id in jobs)
        assert site.starts("foreign") == 1
        assert site.starts("foreign_2") == (1 if way in (looking_again, looking_long) else 0)
        shown = {entry["action_id"]: entry["status"] for entry in site.entries()}
        assert "pending" not in shown.values() and "running" not in shown.values(), (n, shown)
    site.check_files()
    assert site.stray_files() == []


def count(root: Path) -> tuple[int, int]:
    """Boundaries until the play's own rewrite of the sheet, and in all."""
    site, disk = WorkspaceFixture(root), CountingDisk()
    with site.open(disk) as world:
        begun = len(disk.seen)
        play(site, world)
        return begun, len(disk.seen)


def moments(root: Path, way: Way, step: int) -> int:
    begun, all = count(root / "whole")
    for n in range(begun + 1, all + 1, step):
        write_at(root / str(n), n, way)
    return all - begun


@pytest.mark.slice(5)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_at_some_moments(tmp_path: Path, way: Way) -> None:
    moments(tmp_path, way, 11)


@pytest.mark.proof
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_at_every_moment(tmp_path: Path, way: Way) -> None:
    print(f"{moments(tmp_path, way, 1)} moments, written {way.__name__}")
