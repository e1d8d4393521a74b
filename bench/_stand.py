"""The stand: a workspace, a kernel with bodies that do nothing, and a foreign program that asks and looks."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ._tape import Step

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 120.0

_EMBODIED = """# EMBODIED — Nothing

## Identity
- **Robot Model**: nothing
- **Driver**: null

## Supported Actions
| Action Type | Description | Parameters |
|---|---|---|
| move_to | Move to a target | target_pose: [x,y,z,r,p,y] |

## Physical Constraints
- **Max Reach**: 2.0 m
"""


def environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


@contextmanager
def as_paos_up() -> Iterator[None]:
    """The interpreter as `paos up` has it, for a world that is served in the bench's own process."""
    from worldfs.interfaces.cli.main import tune_process

    before, turn = gc.get_threshold(), sys.getswitchinterval()
    tune_process()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
        sys.setswitchinterval(turn)


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory on the disk that the project lies on: /tmp may be memory, where nothing costs anything."""
    (ROOT / "build").mkdir(exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / "build"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def make_workspace(place: Path, nodes: int = 1) -> Path:
    place.mkdir(parents=True)
    robots = [{"robot_id": f"r{n}", "pose": [0, 0, 0], "gripper": "open", "holding": None} for n in range(nodes)]
    world = {"schema_version": "v2.0", "robots": robots, "objects": [], "scene_graph": {"nodes": [], "edges": []}}
    (place / "ENVIRONMENT.md").write_text(json.dumps(world))
    (place / "EMBODIED.md").write_text(_EMBODIED)
    (place / "ACTION.md").write_text(sheet([]))
    return place


def entry(id: str, node: str = "r0") -> dict[str, Any]:
    pose = [0.4, 0.0, 0.5, 0.0, 0.0, 0.0]
    return {
        "action_id": id,
        "action_type": "move_to",
        "params": {"target_pose": pose},
        "status": "pending",
        "robot_id": node,
    }


def sheet(entries: Sequence[dict[str, Any]]) -> str:
    return json.dumps({"queue": list(entries)}, indent=1) + "\n"


class Stand:
    """A kernel process over a workspace; `ask` renames a finished ACTION.md into place, as any program might."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.action = workspace / "ACTION.md"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench._kernel", str(workspace)],
            cwd=ROOT,
            env=environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._hear("ready")
        from inotify_simple import INotify, flags

        self._feed = INotify()
        self._feed.add_watch(str(workspace), flags.MOVED_TO | flags.CLOSE_WRITE)

    def ask(self, entries: Sequence[dict[str, Any]]) -> float:
        """The clock at the moment of the rename."""
        draft = self.workspace / ".draft"
        draft.write_text(sheet(entries))
        began = time.perf_counter()
        draft.rename(self.action)
        return began

    def wait_ended(self, count: int, id: str) -> float:
        """The clock when ACTION.md shows `id` and nothing in it is pending or running; raises after a long while."""
        give_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up:
            self._feed.read(timeout=1000)
            if self._process.poll() is not None:
                raise RuntimeError(f"the kernel process ended with {self._process.returncode}")
            data = self.action.read_bytes()
            if b'"pending"' in data or b'"running"' in data or id.encode() not in data:
                continue
            ended = time.perf_counter()
            entries = json.loads(data)["queue"]
            failed = [item for item in entries if item["status"] != "completed"]
            if failed or len(entries) < count:
                raise RuntimeError(f"{len(entries)} of {count} entries; not completed: {failed[:1]}")
            return ended
        raise TimeoutError(f"{id} did not end in {PATIENCE_S:g} s: {self.action.read_text()[-400:]}")

    def commits(self) -> int:
        """Durable writes of the kernel so far."""
        assert self._process.stdin is not None
        self._process.stdin.write("count\n")
        self._process.stdin.flush()
        return int(self._hear(""))

    def tape(self) -> list[Step]:
        """What the kernel has asked of the disk since the last such call; from the first on it is written down, until
        `commits` is called."""
        assert self._process.stdin is not None
        self._process.stdin.write("tape\n")
        self._process.stdin.flush()
        return [Step(*step) for step in json.loads(self._hear(""))]

    def _hear(self, wanted: str) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line or (wanted and line != wanted):
            raise RuntimeError(f"the kernel process said {line!r} and ended with {self._process.wait(10)}")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._feed.close()
        if self._process.stdout is not None:
            self._process.stdout.close()


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
