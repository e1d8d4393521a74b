"""The scene stream: what viewers of a workspace's simulations see, taken only while one of them waits for it."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.json_values import as_objects
from worldfs.base.model import Json
from worldfs.robots.pose_frames import HEAD, TURN, frame_number

from .array_types import Array
from .drawn_world import DrawnWorld
from .scene_geometry import WorldGeometry

PERIOD: Final = 1 / 30  # s of wall time between two frames
MOVED: Final = np.array([1e-4] * 3 + [3e-4] * 4)  # m, and parts of a quaternion: less is no motion
_ROW: Final = np.dtype([("index", "<u2"), ("position", "<f4", 3), ("turn", "<i2", 4)])


class SceneStream:
    """One for each kernel. A simulation joins by `put`; its own thread takes the snapshots.

    Every body has the number of the frame that it last moved in, so a reader of any earlier frame is told exactly what
    it missed, however late it comes.
    """

    def __init__(self, clock: Clock, wake: Callable[[], None] = lambda: None) -> None:
        self.wake = wake  # called after each new frame, from the thread that took it
        self._clock = clock
        self._lock = threading.Lock()
        self._worlds: dict[str, DrawnWorld] = {}
        self.worlds: tuple[DrawnWorld, ...] = ()
        self._poses: dict[str, Array] = {}
        self._changed: dict[str, Array] = {}
        self._taken: dict[str, float] = {}  # simulated time of the last snapshot
        self._geometry: tuple[int, bytes] | None = None
        self._encoded: dict[int, bytes] = {}
        self._wanted = False
        self._contacts_wanted = False
        self._contacts: dict[str, list[Json]] = {}
        self._next = clock.monotonic()
        self.number = 0

    def put(self, name: str, world: DrawnWorld) -> None:
        """A world is there, or another one in its place; it is at rest and no other thread knows it yet."""
        with self._lock:
            self._worlds[name] = world
            self.worlds = tuple(self._worlds.values())
            self.number += 1
            self._poses[name] = world.poses()
            self._changed[name] = np.full(world.size, self.number)
            self._taken[name] = float(world.simulation.data.time)
            self._geometry, self._encoded = None, {}
        world.simulation.on_steps = partial(self._on_steps, name, world)
        world.simulation.on_rest = partial(self._on_rest, name, world)
        self.wake()

    # -- the simulation's side ----------------------------------------------------------------------------------------

    def _on_steps(self, name: str, world: DrawnWorld) -> None:
        if self._wanted and self._clock.monotonic() >= self._next:
            self._take(name, world)

    def _on_rest(self, name: str, world: DrawnWorld) -> None:
        if self._wanted:
            self._take(name, world)

    def _take(self, name: str, world: DrawnWorld) -> None:
        """The caller may read the world's data."""
        with self._lock:
            if self._worlds.get(name) is not world:
                return
            poses, known = world.poses(), self._poses[name]
            self._taken[name] = float(world.simulation.data.time)
            if self._contacts_wanted:
                self._contacts[name] = world.contacts()
            moved = (np.abs(poses - known) > MOVED).any(axis=1)
            if not moved.any():
                return
            self.number += 1
            known[moved] = poses[moved]
            self._changed[name][moved] = self.number
            self._encoded = {}
            self._wanted = self._contacts_wanted = False
            self._next = self._clock.monotonic() + PERIOD
        self.wake()

    # -- the viewer's side --------------------------------------------------------------------------------------------

    def newer_than(self, frame: bytes) -> bool:
        """Whether there is anything new for the reader of this frame."""
        number, revision = frame_number(frame)
        return self.number != number or (bool(number) and revision != self.geometry()[0])

    def ask(self) -> None:
        """A viewer waits: the next motion is taken, and what has moved unseen at once."""
        self._wanted = True
        self._look()

    def geometry(self) -> tuple[int, bytes]:
        """Its revision and its JSON; bodies of several worlds follow one another."""
        with self._lock:
            return self._described()

    def frame_after(self, frame: bytes) -> bytes:
        """What has moved since that frame; everything for another one's reader."""
        self._look()
        before, revision = frame_number(frame)
        with self._lock:
            own = self._described()[0]
            since = before if revision == own and before <= self.number else 0
            if since not in self._encoded:
                self._encoded[since] = self._encode(own, since)
            return self._encoded[since]

    def contacts(self) -> list[Json]:
        """As they were at the latest frame; of a world in motion, from the next frame on."""
        self._contacts_wanted = True
        for name, world in list(self._worlds.items()):
            with world.simulation.at_rest() as rest:
                if rest:
                    self._contacts[name] = world.contacts()
        with self._lock:
            return [contact for found in self._contacts.values() for contact in found]

    def _look(self) -> None:
        """Take what has moved while no reader waited, of worlds that are at rest now."""
        for name, world in list(self._worlds.items()):
            simulation = world.simulation
            if simulation.resting and float(simulation.data.time) != self._taken.get(name):
                with simulation.at_rest() as rest:
                    if rest:
                        self._take(name, world)

    def _described(self) -> tuple[int, bytes]:
        if self._geometry is None:
            value = _joined(self._worlds)
            plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            revision = zlib.crc32(plain.encode())
            self._geometry = revision, f'{{"revision":{revision},{plain[1:]}'.encode()
        return self._geometry

    def _encode(self, revision: int, since: int) -> bytes:
        poses = np.vstack(list(self._poses.values())) if self._poses else np.zeros((0, 7))
        changed = np.concatenate(list(self._changed.values())) if self._changed else np.zeros(0)
        moved = np.flatnonzero(changed > since)
        rows = np.zeros(len(moved), _ROW)
        rows["index"], rows["position"] = moved, poses[moved, :3]
        rows["turn"] = np.round(np.clip(poses[moved, 3:], -1, 1) * TURN)
        time = max(self._taken.values(), default=0.0)
        return HEAD.pack(self.number, revision, time, len(moved)) + rows.tobytes()


def _joined(worlds: dict[str, DrawnWorld]) -> WorldGeometry:
    """One geometry of several worlds: the indices of the later ones are moved on."""
    found = WorldGeometry(middle=[0.0, 0.0, 0.0], floor=0.0, robots=[], bodies=[], meshes=[])
    parts = [world.geometry for world in worlds.values()]
    for one in parts:
        first, mesh = len(found["bodies"]), len(found["meshes"])
        found["robots"] += [_moved(robot, "tool", first) for robot in one["robots"]]
        for body in one["bodies"]:
            geoms = [_moved(geom, "mesh", mesh) for geom in as_objects(body["geoms"])]
            found["bodies"].append({**body, "geoms": geoms})
        found["meshes"] += one["meshes"]
    if parts:
        found["middle"] = np.mean([one["middle"] for one in parts], axis=0).round(4).tolist()
        found["floor"] = min(one["floor"] for one in parts)
    return found


def _moved(value: Json, key: str, by: int) -> dict[str, object]:
    """The value with this index moved on, where it has one."""
    index = value.get(key)
    return {**value, key: index + by} if isinstance(index, int) else dict(value)
