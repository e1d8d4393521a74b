"""SIGKILL at random moments, again and again: nothing accepted is lost, nothing is carried out twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.model import Cause
from worldfs.testing.workspace_fixture import WorkspaceFixture, action, order, sheet
from worldfs.world.world import World

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAM = Path(__file__).with_name("kernel_process.py")


def kernel(site: WorkspaceFixture, log: Path, *words: str) -> subprocess.Popen[str]:
    """A kernel that has opened its world."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(site.root), str(log), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )
    assert process.stdout is not None and process.stderr is not None
    said = process.stdout.readline()
    assert said == "open\n", process.stderr.read()
    return process


class Clients:
    """A program that appends to ACTION.md by rename, and one that submits through the tree; both while kernels die."""

    def __init__(self, site: WorkspaceFixture, seed: int) -> None:
        self.site = site
        self.rng = random.Random(seed)
        self.accepted: set[str] = set()
        self.stop = threading.Event()
        self.failure: BaseException | None = None
        self.threads = [threading.Thread(target=self._guard, args=(work,)) for work in (self.append, self.submit)]

    def params(self) -> dict[str, object]:
        return {"takes": self.rng.choice((0, 0.002, 0.02))}

    def append(self, n: int) -> None:
        id = f"sheet_{n:05d}"
        self.site.put("ACTION.md", sheet([*self.site.entries(), action(id, **self.params())]))
        self.accepted.add(id)

    def submit(self, n: int) -> None:
        world = World.open(self.site.root)
        try:
            id = f"tree_{n:05d}"
            world.submit(order(id, "arm_2", params=self.params()))
            self.accepted.add(id)
        finally:
            world.close()

    def _patient(self) -> bool:
        """Kernels live for moments here: what is open must not outgrow what they can do in one life."""
        folder = self.site.root / ".paos/jobs"
        return not folder.exists() or len(os.listdir(folder)) < 20

    def _guard(self, work: object) -> None:
        try:
            n = 0
            while not self.stop.is_set():
                if self._patient():
                    work(n)  # type: ignore[operator]
                    n += 1
                self.stop.wait(self.rng.uniform(0, 0.02))
        except BaseException as error:
            self.failure = error

    def __enter__(self) -> Clients:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()


def kill_again_and_again(root: Path, rounds: int, seed: int) -> tuple[int, Counter[str]]:
    """How many were accepted, and how they ended."""
    site, log, rng = WorkspaceFixture(root / "w", clock=SystemClock()), root / "starts.log", random.Random(seed)
    site.put("ACTION.md", sheet([]))
    with Clients(site, seed) as clients:
        for _ in range(rounds):
            process = kernel(site, log)
            time.sleep(rng.uniform(0, 0.25))  # the moment of the kill is the experiment
            process.send_signal(signal.SIGKILL)
            process.communicate()
            site.check_files()
            assert clients.failure is None, clients.failure
    last = kernel(site, log, "until-idle")
    _, err = last.communicate(timeout=120)
    assert last.returncode == 0, err
    site.check_files()
    jobs = site.jobs()
    starts = Counter(log.read_text().split("\n")[:-1])
    assert max(starts.values()) == 1, [item for item in starts.items() if item[1] > 1]
    lost = clients.accepted - jobs.keys()
    assert not lost, f"accepted and lost: {sorted(lost)}"
    ends: Counter[str] = Counter()
    for id, job in jobs.items():
        outcome = job.status.outcome
        assert job.status.state.terminal and outcome is not None, id
        assert outcome.ok or outcome.cause is Cause.LOST, outcome
        if outcome.ok:
            assert starts[f"{id} 1"] == 1, id
        ends["succeeded" if outcome.ok else "lost"] += 1
    assert site.stray_files() == []
    return len(clients.accepted), ends


def test_a_few_kills(tmp_path: Path) -> None:
    accepted, ends = kill_again_and_again(tmp_path, 2, 1)
    assert accepted and ends["succeeded"]


@pytest.mark.proof
def test_two_hundred_kills(tmp_path: Path) -> None:
    accepted, ends = kill_again_and_again(tmp_path, 200, 2)
    print(f"200 kills, {accepted} orders accepted: {dict(ends)}, none lost from sight, none started twice")


@pytest.mark.proof
def test_a_second_kernel_names_the_first_and_leaves(tmp_path: Path) -> None:
    site = WorkspaceFixture(tmp_path / "w", clock=SystemClock())
    first = kernel(site, tmp_path / "log")
    try:
        second = subprocess.run(
            [sys.executable, "-m", "worldfs.interfaces.cli.main", "up", "--workspace", str(site.root)],
            env={**os.environ, "PYTHONPATH": str(SRC), "PAOS_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode == 2, second.stderr
        assert str(first.pid) in second.stderr and "Traceback" not in second.stderr
    finally:
        first.kill()
        first.communicate()
