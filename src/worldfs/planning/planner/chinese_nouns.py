"""Chinese words and noun phrases, numbers and lengths: the base of the clause parser."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from worldfs.base.model import Vec

from . import lexicon_en, lexicon_zh
from .intent import NotUnderstood, NounPhrase
from .phrase_heads import is_colour, share_heads
from .vocabulary import Vocabulary, Word

_LATIN = re.compile(r"[+-]?\d+(?:\.\d+)?(?![\w])|[A-Za-z0-9_][A-Za-z0-9_\-]*")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?$")
LOCATION = ("in", "on", "beside", "above")
SIDES = {"left": "leftmost", "right": "rightmost", "front": "frontmost", "behind": "backmost", "middle": "middle"}
_REGION = ("in", "on", "beside", "left", "right", "front", "behind")
_GLUED = re.compile(r"(\d+(?:\.\d+)?)(mm|cm|m)$")
_UNITS = {"厘米": 0.01, "公分": 0.01, "毫米": 0.001, "米": 1.0, "cm": 0.01, "mm": 0.001, "m": 1.0}
_UNIT_NEXT = re.compile(rf"\s*(?:{'|'.join(_UNITS)})")


@dataclass(frozen=True, slots=True)
class ChineseWord:
    text: str
    kinds: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def act(self) -> tuple[str, ...]:
        return tuple(sorted(k[4:] for k in self.kinds if k.startswith("act:")))


def split(text: str, vocabulary: Vocabulary) -> list[ChineseWord]:
    """Words by longest match over grammar, lexicon and scene names; an unknown word stands alone, without kinds."""
    found: list[ChineseWord] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        latin = None if lexicon_zh.COUNT.match(text, at) else _LATIN.match(text, at)
        if latin:
            word = latin.group().lower()
            at = latin.end()
            if not _UNIT_NEXT.match(text, at) and (named := _numbered(found, word, vocabulary)):
                found[-1 if found[-1].keys else len(found) :] = [named]
                at += text.startswith("号", at)
                continue
            found.append(ChineseWord(word, keys=vocabulary.english_word(word) or frozenset()))
            continue
        if counted := lexicon_zh.COUNT.match(text, at):
            kinds = lexicon_zh.count_kinds(counted)
            one_by_one = text.startswith(counted.group(), counted.end())  # 一个一个: a word, and no count
            if kinds and not one_by_one and _is_measure(text, counted, vocabulary):
                found.append(ChineseWord(counted.group(), kinds))
                at = counted.end()
                continue
        for size in range(min(vocabulary.longest_zh, len(text) - at), 0, -1):
            word = text[at : at + size]
            kinds = vocabulary.function_zh.get(word, frozenset())
            keys = vocabulary.chinese_word(word) or frozenset()
            if kinds or keys or size == 1:
                if len(found) > 1 and found[-1].text == "号" and keys:
                    last = vocabulary.said(word, keys)[-1]
                    if those := vocabulary.named_with(last, found[-2].text):  # 3号方块
                        word, keys = f"{found[-2].text}号{last[0]}", those
                        del found[-2:]
                found.append(ChineseWord(word, kinds, keys))
                at += size
                break
    return found


def _is_measure(text: str, counted: re.Match[str], vocabulary: Vocabulary) -> bool:
    """Is the last sign a measure word, and not the beginning of a name (这把手, 两瓶盖) or of nothing?"""
    end, longest = counted.end(), vocabulary.longest_zh
    if not text[end:] or vocabulary.chinese_word(counted.group()):
        return False
    if counted[3] and any(vocabulary.chinese_word(text[end - 1 : end + n]) for n in range(1, longest)):
        return False
    if text[end - 1] not in lexicon_zh.HOLDING:
        return True
    following = (text[end : end + n] for n in range(longest, 0, -1) if end + n <= len(text))
    known = ((word, keys) for word in following if (keys := vocabulary.chinese_word(word)))
    said = next((vocabulary.said(word, keys) for word, keys in known), ())
    one = bool(said) and vocabulary.names_one(said[-1])
    return one and not vocabulary.is_in_a_name(text[end - 1] + "".join(word for word, _ in said))


def _numbered(found: list[ChineseWord], number: str, vocabulary: Vocabulary) -> ChineseWord | None:
    """The thing that a number names after the words found so far: 方块 3 · 方块3和10; None for none."""
    before = found[-2] if len(found) > 1 and "and" in found[-1].kinds else found[-1] if found else ChineseWord("")
    if not before.keys:
        return None
    said, senses = vocabulary.said(before.text, before.keys)[-1]
    word = said.rstrip("0123456789")
    named = vocabulary.named_with((word, senses if word == said else vocabulary.senses(word)), number)
    return ChineseWord(word + number, before.kinds, named) if named else None


class ChineseNounParser:
    """A list of words and a position in it. `some`: words for a number that is not said; a question asks for it."""

    some: tuple[str, ...] = ()

    def __init__(self, found: list[ChineseWord], vocabulary: Vocabulary) -> None:
        self.words, self.at, self.vocabulary = found, 0, vocabulary
        self.said = False
        self.leaving = False  # reading what is left out
        self.of_these = False  # what was left out is of what comes next: 除茶杯以外的杯子

    def here(self, n: int = 0) -> ChineseWord:
        return self.words[self.at + n] if self.at + n < len(self.words) else ChineseWord("")

    def take(self, *kinds: str) -> ChineseWord | None:
        """The word here, consumed, if it is one of the kinds (`=text` for a literal)."""
        word = self.here()
        if any(k in word.kinds or k == f"={word.text}" for k in kinds):
            self.at += 1
            return word
        return None

    def stop(self) -> NotUnderstood:
        word = self.here()
        if "neg" in word.kinds:
            return NotUnderstood("planner.negation", "negation", word=word.text)
        return NotUnderstood("planner.word", word=self.unknown() or self.word_here())

    def unknown(self) -> str:
        """The run of signs here that neither the grammar nor the scene knows: 独角兽; "" for none."""
        end = self.at
        while end < len(self.words) and not (lexicon_zh.is_grammar(self.words[end].text) or self.words[end].keys):
            if not self.words[end].text.isalnum():
                break
            end += 1
        return "".join(w.text for w in self.words[self.at : end])

    def no_noun(self, said: str = "") -> NotUnderstood:
        """No thing where one must be; a superlative that the scene cannot tell is named as that."""
        word = self.unknown()
        if word[:1] == "最" and len(word) > 1:
            return NotUnderstood("planner.not_compared", "missing", word=word)
        return NotUnderstood("planner.noun", word=word or self.here().text or said or self.word_here(), hint="")

    def word_here(self) -> str:
        """The word here; at the end of a sentence its last one."""
        return self.here().text or (self.words[-1].text if self.words else "")

    def length(self) -> float:
        """10厘米 · 10cm · 五公分 · 一点: metres, 0.0 and nothing consumed for none."""
        if self.take("abit"):
            return lexicon_en.A_BIT_M
        mark = self.at
        if glued := _GLUED.match(self.here().text):
            self.at += 1
            return float(glued[1]) * _UNITS[glued[2]]
        number = float(self.here().text) if _NUMBER.match(self.here().text) else 0.0
        if number:
            self.at += 1
        signs = ""
        while not number and self.here().text and set(self.here().text) <= lexicon_zh.NUMERAL_SIGNS:
            signs += self.here().text
            self.at += 1
        number = number or lexicon_zh.numeral(signs)
        unit = _UNITS.get(self.here().text, 0.0)
        if number > 0 and unit:
            self.at += 1
            return number * unit
        self.at = mark
        return 0.0

    def coordinates(self) -> Vec | None:
        """(x, y, z) · 0.5, 0.1 · x=0.5 y=-0.1: metres; None and nothing consumed for none."""
        mark = self.at
        found: list[float] = []
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
        if self.here().text == "在" and self.here(1).keys:  # 在海绵旁边的杯子
            return True
        word = self.here()
        starts = ("all", "any", "this", "pair", "it", "other", "partof", *lexicon_zh.DIGITS_ZH)
        if any(k[:5] == "best:" for k in word.kinds) or self.best_of_here() or self.side_here() or self.size_here():
            return True
        if {"isnot", "nearto"} & word.kinds:
            return bool(self.here(1).keys) or "robot" in self.here(1).kinds
        return bool(word.keys) or any(k in word.kinds for k in starts) or word.text in ('"', "“", "「", "'", *self.some)

    def all_here(self) -> bool:
        """都放进篮子: all of it, where nothing is named."""
        return "dou" in self.here().kinds and bool({"put", "back", "undo", "clear"} & set(self.here(1).act()))

    def objects(self, *, listed: bool = False) -> tuple[tuple[NounPhrase, ...], tuple[NounPhrase, ...]]:
        """What an act is done to, and what of it is left out: 除了苹果以外的所有东西 · 方块都."""
        but: tuple[NounPhrase, ...] = ()
        nouns: tuple[NounPhrase, ...]
        there = self.region_first()
        if self.take("except"):
            but = self.left_out()
        if there:
            nouns = tuple(replace(n, quantity="all", plural=True, at=(*n.at, *there)) for n in self.nouns())
            self.take("dou")
            return nouns, but
        if self.all_here():
            self.at += 1
            if self.said and not but:
                return (NounPhrase("都", pronoun=True, plural=True),), but
            return (NounPhrase("都", (("东西", frozenset("*")),), "all", plural=True),), but
        if self.counted_here():
            number, text = self.count(self.here()), self.here().text
            self.at += 1
            nouns = (NounPhrase(text, pronoun=True, plural=True, count=number),)
        else:
            nouns = self.nouns(listed=listed)
            if self.of_these:
                nouns = tuple(replace(n, quantity=n.quantity or "all", plural=True) for n in nouns)
        if not but and (outside := self.take("outside")):  # 苹果以外的东西
            if any(map(self.holds_things, nouns)):  # 盒子外的东西: what lies outside it, or all but it?
                raise NotUnderstood("planner.reading", "ambiguous", what=nouns[-1].text + outside.text)
            self.take("de")
            but = nouns
            if self.take("dou"):
                return (NounPhrase("都", (("东西", frozenset("*")),), "all", plural=True),), but
            nouns = tuple(replace(n, quantity="all", plural=True) for n in self.nouns())
        if self.take("except"):
            but += self.aside("all")
            self.take("outside")
        if self.take("notthis") and self.noun_here():  # 把苹果而不是罐子放进篮子
            but += self.nouns()
        if len(nouns) > 1:  # 把杯子跟报纸一起放进篮子
            self.take("together")
        last = self.words[self.at - 1]
        summed = len(nouns) > 1 and nouns[0].quantity != "all"
        everything = summed and "all" in last.kinds  # 收据和雨伞全部
        in_all = summed and self.count(last) == len(nouns) and last.text[-1] in lexicon_zh.OF_ANY_KIND
        if everything or in_all:  # 收据和雨伞两样: two in all, and not two umbrellas
            one = "the" if nouns[-1].quantity == "the" else ""
            nouns = (*nouns[:-1], replace(nouns[-1], quantity=one, count=0, plural=False))
        if self.take("dou", "all") or everything:
            nouns = tuple(
                n
                if summed and n.quantity == "the"  # 那把勺子和这个刷子都…
                else replace(n, quantity="all", plural=True, summed=summed and not (n.quantity or n.count))
                for n in nouns
            )
        return nouns, but

    def holds_things(self, noun: NounPhrase) -> bool:
        """Does it name a place where things may be?"""
        ids = self.vocabulary.matching_ids(noun.words)
        return any(id not in self.vocabulary.moving or self.vocabulary.things[id].is_container for id in ids)

    def region_first(self) -> tuple[tuple[str, NounPhrase], ...]:
        """桌上除了马克杯的东西: where they are, before what is left out; nothing consumed for none."""
        mark, found = self.at, list[Word]()
        while self.here().keys:
            found += self.vocabulary.said(self.here().text, self.here().keys)
            self.at += 1
        side = next((k for k in _REGION if k in self.here().kinds), "")
        if found and side and "except" in self.here(1).kinds:
            self.at += 1
            return ((side, NounPhrase("".join(w for w, _ in found), tuple(found))),)
        self.at = mark
        return ()

    def left_out(self) -> tuple[NounPhrase, ...]:
        """After 除了, with what ends it: 苹果以外的 · 苹果的."""
        self.leaving = True
        found = self.aside("all")
        self.leaving = False
        outside = self.take("outside")
        self.of_these = self.take("de") is not None or (outside is not None and outside.text[-1] == "的")
        if self.of_these and outside is not None and outside.text[0] == "外" and any(map(self.holds_things, found)):
            raise NotUnderstood("planner.reading", "ambiguous", what=found[-1].text + outside.text)  # 除了盒子外的杯子
        return found

    def nouns(self, *, listed: bool = False) -> tuple[NounPhrase, ...]:
        """`NP (、NP)*`; `listed`: no verb has come yet, so a comma joins as well: 把手机，水杯放进篮子."""
        found = [self.noun()]
        while True:
            mark = self.at
            if self.take("or") and self.noun_here():
                first = found.pop()
                choice = (*(first.options or (first,)), self.noun())
                found.append(NounPhrase("或".join(n.text for n in choice), options=share_heads(list(choice))))
                continue
            self.at = mark
            joined = self.take("and") or (listed and self.here(1).keys and self.take("=，", "=,"))
            if not (joined and self.noun_here()):
                self.at = mark
                return share_heads(found)
            found.append(self.noun())

    def aside(self, quantity: str) -> tuple[NounPhrase, ...]:
        """What is left out or not meant; a colour alone is all of it, or the one that is: 除了红色的 · 不要蓝色的."""
        mark = self.at
        words: list[Word] = []
        while self.here().keys:
            words += self.vocabulary.said(self.here().text, self.here().keys)
            self.at += 1
        if words and all(map(is_colour, words)) and self.take("de") and not self.noun_here():
            one = "one" if quantity == "the" else "东西"
            text = "".join(w for w, _ in words)
            return (NounPhrase(text, (*words, (one, frozenset("*"))), quantity, plural=quantity == "all"),)
        side = next((k for k in LOCATION[:3] if words and self.take(k)), "")
        if side and self.take("de") and not self.noun_here():  # 除了桌上的
            there = NounPhrase("".join(w for w, _ in words), tuple(words))
            return (
                NounPhrase(f"{there.text}上的", (("东西", frozenset("*")),), "all", plural=True, at=((side, there),)),
            )
        self.at = mark
        return self.nouns()

    def counted_here(self) -> bool:
        """两个都放进篮子: of what was named before."""
        return self.said and bool(self.count(self.here())) and "dou" in self.here(1).kinds

    @staticmethod
    def count(word: ChineseWord) -> int:
        return next((n for k, n in lexicon_zh.DIGITS_ZH.items() if k in word.kinds), 0)

    def size_here(self) -> str:
        """大杯子 · 小的那个: what a size is said of, "" for none."""
        size = next((k[4:] for k in self.here().kinds if k[:4] == "size"), "")
        after = self.here(1 + ("de" in self.here(1).kinds))
        of_it = self.here().text[-1:] == "的" or "de" in self.here(1).kinds
        alone = self.said and of_it  # 大的留着: of what was named
        return size if after.keys or "this" in after.kinds or alone else ""

    def side_here(self) -> bool:
        """左边的方块 · 左边那个: a side that says which, not where."""
        if not any(k in self.here().kinds for k in SIDES):
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
        while at < len(self.words) and (self.words[at].keys or "robot" in self.words[at].kinds):
            at += 1
        return at > self.at + 1 and at < len(self.words) and any(k[:5] == "best:" for k in self.words[at].kinds)

    def noun(self) -> NounPhrase:
        start = self.at
        found = self._noun()
        owner = next((word.text for word in self.words[start : self.at] if word.text in lexicon_zh.POSSESSIVES), "")
        return replace(found, owner=owner) if owner else found

    def _noun(self) -> NounPhrase:
        start, quantity, count, of_two, portion = self.at, "", 0, False, ""
        without: list[Word] = []
        found: list[Word] = []
        at: tuple[tuple[str, NounPhrase], ...] = ()
        aside: tuple[NounPhrase, ...] = ()
        best, best_of, other, side_word, size_word, these, freely = "", None, False, False, False, False, False
        if self.best_of_here():
            self.at += 1
            best_of = self.measured_from()
        elif self.take("nearto"):
            best, best_of = "nearest", self.measured_from()
            self.take("de")
        if self.here().text == "在":
            self.at += 1
        self.take("partof")
        if word := self.take("it"):
            return NounPhrase(word.text, pronoun=True, plural="们" in word.text)
        quote = self.take("=“", '="', "=「", "='")
        while True:
            word = self.here()
            digit = self.count(word)
            if (not word.keys and {"any", "this", "these", "pair"} & word.kinds) or digit:
                portion = word.text[-1] if word.text[-1] in lexicon_zh.PORTIONED and len(word.text) > 1 else portion
            if word.keys:
                found += self.vocabulary.said(word.text, word.keys)
            elif "isnot" in word.kinds and not (found or best or without or aside) and self.here(1).keys:
                denied: list[Word] = []
                while self.here(1).keys:  # 不是红色的东西 · 不是茶杯的杯子
                    self.at += 1
                    denied += self.vocabulary.said(self.here().text, self.here().keys)
                if all(map(is_colour, denied)):
                    without += denied
                else:
                    aside = (NounPhrase("".join(w for w, _ in denied), tuple(denied), "all"),)
                self.at += 1
                if "de" not in self.here().kinds:
                    raise NotUnderstood("planner.negation", "negation", word=word.text)
            elif word.text == "不" and self.here(1).text == "在" and not (found or best or aside):
                aside = (self.not_there(),)
            elif superlative := next((k[5:] for k in word.kinds if k[:5] == "best:"), ""):
                if best:
                    break
                best, of_two = superlative, of_two or "of_two" in word.kinds
                self.at += "de" in self.here(1).kinds
            elif not found and not at and not best and self.side_here():
                best, side_word = next(v for k, v in SIDES.items() if k in word.kinds), True
                self.at += "de" in self.here(1).kinds
            elif "other" in word.kinds and not other:
                other, quantity = True, quantity or ("the" if "一" in word.text or "那" in word.text else "all")
                self.at += "de" in self.here(1).kinds
            elif "all" in word.kinds and quantity in ("", "the"):
                quantity = "all"
            elif not found and not best and (size := self.size_here()):
                best, side_word, size_word, of_two = size, True, True, True
                self.at += "de" in self.here(1).kinds
            elif "any" in word.kinds and quantity in ("", "any"):
                quantity, freely = "any", True
            elif "this" in word.kinds and not quantity:
                these = word.text[-1] == "些"
                quantity = "all" if these else "the"
            elif "pair" in word.kinds and not quantity:  # 一双筷子: one thing that is called so
                quantity = "the"
            elif word.text in self.some and not count:
                quantity, these = "all" if quantity else "any", True
            elif digit and not count:
                if "de" in self.here(1).kinds:  # 三公斤的哑铃: no count, and of no name
                    raise NotUnderstood("planner.word", word=word.text)
                if self.numbers_a_name(word):
                    raise NotUnderstood("planner.word", word=word.text + self.here(1).text)
                count = digit
                quantity = "all" if "these" in word.kinds or word.text == "俩" else quantity or "any"
            elif found and "in" in word.kinds and not best and self.chooses_of(found):
                quantity, count, of_two = "", 0, count == 2  # 两个水果里较小的: of these
            elif found and any(k in word.kinds for k in _REGION) and self.region_ends():
                side = next(k for k in _REGION if k in word.kinds)
                at = (*at, (side, NounPhrase("".join(w for w, _ in found), tuple(found))))
                found = []  # 所有桌子上的东西: what was said before the place still counts for what follows it
                self.at += "de" in self.here(1).kinds
            elif not ("de" in word.kinds and (found or at or best) and self.noun_here_after()):
                break
            elif self.leaving and found and not all(map(is_colour, found)):
                break  # 除了苹果的东西, 除了茶杯的杯子: what is not the apple, a cup but not that
            self.at += 1
        coloured = bool(found) and all(map(is_colour, found))
        if coloured and "de" in self.here().kinds and ("dou" in self.here(1).kinds or quantity == "all"):
            self.at += 1  # 把红色的都放进篮子: without 都 it is not said how many
            found.append(("one" if self.said else "东西", frozenset("*")))
        elif coloured and "outside" in self.here().kinds:  # 绿色以外的马克杯
            found.append(("东西", frozenset("*")))
        elif coloured and self.said and "de" in self.here().kinds:  # 蓝色的也放进去: of what was named
            self.at += 1
            quantity = quantity or "the"
            found.append(("one", frozenset("*")))
        elif coloured and "this" in self.words[self.at - 1].kinds:  # 红色的那个
            found.append(("one", frozenset("*")))
        if quote and not self.take("=”", '="', "=」", "='"):
            raise self.stop()
        text = "".join(w.text for w in self.words[start : self.at])
        if best:
            things = side_word and not (size_word or quantity) and all("*" in senses for _, senses in found)
            several = quantity == "all" or things  # 左边的东西: how many is not said
            found = found or [("one", frozenset("*"))]
            return NounPhrase(
                text, tuple(found), "the", count, bool(count) or several, at=at, best=best, best_of=best_of,
                of_two=of_two, without=tuple(without), but=aside, side_word=side_word, size_word=size_word,
                portion=portion,
            )  # fmt: skip
        if best_of is not None:
            raise NotUnderstood("planner.word", word=text)
        if (other or without or aside or (at and "dou" in self.here().kinds)) and not found:
            found = [("one" if other and quantity == "the" else "东西", frozenset("*"))]
        if self.unknown() and (not found or coloured):
            raise self.no_noun()
        if not found:
            if quantity != "all" or these:
                raise self.no_noun(text)
            return NounPhrase(text, (("all", frozenset("*")),), "all", count, True, at=at, other=other)
        if count and quantity == "any" and not freely and all("*" in senses for _, senses in found):
            quantity = "the"  # 三样东西: which, unless there are three?
        mass = any(w in lexicon_en.MASS or k & lexicon_en.MASS for w, k in found[-1:])
        return NounPhrase(
            text,
            tuple(found),
            quantity,
            count,
            mass or these or quantity == "all",
            at=at,
            other=other,
            without=tuple(without),
            but=aside,
            portion=portion,
        )

    def not_there(self) -> NounPhrase:
        """不在篮子里的: all that is there."""
        self.at += 2
        where: list[Word] = []
        while self.here().keys:
            where += self.vocabulary.said(self.here().text, self.here().keys)
            self.at += 1
        side = next((k for k in LOCATION[:2] if k in self.here().kinds), "")
        self.at += bool(side)
        if not (where and side and "de" in self.here().kinds):
            raise NotUnderstood("planner.negation", "negation", word="不")
        place = NounPhrase("".join(w for w, _ in where), tuple(where))
        return NounPhrase(f"{place.text}里的东西", (("东西", frozenset("*")),), "all", plural=True, at=((side, place),))

    def numbers_a_name(self, word: ChineseWord) -> bool:
        """三号文件: a number without a measure word counts nothing; of 两杯 the vessel is one."""
        following = self.here(1)
        if word.text not in ("两", "三") or not following.keys:
            return False
        return self.vocabulary.said(following.text, following.keys)[0][0][0] not in lexicon_zh.HOLDING

    def measured_from(self) -> NounPhrase | None:
        """The thing after 离 or 靠近; None for the robot itself."""
        if self.take("robot"):
            return None
        inner: list[Word] = []
        while self.here().keys:
            inner += self.vocabulary.said(self.here().text, self.here().keys)
            self.at += 1
        return NounPhrase("".join(w for w, _ in inner), tuple(inner))

    def chooses_of(self, found: list[Word]) -> bool:
        """Before a superlative, a place among things that are no place themselves: 两个水果里."""
        among = self.vocabulary.matching_ids(tuple(found))
        after = self.here(1).kinds
        return any(k[:5] == "best:" for k in after) and bool(among) and set(among) <= self.vocabulary.moving

    def region_ends(self) -> bool:
        """桌子上的… · 桌上所有…: a place that describes what comes next."""
        after = self.here(1).kinds
        if "de" in after and any(k in self.here(2).kinds for k in ("spot",)):
            return False
        if any(k[:5] == "best:" for k in after) or "other" in after or "this" in after:
            return True
        if self.here(1).keys and is_colour((self.here(1).text, self.here(1).keys)):  # 桌上红色的东西
            return True
        return any(k in after for k in ("de", "all", "any", *lexicon_zh.DIGITS_ZH))

    def noun_here_after(self) -> bool:
        self.at += 1
        found = self.noun_here()
        self.at -= 1
        return found
