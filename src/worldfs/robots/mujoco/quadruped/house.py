"""A house made up for a robot that walks: two rooms, furniture, a ball; the same for the same seed."""

from __future__ import annotations

import numpy as np

from worldfs.base.model import RobotState, Scene, Thing

HEIGHT = 1.0  # m, of walls and the door: low, so that a camera sees over them
# id, English, Chinese, kind, shape, middle (of a table: of its top), full extents (m), colour
_PIECES = (
    ("wall_north", "north wall", "北墙", "wall", "box", (0.0, 3.05, 0.5), (8.2, 0.1, HEIGHT), "white"),
    ("wall_south", "south wall", "南墙", "wall", "box", (0.0, -3.05, 0.5), (8.2, 0.1, HEIGHT), "white"),
    ("wall_west", "west wall", "西墙", "wall", "box", (-4.05, 0.0, 0.5), (0.1, 6.0, HEIGHT), "white"),
    ("wall_east", "east wall", "东墙", "wall", "box", (4.05, 0.0, 0.5), (0.1, 6.0, HEIGHT), "white"),
    ("wall_middle", "middle wall", "隔墙", "wall", "box", (1.0, -1.5, 0.5), (0.1, 3.0, HEIGHT), "white"),
    ("wall_short", "short wall", "短墙", "wall", "box", (1.0, 2.3, 0.5), (0.1, 1.4, HEIGHT), "white"),
    ("door", "door", "门", "door", "box", (-3.96, 0.0, 0.5), (0.06, 0.9, HEIGHT), "brown"),
    ("kitchen_table", "kitchen table", "厨房的桌子", "table", "table", (2.7, -0.9, 0.75), (1.2, 0.8, 0.75), ""),
    ("fridge", "fridge", "冰箱", "fridge", "box", (3.6, 2.55, 0.5), (0.6, 0.6, HEIGHT), "gray"),
    ("sofa", "sofa", "沙发", "sofa", "box", (-2.2, -2.45, 0.22), (1.9, 0.85, 0.44), "blue"),
    ("shelf", "shelf", "书架", "shelf", "box", (-2.2, 2.75, 0.5), (1.6, 0.4, HEIGHT), "brown"),
    ("charging_station", "charging station", "充电站", "dock", "region", (0.0, 2.4, 0.001), (0.9, 0.8, 0.002), "green"),
)  # fmt: skip
CARTON = (0.34, 0.34, 0.34)
_SPOTS = ((-2.6, 0.8), (-1.2, -0.9), (2.2, 1.9), (0.2, -2.1), (-1.1, 1.5))  # where a carton leaves ways to everything


def house(seed: int, count: int, robot_id: str, language: str) -> Scene:
    """`count` (at most 5) cartons stand in the way, where the seed says. `language` (en | zh) changes names only."""
    zh = language.startswith("zh")
    furniture = [
        Thing(id, chinese if zh else english, kind, at, size=size, shape=shape, color=color)
        for id, english, chinese, kind, shape, at, size, color in _PIECES
    ]
    rng = np.random.default_rng(seed)
    for n, spot in enumerate(sorted(int(i) for i in rng.permutation(len(_SPOTS))[:count])):
        x, y = (round(v + float(rng.uniform(-0.15, 0.15)), 3) for v in _SPOTS[spot])
        name = f"纸箱{n + 1}" if zh else f"carton {n + 1}"
        furniture.append(
            Thing(
                f"carton_{n + 1:02d}", name, "carton", (x, y, CARTON[2] / 2), size=CARTON, shape="box", color="orange"
            )
        )
    ball = Thing("ball_01", "红球" if zh else "red ball", "ball", (-1.9, -0.3, 0.11), size=(0.22,) * 3, shape="sphere",
                 mass=0.4, color="red")  # fmt: skip
    return Scene((RobotState(robot_id),), (ball,), tuple(furniture))
