"""English prohibitions before an order: "do not touch the key, put the phone in the basket"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from . import english_manners, lexicon_en
from .english_parser import EnglishParser
from .intent import Clause, NotUnderstood, NounPhrase
from .prohibitions import Prohibitions

_TOUCH: Final = ("touch", "disturb", "use")
_EXCEPT: Final = tuple(said for said in lexicon_en.EXCEPT if said[:3] not in ("but", "not"))
_NUMBERED: Final = ("only", "just", "nothing")
_HANDLING: Final = frozenset(("put", "bring", "pick", "drop", "throw", "discard"))
_JOINS: Final = (",", "but", ", but", "and", ", and", "instead", ", instead", "but rather", ", but rather", "rather")
_RATHER: Final = ("instead of", "rather than")
_NEGATED: Final = ("do", "never", "not")
_AGAIN: Final = (*_NEGATED, "without", "leave", "keep", "please")
_ADDING: Final = frozenset(("and", "then", "also", "or", "nor", "next", "finally", "lastly", "afterwards"))


class EnglishOrderParser(EnglishParser):
    """An order, and what is forbidden before it. "And" leaves the scope of a negation open, except before "everything
    else"; a comma or "but" ends it."""

    def clauses(self) -> list[Clause]:
        forbidden, joined = Prohibitions(), ""
        while found := self._prohibition_and_join():
            forbidden, joined = forbidden.also(found[0]), found[1]
        if not forbidden:
            instead = self.tokens[-1:] == ["instead"]  # of what was ordered earlier
            self.tokens = self.tokens[:-1] if instead else self.tokens
            found_orders = super().clauses()
            if instead and len(found_orders) > 1:
                raise NotUnderstood("planner.word", word="instead")
            return found_orders
        if self.tokens[-1] == "instead":
            self.tokens = self.tokens[:-1]
        orders = super().clauses()
        others = orders[0].what and all(noun.other for noun in orders[0].what)
        if joined.endswith("and") and forbidden.negated and not others:
            raise NotUnderstood("planner.negation", "negation", word=forbidden.negated)
        return forbidden.applied(orders)

    def is_prohibition(self) -> bool:
        """Is the whole sentence one, so that the order may come in the next?"""
        mark, kept = self.at, self.kept
        try:
            return self._prohibition() is not None and self.at == len(self.tokens)
        except NotUnderstood:
            return False
        finally:
            self.at, self.kept = mark, kept

    def _prohibition_and_join(self) -> tuple[Prohibitions, str] | None:
        """A prohibition that an order or another one follows, with what joins them; None and nothing consumed."""
        mark = self.at
        try:
            found = self._prohibition()
        except NotUnderstood:
            found = None
        joined = self.phrase(_JOINS) if found is not None else ""
        apart = joined or (found is not None and found.negated in _RATHER)
        if found is not None and apart and not (found.of_all and joined != ","):
            here = self.at
            if found.denied and "but" in joined and self.phrase(lexicon_en.PREPS):  # "not in the box but in the basket"
                pronoun = "it" if len(found.denied) == 1 else "them"
                self.tokens = [*self.tokens[:here], "put", pronoun, *self.tokens[here:]]
                self.at = here
            again = self.ahead() in _AGAIN and not (joined.endswith("and") and self.ahead() not in _NEGATED)
            ends = self.noun_here() and re.search(rf" (?:{lexicon_en.SHALL}) ", " ".join(self.tokens[self.at :]))
            if again or ends or (self.verb_here() and self.ahead() not in _ADDING):
                return found, joined
        self.at = mark
        return None

    def _prohibition(self) -> Prohibitions | None:
        """ "(please) do not touch NP", "do not put NP in NP", "not NP", "leave NP where it is", "NP stays"."""
        self.at = len(self.tokens) - len(english_manners.strip_openers(self.tokens[self.at :]))
        if self.ahead() in ("leave", "keep"):
            self.kept = []
            left = self.protection(True)
            kept, self.kept = tuple(self.kept), []
            return Prohibitions(keep=kept) if left else None
        if left_alone := self.staying():
            return Prohibitions(keep=left_alone)
        if self.phrase(_EXCEPT):
            nouns = self._denied(excepted=True)
            return Prohibitions(keep=nouns, of_all=True) if nouns else None
        negated = self.phrase(("do not", "never", "without", "not", *_RATHER))
        if not negated:
            return None
        if negated in ("not", *_RATHER) and self.noun_here() and not self.verb_here():
            return self._meant_not(negated)
        if negated == "without":
            base = lexicon_en.base_forms()["gerund"] | {"touching": "touch", "disturbing": "disturb", "using": "use"}
            self.tokens = [*self.tokens[: self.at], base.get(self.ahead(), ""), *self.tokens[self.at + 1 :]]
        if (placed := self.denied_place()) is not None:
            plain = all(map(_plain, placed.denied)) or (len(placed.denied) == 1 and placed.denied[0].pronoun)
            return placed if plain else None
        verb = self.phrase((*lexicon_en.VERBS, *_TOUCH))
        act = lexicon_en.VERBS.get(verb, "pick")
        if not verb or not (act in _HANDLING or verb == "remove"):
            return None
        self.phrase(("me", "us") if act == "bring" else ())
        nouns = self._denied()
        if not nouns:
            return None
        particle = self.phrase(("up", "away", "out"))
        if act == "discard" or (particle == "away" and act in ("put", "throw")):
            return Prohibitions(negated, denied=nouns)
        return Prohibitions(negated, keep=nouns, barred=nouns)

    def _meant_not(self, negated: str) -> Prohibitions | None:
        """ "Not the plum": no thing to move, and no place either."""
        nouns = self._denied()
        return Prohibitions(negated, keep=nouns, barred=nouns) if nouns else None

    def _denied(self, *, excepted: bool = False) -> tuple[NounPhrase, ...]:
        """What is forbidden; () where "not" may be said of the number: "not all", "not only"."""
        if not (self.noun_here() or (excepted and self.general_there())):
            return ()
        nouns, _ = self.left_out(placed=False, excepted=excepted)
        if not all(noun.at or _plain(noun) for noun in nouns):
            return ()
        return tuple(replace(n, quantity="all", plural=True) if n.text.startswith("any ") else n for n in nouns)


def _plain(noun: NounPhrase) -> bool:
    """Is "not" said of the thing itself, and not of how many?"""
    return not (noun.pronoun or noun.quantity == "all" or noun.text.split()[0] in _NUMBERED)
