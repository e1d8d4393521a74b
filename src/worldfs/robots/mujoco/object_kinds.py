"""An object's probable kind: the words of its id, name and category, in English or Chinese, looked up in a table.

ENVIRONMENT.md names objects ("apple_01", 红苹果) and rarely has sizes. The driver needs them, so it guesses from the
table and publishes the guess: `observe` exports size, shape, mass and colour, so that the next file has them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from worldfs.base.furniture_shapes import says
from worldfs.base.model import Thing
from worldfs.base.name_parts import is_headed

Rgb = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A row: `size` full extents in m, `mass` in kg, `color` a word of `COLORS`."""

    words: tuple[str, ...]
    shape: str
    size: tuple[float, float, float]
    mass: float
    color: str
    category: str


KINDS = (
    ObjectKind(("apple", "苹果"), "sphere", (0.066, 0.066, 0.066), 0.15, "red", "fruit"),
    ObjectKind(("orange", "tangerine", "橙子", "桔子", "橘子"), "sphere", (0.07, 0.07, 0.07), 0.17, "orange", "fruit"),
    ObjectKind(("lemon", "lime", "柠檬"), "sphere", (0.055, 0.055, 0.055), 0.1, "yellow", "fruit"),
    ObjectKind(("peach", "pear", "plum", "桃", "梨", "李子"), "sphere", (0.064, 0.064, 0.064), 0.14, "pink", "fruit"),
    ObjectKind(("banana", "香蕉"), "box", (0.15, 0.034, 0.034), 0.12, "yellow", "fruit"),
    ObjectKind(("bottle", "瓶"), "cylinder", (0.06, 0.06, 0.17), 0.3, "green", "bottle"),
    ObjectKind(("can", "tin", "soda", "cola", "罐", "可乐"), "cylinder", (0.06, 0.06, 0.11), 0.3, "green", "can"),
    ObjectKind(("glass", "玻璃杯"), "cylinder", (0.064, 0.064, 0.1), 0.2, "cyan", "cup"),
    ObjectKind(("cup", "mug", "杯"), "cylinder", (0.07, 0.07, 0.085), 0.2, "white", "cup"),
    ObjectKind(("bowl", "碗"), "cylinder", (0.14, 0.14, 0.05), 0.25, "white", "bowl"),
    ObjectKind(("cylinder", "圆柱"), "cylinder", (0.05, 0.05, 0.08), 0.15, "purple", "cylinder"),
    ObjectKind(("ball", "sphere", "球"), "sphere", (0.06, 0.06, 0.06), 0.1, "blue", "ball"),
    ObjectKind(("brick", "砖"), "box", (0.04, 0.07, 0.1), 0.5, "brown", "brick"),
    ObjectKind(("bar", "stick", "rod", "条", "棒"), "box", (0.12, 0.036, 0.04), 0.15, "yellow", "bar"),
    ObjectKind(("pen", "pencil", "marker", "笔"), "box", (0.14, 0.016, 0.016), 0.03, "blue", "pen"),
    ObjectKind(("book", "书"), "box", (0.14, 0.2, 0.03), 0.4, "purple", "book"),
    ObjectKind(("phone", "手机"), "box", (0.15, 0.07, 0.012), 0.2, "black", "phone"),
    ObjectKind(("cube", "block", "dice", "方块", "积木", "立方"), "box", (0.05, 0.05, 0.05), 0.1, "blue", "cube"),
    ObjectKind(("sponge", "cloth", "rag", "海绵", "抹布"), "box", (0.09, 0.06, 0.035), 0.04, "yellow", "sponge"),
    ObjectKind(("box", "carton", "盒", "箱"), "box", (0.06, 0.06, 0.06), 0.15, "orange", "box"),
    ObjectKind(("fruit", "水果"), "sphere", (0.066, 0.066, 0.066), 0.15, "red", "fruit"),
)
UNKNOWN = ObjectKind((), "box", (0.05, 0.05, 0.05), 0.1, "gray", "object")

COLORS: dict[str, Rgb] = {
    "red": (0.82, 0.13, 0.12),
    "green": (0.18, 0.62, 0.30),
    "blue": (0.14, 0.36, 0.80),
    "yellow": (0.95, 0.77, 0.13),
    "orange": (0.94, 0.50, 0.10),
    "purple": (0.49, 0.25, 0.66),
    "pink": (0.94, 0.58, 0.62),
    "brown": (0.58, 0.31, 0.20),
    "cyan": (0.36, 0.76, 0.82),
    "white": (0.93, 0.93, 0.91),
    "black": (0.10, 0.10, 0.11),
    "gray": (0.55, 0.56, 0.58),
}
COLOR_WORDS = {
    **{word: word for word in COLORS},
    "grey": "gray",
    "violet": "purple",
    "红": "red",
    "绿": "green",
    "蓝": "blue",
    "黄": "yellow",
    "橙色": "orange",
    "紫": "purple",
    "粉": "pink",
    "棕": "brown",
    "褐": "brown",
    "青": "cyan",
    "白": "white",
    "黑": "black",
    "灰": "gray",
}


def kind_of(thing: Thing) -> ObjectKind:
    """The first match of the heads of name, id, category ("can opener" is no can); `UNKNOWN` when none matches."""
    for text in (thing.name, re.sub(r"[_\d]+", " ", thing.id), thing.category):
        for kind in KINDS:
            if any(is_headed(text, word) for word in kind.words):
                return kind
    return UNKNOWN


def color_of(thing: Thing, otherwise: str) -> str:
    """The thing's own colour, else a colour word of its name or id, else `otherwise`."""
    if thing.color:
        return thing.color
    for text in (thing.name, thing.id):
        for word, color in COLOR_WORDS.items():
            # "orange" names the fruit as well; the fruit's own row then has its colour
            if says(text, (word,)) and not (word == "orange" and otherwise != "orange"):
                return color
    return otherwise


def rgb(color: str) -> Rgb:
    """Red, green, blue in 0…1 for a colour word (English or Chinese) or "#rrggbb"; grey for anything else."""
    text = color.strip().lower()
    if re.fullmatch(r"#[0-9a-f]{6}", text):
        return int(text[1:3], 16) / 255, int(text[3:5], 16) / 255, int(text[5:7], 16) / 255
    for word, name in COLOR_WORDS.items():
        if word in text:
            return COLORS[name]
    return COLORS["gray"]


def completed(thing: Thing) -> Thing:
    """`thing` with missing shape, size, mass, colour and category filled in."""
    kind = kind_of(thing)
    shape = thing.shape if thing.shape in ("sphere", "box", "cylinder") else kind.shape
    size = tuple(float(v) for v in thing.size)
    if len(size) != 3 or min(size) <= 0:
        size = kind.size if shape == kind.shape else (min(kind.size),) * 3
    if shape == "sphere":
        size = (max(size),) * 3
    elif shape == "cylinder":
        size = (max(size[:2]), max(size[:2]), size[2])
    return replace(
        thing,
        shape=shape,
        size=size,
        mass=thing.mass if thing.mass > 0 else kind.mass,
        color=color_of(thing, kind.color),
        category=thing.category or kind.category,
    )
