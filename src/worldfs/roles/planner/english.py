"""The English reader: text to clauses by a small grammar that must consume every word, or refuses."""

from __future__ import annotations

import re
from dataclasses import replace

from ...ground.model import Vec
from . import words
from .intent import Clause, NotUnderstood, Noun
from .phrase import share_heads
from .vocabulary import Vocabulary

_TOKEN = re.compile(r"[+-]?\d+(?:\.\d+)?(?![\w])|[a-z0-9_][\w\-']*|[^\s]", re.I)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?$")
_CONTRACTIONS = (("don't", "do not"), ("dont", "do not"), ("i'd", "i would"))
_DESTINATIONS = ("in", "on", "to", "at", "beside")
Place = tuple[str, tuple[Noun, ...] | Vec]


def split(text: str) -> list[str]:
    """Tokens, lower case; numbers, ids, words and every other sign on its own."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        long = next((plain for short, plain in _CONTRACTIONS if token == short), token)
        found += long.split()
    return found


def is_question(tokens: list[str]) -> bool:
    """Asked rather than ordered: by its first word, or by its mark; polite requests are orders."""
    rest = strip_openers(tokens)
    request = requested(rest)
    if request:
        rest = strip_openers(rest[len(request.split()) :])
        return bool(rest) and _asks(rest)
    return _asks(rest) or "?" in rest


def _asks(tokens: list[str]) -> bool:
    """By its first word. "do" asks only before who or what does it: "do a backflip" is an order."""
    if tokens[:1] == ["do"]:
        return tokens[1:2] != [] and tokens[1] in words.DOERS
    return bool(tokens) and tokens[0] in words.QUESTIONS


def requested(tokens: list[str]) -> str:
    """The polite form that the sentence begins with ("could you"), "" for none."""
    return next((r for r in words.REQUESTS if tokens[: len(r.split())] == r.split()), "")


def strip_openers(tokens: list[str]) -> list[str]:
    openers = sorted((o.split() for o in words.OPENERS), key=len, reverse=True)
    while tokens:
        size = next((len(o) for o in openers if tokens[: len(o)] == o), 1 if tokens[0] == "," else 0)
        if not size:
            return tokens
        tokens = tokens[size:]
    return tokens


class English:
    """Reads one sentence; `clauses` returns all of it or raises NotUnderstood."""

    def __init__(self, tokens: list[str], vocabulary: Vocabulary) -> None:
        tokens = strip_openers(tokens)
        tokens = strip_openers(tokens[len(requested(tokens).split()) :])
        while tokens and tokens[-1] in ("?", ",", "!", "."):
            tokens = tokens[:-1]
        self.tokens, self.at, self.vocabulary = tokens, 0, vocabulary
        self.kept: list[Noun] = []

    # -- small steps over the tokens ------------------------------------------------------------------------------

    def ahead(self, n: int = 0) -> str:
        return self.tokens[self.at + n] if self.at + n < len(self.tokens) else ""

    def phrase(self, phrases: object) -> str:
        """The longest of the phrases that stands here, consumed; "" for none."""
        found = ""
        for phrase in phrases:  # type: ignore[attr-defined]
            parts = phrase.split()
            if len(phrase) > len(found) and self.tokens[self.at : self.at + len(parts)] == parts:
                found = phrase
        self.at += len(found.split())
        return found

    def verb_here(self) -> bool:
        mark = self.at
        strip = strip_openers(self.tokens[mark:])
        self.at = len(self.tokens) - len(strip)
        found = bool(self.phrase(words.VERBS))
        self.at = mark
        return found

    # -- the grammar ----------------------------------------------------------------------------------------------

    def clauses(self) -> list[Clause]:
        found: list[Clause] = []
        while self.at < len(self.tokens):
            if self.protection(bool(found)):
                if self.at < len(self.tokens):
                    raise NotUnderstood("after_protection", "negation", word=self.ahead())
                break
            found.append(self.clause(found[-1] if found else None))
            self.closers()
            if self.at < len(self.tokens) and not self.protecting():
                self.join()
        if self.kept:
            found = [*found[:-1], with_kept(found[-1], tuple(self.kept))] if found else []
        return found

    def join(self) -> None:
        mark = self.at
        comma = self.ahead() == ","
        self.at += comma
        if not (self.phrase(words.JOINS) or comma):
            raise NotUnderstood("word", word=self.ahead())
        if self.at >= len(self.tokens):
            self.at = mark
            raise NotUnderstood("word", word=self.ahead())

    def closers(self) -> None:
        while True:
            mark = self.at
            self.at += self.ahead() == ","
            if not self.phrase(tuple(c for c in words.CLOSERS if c not in ("first", "carefully"))):
                self.at = mark
                return

    def protecting(self) -> bool:
        mark = self.at
        found = self.protection(True, look=True)
        self.at = mark
        return found

    def protection(self, after: bool, look: bool = False) -> bool:
        """`(and|but|,) do not touch NP`, `without touching NP`, `leave NP alone`: only after something was ordered."""
        mark = self.at
        while self.ahead() in (",", "and", "but"):
            self.at += 1
        negated = self.phrase(("do not", "never", "without", "please do not"))
        leaving = "" if negated else self.phrase(("leave", "keep"))
        if not (negated or leaving) or not after:
            self.at = mark
            return False
        if look:
            return True
        if negated:
            if self.ahead() not in words.PROTECT:
                raise NotUnderstood("negation", "negation", word=negated)
            self.at += 1
            self.phrase(("up", "away"))
        nouns = self.nouns()
        ends = ("alone", "where it is", "where they are", "there", "in place", "out", "as it is")
        if leaving:
            self.phrase(ends)
        self.kept += nouns
        return True

    def clause(self, before: Clause | None) -> Clause:
        self.at = len(self.tokens) - len(strip_openers(self.tokens[self.at :]))
        verb = self.phrase(words.VERBS)
        if not verb:
            # "put the apple in the basket and the can on the table": the verb is understood again
            if before is not None and before.act == "put" and self.noun_here():
                verb = "put"
            else:
                raise NotUnderstood("verb", word=self.ahead() or "…")
        act = words.VERBS[verb]
        if verb == "move" and self.ahead() in ("to", "above", "over"):
            raise NotUnderstood("word", word=self.ahead())
        if act in ("home", "open", "close"):
            return Clause(act)
        if act == "go":
            return self.going(verb)
        if verb == "get" or (verb == "set" and self.ahead() == "up"):
            self.phrase(("me",))
        if act == "bring":
            self.phrase(("me", "us"))
        if act == "sort" and self.ahead() == "by":
            return self.sorting(())
        what = self.nouns() if self.noun_here() else ()
        mark = self.at
        particle = self.phrase(words.PARTICLES.get(act, ())) if what else ""
        if particle == "off" and self.noun_here():  # "everything off the table" says from where
            self.at, particle = mark, ""
        if act == "put" and particle in ("down", "away"):
            act = "down" if particle == "down" else "clear"
        alone = verb in ("tidy", "tidy up", "clean up", "clear up") or act in ("drop", "down")
        if not what and not alone:
            raise NotUnderstood("object", verb=verb) if self.at >= len(self.tokens) else self._lost()
        if act == "sort":
            return self.sorting(what)
        places, but = self.places(act)
        return Clause(act, what, places, but)

    def _lost(self) -> NotUnderstood:
        word = self.ahead()
        return NotUnderstood("noun", word=word, hint=self.vocabulary.near_miss(word))

    def going(self, verb: str) -> Clause:
        if verb == "go" and (spot := self.coordinates()) is None:
            raise NotUnderstood("word", word=self.ahead() or verb)
        if verb == "go":
            return Clause("go", (), (("at", spot),)) if spot else self._never()
        self.phrase(("above", "over"))
        spot = self.coordinates()
        if spot is not None:
            return Clause("go", (), (("at", spot),))
        if not self.noun_here():
            raise NotUnderstood("noun", word=self.ahead() or verb, hint=self.vocabulary.near_miss(self.ahead()))
        nouns = self.nouns()
        places, but = self.places("go")
        return Clause("go", nouns, places, but)

    def _never(self) -> Clause:
        raise NotUnderstood("word", word=self.ahead())

    def sorting(self, what: tuple[Noun, ...]) -> Clause:
        places, but = self.places("sort")
        by = ""
        if self.phrase(("by",)):
            self.phrase(("their", "the"))
            word = self.ahead()
            self.at += 1
            by = {"color": "colour", "colour": "colour", "colors": "colour", "colours": "colour"}.get(word, "")
            by = by or ("kind" if word in ("kind", "kinds", "type", "types", "category", "sort") else "")
            if not by:
                raise NotUnderstood("sort_by", word=word)
        more, but2 = self.places("sort")
        if not by:
            raise NotUnderstood("sort_by", word="…")
        return Clause("sort", what, (*places, *more), (*but, *but2), by)

    def places(self, act: str) -> tuple[tuple[Place, ...], tuple[Noun, ...]]:
        """Prepositional phrases and exceptions, as many as follow."""
        found: list[Place] = []
        but: list[Noun] = []
        while True:
            mark = self.at
            if self.phrase(("to me", "to us", "here")) and act == "bring":
                continue
            self.at = mark
            comma = self.ahead() == ","
            self.at += comma
            if self.phrase(words.EXCEPT):
                if not self.noun_here():
                    self.at = mark
                    return tuple(found), tuple(but)
                but += self.nouns()
                continue
            self.at = mark
            self.phrase(("that is", "that are", "which is", "which are", "lying", "standing", "sitting"))
            middle = self.at
            prep = self.phrase(words.PREPS)
            if not prep or (act == "sort" and prep == "by"):
                self.at = mark if middle == mark or not prep else middle
                if prep == "by" or not prep:
                    self.at = mark
                return tuple(found), tuple(but)
            spot = self.coordinates()
            if spot is not None:
                found.append(("at", spot))
            elif self.noun_here():
                found.append((words.PREPS[prep], self.nouns(gap=True)))
            else:
                word = self.ahead()
                raise NotUnderstood("noun", word=word or prep, hint=self.vocabulary.near_miss(word))

    def coordinates(self) -> Vec | None:
        """`(x, y[, z])` or `x, y, z`, metres; None and nothing consumed when there is none."""
        mark, found = self.at, []
        bracket = self.phrase(("(", "["))
        while _NUMBER.match(self.ahead()):
            found.append(float(self.ahead()))
            self.at += 1
            if self.ahead() == "," and _NUMBER.match(self.ahead(1)):
                self.at += 1
        closed = self.phrase((")", "]")) if bracket else "x"
        if len(found) not in (2, 3) or not closed:
            self.at = mark
            return None
        return tuple(found)

    def noun_here(self) -> bool:
        word = self.ahead()
        if word in ('"', "“", "'", "‘"):
            word = self.ahead(1)
        if word in words.ALL | words.ANY | words.THE | words.PRONOUNS or word in words.NUMBERS:
            return True
        return bool(word) and (word.isdigit() or self.vocabulary.english_word(word) is not None)

    def nouns(self, gap: bool = False) -> tuple[Noun, ...]:
        """`NP (, NP)* and NP`; a bare colour borrows the head of the next: "the red and blue cubes".

        `gap`: a noun with a place of its own begins the next clause ("… in the basket and the can on the table").
        """
        found = [self.noun()]
        while True:
            mark = self.at
            self.at += self.ahead() == ","
            self.phrase(("as well as", "and"))
            if self.at == mark or self.verb_here() or not self.noun_here():
                self.at = mark
                break
            following = self.noun()
            if gap and self.ahead() in {p.split()[0] for p in words.PREPS}:
                self.at = mark
                break
            found.append(following)
        return share_heads(found)

    def noun(self) -> Noun:
        start, quantity, count = self.at, "", 0
        quote = self.phrase(('"', "“", "'", "‘"))
        if self.ahead() in words.PRONOUNS:
            self.at += 1
            return Noun(self.tokens[self.at - 1], pronoun=True)
        word = self.ahead()
        if word in words.ALL and self.vocabulary.english_word(word) is None:
            self.at += 1
            quantity = "all"
            count = 2 if word == "both" else 0
            if word == "everything":
                return Noun("everything", (("everything", frozenset("*")),), "all", plural=True)
            self.phrase(("of",))
            if self.ahead() in words.PRONOUNS:
                self.at += 1
                return Noun(f"{word} of them", quantity="all", count=count, pronoun=True, plural=True)
        if self.ahead() in words.THE:
            self.at += 1
            quantity = quantity or "the"
        elif self.ahead() in words.ANY and not quantity:
            self.at += 1
            quantity = "any"
            self.phrase(("of the",))
        if self.ahead() in words.NUMBERS or (self.ahead().isdigit() and self.ahead(1) not in ("", ",")):
            count = words.NUMBERS.get(self.ahead()) or int(self.ahead())
            self.at += 1
            quantity = quantity or "any"
        quote = quote or self.phrase(('"', "“", "'", "‘"))
        found: list[tuple[str, frozenset[str]]] = []
        plural = False
        while (word := self.ahead()) and (keys := self.vocabulary.english_word(word)) is not None:
            joined = (f"{word}_{self.ahead(1)}", f"{word}_{self.ahead(1).zfill(2)}", f"{word}{self.ahead(1)}")
            match = next((j for j in joined if self.ahead(1).isdigit() and f"i:{j}" in self.vocabulary.raw), "")
            self.at += 2 if match else 1
            found.append((match or word, frozenset((f"i:{match}",)) if match else keys))
            plural = (words.singular(word) != word and not any(k.startswith("i:") for k in keys)) or word == "stuff"
            if word in ("fruit", "stuff") and quantity in ("", "the"):
                plural = True
        if quote and not self.phrase(('"', "”", "'", "’")):
            raise NotUnderstood("word", word=quote)
        if not found:
            if quantity == "all" and word != "every" and self.at > start:
                return Noun("all", (("all", frozenset("*")),), "all", count, True)
            word = self.ahead()
            raise NotUnderstood("noun", word=word or self.tokens[self.at - 1], hint=self.vocabulary.near_miss(word))
        return Noun(" ".join(self.tokens[start : self.at]), tuple(found), quantity, count, plural)


def with_kept(clause: Clause, keep: tuple[Noun, ...]) -> Clause:
    return replace(clause, keep=(*clause.keep, *keep))
