"""ReKep on seeded tables: pick and place, pour, stack, each by the library's constraints on the simulated arm.

Tuned on seeds below 20; figures are of seeds from 1000 on, on which nothing was tuned. Scenes: the random table of
`random_scene` (five kinds, a basket); pick and place in turn into the basket and onto a free spot.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any

FIGURES = (
    "rekep.success",
    "rekep.first_success",
    "rekep.pour_success",
    "rekep.stack_success",
    "rekep.wall_s_p50",
    "rekep.pick_wall_s_p50",
)
FRESH = 1000  # first seed of the reported episodes
KINDS = ("apple", "cube", "can", "bar", "brick")
STACKS = (("cube", "brick"), ("cube", "bar"), ("can", "brick"), ("brick", "cube"), ("bar", "cube"))  # what, on what


def orders(seed: int, what: str) -> list[tuple[str, dict[str, Any]]]:
    """The sessions of an episode: (skill, params)."""
    thing = f"{KINDS[seed % 5]}_01"
    if what == "pour":
        return [("rekep_pour", {"object_id": "can_01", "target_id": "basket_01"})]
    if what == "stack":
        one, other = STACKS[seed % 5]
        return [("rekep_stack", {"object_id": f"{one}_01", "target_id": f"{other}_01"})]
    if seed // 5 % 2:
        return [("rekep_pick", {"object_id": thing}), ("rekep_place", {"object_id": thing, "target_id": "basket_01"})]
    return [("rekep_pick", {"object_id": thing}), ("rekep_place", {"object_id": thing, "target_id": "table_01"})]


def episode(seed: int, what: str = "place") -> dict[str, Any]:
    from worldfs.base.clock import SystemClock
    from worldfs.base.driver import PluginContext, Run
    from worldfs.base.model import Skill, Target
    from worldfs.plugins.rekep.rekep_runtime import ReKepPolicyRuntime
    from worldfs.robots.targets.sim_target import adapter
    from worldfs.skills.skill_runtime import SkillContext, SkillRequest

    clock = SystemClock()
    target = adapter(Target("sim", "sim", backend="mujoco", config={"seed": seed, "objects": 5}), PluginContext(clock))
    target.open()
    runtime = ReKepPolicyRuntime()
    walls, notes, ok = [], [], True
    tries = backs = 0
    for skill, params in orders(seed, what):
        request = SkillRequest("bench", Skill(skill, "ReKepPolicyRuntime"), params)
        began = time.perf_counter()
        findings = runtime.review(request, target)
        if findings:
            ok = False
            notes.append(f"{skill}: review: {findings[0].found}")
            break
        outcome = runtime.perform(request, SkillContext(target, None, Run(clock, clock.monotonic() + 120)))
        walls.append(time.perf_counter() - began)
        told: Any = outcome.evidence
        tries = max(tries, told.get("attempts", 0))
        backs += len(told.get("backtracks", ()))
        ok = outcome.ok
        if not ok:
            notes.append(f"{skill}: {outcome.code} {outcome.message}")
            break
    target.close()
    return {"seed": seed, "ok": ok, "walls": walls, "tries": tries, "backs": backs, "why": "; ".join(notes)}


def series(what: str, episodes: int, seed0: int) -> list[dict[str, Any]]:
    done = [episode(seed0 + i, what) for i in range(episodes)]
    good = sum(e["ok"] for e in done)
    origin = "not tuned on" if seed0 >= FRESH else "tuned on"
    print(f"rekep {what}: {good} of {len(done)}, seeds {seed0} to {seed0 + episodes - 1} ({origin})")
    print(f"  at the first try: {_first(done)} of {len(done)}")
    tries, backs = sum(e["tries"] > 1 for e in done), sum(e["backs"] for e in done)
    print(f"  second tries (three a stage): {tries}, ways back: {backs}")
    for e in done:
        if not e["ok"]:
            print(f"  failed: seed {e['seed']}: {e['why']}")
    sys.stdout.flush()
    return done


def _first(done: list[dict[str, Any]]) -> int:
    """How many succeeded with nothing tried again."""
    return sum(e["ok"] and e["tries"] <= 1 and not e["backs"] for e in done)


def run(episodes: int = 60, seed0: int = FRESH) -> dict[str, float]:
    """Figures: shares 0…1 and wall seconds a session, preflight included."""
    place = series("place", episodes, seed0)
    pour, stack = (series(what, max(1, episodes // 3), seed0) for what in ("pour", "stack"))

    def share(done: list[dict[str, Any]]) -> float:
        return float(sum(e["ok"] for e in done) / len(done))

    both = sorted(sum(e["walls"]) for e in place)
    first = sorted(e["walls"][0] for e in place if e["walls"]) or [math.nan]
    return {
        "rekep.success": share(place), "rekep.first_success": _first(place) / len(place),
        "rekep.pour_success": share(pour), "rekep.stack_success": share(stack),
        "rekep.wall_s_p50": round(both[len(both) // 2], 3), "rekep.pick_wall_s_p50": round(first[len(first) // 2], 3),
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="", choices=("", "place", "pour", "stack"))
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=FRESH)
    chosen = parser.parse_args()
    if chosen.what:
        series(chosen.what, chosen.episodes, chosen.seed)
    else:
        print(run(chosen.episodes, chosen.seed))
