"""Honest worlds: carrying and pushing where one thing of physics, light or cameras is not what the robot was told.

Every trial has a benign twin of the same seed. The lines are written to build/world_trials.jsonl, each with its world.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SKILLS = ("carry", "push", "pixels")  # the last: carrying by what the cameras show
PHYSICS = {
    "friction": (0.3, 0.5, 0.7), "mass": (0.5, 2.0, 4.0), "size": (0.9, 0.95, 1.05, 1.1), "delay": (0.02, 0.05, 0.1),
}  # fmt: skip
CAMERAS = {
    "light": (0.2, 0.5, 2.0, 3.0), "light_angle": (90.0, 180.0), "warmth": (-0.3, 0.3, 0.6),
    "depth_noise": (4.0, 6.0, 8.0), "colour_noise": (20.0, 40.0, 60.0), "camera_shift": (3.0, 6.0, 9.0, 12.0),
    "camera_tilt": (0.2, 0.4, 0.8),
}  # fmt: skip
TRIALS, FRESH = 12, 7000
SAID = (
    "CAMERA_DARK", "CAMERA_FOREIGN", "CAMERA_MOVED", "FURNITURE_MOVED", "DEPTH_HOLES", "DEPTH_NOISY", "HAND_IN_VIEW",
    "NOT_SEEN",
)  # fmt: skip
LINES = Path(__file__).resolve().parents[1] / "build/world_trials.jsonl"


def figure(skill: str, factor: str, level: float) -> str:
    return f"worlds.{skill}.{factor}" + (f"_{level:g}" if level else "")


def _levels(factors: dict[str, tuple[float, ...]]) -> tuple[tuple[str, float], ...]:
    return tuple((name, level) for name, levels in factors.items() for level in levels)


ROWS = (("nominal", 0.0), *_levels(PHYSICS), *_levels(CAMERAS), ("drawn", 0.0))
CELLS = {
    "carry": tuple(row for row in ROWS if row[0] not in CAMERAS),
    "push": tuple(row for row in ROWS if row[0] not in CAMERAS),
    "pixels": tuple(row for row in ROWS if row not in (("friction", 0.7), ("mass", 0.5), ("delay", 0.02))),
}
FIGURES = tuple(figure(skill, *cell) for skill in SKILLS for cell in CELLS[skill])


def run(trials: int = TRIALS, skills: tuple[str, ...] = SKILLS, workers: int = 2) -> dict[str, float]:
    """`worlds.SKILL.FACTOR_LEVEL` 0…1: of the seeds whose benign twin succeeded, the share that succeeded there too;
    `worlds.SKILL.nominal`: of all seeds that the review admits, the twins themselves; `worlds.pixels.X.said`: failures
    there that a check of the picture gave as the reason before anything was grasped."""
    if "pixels" in skills and (why := _blind()):
        print(f"  without pixels: {why}", flush=True)
        skills = tuple(skill for skill in skills if skill != "pixels")
    LINES.parent.mkdir(exist_ok=True)
    found: dict[str, float] = {}
    with (
        LINES.open("a" if skills != SKILLS else "w", encoding="utf-8") as lines,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):

        def tried(skill: str, factor: str, level: float, seeds: Sequence[int]) -> list[Any]:
            done = list(pool.map(_tried, [(skill, seed, factor, level) for seed in seeds]))
            source = "camera" if skill == "pixels" else "truth"
            lines.writelines(json.dumps(one._asdict() | {"perception": source}) + "\n" for one in done)
            return done

        for skill in skills:
            twins: list[Any] = []
            seed = FRESH
            while len(twins) < trials and seed < FRESH + 3 * trials:
                more = range(seed, min(seed + trials - len(twins), FRESH + 3 * trials))
                twins += [one for one in tried(skill, "nominal", 0.0, more) if not one.refused]
                seed = more.stop
            good = [one.seed for one in twins if one.ok]
            found[figure(skill, "nominal", 0.0)] = len(good) / len(twins)
            found |= {f"worlds.{skill}.tried": len(twins), f"worlds.{skill}.twins": len(good)}
            for factor, level in CELLS[skill][1:]:
                found |= _cell(skill, factor, level, tried(skill, factor, level, good))
    return found


def _cell(skill: str, factor: str, level: float, done: list[Any]) -> dict[str, float]:
    from worldfs.skills.success_rate import success_rate

    good, said = sum(one.ok for one in done), sum(one.code in SAID for one in done)
    for one in done:
        if not one.ok:
            print(f"    failed: {skill} {one.seed} {factor} {level:g}: {one.code} {one.why}"[:200], flush=True)
    print(f"  {skill}, {factor} {level:g}: {success_rate(good, len(done))}, {said} said", flush=True)
    name = figure(skill, factor, level)
    return {name: good / len(done)} | ({f"{name}.said": said} if skill == "pixels" else {})


def _tried(what: tuple[str, int, str, float]) -> Any:
    from worldfs.base.model.profile import CAMERA, TRUTH
    from worldfs.plugins.benchmark.handling_trials import trial
    from worldfs.plugins.benchmark.honest_world import PHYSICS as PHYSICAL
    from worldfs.plugins.benchmark.honest_world import RANGES, drawn, world_of

    skill, seed, factor, level = what
    pixels = skill == "pixels"
    levels = {} if factor == "nominal" else {factor: level}
    world = drawn(seed, RANGES if pixels else PHYSICAL) if factor == "drawn" else world_of(levels, seed)
    return trial("carry" if pixels else skill, seed, world, CAMERA if pixels else TRUTH)


def _blind() -> str:
    """Why there are no pictures here, if there are none."""
    from worldfs.robots.mujoco.gl import gl_status

    try:
        import scipy  # noqa: F401  # the question is whether it is there
    except ImportError:
        return "pip install 'worldfs[perception]'"
    return "" if gl_status().backend else str(gl_status())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--skills", default=",".join(SKILLS))
    given = parser.parse_args()
    print(run(given.trials, tuple(given.skills.split(","))))
