"""The shared world: one physics world for the simulated robots of a workspace, built when one of them is opened."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Profile, Scene
from worldfs.robots.displacements import as_told

from .drawn_world import DrawnWorld
from .pacing import Pacing
from .quadruped.house import house
from .random_scene import random_scene
from .scene_layout import layout
from .scene_stream import SceneStream
from .stands import stood
from .tabletop import Tabletop

TABLETOP = "tabletop"
THINGS, CARTONS = 5, 3  # of a random table, and of a house


class SharedWorld:
    """The world of the robots that have joined. `seed` and `objects` shape the random scene that an empty one is
    replaced by; `language` (en | zh): of the names in it. `pacing`: None, as fast as it can. `stream`: gets the poses.
    Used from the threads of all its bodies."""

    def __init__(
        self,
        *,
        seed: int | None = None,
        objects: int | None = None,
        language: str = "en",
        pacing: Pacing | None = None,
        stream: SceneStream | None = None,
    ) -> None:
        self.arms: list[str] = []
        self.carriers: list[str] = []
        self.quadrupeds: list[str] = []
        self._profiles: dict[str, Callable[[], Profile]] = {}
        self._seed, self._count = 0 if seed is None else seed, objects
        self._language = language
        self._pacing, self._stream = pacing, stream
        self._lock = threading.Lock()
        self._open: set[str] = set()
        self._tabletop: Tabletop | None = None
        self.made_up = False  # its things are of no file
        self._told = Scene()  # what the present world was built from

    def join(self, robot_id: str, profile: Callable[[], Profile]) -> None:
        """The next world that is built has an arm of this robot, which begins within the bounds of its profile."""
        self._profiles[robot_id] = profile
        if robot_id not in self.arms:  # it may have been removed, and come back
            _add(self.arms, robot_id)

    def join_carrier(self, robot_id: str) -> None:
        """The same with a carrier."""
        if robot_id not in self.carriers:
            _add(self.carriers, robot_id)

    def join_quadruped(self, robot_id: str) -> None:
        """The same with a quadruped."""
        _add(self.quadrupeds, robot_id)

    def leave(self, robot_id: str) -> bool:
        """The next world that is built has no body of this robot. Whether other bodies have the present one open."""
        with self._lock:
            for robots in (self.arms, self.carriers, self.quadrupeds):
                if robot_id in robots:
                    robots.remove(robot_id)
            self._profiles.pop(robot_id, None)
            self._open.discard(robot_id)
            return bool(self._open)

    @property
    def several(self) -> bool:
        return len(self.robots) > 1

    @property
    def robots(self) -> list[str]:
        return [*self.arms, *self.carriers, *self.quadrupeds]

    def open(self, robot_id: str, scene: Scene) -> Tabletop:
        """The world as it is; where no other body has it open, a new one as `scene` says.

        Errors: `BadInput` for poses that no world can have.
        """
        with self._lock:
            if self._tabletop is None or not self._open - {robot_id}:
                self._tabletop = None
                own = all(robot.robot_id in self.robots for robot in scene.robots)
                blank = own and not scene.objects and not scene.furniture
                if blank:
                    made = self._scene()
                    first = made.robots if self.arms else ()
                    scene = replace(made, robots=scene.robots or first, extra=scene.extra)
                plan = layout(scene, *self.arms, carriers=self.carriers, quadrupeds=self.quadrupeds)
                built = Tabletop(stood(plan), {id: profile() for id, profile in self._profiles.items()})
                self._tabletop, self.made_up, self._told = built, blank, scene
                built.pace(self._pacing)
                if self._stream is not None:
                    self._stream.put(TABLETOP, DrawnWorld(built.plan, built.simulation, plans=built.plans))
            if robot_id not in self._tabletop.robots:
                raise BadInput(
                    coded("robot.joined_late", id=robot_id), path=f"/nodes/{robot_id}", op="open",
                    expected=coded("robot.joins_at_start"), fix=coded("robot.start_again"),
                )  # fmt: skip
            self._open.add(robot_id)
            return self._tabletop

    def assumed(self, told: Scene, seen: Scene) -> Scene:
        """What a body that is opened on `told`, and sees `seen`, has from there: empty in a world that was made up."""
        return Scene() if self.made_up else as_told(told, seen, self._told)

    def _scene(self) -> Scene:
        """A table with things; a house, where all robots walk."""
        first = self.robots[0]
        if not self.arms and not self.carriers:
            return house(self._seed, CARTONS if self._count is None else self._count, first, self._language)
        return random_scene(self._seed, THINGS if self._count is None else self._count, first, self._language)

    def close(self, robot_id: str) -> None:
        with self._lock:
            self._open.discard(robot_id)


def _add(robots: list[str], robot_id: str) -> None:
    """A robot that comes back gets a new driver, and one body."""
    if robot_id not in robots:
        robots.append(robot_id)
