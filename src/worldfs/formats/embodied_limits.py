"""The limits of EMBODIED.md, in whatever shape a line, a heading or a block gives them (workspace §3.8).

One rule: what stands in a section of limits, or anywhere under a heading or key that names or resembles a limit, is
read as that limit, or is named as unread. So is every line below a heading of rules, or below one that is not known,
unless it has a harmless form (`embodied_rules`). Everywhere else, so is every line that has a number with a unit, a
word that forbids, or an instruction, unless it is a known figure of the body. No list of line shapes decides: every
sign that a line begins with is taken off it first, and the lines of a block are read as those around it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from worldfs.base.model.profile import BASE_FRAME, WORLD_FRAME

from . import embodied_rules as rules
from . import embodied_sections as sections
from . import prose, quantities
from .embodied_states import only_withdraws, withdraws

LIMITS: dict[str, tuple[str, tuple[str, ...]]] = {
    "max_reach": (
        "length",
        (
            *("max reach", "maximum reach", "reach", "arm reach"),
            *("最大臂展", "臂展", "最大工作半径", "工作半径", "最大可达距离"),
        ),
    ),
    "max_payload": (
        "mass",
        (
            *("max payload", "maximum payload", "payload", "payload capacity"),
            *("最大负载", "负载", "最大载荷", "载荷", "额定负载"),
        ),
    ),
    "max_grip_width": (
        "length",
        (
            *("max grip width", "maximum grip width", "grip width", "gripper opening", "max gripper opening"),
            *("gripper width", "max gripper width", "max opening", "gripper stroke", "max grasp width"),
            *("最大抓取宽度", "抓取宽度", "夹爪开度", "最大夹爪开度", "夹爪行程", "夹爪最大开度", "最大开合宽度"),
        ),
    ),
    "min_grip_width": (
        "length",
        (
            *("min grip width", "minimum grip width", "min gripper width", "min grasp width", "min object size"),
            *("最小抓取宽度", "最小夹持宽度", "最小物体尺寸"),
        ),
    ),
    "max_frame_age": (
        "time",
        ("max frame age", "maximum frame age", "frame age", "max picture age", "最大帧龄", "图像最长时限"),
    ),
    "max_speed": (
        "speed",
        ("max speed", "maximum speed", "top speed", "speed limit", "最大速度", "最高速度", "速度上限"),
    ),
    "bounds": (
        "length",
        (
            *("workspace bounds", "workspace", "workspace box", "workspace limits", "workspace range", "bounds"),
            *("工作空间", "工作空间范围", "工作范围", "工作空间边界"),
        ),
    ),
}
_LIMIT = {word: (name, kind) for name, (kind, spellings) in LIMITS.items() for word in spellings}
_JOINED = {word.replace(" ", ""): word for word in _LIMIT}  # maxReach, max-reach
_SIZES = [(len(word), Counter(word)) for word in _LIMIT if len(word) > 3]
# What a label that resembles a limit speaks of, the surest first.
_ABOUT = (
    ("max_frame_age", re.compile(r"(?:frame|picture|image) age|帧龄|图像.{0,4}时限", re.IGNORECASE)),
    ("min_grip_width", re.compile(r"min\w{0,8} (?:grip|grasp|object|open)|最小.{0,2}(?:抓|夹|物)", re.IGNORECASE)),
    (
        "max_grip_width",
        re.compile(
            r"(?:grip|grasp|jaw|finger)\w{0,8} (?:width|open|stroke)|夹爪.{0,3}[开宽行]|抓取宽|开合", re.IGNORECASE
        ),
    ),
    (
        "bounds",
        re.compile(
            r"work ?(?:space|area|range|envelope|zone)|work\w{0,8}pace|\b(?:bounds?|boundar\w{1,8})\b"
            r"|operating (?:area|range)|工作(?:空间|范围|区)|活动(?:空间|范围|区)|边界|可达空间",
            re.IGNORECASE,
        ),
    ),
    (
        "max_payload",
        re.compile(r"pay ?lo|\bload\b|lift|max\w{0,8} (?:weight|mass)|负[载荷重戴]|载[荷重]|最大重量", re.IGNORECASE),
    ),
    ("max_reach", re.compile(r"\brea?e?ch|radius|max\w{0,8} distance|臂展|半径|可达|最大距离", re.IGNORECASE)),
)
_OWN = frozenset(_LIMIT) - {"reach", "payload", "workspace", "bounds"}  # that are no words of other matters, too
_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# How the value of a limit begins.
_QUANTITY = re.compile(r"(?:[~～≈≤<=约\s\[{(（-]|[xyz]\b|∈|:)*(?:\d|nan|inf)", re.IGNORECASE)
# Labels of figures of the body that no order carries, so no order can break them.
_FIGURES = re.compile(
    r"(?:(?:workspace|own|total|net|robot|body) )?(?:weight|volume)|(?:pose |path )?(?:repeatability|accuracy)"
    r"|(?:control )?(?:frequency|rate)|battery(?: life| capacity)?|dof|degrees of freedom|joint [0-9a-z]{1,2}"
    r"|joint (?:ranges?|\d+ range)|(?:工作空间|机身)?体积|自?重量?|(?:重复)?(?:定位)?精度|(?:控制)?频率|自由度"
    r"|续航(?:时间)?|关节\s?\d{0,2}",
    re.IGNORECASE,
)
_RATES = re.compile(r"speed|velocity|accelerat|force|torque|速度|力", re.IGNORECASE)
_MEASURES = re.compile(
    r"(?:height|width|length|depth|dimensions?|size|footprint)|高度?|宽度?|长度?|尺寸", re.IGNORECASE
)
_AXIS = re.compile(
    r"(?:workspace )?([xyz])(?: range| bounds| axis| limits?)?|(?:工作空间)?([xyz])(?:轴)?(?:范围)?", re.IGNORECASE
)
_PLACE_AXIS = re.compile(r"\b[xyz]\s*(?:∈|[≤≥<>])|[≤≥<>]=?\s*[xyz]\b", re.IGNORECASE)  # no pose is written so
_COUNTS = (
    *("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "fifty", "half"),
    *("hundred", "thousand", "few"),
)
_UNITS = (
    r"(?:[cmkdµu]?m(?:et(?:er|re)s?)?|(?:centi|milli|kilo)met(?:er|re)s?|inch(?:es)?|f[eo]*t|yards?|k?mph|rpm|[km]?g|kgs|kilos?"
    r"|(?:kilo|milli)?grams?|grs?|lbs?|pounds?|oz|ounces?|k?N|kgf|newtons?|[NMn]m|deg(?:rees?)?|rad(?:ians?)?|m?s|sec(?:onds?)?"
    r"|milliseconds?|min(?:ute)?s?|h|hours?|stone)(?![A-Za-z³])"
)
_UNITS_ZH = r"(?:[厘毫]?米|公分|[千毫]?克|[公市]?斤|磅|盎司|英[寸尺]|毫?秒|分钟|小时|[弧角]?度|牛顿?)"
_MEASURED = re.compile(
    rf"[\d½¼¾]\s*(?:{_UNITS}|°|{_UNITS_ZH})|\b(?:{'|'.join(_COUNTS)})[ -](?:\w{{1,12}}[ -]){{0,2}}{_UNITS}"
    rf"|[一二两三四五六七八九十半百千]{_UNITS_ZH}|\b[xyz]\s*(?:∈|[≤≥<>])\s*\S{{0,2}}\d",
    re.IGNORECASE,
)
_QUANTITIES = re.compile(rf"[\d½¼¾]\s*(?:{_UNITS}|°|{_UNITS_ZH})", re.IGNORECASE)
_BURDENS = re.compile(  # what only a limit gives in a line on a part of the body
    r"\d\s*(?:[km]?g|kgs|kilos?|(?:kilo)?grams?|lbs?|pounds?|oz|k?N|newtons?|\w{1,3}/s|[千毫]?克|公斤|牛)(?![A-Za-z])"
    r"|\b(?:max\w*|min\w*|at most|up to|under|below|above|over|within|less|more|limit\w*)\b|[≤≥<>]|最[大小]|以[内下上]",
    re.IGNORECASE,
)
_LOADS = re.compile(r"pay ?lo|\b(?:lift|load|carr|grasp|grip)|负[载荷]|载[荷重]|抓|提起", re.IGNORECASE)  # of no sensor
# Of a sentence without a figure. "It has no hand" forbids nothing.
_FORBIDS = re.compile(
    r"\b(?:(?:must|may|shall|should|do) not|(?:must|should|do)n't|must never|never|not (?:allowed|permitted|to)|avoid"
    r"|no[- ]?go|forbid\w*|prohibit\w*|banned|off[- ]limits|hands off|restricted|only"
    r"|(?:keep|stay)s? (?:out|away|clear|off)|keep[- ]?out|nothing (?:\w{1,12}er|over|above|more|but)"
    r"|(?:heavi|light|larg|bigg|small|tall|wid|fast|slow|high|low)er than"
    r"|(?:reduced|lowered|limited|derated|halved|restricted))\b"
    r"|(?<!\bhas )(?<!\bhave )(?<!\bis )(?<!\bare )(?<!\bwith )\bno (?!longer|problem)\w"
    r"|不[得准许可要]|不允许|[请切]勿|禁|仅限|只[能准许限]|避[开免]|远离|降[低至到为]",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r"\b(?:must|may not|cannot|can not|can't|never|do not|don't|does not|shall|should not|not allowed|not to|avoid"
    r"|no[- ]?go|forbid\w*|prohibit\w*|keep[- ]?out|exceed\w*|nothing|beyond|off[- ]limits|restricted|not permitted)\b"
    r"|不得|禁|不能|不可|不要|不许|不允许|勿|避免|超过|超出|越过|必须",
    re.IGNORECASE,
)
_ATMOST = re.compile(
    r"\b(?:at most|no more|no (?:farther|further)|up to|within|inside|outside|keep|stays?|remain"
    r"|only (?:in|on|at|to|up)|limited)\b|以内|之内|至多|最多|只能|仅限|限于",
    re.IGNORECASE,
)
# Where a robot is not to go: the ranges below such a label are no bounds, but their opposite.
_ZONE = re.compile(
    r"no[- _]?go\b|keep[- _]?(?:out|away|clear)|stay[- _]?out|off[- _]limits"
    r"|(?:forbidden|prohibited|restricted|exclu[a-z]{1,5}|danger(?:ous)?|hazard(?:ous)?|blocked|banned|denied|unsafe|avoid(?:ed|ance)?)"
    r"[- _]+(?:zones?|areas?|regions?|spaces?|places?|ranges?|volumes?|box\w*|rooms?|entry)|exclusions?\b"
    r"|restrictions?\b|geo-?fenc\w*|禁区|禁[行入止飞]\w{0,4}区|禁[行入]|危险区|限制区|避让|围栏",
    re.IGNORECASE,
)
_WORDED = re.compile(  # headings of limits that name none
    r"\b(?:limits?|constraints?|bounds|boundar(?:y|ies)|envelope|maximums?|maxima)\b|限制|约束|边界|限值|极限|上限",
    re.IGNORECASE,
)
_NONE = frozenset(("", "none", "n/a", "no", "无", "没有"))
_HTML = re.compile(
    r"(?:a|[bispu]|[bh]r|li|[uod]l|d[dt]|em|t[dhrt]|h[1-6]|div|del|ins|su[bp]|kbd|var|code|span|font|body|html|head"
    r"|table|thead|tbody|small|strong|center|details|summary|pre|blockquote)",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?((?>[A-Za-z][\w-]{0,40}))[^<>]*+>")
_SIGNS = re.compile(r"[*`\"“”|]|__|~~|(?<![A-Za-z])['‘’]|['‘’](?![A-Za-z])")  # "don't" stays
_WARNING_SIGN = re.compile("[⚠🚫⛔☢☣❗‼🔥]\ufe0f?")
_BULLET = re.compile(r"[-+−]+>?\s*(?![-+−\d.\s])|[-+]\s+")
_COUNTED = re.compile(
    r"[(（\[]?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4}|[一二三四五六七八九十]{1,3})(?:[)）、\]]|\.(?=\s|[^\W\d]))\s*"
    r"|[①-⑳]\s*",
    re.IGNORECASE,
)
_OPENING = frozenset("[({（<>≤≥±~～≈=∈+-−.&")  # signs that a value or a name may begin with
_PAIR = re.compile(r"(?P<label>[^:：=]{1,80}?)\s*[:：=]\s*(?P<value>.*)", re.DOTALL)
_SPACED = r"[ _-]*"
_NAMES = "|".join(_SPACED.join(map(re.escape, word.split())) for word in sorted(_LIMIT, key=len, reverse=True))
_NAMED = re.compile(
    rf"\W*(?P<label>(?:{_NAMES})(?:\s*[(（][^()（）]{{0,40}}[)）])?)\s*(?:[—–→⇒,，;]|-+>?|\bis\b|\bof\b|为|是)?\s*"
    rf"(?P<value>(?:[^\w\s]|about\b|up to\b|at most\b|[xyz]\b|约|\s)*\d.*)",
    re.IGNORECASE | re.DOTALL,
)
_INSIDE = re.compile(
    rf"(?<![^\W_])(?:{_NAMES})(?:\s*[(（][^()（）]{{0,40}}[)）])?\s*[:：=]\s*(?:[^\w\s]|[xyz]\b|约|\s)*\d",
    re.IGNORECASE,
)
_MEMBER = re.compile(r"[{,]\s*(?=[\"'][^\"']{1,80}[\"']\s*:)")
_BELONGS = re.compile(r"\d\s*[A-Za-z]+ of (?:cable|cord|hose|rope|wire)\b")  # a quantity of something else
_EDGES = re.compile(r"^\W+|\W+$")
_FRAMES = {
    BASE_FRAME: re.compile(
        r"\b(?:base|robot|arm)(?:'s)?[ _-](?:frame|coordinates)\b|(?:基座|机器人|本体)坐标", re.IGNORECASE
    ),
    WORLD_FRAME: re.compile(
        r"\b(?:world|map|global)[ _-](?:frame|coordinates)\b|(?:世界|全局|地图)坐标", re.IGNORECASE
    ),
}
LONGEST = 20_000  # characters of a line that are looked at; among limits a longer one is unread
Mode = Literal["limits", "text", "actions", "list"]  # a section of limits; other text; a list of actions; any other
_LISTS = ("actions", "list")
Ground = Literal["rules", "described", "unknown"]  # what the heading above a line says of it
_OF_LABEL = 7  # the level of rules below a label: any heading ends them
COMMENT = 8  # the level of a comment in a block


def key(label: str) -> str:
    """A label as it is compared: the spelling that we know, without the characters that have no width."""
    bare = sections.key(label if label.isascii() else _NO_WIDTH.sub("", label))
    bare = _EDGES.sub("", bare)
    return _JOINED.get(re.sub(r"[ _-]", "", bare), bare)


@lru_cache(maxsize=1024)
def near(name: str) -> bool:
    """Whether a key is that of a limit but for one letter, or two that changed places."""
    if name in _LIMIT:
        return True
    size, letters = len(name), Counter(name)
    return size < 60 and any(
        abs(size - length) < 2 and (letters - word).total() < 2 and (word - letters).total() < 2
        for length, word in _SIZES
    )


def resembled(line: str) -> str:
    """The limit (a key of `LIMITS`, or "perception") that an unread line names or resembles; "" for none of them."""
    text = " ".join(re.sub(r"[*`_]+", " ", _NO_WIDTH.sub("", line)).split()).casefold()
    label = key(text.partition(":")[0].partition("：")[0])
    if label in _LIMIT:
        return _LIMIT[label][0]
    if label in ("perception", "感知"):
        return "perception"
    if _ZONE.search(text):
        return "bounds"
    for part in (label, text):
        for name, words in _ABOUT:
            if words.search(part):
                return name
    if near(label):
        return min(_LIMIT.items(), key=lambda known: _apart(known[0], label))[1][0]
    if _RATES.search(text):
        return ""
    return "bounds" if _PLACE_AXIS.search(text) or _MEASURED.search(text) or _AXIS.fullmatch(label) else ""


def _apart(word: str, other: str) -> int:
    one, two = Counter(word), Counter(other)
    return (one - two).total() + (two - one).total()


def _unmarked(text: str) -> str:
    """A text without its emphasis and its quotes."""
    return _SIGNS.sub(" ", _WARNING_SIGN.sub(" Warning: ", text)).replace("’", "'").strip()


def _bare(line: str) -> str:
    """A line without what it begins with, its emphasis and its quotes: the words and numbers that it says."""
    text = line if line.isascii() else _NO_WIDTH.sub("", line)
    if "<" in text:
        text = _TAG.sub(
            lambda tag: " " if _HTML.fullmatch(tag[1]) else f" {tag[1]}: " if tag[0][1] != "/" else " ", text
        )
    text = " ".join(_unmarked(text).split())
    for _ in range(20):  # "> - [x] 1."
        before = text
        skipped = next((i for i, sign in enumerate(text) if sign.isalnum() or sign in _OPENING), len(text))
        text = text[skipped:]
        if (found := _BULLET.match(text) or _COUNTED.match(text)) or (found := re.match(r"[>#]+\s*", text)):
            text = text[found.end() :]
        if text == before:
            break
    return text.rstrip(" \t\r\n,;")


def _pair(text: str) -> tuple[str, str] | None:
    """Label and value of a bare line; a limit needs no sign between them."""
    named = _NAMED.fullmatch(text)
    if named:
        return named["label"], named["value"].lstrip(":：= ")
    match = _PAIR.fullmatch(text)
    if not match or not match["label"].strip() or match["label"].rstrip().endswith(("≤", "≥", "<", ">")):
        return None
    value = match["value"].strip()
    return match["label"].strip(), value if any(sign.isalnum() for sign in value) else ""


def _is_listed(line: str) -> bool:
    line = line.lstrip(" \t>")  # in a quotation, too
    start = line.lstrip()
    return prose.bullet(line) is not None or not (start[:1].isalnum() or start[:1] in "*_`\"'[({<|#" or not start)


class _RuleLabel(NamedTuple):
    """A label of rules: what was before it is again what a line is in that comes after them."""

    indent: int
    listed: bool
    before: Ground


class _Scope(NamedTuple):
    """What a heading or a label says of the lines below it."""

    label: str  # of the limit; "" where several may come
    indent: int
    listed: bool
    zone: bool  # they are where the robot must not be
    sure: bool  # it is a label of limits, not merely one that speaks of them


@dataclass
class LimitReader:
    """The limits that have been read so far. Of two lines on one limit the stricter holds."""

    amounts: dict[str, float] = field(default_factory=dict)
    bounds: tuple[tuple[float, float], ...] = ()
    frame: str = ""  # of the bounds
    described: frozenset[str] = frozenset()  # labels of parts of the body, whose lines may have measures
    unread: list[str] = field(default_factory=list)
    ground: Ground = "described"
    _ruled: int = 0  # the level of the heading that announces rules; 0 where none does
    _rule_label: _RuleLabel | None = None
    _scope: _Scope | None = None
    _waiting: str = ""  # the label whose value has not come

    def close(self) -> None:
        """The lines below the last heading or label are over."""
        if self._waiting:
            self._name(self._waiting)
        self._scope, self._waiting = None, ""

    def heading(
        self, text: str, mode: Mode, level: int, *, known: str = "", named_only: bool = False, title: bool = False
    ) -> bool:
        """Whether a heading opens limits. `known`: the section that it opens else; `named_only`: only by its name;
        `title`: of the document, which may have a measure."""
        self.close()
        bare = _bare(text)
        pair = _pair(bare)
        name = key(pair[0] if pair else bare)
        if self._stand_below(text, bare, level, known, title=title):
            return False
        if known in ("", "unsupported") and _ZONE.search(name) and not sections.names_actions(text):
            self._scope = _Scope("", -1, False, zone=True, sure=True)
            if mode == "limits" or re.search(r"\d", bare) or _forbids_something(bare):
                self._name(text)
            return True
        named = name in _LIMIT or near(name)
        measured = _MEASURED.search(bare)
        forbids = measured or not _is_words(re.sub(r"\d", "", bare))
        if mode == "limits" and forbids and not (named or _is_figure(name) or sections.names_actions(text)):
            return self._name(text)
        if not named and known in ("", "unsupported") and not sections.names_actions(text) and _forbids_something(bare):
            self._name(text)
        if known == "unsupported" and not (pair and measured):
            return False
        if named:
            self._scope = _Scope(name, -1, False, zone=False, sure=True)
            if pair and pair[1]:
                self._limit(*pair, text, mode)
            else:
                self._waiting = text
            return True
        if measured and not known and (not title or _about(bare)):
            return self._name(text)
        if mode == "limits" and _is_figure(name):
            self._scope = _Scope(name, -1, False, zone=False, sure=True)
        if named_only or known or len(name) > 60 or _is_figure(name):
            return False
        if _WORDED.search(name) and not sections.names_actions(text):
            return True
        if about := _about(name):
            self._scope = _Scope(about, -1, False, zone=False, sure=False)
        return False

    @contextmanager
    def block(self) -> Iterator[None]:
        """The lines of a block of settings: among rules they are rules, else keys and values."""
        before = (self.ground, self._ruled, self._rule_label)
        if self.ground == "unknown":
            self.ground = "described"
        yield
        self.close()
        self.ground, self._ruled, self._rule_label = before

    def _stand_below(self, text: str, bare: str, level: int, known: str, *, title: bool) -> bool:
        """Take in what a heading says of the lines below it; whether it told a rule itself.

        A heading of rules holds for the deeper ones, too, which are lines among its rules.
        """
        pair, before = _pair(bare), len(self.unread)
        announced = rules.announces(bare, heading=True, whole=title)
        if self._ruled and level > self._ruled:
            if not (announced or rules.describes(bare) or rules.is_harmless(bare) or near(key(bare))):
                self._name(text)
        elif announced and known in ("", "unsupported", "other"):
            self._ruled, self._rule_label, self.ground = level, None, "rules"
            if pair and not rules.is_harmless(pair[1]):
                self._name(text)
        elif level < COMMENT:
            name = key(pair[0] if pair else bare)
            unknown = not (
                known or title or near(name) or _is_figure(name) or _about(name) or sections.names_actions(text)
            )
            self._ruled, self._rule_label = 0, None
            self.ground = "unknown" if unknown and not rules.describes(bare) else "described"
        told = rules.instructs(bare) or (rules.binds(bare) and not only_withdraws(bare))
        if len(self.unread) == before and known in ("", "other", "unsupported") and told:
            self._name(text)
        return len(self.unread) > before

    def claims(self, line: str) -> bool:
        """Whether a line belongs to the label of a limit above it."""
        return self._scope is not None and self._goes_on(self._scope, line, _bare(line))

    def take(self, line: str, mode: Mode) -> bool:
        """Take in a line. Whether it was one of limits: read, or named in `unread`."""
        if len(line) > LONGEST and mode == "limits":
            return self._name(line)
        line = line[:LONGEST]
        parts = _MEMBER.split(line) if "{" in line else (line,)
        taken = [
            self._take(line, bare, mode) or self._untold(line, bare, mode) for bare in map(_bare, parts)
        ]  # all of them, whatever the first is
        return any(taken)

    def _take(self, line: str, text: str, mode: Mode) -> bool:
        if not any(sign.isalnum() for sign in text):
            return False
        scope = self._scope
        if scope and not self._goes_on(scope, line, text):
            self.close()
            scope = None
        if scope and scope.zone:
            return text.casefold() not in _NONE and self._name(line)
        if scope and scope.sure:
            mode = "limits"
        pair = _pair(text)
        label, value = pair or (text.strip("[]{} "), "")
        name, listed = key(label), _is_listed(line)
        self._end_rules(label, line, listed=listed)
        if self.ground == "rules" and not (scope and scope.label) and not near(name):
            return self._rule(text, line)
        if rules.announces(label, whole=not value or mode in _LISTS):
            if pair and value:
                return self._rule(value, line)
            if len(label) < 60:
                self.close()
                self._rule_label = _RuleLabel(len(line) - len(line.lstrip()), listed, self.ground)
                self._ruled, self.ground = _OF_LABEL, "rules"
                return True
        label_alone = not value and (pair or len(label) < 60) and (mode not in _LISTS or name in _OWN)
        if label_alone and self._opens(name, line, mode, listed, sentence=not pair):
            return True
        if pair and value:
            return self._limit(label, value, line, mode, listed=listed)
        if scope and scope.label and self._below(scope.label, text):
            return True
        return self._sentence(line, text, mode, listed=listed)

    def _end_rules(self, label: str, line: str, *, listed: bool) -> None:
        """The rules below a label end at the next item of its list, and at a label of another section."""
        opened = self._rule_label
        if opened is None or len(line) - len(line.lstrip()) > opened.indent:
            return
        if (listed and opened.listed) or key(label) in self.described or sections.section(label):
            self._ruled, self.ground, self._rule_label = 0, opened.before, None

    def _rule(self, text: str, line: str) -> bool:
        """Take in a line among rules: it is named, but for a harmless form and a figure of the body."""
        pair = _pair(text)
        figure = (
            pair is not None and _is_figure(key(pair[0])) and _is_one_figure(pair[1]) and not _NEVER.search(pair[1])
        )
        return not (figure or rules.is_harmless(text)) and self._name(line)

    def _untold(self, line: str, text: str, mode: Mode) -> bool:
        """Take in a line below a heading that is not known: a sentence without a known label is named."""
        if self.ground != "unknown" or mode == "limits":
            return False
        pair = _pair(text)
        if pair is None:
            return rules.says(text) > 1 and not rules.is_harmless(text) and self._name(line)
        name = key(pair[0])
        known = mode in _LISTS or near(name) or name in self.described or _is_figure(name) or rules.describes(pair[0])
        return not known and rules.says(pair[1]) > 0 and not rules.is_harmless(text) and self._name(line)

    def row(self, label: str, value: str, unit: str, whole: str, mode: Mode) -> bool:
        """Take in a row of a table: whether it was a limit."""
        text = _bare(label)
        if self._scope and self._scope.zone:
            return self._name(whole)
        if self.ground == "rules" and not near(key(text)):
            return self._rule(_bare(whole), whole)
        if mode in _LISTS and not (near(key(text)) or _ZONE.search(text)):
            return self.cells((whole,), mode)  # an action or a sensor
        if bool(text) and self._limit(text, _unmarked(value), whole, mode, unit=_bare(unit), listed=True):
            return True
        return mode != "limits" and self._is_told(_bare(value)) and self._name(whole)

    def cells(self, cells: Sequence[str], mode: Mode) -> bool:
        """Take in cells of a table that say no limit by their place: whether one may be of a limit."""
        told = [cell for cell in cells if self._may_limit(_bare(cell), mode) or self._is_told(_bare(cell))]
        for cell in told:
            self._name(cell)
        return bool(told)

    def _is_told(self, text: str) -> bool:
        """Whether a cell is a sentence, in a table below a heading of rules or one that is not known."""
        return rules.says(text) > {"rules": 0, "unknown": 2}.get(self.ground, LONGEST) and not rules.is_harmless(text)

    def column(self, header: str, cell: str) -> None:
        """Take in a cell of a table whose header may name a limit, or announce rules."""
        label = _bare(header)
        if rules.announces(label, whole=True):
            self._rule(_bare(cell), cell)
        if key(label) in _LIMIT and any(sign.isalnum() for sign in cell):
            self._limit(label, _bare(cell), f"{header}: {cell}", "text")

    def _opens(self, name: str, line: str, mode: Mode, listed: bool, *, sentence: bool) -> bool:
        """A label with its value below it."""
        zone = _ZONE.search(name) is not None
        if not (name in _LIMIT or near(name) or zone or sections.section(name) == "limits"):
            return False
        self.close()
        indent = len(line) - len(line.lstrip())
        known = name in _LIMIT or near(name)
        self._scope = _Scope(name if known and not zone else "", indent, listed, zone=zone, sure=True)
        self._waiting = line if known and not zone else ""
        return not (zone and (mode == "limits" or sentence)) or self._name(line)

    def _goes_on(self, scope: _Scope, line: str, text: str) -> bool:
        if scope.indent < 0 or not text:
            return True
        indent = len(line) - len(line.lstrip())
        pair = _pair(text)
        return (
            indent > scope.indent
            or (_is_listed(line) and not scope.listed)
            or (pair is not None and _AXIS.fullmatch(key(pair[0])) is not None)
            or (pair is None and bool(self._waiting))
        )

    def _below(self, label: str, text: str) -> bool:
        """A value that stands alone, below the label of its limit."""
        if _is_figure(label) and label not in _LIMIT:
            return _is_one_figure(text)
        name, kind = _LIMIT.get(label, ("", ""))
        if not name or not self._read(name, kind, text, text, quantities.bracketed_unit(label, kind)):
            return False
        self._check_rest(name, kind, text, f"{label}: {text}")
        return True

    def _sentence(self, line: str, text: str, mode: Mode, *, listed: bool) -> bool:
        """A line without a label: one that may limit is named."""
        if mode == "limits":
            figure = _is_figure(text) and not _NEVER.search(text) and not _MEASURED.search(text)
            silent = figure or (not listed and _is_aside(text)) or text.casefold() in _NONE
            return not silent and self._name(line)
        placed = re.search(r"\d", text) and (_PLACE_AXIS.search(text) or _ZONE.search(text))
        inside = mode == "text" and _INSIDE.search(text)
        listed_only = mode in _LISTS and listed
        told = self._may_limit(text, mode) or (not listed_only and (placed or inside))
        return bool(told) and self._name(line)

    def _may_limit(self, text: str, mode: Mode) -> bool:
        """Whether a text that was not read may limit. What describes a part of the body may have measures."""
        measured, forbids = _MEASURED.search(text), _FORBIDS.search(text)
        pair = _pair(text)
        if mode == "list":
            return bool(rules.warns(text) or (measured and (forbids or _LOADS.search(text))))
        if pair is not None and key(pair[0]) in self.described:
            return bool(forbids or rules.binds(pair[1]) or (measured and _BURDENS.search(text)))
        if text.endswith((":", "：")) and only_withdraws(text):
            return False  # the label of a list that is denied
        told = rules.warns(text) or withdraws(text) if mode == "actions" else rules.binds(text)
        return bool(measured or forbids or told)

    def _limit(self, label: str, value: str, whole: str, mode: Mode, *, unit: str = "", listed: bool = False) -> bool:
        """Whether a label with a value was of limits."""
        strict, name = mode == "limits", key(label)
        scope = self._scope.label if self._scope else ""
        in_bounds = _LIMIT.get(scope, ("",))[0] == "bounds"
        axis = _AXIS.fullmatch(name)
        limit, kind = ("bounds", "length") if axis and (strict or in_bounds) else _LIMIT.get(name, ("", ""))
        if not limit:
            return self._unnamed(name, value, whole, mode, listed=listed)
        if mode in _LISTS and name not in _OWN and not _QUANTITY.match(value):
            return self._sentence(whole, f"{name}: {value}", mode, listed=listed)
        if not strict and _BELONGS.search(value):
            return False
        text = f"{axis[1] or axis[2]}: {value}" if axis else value
        if not self._read(limit, kind, text, whole, unit or quantities.bracketed_unit(label, kind)):
            place = limit == "bounds" and "bounds" not in name and not _MEASURED.search(value)
            bare = not strict and (place or name not in _OWN) and not _QUANTITY.match(value)
            if bare or (not strict and place):  # "Workspace: `/home/…`" is no limit
                return self._sentence(whole, f"{name}: {value}", mode, listed=listed)
            return self._name(whole)
        self._check_rest(limit, kind, text, whole)
        return True

    def _check_rest(self, limit: str, kind: str, text: str, whole: str) -> None:
        """Name a limit that says more than was read: a second amount, a condition, an exception."""
        self._waiting = ""
        if quantities.says_more(text, "box" if limit == "bounds" else kind):
            self._name(whole)

    def _unnamed(self, name: str, value: str, whole: str, mode: Mode, *, listed: bool) -> bool:
        """A label that is not of a limit, and whether it may be of one nevertheless."""
        quantity = _QUANTITY.match(value) is not None
        if near(name) and (mode == "limits" or quantity):
            return self._name(whole)
        if _ZONE.search(name):
            return bool(mode == "limits" or re.search(r"\d", value)) and self._name(whole)
        about, text = _about(name), f"{name}: {value}"
        told = _NEVER.search(value) or _PLACE_AXIS.search(value)
        figure = not told and _is_figure(name) and _is_one_figure(value)
        figure = figure or bool(mode == "text" and _MEASURES.fullmatch(name) and _is_one_figure(value))
        if mode == "limits":
            if figure:
                return False
            return bool(listed or not _is_aside(text)) and self._name(whole)
        if about and not figure and mode == "text":
            kind = LIMITS[about][0]
            read = quantities.box(value) if about == "bounds" else quantities.amount(value, kind)
            if read and not _BELONGS.search(value):
                return self._name(whole)
        if figure:
            return False
        return self._sentence(whole, text, mode, listed=listed)

    def _read(self, name: str, kind: str, text: str, whole: str, unit: str) -> bool:
        if name == "bounds":
            bounds = quantities.box(text, unit)
            self.bounds = _merge(self.bounds, bounds)
            self.frame = self.frame or next((frame for frame, words in _FRAMES.items() if words.search(whole)), "")
            read = bool(bounds)
        else:
            amount = quantities.amount(text, kind, unit)
            read = amount is not None
            if amount is not None:
                stricter = max if name.startswith("min") else min
                self.amounts[name] = stricter(amount, self.amounts.get(name, amount))
        if read:
            self._waiting = ""
        return read

    def _name(self, line: str) -> Literal[True]:
        self._waiting = ""
        self.unread.append(prose.one_line(prose.bullet(line) or line.strip(), 200))
        return True

    def open_bounds(self) -> Iterator[str]:
        """Bounds that say nothing of an axis of the floor, or allow nothing, as a limit that cannot be read."""
        for axis, (low, high) in zip("xyz", self.bounds, strict=False):
            if not low < high or (axis != "z" and low == -high == -math.inf):
                yield f"Workspace Bounds: {axis} ∈ [{low:g}, {high:g}]"


def _is_figure(label: str) -> bool:
    """Whether a label is of a figure of the body, and not of what it may lift or how fast it may be."""
    return _FIGURES.fullmatch(label) is not None


def _is_one_figure(value: str) -> bool:
    binds = _FORBIDS.search(value) or _ATMOST.search(value) or rules.binds(value)
    return len(_QUANTITIES.findall(value)) < 2 and not binds


def _forbids_something(text: str) -> bool:
    """Whether a heading forbids, and says what: "The basket is off limits", not "No-go zones" or "Forbidden"."""
    left = _FORBIDS.sub(" ", _ZONE.sub(" ", text))
    forbids = _FORBIDS.search(text) or _ZONE.search(text)
    return bool(forbids and re.sub(r"(?i)\b(?:zones?|areas?|regions?|places?|the)\b|\W|区域?", "", left))


def _is_words(text: str) -> bool:
    """Whether a line has neither a number nor a word that limits."""
    limiting = (_NEVER, _ATMOST, _MEASURED, _FORBIDS)
    return not (re.search(r"\d", text) or any(words.search(text) for words in limiting))


def _is_aside(text: str) -> bool:
    """Whether a sentence among limits is about their values, and no limit."""
    return _is_words(text) and rules.refers(text)


def _about(name: str) -> str:
    """The limit that a label speaks of without naming it: "safe workspace"."""
    return next((limit for limit, words in _ABOUT if words.search(name)), "")


def _merge(old: Sequence[tuple[float, float]], new: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    free = (-math.inf, math.inf)
    size = max(len(old), len(new))
    pairs = zip((*old, *[free] * size), (*new, *[free] * size), strict=False)
    return tuple((max(a[0], b[0]), min(a[1], b[1])) for a, b in list(pairs)[:size])
