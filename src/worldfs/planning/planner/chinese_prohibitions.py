"""Chinese prohibitions before an order: 别动钥匙，把手机放进篮子."""

from __future__ import annotations

from typing import Final

from . import chinese_sequence
from .chinese_nouns import ChineseWord
from .chinese_parser import ChineseParser
from .intent import Clause, NotUnderstood, NounPhrase
from .prohibitions import Prohibitions
from .vocabulary import Vocabulary

_NOT_MEANT: Final = frozenset(("不要", "不是"))
_HANDLING: Final = ("touch", "act:pick", "act:bring", "act:clear")
_INTO: Final = ("in", "on", "to")


class ChineseOrderParser(ChineseParser):
    """An order, and what is forbidden before it."""

    def __init__(self, found: list[ChineseWord], vocabulary: Vocabulary, before: list[Clause]) -> None:
        first = next((n for n, word in enumerate(found) if word.text in "，,"), len(found))
        self.counted = any("only" in word.kinds for word in found[:first])  # 别只动…: which is dropped as politeness
        super().__init__(chinese_sequence.in_order(found), vocabulary, before)
        self.forbidden = Prohibitions()

    def clauses(self) -> list[Clause]:
        found = super().clauses()
        return [self.forbidden.barring(clause) for clause in found]

    def is_prohibition(self) -> bool:
        """Is the whole sentence one, so that the order may come in the next?"""
        mark = self.at
        found = self._attempt()
        whole, self.at = self.at == len(self.words), mark
        return found is not None and whole

    def denied_first(self) -> list[Clause]:
        forbidden = Prohibitions()
        while True:
            mark = self.at
            found = self._attempt()
            ended = self.take("=，", "=,", "but") is not None
            if found is None or not ended or self.at >= len(self.words):
                self.at = mark
                break
            forbidden = forbidden.also(found)
            self.take("but", "=而是", "=而")
        if not forbidden:
            return []
        if forbidden.denied:
            self.take("should", "alike")
        self.forbidden = forbidden
        return forbidden.applied([self.clause()])

    def _attempt(self) -> Prohibitions | None:
        try:
            return None if self.counted else self._prohibition()
        except NotUnderstood:
            return None

    def _prohibition(self) -> Prohibitions | None:
        """别动钥匙 · 别把李子放盒子里 · 李子别放盒子里 · 不要李子 · 把杯子留在桌上"""
        negated = self._forbids()
        if negated and self.take("act:discard", "act:throw") and self.noun_here():
            return Prohibitions(negated, denied=self.aside("all"))
        if negated and self.take(*_HANDLING) and self.noun_here():
            return self._spared(negated, self.aside("all"))
        if self.take("=留着", "=留下"):  # 留着左手套，…
            return Prohibitions(keep=self.aside("all")) if self.noun_here() else None
        given = self.take("ba") is not None
        if not self.noun_here():
            return None
        nouns = self.aside("all")
        if not given and negated in _NOT_MEANT and self.here().text in ("", "，", ","):
            return self._spared(negated, nouns)
        if negated and not given:
            return None
        self.take("dou", "=先")
        negated = negated or self._forbids()
        if not negated and self.here().text == "不" and "touch" in self.here(1).kinds:  # 别的不动，…
            negated = self.here().text
            self.at += 1
        if not negated:
            left = self.left(nouns)
            return Prohibitions(keep=left) if left is not None else None
        if self.take("act:discard"):
            return Prohibitions(negated, denied=nouns)
        if (verb := self.take("act:put")) is None:
            return self._spared(negated, nouns) if self.take(*_HANDLING) else None
        if self.here().text in ("", "，", ","):  # 别把钥匙移动，…
            return None
        side, where = self.place(verb.text)
        named = tuple(n for n in where if isinstance(n, NounPhrase))
        named += tuple(n for _, others in self.or_places for n in others)
        several = any(n.quantity == "all" or (n.pronoun and (n.plural or len(nouns) > 1)) for n in nouns)
        if side not in _INTO or not named or several:
            return None
        return Prohibitions(negated, denied=nouns, not_there=named)

    def _forbids(self) -> str:
        here = self.here()
        if "forbid" in here.kinds or (here.text == "不是" and self.at == 0):
            self.at += 1
            return here.text
        return ""

    @staticmethod
    def _spared(negated: str, nouns: tuple[NounPhrase, ...]) -> Prohibitions | None:
        """Neither moved nor a place; None where the negation may be of how many."""
        plain = not any(n.pronoun or (n.quantity == "all" and not n.other) for n in nouns)
        return Prohibitions(negated, keep=nouns, barred=nouns) if plain else None
