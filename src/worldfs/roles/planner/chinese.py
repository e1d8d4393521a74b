"""The Chinese reader: longest-match words, then a small grammar that must consume all of them, or refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...ground.model import Vec
from . import words
from .intent import Clause, NotUnderstood, Noun, Shift
from .phrase import share_heads
from .vocabulary import Vocabulary

_LATIN = re.compile(r"[+-]?\d+(?:\.\d+)?(?![\w])|[A-Za-z0-9_][A-Za-z0-9_\-]*")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?$")
_LOCATION = ("in", "on", "beside", "above")
_SIDES = {"left": "leftmost", "right": "rightmost", "front": "frontmost", "behind": "backmost", "middle": "middle"}
_REGION = ("in", "on", "beside", "left", "right", "front", "behind")
_TAGS = frozenset(("好吗", "行吗", "可以吗", "好不好", "行不行", "可以不"))
_WAYS = ("left", "right", "forward", "backward")
_GLUED = re.compile(r"(\d+(?:\.\d+)?)(mm|cm|m)$")
_UNITS = {"厘米": 0.01, "公分": 0.01, "毫米": 0.001, "米": 1.0, "cm": 0.01, "mm": 0.001, "m": 1.0}
_NUMERALS = {sign: n for n, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
Place = tuple[str, tuple[Noun, ...] | Vec]


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    kinds: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def act(self) -> tuple[str, ...]:
        return tuple(sorted(k[4:] for k in self.kinds if k.startswith("act:")))


def split(text: str, vocabulary: Vocabulary) -> list[Word]:
    """Words by longest match over grammar, lexicon and scene names; what nobody knows stands alone, without kinds."""
    longest = max(map(len, (*vocabulary.function_zh, *vocabulary.chinese, *vocabulary.names_zh)), default=1)
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        latin = _LATIN.match(text, at)
        if latin:
            word = latin.group().lower()
            found.append(Word(word, keys=vocabulary.english_word(word) or frozenset()))
            at = latin.end()
            continue
        for size in range(min(longest, len(text) - at), 0, -1):
            word = text[at : at + size]
            kinds = vocabulary.function_zh.get(word, frozenset())
            keys = vocabulary.chinese_word(word) or frozenset()
            if kinds or keys or size == 1:
                found.append(Word(word, kinds, keys))
                at += size
                break
    return found


def is_question(found: list[Word]) -> bool:
    """Asked rather than ordered; "could you …?" (你能…吗, 能不能…) is an order."""
    rest = _manners(found)[0]
    return any("question" in w.kinds or w.text in "?？" for w in rest)


def _manners(found: list[Word]) -> tuple[list[Word], bool]:
    """The sentence without its politeness; and whether it was a request."""
    polite = any(w.text in _TAGS for w in found)
    rest = [w for w in found if not {"polite", "only"} & w.kinds]
    while len(rest) > 1 and "wish" in rest[0].kinds and not _names(rest[1]):
        rest = rest[1:]  # 我要把…: the wish is only politeness
    while rest and rest[-1].text in "?？。.!！，,":
        if rest[-1].text in "?？" and not polite and "request" not in rest[0].kinds:
            return rest, False
        rest = rest[:-1]
    if rest and "request" in rest[0].kinds:
        asks = rest[-1].text == "吗" or any(w.text in "?？" for w in found)
        if rest[0].text not in ("能", "可以") or asks:
            return rest[1 : -1 if rest[-1].text == "吗" else None], True
    return rest, polite


def _names(word: Word) -> bool:
    """Does it begin a noun phrase?"""
    kinds = {"all", "any", "this", "it", "other", "leave", *words.DIGITS_ZH}
    return bool(word.keys or kinds & word.kinds) or any(k[:5] == "best:" for k in word.kinds)


class Chinese:
    """Reads one sentence; `clauses` returns all of it or raises NotUnderstood."""

    def __init__(self, found: list[Word], vocabulary: Vocabulary, before: list[Clause]) -> None:
        self.words, self.at, self.vocabulary = _manners(found)[0], 0, vocabulary
        self.gap = 0.0
        self.before = before  # clauses of earlier sentences: what is left alone may be said apart

    def here(self, n: int = 0) -> Word:
        return self.words[self.at + n] if self.at + n < len(self.words) else Word("")

    def take(self, *kinds: str) -> Word | None:
        """The word here, consumed, if it is one of the kinds (`=text` for a literal)."""
        word = self.here()
        if any(k in word.kinds or k == f"={word.text}" for k in kinds):
            self.at += 1
            return word
        return None

    def stop(self) -> NotUnderstood:
        word = self.here()
        if "neg" in word.kinds:
            return NotUnderstood("negation", "negation", word=word.text)
        return NotUnderstood("word", word=word.text or "…")

    def comma(self) -> bool:
        return bool(self.take("=，", "=,", "=、"))

    def clauses(self) -> list[Clause]:
        found: list[Clause] = self.before[-1:]
        del self.before[-1:]
        fresh = True
        while self.at < len(self.words):
            mark = self.at
            self.comma()
            while self.take("join"):
                self.comma()
            if found and self.exception(found):
                fresh = False
                continue
            if not fresh and self.at == mark:
                raise self.stop()
            if self.at >= len(self.words):
                raise NotUnderstood("word", word=self.words[-1].text)
            found.append(self.clause())
            fresh = False
        return found

    def exception(self, found: list[Clause]) -> bool:
        """，除了苹果(以外) · ，苹果除外 · ，但不要碰苹果: after what was ordered, nothing but more of these."""
        mark = self.at
        but = bool(self.take("but"))
        self.comma()
        if self.take("except"):
            nouns = self.nouns()
            self.take("outside")
            found[-1] = replace(found[-1], but=(*found[-1].but, *nouns))
            return True
        if self.take("neg"):
            if not self.take("touch", "act:clear", "act:pick", "act:put"):
                raise NotUnderstood("negation", "negation", word=self.words[self.at - 1].text)
            found[-1] = replace(found[-1], keep=(*found[-1].keep, *self.nouns()))
            if self.at < len(self.words):  # the scope of the negation is open beyond this point
                raise NotUnderstood("after_protection", "negation", word=self.here().text)
            return True
        if self.noun_here():
            nouns = self.nouns()
            if self.take("excluded"):
                found[-1] = replace(found[-1], but=(*found[-1].but, *nouns))
                return True
        if but:
            raise self.stop()
        self.at = mark
        self.comma()
        while self.take("join"):
            self.comma()
        return False

    def clause(self) -> Clause:
        but: tuple[Noun, ...] = ()
        if self.take("except"):
            but = self.nouns()
            self.take("outside")
            self.comma()
        by = self.attribute()
        what: tuple[Noun, ...] = ()
        given = bool(self.take("ba"))
        if given or (by and self.noun_here()):
            what, more = self.objects()
            but += more
        elif not by and self.noun_here():
            what, but = self.topic(but)
            given = bool(what)
        by = by or self.attribute()
        if what and given and (moved := self.moving(what)) is not None:
            return replace(moved, but=but)
        word, acts = self.here(), self.here().act()
        if not acts:
            raise self.stop() if "neg" in word.kinds else NotUnderstood("verb", word=word.text or "…")
        self.at += 1
        if by and "clear" in acts and word.text.startswith(("整理", "收拾")):  # 按颜色整理桌子
            acts = ("sort",)
        if by and acts != ("sort",):
            raise NotUnderstood("word", word=word.text)
        if what and "put" in acts:
            return Clause("put", what, (self.place(word.text),), but, gap=self.gap)
        if what and "back" in acts:
            return Clause("undo", what, (), but)
        if what and "stackon" in acts:
            return Clause("stack", what, (self.place("叠"),), but)
        if "go" in acts and not what:
            return replace(self.going(), but=but)
        act = acts[0]
        if act in ("home", "open", "close", "wave", "undo") and not what:
            return Clause(act, but=but)
        if act in ("drop", "down", "clear", "pick", "bring", "look", "sort", "stack") and not what and self.noun_here():
            what, more = self.objects()
            but += more
        if act == "put" and self.noun_here():
            mark = self.at
            what, more = self.objects()
            if self.take("to", "act:put", "act:go"):  # 放苹果到篮子里
                return Clause("put", what, (self.place("放"),), but + more)
            self.at = mark  # 拿起苹果，然后放进篮子里: what was named before
            return Clause("put", (Noun("它", pronoun=True),), (self.place(word.text),), but)
        if act == "stack":  # a bare noun has no number in Chinese, and a stack needs several
            what = tuple(replace(n, quantity=n.quantity or "all", plural=True) for n in what)
        if act == "sort":
            by = by or self.attribute()
            if not by:
                raise NotUnderstood("sort_by", word="…")
            return Clause("sort", what, (), but, by)
        places: tuple[Place, ...] = ()
        if act == "clear" and what and (verb := self.take("to", "act:put")):
            places = (self.place(verb.text),)
        if act not in ("clear", "drop", "down") and not what:
            raise NotUnderstood("object", verb=word.text)
        if act in ("put", "go", "stackon", "back", "wave", "undo"):
            raise self.stop()
        return Clause(act, what, places, but)

    def topic(self, but: tuple[Noun, ...]) -> tuple[tuple[Noun, ...], tuple[Noun, ...]]:
        """苹果放篮子里: the thing first, without 把; nothing consumed where no such order follows."""
        mark = self.at
        try:
            what, more = self.objects()
        except NotUnderstood:
            self.at = mark
            return (), but
        acts = set(self.here().act())
        told = self.here().text[-1:] == "在" and not any(n.other for n in what)  # 苹果放在篮子里: that is how it is
        orders = acts & {"put", "pick", "clear", "stackon", "back"} and not told
        if orders or any(f"shift{way}" in self.here().kinds for way in _WAYS):
            return what, but + more
        self.at = mark
        return (), but

    def moving(self, what: tuple[Noun, ...]) -> Clause | None:
        """向左移10厘米 · 远离罐子 · 离罐子远一点: a move told by a direction; None and nothing consumed for none."""
        mark = self.at
        for way in _WAYS:
            if self.take(f"shift{way}"):
                return Clause("shift", what, shift=Shift(way, self.length()))
        if self.take("toward"):
            for way in _WAYS:
                if self.take(f"way{way}"):
                    self.take("shift")
                    return Clause("shift", what, shift=Shift(way, self.length()))
        self.at = mark
        self.take("act:put", "shift", "act:pick", "act:go")
        self.take("=得", "=到", "to")
        if self.take("apart") and self.noun_here():
            noun = self.noun()
            self.take("spot")
            return Clause("shift", what, shift=Shift("away", self.length(), noun))
        if self.take("close") and self.noun_here():
            return Clause("shift", what, shift=Shift("closer", 0.0, self.noun()))
        if self.take("leave") and self.noun_here():
            noun = self.noun()
            way = "away" if self.take("farther") else "closer" if self.take("nearer") else ""
            if way:
                self.take("spot")
                return Clause("shift", what, shift=Shift(way, 0.0, noun))
        self.at = mark
        return None

    def length(self) -> float:
        """10厘米 · 10cm · 五公分 · 一点: metres, 0.0 and nothing consumed for none."""
        if self.take("abit"):
            return words.A_BIT_M
        mark = self.at
        if glued := _GLUED.match(self.here().text):
            self.at += 1
            return float(glued[1]) * _UNITS[glued[2]]
        number = float(self.here().text) if _NUMBER.match(self.here().text) else 0.0
        if number:
            self.at += 1
        signs = ""
        while not number and self.here().text and set(self.here().text) <= {*_NUMERALS, "十"}:
            signs += self.here().text
            self.at += 1
        number = number or _numeral(signs)
        unit = _UNITS.get(self.here().text, 0.0)
        if number > 0 and unit:
            self.at += 1
            return number * unit
        self.at = mark
        return 0.0

    def attribute(self) -> str:
        if not self.take("by"):
            return ""
        if self.take("attr_colour"):
            return "colour"
        if self.take("attr_kind"):
            return "kind"
        raise NotUnderstood("sort_by", word=self.here().text or "…")

    def going(self) -> Clause:
        spot = self.coordinates()
        if spot is not None:
            return Clause("go", (), (("at", spot),))
        if self.here().act() == ("look",):
            raise self.stop()
        nouns = self.nouns()
        self.take(*_LOCATION)
        return Clause("go", nouns)

    def place(self, verb: str) -> Place:
        """Where something goes: 篮子里 · 桌子上 · 方块旁边 · (x, y, z)."""
        self.take("to")
        spot = self.coordinates()
        if spot is not None:
            return ("at", spot)
        if not self.noun_here():
            raise self.stop() if self.here().text else NotUnderstood("where", word=verb)
        if next((k for k in _SIDES if k in self.here().kinds), "") and not self.noun_here():
            raise NotUnderstood("which_place", "ambiguous", word=self.here().text)
        nouns = self.nouns()
        mark = self.at
        self.take("de")
        side = next((k for k in (*_LOCATION[:3], *_SIDES, "between") if self.take(k)), "")
        if not side:
            self.at = mark
        if side == "middle" and len(nouns) > 1:
            side = "between"
        if side in (*_SIDES, "beside"):
            self.gap = self.length()
        self.take("spot")
        if not side:
            side = "in" if verb[-1] in "进入" else "to"
        if self.take("act:pick") and not side:
            raise self.stop()
        return (side, nouns)

    def coordinates(self) -> Vec | None:
        """(x, y, z) · 0.5, 0.1 · x=0.5 y=-0.1: metres; None and nothing consumed for none."""
        mark, found = self.at, []
        bracket = self.take("=(", "=（", "=[")
        named = self.here().text == "x"
        while len(found) < 3:
            here = self.at
            if named and self.take(f"={'xyz'[len(found)]}"):
                self.take("==", "=:", "=：")
            elif named:
                break
            if not _NUMBER.match(self.here().text):
                self.at = here
                break
            found.append(float(self.here().text))
            self.at += 1
            if self.here().text in (",", "，") and (_NUMBER.match(self.here(1).text) or self.here(1).text in "yz"):
                self.at += 1
        closed = self.take("=)", "=）", "=]") if bracket else True
        if len(found) not in (2, 3) or not closed:
            self.at = mark
            return None
        return tuple(found)

    def noun_here(self) -> bool:
        word = self.here()
        starts = ("all", "any", "this", "it", "other", *words.DIGITS_ZH)
        if any(k[:5] == "best:" for k in word.kinds) or self.best_of_here() or self.side_here():
            return True
        return bool(word.keys) or any(k in word.kinds for k in starts) or word.text in ('"', "“", "「", "'")

    def objects(self) -> tuple[tuple[Noun, ...], tuple[Noun, ...]]:
        """What an act is done to, and what of it is left out: 除了苹果以外的所有东西 · 方块都."""
        but: tuple[Noun, ...] = ()
        if self.take("except"):
            but = self.nouns()
            self.take("outside")
            self.take("de")
        nouns = self.nouns()
        if self.take("except"):
            but += self.nouns()
            self.take("outside")
        if self.take("dou", "all"):
            nouns = tuple(replace(n, quantity="all", plural=True) for n in nouns)
        return nouns, but

    def nouns(self) -> tuple[Noun, ...]:
        found = [self.noun()]
        while True:
            mark = self.at
            if self.take("or") and self.noun_here():
                first = found.pop()
                choice = (*(first.options or (first,)), self.noun())
                found.append(Noun("或".join(n.text for n in choice), options=share_heads(list(choice))))
                continue
            self.at = mark
            if not (self.take("and") and self.noun_here()):
                self.at = mark
                return share_heads(found)
            found.append(self.noun())

    def side_here(self) -> bool:
        """左边的方块 · 左边那个: a side that says which, not where."""
        if not any(k in self.here().kinds for k in _SIDES):
            return False
        after = self.here(1)
        if "de" in after.kinds:
            after = self.here(2)
        return bool(after.keys) or "this" in after.kinds

    def best_of_here(self) -> bool:
        """离篮子最近的…: what is measured from comes first."""
        if "leave" not in self.here().kinds:
            return False
        at = self.at + 1
        while at < len(self.words) and self.words[at].keys:
            at += 1
        return at > self.at + 1 and at < len(self.words) and any(k[:5] == "best:" for k in self.words[at].kinds)

    def noun(self) -> Noun:
        start, quantity, count = self.at, "", 0
        found: list[tuple[str, frozenset[str]]] = []
        at: tuple[tuple[str, Noun], ...] = ()
        best, best_of, other = "", None, False
        if self.best_of_here():
            self.at += 1
            inner: list[tuple[str, frozenset[str]]] = []
            while self.here().keys:
                inner.append((self.here().text, self.here().keys))
                self.at += 1
            best_of = Noun("".join(w for w, _ in inner), tuple(inner))
        if word := self.take("it"):
            return Noun(word.text, pronoun=True, plural="们" in word.text)
        quote = self.take("=“", '="', "=「", "='")
        while True:
            word = self.here()
            digit = next((n for k, n in words.DIGITS_ZH.items() if k in word.kinds), 0)
            if word.keys:
                found.append((word.text, word.keys))
            elif superlative := next((k[5:] for k in word.kinds if k[:5] == "best:"), ""):
                if best:
                    break
                best = superlative
                self.at += "de" in self.here(1).kinds
            elif not found and not at and not best and self.side_here():
                best = next(v for k, v in _SIDES.items() if k in word.kinds)
                self.at += "de" in self.here(1).kinds
            elif "other" in word.kinds and not other:
                other, quantity = True, quantity or ("the" if "一个" in word.text or "那个" in word.text else "all")
                self.at += "de" in self.here(1).kinds
            elif "all" in word.kinds and quantity in ("", "the"):
                quantity = "all"
            elif "any" in word.kinds and not quantity:
                quantity, count = "any", 1
            elif "this" in word.kinds and not quantity:
                quantity = "the"
            elif digit and not count:
                count = digit
                quantity = "all" if word.text in words.BOTH_ZH else quantity or "any"
            elif found and any(k in word.kinds for k in _REGION) and self.region_ends():
                side = next(k for k in _REGION if k in word.kinds)
                at = (*at, (side, Noun("".join(w for w, _ in found), tuple(found))))
                found = []  # 所有桌子上的东西: what was said before the place still counts for what follows it
                self.at += "de" in self.here(1).kinds
            elif not ("de" in word.kinds and (found or at or best) and self.noun_here_after()):
                break
            self.at += 1
        if quote and not self.take("=”", '="', "=」", "='"):
            raise self.stop()
        text = "".join(w.text for w in self.words[start : self.at])
        if best:
            found = found or [("东西", frozenset("*"))]
            return Noun(text, tuple(found), "the", count, bool(count), at=at, best=best, best_of=best_of)
        if best_of is not None:
            raise NotUnderstood("word", word=text)
        if other and not found:
            found = [("东西", frozenset("*"))]
        if not found:
            if quantity != "all":
                word = self.here()
                raise NotUnderstood("noun", word=word.text or text or "…", hint="")
            return Noun(text, (("all", frozenset("*")),), "all", count, True, at=at, other=other)
        mass = any(w in words.MASS or k & words.MASS for w, k in found[-1:])
        return Noun(text, tuple(found), quantity, count, mass or quantity == "all", at=at, other=other)

    def region_ends(self) -> bool:
        """桌子上的… · 桌上所有…: a place that describes what comes next."""
        after = self.here(1).kinds
        if "de" in after and any(k in self.here(2).kinds for k in ("spot",)):
            return False
        if any(k[:5] == "best:" for k in after) or "other" in after or "this" in after:
            return True
        return any(k in after for k in ("de", "all", "any", *words.DIGITS_ZH))

    def noun_here_after(self) -> bool:
        self.at += 1
        found = self.noun_here()
        self.at -= 1
        return found


def _numeral(signs: str) -> float:
    """五 · 十 · 十五 · 二十: up to 99, 0 for none."""
    if not signs or signs.count("十") > 1:
        return 0.0
    if "十" not in signs:
        return float(_NUMERALS[signs]) if len(signs) == 1 else 0.0
    tens, ones = signs.split("十")
    if len(tens) > 1 or len(ones) > 1:
        return 0.0
    return 10.0 * (_NUMERALS[tens] if tens else 1) + (_NUMERALS[ones] if ones else 0)
