"""What a sentence forbids before it orders, in either language: things to leave alone, and places to leave free."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .intent import Clause, NotUnderstood, NounPhrase


@dataclass(frozen=True, slots=True)
class Prohibitions:
    """`keep`: not to be moved. `barred`: nothing may be put there. `denied` may not go to `not_there`: "do not put
    the plum in the box". `negated`: the word that forbids, "" for "leave the cup"."""

    negated: str = ""
    keep: tuple[NounPhrase, ...] = ()
    barred: tuple[NounPhrase, ...] = ()
    denied: tuple[NounPhrase, ...] = ()
    not_there: tuple[NounPhrase, ...] = ()
    of_all: bool = False  # "besides the key, …": an exception, where all things are ordered

    def __bool__(self) -> bool:
        return bool(self.keep or self.denied)

    def also(self, more: Prohibitions) -> Prohibitions:
        return Prohibitions(
            more.negated or self.negated, (*self.keep, *more.keep), (*self.barred, *more.barred),
            (*self.denied, *more.denied), (*self.not_there, *more.not_there),
            self.of_all or more.of_all,
        )  # fmt: skip

    def applied(self, orders: list[Clause]) -> list[Clause]:
        """The orders that follow. "It" is what was denied a place, and is nothing clear after anything else."""
        first = orders[0]
        if self.denied and first.what and all(noun.pronoun for noun in first.what):
            one = first.what[0]
            if len(self.denied) > 1 and not one.plural:
                raise NotUnderstood("planner.pronoun", "ambiguous", word=one.text)
            first = replace(first, what=self.denied)
        # the left-out place of 放进去 means nothing yet, and is refused where it must
        # "do not put it in the box, put it in the basket": the same
        same = [noun.text for noun in self.denied if noun.pronoun and not self.keep]
        if unclear := next((n for n in first.nouns() if n.pronoun and n.text and n.text not in same), None):
            raise NotUnderstood("planner.pronoun", "ambiguous", word=unclear.text)
        ordered = {noun.words for noun in first.what}
        rest = tuple(noun for noun in self.denied if noun.words not in ordered)
        if self.of_all and not (first.what and all(noun.quantity == "all" for noun in first.what)):
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=self.keep[0].text)
        if rest and any(noun.quantity == "all" and not noun.other for noun in first.what):  # all of it, or but these?
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=rest[0].text)
        found = [self.barring(clause) for clause in (first, *orders[1:])]
        return [*found[:-1], replace(found[-1], keep=(*found[-1].keep, *self.keep, *rest))]

    def barring(self, order: Clause) -> Clause:
        """The order with the places that it may not use; what was denied a place may be meant by "it" later on."""
        denied = {noun.words for noun in self.denied}
        meant = any(noun.pronoun or noun.words in denied for noun in order.what)
        return replace(order, barred=(*order.barred, *self.barred, *(self.not_there if meant else ())))

    def after(self, order: Clause) -> Clause:
        """The order with what was forbidden after it: "…, and do not put it in the box"."""
        ordered = {noun.words for noun in order.what}
        rest = tuple(noun for noun in self.denied if not noun.pronoun and noun.words not in ordered)
        barred = self.not_there if len(rest) < len(self.denied) else ()
        return replace(order, keep=(*order.keep, *self.keep, *rest), barred=(*order.barred, *self.barred, *barred))
