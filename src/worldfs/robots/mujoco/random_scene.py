"""Random scenes: a table, a basket and things of five kinds, the same for the same seed."""

from __future__ import annotations

import math

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Relation, RobotState, Scene, Thing

from .scene_layout import TABLE_HEIGHT, TABLE_SIZE


def random_scene(seed: int, count: int = 5, robot_id: str = "franka_001", language: str = "en") -> Scene:
    """A table, a basket and `count` things of the five kinds, reachable and apart: the same for the same seed.

    `language` (en | zh) changes names only; ids, kinds and colour words are the same in both.
    """
    zh = language.startswith("zh")
    table, basket = (CHINESE[w] if zh else w for w in ("table", "basket"))
    rng = np.random.default_rng(seed)
    furniture = (
        Thing(
            "table_01",
            table,
            "furniture",
            (0.45, 0.0, 0.0),
            size=(*TABLE_SIZE, TABLE_HEIGHT),
            shape="table",
        ),
        Thing(
            "basket_01",
            basket,
            "container",
            (0.40, -0.40, 0.045),
            size=(0.30, 0.40, 0.09),
            shape="basket",
            color="#b98a54",
        ),
    )
    hues = list(EXTRA_COLORS)
    objects: list[Thing] = []
    spots: list[tuple[float, float]] = []
    for i in range(count):
        kind, size, mass, color = STANDARD_KINDS[i % len(STANDARD_KINDS)]
        if i >= len(STANDARD_KINDS):
            color = hues[i % len(hues)]
        x, y = _spot(rng, spots, count)
        spots.append((x, y))
        yaw = float(rng.uniform(-math.pi, math.pi)) if kind not in ("apple", "can") else 0.0
        shape = {"apple": "sphere", "can": "cylinder"}.get(kind, "box")
        objects.append(
            Thing(
                f"{kind}_{i // len(STANDARD_KINDS) + 1:02d}",
                CHINESE[color] + CHINESE[kind] if zh else f"{color} {kind}",
                "fruit" if kind == "apple" else kind,
                (x, y, size[2] / 2 + 0.0005),
                (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)),
                size,
                shape,
                mass,
                color,
            )
        )
    relations = tuple(Relation(t.id, "on", "table_01") for t in (*objects, furniture[1]))
    return Scene((RobotState(robot_id),), tuple(objects), furniture, relations)


# name, full extents (m), mass (kg), colour: the five kinds of the reference's trials
STANDARD_KINDS: tuple[tuple[str, tuple[float, float, float], float, str], ...] = (
    ("apple", (0.066, 0.066, 0.066), 0.15, "red"),
    ("cube", (0.05, 0.05, 0.05), 0.1, "blue"),
    ("can", (0.06, 0.06, 0.11), 0.3, "green"),
    ("bar", (0.12, 0.036, 0.04), 0.15, "yellow"),
    ("brick", (0.04, 0.07, 0.1), 0.5, "brown"),
)
EXTRA_COLORS = ("orange", "purple", "cyan", "pink", "white")
CHINESE = {
    "table": "桌子",
    "basket": "篮子",
    "apple": "苹果",
    "cube": "方块",
    "can": "罐子",
    "bar": "长条",
    "brick": "砖块",
    "red": "红色",
    "blue": "蓝色",
    "green": "绿色",
    "yellow": "黄色",
    "brown": "棕色",
    "orange": "橙色",
    "purple": "紫色",
    "cyan": "青色",
    "pink": "粉色",
    "white": "白色",
}


def _spot(rng: np.random.Generator, taken: list[tuple[float, float]], count: int) -> tuple[float, float]:
    apart = 0.17 if count <= 5 else 0.12
    for attempt in range(2000):
        radius, angle = math.sqrt(rng.uniform(0.36**2, 0.62**2)), rng.uniform(-0.12, 1.0)
        x, y = round(radius * math.cos(angle), 4), round(radius * math.sin(angle), 4)
        if y > -0.09 and all(math.hypot(x - a, y - b) > apart * 0.999**attempt for a, b in taken):
            return x, y
    expected, fix = coded("common.at_most", n=12), coded("robot.fewer_objects")
    raise BadInput(coded("robot.table_full", n=count), expected=expected, fix=fix)
