"""The picture for a model: the front camera's, with the numbers of the keypoints drawn at their pixels."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence

import numpy as np

from worldfs.base.errors import MissingRequirement
from worldfs.robots.rotations import Array
from worldfs.robots.targets.target_adapter import TargetAdapter

from .detections import RgbdImage
from .end_effector import SceneSnapshot
from .keypoints import Keypoint, positions

CAMERA = "front"


def picture_of(target: TargetAdapter, state: SceneSnapshot) -> Callable[[Sequence[Keypoint]], str]:
    """Returns a data URL for keypoints; raises `MissingRequirement` where there is no camera of known pose."""

    def picture(points: Sequence[Keypoint]) -> str:
        capture = getattr(
            target, "capture_frame", None
        )  # beyond the port: only the simulated table knows where its camera is
        if capture is None:
            raise MissingRequirement("no camera of known pose", op="show a model the scene", code="CAMERA_UNAVAILABLE")
        frame: RgbdImage = capture(CAMERA, rgb=True)
        return data_url(draw_keypoints(frame, positions(points, state.poses)))

    return picture


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
    """PNG bytes of the picture with dots and numbers. Raises `MissingRequirement` without Pillow."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise MissingRequirement("no Pillow", op="draw keypoints", fix="pip install 'worldfs[sim]'") from error
    image = Image.fromarray(np.asarray(frame.rgb))
    pen = ImageDraw.Draw(image)
    for number, (right, down) in enumerate(project(frame, points)):
        if np.isfinite(right) and 0 <= right < image.width and 0 <= down < image.height:
            pen.ellipse((right - 3, down - 3, right + 3, down + 3), fill=(255, 255, 0), outline=(0, 0, 0))
            pen.text((right + 5, down - 5), str(number), fill=(255, 255, 255), stroke_width=2, stroke_fill=(0, 0, 0))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def data_url(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()
