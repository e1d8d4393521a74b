"""The kind of a piece of furniture by what a page calls it, in English or Chinese."""

from __future__ import annotations

import re

from worldfs.base.model import Thing

BASKET_WORDS = ("basket", "bin", "tray", "crate", "container", "篮", "筐", "托盘", "容器")
REGION_WORDS = ("region", "zone", "area", "spot", "区域", "区")
DRAWER_WORDS = ("drawer", "drawers", "抽屉")
CHEST_WORDS = ("chest", "lid", "盖子", "箱盖", "带盖")
BLOCK_WORDS = ("wall", "obstacle", "shelf", "cabinet", "墙", "障碍", "柜", "架")
_FURNITURE_WORDS = (
    ("drawer", DRAWER_WORDS), ("chest", CHEST_WORDS), ("basket", BASKET_WORDS), ("region", REGION_WORDS),
    ("box", BLOCK_WORDS),
)  # fmt: skip
_LATIN = re.compile(r"[a-z]+")


def words_of(text: str) -> set[str]:
    """Latin words in lower case, a plural's singular with it."""
    found = set(_LATIN.findall(text.lower()))
    return found | {word[:-1] for word in found if word.endswith("s") and len(word) > 3}


def says(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of these words, English or Chinese, is in the text."""
    latin = words_of(text)
    return any(word in latin if word.isascii() else word in text for word in words)


def furniture_shape(thing: Thing) -> str:
    """basket | drawer | chest | region | box | table: the kind of a piece of furniture; table is the default."""
    if thing.shape in ("basket", "drawer", "chest", "region", "box", "table"):
        return thing.shape
    if thing.is_container:
        return "basket"
    for text in (thing.name, thing.id, thing.category):
        for shape, words in _FURNITURE_WORDS:
            if says(text, words):
                return shape
    return "table"
