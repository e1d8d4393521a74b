"""Looking: a labelled thing found in rendered pictures, and the wrist camera driven until it points straight at it.

Which pixels are the thing's, the simulator's own segmentation says: no colour is looked at. Depth and the camera's pose
are measured in the picture. So every result names its source, `truth`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...ground.model import Cause, Finding, Order, Outcome, Thing
from . import geometry, panda, params
from .action_evidence import ActionEvidence, rounded
from .arm import Arm, numbers, unreachable_finding
from .array_types import Array
from .camera import HEIGHT, WIDTH, CameraFrame, CameraRenderer
from .object_kinds import COLOR_WORDS, words_of
from .path_planner import SEARCHES, route
from .rig import Rig

CENTRED = 16.0  # pixels from the picture's middle
SLACK = 0.05  # rad: about as much as `CENTRED`
ENOUGH = 40  # pixels that make a sighting
LOOKS = 6
STANDOFFS = (0.30, 0.36, 0.24, 0.44)  # m from the camera down to the thing
_CAMERA = np.array([panda.WRIST[0], panda.WRIST[1], panda.WRIST[2] - panda.TCP])  # the camera in the TCP's frame
SEARCH = ((0.45, 0.0, 0.45), (0.42, 0.30, 0.45), (0.42, -0.30, 0.45), (0.55, 0.0, 0.35))  # TCP in the base's frame


@dataclass(frozen=True, slots=True)
class Detection:
    """Where a thing is in a picture (pixels) and, by depth, in the world (m): its middle, as far as it can be seen."""

    u: float
    v: float
    pixels: int
    position: Array

    @property
    def off_centre(self) -> float:
        return math.hypot(self.u - WIDTH / 2, self.v - HEIGHT / 2)


def matching_ids(rig: Rig, label: str) -> list[str]:
    """Ids of the things that a label may mean, objects before furniture: by id, by name, by words and colour."""
    text = label.strip().lower()
    everything = [*rig.objects, *(f.id for f in rig.plan.furniture)]
    for test in (
        lambda t: t.id.lower() == text,
        lambda t: t.name.lower() == text,
        lambda t: bool(words_of(text)) and words_of(text) <= _words(t),
        lambda t: t.category.lower() == text,
        lambda t: not text.isascii() and any(text in s or (s and s in text) for s in (t.id, t.name)),
    ):
        found = [id for id in everything if test(rig.things[id])]
        if found:
            return found
    return []


def _words(thing: Thing) -> set[str]:
    words = words_of(f"{thing.id} {thing.name} {thing.category} {thing.color} {thing.shape}")
    return words | {COLOR_WORDS[w] for w in words if w in COLOR_WORDS} | {"the", "a"}


def detect(rig: Rig, shot: CameraFrame, id: str) -> Detection | None:
    """The thing in a picture with segments and depth; None when fewer than 40 pixels show it."""
    assert shot.geoms is not None and shot.depth is not None
    mine = np.array([owner == id for owner in rig.geom_owner] + [False])
    mask = mine[shot.geoms]  # -1, nothing, reads the last entry
    count = int(np.count_nonzero(mask))
    if count < ENOUGH:
        return None
    v, u = (float(axis.mean()) for axis in np.nonzero(mask))
    depth = float(np.median(shot.depth[mask]))
    ray = shot.ray(u, v)
    thing = rig.things[id]
    # depth is that of the near side; the thing's own size, known from the file, says how far its middle is behind
    along = ray / np.linalg.norm(ray)
    behind = float(along**2 @ np.array(thing.size)) / 2 if thing.shape in ("sphere", "box", "cylinder") else 0.0
    position = shot.position + ray * depth + along * behind
    return Detection(u, v, count, position)


def plan_camera_pose(arm: Arm, position: Array) -> tuple[list[Array], float] | Finding | None:
    """A way for the wrist camera to stand over `position`, looking down on it, and from how far; None: blocked."""
    rehearsal = arm.rehearsal(held=arm.rig.held())
    start = arm.rig.arm()
    solved = False
    cut_off: list[tuple[Array, float]] = []
    toward = math.atan2(position[1] - arm.rig.base[1], position[0] - arm.rig.base[0])
    for standoff in STANDOFFS:
        for turn in (0.0, math.pi, math.pi / 2, -math.pi / 2, math.pi / 4, -math.pi / 4):
            rotation = geometry.hand_rotation(toward + turn)
            at = position + geometry.up(standoff) - rotation @ _CAMERA
            q = arm.solver.near(start, at, rotation)
            if q is None:
                q = arm.solver.near(arm.ready, at, rotation)
            if q is None:
                continue
            solved = True
            if rehearsal.free(q):
                way = route(rehearsal, start, q, via=(arm.ready,), search=False)
                if way is not None:
                    return way, standoff
                cut_off.append((q, standoff))
    for q, standoff in cut_off[:SEARCHES]:
        way = route(rehearsal, start, q)
        if way is not None:
            return way, standoff
    return (
        None if solved else unreachable_finding(arm, "the view of it", position, "the camera cannot stand over it", "")
    )


def plan_locate(arm: Arm, order: Order) -> str | Finding:
    """The id that the order's label means, if a view of it can be had."""
    label = params.word(order.params, params.LABEL_KEYS)
    if label is None:
        return params.invalid_param(
            order, "target_label", "the label of a thing", dict(order.params), "name what to look at"
        )
    found = matching_ids(arm.rig, label[1])
    if not found:
        known = ", ".join(arm.rig.things)
        return params.invalid_param(
            order, label[0], f"one of {known}", label[1], "use a label of the scene", code="UNKNOWN_OBJECT"
        )
    id = found[0]
    pose = plan_camera_pose(arm, _known(arm.rig, id))
    if isinstance(pose, Finding):
        return Finding(pose.code, pose.field, pose.expected, pose.found, pose.fix, order.id)
    return id


def _known(rig: Rig, id: str) -> Array:
    return rig.position(id) if id in rig.body else np.array(rig.things[id].position)


def _aim(rig: Rig, id: str, position: Array) -> tuple[float, float]:
    """How far (rad) the wrist camera points past a thing, and how far it may: its side, and what counts as centred."""
    camera = rig.data.camera("wrist")
    way = position - camera.xpos
    away = float(np.linalg.norm(way))
    along = -camera.xmat.reshape(3, 3)[:, 2]
    size = rig.half(id) if id in rig.body else np.array(rig.things[id].size) / 2
    return math.acos(max(-1.0, min(1.0, float(way @ along) / away))), math.atan2(float(np.max(size)), away) + SLACK


def locate(arm: Arm, eye: CameraRenderer, order: Order, receipt: ActionEvidence) -> Outcome:
    """Finds the thing in the front picture, else by looking about; then centres it in the wrist picture, look by look.

    Masks and depth of the pictures lead the hand; that the camera points at the thing in the end, the world must say.
    """
    label = params.word(order.params, params.LABEL_KEYS)
    found = matching_ids(arm.rig, label[1]) if label else []
    if not found:
        finding = plan_locate(arm, order)
        assert isinstance(finding, Finding)
        return Outcome.failure(
            Cause.ERROR, finding.code, f"{finding.found}: {finding.expected}", evidence=receipt.close()
        )
    data = arm.rig.data
    seen_by, seen = "front", None
    picture = eye.shoot(data, "front", rgb=False, depth=True, segments=True)
    id = found[0]
    for candidate in found:  # several things may bear the label: the first that is seen
        seen = detect(arm.rig, picture, candidate)
        if seen is not None:
            id = candidate
            break
    if seen is None:
        seen_by = "wrist"
        seen = _search(arm, eye, id)
    if seen is None:
        message = (
            f"{label[1] if label else id} is in no picture: front camera and {len(SEARCH)} looks of the wrist camera"
        )
        return Outcome.failure(Cause.ERROR, "NOT_SEEN", message, evidence=receipt.close())
    estimate, looks = seen.position, 0
    while looks < LOOKS:
        way = plan_camera_pose(arm, estimate)
        if way is None or isinstance(way, Finding):
            reason = way.found if isinstance(way, Finding) else "no pose over it is free of collision"
            return Outcome.failure(
                Cause.ERROR, "CRITIC_REFUSED", f"{id} seen at {numbers(estimate)}: {reason}", evidence=receipt.close()
            )
        arm.mover.follow(way[0], settle=0.2)
        looks += 1
        seen = detect(arm.rig, eye.shoot(data, "wrist", rgb=False, depth=True, segments=True), id)
        if seen is None:
            break
        estimate = seen.position
        if seen.off_centre <= CENTRED:
            break
    truth = _known(arm.rig, id)
    receipt.more |= {
        "masks": "the simulator's segmentation",
        "target": id,
        "first_seen_by": seen_by,
        "looks": looks,
        "pixel_error": None if seen is None else round(seen.off_centre, 1),
        "pixels": 0 if seen is None else seen.pixels,
        "estimated_position": rounded(estimate),
        "true_position": rounded(truth),
        "estimate_error": round(float(np.linalg.norm(estimate - truth)), 4),
    }
    if seen is None:
        return Outcome.failure(
            Cause.ERROR, "NOT_SEEN", f"the wrist camera stands over {id} and does not see it", evidence=receipt.close()
        )
    if seen.off_centre > CENTRED:
        message = f"{id} is {seen.off_centre:.0f} pixels off the middle after {looks} looks (limit {CENTRED:.0f})"
        return Outcome.failure(Cause.ERROR, "NOT_CENTRED", message, evidence=receipt.close())
    aim, limit = _aim(arm.rig, id, truth)
    receipt.more["aim_error_rad"] = round(aim, 3)
    if aim > limit:
        message = (
            f"the picture shows {id} in its middle, and the camera points {aim:.2f} rad past it (limit {limit:.2f})"
        )
        return Outcome.failure(Cause.ERROR, "NOT_CENTRED", message, evidence=receipt.close())
    receipt.distance = float(np.linalg.norm(estimate - truth))
    message = (
        f"{id} is in the wrist picture, {seen.off_centre:.0f} pixels off its middle; seen at {numbers(estimate)}, "
        f"{receipt.distance * 1000:.0f} mm from where it is"
    )
    return Outcome.success(message, **receipt.close())


def _search(arm: Arm, eye: CameraRenderer, id: str) -> Detection | None:
    rehearsal = arm.rehearsal(held=arm.rig.held())
    rig = arm.rig
    for spot in SEARCH:
        q = arm.solver.near(arm.ready, rig.base + rig.base_rotation @ spot, geometry.hand_rotation(0.0))
        way = None if q is None or not rehearsal.free(q) else route(rehearsal, rig.arm(), q)
        if way is None:
            continue
        arm.mover.follow(way)
        seen = detect(rig, eye.shoot(rig.data, "wrist", rgb=False, depth=True, segments=True), id)
        if seen is not None:
            return seen
    return None
