"""Sensor words: what a printed name gives, as one alias table (workspace D31)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .prose import without_brackets

ALIASES: dict[str, tuple[str, ...]] = {
    "rgb d camera": ("rgb_camera", "depth_camera"),
    "rgbd camera": ("rgb_camera", "depth_camera"),
    "rgb d": ("rgb_camera", "depth_camera"),
    "rgbd": ("rgb_camera", "depth_camera"),
    "深度彩色相机": ("rgb_camera", "depth_camera"),
    "rgb d 相机": ("rgb_camera", "depth_camera"),
    "rgb d 摄像头": ("rgb_camera", "depth_camera"),
    "rgb camera": ("rgb_camera",),
    "rgb 相机": ("rgb_camera",),
    "rgb": ("rgb_camera",),
    "color camera": ("rgb_camera",),
    "colour camera": ("rgb_camera",),
    "webcam": ("rgb_camera",),
    "彩色相机": ("rgb_camera",),
    "摄像头": ("rgb_camera",),
    "depth camera": ("depth_camera",),
    "depth sensor": ("depth_camera",),
    "深度相机": ("depth_camera",),
    "joint encoders": ("joint_states",),
    "joint encoder": ("joint_states",),
    "joint states": ("joint_states",),
    "joint state": ("joint_states",),
    "proprioception": ("joint_states",),
    "proprio": ("joint_states",),
    "关节编码器": ("joint_states",),
    "force torque sensor": ("force_torque",),
    "force torque": ("force_torque",),
    "力矩传感器": ("force_torque",),
    "力 力矩传感器": ("force_torque",),
    "六维力传感器": ("force_torque",),
    "lidar": ("lidar",),
    "laser scanner": ("lidar",),
    "激光雷达": ("lidar",),
    "imu": ("imu",),
    "惯性测量单元": ("imu",),
}
# These name a kind only when nothing else is beside them: an "infrared camera" shows no colour.
ALONE: dict[str, tuple[str, ...]] = {"camera": ("rgb_camera",), "cameras": ("rgb_camera",), "相机": ("rgb_camera",)}
_MOUNTS = frozenset(
    (
        *("front", "rear", "back", "left", "right", "top", "wrist", "head", "chest", "hand", "overhead"),
        *("main", "onboard", "virtual", "mounted", "腕部", "前置", "头部", "手眼"),
    )
)
_LONGEST_FIRST = sorted(ALIASES, key=len, reverse=True)


def words(text: str) -> str:
    """A sensor's name as it is compared: brackets dropped, signs as spaces, lower case."""
    bare = without_brackets(text.casefold(), " ")
    return " ".join(re.sub(r"[\W_]+", " ", bare).split())


def sensor_channels(text: str) -> frozenset[str]:
    """The channels that a printed sensor gives; an unknown word gives only itself."""
    whole = words(text)
    literal = frozenset((text.strip(), whole.replace(" ", "_")))
    for part in dict.fromkeys((whole, words(re.split(r"[:：]", text)[0]))):
        found: set[str] = set()
        rest = f" {part} "
        for alias in _LONGEST_FIRST:
            mark = f" {alias} " if alias.isascii() else alias
            if mark in rest:
                found.update(ALIASES[alias])
                rest = rest.replace(mark, " | ")
        bare = " ".join(w for w in part.split() if w not in _MOUNTS)
        found.update(ALONE.get(bare, ()))
        if found:
            return literal | found
    return literal


def missing_sensors(required: Iterable[str], sensors: Iterable[tuple[str, bool]]) -> list[str]:
    """Which of `required` no ticked sensor gives; requirement words go through the same table."""
    present = frozenset().union(*(sensor_channels(text) for text, ticked in sensors if ticked))
    absent = []
    for word in required:
        channels = ALIASES.get(words(word), (word,))
        if word not in present and not all(channel in present for channel in channels):
            absent.append(word)
    return absent
