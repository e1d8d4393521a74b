"""Looking: a labelled thing found in rendered pictures, and the wrist camera driven until it points straight at it.

The object's pixels are the simulator's own segmentation: colours are not used. Depth and the camera's pose
are measured in the picture. So every result names its source, `truth`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.base.name_parts import fits_label
from worldfs.base.order_parameters import LABEL
from worldfs.robots import rotations

from . import geometry, panda, params
from .action_evidence import ActionEvidence, rounded
from .arm import Arm, unreachable_finding
from .array_types import Array
from .camera import HEIGHT, WIDTH, CameraFrame, CameraRenderer
from .collision import CollisionChecker
from .path_planner import first_way, plan_path
from .rig import Rig
from .shared_motion import plan_motion

CENTRED = 16.0  # pixels from the picture's middle
SLACK = 0.05  # rad: about as much as `CENTRED`
ENOUGH = 40  # pixels that make a sighting
LOOKS = 6
STANDOFFS = (0.30, 0.36, 0.24, 0.44)  # m from the camera down to the thing
_CAMERA = np.array([panda.WRIST[0], panda.WRIST[1], panda.WRIST[2] - panda.TCP])  # the camera in the TCP's frame
SEARCH = ((0.45, 0.0, 0.45), (0.42, 0.30, 0.45), (0.42, -0.30, 0.45), (0.55, 0.0, 0.35))  # TCP in the base's frame


@dataclass(frozen=True, slots=True)
class Detection:
    """An object's position in a picture (pixels) and, by depth, in the world (m): the middle of its visible part."""

    u: float
    v: float
    pixels: int
    position: Array

    @property
    def off_centre(self) -> float:
        return math.hypot(self.u - WIDTH / 2, self.v - HEIGHT / 2)


def matching_ids(rig: Rig, label: str) -> list[str]:
    """Ids of the things that a label may mean, objects before furniture: by id, name, or head and other words."""
    text = label.strip().lower()
    everything = [*rig.objects, *(f.id for f in rig.furniture)]
    for test in (
        lambda t: t.id.lower() == text,
        lambda t: t.name.lower() == text,
        lambda t: fits_label(text, t, facts=t.shape),
    ):
        found = [id for id in everything if test(rig.things[id])]
        if found:
            return found
    return []


def detect(rig: Rig, frame: CameraFrame, id: str) -> Detection | None:
    """The thing in a picture with segments and depth; None when fewer than 40 pixels show it."""
    assert frame.geoms is not None and frame.depth is not None
    mine = np.array([owner == id for owner in rig.geom_owner] + [False])
    mask = mine[frame.geoms]  # -1, nothing, reads the last entry
    count = int(np.count_nonzero(mask))
    if count < ENOUGH:
        return None
    v, u = (float(axis.mean()) for axis in np.nonzero(mask))
    depth = float(np.median(frame.depth[mask]))
    ray = frame.ray(u, v)
    thing = rig.things[id]
    # depth is that of the near side; the object's own size, known from the file, gives the distance to its middle
    along = ray / np.linalg.norm(ray)
    behind = float(along**2 @ np.array(thing.size)) / 2 if thing.shape in ("sphere", "box", "cylinder") else 0.0
    position = frame.position + ray * depth + along * behind
    return Detection(u, v, count, position)


def plan_camera_pose(arm: Arm, position: Array) -> tuple[list[Array], float] | Finding | None:
    """A path that brings the wrist camera over `position`, pointing down, and its height; None: blocked."""
    checker = arm.collision_checker(held=arm.rig.held())
    start = arm.view.joints()
    solved = False
    toward = math.atan2(position[1] - arm.view.base[1], position[0] - arm.view.base[0])

    def views() -> Iterator[tuple[float, CollisionChecker, Array]]:
        nonlocal solved
        for standoff in STANDOFFS:
            for turn in (0.0, math.pi, math.pi / 2, -math.pi / 2, math.pi / 4, -math.pi / 4):
                rotation = rotations.hand_rotation(toward + turn)
                at = position + geometry.up(standoff) - rotation @ _CAMERA
                q = arm.solver.near(start, at, rotation)
                if q is None:
                    q = arm.solver.near(arm.ready, at, rotation)
                solved = solved or q is not None
                if q is not None and checker.free(q):
                    yield standoff, checker, q

    if (reached := first_way(views(), start, via=(arm.ready,), over=arm.solver)) is not None:
        return reached[1], reached[0]
    return (
        None
        if solved
        else unreachable_finding(arm, coded("robot.the_view"), position, coded("robot.no_camera_pose"), "")
    )


def _free_view(arm: Arm, position: Array) -> list[Array] | Finding:
    pose = plan_camera_pose(arm, position)
    if isinstance(pose, Finding):
        return pose
    return pose[0] if pose else Finding("CRITIC_REFUSED", "", "", coded("robot.no_free_view"), "")


def plan_locate(arm: Arm, order: Order) -> str | Finding:
    """The id that the order's label means, if a view of it can be had."""
    label = params.word(order.params, LABEL)
    if label is None:
        return params.invalid_param(
            order, "target_label", coded("robot.param_label"), dict(order.params), coded("robot.name_label")
        )
    found = matching_ids(arm.rig, label[1])
    if not found:
        known = coded("common.either_of", names=list(arm.rig.things))
        return params.invalid_param(order, label[0], known, label[1], coded("robot.use_label"), code="UNKNOWN_OBJECT")
    id = found[0]
    pose = plan_camera_pose(arm, known_position(arm.rig, id))
    if isinstance(pose, Finding):
        return Finding(pose.code, pose.field, pose.expected, pose.found, pose.fix, order.id)
    return id


def known_position(rig: Rig, id: str) -> Array:
    return rig.position(id) if id in rig.body else np.array(rig.things[id].position)


def _aim(rig: Rig, id: str, position: Array) -> tuple[float, float]:
    """The wrist camera's pointing error (rad) at an object, and its limit: the object's side, and `CENTRED`."""
    camera = rig.simulation.data.camera(rig.view.camera("wrist"))
    way = position - camera.xpos
    away = float(np.linalg.norm(way))
    along = -camera.xmat.reshape(3, 3)[:, 2]
    size = rig.half(id) if id in rig.body else np.array(rig.things[id].size) / 2
    return math.acos(max(-1.0, min(1.0, float(way @ along) / away))), math.atan2(float(np.max(size)), away) + SLACK


def locate(arm: Arm, renderer: CameraRenderer, order: Order, action_evidence: ActionEvidence) -> Outcome:
    """Finds the object in the front picture, else by a search; then centres it in the wrist picture, step by step.

    Masks and depth of the pictures lead the gripper; the result is checked against the simulated world.
    """
    label = params.word(order.params, LABEL)
    found = matching_ids(arm.rig, label[1]) if label else []
    if not found:
        finding = plan_locate(arm, order)
        assert isinstance(finding, Finding)
        unknown = coded("robot.label_unknown", found=finding.found, expected=finding.expected)
        return Outcome.failure(Cause.ERROR, finding.code, unknown, evidence=action_evidence.close())
    data = arm.simulation.data
    seen_by, detection = "front", None
    picture = renderer.capture(data, "front", rgb=False, depth=True, segments=True)
    id = found[0]
    for candidate in found:  # several objects may match the label: the first that is detected
        detection = detect(arm.rig, picture, candidate)
        if detection is not None:
            id = candidate
            break
    if detection is None:
        seen_by = "wrist"
        detection = _search(arm, renderer, id)
    if detection is None:
        unseen = coded("robot.in_no_picture", id=label[1] if label else id, n=len(SEARCH))
        return Outcome.failure(Cause.ERROR, "NOT_SEEN", unseen, evidence=action_evidence.close())
    estimate, looks = detection.position, 0
    while looks < LOOKS:
        way = plan_motion(arm, partial(_free_view, arm, estimate), lambda found: [(found, arm.rig.held())])
        if isinstance(way, Finding):
            seen = coded("robot.seen_at", id=id, at=estimate, why=way.found)
            return Outcome.failure(Cause.ERROR, "CRITIC_REFUSED", seen, evidence=action_evidence.close())
        arm.mover.follow(way, settle=0.2)
        looks += 1
        detection = detect(arm.rig, renderer.capture(data, "wrist", rgb=False, depth=True, segments=True), id)
        if detection is None:
            break
        estimate = detection.position
        if detection.off_centre <= CENTRED:
            break
    truth = known_position(arm.rig, id)
    action_evidence.more |= {
        "masks": "the simulator's segmentation",
        "target": id,
        "first_seen_by": seen_by,
        "looks": looks,
        "pixel_error": None if detection is None else round(detection.off_centre, 1),
        "pixels": 0 if detection is None else detection.pixels,
        "estimated_position": rounded(estimate),
        "true_position": rounded(truth),
        "estimate_error": round(float(np.linalg.norm(estimate - truth)), 4),
    }
    if detection is None:
        return Outcome.failure(
            Cause.ERROR,
            "NOT_SEEN",
            coded("robot.not_seen", id=id),
            evidence=action_evidence.close(),
        )
    return judged_aim(arm, id, (estimate, truth), detection.off_centre, action_evidence)


def judged_aim(
    arm: Arm, id: str, places: tuple[Array, Array], off_centre: float, action_evidence: ActionEvidence
) -> Outcome:
    """Whether the wrist camera points at a thing. `places`: where it is by the pictures, and where it is."""
    estimate, truth = places
    if off_centre > CENTRED:
        off = coded("robot.off_middle", id=id, px=off_centre, n=action_evidence.more["looks"], limit=CENTRED)
        return Outcome.failure(Cause.ERROR, "NOT_CENTRED", off, evidence=action_evidence.close())
    aim, limit = _aim(arm.rig, id, truth)
    action_evidence.more["aim_error_rad"] = round(aim, 3)
    if aim > limit:
        past = coded("robot.aims_past", id=id, rad=aim, limit=limit)
        return Outcome.failure(Cause.ERROR, "NOT_CENTRED", past, evidence=action_evidence.close())
    action_evidence.distance = float(np.linalg.norm(estimate - truth))
    away = action_evidence.distance * 1000
    shown = coded("robot.in_picture", id=id, px=off_centre, at=estimate, mm=away)
    return Outcome.success(shown, **action_evidence.close())


def way_to_view(arm: Arm, spot: tuple[float, ...]) -> list[Array] | Finding:
    checker, view = arm.collision_checker(held=arm.rig.held()), arm.view
    q = arm.solver.near(arm.ready, view.base + view.base_rotation @ spot, rotations.hand_rotation(0.0))
    way = None if q is None or not checker.free(q) else plan_path(checker, view.joints(), q)
    return way or Finding("CRITIC_REFUSED", "", "", coded("robot.no_free_view"), "")


def _search(arm: Arm, renderer: CameraRenderer, id: str) -> Detection | None:
    rig = arm.rig
    for spot in SEARCH:
        way = plan_motion(arm, partial(way_to_view, arm, spot), lambda found: [(found, rig.held())])
        if isinstance(way, Finding):
            continue
        arm.mover.follow(way)
        detection = detect(
            rig,
            renderer.capture(rig.simulation.data, "wrist", rgb=False, depth=True, segments=True),
            id,
        )
        if detection is not None:
            return detection
    return None
