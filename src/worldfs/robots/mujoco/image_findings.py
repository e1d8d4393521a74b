"""The image findings: what is wrong with a picture, as the refusal of the order that would have gone by it."""

from __future__ import annotations

from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.robots.vision.image_checks import ImageFault

CODES: Final = {
    "dark": "CAMERA_DARK", "frozen": "CAMERA_FROZEN", "late": "FRAME_TOO_OLD", "holes": "DEPTH_HOLES",
    "noisy": "DEPTH_NOISY",
    "foreign": "CAMERA_FOREIGN", "colours": "CAMERA_FOREIGN", "moved": "CAMERA_MOVED", "off": "CAMERA_MOVED",
    "furniture": "FURNITURE_MOVED",
}  # fmt: skip


def image_finding(fault: ImageFault, camera: str) -> Finding:
    field = coded("vision.the_picture", camera=camera)
    expected, fix = coded("vision.good_picture"), coded("vision.check_camera")
    amount, limit = fault.amount, fault.limit
    match fault.kind:
        case "late":
            found = coded("vision.picture_late", s=amount, limit=limit)
        case "frozen":
            found = coded("vision.picture_frozen", rad=amount)
        case "dark":
            found = coded("vision.picture_dark", n=amount)
        case "holes":
            found = coded("vision.picture_holes", percent=100 * amount)
        case "noisy":
            found = coded("vision.picture_noisy", mm=1000 * amount, limit=1000 * limit)
        case "off":
            found, fix = (
                coded("vision.camera_off", mm=1000 * amount, limit=1000 * limit),
                coded("vision.calibrate_camera"),
            )
        case "colours":
            found = coded("vision.picture_colours", n=amount)
        case "furniture":
            found, fix = coded("vision.furniture_moved", percent=100 * amount), coded("vision.furniture_back")
        case "moved":
            found, fix = coded("vision.camera_moved", percent=100 * amount), coded("vision.calibrate_camera")
        case _:
            found = coded("vision.picture_foreign", n=amount)
    return Finding(CODES[fault.kind], field, expected, found, fix)
