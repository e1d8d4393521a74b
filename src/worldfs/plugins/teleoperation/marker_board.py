"""A printed marker board (ChArUco) in pictures: its corners and its pose, by OpenCV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldfs.base.errors import BadInput
from worldfs.base.extras import needs
from worldfs.base.messages import coded

from .hand_eye import Array, BoardSight, pose

Picture = NDArray[np.uint8]
CORNERS: Final = 6  # fewer say too little of a pose


@dataclass(frozen=True, slots=True)
class MarkerBoard:
    """Squares across and down, their side and that of the markers (m); markers of the dictionary 4X4_50 or 5X5_100 …"""

    across: int = 7
    down: int = 5
    square: float = 0.03
    marker: float = 0.022
    dictionary: str = "4X4_50"

    def picture(self, pixels: int) -> Picture:
        """To be printed, so many pixels a square."""
        cv2 = opencv()
        drawn: Picture = self._board(cv2).generateImage((self.across * pixels, self.down * pixels))
        return drawn

    def corners(self, picture: Picture) -> tuple[Array, Array] | None:
        """Where its inner corners are on the board (n, 3) and in the picture (n, 2); None where it is hardly seen."""
        cv2 = opencv()
        board = self._board(cv2)
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) if picture.ndim == 3 else picture
        pixels, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(grey)
        if ids is None or len(ids) < CORNERS:
            return None
        known = np.asarray(board.getChessboardCorners(), np.float64)[np.ravel(ids)]
        return known, np.asarray(pixels, np.float64).reshape(-1, 2)

    def _board(self, cv2: ModuleType):  # type: ignore[no-untyped-def]  # OpenCV's own class
        name = f"DICT_{self.dictionary.upper()}"
        if not hasattr(cv2.aruco, name):
            raise BadInput(self.dictionary, path="--dictionary", expected="4X4_50, 5X5_100 …")
        markers = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))
        return cv2.aruco.CharucoBoard((self.across, self.down), self.square, self.marker, markers)


def sights(board: MarkerBoard, pictures: Sequence[Picture], hands: Sequence[Array], focal: Array) -> list[BoardSight]:
    """Of the pictures on which the board is seen; `focal`: the camera's matrix."""
    cv2, found = opencv(), []
    for picture, hand in zip(pictures, hands, strict=True):
        seen = board.corners(picture)
        if seen is None:
            continue
        fine, turn, place = cv2.solvePnP(*seen, focal, None)
        if fine:
            found.append(BoardSight(hand, pose(np.concatenate([np.ravel(turn), np.ravel(place)])), *seen))
    return found


def camera_matrix(board: MarkerBoard, pictures: Sequence[Picture]) -> Array:
    """From the same pictures, without distortion. Raises `BadInput` where too few show the board."""
    cv2 = opencv()
    seen = [corners for picture in pictures if (corners := board.corners(picture)) is not None]
    if len(seen) < CORNERS:
        raise BadInput(coded("plugin.few_boards", n=len(seen)), expected=coded("plugin.least_boards", n=CORNERS))
    height, width = pictures[0].shape[:2]
    fixed = cv2.CALIB_FIX_K1 | cv2.CALIB_FIX_K2 | cv2.CALIB_FIX_K3 | cv2.CALIB_ZERO_TANGENT_DIST
    on, at = ([part.astype(np.float32) for part in parts] for parts in zip(*seen, strict=True))
    _, matrix, *_ = cv2.calibrateCamera(on, at, (width, height), None, None, flags=fixed)
    return np.asarray(matrix, float)


def opencv() -> ModuleType:
    with needs("calibration", op="robot hand-eye"):
        import cv2
    module: ModuleType = cv2
    return module
