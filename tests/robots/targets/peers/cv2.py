"""Stand-in for OpenCV's VideoCapture: a picture each 20 ms at "test:WIDTHxHEIGHT", nothing at other devices."""

import time

import numpy as np

CAP_PROP_FRAME_WIDTH, CAP_PROP_FRAME_HEIGHT, CAP_PROP_FPS = 3, 4, 5
COLOR_BGR2RGB = 4


class VideoCapture:
    frozen = False
    missed = 0  # reads without a picture

    def __init__(self, device):
        self._size = (48, 64) if str(device).startswith("test:") else None

    def isOpened(self):
        return self._size is not None

    def set(self, what, value):
        return True

    def read(self):
        time.sleep(0.02)
        if VideoCapture.frozen:
            VideoCapture.missed += 1
            return False, None
        return True, np.full((*self._size, 3), (10, 20, 30), np.uint8)

    def release(self):
        return


def cvtColor(picture, code):
    assert code == COLOR_BGR2RGB
    return picture[..., ::-1]
