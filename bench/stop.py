"""A stop, from the request in another process to the driver's stop being called, in the middle of a long motion.

The simulated arm moves without a pause, a queue of such motions waits behind it. Beside it, the time to the end of the
job: the arm has come to rest, the world is written, and the end is durable.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time

from ._stand import ROOT, environ, percentile, scratch

FIGURES = ("stop.p99_ms",)
STOPS, QUEUED = 60, 100
PATIENCE_S = 60.0


def run() -> dict[str, float]:
    from worldfs.base.model import Order
    from worldfs.world.world import World

    there, back = ([x, 0.0, 0.45, 3.1416, 0.0, 0.0] for x in (0.4, 0.55))
    steps = [{"action_type": "move_to", "params": {"target_pose": pose}} for pose in (there, back) * 30]
    random.seed(1)
    told, ended = [], []
    with scratch() as place, World.open(place) as world:
        orders = [
            Order(f"act_{n:04d}", "franka_001", "strategy", {"name": "steps", "steps": steps}, asker="planner")
            for n in range(STOPS + QUEUED)
        ]
        command = [sys.executable, "-m", "bench._arm", str(place)]
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
                time.sleep(random.uniform(0.0, 0.2))
                asked = time.monotonic()
                world.stop()
                told.append(1000 * (float(kernel.stdout.readline()) - asked))
                status = world.wait_job(order.id, timeout=PATIENCE_S)
                ended.append(1000 * (time.monotonic() - asked))
                outcome = status.outcome
                assert outcome is not None, status
                assert outcome.code == "STOPPED" and outcome.evidence["held"], outcome
                world.resume()
            kernel.stdin.close()
    return {
        "stop.p99_ms": percentile(told, 0.99),
        "stop.p50_ms": percentile(told, 0.5),
        "stop.ended_p99_ms": percentile(ended, 0.99),
    }
