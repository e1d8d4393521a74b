"""The parts of a thing's name: its head, which says what the thing is, and the words beside that, which never do.

The head is the last word of an English name (before "of", "with", "about", a bracket, a comma, a number, a size) and
the last signs of a Chinese one: the opener of "can opener", 垫 of 杯垫.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Final

from .model import Thing
from .word_forms import fold, is_chinese, pieces, plurals, singulars, text_pieces


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LONGEST: Final = 12  # words of a name; a longer text is no name
DESCRIBING: Final = frozenset(  # words that say how a thing is and never what: at the end of a name they are no head
    re.findall(
        "[a-z]+",
        "red green blue yellow orange purple violet pink white black grey gray silver gold brown "
        "big large small little tiny tall short long heavy medium mini left right",
    )
)
MATERIALS_ZH: Final = re.compile("玻璃|塑料|不锈钢|陶瓷|木头|金属|橡胶|[木铁钢铜纸布棉皮]")
DENYING: Final = frozenset(("non", "not", "no", "without", "un"))
DENYING_SIGNS: Final = "不非未无"
_DENYING_NEXT: Final = DENYING | _set("never anti half semi pseudo mock fake faux imitation low zero")
_DENYING_LAST: Final = frozenset(("free",))  # "sugar free cookie"
_DEGREES: Final = _set("over under extra ultra super very too almost nearly quite off")  # before a state: "over ripe"
_BOUND_NEXT: Final = (
    _DENYING_NEXT
    | _DEGREES
    | _set(  # joined by a hyphen they make another word of the next
        "de dis ex pre post mis out in sub counter contra multi high part quarter quasi near well ill re"
    )
)
_BOUND_LAST: Final = _DENYING_LAST | _set(  # and these of the one before
    "less proof resistant repellent like look effect style friendly safe tight ready ish"
)
_LONGEST_TEXT: Final = 200  # characters
_ASIDE: Final = re.compile(  # what follows describes: "mug (blue)", "shoe, left", 书《红楼梦》
    r"[(（\[,，:：]|\s[-–—]\s|《[^《》]+》$|「[^「」]+」$|『[^『』]+』$|“[^“”]+”$|\s\"[^\"]+\"$"
)
_HYPHENS: Final = frozenset("-‐‑")
_AFTER_HEAD: Final = _set(  # "cup of tea", "jar with lid", "book about cats"
    "of with without for about containing saying showing depicting featuring against labelled labeled marked titled "
    "called named that which w"
)
_BEFORE_ONE: Final = frozenset(("per", "plus", "versus", "vs", "from"))  # the same where one word ends the name
_MADE: Final = _set(  # "cup made of tin", "bag full of screws", "box painted red"
    "made full filled covered used meant left written painted stained packed wrapped tied attached printed signed "
    "designed drawn carved coated lined shaped dyed"
)
HOLDING_LINKS: Final = _set("of containing plus full filled covered packed lined")
_ABOUT_ANOTHER: Final = _set(  # after two nouns joined so mostly the head: "cup of tea coaster", "Bag of Bones novel"
    "coaster opener clip novel poster holder stand rack lid cap cover tag label sticker magnet dispenser strainer "
    "infuser book card case mug shirt dvd cd"
)
_JOINED: Final = frozenset(("in", "on", "to", "by", "at", "from", "under", "like"))  # the head is in doubt
_TOLD_BY: Final = frozenset(("to", "by", "from", "the"))  # of these the first of two names that begin alike is plain
_NO_HEAD: Final = frozenset(  # "not for sale tag", "out of office card"
    ("not", "all", "out", "how", "and", "or", "next", "up", "over", "ready", "in", "on", "off", "get")
)
_COUPLED: Final = frozenset(("and", "or", "n"))
_APART: Final = _AFTER_HEAD | _JOINED | _COUPLED | _set("the a an my")  # no word before one is said of what follows
_NUMBER_WORDS: Final = frozenset(("no", "nr", "number"))
_SIZED_BY: Final = frozenset(("size", "vol", "volume", "version", "edition"))  # with a number or a letter: "size 4"
_SORTED_BY: Final = frozenset(("model", "type", "series", "class", "mark", "part", "style", "shade", "batch", "lot"))
_COUNTED: Final = "one two three four five six seven eight nine ten"
_COUNTS: Final = {word: str(n) for n, word in enumerate(_COUNTED.split(), 1)}
SIZES: Final = _set("aa aaa xs xxs xl xxl xxxl ii iii iv vi vii viii ix xi xii xiii xiv")
_UNITS: Final = _set(
    "ml cl dl mg kg lb oz cm mm km inch inches in ft kw mah gb mb tb hz grit watt watts volt volts metre metres meter "
    "meters litre litres liter liters gram grams kilo kilos ounce ounces foot feet yard yards pint pints pieces pcs "
    "sheets pages ply percent carat denier"
)
_ACRONYMS: Final = _set("tv pc cd dvd ssd hdd ufo pda cpu gpu ram pcb vcr nas cv ox")  # things: "desk PC" is a PC
_STANDARDS: Final = _set("usb led lcd gps sim id hdmi nfc rfid")  # "cable USB"
STATES: Final = _set(
    "new old used clean dirty full empty closed wide narrow thick thin flat soft hard broken chipped upper lower "
    "pro max plus ultra lite zero classic original decaf"
)
_SHADES: Final = _set("light dark pale bright deep extra very")
_LETTERS: Final = 4  # of a designator in capitals: "AB", "CR2"
# One-sign words that stay the head at the end of a longer word (茶杯 is a 杯子), and the words where they do not.
_HEAD_SIGNS: Final = frozenset(
    "杯盒瓶罐箱碗碟篮筐桶袋壶勺叉锅架桌椅柜笔鞋帽伞尺灯垫刷球盖刀铲夹牌扣链钉锤锯钳梳凳盆毯筒管绳套汁车轮袜裤裙靴"
)
_SAME_WITH_ZI: Final = _HEAD_SIGNS | frozenset("桃梨橘李杏豆叶棍珠被梯兔鸭")  # not 瓜: 瓜子
_CLOSED: Final = (
    "冰箱 音箱 邮箱 信箱 风箱 变速箱 气球 地球 眼球 星球 全球 脑袋 骨架 吵架 打架 火锅 背锅 圣杯 主笔 伏笔 交叉 剪刀 "
    "螺丝刀 手套 外套 圈套 膝盖 铺盖 文件夹 皮夹 招牌 王牌 图钉 血管 话筒 听筒 电筒 "
    "墨汁 胆汁 酱汁 卤汁 肉汁 风车 水车 纺车 邮轮 渡轮 "
    "卷笔刀 转笔刀 削笔刀 铅笔刀 指甲刀 剃须刀 刮胡刀 剃刀 锉刀 冰刀 瓦刀 笔帽 键帽 螺帽 奖杯 耳钉 拉链 "
)
_SIGN_NUMBERS: Final = "一二三四五六七八九十"
_SIGN_AMOUNTS: Final = frozenset(_SIGN_NUMBERS + "两百半")
_NUMBERED_ZH: Final = re.compile(  # 苹果一号, 电池5号, 书上册
    rf"(?<=.)(?:第?(\d{{1,6}}|[{_SIGN_NUMBERS}])[号册代版集卷]|[上中下][册集卷]|第?(?:[a-z]|[一二三])[款型]|[a-z]码)$"
)
_MARKED_ZH: Final = re.compile(  # 盒子甲, 杯子大号, 杯子红: in doubt, as 指甲 and 口红 are names
    rf"(?<=.)(?:[甲乙丙丁戊{_SIGN_NUMBERS}]|[特加]?[大中小][号码]|[新旧老]款|零度|[无低]糖|原味|[大小左右上下前后新旧长短]|[深浅]?[红绿蓝黄橙橘紫粉白黑灰银棕]色?)$"
)
_SIZED_ZH: Final = re.compile(  # 瓶子250毫升, 线 一米
    r"(?<=.)(?:\d|[一二两三四五六七八九十百半])"
    r"(毫升|公升|升|厘米|毫米|公分|英寸|英尺|米|寸|毫克|千克|公斤|克|斤|瓦|伏|目|毫安)$"
)
_LONGEST_SORT: Final = 2  # words after a number within a name that may tell which: "sandpaper 80 very fine"
STATE_SIGNS: Final = "空满干湿冷热脏净破厚薄粗细软硬轻重甜咸酸苦辣鲜水茶酒米肉菜花奶糖油盐药"  # words before a noun
BINDING_SIGNS: Final = "无不非未反防仿半免伪假准超抗去脱"  # never a word of their own there
DESCRIBING_SIGNS: Final = "红绿蓝黄橙橘紫粉白黑灰银棕褐青大小长短高矮新旧圆方色的左右0123456789号"


class Ending(IntEnum):
    """How plain it is that the last word of a name tells which, and not what: "AB", "red", "12"."""

    NONE = 0
    NOUN = 1  # "cable USB": it may be meant alone, "the USB"
    TITLE = 2  # "glue Pattex", "coat Anna", 毛巾 酒店: a brand, an owner or a title, which may be a noun as well
    LETTERS = 3  # "shirt SM": it may be a noun of its own, as in "cable TV"
    DESCRIBING = 4  # "cup red", 盒子甲, "key to the shed"
    NUMBER = 5


@dataclass(frozen=True, slots=True)
class NameParts:
    """`full`: every word, number and Chinese sign. `head` of an English name, `tail`: the Chinese end of one; each ""
    where there is none. `beside`: the other words. `doubtful`: words one of which may be the head, where that is not
    plain, and the contents of "cup of tea". `number`: what the name ends in.

    `stem`: the words before an ending that tells which, () without one. `first`: the parts where that ending is in
    doubt and yet no part of the head; several things of a scene with one stem settle it."""

    full: tuple[str, ...] = ()
    head: str = ""
    tail: str = ""
    beside: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    number: str = ""
    denied: frozenset[tuple[str, str]] = frozenset()  # words that alone say nothing of it, each with what makes it so
    stem: tuple[str, ...] = ()
    ending: Ending = Ending.NONE
    first: NameParts | None = None


def name_parts(name: str) -> NameParts:
    if len(name) > _LONGEST_TEXT:
        return NameParts()
    found = _parts(name)
    denied = _denied(name, found)
    return replace(found, denied=found.denied | denied) if denied else found


def _denied(name: str, found: NameParts) -> frozenset[tuple[str, str]]:
    """The words that a name denies, or has only as the half of another word, with the other half: sterile of
    "non-sterile swab", ripe of "over-ripe banana", sugar of "sugar-free cookie"."""
    told, denied = text_pieces(name), set[tuple[str, str]]()
    start = 0  # of the words that hyphens join: "not-for-sale book"
    for n, (one, two) in enumerate(itertools.pairwise(told)):
        joined = name[one.end : two.start] in _HYPHENS
        start = start if joined else n + 1
        if joined and start < n and told[start].text in DENYING:
            denied.add((two.text, told[start].text))
        states = two.text in DESCRIBING | STATES
        if one.text in (_BOUND_NEXT if joined else _DENYING_NEXT | (_DEGREES if states else frozenset())):
            denied.add((two.text, one.text))
        if two.text in (_BOUND_LAST if joined else _DENYING_LAST):
            denied.add((one.text, two.text))
        if one.text in _DENYING_LAST and two.text in ("of", "from"):
            denied |= {(piece.text, one.text) for piece in told if piece.start > two.start}
    return frozenset(pair for pair in denied if pair[0] != found.head)


def is_denied(word: str, said: Iterable[str], denied: Iterable[tuple[str, str]]) -> bool:
    """Whether the word alone says nothing of a thing, and what makes it so is not said with it."""
    told = set(said)
    return any(one == word and told.isdisjoint(singulars(other)) for one, other in denied)


@lru_cache(maxsize=1024)
def _parts(name: str) -> NameParts:
    full = pieces(name)
    if not full or len(full) > LONGEST:
        return NameParts()
    cut = _ASIDE.search(name)
    core = list(pieces(name[: cut.start()])) if cut else list(full)
    core = core or list(full)
    beside, all_of = set(full) - set(core), len(core)
    number = _unnumbered(core)
    beside |= SIZES & {*full[len(core) :]}  # "the XL shirt"
    while len(core) > 1 and core[-1] in ("left", "right"):
        beside.add(core.pop())
    found = replace(_of_core(full, core, frozenset(beside), _hyphened(name)), number=number)
    if len(core) < all_of:
        found = replace(found, stem=tuple(core), ending=Ending.NUMBER)
    ends = found.tail or found.head == core[-1]
    return _perhaps_marked(name, found, core) if ends else found


def _unnumbered(core: list[str]) -> str:
    """Takes numbers, single letters and sizes from the end: "mug 2", "shirt XL", "bottle 500 ml", 电池5号."""
    number, all_of = "", len(core)
    while len(core) > 1:
        last = core[-1]
        if last.isdecimal():
            number = core.pop()
        elif _tells_which(core) or (last in _SIZED_BY and len(core) < all_of):
            core.pop()
        elif is_chinese(last) and (sized := _SIZED_ZH.search("".join(core))) and len(sized[1]) < len(core):
            for _ in sized[1]:
                core.pop()
            while len(core) > 1 and core[-1] in _SIGN_AMOUNTS:
                core.pop()
        elif last in _COUNTS and core[-2] not in _NO_HEAD | _JOINED | _AFTER_HEAD | DENYING:
            number = number or _COUNTS[last]
            core.pop()
        elif found := _NUMBERED_ZH.search("".join(core)) if is_chinese(last) else None:
            said = found[1] or ""
            number = number or (said if said.isdecimal() else str(_SIGN_NUMBERS.find(said) + 1 or "") if said else "")
            size = len(found[0])
            while size > 0 and len(core) > 1:
                size -= len(core.pop())
        else:
            break
    return number


def _tells_which(core: list[str]) -> bool:
    """Whether a name ends in a letter, a size, or a measure after its number."""
    last = core[-1]
    measure = last in _UNITS and core[-2].isdecimal() and len(core) > 2
    return measure or last in _NUMBER_WORDS | SIZES or (len(last) == 1 and not is_chinese(last))


def _of_core(full: tuple[str, ...], core: list[str], beside: frozenset[str], hyphened: frozenset[int]) -> NameParts:
    """The parts of a name whose last word is no number."""
    if is_chinese(core[-1]):
        start = next((n for n in range(len(core) - 1, -1, -1) if not is_chinese(core[n])), -1) + 1
        return NameParts(full, "", "".join(core[start:]), frozenset({*beside, *core[:start]}))
    links = [n for n, word in enumerate(core) if n and core[n - 1] not in _NO_HEAD and n not in hyphened]
    at = next((n for n in links if core[n] in _AFTER_HEAD or _is_link(core, n)), 0)
    if core[at - 1 : at + 1] == ["pair", "of"] and at < len(core) - 1:  # "pair of pliers"
        return _of_core(full, core[at + 1 :], beside | {*core[: at + 1]}, frozenset(n - at - 1 for n in hyphened))
    if at and core[at] in ("of", "about") and _is_of_another(core[at + 1 :]):
        return NameParts(full, "", "", frozenset(full), frozenset((core[-1], core[at - 1])))
    if at and at < len(core) - 1:
        contents = core[-1:] if core[at] in HOLDING_LINKS else []  # "the tea" may be the cup of tea
        words, denied = frozenset({*full} - {core[at - 1]}), _said_of_another(full, core[at + 1 :])
        return NameParts(full, core[at - 1], "", words, frozenset(contents), denied=denied)
    if len(core) > 2 and core[-2] in _COUPLED:  # "salt and pepper"; an "and gate" is a gate
        return NameParts(full, "", "", frozenset(full), frozenset((core[-1], *core[-3:-2])))
    if at := next((n for n in links if core[n] in _JOINED and n < len(core) - 1), 0):
        denied = _said_of_another(full, core[at + 1 :])
        first = NameParts(full, core[at - 1], "", frozenset(full) - {core[at - 1]}, denied=denied)
        told = core[at] in _TOLD_BY or core[at + 1] in _TOLD_BY
        joined = NameParts(full, "", "", frozenset(full), frozenset((core[-1], core[at - 1])), first=first)
        return replace(joined, stem=tuple(core[:at]), ending=Ending.DESCRIBING) if told else joined
    return NameParts(full, core[-1], "", frozenset({*beside, *core[:-1]}))


def _said_of_another(full: tuple[str, ...], told: list[str]) -> frozenset[tuple[str, str]]:
    """The words after a head that are said of a noun there, each with that noun: hot of "tin of hot peppers"."""
    found, noun = set[tuple[str, str]](), ""
    for word in reversed(told):
        if word in _APART:
            noun = ""
        elif noun and full.count(word) == told.count(word):
            found.add((word, noun))
        else:
            noun = noun or word
    return frozenset(found)


def _is_of_another(told: list[str]) -> bool:
    """May what follows "of" end in the head of the whole name: the coaster of "cup of tea coaster"? Not where its last
    word is described itself: "lid of the coffee mug", "picture of red book"."""
    if len(told) < 2 or told[0] in ("the", "a", "an", "my") or told[-1] not in _ABOUT_ANOTHER:
        return False
    return not told[-2].isdecimal() and told[-2] not in DESCRIBING | STATES | _SHADES


def _is_link(core: list[str], at: int) -> bool:
    """Does what follows only tell of what comes before: "card per person", "bag full of screws"?"""
    if core[at] in _MADE:
        return core[at + 1 : at + 2] != [] and core[at + 1] in _AFTER_HEAD | _JOINED
    return core[at] in _BEFORE_ONE and at == len(core) - 2


def _hyphened(name: str) -> frozenset[int]:
    """The words that a hyphen joins: they are one word, and no grammar ("all-in-one tool")."""
    told = text_pieces(name)
    joined = [n for n, (a, b) in enumerate(itertools.pairwise(told)) if name[a.end : b.start] in _HYPHENS]
    return frozenset(n + side for n in joined for side in (0, 1))


def _perhaps_marked(name: str, found: NameParts, core: list[str]) -> NameParts:
    """The parts, with those that hold where the last words only tell which: "cup red", "glue Pattex", 盒子甲."""
    stems, ending = _stems(name, core, len(core) < len(found.full))
    stems = [stem for stem in stems if stem]  # of "red" and 12号 nothing is left
    plain = DESCRIBING | STATES | _SHADES | _MADE | _SIZED_BY
    heads: set[str] = set()
    first = None
    for stem in stems:
        while len(stem) > 1 and stem[-1] in plain:  # "mug dark blue"
            stem.pop()
        number = _unnumbered(stem)
        first = replace(_of_core(found.full, stem, frozenset(found.full) - set(stem), frozenset()), number=number)
        sort = ending is Ending.DESCRIBING and len(first.tail) == 1  # 蛋白
        heads |= {first.head or first.tail} - {""} if not sort else set()
    if first is None:
        return found
    if ending <= Ending.LETTERS and core[-1] in _ACRONYMS and len(core) == len(found.full):
        heads = set()
    if ending is Ending.DESCRIBING and found.head:  # "mug blue", "egg white"
        found = replace(found, head="", beside=frozenset(found.full), doubtful=found.doubtful | {found.head})
    return replace(found, doubtful=found.doubtful | heads, stem=tuple(stems[-1]), ending=ending, first=first)


def _stems(name: str, core: list[str], is_cut: bool) -> tuple[list[list[str]], Ending]:
    """What is left of a name without words at its end that may only tell which; of several ways the shortest last.

    `is_cut`: a number or a letter was taken from its end."""
    last = core[-1]
    if is_chinese(last):
        tail = "".join(itertools.takewhile(is_chinese, reversed(core)))[::-1]
        if marked := _MARKED_ZH.search(tail):
            return [core[: len(core) - len(marked[0])]], Ending.DESCRIBING
        gaps = _gaps(name, core)
        return [core[:at] for at in (*gaps, *_sorts(core))], Ending.TITLE if gaps else Ending.LETTERS
    if last in DESCRIBING | STATES and last != "orange":
        return [core[:-1]], Ending.DESCRIBING
    if len(core) > 1 and (_is_lettered(name, core) or (is_cut and last in _SORTED_BY)):
        return [core[:-1]], Ending.NOUN if last in _STANDARDS else Ending.LETTERS
    titles = _titles(name, core)
    return [core[:at] for at in (*titles, *_sorts(core))], Ending.TITLE if titles else Ending.LETTERS


def _gaps(name: str, core: list[str]) -> list[int]:
    """Where a space parts two words of a Chinese name, the last first: 毛巾 酒店; a colour before it tells no kind."""
    told = text_pieces(name)[: len(core)]
    found = [n for n, (a, b) in enumerate(itertools.pairwise(told), 1)
             if is_chinese(a.text) and is_chinese(b.text) and name[a.end : b.start].isspace()]  # fmt: skip
    named = [at for at in found if MATERIALS_ZH.sub("", "".join(core[:at])).strip(DESCRIBING_SIGNS)]
    return named[::-1]


def _titles(name: str, core: list[str]) -> list[int]:
    """Where a brand, an owner or a title may begin: "glue Pattex", "toy iPhone", 杯子 Anna."""
    written = [name[piece.start : piece.end] for piece in text_pieces(name)[: len(core)]]
    at = len(core)
    while at > 1 and not is_chinese(written[at - 1]) and (written[at - 1] != written[at - 1].lower()):
        at -= 1
    if at > 1 and at == len(core) and is_chinese(written[-2]):  # 胶水 pattex
        return [at - 1]
    return [at] if 0 < at < len(core) and (written[at - 1].islower() or is_chinese(written[at - 1])) else []


def _sorts(core: list[str]) -> list[int]:
    """Where a number in the name begins what may tell which: "tape 12 roll", 纸巾3层."""
    at = next((n for n in range(len(core) - 1, 0, -1) if core[n].isdecimal()), 0)
    near = 0 < len(core) - at - 1 <= _LONGEST_SORT
    return [at] if at and near and is_chinese(core[at - 1]) == is_chinese(core[-1]) else []


def _is_lettered(name: str, core: list[str]) -> bool:
    """Whether the name ends in letters that may tell which: "battery CR", "iPhone SE"; of "desk PC" others decide."""
    last = core[-1]
    if not (last.isalpha() and last.isascii()):
        return False
    if last in _ACRONYMS | _STANDARDS:
        return True
    written = next((word for word in reversed(re.findall("[A-Za-z]+", name)) if word.lower() == last), "")
    shown = written.isupper() and len(last) <= _LETTERS and not name.isupper()
    return shown or len(last) == 2


@lru_cache(maxsize=1)
def _closed() -> tuple[str, ...]:
    return tuple(_CLOSED.split())


def is_closed(word: str) -> bool:
    """Whether it is a Chinese word that means another thing than its last sign does: 手套."""
    return word in _closed()


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
    own = (piece in known and not is_denied(piece, said, parts.denied) for piece in said[:-1])
    return is_called(thing, said[-1:]) and all(own)
