"""The picture for a model: the front camera's, with the numbers of the keypoints drawn at their pixels."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np

from worldfs.base.errors import MissingRequirement
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.robots.rotations import Array
from worldfs.robots.targets.target_adapter import TargetAdapter

from .detections import RgbdImage
from .end_effector import SceneSnapshot
from .keypoints import Keypoint, positions

CAMERA = "front"
PICTURE = "keypoints.png"  # beside the trace
SCALE, DOT, TEXT, MARGIN = 2, 4, 18, 2  # of the camera's picture; pixels of the larger one

Box = tuple[float, float, float, float]  # left, top, right, bottom


def picture_of(target: TargetAdapter, points: Sequence[Keypoint], state: SceneSnapshot) -> bytes:
    """PNG bytes. Raises `MissingRequirement` where there is no camera of known pose."""
    capture = getattr(
        target, "capture_frame", None
    )  # beyond the port: only the simulated table knows its camera's pose
    if capture is None:
        raise MissingRequirement(
            coded("plugin.rekep_no_camera"), op="show a model the scene", code="CAMERA_UNAVAILABLE"
        )
    frame: RgbdImage = capture(CAMERA, rgb=True)
    return draw_keypoints(frame, positions(points, state.poses))


def project(frame: RgbdImage, points: Array) -> Array:
    """Pixels (N × 2: right, down) of points of the world; NaN behind the camera."""
    local = (points - frame.position) @ frame.rotation
    height, width = frame.depth.shape
    away = np.where(local[:, 2] < -0.01, -local[:, 2], np.nan)
    return np.stack(
        [width / 2 - 0.5 + frame.focal * local[:, 0] / away, height / 2 - 0.5 - frame.focal * local[:, 1] / away],
        axis=1,
    )


def draw_keypoints(frame: RgbdImage, points: Array) -> bytes:
    """PNG bytes of the enlarged picture with dots and numbers. Raises `MissingRequirement` without Pillow."""
    with needs("sim", op="draw keypoints"):
        from PIL import Image, ImageDraw, ImageFont
    image = Image.fromarray(np.asarray(frame.rgb))
    image = image.resize((SCALE * image.width, SCALE * image.height), Image.Resampling.BICUBIC)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(TEXT)
    at = {number: (float(x), float(y)) for number, (x, y) in enumerate(SCALE * project(frame, points))
          if np.isfinite(x) and 0 <= x < image.width and 0 <= y < image.height}  # fmt: skip
    taken = [(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in at.values()]
    for number, (x, y) in at.items():
        wide, high = pen.textbbox((0, 0), str(number), font)[2:]
        box = free_box((x, y), (wide + 2 * MARGIN, high + 2 * MARGIN), (image.width, image.height), taken)
        taken.append(box)
        pen.line((x, y, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2), fill=(0, 0, 0), width=1)
        pen.rectangle(box, fill=(0, 0, 0))
        pen.text((box[0] + MARGIN, box[1] + MARGIN), str(number), fill=(255, 255, 255), font=font)
    for x, y in at.values():
        pen.ellipse((x - DOT, y - DOT, x + DOT, y + DOT), fill=(255, 255, 0), outline=(0, 0, 0))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def free_box(
    dot: tuple[float, float], size: tuple[float, float], picture: tuple[int, int], taken: Sequence[Box]
) -> Box:
    """A place for a number near its dot that covers no other dot or number; the nearest one where all are taken."""
    first: Box | None = None
    for away in range(20, 200, 12):
        for turn in range(16):
            x = dot[0] + away * math.cos(turn * math.tau / 16) - size[0] / 2
            y = dot[1] + away * math.sin(turn * math.tau / 16) - size[1] / 2
            box = x, y, x + size[0], y + size[1]
            if x < 0 or y < 0 or box[2] >= picture[0] or box[3] >= picture[1]:
                continue
            if not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken):
                return box
            first = first or box
    return first or (0.0, 0.0, *size)
