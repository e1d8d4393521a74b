"""A foreign program writes ACTION.md at exactly one moment between two of our writes, for every such moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs.testing.faulty_disk import CountingDisk
from worldfs.testing.workspace_fixture import WorkspaceFixture, action, order, sheet
from worldfs.world.world import World


class At(CountingDisk):
    """Calls `work` before boundary `n`, once."""

    def __init__(self, n: int, work: Callable[[], None]) -> None:
        super().__init__()
        self.n, self.work = n, work

    def _note(self, name: str, path: str) -> None:
        super()._note(name, path)
        if len(self.seen) == self.n:
            self.work()


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


WAYS = (by_rename, in_place, stale, cancelling)


def play(site: WorkspaceFixture, world: World) -> None:
    site.put("ACTION.md", sheet([action("first")]))
    site.run_until_idle(world)
    world.submit(order("second"))
    world.submit(order("third", params={"refuse": "no"}))
    site.run_until_idle(world)


def write_at(root: Path, n: int, way: Callable[[WorkspaceFixture], None]) -> None:
    site = WorkspaceFixture(root)
    with site.open(At(n, lambda: way(site))) as world:
        play(site, world)
        site.run_until_idle(world)
        jobs = site.jobs()
        assert jobs.keys() >= {"first", "second", "third"}
        assert "foreign" in jobs, f"lost at boundary {n}"
        assert all(job.status.state.terminal for job in jobs.values())
        assert all(site.starts(id) <= 1 for id in jobs)
        assert site.starts("foreign") == 1
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


def moments(root: Path, way: Callable[[WorkspaceFixture], None], step: int) -> int:
    begun, all = count(root / "whole")
    for n in range(begun + 1, all + 1, step):
        write_at(root / str(n), n, way)
    return all - begun


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_at_some_moments(tmp_path: Path, way: Callable[[WorkspaceFixture], None]) -> None:
    moments(tmp_path, way, 11)


@pytest.mark.proof
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_at_every_moment(tmp_path: Path, way: Callable[[WorkspaceFixture], None]) -> None:
    print(f"{moments(tmp_path, way, 1)} moments, written {way.__name__}")
