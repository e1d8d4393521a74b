"""The picture correction: colours as they would be in the light that they were chosen in, and the noise as measured.

Both go by the known surroundings, whose picture is expected; nothing else is known of light or sensor.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from .depth_image import Array, DepthImage, Mask

NEAR_EXPECTED = 0.03  # m between measured and expected depth: these are the surroundings
EVERY = 4  # pixels between two that are compared
LEAST = 400  # pixels that a light is estimated from
DIM, BRIGHT = 20, 250  # of 255: a channel outside says nothing of the light
DIMMEST, BRIGHTEST = 0.02, 5.0  # what light, of the usual one, is estimated at all
GRAINY = 12.0  # of 255, of noise: more is averaged away, at the cost of sharp outlines
RANGE = 2.5  # m: surroundings farther away are not compared
_MAD = 1.4826  # median absolute deviation → standard deviation


def depth_noise(image: DepthImage, expected: DepthImage) -> float:
    """Standard deviation of the depth at 1 m (m), of what varies from pixel to pixel on the surroundings."""
    z = expected.depth[::EVERY]
    off = (image.depth[::EVERY] - z) / z**2
    known = (expected.measured & image.measured)[::EVERY] & (z < RANGE)
    bent = off[:, 2:] - 2 * off[:, 1:-1] + off[:, :-2]
    flat = known[:, 2:] & known[:, 1:-1] & known[:, :-2]
    return float(_MAD * np.median(np.abs(bent[flat])) / np.sqrt(6)) if np.count_nonzero(flat) > LEAST else 0.0


def corrected(image: DepthImage, expected: DepthImage) -> DepthImage:
    """The picture in the light of the expected one."""
    rgb = image.rgb
    if colour_noise(image) > GRAINY:
        rgb = ndimage.uniform_filter(rgb, (3, 3, 1))
    gain = light(image, expected)
    usual = np.clip(rgb / gain, 0, 255).astype(np.uint8)
    return replace(image, rgb=np.where(rgb > BRIGHT, rgb, usual))  # where a channel is full, nobody knows how much more


def colour_noise(image: DepthImage) -> float:
    """Standard deviation of a channel (of 255), of what varies from pixel to pixel."""
    green = image.rgb[::EVERY, :, 1].astype(np.float32)
    bent = green[:, 2:] - 2 * green[:, 1:-1] + green[:, :-2]
    return float(_MAD * np.median(np.abs(bent)) / np.sqrt(6))


def light(image: DepthImage, expected: DepthImage) -> Array:
    """The light's colour and strength as factors on red, green and blue (3), 1 for the usual light."""
    shown, usual, known = _surroundings(image, expected)
    found = np.ones(3)
    for channel in range(3):
        there = known & (shown[:, channel] > DIM) & (shown[:, channel] < BRIGHT) & (usual[:, channel] > DIM)
        if np.count_nonzero(there) >= LEAST // 4:
            found[channel] = np.median(shown[there, channel] / usual[there, channel])
    return np.clip(found, DIMMEST, BRIGHTEST)


def _surroundings(image: DepthImage, expected: DepthImage) -> tuple[Array, Array, Mask]:
    """Colours shown and expected of the pixels compared (n × 3 each), and which of them show the surroundings."""
    every = slice(None, None, EVERY), slice(None, None, EVERY)
    near = np.abs(image.depth[every] - expected.depth[every]) < NEAR_EXPECTED
    known = expected.measured[every] & (expected.depth[every] < RANGE) & near
    return (
        image.rgb[every].reshape(-1, 3).astype(float),
        expected.rgb[every].reshape(-1, 3).astype(float),
        known.ravel(),
    )
