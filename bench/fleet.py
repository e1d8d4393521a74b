"""A fleet: missions given out, a take-over by another orchestrator, and one stop for every robot."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from typing import Any

from ._stand import PATIENCE_S, ROOT, as_paos_up, environ, make_workspace, percentile, scratch

FIGURES = ("fleet.assign_1000_s", "fleet.take_over_ms", "stop.fleet_p99_ms")
MISSIONS, ROBOTS = 1000, 100
STOPS = 20
TAKE_OVERS = 5


def run() -> dict[str, float]:
    return {
        "fleet.assign_1000_s": _assign(),
        "fleet.take_over_ms": percentile([_take_over() for _ in range(TAKE_OVERS)], 0.5),
        "stop.fleet_p99_ms": percentile(_stops(), 0.99),
    }


class _Robots:
    """A `MissionExecutor` whose robots are done at once."""

    def __init__(self, count: int) -> None:
        from worldfs.base.model import Operation, Profile
        from worldfs.fleet.bids import RobotOffer

        profile = Profile("Robot", ops=(Operation("pick_up"), Operation("place")))
        self.robots = [RobotOffer(f"r{n:04d}", profile, (float(n % 10), float(n // 10), 0.0)) for n in range(count)]

    def offers(self) -> Any:
        return self.robots

    def needs(self, mission: Any) -> Any:
        from worldfs.fleet.bids import MissionNeeds

        return MissionNeeds(frozenset({"pick_up"}), places=((1.0, 2.0, 0.0),))

    def split(self, mission: Any) -> str:
        return "no"

    def begin(self, mission: Any, hold: Any, ended: Any) -> Any:
        from worldfs.fleet.mission_port import MissionEnd, MissionEndKind

        ended(MissionEnd(MissionEndKind.DONE, "done"))
        return lambda: None

    def at_work(self, job: Any) -> bool:
        return False

    def follow(self, job: Any, ended: Any) -> Any:
        return lambda: None

    def job(self, id: str) -> None:
        return None

    def close_order(self, id: str, robot: str) -> None:
        return

    def has_ended(self, job: Any) -> bool:
        return True

    def cancel(self, job: Any) -> None:
        pass

    def repeatable(self, job: Any) -> bool:
        return False

    def has_left(self, robot: str) -> bool:
        return False

    def not_served(self, robot: str) -> str:
        return ""

    def zones_in(self, held: object) -> list[str]:
        return []

    def gone(self) -> list[Any]:
        return []

    def left_behind(self) -> dict[str, Any]:
        return {}

    def ways_out(self, robot: str) -> Any:
        return ()

    def approvals(self) -> dict[str, str]:
        return {}

    def holds_something(self, robot: str) -> bool:
        return False

    def stands(self, robot: str) -> Any:
        return ()


def _loop(place: Any, robots: _Robots) -> Any:
    from worldfs.base.clock import SystemClock
    from worldfs.fleet.orchestrator_loop import Orchestrator
    from worldfs.storage.open_store import open_store

    store = open_store("disk", place, guarded=frozenset({"ORCHESTRATOR.md"}))
    return store, Orchestrator(store, SystemClock(), robots, language=lambda: "en", alert=lambda where, finding: None)


def _assign() -> float:
    from worldfs.fleet.mission import MissionOrder

    with scratch() as place:
        store, loop = _loop(place, _Robots(ROBOTS))
        for n in range(MISSIONS):
            loop.files.add(MissionOrder(f"m{n:04d}", f"mission {n}", f"mission {n}"))
        began = time.monotonic()
        loop.recover()
        while loop.step() or loop.open:
            pass
        passed = time.monotonic() - began
        assert len(loop.files.done_ids()) == MISSIONS
        loop.close()
        store.close()
    return passed


def _take_over() -> float:
    """From the SIGKILL of `paos up --no-robots` until another one, standing by, serves the missions of that home."""
    with scratch() as place:
        paos = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--json", "--home", str(place / "home")]
        subprocess.run([*paos, "onboard", "--fleet"], env=environ(), cwd=ROOT, check=True, capture_output=True)
        up = [*paos, "up", "--no-robots"]
        serving = subprocess.Popen(up, env=environ(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        _until(serving, "started")
        waiting = subprocess.Popen([*up, "--standby"], env=environ(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        _until(waiting, "standby")
        time.sleep(0.5)  # it has said so, and goes to rest
        killed = time.monotonic()
        serving.kill()
        _until(waiting, "started")
        passed = 1000 * (time.monotonic() - killed)
        waiting.terminate()
        for process in (serving, waiting):
            process.communicate(timeout=PATIENCE_S)
    return passed


def _until(process: Any, state: str) -> None:
    for line in process.stdout:
        if json.loads(line).get("state") == state:
            return
    raise RuntimeError(f"paos up ended before it was {state}")


def _stops() -> list[float]:
    from worldfs.base.driver import Run
    from worldfs.base.model import Cause, Order, Outcome
    from worldfs.testing.null_driver import NullDriver
    from worldfs.world.world import World

    told: list[float] = []

    class Body(NullDriver):
        """Moves until it is stopped, and says when it was."""

        def execute(self, order: Order, run: Run) -> Outcome:
            run.cancel.wait(PATIENCE_S)
            return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped")

        def stop(self) -> None:
            told.append(time.monotonic())

    found = []
    with scratch() as place, as_paos_up():
        root = make_workspace(place / "fleet", ROBOTS)
        stop = threading.Event()
        drivers: Any = {"null": lambda context: Body()}
        with World.open(root, serve=True, drivers=drivers) as world:
            gc.freeze()
            kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
            kernel.start()
            nodes = [spec.id for spec in world.specs]
            pose: dict[str, object] = {"target_pose": [0.4, 0.0, 0.4, 0.0, 0.0, 0.0]}
            for n in range(STOPS):
                world.jobs.accept([Order(f"a{n}_{id}", id, "move_to", pose, asker="planner") for id in nodes])
                end = time.monotonic() + PATIENCE_S
                while sum(attempt.deadline > 0 for attempt in _running(world)) < len(nodes) and time.monotonic() < end:
                    time.sleep(0.01)
                told.clear()
                asked = time.monotonic()
                world.stop()
                while len(told) < len(nodes) and time.monotonic() < end:
                    time.sleep(0.001)
                found.append(1000 * (max(told) - asked))
                for id in nodes:
                    world.wait_job(f"a{n}_{id}", timeout=PATIENCE_S)
                world.resume()
            stop.set()
            world.wake()
            kernel.join(PATIENCE_S)
    return found


def _running(world: Any) -> list[Any]:
    return list(world.kernel.open.running.values())
