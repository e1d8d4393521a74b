"""Seeded tabletop episodes: pick one of five kinds among two distractors and place it elsewhere, through the driver.

Kind in turn, random yaw, start and target within ±1 rad and 0.35-0.62 m of the base, target ≥ 0.2 m from the start. The
method was tuned on seeds below 1000; figures are reported on seeds from 5000 on, on which nothing was tuned.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from typing import Any

FIGURES = (
    "tabletop.success",
    "tabletop.first_success",
    "tabletop.wall_s_p50",
    "tabletop.placement_error_mm_p50",
    "tabletop.placement_error_mm_max",
)
FRESH = 5000  # first seed of the reported episodes


def episode(seed: int) -> dict[str, Any]:
    """One pick and place: kind, success, error of the placement (mm), wall time (s), what went wrong."""
    import numpy as np

    from worldfs.base.clock import SystemClock
    from worldfs.base.driver import Run
    from worldfs.base.model import Order, RobotState, Scene, Thing
    from worldfs.robots.mujoco.random_scene import STANDARD_KINDS
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    rng = np.random.default_rng(seed)
    kinds = [STANDARD_KINDS[seed % 5], *(STANDARD_KINDS[i] for i in rng.integers(0, 5, 2))]
    spots: list[tuple[float, float]] = []
    while len(spots) < 4:  # three things, then the target
        radius, angle = rng.uniform(0.35, 0.62), rng.uniform(-1, 1)
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        if all(math.hypot(x - a, y - b) > (0.2 if i == 0 else 0.17) for i, (a, b) in enumerate(spots)):
            spots.append((x, y))
    things = []
    for i, (name, size, mass, color) in enumerate(kinds):
        yaw = rng.uniform(-math.pi, math.pi)
        things.append(
            Thing(
                f"{name}_{i}",
                name,
                position=(*spots[i], size[2] / 2 + 0.001),
                orientation=(math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)),
                size=size,
                shape={"apple": "sphere", "can": "cylinder"}.get(name, "box"),
                mass=mass,
                color=color,
            )
        )
    table = Thing("table", category="furniture", position=(0.45, 0, 0), size=(0.9, 1.3, 0.75), shape="table")
    target = [*spots[3], things[0].size[2] / 2]
    clock = SystemClock()
    start = time.perf_counter()
    body = TabletopDriver("bench", cameras=False)
    body.open(Scene((RobotState("bench"),), tuple(things), (table,)))
    attempts = 0
    steps: tuple[tuple[str, dict[str, object]], ...] = (
        ("pick_up", {"object_id": things[0].id}),
        ("place", {"target_position": target}),
    )
    for op, params in steps:
        outcome = body.execute(Order(op, "bench", op, params), Run(clock, clock.monotonic() + 60))
        told: Any = outcome.evidence
        attempts = max(attempts, told.get("attempts", 1))
        if not outcome.ok:
            break
    wall = time.perf_counter() - start
    error = None
    if outcome.ok:
        seen = body.observe().thing(things[0].id)
        assert seen is not None
        error = 1000 * math.dist(seen.position, target)
    body.close()
    return {
        "seed": seed,
        "kind": kinds[0][0],
        "ok": outcome.ok,
        "error_mm": error,
        "wall_s": wall,
        "attempts": attempts,
        "why": "" if outcome.ok else f"{op}: {outcome.code} {outcome.message}",
    }


def run(episodes: int = 100, seed0: int = FRESH) -> dict[str, float]:
    """Figures: `tabletop.success` 0…1, with one automatic re-grasp an op, `tabletop.first_success` without;
    `tabletop.wall_s_p50`, `tabletop.placement_error_mm_p50` and `_max`.
    """
    done = [episode(seed0 + i) for i in range(episodes)]
    good = [e for e in done if e["ok"]]
    errors = [e["error_mm"] for e in good] or [math.nan]
    figures = {
        "tabletop.success": len(good) / len(done),
        "tabletop.first_success": sum(e["attempts"] == 1 for e in good) / len(done),
        "tabletop.wall_s_p50": round(statistics.median(e["wall_s"] for e in done), 3),
        "tabletop.placement_error_mm_p50": round(statistics.median(errors), 2),
        "tabletop.placement_error_mm_max": round(max(errors), 2),
    }
    origin = "not tuned on" if seed0 >= FRESH else "tuned on"
    print(f"tabletop: {len(good)} of {len(done)} episodes, seeds {seed0} to {seed0 + episodes - 1} ({origin})")
    again = sum(e["attempts"] > 1 for e in done)
    first = round(figures["tabletop.first_success"] * len(done))
    print(f"  at the first attempt: {first} of {len(done)}; second attempts (one an op): {again}")
    print(f"  wall {figures['tabletop.wall_s_p50']} s median")
    print(
        f"  placement error {min(errors):.1f} / {statistics.median(errors):.1f} / {max(errors):.1f} mm (min/median/max)"
    )
    for e in done:
        if not e["ok"]:
            print(f"  failed: seed {e['seed']} {e['kind']}: {e['why']}")
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=FRESH)
    chosen = parser.parse_args()
    print(run(chosen.episodes, chosen.seed))
