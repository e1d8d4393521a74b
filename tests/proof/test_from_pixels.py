"""Clear the table from pixels alone: 100 worlds that nothing was tuned on, and ten cluttered ones."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

pytestmark = pytest.mark.proof
FRESH, CLUTTERED = 8000, 9000


def cleared(seed: int) -> tuple[bool, int, str]:
    """One trial of the benchmark: whether all is in the basket in the end, in how many attempts, and why not."""
    from worldfs.base.model.profile import CAMERA
    from worldfs.plugins.benchmark.benchmark_methods import parse_method
    from worldfs.plugins.benchmark.trial import Trial, run

    done = run(Trial(parse_method("skills"), "clear", seed, CAMERA))
    return done.ok, done.attempts, done.why


def cluttered(seed: int) -> tuple[int, int, list[str]]:
    """Ten things into one basket: how many are in it, how many steps lied about it, and what each failure said."""
    from worldfs.base.clock import SystemClock
    from worldfs.base.driver import Run
    from worldfs.base.model import Order
    from worldfs.robots.mujoco import support
    from worldfs.robots.mujoco.random_scene import random_scene
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    body, clock = TabletopDriver("arm", perception="camera"), SystemClock()
    body.open(random_scene(seed, 10, "arm"))
    rig, lies, why = body.arm.rig, 0, []
    for id in rig.objects:
        for op, params in (("pick_up", {"object_id": id}), ("place", {"target": "basket_01"})):
            outcome = body.execute(Order(op, "arm", op, params), Run(clock, clock.monotonic() + 120))
            if not outcome.ok:
                why.append(f"seed {seed} {op} {id}: {outcome.code}")
                held = rig.held()
                if held is not None:  # what is in the hand is laid down, and the next thing is tried
                    body.execute(
                        Order("put", "arm", "place", {"target": "table_01"}), Run(clock, clock.monotonic() + 120)
                    )
                break
            lies += not (rig.held() == id if op == "pick_up" else support.contains(rig, id, "basket_01"))
    inside = sum(support.contains(rig, id, "basket_01") for id in rig.objects)
    body.close()
    return inside, lies, why


def test_the_table_is_cleared_from_pixels_alone() -> None:
    pytest.importorskip("scipy", reason="the perception extra is not installed")
    pytest.importorskip("mujoco", reason="the simulation is an extra")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        done = list(pool.map(cleared, range(FRESH, FRESH + 100)))
        heaps = list(pool.map(cluttered, range(CLUTTERED, CLUTTERED + 10)))
    for seed, (ok, _, why) in enumerate(done, FRESH):
        if not ok:
            print(f"not cleared: seed {seed}: {why}")
    for _, _, why in heaps:
        print(*why, sep="\n")
    good, inside = sum(ok for ok, _, _ in done), sum(found for found, _, _ in heaps)
    lies = sum(found for _, found, _ in heaps)
    print(f"{good} of 100 tables cleared; {inside} of 100 things of ten cluttered ones, {lies} false successes")
    assert good >= 97
    assert lies == 0
