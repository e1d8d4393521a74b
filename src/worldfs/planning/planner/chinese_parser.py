"""The Chinese reader: longest-match words, then a small grammar that must consume all of them, or refuses."""

from __future__ import annotations

import re
from dataclasses import replace

from worldfs.base.model import Vec

from . import lexicon_zh
from .chinese_nouns import LOCATION, SIDES, ChineseNounParser, ChineseWord
from .intent import THERE, Clause, DirectionalMove, NotUnderstood, NounPhrase
from .prohibitions import Prohibitions
from .vocabulary import Vocabulary

_NOTHING = re.compile("(?:什么|谁|哪个)[都也](?:不|别|勿)")  # 什么都不要动 forbids, and asks nothing
_TAGS = frozenset(("好吗", "行吗", "可以吗", "好不好", "行不行", "可以不"))
_PARTICLES = frozenset(("吗", "呢", "么"))  # at the end of a request they ask nothing
_SOME = ("几个", "几")
_MAY = ("能", "可以", "愿意")  # statements too, where nothing asks
_OF_THINGS = (
    "discard", "drop", "down", "clear", "pick", "bring", "look", "sort", "stack", "upright", "openup", "shut", "wipe",
)  # fmt: skip
_WAYS = ("left", "right", "forward", "backward")
_WISH = ChineseWord("我要", frozenset(("wish", "act:bring")))
Place = tuple[str, tuple[NounPhrase, ...] | Vec]


def is_question(found: list[ChineseWord]) -> bool:
    """Asked rather than ordered; "could you …?" (你能…吗, 能不能…) is an order."""
    rest, text = _manners(found)[0], "".join(w.text for w in found)
    if text in ("帮助", "帮助我"):
        return True
    if _NOTHING.search(text):
        return False
    return any(("question" in w.kinds and not _is_some(rest, n)) or w.text in "?？" for n, w in enumerate(rest))


def _is_some(found: list[ChineseWord], at: int) -> bool:
    """Does 几个 say some here (把几个…, 这几个…, 放几个…), and ask nothing?"""
    if found[at].text not in _SOME or not at:
        return False
    return bool({"ba", "this"} & found[at - 1].kinds) or (at == 1 and found[0].act() != ())


def is_request(found: list[ChineseWord]) -> bool:
    """能不能把…放进…?: an order, which is not answered where it is not understood."""
    return _manners(found)[1] and any("ba" in w.kinds for w in found)


def _manners(found: list[ChineseWord]) -> tuple[list[ChineseWord], bool]:
    """The sentence without its politeness; and whether it was a request."""
    polite = any(w.text in _TAGS for w in found)
    found = [_WISH if _is_wanted(found, n) else w for n, w in enumerate(found)]
    rest = [
        replace(w, kinds=w.kinds | {"alone"}) if n and _narrowed(found, n) else w
        for n, w in enumerate(found)
        if not ({"polite", "only"} & w.kinds or (w.text == "有" and _narrowed(found, n)) or _either(found, n))
        or _measured_from(found, n)
        or _acted_on(found, n)
        or _must_be(found, n)
    ]
    while len(rest) > 1 and "wish" in rest[0].kinds and not _names(rest[1]):
        rest = rest[1:]  # 我要把…: 要 is only politeness
    while rest and rest[-1].text in "?？。.!！，,":
        if rest[-1].text in "?？" and not polite and "request" not in rest[0].kinds:
            return rest, False
        rest = rest[:-1]
    if rest and "request" in rest[0].kinds:
        ends = rest[-1].text in _PARTICLES
        if ends or rest[0].text not in _MAY or any(w.text in "?？" for w in found):
            return rest[1 : -1 if ends else None], True
    return rest, polite


def _either(found: list[ChineseWord], at: int) -> bool:
    """Is it the first 要么 of two: 要么李子要么梨?"""
    first = next((n for n, word in enumerate(found) if word.text == "要么"), -1)
    return at == first and any(word.text == "要么" for word in found[at + 1 :])


def _narrowed(found: list[ChineseWord], at: int) -> bool:
    """Does 只, 只有 or 只要 stand before the word?"""
    before = at - 1
    while before > 0 and (found[before].text == "有" or "polite" in found[before].kinds):
        before -= 1
    return before >= 0 and "only" in found[before].kinds


def _measured_from(found: list[ChineseWord], at: int) -> bool:
    """Is 你 here the robot itself (离你最近, 往你那边), and no politeness?"""
    return "robot" in found[at].kinds and at > 0 and bool({"toward", "leave", "nearto"} & found[at - 1].kinds)


def _acted_on(found: list[ChineseWord], at: int) -> bool:
    """Is 你 here what the verb is about (收拾你), and no politeness? A robot does nothing to itself."""
    before = next((w for w in reversed(found[:at]) if "polite" not in w.kinds), None)
    ends = at + 1 == len(found) or found[at + 1].text in "?？。.!！，,"
    return "robot" in found[at].kinds and ends and before is not None and any(k[:4] == "act:" for k in before.kinds)


def _is_wanted(found: list[ChineseWord], at: int) -> bool:
    """Is 要 what is wanted instead of something else: 不要苹果，要梨?"""
    if (
        found[at].text != "要"
        or found[at - 1 if at else 0].text not in ("，", ",", "要")
        or "不要" not in (w.text for w in found)
    ):
        return False
    end = next((n for n in range(at, len(found)) if found[n].text in "，,。.!！"), len(found))
    return at + 1 < end and not any(word.act() or "ba" in word.kinds for word in found[at:end])


def _must_be(found: list[ChineseWord], at: int) -> bool:
    """Is 要 here what a thing must (纽扣要放在盒子里), and no politeness?"""
    if found[at].text not in ("要", "需要") or not 0 < at < len(found) - 1:
        return False
    return bool(found[at - 1].keys) and "put" in found[at + 1].act()


def _does(found: list[ChineseWord], at: int) -> bool:
    """Does the word say who did it: 你把抹布扔了 tells, 请你把抹布扔了 orders?"""
    before = at > 0 and "polite" in found[at - 1].kinds
    return "robot" in found[at].kinds and not before and at + 1 < len(found) and "ba" in found[at + 1].kinds


def _names(word: ChineseWord) -> bool:
    """Does it begin a noun phrase?"""
    kinds = {"all", "any", "this", "it", "other", "leave", "partof", *lexicon_zh.DIGITS_ZH}
    return bool(word.keys or kinds & word.kinds) or any(k[:5] == "best:" for k in word.kinds)


class ChineseParser(ChineseNounParser):
    """Reads one sentence; `clauses` returns all of it or raises NotUnderstood."""

    some = _SOME

    def __init__(self, found: list[ChineseWord], vocabulary: Vocabulary, before: list[Clause]) -> None:
        super().__init__(_manners(found)[0], vocabulary)
        self.told = any(_does(found, n) for n in range(len(found)))
        self.gap = 0.0
        self.each = self.shall = False  # shall: 苹果应该放在篮子里
        self.or_places: list[tuple[str, tuple[NounPhrase, ...]]] = []
        self.said = bool(before)  # something was named: 都 means that
        self.before = before  # clauses of earlier sentences: what is left alone may be said apart

    def comma(self) -> bool:
        return bool(self.take("=，", "=,", "=、"))

    def clauses(self) -> list[Clause]:
        found: list[Clause] = self.before[-1:]
        del self.before[-1:]
        fresh = True
        while self.at < len(self.words):
            mark = self.at
            then = fresh and self.said
            self.comma()
            while word := self.take("join"):
                then = then or word.text in lexicon_zh.THEN
                self.comma()
            if found and self.exception(found):
                fresh = False
                continue
            if found and not fresh and (again := self.as_well(found[-1])) is not None:
                found.append(again)
                continue
            if not fresh and self.at == mark:
                raise self.stop()
            if not found and (denied := self.denied_first()):
                found += denied
                fresh, self.said = False, True
                continue
            if self.at >= len(self.words):
                raise NotUnderstood("planner.word", word=self.words[-1].text)
            found.append(replace(self.clause(), then=then))
            fresh, self.said = False, True
        return found

    def exception(self, found: list[Clause]) -> bool:
        """，除了苹果(以外) · ，苹果除外 · ，但不要碰苹果: after what was ordered, nothing but more of these."""
        mark = self.at
        but = bool(self.take("but"))
        self.comma()
        if self.take("except"):
            nouns = self.aside("all")
            self.take("outside")
            found[-1] = replace(found[-1], but=(*found[-1].but, *nouns))
            return True
        if self.take("neg", "notthis"):
            if not self.not_meant(found):
                raise NotUnderstood("planner.negation", "negation", word=self.words[self.at - 1].text)
            if self.at < len(self.words):  # the scope of the negation is open beyond this point
                raise NotUnderstood("planner.after_protection", "negation", word=self.here().text)
            return True
        if self.noun_here():
            nouns = self.aside("all")
            if self.take("excluded"):
                found[-1] = replace(found[-1], but=(*found[-1].but, *nouns))
                return True
            if (left := self.left(nouns)) is not None:
                found[-1] = replace(found[-1], keep=(*found[-1].keep, *left))
                return True
            self.take("dou", "=就", "=先")
            if found[-1].end and any(noun.other for noun in nouns):  # 别的都不要: left alone, or not there?
                raise self.stop()
            if self.take("neg") and self.not_done():  # 叉子不要动, 梨就不用了
                found[-1] = replace(found[-1], keep=(*found[-1].keep, *nouns))
                return True
        if but:
            raise self.stop()
        self.at = mark
        self.comma()
        while self.take("join"):
            self.comma()
        return False

    def not_done(self) -> bool:
        """After "not" the end of the sentence, with a word for handling before it, or after 不用 and 不要 none."""
        alone = self.words[self.at - 1].text in ("不用", "不要", "不必")
        handled = self.take("touch", "act:pick", "=放") is not None
        self.take("=了")
        return (handled or alone) and self.at >= len(self.words)

    def not_meant(self, found: list[Clause]) -> bool:
        """After "not": what is left alone, what was not meant (不要蓝色的), or another place (不要放在盘子里)."""
        mark = self.at
        if self.take("touch", "act:clear", "act:pick") and self.noun_here():
            found[-1] = replace(found[-1], keep=(*found[-1].keep, *self.aside("all")))
            return True
        self.at = mark
        if self.take("ba") and self.noun_here():
            nouns = self.nouns()
            if (verb := self.take("act:put")) is None:
                return False
            where = self._into(self.place(verb.text))
            found[-1] = Prohibitions(denied=nouns, not_there=where).after(found[-1])
            return True
        self.at = mark
        if (verb := self.take("act:put")) is not None and self.noun_here():
            found[-1] = replace(found[-1], barred=(*found[-1].barred, *self._into(self.place(verb.text))))
            return self.at >= len(self.words)
        self.at = mark
        if not self.noun_here():
            return False
        nouns = self.aside("the")
        self.take(*LOCATION)
        found[-1] = replace(found[-1], but=(*found[-1].but, *nouns))
        return self.at >= len(self.words)

    def left(self, nouns: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...] | None:
        """钥匙留在桌上 · 把杯子留着: what stays; None for anything else."""
        if any(noun.pronoun for noun in nouns) or (stays := self.take("stay")) is None:
            return None
        if not stays.text.endswith("在"):
            return nouns
        side, where = self.place(stays.text)
        there = where[0]
        if side not in LOCATION[:3] or len(where) != 1 or not isinstance(there, NounPhrase):
            raise self.stop()
        return tuple(replace(noun, at=(*noun.at, (side, there)), quantity=noun.quantity or "the") for noun in nouns)

    @staticmethod
    def _into(place: Place) -> tuple[NounPhrase, ...]:
        """What a place is in or on; () beside something."""
        return tuple(n for n in place[1] if isinstance(n, NounPhrase)) if place[0] in ("in", "on", "to") else ()

    def denied_first(self) -> list[Clause]:
        """What is forbidden before an order, with that; [] and nothing consumed for none."""
        return []

    def as_well(self, before: Clause) -> Clause | None:
        """，还有苹果 · ，苹果也是 · ，苹果也放: to the same place; None and nothing consumed for none."""
        mark = self.at
        if before.act != "put" or not before.places:
            return None
        more = bool(self.take("=还有", "=以及", "=加上"))
        if self.noun_here():
            nouns = self.nouns()
            if self.at >= len(self.words) or self.words[self.at].text in "，,":
                if more:
                    return replace(before, what=nouns, but=(), keep=())
            elif (self.take("alike") or self.take("=放")) and self.at >= len(self.words):
                return replace(before, what=nouns, but=(), keep=())
        self.at = mark
        return None

    def clause(self) -> Clause:
        """One act; a tool is said to wipe with, and for nothing else."""
        self.or_places = []
        but: tuple[NounPhrase, ...] = ()
        if self.take("except"):
            but = self.left_out()
            self.comma()
        by, self.each = self.attribute(), self.take("each") is not None
        left = "".join(w.text for w in self.words[self.at :])
        is_alone = not (self.said or self.at)  # after another clause it is of what that names
        if lexicon_zh.UNDO.fullmatch(left) or (is_alone and left in lexicon_zh.PUT_BACK):
            self.at = len(self.words)
            return Clause("undo", but=but)
        if (using := self.take("with")) is not None:
            tool = self.nouns() if self.noun_here() else ()
            wipes = self.read_clause(but, by)
            if not tool or wipes.act != "wipe":
                raise NotUnderstood("planner.word", word=using.text + "".join(noun.text for noun in tool))
            return replace(wipes, places=(("with", tool),))
        return self.read_clause(but, by)

    def read_clause(self, but: tuple[NounPhrase, ...], by: str) -> Clause:
        if (slid := self.pushing()) is not None:
            return replace(slid, but=but)
        what: tuple[NounPhrase, ...] = ()
        end, self.shall = "only" if "alone" in self.here().kinds | self.here(1).kinds else "end", False
        ba = self.take("ba")
        given, let = ba is not None, ba is not None and ba.text == "让"
        if given or (by and self.noun_here()):
            what, more = self.objects(listed=given)
            but += more
            self.take("=先")
        elif not by and "isnot" not in self.here().kinds and (self.noun_here() or self.all_here()):
            what, but = self.topic(but)
            given = bool(what)
        by, self.each = by or self.attribute(), self.take("each") is not None or self.each
        if self.each and (len(what) < 2 or "put" not in self.here().act()):
            raise NotUnderstood("planner.word", word="分别")
        if what and given and (moved := self.moving(what)) is not None:
            return replace(moved, but=but)
        if (taken := self.out_of(what)) is not None:
            if (verb := self.take("act:put")) is not None:  # 把苹果从篮子里拿出来放在桌上
                return Clause("put", taken.what, (*taken.places, self.place(verb.text)), but)
            return replace(taken, but=(*but, *taken.but))
        if ba is not None and (act := self.done_with()):  # 把抹布扔了
            return Clause(act, what, (), but, hollow="itself" if act == "clear" else "")
        if what and given and "pick" in self.here().act() and "put" in self.here(1).act():  # 把苹果拿起来放进篮子
            self.at += 1
        if what and let and self.here().text == "在":  # 让苹果在篮子里
            self.at += 1
            place = self.place("在")
            return Clause("put", what, (place,), but, or_places=tuple(self.or_places), gap=self.gap, end=end)
        word, acts = self.here(), self.here().act()
        if not acts:
            if "neg" in word.kinds:
                raise self.stop()
            if what and word.text.isdecimal():  # 把方块7放进…: nothing is named so
                raise NotUnderstood("planner.noun", word=f"{what[-1].text}{word.text}", hint="")
            raise NotUnderstood("planner.verb", word=self.unknown() or word.text or "…")
        self.at += 1
        out = word.text[-1] in "走掉" if "clear" in acts else "pick" in acts and "出" in word.text
        if what and out and word.text[-1] == "出" and self.noun_here():  # 把苹果拿出篮子
            where = self.nouns()
            self.take(*LOCATION)
            return Clause("pick", what, (("from", where),), but, out=True)
        if by and "clear" in acts and word.text.startswith(("整理", "收拾")):  # 按颜色整理桌子
            acts = ("sort",)
        if by and acts != ("sort",):
            raise NotUnderstood("planner.word", word=word.text)
        if what and "pour" in acts:
            return Clause("pour", what, (self.place(word.text),), but)
        if what and "put" in acts:
            place = self.place(word.text)
            ors, end = tuple(self.or_places), end if (self.shall or let) and word.text[-1] == "在" else ""
            return Clause("put", what, (place,), but, or_places=ors, gap=self.gap, each=self.each, end=end)
        if what and "throw" in acts and (place := self.place(word.text))[0] in ("in", "to"):
            return Clause("put", what, (("in", place[1]),), but)  # 扔垃圾桶, as 扔进垃圾桶
        if what and {"back", "undo"} & set(acts):
            return Clause("undo", what, (), but)
        if what and "stackon" in acts:
            return Clause("stack", what, (self.place("叠"),), but)
        if "go" in acts and not what:
            return replace(self.going(), but=but)
        act = acts[0]
        if act in ("home", "open", "close", "wave", "undo") and not what:
            return Clause(act, but=but)
        act = "discard" if act == "throw" and not what and self.noun_here() else act  # 扔牙膏
        if act in _OF_THINGS and not what and self.noun_here():
            what, more = self.objects()
            but += more
        if act == "put" and self.noun_here():
            mark = self.at
            what, more = self.objects()
            if self.take("to", "act:put", "act:go"):  # 放苹果到篮子里
                return Clause("put", what, (self.place("放"),), but + more)
            self.at = mark  # 拿起苹果，然后放进篮子里: what was named before
            return Clause("put", (NounPhrase("它", pronoun=True),), (self.place(word.text),), but)
        if act == "stack":  # a bare noun has no number in Chinese, and a stack needs several
            what = tuple(replace(n, quantity=n.quantity or "all", plural=True) for n in what)
        if act == "sort":
            by = by or self.attribute()
            if not by:
                raise NotUnderstood("planner.sort_by_what")
            return Clause("sort", what, (), but, by)
        places: tuple[Place, ...] = ()
        if act == "clear" and what and (verb := self.take("to", "act:put")):
            places = (self.place(verb.text),)
        if act not in ("clear", "drop", "down") and not what:
            if self.unknown():
                raise self.no_noun()
            raise NotUnderstood("planner.object", verb=word.text)
        if act == "home":  # 把杯子归位
            raise NotUnderstood("planner.word", word=word.text)
        if act in ("put", "throw", "go", "stackon", "back", "wave", "undo"):
            raise self.stop()
        hollow = "itself" if "clear" in acts and word.text in lexicon_zh.AWAY else ""
        return Clause("empty" if word.text == "清空" and what else act, what, places, but, out=out, hollow=hollow)

    def topic(self, but: tuple[NounPhrase, ...]) -> tuple[tuple[NounPhrase, ...], tuple[NounPhrase, ...]]:
        """苹果放篮子里: the thing first, without 把; nothing consumed where no such order follows."""
        mark = self.at
        try:
            what, more = self.objects()
        except NotUnderstood:
            self.at = mark
            return (), but
        self.each |= self.take("each") is not None
        should = self.shall = bool(self.take("should"))
        acts = set(self.here().act())
        # 苹果放在篮子里: that is how it is, where nothing was ordered yet
        told = self.here().text[-1:] == "在" and not (
            should or but or self.said or self.ordered_later() or any(n.other or n.text == "都" for n in what)
        )
        orders = acts & {"put", "pick", "clear", "discard", "throw", "stackon", "back", "undo"} and not told
        if orders or "toward" in self.here().kinds or any(f"shift{way}" in self.here().kinds for way in _WAYS):
            return what, but + more
        self.at = mark
        return (), but

    def ordered_later(self) -> bool:
        """花生放在篮子里，台灯放进箱子里: the second is an order for certain."""
        left = self.words[self.at + 1 :]
        return any("ba" in w.kinds or ("put" in w.act() and w.text[-1:] != "在") for w in left)

    def out_of(self, what: tuple[NounPhrase, ...]) -> Clause | None:
        """从篮子里拿出苹果, and after 把苹果 the rest of it; None and nothing consumed for none."""
        mark = self.at
        if self.take("from") and self.noun_here():
            where = self.nouns()
            inside = self.take("in") is not None
            self.take(*LOCATION)
            but: tuple[NounPhrase, ...] = ()
            if not what and self.take("ba"):  # 从篮子里把苹果拿出来
                what, but = self.objects()
            if what and (verb := self.take("act:put")) is not None:  # 把毛巾从桌上拿到篮子里
                return Clause("put", what, (("from", where), self.place(verb.text)))
            verb = self.take("act:pick", "act:bring", "act:clear")
            if verb and (what or self.noun_here()):
                act = "clear" if "clear" in verb.act() else "pick"
                out = act == "clear" or "出" in verb.text
                return Clause(act, what or self.objects()[0], (("from", where),), but, inside=inside, out=out)
        self.at = mark
        return None

    def done_with(self) -> str:
        """扔了, 收了 at the end of what is said of 把: an order, where nothing before it says who did so."""
        act = "discard" if "throw" in self.here().act() else "clear" if self.here().text == "收" else ""
        if not act or self.told or self.here(1).text != "了" or self.here(2).text not in ("", "，", ","):
            return ""
        self.at += 2
        return act

    def pushing(self) -> Clause | None:
        """向左推罐子10厘米: the way first; None and nothing consumed for none."""
        mark = self.at
        if self.take("toward"):
            way = next((way for way in _WAYS if self.take(f"way{way}")), "")
            self.take("thatway")
            verb = self.take("shift") if way else None
            if verb and self.noun_here():
                what, _ = self.objects()
                return self.shifted(what, way, slide=verb.text in lexicon_zh.SLIDING)
        self.at = mark
        return None

    def moving(self, what: tuple[NounPhrase, ...]) -> Clause | None:
        """向左移10厘米 · 远离罐子 · 离罐子远一点: a move given by a direction; None and nothing consumed for none."""
        mark = self.at
        if self.take("shift", "act:put") and self.length() and self.here().text in ("", ",", "，"):
            raise NotUnderstood("planner.which_way", "ambiguous")  # 把罐子移动10厘米
        self.at = mark
        for way in _WAYS:
            if word := self.take(f"shift{way}"):
                return self.shifted(what, way, slide=word.text in lexicon_zh.SLIDING)
        if self.take("toward"):
            robot = bool(self.take("robot"))
            way = "backward" if robot else next((way for way in _WAYS if self.take(f"way{way}")), "")
            self.take("thatway")
            if way and (word := self.take("shift", "act:put")):
                return self.shifted(what, way, slide=word.text in lexicon_zh.SLIDING)
            glued = next((one for one in _WAYS if self.take(f"shift{one}")), "") if not way else ""
            if glued:  # 向 左移 动
                self.take("=动")
                return self.shifted(what, glued)
        self.at = mark
        self.take("act:put", "shift", "act:pick", "act:go")
        self.take("=得", "=到", "to")
        if self.take("apart") and self.noun_here():
            noun = self.noun()
            self.take("spot")
            return Clause("shift", what, shift=DirectionalMove("away", self.length(), noun))
        if self.take("close") and self.noun_here():
            return Clause("shift", what, shift=DirectionalMove("closer", 0.0, self.noun()))
        if self.take("leave") and self.noun_here():
            noun = self.noun()
            way = "away" if self.take("farther") else "closer" if self.take("nearer") else ""
            if way:
                self.take("spot")
                return Clause("shift", what, shift=DirectionalMove(way, 0.0, noun))
        self.at = mark
        return None

    def shifted(self, what: tuple[NounPhrase, ...], way: str, *, slide: bool = False) -> Clause:
        metres = self.length()
        self.take("hither")
        return Clause("shift", what, shift=DirectionalMove(way, metres, slide=slide))

    def attribute(self) -> str:
        if not self.take("by"):
            return ""
        if self.take("attr_colour"):
            return "colour"
        if self.take("attr_kind"):
            return "kind"
        raise NotUnderstood("planner.sort_by", word=self.word_here())

    def going(self) -> Clause:
        spot = self.coordinates()
        if spot is not None:
            return Clause("go", (), (("at", spot),))
        if self.here().act() == ("look",):
            raise self.stop()
        nouns = self.nouns()
        self.take(*LOCATION)
        return Clause("go", nouns)

    def place(self, verb: str) -> Place:
        """Where something goes: 篮子里 · 桌子上 · 方块旁边 · (x, y, z)."""
        self.take("to")
        spot = self.coordinates()
        if spot is not None:
            return ("at", spot)
        if self.take("=那里", "=那儿"):
            inner = "in" if self.take("=面", "in") else ""
            self.take("hither")
            return (inner, (THERE,))
        if not self.noun_here():
            if verb.endswith("进去") or self.take("in"):  # 打开抽屉，把方块放进去 · 放到里面
                return ("in", (NounPhrase("", pronoun=True),))
            if self.unknown():
                raise self.no_noun()
            raise self.stop() if self.here().text else NotUnderstood("planner.where", word=verb)
        if next((k for k in SIDES if k in self.here().kinds), "") and not self.noun_here():
            raise NotUnderstood("planner.which_place", "ambiguous", word=self.here().text)
        nouns = self.nouns()
        mark = self.at
        self.take("de")
        side = next((k for k in (*LOCATION[:3], *SIDES, "between") if self.take(k)), "")
        if not side:
            self.at = mark
        if side == "middle" and len(nouns) > 1:
            side = "between"
        if side in (*SIDES, "beside"):
            self.gap = self.length()
        self.take("spot")
        if "hither" in self.here().kinds and (not self.here(1).text or self.here(1).text in "，,"):
            self.at += 1  # 放到篮子里去
        if not side:
            side = "in" if verb[-1] in "进入" else "to"
        if self.take("act:pick") and not side:
            raise self.stop()
        mark = self.at
        if self.take("or") and (again := self.take("act:put")) is not None:  # 放进篮子或者放进盘子
            other = self.place(again.text)
            if other[0] != "at":
                self.or_places.insert(0, (other[0], tuple(n for n in other[1] if isinstance(n, NounPhrase))))
        else:
            self.at = mark
        if len(nouns) == 1 and nouns[0].options:
            self.or_places[:0] = [(side, (option,)) for option in nouns[0].options[1:]]
            nouns = nouns[0].options[:1]
        return (side, nouns)
