"""One demonstration on the table: a family, a seed, and the observations and actions of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.robots.targets.target_adapter import Array

from . import expert

if TYPE_CHECKING:
    from worldfs.robots.mujoco.env import TabletopEnv

ROBOT: Final = {"joint_states": 7, "gripper": 1, "ee_pose": 7}
WORLD: Final = {"object_position": 3, "object_orientation": 4, "object_size": 3, "goal_position": 3}
WORDS: Final = {
    "pick": "pick up the {thing}",
    "place": "put the {thing} into the basket",
    "stack": "put the {thing} onto the {place}",
}
FAMILIES: Final = tuple(WORDS)
CAMERAS: Final = ("front", "wrist")
FULL_PICTURE: Final = (640, 480)
MAX_STEPS: Final = 240
ASTRAY = 14  # steps at most that the gripper goes astray before an episode begins
FLAT = ("can", "cube", "brick", "bar")  # what a thing can be put onto
SWAY = 0.8  # share of the last step's noise that the next one keeps: a gripper that drifts, not one that trembles


@dataclass(frozen=True, slots=True)
class RecordingRecipe:
    """The parameters of a recording: families in turn, a scenario for each seed. Same recipe, same episodes."""

    families: tuple[str, ...] = ("pick", "place")
    seed: int = 0
    objects: int = 3
    noise: float = 0.002  # m a step (standard deviation) that the gripper is pushed aside, to record corrections;
    # with any, the gripper begins at a random pose, open or closed
    cameras: tuple[str, ...] = ()
    fps: int = 20
    picture_size: tuple[int, int] = FULL_PICTURE  # width, height of every camera's pictures

    def __post_init__(self) -> None:
        for member, known in (("families", FAMILIES), ("cameras", CAMERAS)):
            odd = [name for name in getattr(self, member) if name not in known]
            if odd:
                raise BadInput(", ".join(odd), path=f"--{member}", expected=coded("common.some_of", names=[*known]))
        if not self.families:
            raise BadInput(coded("common.none"), path="--families", expected=coded("common.some_of", names=[*FAMILIES]))
        if "stack" in self.families and self.objects < 2:
            raise BadInput(
                coded("plugin.many.things", n=self.objects), path="--objects", expected=coded("plugin.stack_two")
            )
        sides = [(side, 16, most) for side, most in zip(self.picture_size, FULL_PICTURE, strict=True)]
        for number, low, high in (
            (self.objects, 1, 8), (self.noise, 0, 0.01), (self.seed, 0, 2**31 - 1), *sides
        ):  # fmt: skip
            if not low <= number <= high:
                raise BadInput(f"{number:g}", op="record", expected=coded("common.number_range", low=low, high=high))

    def trial(self, number: int) -> tuple[str, int]:
        """Family and seed of a trial."""
        return self.families[number % len(self.families)], self.seed + number

    @property
    def robot_type(self) -> str:
        return "panda_tabletop"

    def columns(self) -> dict[str, list[str]]:
        return columns()

    def as_json(self) -> dict[str, object]:
        """The usual size of pictures is left out: recordings made before there was another one go on."""
        known = asdict(self)
        if self.picture_size == FULL_PICTURE:
            del known["picture_size"]
        return {key: list(value) if isinstance(value, tuple) else value for key, value in known.items()}


@dataclass(frozen=True, slots=True)
class Episode:
    """`columns`: name → (frames, n) float32; `pictures`: camera → (frames, H, W, 3) uint8.

    `geometry`: the bodies of the world with their shapes; `poses`: where each is, x y z and w x y z (frames, n, 7).
    `action` is what was done to the table, `intended_action` what the expert wanted before the noise.
    """

    trial: int
    family: str
    seed: int
    words: str
    success: bool
    columns: Mapping[str, Array]
    pictures: Mapping[str, Array] = field(default_factory=dict)
    geometry: Json = field(default_factory=dict)
    poses: Array = field(default_factory=lambda: np.zeros((0, 0, 7), np.float32))

    @property
    def length(self) -> int:
        return int(self.columns["action"].shape[0])


def columns() -> dict[str, list[str]]:
    """Column → the names of its numbers."""
    return {
        "observation.state": _names(ROBOT),
        "observation.environment_state": _names(WORLD),
        "action": list(expert.ACTION),
        "intended_action": list(expert.ACTION),
    }


def record_episode(env: TabletopEnv, recipe: RecordingRecipe, trial: int) -> Episode:
    """The expert carries out one trial; `success` is the table's own predicate."""
    from worldfs.robots.mujoco.drawn_world import DrawnWorld

    family, seed = recipe.trial(trial)
    rng = np.random.default_rng([seed, 7])
    words = start_episode(env, recipe, trial, rng)
    rows: dict[str, list[Array]] = {name: [] for name in columns()}
    pictures: dict[str, list[Array]] = {camera: [] for camera in recipe.cameras}
    drawn = DrawnWorld(env.body.arm.rig.plan, env.body.arm.simulation)
    poses: list[Array] = []
    sway, success = np.zeros(3), False
    for _ in range(MAX_STEPS):
        observation = env.observation()
        wanted = expert.action(observation)
        sway = SWAY * sway + rng.normal(0.0, recipe.noise, 3)
        done = wanted.copy()
        done[:3] += sway
        poses.append(drawn.poses().astype(np.float32))
        for camera, frames in pictures.items():
            frames.append(observation[f"rgb.{camera}"].copy())
        for name, value in (("observation.state", _row(observation, ROBOT)), ("observation.environment_state",
                            _row(observation, WORLD)), ("action", done), ("intended_action", wanted)):  # fmt: skip
            rows[name].append(value)
        env.act(done, "ee_delta")
        success = env.done()
        if success:
            break
    return Episode(
        trial, family, seed, words, success,
        {name: np.array(values, dtype=np.float32) for name, values in rows.items()},
        {camera: np.array(frames) for camera, frames in pictures.items()},
        dict(drawn.geometry), np.array(poses),
    )  # fmt: skip


def start_episode(env: TabletopEnv, recipe: RecordingRecipe, trial: int, rng: np.random.Generator) -> str:
    """A world, a goal in it, and the gripper at a random pose, open or closed; the instruction in words."""
    family, seed = recipe.trial(trial)
    env.reset(seed=seed)
    rig = env.body.arm.rig
    place = ""
    if family == "stack":
        below = [id for id in rig.objects if rig.things[id].category in FLAT]
        above = [id for id in rig.objects if id != below[0]] if len(below) == 1 else rig.objects
        thing = above[int(rng.integers(len(above)))]
        place = next(id for id in rng.permutation(below).tolist() if id != thing)
    else:
        thing = rig.objects[int(rng.integers(len(rig.objects)))]
    env.aim(task=family, thing=thing, place=place)
    if recipe.noise > 0:
        astray, grip = rng.uniform(-0.015, 0.015, 3) - (0, 0, 0.006), float(rng.choice([-1.0, 1.0]))
        for _ in range(int(rng.integers(ASTRAY + 1))):
            env.act(np.array([*astray, 0, 0, 0, grip]), "ee_delta")
        env.aim(task=family, thing=thing, place=place)
    return WORDS[family].format(thing=rig.things[thing].name, place=rig.things[place].name if place else "")


def _row(observation: Mapping[str, Array], parts: Mapping[str, int]) -> Array:
    return np.concatenate([observation[name] for name in parts])


def _names(parts: Mapping[str, int]) -> list[str]:
    return [f"{name}.{i}" for name, size in parts.items() for i in range(size)]


def slices(names: Sequence[str]) -> dict[str, slice]:
    """The reverse of the names of a column: observation → its columns."""
    found: dict[str, slice] = {}
    for i, name in enumerate(names):
        whole = name.rpartition(".")[0]
        found[whole] = slice(found[whole].start if whole in found else i, i + 1)
    return found
