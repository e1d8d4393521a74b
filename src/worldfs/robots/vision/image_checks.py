"""The image checks: what is wrong with a picture, before anything is believed that it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from .depth_image import DepthImage, Mask

DARK = 12  # of 255: below this a picture shows nothing
HOLES = 0.35  # share of the surroundings without depth
SHIFTED = 0.003  # share of the surroundings that the camera saw through: it, or they, are not where they should be
FOREIGN = 0.7  # share from which on the depth is of something else
SWAPPED = -0.3  # correlation of red over blue with the expected picture's: below it the channels are exchanged
UNLIKE = 0.25  # correlation of brightness with the expected picture: below it the colours are of something else
MOVED = 0.01  # rad of a joint
NOISY = 0.007  # m of noise at 1 m: above it things take each other's names
RANGE = 2.5  # m: surroundings farther away are not compared


@dataclass(frozen=True, slots=True)
class ImageFault:
    """`kind`: dark | frozen | late | holes | noisy | foreign | colours | moved. `amount` was measured, `limit` is
    allowed."""

    kind: str
    amount: float
    limit: float


def image_fault(
    image: DepthImage,
    expected: DepthImage,
    before: DepthImage | None,
    *,
    now: float,
    most_age_s: float,
    sigma: float = 0.002,
) -> ImageFault | None:
    """The first fault of a picture; None: it can be used. `expected`: what it would show without any thing.

    `before`: the same camera's picture before this one. `now`: the robot's clock (s).
    """
    if now - image.time > most_age_s:
        return ImageFault("late", now - image.time, most_age_s)
    if (frozen := _frozen(image, before)) is not None:
        return frozen
    brightness = float(image.rgb.mean())
    if brightness < DARK:
        return ImageFault("dark", brightness, DARK)
    compared = expected.measured & (expected.depth < RANGE)
    holes = _share(compared & ~(image.depth > 0.02), compared)
    if not math.isfinite(holes) or holes > HOLES:
        return ImageFault("holes", holes, HOLES)
    if sigma > NOISY:
        return ImageFault("noisy", sigma, NOISY)
    alike = likeness(image, expected)
    if alike < UNLIKE:
        return ImageFault("foreign", alike, UNLIKE)
    tint = tint_likeness(image, expected)
    if tint < SWAPPED:
        return ImageFault("colours", tint, SWAPPED)
    through = shifted_share(image, expected, sigma)
    if through > SHIFTED:
        return ImageFault("moved" if through < FOREIGN else "foreign", through, SHIFTED)
    return None


def _frozen(image: DepthImage, before: DepthImage | None) -> ImageFault | None:
    if before is None or not image.joints or len(before.joints) != len(image.joints):
        return None
    turned = max(abs(a - b) for a, b in zip(image.joints, before.joints, strict=True))
    if turned > MOVED and np.array_equal(image.rgb, before.rgb) and np.array_equal(image.depth, before.depth):
        return ImageFault("frozen", turned, MOVED)
    return None


def shifted_share(image: DepthImage, expected: DepthImage, sigma: float) -> float:
    """The share of the known surroundings where the camera measured something behind them, outlines left out."""
    z = expected.depth
    compared = expected.measured & (z < RANGE) & (image.depth > 0.02)
    behind = ndimage.maximum_filter(z, 5)
    through = image.depth > behind + 0.012 + 4 * sigma * z * z
    return _share(compared & through, compared)


def likeness(image: DepthImage, expected: DepthImage) -> float:
    """Correlation (−1…1) of the brightness with that of the expected surroundings, things in it and all."""
    every = slice(None, None, 4), slice(None, None, 4)
    known = expected.measured[every] & (expected.depth[every] < RANGE)
    one = image.rgb[every][known].astype(np.float32).mean(axis=1)
    other = expected.rgb[every][known].astype(np.float32).mean(axis=1)
    if len(one) < 200 or other.std() < 1:
        return 1.0
    return float(np.corrcoef(one, other)[0, 1]) if one.std() >= 1 else 0.0


def tint_likeness(image: DepthImage, expected: DepthImage) -> float:
    """Correlation (−1…1) of red over blue, on a log scale, with that of the expected surroundings: light of another
    colour adds the same everywhere, and changes nothing of it. 1 where too little is to be compared."""
    every = slice(None, None, 4), slice(None, None, 4)
    depth = expected.depth[every]
    known = expected.measured[every] & (depth < RANGE) & (np.abs(image.depth[every] - depth) < 0.05)
    one, other = image.rgb[every][known].astype(np.float32), expected.rgb[every][known].astype(np.float32)
    fit = np.all((one > DARK) & (one < 250) & (other > DARK), axis=1)
    if np.count_nonzero(fit) < max(200, len(fit) // 2):  # in strong light what is not full is not like the rest
        return 1.0
    ratio, usual = (np.log(part[fit, 0] / part[fit, 2]) for part in (one, other))
    if ratio.std() < 0.02 or usual.std() < 0.02:
        return 1.0
    return float(np.corrcoef(ratio, usual)[0, 1])


def _share(part: Mask, whole: Mask) -> float:
    return float(np.count_nonzero(part)) / max(int(np.count_nonzero(whole)), 1)
