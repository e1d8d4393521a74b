"""The camera correction: the pose of a camera put right by a picture, before anything is believed that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeGuard

from worldfs.robots.rotations import Pose
from worldfs.robots.vision.camera_alignment import CameraOffset, camera_offset, moved
from worldfs.robots.vision.depth_image import DepthImage
from worldfs.robots.vision.image_checks import ImageFault

from .scene_belief import SceneBelief
from .simulated_camera import SimulatedCamera

NOTICED: Final = 0.0015  # m that a camera must put things elsewhere by before its pose is corrected
MOST_MOVED: Final = 0.025  # m: a camera that puts things farther elsewhere than this is said to be moved
NO_SHIFT: Final = 0.05  # m: what is farther off is no camera that was moved a little, whatever is wrong with it
ARM_SHOWN: Final = 0.02  # share of a picture that must show the arm, to tell a moved camera from moved furniture
ALIGNMENTS: Final = 3  # each from the pose that the one before it has corrected
Checked = tuple[DepthImage, DepthImage, ImageFault | None]


def aligned(  # noqa: PLR0917  # a picture, what it is compared with, and what both come from
    camera: SimulatedCamera,
    belief: SceneBelief,
    image: DepthImage,
    expected: DepthImage,
    fault: ImageFault | None,
    check: Callable[[DepthImage, DepthImage], ImageFault | None],
    sigma: float,
) -> Checked:
    """Picture and expectation from where the camera stands by the arm and the furniture that it shows, and what is
    wrong with them then. A correction beyond `MOST_MOVED`, or one that does not explain the picture, is not made.

    `fault`: what `check` finds wrong without a correction. `sigma`: the depth's noise at 1 m (m).
    """
    name, stood = image.camera, camera.mount(image.camera)
    if fault is None and not _noticed(camera_offset(image, expected, sigma)):
        return image, expected, None
    corrected, wanted, away = image, expected, 0.0
    for _ in range(ALIGNMENTS):
        arm = camera.arm_mask(name)
        offset = camera_offset(corrected, wanted, sigma, arm)
        if offset is None or offset.moved < NOTICED:
            break
        now, away = camera.mount(name), offset.away
        camera.remount(name, Pose(now.point(offset.shift), now.rotation @ offset.turn))
        corrected = camera.from_there(image)
        belief.look_at_openings(corrected, sigma)
        wanted = camera.expected(name)
    if corrected is image:
        stands = offset is not None and offset.sure and float(arm.mean()) > ARM_SHOWN
        still = replace(fault, kind="furniture") if fault and stands and fault.kind == "moved" else fault
        return image, expected, still
    off = moved(*camera.correction(name), away)
    left = ImageFault("off", off, MOST_MOVED) if off > MOST_MOVED else check(corrected, wanted)
    if left is None and offset is not None and offset.sure:
        return corrected, wanted, None
    camera.remount(name, stood)
    told = left is not None and left.kind == "off" and (fault is None or off < NO_SHIFT)
    return image, expected, left if told else fault


def _noticed(offset: CameraOffset | None) -> TypeGuard[CameraOffset]:
    return offset is not None and offset.sure and offset.moved > max(NOTICED, offset.spread)
