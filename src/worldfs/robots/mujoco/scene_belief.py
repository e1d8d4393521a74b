"""The scene belief: where each thing was last seen, how surely, by which camera; nothing is ever dropped from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base.model import Json, Thing
from worldfs.robots import rotations
from worldfs.robots.vision.depth_image import DepthImage
from worldfs.robots.vision.detector import Detections, Estimate, NamedThing, empty_place
from worldfs.robots.vision.solids import Solid

from . import geometry, object_kinds
from .action_evidence import rounded
from .array_types import Array
from .believed_rig import BelievedRig, SeenOpening
from .fixture_model import DRAWER
from .scene_layout import covers, interior

SNAP = 0.015  # m between a seen bottom and a surface: it rests there
INTO = 0.0002  # m that it is pressed into what carries it, so that a contact says so
SAME = 3.0  # standard deviations within which a new estimate is of the same place
DRAWN = 0.004  # m that a drawer must have moved before what is in it is believed to have moved
TURNED = 0.2  # rad: more is another pose


OpeningsBelief = tuple[dict[str, float], dict[str, SeenOpening], dict[str, "Track"]]


@dataclass(frozen=True, slots=True)
class Track:
    """`seen`: ever; `stale`: not in the last picture; `empty`: the last picture shows that it is not there."""

    position: tuple[float, ...]
    rotation: Array
    sigma: float = 0.0
    residual: float = 0.0
    time: float = 0.0
    camera: str = ""
    seen: bool = False
    stale: bool = True
    empty: bool = False
    covariance: tuple[float, ...] = ()
    doubtful: bool = False


class SceneBelief:
    """Keeps the tracks of one arm's rig, and the rig as they say. Begins with what the file declares, never seen."""

    def __init__(self, rig: BelievedRig) -> None:
        self.rig = rig
        self.tracks = {id: self._declared(rig.things[id]) for id in rig.objects}
        self.undecided: tuple[tuple[str, ...], ...] = ()
        self._certain: dict[str, tuple[float, ...]] = {}  # of undecided twins: where each was when that was certain
        self._looked = 0.0  # s: when the front camera last looked
        self._carried: tuple[str, Array, Array] | None = None  # id, offset and turn in the gripper's frame
        self.refresh()

    @staticmethod
    def _declared(thing: Thing) -> Track:
        return Track(tuple(thing.position), rotations.matrix(thing.orientation))

    def refresh(self) -> None:
        """The rig as the encoders and the tracks say now."""
        rig = self.rig
        rig.encoders()
        for id, track in self.tracks.items():
            rig.believe(id, np.array(track.position), geometry.quat_of(track.rotation))
        rig.forward()
        if self._carried is not None:
            id, offset, turn = self._carried
            if rig.held() == id:
                tcp, rotation = rig.view.tcp_pose()
                at, turned = tcp + rotation @ offset, rotation @ turn
                self.tracks[id] = replace(
                    self.tracks[id], position=tuple(at), rotation=turned, time=float(rig.simulation.data.time),
                    camera="gripper", stale=False, empty=False,
                )  # fmt: skip
                rig.believe(id, at, geometry.quat_of(turned))
                rig.forward()
            else:
                self._carried = None

    def closed_on(self, id: str) -> None:
        """The fingers have closed on a thing: from now on it goes with the gripper, its middle between the pads."""
        self._carried = None
        self.refresh()
        rig = self.rig
        tcp, rotation = rig.view.tcp_pose()
        offset = rotation.T @ (rig.position(id) - tcp)
        offset[1] = 0.0
        self._carried = id, offset, rotation.T @ rig.rotation(id)

    def let_go(self, id: str, at: Array) -> None:
        """It was set down, and no picture has shown it since: it is believed to be where it was to go."""
        track = self.tracks[id]
        self.tracks[id] = replace(track, position=tuple(map(float, at)), stale=True)
        self._carried = None
        self.refresh()

    def openings(self) -> OpeningsBelief:
        """What is believed of drawers and lids, and of what lies in them."""
        rig = self.rig
        return {id: rig.opening(id) for id in rig.fixtures}, dict(rig.openings), dict(self.tracks)

    def restore_openings(self, believed: OpeningsBelief) -> None:
        """A picture that was at fault has changed nothing."""
        rig, (openings, seen, tracks) = self.rig, believed
        if rig.fixtures:
            for id, opening in openings.items():
                rig.simulation.data.qpos[rig.fixtures[id].qpos] = opening
            rig.openings, self.tracks = seen, tracks
            self.refresh()

    def look_at_openings(self, image: DepthImage, sigma: float) -> None:
        """How far a picture shows each fixture to be open; what lies in a drawer goes with it."""
        rig = self.rig
        before = {id: (rig.opening(id), rig.contents(id)) for id in rig.fixtures}
        rig.look_at_openings(image, sigma)
        for id, (opening, inside) in before.items():
            piece, drawn = rig.things[id], rig.opening(id) - opening
            if piece.shape != DRAWER or abs(drawn) < DRAWN or not inside:
                continue
            way = -rotations.matrix(piece.orientation)[:, 0] * drawn
            for one in inside:
                at = np.array(self.tracks[one].position) + way
                self.tracks[one] = replace(self.tracks[one], position=tuple(map(float, at)), stale=True)
            self.refresh()

    # --- pictures ---

    @property
    def carried(self) -> list[Solid]:
        return [self.rig.solid(self._carried[0])] if self._carried is not None else []

    def named(self) -> list[NamedThing]:
        """What a picture is searched for: all that is not in the gripper."""
        held = self._carried[0] if self._carried is not None else None
        return [
            NamedThing(
                id, (thing := self.rig.things[id]).shape, tuple(thing.size), object_kinds.rgb(thing.color),
                self._certain.get(id, tuple(self.tracks[id].position)),
            )
            for id in self.rig.objects
            if id != held
        ]  # fmt: skip

    def take(self, found: Detections, image: DepthImage, sigma: float) -> None:
        """What a picture showed becomes what is believed."""
        held = {self._carried[0]} if self._carried is not None else set()
        self._remember(found)
        for id in self.rig.objects:
            if id in found.things:
                self.tracks[id] = self._merged(id, found.things[id])
            elif id not in held:
                track = self.tracks[id]
                gone = empty_place(image, self.rig.solid(id), sigma)
                self.tracks[id] = replace(track, stale=True, empty=track.empty or gone)
        self._settle(found.things)
        if image.camera == "front":
            self._looked = image.time
            self.rig.obstruct([(thing.position, thing.size) for thing in found.unknown])
        self.refresh()

    def _remember(self, found: Detections) -> None:
        """Twins stay undecided until a picture decides: a guess is never what the next one is compared with."""
        unseen = [group for group in self.undecided if not found.things.keys() & set(group)]
        self.undecided = tuple(dict.fromkeys((*found.undecided, *unseen)))
        doubtful = {id for group in self.undecided for id in group}
        self._certain = {id: self._certain.get(id, self.tracks[id].position) for id in doubtful}

    def _merged(self, id: str, new: Estimate) -> Track:
        thing, old = self.rig.things[id], self.tracks[id]
        rotation = _nearest_turn(thing, new.solid.rotation, old.rotation)
        position, sigma = new.solid.position, new.sigma
        if old.seen and _turn_between(thing, rotation, old.rotation) > TURNED and self._hovers(id, position, rotation):
            # from above a box shows one face, and not what it stands on: then it stands as it did
            at = np.array([*position[:2], old.position[2]])
            position, rotation = (position, rotation) if self._hovers(id, at, old.rotation) else (at, old.rotation)
        apart = float(np.linalg.norm(position - np.array(old.position)))
        spread = float(np.hypot(sigma, old.sigma))
        if old.seen and apart < max(SAME * spread, 0.004) and _turn_between(thing, rotation, old.rotation) < TURNED:
            share = old.sigma**2 / (old.sigma**2 + sigma**2)  # of the new one
            position = (1 - share) * np.array(old.position) + share * position
            rotation = rotation if share > 0.5 else old.rotation
            sigma = old.sigma * sigma / spread
        return Track(
            tuple(map(float, position)), rotation, max(sigma, 0.0003), new.residual, new.time, new.camera, True, False,
            False, new.covariance, new.doubtful,
        )  # fmt: skip

    def _hovers(self, id: str, position: Array, rotation: Array) -> bool:
        """Whether nothing that is believed to be there would carry a thing in this pose."""
        thing = self.rig.things[id]
        x, y, z = position.tolist()
        bottom = z - float(rotations.half_extents(thing.shape, tuple(thing.size), rotation)[2])
        return all(abs(bottom - top) > SNAP for top in self._tops(id, x, y))

    def _settle(self, seen: Mapping[str, Estimate]) -> None:
        """What was seen just over or just inside a surface stands on it; from the lowest up."""
        for id in sorted(seen, key=lambda id: self.tracks[id].position[2]):
            track, thing = self.tracks[id], self.rig.things[id]
            half = float(rotations.half_extents(thing.shape, tuple(thing.size), track.rotation)[2])
            x, y, z = track.position
            gaps = [(abs(z - half - top), top) for top in self._tops(id, x, y)]
            near = min(gaps, default=(1.0, 0.0))
            if near[0] < SNAP:
                self.tracks[id] = replace(track, position=(x, y, near[1] + half - INTO))

    def _tops(self, id: str, x: float, y: float) -> list[float]:
        tops = [self.rig.plan.floor]
        for piece in self.rig.furniture:
            if piece.shape == "basket" and covers(piece, x, y):
                tops.append(float(interior(piece)[0][2]))
            elif piece.shape == "table" and covers(piece, x, y, 0.02):
                tops.append(piece.position[2])
            elif piece.shape == "box" and covers(piece, x, y):
                tops.append(piece.position[2] + piece.size[2] / 2)
        for other, track in self.tracks.items():
            thing = self.rig.things[other]
            half = rotations.half_extents(thing.shape, tuple(thing.size), track.rotation)
            inside = abs(x - track.position[0]) < half[0] and abs(y - track.position[1]) < half[1]
            if other != id and inside and thing.shape != "sphere":
                tops.append(track.position[2] + float(half[2]))
        return tops

    # --- what is told ---

    def as_json(self) -> Json:
        """The estimates for ENVIRONMENT.md, by id."""
        told: Json = {}
        for id, track in self.tracks.items():
            thing = self.rig.things[id]
            entry: Json = {"class": thing.category or thing.shape, "color": thing.color, "size": list(thing.size)}
            entry |= {"position": rounded(self.rig.position(id)), "orientation": rounded(self.rig.quat(id), 3)}
            if track.seen:
                entry |= {
                    "sigma_m": round(track.sigma, 4), "covariance_mm2": [round(1e6 * v, 2) for v in track.covariance],
                    "residual_m": round(track.residual, 4), "seen_at_s": round(track.time, 3), "camera": track.camera,
                }  # fmt: skip
            flags = (("stale", track.stale), ("never_seen", not track.seen), ("place_empty", track.empty))
            entry |= {name: True for name, holds in flags if holds}
            if twins := sorted({other for group in self.undecided if id in group for other in group} - {id}):
                entry["undecided_with"] = twins
            told[id] = entry
        for id, thing in self.rig.unknown.items():
            told[id] = {
                "class": "unknown", "size": rounded(thing.size), "position": rounded(thing.position),
                "extent": "as far as it was seen", "seen_at_s": round(self._looked, 3), "camera": "front",
            }  # fmt: skip
        return told


def _equal_turns(thing: Thing) -> list[Array]:
    """Rotations that leave a thing as it looks."""
    if thing.shape == "sphere":
        return [np.eye(3)]
    return [np.eye(3), np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, 1.0, -1.0]), np.diag([-1.0, -1.0, 1.0])]


def _nearest_turn(thing: Thing, rotation: Array, before: Array) -> Array:
    """Of the rotations that look the same, the one that is nearest to what was believed before."""
    if thing.shape == "sphere":
        return before
    turned = [rotation @ turn for turn in _equal_turns(thing)]
    nearest = min(turned, key=lambda one: geometry.angle(before.T @ one))
    if thing.shape == "cylinder":  # its turn about its own axis is not to be seen
        axis = nearest[:, 2]
        across = before[:, 0] - axis * float(axis @ before[:, 0])
        if float(np.linalg.norm(across)) > 0.1:
            x = across / np.linalg.norm(across)
            return np.stack([x, np.cross(axis, x), axis], axis=1)
    return nearest


def _turn_between(thing: Thing, one: Array, other: Array) -> float:
    return 0.0 if thing.shape == "sphere" else geometry.angle(one.T @ other)
