"""The palette: pixels told apart by colour, whatever light falls on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .depth_image import Array

Rgb = tuple[float, float, float]
NEAR = 0.075  # between two chromaticities: one colour
BRIGHTNESS = 0.12  # weight of brightness beside chromaticity: it tells white, grey and black apart


def features(rgb: Array) -> Array:
    """Chromaticity (two parts) and a little brightness of colours (n × 3, 0…1)."""
    total = rgb.sum(axis=-1, keepdims=True)
    brightness = BRIGHTNESS * rgb.max(axis=-1, keepdims=True)
    return np.concatenate([rgb[..., :2] / np.maximum(total, 0.05), brightness], axis=-1)


class Palette:
    """The colours of the things that are named, and others that are not like any of those."""

    def __init__(self, named: Sequence[Rgb], others: Mapping[str, Rgb]) -> None:
        colours = list(dict.fromkeys(named))
        known = features(np.array(colours, dtype=float).reshape(-1, 3))
        for colour in others.values():
            found = features(np.array(colour))
            if not len(known) or float(np.linalg.norm(known[:, :2] - found[:2], axis=1).min()) > NEAR:
                colours.append(colour)
        self.colours: list[Rgb] = colours
        self._features = features(np.array(colours, dtype=float).reshape(-1, 3))

    def classes(self, rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
        """The nearest colour's number for each pixel (n × 3)."""
        if not self.colours:
            return np.zeros(len(rgb), dtype=np.intp)
        away = features(rgb / 255.0)[:, None, :] - self._features[None]
        return np.asarray(np.argmin((away**2).sum(axis=2), axis=1))


def difference(one: Rgb | Array, other: Rgb) -> float:
    """How unlike two colours are: 0 for the same in another light, about 0.1 for neighbours like red and orange."""
    return float(np.linalg.norm(features(np.asarray(one, dtype=float)) - features(np.asarray(other, dtype=float))))
