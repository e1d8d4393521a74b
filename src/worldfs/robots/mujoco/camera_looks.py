"""The looks of an arm that goes by its cameras: what a picture shows is what is believed, and what is planned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Order, Outcome
from worldfs.base.standard_operations import CLOSE_FIXTURE, OPEN_FIXTURE
from worldfs.robots.vision.depth_image import DepthImage
from worldfs.robots.vision.detector import Detections, UnknownThing, detect_things
from worldfs.robots.vision.image_checks import ImageFault, image_fault
from worldfs.robots.vision.picture_correction import corrected, depth_noise
from worldfs.robots.vision.shape_fit import seen_through, shown_share

from . import fixture_model, geometry, object_kinds, perception
from .action_evidence import ActionEvidence, plan_failure, rounded
from .arm import Arm
from .array_types import Array
from .believed_rig import BelievedRig
from .camera import HEIGHT, WIDTH, CameraRenderer
from .camera_correction import aligned
from .image_findings import image_finding
from .scene_belief import SceneBelief
from .scene_layout import within
from .seen_handling import SEEN_AFTER
from .shared_motion import plan_motion
from .simulated_camera import CAMERAS, SimulatedCamera
from .table_map import table_map
from .world_difference import DEPTH_NOISE, CameraSensor

MAX_FRAME_AGE_S: Final = 0.5  # nothing moves on an older picture, where the profile has no limit of its own
SEEN_NEAR: Final = 0.03  # m between where a thing was seen and where it should be
HAND_TOP: Final = 0.16  # m over the highest table: so high reaches nothing that lies there
HAND_SIZE: Final = 0.10  # m
FLOATS: Final = 0.06  # m between the highest table and the lower side of what hangs over it
DISAGREE: Final = 0.015  # m between where two cameras see the same thing, at least
WHOLE: Final = 0.85  # share of a thing's near side that a picture must show, to be compared with another picture
SPREADS: Final = 4.0  # standard deviations of it
FIXTURE_OPS: Final = (OPEN_FIXTURE.name, CLOSE_FIXTURE.name)


class CameraLooks:
    """`arm` plans in the believed world; `truth` is the arm that moves. `renderer` makes the true world's pictures.

    A look that finds fault with its picture changes nothing that is believed.
    """

    def __init__(
        self,
        truth: Arm,
        renderer: Callable[[], CameraRenderer],
        sensor: CameraSensor,
        max_frame_age: float | None = None,
    ) -> None:
        self.max_frame_age = MAX_FRAME_AGE_S if max_frame_age is None else max_frame_age
        self.truth, self.sigma = truth, DEPTH_NOISE
        self.rig = BelievedRig(truth.rig)
        self.arm = Arm(
            self.rig, truth.solver, truth.mover, truth.limits, ready=truth.ready.copy(), reserved=truth.reserved
        )
        self.belief = SceneBelief(self.rig)
        self.camera = SimulatedCamera(truth.rig, self.rig, renderer, sensor)
        self.fault: Finding | None = None
        self._before: dict[str, DepthImage] = {}
        self._in_front: tuple[Detections, DepthImage] | None = None  # the front camera's last picture without a fault
        self._shown: DepthImage | None = None  # the same, whatever has been handled since

    def close(self) -> None:
        self.camera.close()

    # --- looking ---

    def look(self, camera: str = "front", only: str | None = None) -> Finding | None:
        """One picture of a camera taken in; what is wrong with it, if anything is."""
        self.belief.refresh()
        before, image = self.belief.openings(), self.camera.take(camera)
        self.belief.look_at_openings(image, self.sigma)
        expected = self.camera.expected(camera)
        sigma = self.sigma = max(DEPTH_NOISE, depth_noise(image, expected))
        fault = self._image_fault(image, expected)
        if fault is None or fault.kind in {"moved", "foreign"}:
            image, expected, fault = aligned(self.camera, self.belief, image, expected, fault, self._image_fault, sigma)
        self._before[camera] = image
        if fault is not None:
            self.belief.restore_openings(before)
            self.fault = image_finding(fault, camera)
            return self.fault
        named = [thing for thing in self.belief.named() if only is None or thing.id == only or camera == "front"]
        image = corrected(image, expected)
        found = detect_things(image, expected, named, object_kinds.COLORS, sigma=sigma, carried=self.belief.carried)
        if camera == "front":
            self._in_front = found, image
        elif disagreement := self._disagreement(found, image):
            self.belief.restore_openings(before)
            self.fault = disagreement
            return self.fault
        self.fault = self._intruder(found, camera)
        self.belief.take(found, image, sigma)
        if camera == "front":
            self._shown = image
        return self.fault

    def _image_fault(self, image: DepthImage, expected: DepthImage) -> ImageFault | None:
        return image_fault(
            image, expected, self._before.get(image.camera), now=float(self.truth.simulation.data.time),
            most_age_s=self.max_frame_age, sigma=self.sigma,
        )  # fmt: skip

    def _disagreement(self, found: Detections, image: DepthImage) -> Finding | None:
        """Both cameras see the same things; where the wrist camera has them elsewhere, one of the two was moved. That
        is all that tells it of a wrist camera that sees little of the arm. What one of them shows in part is not
        compared."""
        if self._in_front is None:
            return None
        apart: list[tuple[float, str]] = []
        before, picture = self._in_front
        limit, alike = DISAGREE, {id for group in (*found.undecided, *self.belief.undecided) for id in group}
        for id, here in found.things.items():
            there = before.things.get(id)
            if there is None or here.doubtful or there.doubtful or id in alike:
                continue
            if min(shown_share(here.solid, image, self.sigma), shown_share(there.solid, picture, self.sigma)) < WHOLE:
                continue
            off = (here.solid.position - there.solid.position)[:2]
            apart.append((float(np.linalg.norm(off)), id))
            limit = max(limit, SPREADS * float(np.hypot(here.sigma, there.sigma)))
        apart.sort()
        if not apart or apart[len(apart) // 2][0] <= limit:
            return None
        away, id = apart[len(apart) // 2]
        return Finding(
            "CAMERA_MOVED", coded("vision.the_picture", camera="wrist"), coded("vision.good_picture"),
            coded("vision.cameras_disagree", id=id, mm=1000 * away), coded("vision.calibrate_camera"),
        )  # fmt: skip

    def _intruder(self, found: Detections, camera: str) -> Finding | None:
        """A hand, or something else large that is not lying on a table."""
        tops = [piece.position[2] for piece in self.rig.furniture if piece.shape == "table"]
        level = max(tops, default=self.rig.plan.floor)
        for thing in found.unknown if camera == "front" else ():
            low, high = thing.position[2] - thing.size[2] / 2, thing.position[2] + thing.size[2] / 2
            large = max(thing.size) > HAND_SIZE and (high - level > HAND_TOP or low - level > FLOATS)
            if large and self._near_the_table(thing):
                return Finding(
                    "HAND_IN_VIEW", coded("vision.the_picture", camera=camera), coded("vision.no_intruder"),
                    coded("vision.intruder", at=rounded(thing.position, 2), size=rounded(thing.size, 2)),
                    coded("vision.wait_for_clear"),
                )  # fmt: skip
        return None

    def _near_the_table(self, thing: UnknownThing) -> bool:
        return float(np.linalg.norm(thing.position[:2] - self.rig.view.base[:2])) < 1.2

    def look_at(self, id: str, job: str = "") -> Finding | None:
        """A picture from the front, and one from the wrist over a thing, before it is taken hold of."""
        if fault := self.look():
            return replace(fault, job=job)
        if id in self.rig.fixtures:
            return self._look_at_fixture(id, job)
        track = self.belief.tracks[id]
        looked = self._over(np.array(track.position))
        if looked is None and self.belief.tracks[id].doubtful:
            looked = self._over(np.array(self.belief.tracks[id].position))
        if looked is not None and looked.code != "NO_VIEW":
            return replace(looked, job=job)
        if (unsure := self.unsure(id, job)) is None or unsure.code != "NOT_SEEN":
            return unsure
        return self._search(id, job)

    def _look_at_fixture(self, id: str, job: str) -> Finding | None:
        """The wrist camera over the way of a knob: how far a drawer or a lid is open is seen from there, or not at all.
        A picture from before says nothing of now."""
        piece = self.rig.things[id]
        began = float(self.truth.simulation.data.time)
        for part in (0.3, 0.8):
            fault = self._over(fixture_model.knob(piece, part * fixture_model.travel(piece)))
            if fault is not None and fault.code != "NO_VIEW":
                return replace(fault, job=job)
            seen = self.rig.openings.get(id)
            if seen is not None and seen.time >= began:
                return None
        return Finding(
            "NOT_SEEN",
            "ENVIRONMENT.md perception",
            coded("vision.opening_in_view", id=id),
            coded("vision.opening_unseen", id=id),
            coded("vision.clear_opening", id=id),
            job,
        )

    def _search(self, id: str, job: str) -> Finding | None:
        """The wrist camera goes where it sees most of the table, until it sees a thing that no picture has shown."""
        for spot in perception.SEARCH:
            way = plan_motion(
                self.truth,
                lambda spot=spot: perception.way_to_view(self.truth.planning, spot),  # type: ignore[misc]  # binds the loop's value
                lambda found: [(found, self.rig.held())],
            )
            if isinstance(way, Finding):
                continue
            self.truth.mover.follow(way)
            if fault := self.look("wrist"):
                return replace(fault, job=job)
            if not self.belief.tracks[id].stale:
                self._over(np.array(self.belief.tracks[id].position))
                break
        return self.unsure(id, job)

    def _over(self, at: Array) -> Finding | None:
        """The wrist camera goes over a place, and looks."""
        arm = self.arm

        def free_view() -> list[Array] | Finding:
            self.belief.refresh()
            pose = perception.plan_camera_pose(arm, at)
            if isinstance(pose, Finding):
                return replace(pose, code="NO_VIEW")
            return pose[0] if pose else Finding("NO_VIEW", "", "", coded("robot.no_free_view"), "")

        way = plan_motion(self.truth, free_view, lambda found: [(found, self.rig.held())])
        if isinstance(way, Finding):
            return way
        self.truth.mover.follow(way, settle=0.15)
        return self.look("wrist")

    def unsure(self, id: str, job: str = "") -> Finding | None:
        """Why a thing cannot be taken hold of by what was seen of it."""
        track = self.belief.tracks.get(id)
        if self.fault is not None:
            return replace(self.fault, job=job)
        if track is None:
            return None
        field = "ENVIRONMENT.md perception"
        if twins := sorted({one for group in self.belief.undecided if id in group for one in group} - {id}):
            return Finding(
                "TWINS_UNDECIDED",
                field,
                coded("vision.one_of_its_kind", id=id),
                coded("vision.looks_like", id=id, others=twins),
                coded("vision.tell_apart"),
                job,
            )
        if track.empty or not track.seen:
            at, expected, fix = (
                rounded(track.position),
                coded("vision.thing_in_view", id=id),
                coded("vision.put_in_view", id=id),
            )
            found = (
                coded("vision.place_is_empty", id=id, at=at)
                if track.empty
                else coded("vision.never_seen", id=id, at=at)
            )
            return Finding("NOT_SEEN", field, expected, found, fix, job)
        return None

    # --- a thing in the middle of the picture ---

    def locate(self, order: Order, ids: Sequence[str], action_evidence: ActionEvidence) -> Outcome:
        """The wrist camera over the first of these that is seen, until it is in the middle of the picture."""
        id = next((one for one in ids if one not in self.belief.tracks or not self.belief.tracks[one].stale), ids[0])
        unseen = self.look_at(id, order.id) if id in self.belief.tracks else self.look()
        if unseen is not None:
            return plan_failure(unseen, action_evidence.close())
        off, looks = perception.CENTRED + 1.0, 0
        while off > perception.CENTRED and looks < perception.LOOKS:
            blocked = self._over(self._known(id))
            if blocked is not None:
                return plan_failure(blocked, action_evidence.close())
            row, column, _ = self._before["wrist"].project(self._known(id)[None])
            off, looks = float(np.hypot(row[0] - HEIGHT / 2, column[0] - WIDTH / 2)), looks + 1
        at = self._known(id)
        action_evidence.more |= {
            "perception": "camera", "target": id, "looks": looks, "pixel_error": round(off, 1),
            "estimated_position": rounded(at),
        }  # fmt: skip
        true = perception.known_position(self.truth.rig, id)
        action_evidence.distance = float(np.linalg.norm(at - true))
        return perception.judged_aim(self.truth, id, (at, true), off, action_evidence)

    def _known(self, id: str) -> Array:
        return perception.known_position(self.rig, id)

    # --- what an order was seen to do ---

    def after(self, order: Order, outcome: Outcome, action_evidence: ActionEvidence, id: str | None) -> Outcome:
        """The outcome with what the cameras say of it: the verdict stays that of what was measured."""
        goal = action_evidence.more.get("goal") if order.op == "place" else None
        at = np.array(goal["position"]) if isinstance(goal, dict) and id is not None else None
        if at is not None and id is not None and self.rig.held() is None:
            self.belief.let_go(id, at)
        fault = (
            self.look("wrist") if order.op in FIXTURE_OPS else None
        )  # the hand has risen, and looks down on the knob
        fault = fault or self.look()
        seen: Json = {"camera": "front", "source": "camera"}
        if corrected := {name: told["corrected"] for name in CAMERAS if (told := self.camera.corrected(name))}:
            seen["corrected_cameras"] = corrected
        if fault is not None:
            seen["fault"] = fault.code
        else:
            if order.op in SEEN_AFTER:
                seen |= SEEN_AFTER[order.op](self.arm, self.belief, order, action_evidence)
            elif id is not None:
                seen |= self._seen(order, id, at)
            if isinstance(seen.get("done"), bool) and seen["done"] != outcome.ok:
                seen["disagrees"] = True
        return replace(outcome, evidence={**outcome.evidence, "perception": "camera", "seen": seen})

    def _seen(self, order: Order, id: str, at: Array | None) -> Json:
        track = self.belief.tracks[id]
        if order.op == "pick_up":
            held = self.belief.carried
            image = self._before["front"]
            through = seen_through(held[0], image, self.sigma * 4) if held else 1.0
            return {"in_gripper": bool(held) and through < 0.5, "done": bool(held) and through < 0.5}
        if track.stale or at is None:
            return {"position": None, "done": None}
        away = float(np.linalg.norm(np.array(track.position) - at))
        inside = order.op == "place" and self._in_basket(track.position)
        return {
            "position": rounded(track.position), "away_m": round(away, 4), "residual_m": round(track.residual, 4),
            "done": inside or away < SEEN_NEAR,
        }  # fmt: skip

    def _in_basket(self, position: tuple[float, ...]) -> bool:
        return any(within(f, np.array(position), 0.05) for f in self.rig.furniture if f.shape == "basket")

    def transforms(self, robot_id: str) -> Json:
        """The coordinate frames of ENVIRONMENT.md's `tf`, by name: each in its parent's (m; quaternion w x y z)."""
        view = self.rig.view
        tcp, turn = view.tcp_pose()
        poses = {"base": (np.array(view.base), np.array(view.base_rotation)), "gripper": (tcp, turn)}
        poses |= {camera: self.camera.pose(camera) for camera in CAMERAS}
        parents = {"base": "", "gripper": "base", "front": "", "wrist": "gripper"}
        return {
            f"{robot_id}/{name}": _in_parent(poses[name], poses.get(parents[name]))
            | {"parent": f"{robot_id}/{parents[name]}" if parents[name] else "world"}
            for name in poses
        }

    def table_map(self) -> Json:
        """The arm's own member of ENVIRONMENT.md's `map`."""
        return table_map(self.rig, self._shown, self.sigma)

    def as_json(self) -> Json:
        """The members of ENVIRONMENT.md's perception block."""
        fault = self.fault
        told: Json = {"source": "camera", "robot_id": self.truth.robot_id, "objects": self.belief.as_json()}
        told["cameras"] = self.camera.as_json()
        if self.rig.fixtures:
            told["fixtures"] = {id: self._opening(id) for id in self.rig.fixtures}
        # null and not left out: what the last picture had must go from the file
        told["fault"] = None if fault is None else {"code": fault.code, "found": str(fault.found)}
        return told

    def _opening(self, id: str) -> Json:
        if (seen := self.rig.openings.get(id)) is None:
            return {"never_seen": True}
        return {"opening": round(seen.opening, 4), "seen_at_s": round(seen.time, 3), "camera": seen.camera}


def _in_parent(pose: tuple[Array, Array], parent: tuple[Array, Array] | None) -> Json:
    position, turn = pose
    if parent is not None:
        position, turn = parent[1].T @ (position - parent[0]), parent[1].T @ turn
    return {"position": rounded(position), "orientation": rounded(geometry.quat_of(turn), 3)}
