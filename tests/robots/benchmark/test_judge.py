"""The environment's own judge, of `paos bench` and of policies: what is not so in the world is not done."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Order, Scene, Thing
from worldfs.plugins.benchmark import score, trial
from worldfs.plugins.benchmark.benchmark_methods import BenchmarkMethod
from worldfs.plugins.benchmark.trial import Trial
from worldfs.robots.mujoco.env import TabletopEnv
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.robots.mujoco.task_predicates import DONE, TaskGoal
from worldfs.skills.builtin_runtime import BuiltinSkillRuntime

from .. import lies
from ..conftest import TABLE

CUBE = Thing("cube", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.5, 0.2, 0.0252))
OTHER = Thing("other", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.35, 0.35, 0.0252))
PLATE = Thing("plate", shape="box", size=(0.07, 0.07, 0.03), mass=0.5, position=(0.45, -0.05, 0.0152))
BAR = Thing("bar", shape="box", size=(0.24, 0.036, 0.04), mass=0.15, position=(0.6, 0.0, 0.0202))
BASKET = Thing("basket", category="container", position=(0.4, -0.4, 0.045), size=(0.2, 0.25, 0.09), shape="basket")
ZONE = Thing("zone", category="region", position=(0.3, 0.1, 0.001), size=(0.1, 0.1, 0.002), shape="region")
TIPPED = lies.tipped(0.7, 1)

IN, ON, STACK = (
    TaskGoal("place", "cube", "basket"),
    TaskGoal("place", "cube", "plate"),
    TaskGoal("stack", "cube", "plate"),
)
HERE = TaskGoal("place", "cube", position=(0.45, 0.1, 0.025))
# name → goal, where its thing is, how it lies, what goes on, whether it is done
WORLDS: dict[str, tuple[TaskGoal, Any, Any, Any, bool]] = {
    "in the basket": (IN, (0.4, -0.4, 0.0332), None, None, True),
    "beside the basket": (IN, (0.4, -0.1, 0.0252), None, None, False),
    "hovering in the basket": (IN, (0.4, -0.4, 0.07), None, lies.weightless("cube"), False),
    "across the basket's rim": (TaskGoal("place", "bar", "basket"), (0.4, -0.4, 0.1102), None, None, False),
    "on the plate": (ON, (0.45, -0.05, 0.0557), None, None, True),
    "beside the plate": (ON, (0.45, 0.02, 0.0252), None, None, False),
    "over the plate, on nothing": (ON, (0.45, -0.05, 0.07), None, lies.weightless("cube"), False),
    "stacked": (STACK, (0.45, -0.05, 0.0557), None, None, True),
    "stacked on another": (TaskGoal("stack", "cube", "other"), (0.45, -0.05, 0.0557), None, None, False),
    "stacked on nothing": (STACK, (0.45, -0.05, 0.07), None, lies.weightless("cube"), False),
    "stacked under it": (TaskGoal("stack", "plate", "cube"), None, None, None, False),
    "at its place": (HERE, (0.45, 0.1, 0.0252), None, None, True),
    "31 mm beside its place": (HERE, (0.45, 0.131, 0.0252), None, None, False),
    "above its place": (HERE, (0.45, 0.1, 0.15), None, lies.weightless("cube"), False),
    "in the zone": (TaskGoal("place", "cube", "zone"), (0.3, 0.1, 0.0252), None, None, True),
    "outside the zone": (TaskGoal("place", "cube", "zone"), (0.3, 0.16, 0.0252), None, None, False),
    "in the zone, in the air": (TaskGoal("place", "cube", "zone"), (0.3, 0.1, 0.04), None,
                                lies.weightless("cube"), False),
    "picked, it lies there": (TaskGoal("pick", "cube", start_z=0.025), None, None, None, False),
    "picked, it floats": (TaskGoal("pick", "cube", start_z=0.025), (0.45, 0.1, 0.3), None,
                          lies.weightless("cube"), False),
    "reached from far away": (TaskGoal("reach", "cube"), None, None, None, False),
}  # fmt: skip


@pytest.fixture(scope="module")
def table() -> Any:
    body = TabletopDriver("table", cameras=False)
    body.open(Scene((), (CUBE, OTHER, PLATE, BAR), (TABLE, BASKET, ZONE)))
    yield SimpleNamespace(body=body, rig=body.arm.rig)
    body.close()


@pytest.fixture
def world(table: Any) -> Any:
    """As it was opened, every time."""
    data, before = (
        table.rig.simulation.data,
        (table.rig.simulation.data.qpos.copy(), table.rig.simulation.data.ctrl.copy()),
    )
    yield table
    data.qpos[:], data.ctrl[:], data.qvel[:], data.xfrc_applied[:] = *before, 0, 0
    table.body.arm.mover.watch = None


def done(world: Any, goal: TaskGoal) -> bool:
    return DONE[goal.task](world.body.arm, goal)


@pytest.mark.parametrize("name", WORLDS)
def test_a_goal_is_done_when_the_world_is_so(world, name):
    goal, position, quat, goes_on, wanted = WORLDS[name]
    if position is not None:
        lies.put(world.rig, goal.thing, position, quat)
    if goes_on is not None:
        goes_on(world)
    world.body.arm.mover.wait(0.05 if goes_on else 0.4)
    assert done(world, goal) is wanted


def test_what_moves_or_tilts_is_not_placed(world):
    lies.put(world.rig, "cube", (0.45, 0.1, 0.0252))
    world.body.arm.mover.wait(0.2)
    assert done(world, HERE)
    world.rig.simulation.data.qvel[world.rig.dof["cube"]] = 0.1
    assert not done(world, HERE)
    for goal, position in ((HERE, (0.45, 0.1, 0.037)), (ON, (0.45, -0.05, 0.065)), (STACK, (0.45, -0.05, 0.065))):
        lies.put(world.rig, "cube", position, TIPPED)  # on its edge, for the moment
        assert not done(world, goal)


def test_what_is_held_is_picked_and_neither_placed_nor_stacked(world):
    clock = SystemClock()
    order = Order("a", "table", "pick_up", {"object_id": "cube"})
    assert world.body.execute(order, Run(clock, clock.monotonic() + 60)).ok
    pick = TaskGoal("pick", "cube", start_z=0.025)
    assert done(world, pick) and not done(world, pick._replace(start_z=0.2)) and done(world, TaskGoal("reach", "cube"))
    assert not done(world, TaskGoal("pick", "other", start_z=0.025))
    here = tuple(world.rig.position("cube"))
    assert not done(world, TaskGoal("place", "cube", position=here)) and not done(world, STACK)
    lies.weightless("cube")(world)
    world.body.arm.mover.wait(0.1)
    assert not done(world, pick)


def test_a_step_of_the_environment_says_no_more_than_its_judge(monkeypatch):
    env = TabletopEnv("place", thing="cube", place="basket", scene=Scene((), (CUBE,), (TABLE, BASKET)))
    env.reset(seed=0)
    try:
        still = np.array([0.0, 0, 0, 0, 0, 0, 1])
        assert env.step(still)[4] == {"is_success": False}
        lies.put(env.body.arm.rig, "cube", (0.4, -0.4, 0.07))
        lies.weightless("cube")(SimpleNamespace(rig=env.body.arm.rig))
        seen = [env.step(still) for _ in range(10)]
        assert not any(step[4]["is_success"] or step[2] or step[1] > 0 for step in seen)
        env.body.arm.simulation.data.xfrc_applied[:] = 0
        assert any(env.step(still)[4]["is_success"] for _ in range(20))
    finally:
        env.close()


# --- attempts ---

SKILLS = BenchmarkMethod("skills", "skills")


def test_a_trial_that_needs_a_second_attempt_is_no_first_success(monkeypatch):
    plain = trial.run(Trial(SKILLS, "pick", 5003))
    assert plain.ok and plain.first and plain.attempts == plain.goals == 1
    once: list[bool] = []
    perform = BuiltinSkillRuntime.perform

    def idle(self: Any, request: Any, stage: Any) -> Any:
        from worldfs.base.model import Outcome

        if not once:
            once.append(True)
            return Outcome.success("done, it says")
        return perform(self, request, stage)

    monkeypatch.setattr(BuiltinSkillRuntime, "perform", idle)
    again = trial.run(Trial(SKILLS, "pick", 5003))
    assert again.ok and not again.first and again.attempts == 2


def test_a_grasp_taken_again_within_an_attempt_is_no_first_success():
    assert trial._tried_again({"attempts": 2}) and trial._tried_again({"backtracks": [{}]})
    assert trial._tried_again({"steps_done": [{"op": "pick_up", "attempts": 2}, {"op": "place", "attempts": 1}]})
    assert not trial._tried_again({"attempts": 1, "steps_done": [{"op": "pick_up", "attempts": 1}]})


def test_the_table_shows_success_at_the_first_attempt_beside_success_and_how_many_attempts_there_were():
    lines = [
        {"contestant": "a", "family": "pick", "seed": seed, "mark": "a", "ok": seed < 3, "first": seed < 1, "goals": 1,
         "attempts": 1 + seed % 3, "sim_s": 1.0, "why": "", "disturbed": ""}
        for seed in range(4)
    ]  # fmt: skip
    text = score.results_table(lines, ["a"], ["pick"])
    assert "| 3/4 (30–95 %) | 1/4 (5–70 %) | 1.75 |" in text and "up to 3 attempts" in text
    whole = score.summary(lines, ["a"], ["pick"])["contestants"]["a"]["all"]
    assert (whole["first"], whole["first_rate"], whole["attempts"], whole["goals"]) == (1, 0.25, 7, 4)
