"""Honest worlds: carrying and pushing where friction, mass, size or delay is not what the robot was told.

Every trial has a benign twin of the same seed. The lines are written to build/world_trials.jsonl, each with its world.
"""

from __future__ import annotations

import json
from pathlib import Path

SKILLS = ("carry", "push")
FACTORS = {
    "friction": (0.3, 0.5, 0.7), "mass": (0.5, 2.0, 4.0), "size": (0.9, 0.95, 1.05, 1.1), "delay": (0.02, 0.05, 0.1),
}  # fmt: skip
TRIALS, FRESH = 12, 7000
LINES = Path(__file__).resolve().parents[1] / "build/world_trials.jsonl"


def figure(skill: str, factor: str, level: float) -> str:
    return f"worlds.{skill}.{factor}" + (f"_{level:g}" if level else "")


CELLS = (("nominal", 0.0), *((name, level) for name, levels in FACTORS.items() for level in levels), ("drawn", 0.0))
FIGURES = tuple(figure(skill, *cell) for skill in SKILLS for cell in CELLS)


def run(trials: int = TRIALS) -> dict[str, float]:
    """`worlds.SKILL.FACTOR_LEVEL` 0…1: of the seeds whose benign twin succeeded, the share that succeeded there too;
    `worlds.SKILL.nominal`: of all seeds that the review admits, the twins themselves."""
    from worldfs.plugins.benchmark.handling_trials import trial
    from worldfs.plugins.benchmark.physics_world import PhysicsWorld, drawn
    from worldfs.skills.success_rate import success_rate

    LINES.parent.mkdir(exist_ok=True)
    found: dict[str, float] = {}
    with LINES.open("w", encoding="utf-8") as lines:
        for skill in SKILLS:
            twins = []
            for seed in range(FRESH, FRESH + 3 * trials):
                one = trial(skill, seed, PhysicsWorld())
                lines.write(json.dumps(one._asdict()) + "\n")
                twins += [] if one.refused else [one]
                if len(twins) == trials:
                    break
            good = [one.seed for one in twins if one.ok]
            found[figure(skill, "nominal", 0.0)] = len(good) / len(twins)
            found |= {f"worlds.{skill}.tried": len(twins), f"worlds.{skill}.twins": len(good)}
            for factor, level in CELLS[1:]:
                done = 0
                for seed in good:
                    world = drawn(seed) if factor == "drawn" else PhysicsWorld(**{factor: level})
                    one = trial(skill, seed, world)
                    lines.write(json.dumps(one._asdict()) + "\n")
                    done += one.ok
                    if not one.ok:
                        print(f"  failed: {skill} {seed} {one.world}: {one.code} {one.why}"[:200], flush=True)
                found[figure(skill, factor, level)] = done / len(good)
                print(f"  {skill}, {factor} {level:g}: {success_rate(done, len(good))}", flush=True)
    return found
