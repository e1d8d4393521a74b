"""The files of `scene/`: what there is to draw, from the simulation that this kernel runs, else from ENVIRONMENT.md."""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.robots.driver_registry import SCENE
from worldfs.robots.pose_frames import encode_frame, frame_number
from worldfs.tree.verb_values import Wait
from worldfs.tree.virtual_file import FileBehaviour, Names, StreamFile, VirtualFile

if TYPE_CHECKING:
    from worldfs.base.model import Json
    from worldfs.robots.mujoco.scene_stream import SceneStream

    from .world import World

WAIT_S: Final = 60.0  # of a read while nothing moves
KEPT: Final = 4  # scenes of documents
ARMS: Final = frozenset({"simulation", "rekep_sim"})
CARRIERS: Final = frozenset({"wheeled_carrier"})
QUADRUPEDS: Final = frozenset({"go2_edu"})
ENVIRONMENT: Final = "ENVIRONMENT.md"


def behaviours(world: World, project: str) -> dict[str, FileBehaviour]:
    source = SceneSource(world, project)
    return {
        "scene_geometry": GeometryFile(source),
        "scene_poses": PosesFile(source),
        "scene_plan": PlanFile(source),
        "scene_contacts": ContactsFile(source),
    }


class SceneSource:
    """Where the scene of a workspace is known from."""

    def __init__(self, world: World, project: str) -> None:
        self._world, self.environment = world, f"{project}/{ENVIRONMENT}"
        self.topic = f"{project}/scene/poses"
        self._drawn: OrderedDict[bytes, tuple[bytes, bytes]] = OrderedDict()

    def live(self) -> SceneStream | None:
        """What the simulation of this process's kernel shows; None: there is none."""
        found = self._world.shared.get(SCENE)
        if found is None:
            return None
        stream: SceneStream = found  # type: ignore[assignment]  # `driver_registry` alone puts it there
        stream.wake = self._wake
        return stream if stream.worlds else None

    def drawn(self, document: bytes | None = None) -> tuple[bytes, bytes]:
        """Geometry and one frame of ENVIRONMENT.md, by default of today's. Raises `MissingRequirement`."""
        if document is None:
            stored = self._world.store.get(ENVIRONMENT)
            if stored is None:
                raise NotFound(coded("tree.no_file"), path=self.environment, op="read")
            document = stored.data
        known = self._drawn.get(document)
        if known is None:
            known = self._drawn[document] = self._draw(document)
            while len(self._drawn) > KEPT:
                self._drawn.popitem(last=False)
        return known

    def document_frame(self) -> bytes:
        """The frame of today's ENVIRONMENT.md, its number that of the change feed."""
        number = (self._world.feed.seq + 1).to_bytes(4, "little")
        return number + self.drawn()[1][4:]

    def document_wait(self, number: int) -> Wait:
        """Until the document changes after the frame of that number."""
        feed, path = self._world.feed, self.environment
        return Wait((path,), lambda: any(path in item.topics for item in feed.since(number - 1)), WAIT_S)

    def _draw(self, document: bytes) -> tuple[bytes, bytes]:
        with needs("sim", op="draw"):
            from worldfs.robots.mujoco import drawn_world
        from worldfs.formats import environment

        scene = environment.read(document).scene
        try:
            robots = [self._robots(drivers) for drivers in (ARMS, CARRIERS, QUADRUPEDS)]
            world = drawn_world.of_scene(scene, *robots)
        except BadInput:  # such as robots in one place: what can be drawn is
            world = drawn_world.of_scene(scene, (), ())
        plain = json.dumps(world.geometry, ensure_ascii=False, separators=(",", ":"))
        revision = zlib.crc32(plain.encode())
        frame = encode_frame(1, revision, 0.0, enumerate(world.poses().tolist()))
        return f'{{"revision":{revision},{plain[1:]}'.encode(), frame

    def _robots(self, drivers: frozenset[str]) -> Sequence[str]:
        return [spec.id for spec in self._world.specs if spec.driver in drivers]

    def _wake(self) -> None:
        self._world.feed.wake(self.topic)


class _SceneFile(VirtualFile):
    def __init__(self, source: SceneSource) -> None:
        self._source = source

    def source(self, names: Names) -> str:
        return self._source.environment


class GeometryFile(_SceneFile):
    """`geometry.json`."""

    def read(self, names: Names) -> bytes:
        live = self._source.live()
        return self._source.drawn()[0] if live is None else live.geometry()[1]

    def read_past(self, names: Names, document: bytes) -> bytes:
        return self._source.drawn(document)[0]


class PosesFile(_SceneFile, StreamFile):
    """`poses`. `light`: set where a simulation runs here, for then it is answered from memory."""

    def wait_after(self, names: Names, last: bytes) -> Wait | None:
        if not last:
            return None
        live = self._source.live()
        if live is None:
            return self._source.document_wait(frame_number(last)[0])
        live.ask()
        return Wait((self._source.topic,), lambda: live.newer_than(last), WAIT_S)

    def read_after(self, names: Names, last: bytes) -> bytes:
        live = self._source.live()
        return self._source.document_frame() if live is None else live.frame_after(last)

    def read_past(self, names: Names, document: bytes) -> bytes:
        return self._source.drawn(document)[1]


class PlanFile(_SceneFile):
    """`plan.json`."""

    def read(self, names: Names) -> bytes:
        live = self._source.live()
        value: dict[str, list[Json]] = {"robots": [], "reserved": []}
        for plans in () if live is None else [world.plans() for world in live.worlds]:
            for key, found in plans.items():
                value[key] += found
        return json.dumps(value, ensure_ascii=False).encode()


class ContactsFile(_SceneFile):
    """`contacts.json`."""

    def read(self, names: Names) -> bytes:
        live = self._source.live()
        return json.dumps({"contacts": [] if live is None else live.contacts()}, ensure_ascii=False).encode()
