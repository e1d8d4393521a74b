"""Two arms and a carrier at work in one world: how much faster than a clock, planning and all.

The arms take things from the middle that they share and put them back into it; the carrier drives round the table.
By the processor's time, so that neighbours on the machine do not count; `sim.two_arms_touches` must be none.
"""

from __future__ import annotations

import random
import time
from typing import Any

FIGURES = ("sim.two_arms_realtime_factor", "sim.two_arms_touches", "sim.two_arms_success")
WORLDS = 6


def scene(seed: int) -> tuple[Any, list[tuple[float, float]]]:
    """Two things to move and one between, all in the middle; the places of all, and then two free ones."""
    from worldfs.base.model import Scene, Thing

    rng, spots = random.Random(seed), list[tuple[float, float]]()
    while len(spots) < 5:
        spot = (rng.uniform(0.36, 0.54), rng.uniform(-0.4, 0.4))
        if all((spot[0] - x) ** 2 + (spot[1] - y) ** 2 > 0.13**2 for x, y in spots):
            spots.append(spot)
    table = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
    things = tuple(
        Thing(f"cube_{i}", position=(*spots[i], 0.0255), size=(0.05,) * 3, shape="box", mass=0.1) for i in range(3)
    )
    return Scene((), things, (table,)), spots


def run(worlds: int = WORLDS) -> dict[str, float]:
    """`sim.two_arms_realtime_factor`: simulated seconds a second of the processor."""
    from worldfs.testing.workcell import Workcell

    simulated = spent = 0.0
    touches = good = orders = 0
    for seed in range(worlds):
        made, spots = scene(seed)
        cell = Workcell(made, ("arm_1", "arm_2"), ("cart_1",))
        began, start = time.process_time(), float(cell.simulation.data.time)
        plans: dict[str, Any] = {
            f"arm_{k + 1}": [
                ("pick_up", {"object_id": f"cube_{k}"}),
                ("place", {"target_position": [*spots[3 + k], 0.0]}),
                ("strategy", {"name": "home"}),
            ]
            for k in range(2)
        }
        plans["cart_1"] = [("target_navigation", {"target_label": arm}) for arm in ("arm_2", "arm_1")]
        done: list[Any] = [outcome for some in cell.together(plans).values() for outcome in some]
        spent += time.process_time() - began
        simulated += float(cell.simulation.data.time) - start
        touches += sum(len(outcome.evidence["touched"]) for outcome in done)
        good, orders = good + sum(outcome.ok for outcome in done), orders + len(done)
    print(f"two_arms: {good} of {orders} orders in {worlds} worlds, {touches} touches, {simulated:.0f} s simulated")
    return {
        "sim.two_arms_realtime_factor": round(simulated / spent, 2),
        "sim.two_arms_touches": float(touches),
        "sim.two_arms_success": round(good / orders, 4),
    }


if __name__ == "__main__":
    print(run())
