"""A stop, from the request in another process to the driver's stop being called, in the middle of a long motion.

The simulated arm moves without a pause, a queue of such motions waits behind it. Beside it, the time to the end of the
job: the arm has come to rest, the world is written, and the end is durable. And the same on a full disk: neither of the
two processes can write a byte, from just before the request until the driver has been called.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import ExitStack

from ._arm import store_of
from ._stand import ROOT, environ, percentile, scratch

FIGURES = ("stop.p99_ms", "stop.full_disk_p99_ms")
STOPS, QUEUED = 60, 100
PATIENCE_S = 60.0
SHOWN_S = 0.5  # until the sheet shows the job at work: a kernel that cannot write that has ended before the stop


def run() -> dict[str, float]:
    told, ended = _stops(fills=False)
    full, _ = _stops(fills=True)
    return {
        "stop.p99_ms": percentile(told, 0.99),
        "stop.p50_ms": percentile(told, 0.5),
        "stop.ended_p99_ms": percentile(ended, 0.99),
        "stop.full_disk_p99_ms": percentile(full, 0.99),
        "stop.full_disk_p50_ms": percentile(full, 0.5),
    }


def _stops(*, fills: bool) -> tuple[list[float], list[float]]:
    """Milliseconds until each driver's stop was called, and until each job had ended. `fills`: on a full disk."""
    from worldfs.base.model import Order
    from worldfs.world.world import World

    there, back = ([x, 0.0, 0.45, 3.1416, 0.0, 0.0] for x in (0.4, 0.55))
    steps = [{"action_type": "move_to", "params": {"target_pose": pose}} for pose in (there, back) * 30]
    random.seed(1)
    told: list[float] = []
    ended: list[float] = []
    with scratch() as home, ExitStack() as stack:
        place, full = home / "lab", (home / "full" if fills else None)
        place.mkdir()
        world = stack.enter_context(World.open(place, store=store_of(place, full)))
        orders = [
            Order(f"act_{n:04d}", "franka_001", "strategy", {"name": "steps", "steps": steps}, asker="planner")
            for n in range(STOPS + QUEUED)
        ]
        command = [sys.executable, "-m", "bench._arm", str(place), *([str(full)] if full is not None else [])]
        with subprocess.Popen(
            command, cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as kernel:
            assert kernel.stdout is not None
            assert kernel.stdin is not None
            assert kernel.stdout.readline() == "ready\n"
            world.jobs.accept(orders)
            for order in orders[:STOPS]:
                path = f"/nodes/franka_001/jobs/{order.id}/status.json"
                world.changes.wait(path, "operator", lambda data: b'"running"' in (data or b""), timeout=PATIENCE_S)
                time.sleep(SHOWN_S * fills + random.uniform(0.0, 0.2))
                if full is not None:
                    full.touch()
                asked = time.monotonic()
                world.stop()
                told.append(1000 * (float(kernel.stdout.readline()) - asked))
                if full is not None:
                    full.unlink()
                while not world.stops.state("franka_001").stopped:  # the kernel writes it as soon as it can
                    time.sleep(0.01)
                status = world.wait_job(order.id, timeout=PATIENCE_S)
                ended.append(1000 * (time.monotonic() - asked))
                outcome = status.outcome
                assert outcome is not None, status
                assert outcome.code == "STOPPED" and outcome.evidence["stood"], outcome
                world.resume()
            kernel.stdin.close()
    return told, ended
