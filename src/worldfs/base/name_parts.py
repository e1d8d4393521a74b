"""The parts of a thing's name: its head, which says what the thing is, and the words beside that, which never do.

The head is the last word of an English name (before "of", "with", a bracket, a comma, a number) and the last signs of a
Chinese one: the opener of "can opener", 垫 of 杯垫.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from .model import Thing
from .word_forms import fold, is_chinese, pieces, plurals

LONGEST: Final = 12  # words of a name; a longer text is no name
DESCRIBING: Final = frozenset(  # words that say how a thing is and never what: at the end of a name they are no head
    re.findall(
        "[a-z]+",
        "red green blue yellow orange purple violet pink white black grey gray silver brown "
        "big large small little tiny tall short long heavy medium mini left right",
    )
)
MATERIALS_ZH: Final = re.compile("玻璃|塑料|不锈钢|陶瓷|木头|金属|橡胶|[木铁钢铜纸布棉皮]")
DENYING: Final = frozenset(("non", "not", "no", "without", "un"))
DENYING_SIGNS: Final = "不非未无"
_LONGEST_TEXT: Final = 200  # characters
_ASIDE: Final = re.compile(r"[(（\[,，:：]|\s[-–—]\s")  # what follows describes: "mug (blue)", "shoe, left"
_AFTER_HEAD: Final = frozenset(("of", "with", "without", "for"))  # "cup of tea", "jar with lid"
_JOINED: Final = frozenset(("in", "on", "to", "by", "at", "from", "under"))  # the head is in doubt
_COUPLED: Final = frozenset(("and", "or", "n"))
_NUMBER_WORDS: Final = frozenset(("no", "nr", "number"))
# One-sign words that stay the head at the end of a longer word (茶杯 is a 杯子), and the words where they do not.
_HEAD_SIGNS: Final = frozenset(
    "杯盒瓶罐箱碗碟篮筐桶袋壶勺叉锅架桌椅柜笔鞋帽伞尺灯垫刷球盖刀铲夹牌扣链钉锤锯钳梳凳盆毯筒管绳套汁车轮袜裤裙靴"
)
_SAME_WITH_ZI: Final = _HEAD_SIGNS | frozenset("桃梨橘李杏豆叶棍珠被梯兔鸭")  # not 瓜: 瓜子
_CLOSED: Final = (
    "冰箱 音箱 邮箱 信箱 风箱 变速箱 气球 地球 眼球 星球 全球 脑袋 骨架 吵架 打架 火锅 背锅 圣杯 主笔 伏笔 交叉 剪刀 "
    "螺丝刀 手套 外套 圈套 膝盖 铺盖 文件夹 皮夹 招牌 王牌 图钉 血管 话筒 听筒 电筒 "
    "墨汁 胆汁 酱汁 卤汁 肉汁 风车 水车 纺车 邮轮 渡轮 "
)
_SIGN_NUMBERS: Final = "一二三四五六七八九十"
_SIGN_NUMBER: Final = re.compile(f"(?<=.)([{_SIGN_NUMBERS}])号$")
DESCRIBING_SIGNS: Final = "红绿蓝黄橙橘紫粉白黑灰银棕褐青大小长短高矮新旧圆方色的左右0123456789号"


@dataclass(frozen=True, slots=True)
class NameParts:
    """`full`: every word, number and Chinese sign. `head` of an English name, `tail`: the Chinese end of one; each ""
    where there is none. `beside`: the other words. `doubtful`: words one of which may be the head, where that is not
    plain, and the contents of "cup of tea". `number`: what the name ends in."""

    full: tuple[str, ...] = ()
    head: str = ""
    tail: str = ""
    beside: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    number: str = ""
    denied: frozenset[str] = frozenset()  # words beside the head that the name denies: sterile, of "non-sterile swab"


def name_parts(name: str) -> NameParts:
    if len(name) > _LONGEST_TEXT:
        return NameParts()
    found = _parts(name)
    denied = frozenset(b for a, b in itertools.pairwise(found.full) if a in DENYING)
    return replace(found, denied=denied) if denied else found


@lru_cache(maxsize=1024)
def _parts(name: str) -> NameParts:
    full = pieces(name)
    if not full or len(full) > LONGEST:
        return NameParts()
    cut = _ASIDE.search(name)
    core = list(pieces(name[: cut.start()])) if cut else list(full)
    core = core or list(full)
    beside, number = set(full) - set(core), ""
    while len(core) > 1 and (core[-1].isdecimal() or (len(core[-1]) == 1 and not is_chinese(core[-1]))
                             or core[-1] in _NUMBER_WORDS):  # fmt: skip
        number = core.pop() if core[-1].isdecimal() else (core.pop(), number)[1]
    while len(core) > 1 and core[-1] in ("left", "right"):
        beside.add(core.pop())
    if is_chinese(core[-1]):
        if counted := _SIGN_NUMBER.search("".join(core)):  # 苹果一号
            number = number or str(_SIGN_NUMBERS.find(counted[1]) + 1 or "")
            core = core[: len(core) - 2]
        start = next((n for n in range(len(core) - 1, -1, -1) if not is_chinese(core[n])), -1) + 1
        return NameParts(full, "", "".join(core[start:]), frozenset({*beside, *core[:start]}), number=number)
    if at := next((n for n, word in enumerate(core) if n and word in _AFTER_HEAD), 0):
        contents = core[-1:] if core[at] == "of" else []  # "the tea" may be the cup of tea
        return NameParts(full, core[at - 1], "", frozenset({*full} - {core[at - 1]}), frozenset(contents), number)
    if len(core) > 2 and core[-2] in _COUPLED:  # "salt and pepper"; an "and gate" is a gate
        return NameParts(full, "", "", frozenset(full), frozenset((core[-1], *core[-3:-2])), number)
    if at := next((n for n, word in enumerate(core[:-1]) if n and word in _JOINED), 0):
        return NameParts(full, "", "", frozenset(full), frozenset((core[-1], core[at - 1])), number)
    if len(core) > 1 and core[-1] in DESCRIBING and core[-1] != "orange":  # "mug blue", "egg white"
        return NameParts(full, "", "", frozenset(full), frozenset(core), number)
    return NameParts(full, core[-1], "", frozenset({*beside, *core[:-1]}), number=number)


@lru_cache(maxsize=1)
def _closed() -> tuple[str, ...]:
    return tuple(_CLOSED.split())


def is_head(word: str, tail: str) -> bool:
    """Whether a word at the end of a Chinese name is its head, and no part of a word that means another thing."""
    if not word or not tail.endswith(word):
        return False
    rest = tail[: -len(word)]
    if rest[-1:] and rest[-1] in DENYING_SIGNS:  # 不合格品 is no 合格品
        return False
    if len(word) > 1 or set(rest) <= set(DESCRIBING_SIGNS):
        return True
    return word in _HEAD_SIGNS and not tail.endswith(_closed())


def names_head(word: str, tail: str) -> bool:
    """`is_head`, with or without 子 on either side: 杯子 and 杯 are the head of 茶杯, and 杯 of 玻璃杯子."""
    bare, short = _without_zi(word), _without_zi(tail)
    return is_head(word, tail) or (word != bare and is_head(bare, tail)) or (short != tail and is_head(bare, short))


def _without_zi(word: str) -> str:
    return word[:-1] if len(word) > 1 and word[-1] == "子" and word[-2] in _SAME_WITH_ZI else word


def may_be_head(word: str, tail: str) -> bool:
    """Whether a name ends in the word without 子, so that it may be its head: 夹子 of 领带夹."""
    return tail.endswith((word, word.removesuffix("子") or word))


def bare_name(tail: str) -> str:
    """A Chinese name without the colours, sizes and numbers before its head."""
    return tail.lstrip(DESCRIBING_SIGNS) or tail


def is_headed(name: str, word: str) -> bool:
    """Whether the word, in the singular or the plural, is the head of the name."""
    parts, said = name_parts(name), fold(word)
    if is_chinese(said):
        return bool(parts.tail) and names_head(said, parts.tail)
    return bool(parts.head) and said in (parts.head, *plurals(parts.head))


def called(thing: Thing) -> str:
    """The thing's name; without one the words of its id."""
    return thing.name or re.sub(r"[\W_\d]+", " ", thing.id).strip()


def is_called(thing: Thing, words: Iterable[str]) -> bool:
    """Whether one of the words is the head of the thing's name, or its category; "can opener" is no can."""
    name = called(thing)
    parts = name_parts(name)
    return any(
        is_headed(name, word) or (is_headed(thing.category, word) and not _is_beside(word, parts)) for word in words
    )


def _is_beside(word: str, parts: NameParts) -> bool:
    return fold(word) in parts.beside or (bool(parts.tail) and fold(word) in parts.tail)


def fits_label(label: str, thing: Thing, facts: str = "") -> bool:
    """Whether a label names a thing: its last word is what the thing is called, and its others are in the name, the
    colour or the facts."""
    said, parts = pieces(label), name_parts(called(thing))
    if not said or not parts.full:
        return False
    if said == parts.full:
        return True
    if is_chinese(said[-1]):
        return is_called(thing, ("".join(piece for piece in said if is_chinese(piece)),))
    known = {*parts.beside, *pieces(f"{thing.color} {facts}"), "the", "a", "an"}
    return is_called(thing, said[-1:]) and all(piece in known for piece in said[:-1])
