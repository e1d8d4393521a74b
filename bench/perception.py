"""An arm that goes by its cameras: what a picture costs, how far off the estimates are, and what is done by them.

Depth noise of 2 mm at 1 m, growing with its square; seeds on which nothing was tuned. Every step's "seen" is compared
with the judge's verdict, which comes from contacts and poses and never from a picture.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, cast

FAMILIES = ("pick", "place", "stack", "sort", "clear", "recover")
FRESH, SEEDS, SCENES, HINDERED = 7000, 20, 12, 8
SKILLS = (
    "place_beside",
    "push",
    "nudge",
    "upright",
    "stack",
    "drawer",
    "lid",
    "wipe",
    "put_in",
)  # handling by what was seen
HANDLED = 12  # trials of each
VERDICTS = ("done", "failed")
SIGHTS = ("done", "failed", "unseen")
FIGURES = (
    "perception.ms_per_frame",
    "perception.pose_error_mm_p50",
    "perception.pose_error_mm_p95",
    "perception.false_done",
    *(f"tabletop.camera_success_{family}{part}" for family in FAMILIES for part in ("", ".low", ".high", ".tried")),
    *(f"perception.skill_{skill}{part}" for skill in SKILLS for part in ("", ".low", ".high", ".tried")),
    *(f"perception.true_{true}_seen_{seen}" for true in VERDICTS for seen in SIGHTS),
)


def run(seeds: int = SEEDS, scenes: int = SCENES, hindered: int = HINDERED, workers: int = 2) -> dict[str, float]:
    """The figures; none, and the reason printed, without OpenGL or scipy. `tabletop.camera_success_FAMILY` 0…1 with
    `.low` and `.high` of Wilson's interval of 95 %, of `.tried` seeds."""
    try:
        import scipy  # noqa: F401  # the question is whether it is there
    except ImportError:
        print("perception: pip install 'worldfs[perception]'")
        return {}
    from worldfs.robots.mujoco.gl import gl_status
    from worldfs.skills.success_rate import success_rate

    if not gl_status().backend:
        print(f"perception: {gl_status()}")
        return {}
    figures = _looks(range(FRESH, FRESH + scenes))
    todo = [(family, seed) for seed in range(FRESH, FRESH + seeds) for family in FAMILIES]
    told: Counter[tuple[str, str]] = Counter()
    success: Counter[str] = Counter()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for (family, seed), (ok, why, steps) in zip(todo, pool.map(_trial, todo), strict=True):
            success[family] += ok
            told.update(steps)
            if not ok:
                print(f"  failed: {family} {seed}: {why}", flush=True)
        for steps in pool.map(_hindered, range(FRESH, FRESH + hindered)):
            told.update(steps)
    for family in FAMILIES:
        share, name = success_rate(success[family], seeds), f"tabletop.camera_success_{family}"
        figures |= {name: share.rate, f"{name}.low": share.low, f"{name}.high": share.high, f"{name}.tried": seeds}
        print(f"  {family}: {share}", flush=True)
    for skill in SKILLS:
        figures |= _handled(skill, HANDLED)
    figures |= {f"perception.true_{true}_seen_{seen}": told[true, seen] for true in VERDICTS for seen in SIGHTS}
    figures["perception.false_done"] = told["claimed", "false"]
    span = f"seeds {FRESH} to {FRESH + seeds - 1} (not tuned on)"
    print(f"perception: {sum(success.values())} of {len(todo)} trials, {span}")
    return figures


def _handled(skill: str, trials: int) -> dict[str, float]:
    """`perception.skill_NAME` 0…1: of the seeds that the review admits by what was seen, what the judge calls done."""
    from worldfs.base.model.profile import CAMERA
    from worldfs.plugins.benchmark.handling_trials import trial
    from worldfs.skills.success_rate import success_rate

    good, tried, refused = 0, 0, 0
    for seed in range(FRESH, FRESH + 3 * trials):
        one = trial(skill, seed, None, CAMERA)
        refused += one.refused
        tried += not one.refused
        good += one.ok
        if not one.ok and not one.refused:
            print(f"  failed: {skill} {seed}: {one.code} {one.why}"[:200], flush=True)
        if tried == trials:
            break
    share, name = success_rate(good, tried), f"perception.skill_{skill}"
    print(f"  {skill}: {share}, {refused} refused beforehand", flush=True)
    return {name: share.rate, f"{name}.low": share.low, f"{name}.high": share.high, f"{name}.tried": tried}


def _looks(seeds: range) -> dict[str, float]:
    """Scenes of five things, the arm at rest: time of a picture, and the distance of each estimate from the truth."""
    import numpy as np

    from worldfs.robots.mujoco.random_scene import random_scene
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    looking: Any = importlib.import_module("worldfs.robots.mujoco.camera_looks")
    correcting: Any = importlib.import_module("worldfs.robots.mujoco.camera_correction")
    spent: list[float] = []
    check, detect, align = looking.image_fault, looking.detect_things, correcting.camera_offset

    def timed(made: Any, new: bool) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            began = time.thread_time()
            try:
                return made(*given, **named)
            finally:
                took = 1000 * (time.thread_time() - began)
                spent.append(took) if new else spent.append(spent.pop() + took)

        return call

    looking.image_fault, looking.detect_things = timed(check, True), timed(detect, False)
    correcting.camera_offset = timed(align, False)
    errors = []
    try:
        for seed in seeds:
            body = TabletopDriver("bench", perception="camera")
            body.open(random_scene(seed, 5, "bench"))
            assert body.looks is not None
            for id, track in body.looks.belief.tracks.items():
                if track.seen:
                    errors.append(1000 * float(np.linalg.norm(np.array(track.position) - body.arm.rig.position(id))))
            body.close()
    finally:
        looking.image_fault, looking.detect_things = check, detect
        correcting.camera_offset = align
    shown = f"{len(errors)} of {5 * len(seeds)} things seen at the first look"
    print(f"  {shown}; {statistics.median(spent):.0f} ms of CPU a picture ({max(spent):.0f} at most)")
    return {
        "perception.ms_per_frame": round(statistics.median(spent), 1),
        "perception.pose_error_mm_p50": round(float(np.percentile(errors, 50)), 2),
        "perception.pose_error_mm_p95": round(float(np.percentile(errors, 95)), 2),
    }


def _trial(what: tuple[str, int]) -> tuple[bool, str, list[tuple[str, str]]]:
    """One trial of `paos bench tabletop --perception camera`, and each of its steps as (verdict, sight)."""
    from worldfs.base.model.profile import CAMERA
    from worldfs.plugins.benchmark.benchmark_methods import parse_method
    from worldfs.plugins.benchmark.trial import Trial, run
    from worldfs.robots.mujoco.camera_looks import CameraLooks

    steps: list[tuple[str, str]] = []
    after = CameraLooks.after

    def noted(self: Any, order: Any, outcome: Any, *more: Any) -> Any:
        told = after(self, order, outcome, *more)
        seen = cast(dict[str, Any], told.evidence["seen"]).get("done")
        steps.append(("done" if told.ok else "failed", "unseen" if seen is None else "done" if seen else "failed"))
        return told

    CameraLooks.after = noted  # type: ignore[method-assign,assignment]
    try:
        done = run(Trial(parse_method("skills"), *what, CAMERA))
    finally:
        CameraLooks.after = after  # type: ignore[method-assign]
    if not done.ok and steps and all(verdict == "done" for verdict, _ in steps) and done.attempts == done.goals:
        steps.append(("claimed", "false"))
    return done.ok, done.why, steps


def _hindered(seed: int) -> list[tuple[str, str]]:
    """A pick, or a pick and a place, that cannot succeed: somebody takes the thing away each time it is lifted, or
    moves it each time it is let go. So the judge has something to call failed."""
    import mujoco
    import numpy as np

    from worldfs.base.clock import SystemClock
    from worldfs.base.driver import Run
    from worldfs.base.model import Order
    from worldfs.robots.mujoco.random_scene import random_scene
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    body, clock = TabletopDriver("bench", perception="camera"), SystemClock()
    body.open(random_scene(seed, 3, "bench"))
    rig, id, rng = body.arm.rig, body.arm.rig.objects[seed % 3], np.random.default_rng(seed)
    start, taken = rig.position(id), {"held": False}

    def away() -> None:
        at, held = rig.qpos[id], rig.held() == id
        lifted = held and rig.position(id)[2] > start[2] + 0.05
        if (lifted and seed % 2) or (taken["held"] and not held and not seed % 2):
            x, y = start[:2] + rng.uniform(0.06, 0.08, 2) * rng.choice((-1, 1), 2)
            rig.simulation.data.qpos[at : at + 3] = x, y, start[2]
            rig.simulation.data.qvel[rig.dof[id] : rig.dof[id] + 6] = 0
            mujoco.mj_forward(rig.simulation.model, rig.simulation.data)
        taken["held"] = held

    steps = []
    plan: tuple[tuple[str, dict[str, object]], ...] = (
        ("pick_up", {"object_id": id}),
        ("place", {"target_position": [0.5, 0.0, 0.03]}),
    )
    for op, params in plan:
        hinders = (op == "pick_up") == bool(seed % 2)
        body.arm.mover.watch, body.arm.mover.watch_every = (away if hinders else None), 25 if hinders else 0
        outcome = body.execute(Order(op, "bench", op, params), Run(clock, clock.monotonic() + 60))
        if "seen" in outcome.evidence:
            seen = cast(dict[str, Any], outcome.evidence["seen"]).get("done")
            steps.append(
                ("done" if outcome.ok else "failed", "unseen" if seen is None else "done" if seen else "failed")
            )
        if not outcome.ok:
            break
    body.close()
    return steps


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(run(given.seeds, workers=given.workers))
