"""The six task families: a scenario for each seed, and its goals, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from worldfs.base.model import Relation, Scene, Thing
from worldfs.robots.mujoco.random_scene import random_scene

BASKET = "basket_01"
SECOND = "basket_02"
ROUND = ("fruit", "can")  # what `sort` puts into the first basket; boxes go into the second


@dataclass(frozen=True, slots=True)
class TrialGoal:
    """`task` of drivers.mujoco.tasks: pick, place or stack; what, and into or onto what."""

    task: str
    thing: str
    place: str = ""

    def words(self, scene: Scene) -> str:
        """As an operator would word it."""
        name = _name(scene, self.thing)
        if self.task == "pick":
            return f"pick up the {name}"
        return f"put the {name} {'onto' if self.task == 'stack' else 'into'} the {_name(scene, self.place)}"


@dataclass(frozen=True, slots=True)
class TrialScenario:
    """One trial: a world, goals in order, and whether something happens to the first goal's thing midway."""

    scene: Scene
    goals: tuple[TrialGoal, ...]
    disturbed: bool = False


def _pick(seed: int, rng: np.random.Generator) -> TrialScenario:
    scene = random_scene(seed, 3)
    return TrialScenario(scene, (TrialGoal("pick", _any(scene, rng)),))


def _place(seed: int, rng: np.random.Generator) -> TrialScenario:
    scene = random_scene(seed, 3)
    return TrialScenario(scene, (TrialGoal("place", _any(scene, rng), BASKET),))


def _stack(seed: int, rng: np.random.Generator) -> TrialScenario:
    """The cube, onto the can or the brick."""
    scene = random_scene(seed, 5)
    return TrialScenario(scene, (TrialGoal("stack", "cube_01", ("can_01", "brick_01")[int(rng.integers(2))]),))


def _sort(seed: int, rng: np.random.Generator) -> TrialScenario:
    """Two baskets side by side: round things into one, boxes into the other."""
    scene = random_scene(seed, 4)
    table, basket = scene.furniture
    one = replace(basket, name="brown basket", position=(0.50, -0.36, 0.045), size=(0.22, 0.30, 0.09))
    two = replace(one, id=SECOND, name="grey basket", position=(0.25, -0.42, 0.045), color="gray")
    relations = (*scene.relations, Relation(SECOND, "on", table.id))
    goals = tuple(
        TrialGoal("place", thing.id, BASKET if thing.category in ROUND else SECOND) for thing in scene.objects
    )
    return TrialScenario(replace(scene, furniture=(table, one, two), relations=relations), goals)


def _clear(seed: int, rng: np.random.Generator) -> TrialScenario:
    scene = random_scene(seed, 3)
    return TrialScenario(scene, tuple(TrialGoal("place", thing.id, BASKET) for thing in scene.objects))


def _recover(seed: int, rng: np.random.Generator) -> TrialScenario:
    return replace(_place(seed, rng), disturbed=True)


FAMILIES: Final[dict[str, Callable[[int, np.random.Generator], TrialScenario]]] = {
    "pick": _pick, "place": _place, "stack": _stack, "sort": _sort, "clear": _clear, "recover": _recover,
}  # fmt: skip


def make_scenario(family: str, seed: int) -> TrialScenario:
    """The same for the same family and seed, for every method."""
    return FAMILIES[family](seed, np.random.default_rng([seed, 7]))


def _any(scene: Scene, rng: np.random.Generator) -> str:
    return scene.objects[int(rng.integers(len(scene.objects)))].id


def _name(scene: Scene, id: str) -> str:
    things: list[Thing] = [*scene.objects, *scene.furniture]
    return next((thing.name for thing in things if thing.id == id and thing.name), id)
