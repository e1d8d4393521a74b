"""The command as a user types it, on workspaces as a user finds them; bodies are real unless a test says otherwise."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import Job
from worldfs.interfaces.cli.driver_factories import factories
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.interfaces.cli.main import main
from worldfs.storage.engine_record import DISK, engine_of
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world
from worldfs.world.store_transfer import keys_of
from worldfs.world.workspace_engine import open_engine
from worldfs.world.world import World

ROOT = Path(__file__).resolve().parents[2]
WORKSPACES = ROOT / "tests/fixtures/workspaces"
BODY = ("--driver", "simulation", "--no-cameras")  # after `up` and `do`


@dataclass(frozen=True)
class Said:
    """How one command line ended."""

    code: int
    out: str
    err: str

    @property
    def values(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Place:
    """One workspace directory, and the command opened on it."""

    def __init__(self, root: Path, options: Sequence[str]) -> None:
        self.root = root
        self.options = tuple(options)

    def paos(self, *words: str, stdin: bytes = b"") -> Said:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main([*self.options, *words])
        finally:
            sys.stdin = before
        told = []
        for stream in (out, err):
            stream.flush()
            told.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
        assert "Traceback" not in told[1]
        return Said(code, *told)

    def up(self, *words: str) -> Said:
        return self.paos("up", "--until-idle", *BODY, *words)

    def do(self, text: str, *words: str) -> Said:
        return self.paos("do", text, *BODY, *words)

    def spawn(self, *words: str) -> subprocess.Popen[str]:
        """The same in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "worldfs.interfaces.cli.main", *self.options, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """A kernel with the simulated arm at work, in this process: for tests that are not about its process."""
        home = Home(self.root.parent)
        config, bodies = home.config({}), factories("simulation", seed=None, cameras=False)
        with (
            open_home_world(self.root, config, agents=home.path / "agents", serve=True, drivers=bodies) as world,
            KernelThread(world),
        ):
            yield

    def text(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def value(self, name: str) -> Any:
        """The JSON of a document: bare, or in its fenced block."""
        text = self.text(name)
        if "```" in text:
            text = text.split("```json", 1)[1].split("```", 1)[0]
        return json.loads(text)

    def put(self, name: str, text: str) -> None:
        """As another program does it: a finished file renamed into place."""
        draft = self.root / (name + ".draft")
        draft.write_bytes(text.encode())
        draft.replace(self.root / name)

    def furnish(self, things: Sequence[Any]) -> None:
        """ENVIRONMENT.md with these things instead of its own; table and basket stay."""
        world, kept = self.value("ENVIRONMENT.md"), {"basket_01", "table_01"}
        graph = world["scene_graph"]
        world["objects"] = list(things)
        graph["nodes"] = [node for node in graph["nodes"] if node["id"] in kept]
        graph["edges"] = [edge for edge in graph["edges"] if edge["from"] in kept]
        self.put("ENVIRONMENT.md", json.dumps(world))

    def change(self, name: str, old: str, new: str) -> None:
        text = self.text(name)
        assert old in text, f"{name} does not hold {old!r}"
        self.put(name, text.replace(old, new))

    def queue(self, *entries: dict[str, Any]) -> None:
        self.put("ACTION.md", json.dumps({"queue": [{"status": "pending", **entry} for entry in entries]}))

    def entry(self, id: str) -> Any:
        value = self.value("ACTION.md")
        return next(e for e in value.get("queue", value.get("actions")) if id in (e.get("action_id"), e.get("id")))

    def thing(self, id: str) -> Any:
        return next(thing for thing in self.value("ENVIRONMENT.md")["objects"] if thing["id"] == id)

    def where(self, id: str) -> set[tuple[str, str]]:
        """Relations of a thing, as ENVIRONMENT.md has them now."""
        edges = self.value("ENVIRONMENT.md")["scene_graph"]["edges"]
        return {(edge["relation"], edge["to"]) for edge in edges if edge["from"] == id}

    def world(self) -> World:
        """The workspace on whichever engine it is kept, to read and submit."""
        return World.open(self.root, store=open_engine(self.root))

    def ended(self) -> dict[str, Job]:
        """Every job that ended, by id."""
        with self.world() as world:
            ids = dict.fromkeys((*world.jobs.open_ids(), *world.jobs.done_ids()))  # it may not be put away yet
            return {id: job for id in ids if (job := world.jobs.load(id)).status.state.terminal}

    def answers(self, *ids: str) -> list[Any]:
        """Entries of the sheet, once all of them have ended; whoever runs the kernel."""
        ended: list[Any] = []

        def over(data: bytes | None) -> bool:
            queue = json.loads(data or b"{}").get("queue", ())
            ended[:] = [e for e in queue if e["action_id"] in ids and e["status"] in ("failed", "completed")]
            return len(ended) == len(ids)

        with self.world() as world:
            assert world.changes.wait(world.resolve("ACTION.md"), "planner", over, timeout=PATIENCE_S)
        return sorted(ended, key=lambda entry: ids.index(entry["action_id"]))

    def lessons(self) -> list[str]:
        """Entries, each from its heading on."""
        return ["## " + part for part in ("\n" + self.text("LESSONS.md")).split("\n## ")[1:]]

    def bytes(self) -> dict[str, tuple[bytes, int]]:
        """Every file there is, with its time of change. The files of another engine are that server's: what it keeps
        is read from it."""
        # What the store pushes aside comes and goes for a second after any replacement; it is no document of anybody.
        left_out = (".paos/displaced", ".paos/replaced", ".paos/engine")
        files = (
            file
            for file in sorted(self.root.rglob("*"))
            if not any(one in file.as_posix() for one in left_out) and file.is_file()
        )
        found = {str(file.relative_to(self.root)): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
        if engine_of(self.root) != DISK:
            with self.world() as world:
                found |= {f"store {key}": (world.content(key), 0) for key in keys_of(world.store)}
        return found


Found = Callable[[str], Place]
Onboarded = Callable[..., Place]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """A workspace that somebody else made: a copy of a fixture, opened with --workspace, no home."""

    def find(name: str) -> Place:
        root = tmp_path_factory.mktemp("found") / name
        shutil.copytree(WORKSPACES / name, root)
        return Place(root, ("--workspace", str(root)))

    return find


@pytest.fixture(scope="module")
def onboarded(tmp_path_factory: pytest.TempPathFactory) -> Onboarded:
    """A home of our own."""

    def make(*words: str) -> Place:
        home = tmp_path_factory.mktemp("home")
        place = Place(home / "workspace", ("--home", str(home)))
        assert place.paos("onboard", *words).code == 0
        return place

    return make


@pytest.fixture(scope="session")
def gl() -> Iterator[None]:
    from worldfs.robots.mujoco.gl import gl_status

    status = gl_status()
    if not status.backend:
        pytest.skip(f"no GL on this machine: {status.why}")
    yield


@pytest.fixture(scope="session")
def laid_by_seed_7(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that each `table` is a copy of."""
    home = tmp_path_factory.mktemp("laid")
    place = Place(home / "workspace", ("--home", str(home)))
    assert place.paos("onboard").code == 0 and place.up("--seed", "7").code == 0
    return home


@pytest.fixture
def table(laid_by_seed_7: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The five kinds on a table, as seed 7 lays them."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(laid_by_seed_7, home, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("sockets"))
    return Place(home / "workspace", ("--home", str(home)))


@pytest.fixture
def kernel(table) -> Iterator[subprocess.Popen[str]]:
    """A `paos up` of its own process, ready."""
    process = table.spawn("up", "--driver", "simulation", "--no-cameras")
    assert process.stdout is not None and process.stdout.readline().startswith("kernel running")
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
