"""A workspace on a disk for tests: worlds that open and die over it, foreign programs beside it, what must hold."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from worldfs.base.clock import Clock
from worldfs.base.driver import Driver, PluginContext
from worldfs.base.durable import DRAFT, Disk
from worldfs.base.model import Job, Order
from worldfs.runtime.job_store import OPEN, JobStore
from worldfs.storage.disk_store import DiskStore
from worldfs.world.layout.versioned_rows import VERSIONED
from worldfs.world.world import GUARDED, World

from .manual_clock import ManualClock
from .null_driver import BEHAVIOUR, NullDriver
from .waiting import PATIENCE_S

POSE = [0.4, 0.0, 0.5, 0.0, 0.0, 0.0]
POSE_CELL = b"target_pose: [x,y,z,r,p,y]"
CONTROLS = "".join(f", {name}?" for name in (*(one.name for one in BEHAVIOUR), "held", "n")).encode()  # read beside it
APPLE = {"id": "apple_01", "name": "Apple", "category": "fruit", "position": [0.4, 0.0, 0.4]}
_unique = itertools.count()


def action(
    id: str, robot: str = "arm_1", *, keys: dict[str, object] | None = None, **params: object
) -> dict[str, object]:
    """An entry of ACTION.md that the critic passes; `params` control a `NullDriver`, `keys` are its own."""
    entry = {"action_id": id, "action_type": "move_to", "params": {"target_pose": POSE, **params}, "robot_id": robot}
    return {**entry, "status": "pending", **(keys or {})}


def order(id: str, robot: str = "arm_1", *, params: dict[str, object] | None = None, **fields: Any) -> Order:
    """The same as an order, for `World.submit`."""
    return Order(id, robot, "move_to", {"target_pose": POSE, **(params or {})}, **fields)


def sheet(entries: Sequence[dict[str, object]]) -> bytes:
    """A whole ACTION.md as planners write it."""
    return f"# Actions\n\n```json\n{json.dumps({'queue': list(entries)}, indent=1)}\n```\n".encode()


def steered_profile() -> bytes:
    """The arm's EMBODIED.md, whose moves take what a driver of tests reads too."""
    profile = resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_bytes()
    return profile.replace(POSE_CELL, POSE_CELL + CONTROLS)


class WorkspaceFixture:
    """`executed` lists every start of every driver, across crashes."""

    def __init__(self, root: Path, robots: Sequence[str] = ("arm_1", "arm_2"), clock: Clock | None = None) -> None:
        self.root = root
        self.clock = clock or ManualClock()
        self.executed: list[Order] = []
        self.repeatable: frozenset[str] = frozenset()
        root.mkdir(parents=True, exist_ok=True)
        if not (root / "ENVIRONMENT.md").exists():
            robot_entries = [{"robot_id": id, "pose": [0.0, 0.0, 0.0]} for id in robots]
            text = json.dumps({"robots": robot_entries, "objects": [APPLE]}, indent=1)
            (root / "ENVIRONMENT.md").write_text(f"# World\n\n```json\n{text}\n```\n")
            (root / "EMBODIED.md").write_bytes(steered_profile())

    # -- worlds ----------------------------------------------------------------------------------------------------

    def open(self, disk: Disk | None = None, *, threads: bool = False, driver: Driver | None = None) -> World:
        """A world that serves, over this disk."""

        def make(seat: PluginContext) -> Driver:
            return driver or NullDriver(executed=self.executed, repeatable=self.repeatable)

        store = DiskStore(self.root, disk, guarded=GUARDED, versioned=VERSIONED)
        try:
            return World.open(
                self.root, clock=self.clock, store=store, serve=True, drivers={"simulation": make}, threads=threads
            )
        except BaseException:
            store.close()
            raise

    def run_until_idle(self, world: World, ticks: int = 500) -> None:
        """Tick until everything has ended; retries that wait get their time."""
        for _ in range(ticks):
            if not world.tick():
                if world.kernel is None or world.kernel.idle:
                    return
                assert isinstance(self.clock, ManualClock), "only a manual clock can be told to go on"
                self.clock.advance(1.0)
        raise AssertionError(f"not idle after {ticks} ticks")

    # -- foreign programs ------------------------------------------------------------------------------------------

    def put(self, name: str, data: bytes) -> None:
        """Replace a file as careful foreign programs do: write beside it, rename over it."""
        draft = self.root / f".foreign-{os.getpid()}-{next(_unique)}"
        draft.write_bytes(data)
        draft.replace(self.root / name)

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def entries(self) -> list[dict[str, object]]:
        """The queue in ACTION.md; empty without that file."""
        from worldfs.formats import action

        if not (self.root / "ACTION.md").exists():
            return []
        found, _ = action.locate(self.read("ACTION.md").decode())
        return [] if found is None else action.entries_of(found.value)

    def until(self, holds: Callable[[], bool], patience: float = PATIENCE_S) -> None:
        """Look again after each change in the jobs of a kernel that runs elsewhere, until it holds."""

        store, end = DiskStore(self.root), time.monotonic() + patience
        try:
            with store.watch(OPEN) as watch:
                while not holds():
                    assert time.monotonic() < end, f"it does not hold after {patience} s"
                    watch.read(1.0)
        finally:
            store.close()

    # -- what is there ---------------------------------------------------------------------------------------------

    def job(self, id: str) -> Job:
        """A job by its files alone, read by a program that is no kernel."""
        return self._jobs()[id]

    def jobs(self) -> dict[str, Job]:
        return self._jobs()

    def starts(self, id: str) -> int:
        return sum(order.id == id for order in self.executed)

    def _jobs(self) -> dict[str, Job]:
        store = DiskStore(self.root)
        try:
            jobs = JobStore(store, self.clock)
            return {id: jobs.load(id) for id in {*jobs.open_ids(), *jobs.done_ids()}}
        finally:
            store.close()

    def check_files(self) -> None:
        """Check that every document and every file of ours is readable, after any crash. Raises the first error."""
        from worldfs.formats import action, environment, lessons_file, task

        for name, read in (
            ("ACTION.md", action.read),
            ("ENVIRONMENT.md", environment.read),
            ("LESSONS.md", lessons_file.read),
            ("TASK.md", task.read),
        ):
            if (self.root / name).exists():
                read(self.read(name))
        for file in (self.root / ".paos/quarantine").rglob("*.json"):
            json.loads(file.read_bytes())
        self._jobs()  # reads every job, open and ended

    def stray_files(self) -> list[str]:
        """Temporaries, ours wherever they lie, and open files of ended jobs."""
        kept = self.root / ".paos"
        found = [file for file in self.root.rglob("*") if file.is_file() and DRAFT in file.name]
        found += (kept / "drafts").glob("*")
        ended = {id for id, job in self._jobs().items() if job.status.state.terminal}
        found += [file for file in (kept / "jobs").glob("*") if file.name.removesuffix(".jsonl") in ended]
        return [str(file.relative_to(self.root)) for file in found]
