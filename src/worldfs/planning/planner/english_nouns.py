"""English noun phrases, numbers and lengths: the base of the clause parser."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from worldfs.base.model import Vec

from . import english_manners, lexicon_en
from .intent import NotUnderstood, NounPhrase
from .phrase_heads import has_head, is_colour, share_heads
from .vocabulary import Vocabulary, Word

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?$")
_BEFORE_NOUN = {"of", "other", "remaining", *lexicon_en.THE, *lexicon_en.BEST, *lexicon_en.PRONOUNS, '"', "“", "'"}
_AXES = ("x", "y", "z")
FIRST_PREPS = frozenset(p.split()[0] for p in lexicon_en.PREPS)
_OTHER = ("other", "remaining")
_ONLY = ("only", "just")
_NARROWING = (
    "only", ", only", ", just", ", but only", "but only", ", but just", "but just", ", and only", "and only",
)  # fmt: skip
_EACH = (
    ", and",
    ", or",
    ", nor",
    "as well as",
    ", as well as",
    "and",
    "or",
    "nor",
    ",",
)  # of what is left out: all of it
_OF_THEM = ("of the", "of these", "of those", "of all the", "of all", "of my", "of your")
_ONE = ("a", "the", "that", "this", "my", "your")
_PAIR = tuple(f"{which} pair of" for which in _ONE)
_WHAT_IS = ("what is", "what 's", "whatever is", "what lies", "what stands", "what you find", "what there is")
_LYING = ("lying", "standing", "sitting")
_STANDS = (
    *_LYING,
    *(f"{which} {how}" for which in ("that", "which") for how in ("is", "are", "lies", "lie", "stands", "stand")),
    *(f"{which} {be} {how}" for which in ("that", "which") for be in ("is", "are") for how in (*_LYING, "still")),
)  # fmt: skip
_WHICH = ("that is", "which is", "that are", "which are")


def things_at(side: str, where: NounPhrase) -> NounPhrase:
    """All that is in or on something."""
    return NounPhrase("things", (("things", frozenset("*")),), "all", plural=True, at=((side, where),))


class EnglishNounParser:
    """A list of tokens and a position in it."""

    def __init__(self, tokens: list[str], vocabulary: Vocabulary) -> None:
        self.tokens, self.at, self.vocabulary = tokens, 0, vocabulary
        self.without: list[Word] = []

    def ahead(self, n: int = 0) -> str:
        return self.tokens[self.at + n] if self.at + n < len(self.tokens) else ""

    def phrase(self, phrases: Iterable[str]) -> str:
        """The longest of the phrases at this position, consumed; "" for none."""
        found, here = "", self.ahead()
        for phrase in phrases:
            if len(phrase) > len(found) and phrase.startswith(here):
                parts = phrase.split()
                if self.tokens[self.at : self.at + len(parts)] == parts:
                    found = phrase
        self.at += len(found.split())
        return found

    def pattern(self, pattern: str) -> str:
        """What the pattern matches at this position, by whole words, consumed; "" for nothing."""
        found = re.match(rf"(?:{pattern})(?= |$)", " ".join(self.tokens[self.at :]))
        self.at += len(found.group().split()) if found else 0
        return found.group() if found else ""

    def verb_here(self) -> bool:
        mark = self.at
        self.at = len(self.tokens) - len(english_manners.strip_openers(self.tokens[mark:]))
        found = bool(self.phrase(lexicon_en.VERBS))
        self.at = mark
        return found

    def coordinates(self) -> Vec | None:
        """`(x, y[, z])`, `x, y, z` or `x=… y=…`, metres; None and nothing consumed when there is none."""
        mark = self.at
        found: list[float] = []
        bracket = self.phrase(("(", "["))
        named = self.ahead() == "x"
        while len(found) < 3:
            here = self.at
            if named and self.phrase((_AXES[len(found)],)):
                self.phrase(("=", ":"))
            elif named:
                break
            if not _NUMBER.match(self.ahead()):
                self.at = here
                break
            found.append(float(self.ahead()))
            self.at += 1
            here = self.at
            if self.phrase((",", "and")) and not (_NUMBER.match(self.ahead()) or (named and self.ahead() in _AXES)):
                self.at = here
        unit = self._unit()
        closed = self.phrase((")", "]")) if bracket else "x"
        if len(found) not in (2, 3) or not closed:
            self.at = mark
            return None
        unit = unit or self._unit() or 1.0
        return tuple(round(v * unit, 6) for v in found)

    def _unit(self) -> float:
        unit = self.phrase(lexicon_en.UNITS)
        return lexicon_en.UNITS[unit] if unit else 0.0

    def length(self) -> float:
        """`10 cm`, `ten centimetres`, `a bit`: metres; 0.0 and nothing consumed for none."""
        mark = self.at
        self.phrase(("by", "about", "by about"))
        if self.phrase(lexicon_en.A_BIT):
            return lexicon_en.A_BIT_M
        word = self.ahead()
        number = float(word) if _NUMBER.match(word) else float(lexicon_en.NUMBERS.get(word, 0))
        if not number and (amount := self.phrase(lexicon_en.AMOUNTS)):
            number = lexicon_en.AMOUNTS[amount]
        else:
            self.at += 1
        unit = self._unit() if number > 0 else 0.0
        if not unit:
            self.at = mark
        return number * unit

    def noun_here(self) -> bool:
        word = self.ahead()
        if word in ('"', "“", "'", "‘", "only", "just", "either"):
            word = self.ahead(1)
        if word == "what" and any(self.tokens[self.at : self.at + len(p.split())] == p.split() for p in _WHAT_IS):
            return True
        if self.anything_here():
            return True
        if word in ("whatever", "whichever", "non") or (word == "nothing" and self.ahead(1) in ("but", "except")):
            return True
        if word in lexicon_en.ALL | lexicon_en.ANY | lexicon_en.THE | lexicon_en.PRONOUNS or word in lexicon_en.NUMBERS:
            return True
        if word in ("other", "others", "remaining", *lexicon_en.BEST):
            return True
        return bool(word) and (word.isdigit() or self.vocabulary.english_word(word) is not None)

    def anything_here(self) -> bool:
        """ "Anything yellow", "anything that is yellow": all of it. "Anything" alone does not say which."""
        if self.ahead() != "anything":
            return False
        coloured = any(key[:2] == "c:" for key in self.vocabulary.english_word(self.ahead(1)) or ())
        return coloured or (self.ahead(1) in ("that", "which") and self.ahead(2) in ("is", "are"))

    def nouns(self, gap: bool = False, then: bool = False) -> tuple[NounPhrase, ...]:
        """`NP (, NP)* and NP`; a bare colour borrows the head of the next: "the red and blue cubes".

        `then`: the things may be told in their order ("the apple, then the can").
        `gap`: a noun with a place of its own begins the next clause ("… in the basket and the can on the table"), with
        those between the place and it ("… in the basket and the plate and the can on the table").
        """
        between = gap and self.tokens[self.at - 1] == "between"
        self.phrase(("either",))
        of_list = self.ahead() == "both" or (
            self.ahead() in ("all", "each") and "the" in (self.ahead(1), self.ahead(2))
        )
        found = [self._first_of_both() or self.noun()]
        if of_list and self.ahead() in ("and", ",") and not (found[0].plural or found[0].pronoun):
            found[0] = replace(found[0], quantity="the", count=0)  # "both the cup and the mug", "all of the cup and …"
        marks = [self.at]
        while True:
            mark = self.at
            if not gap and self.phrase(("or",)) and self.noun_here() and not self.verb_here():
                options = found.pop()
                choice = (*(options.options or (options,)), self.noun())
                found.append(NounPhrase(" or ".join(o.text for o in choice), options=share_heads(list(choice))))
                continue
            self.at = mark
            self.at += self.ahead() == ","
            if self.ahead() in _ONLY or (self.ahead() == "but" and self.ahead(1) in _ONLY):
                self.at = mark  # "the mugs, only the black one": of those
                break
            self.phrase(("as well as", "and", *(("and then", "then", "followed by") if then else ())))
            if self.at == mark or self.verb_here() or not self.noun_here():
                self.at = mark
                break
            following = self._next_number(found[-1]) or self.noun()
            if gap and (
                self.ahead() in FIRST_PREPS or self.ahead() == "there" or self._distance_here() or self._shall_here()
            ):
                first = 1 + between  # "between the cup and the plate" is one place
                found, self.at = (found, mark) if len(found) <= first else (found[:first], marks[first - 1])
                break
            found.append(following)
            marks.append(self.at)
        also = self.ahead(self.ahead() == ",")
        if gap and also in ("too", "also", "as") and len(found) > 1:  # "… in the tray, and the tomato too"
            found, self.at = found[:1], marks[0]
        if not has_head(found[-1]) and self.ahead().isalpha() and self.ahead() not in lexicon_en.FUNCTION:
            raise NotUnderstood("planner.noun", word=self.ahead(), hint=self.vocabulary.closest_word(self.ahead()))
        return share_heads(found)

    def _first_of_both(self) -> NounPhrase | None:
        """ "Both the phone charger and …": both is said of the list; None and nothing consumed for "both the mugs"."""
        mark = self.at
        if not (self.phrase(("both",)) and self.ahead() in lexicon_en.THE):
            self.at = mark
            return None
        first = self.noun()
        if first.plural or self.ahead() not in ("and", ","):
            self.at = mark
            return None
        return first

    def general_there(self) -> bool:
        """ "The things on the brick", "those in the box": "what is" there, and nothing consumed."""
        mark = self.at
        self.phrase(("all", "all of"))
        quantity = self.phrase(("the", "these", "those", "any", "anything", "everything", "all"))
        general = quantity in ("these", "those", "anything", "everything") or self.at > mark
        word = self.ahead()
        if "*" in (self.vocabulary.english_word(word) or ()) and self.vocabulary.is_plural(word):
            self.at, general = self.at + 1, True
        else:
            general &= quantity not in ("the", "any")
        end, side = self.at, lexicon_en.PREPS.get(self.phrase(lexicon_en.PREPS), "")
        found = general and side in ("in", "on", "beside", *lexicon_en.SIDES) and self.noun_here()
        self.at = mark
        if found:
            self.tokens = [*self.tokens[:mark], "what", "is", *self.tokens[end:]]
        return found

    def left_out(self, *, placed: bool, excepted: bool = False) -> tuple[tuple[NounPhrase, ...], tuple[str, ...]]:
        """Every item of a list after "except" or "not", and what joins each to the one before.

        `placed`: a place was said before the list, so after a comma an item with a place begins the next clause.
        `excepted`: after "except", where a place says which things are meant: "the things on the brick".
        Raises NotUnderstood where such an item follows "and" alone: "… not the plate and the spoon in the tray".
        """
        if excepted:
            self.general_there()
        found, joins = [self.noun()], []
        while True:
            mark = self.at
            joined = self.phrase(_EACH)
            if excepted:
                self.general_there()
            if not joined or self.verb_here() or not self.noun_here():
                break
            following = self._next_number(found[-1]) or self.noun()
            if placed and (self.ahead() in FIRST_PREPS or self._distance_here() or self.pattern(lexicon_en.SHALL)):
                if joined[0] != ",":
                    raise NotUnderstood("planner.left_or_meant", "ambiguous", what=following.text)
                break
            if joined == "," and not excepted and self._shall_here():  # "not the key, the can goes in the basket"
                break
            found.append(following)
            joins.append(joined)
        self.at = mark
        return share_heads(found), tuple(joins)

    def only_here(self) -> str:
        """ ", but only" before a noun, consumed; "" for none."""
        mark = self.at
        found = self.phrase(_NARROWING)
        if not found or not self.noun_here() or self.verb_here():
            self.at, found = mark, ""
        return found

    def narrowed(self, what: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
        """The things that are meant of those before: "the mugs, but only the black one"; all where none is said."""
        if not what or not (said := self.only_here()):
            return what
        only = self.noun()
        self.phrase((",",))
        headless = not only.words or all(w[0] in ("one", "ones") or is_colour(w) for w in only.words)
        if only.pronoun or only.options or (headless and len(what) > 1) or what[0].pronoun or what[0].options:
            raise NotUnderstood("planner.word", word=said.strip(", "))
        if not headless:
            return (only,)
        colours = tuple(word for word in only.words if is_colour(word))
        several = only.plural or (not only.best and not only.count and only.quantity == "all")
        return (replace(
            what[0], text=f"{what[0].text}, {said.strip(', ')} {only.text}",
            being=(*what[0].being, *colours, *only.being),
            quantity=only.quantity or "the", plural=several, count=only.count, best=only.best or what[0].best,
            best_of=only.best_of or what[0].best_of, side_word=only.side_word, size_word=only.size_word,
            of_two=only.of_two, at=(*what[0].at, *only.at), without=(*what[0].without, *only.without),
        ),)  # fmt: skip

    def _shall_here(self) -> bool:
        """ "… and the key goes in the crate": what it goes with begins the next clause."""
        mark = self.at
        found = self.shall() or self.pattern(lexicon_en.STAYS)
        self.at = mark
        return bool(found)

    def shall(self) -> str:
        """The words that an end is wanted with, consumed; "" for none."""
        return self.pattern(lexicon_en.SHALL)

    def _distance_here(self) -> bool:
        mark = self.at
        found = self.length()
        self.at = mark
        return found > 0

    def noun(self) -> NounPhrase:
        """One noun phrase, with the place where it is said to be: "everything that is in the box"."""
        found = self._noun()
        while not found.pronoun and (placed := self._standing(found)) is not None:
            found = placed
        return found

    def _standing(self, noun: NounPhrase) -> NounPhrase | None:
        """The noun with "that is in the box", "lying on the table"; None and nothing consumed for none."""
        mark = self.at
        stated = bool(self.phrase(_STANDS)) or (noun.text == "what is" and not noun.at)
        side = lexicon_en.PREPS.get(self.phrase(lexicon_en.PREPS), "") if stated else ""
        if side not in ("in", "on", "beside", *lexicon_en.SIDES) or not self.noun_here():
            self.at = mark
            return None
        there = self.noun_apart()
        said = self.tokens[mark - 1 : mark + 2] if mark else []
        if said in (["is", "left", "of"], ["'s", "left", "of"]) and noun.text == "what is" and not noun.at:
            raise NotUnderstood("planner.remainder", "ambiguous", what=there.text)  # beside it, or the rest of it?
        return replace(noun, at=(*noun.at, (side, there)))

    def _noun(self) -> NounPhrase:
        start = self.at
        self.phrase(("only", "just", "nothing but", "nothing except"))
        quote = self.phrase(('"', "“", "'", "‘"))
        if self.ahead() in lexicon_en.PRONOUNS:
            self.at += 1
            several, both = self.tokens[self.at - 1] == "them", self.ahead() == "both"
            self.at += several and self.ahead() in ("both", "all")
            return NounPhrase("them" if several else "it", pronoun=True, plural=several, count=2 * (several and both))
        if self.phrase(("the contents of", "contents of")):
            inner = self.noun()
            text = " ".join(self.tokens[start : self.at])
            return NounPhrase(text, (("things", frozenset("*")),), "all", plural=True, at=(("in", inner),))
        self.without = []
        mark = self.at
        pack = self._pack()
        pair = bool(pack) or (bool(self.phrase(_PAIR)) and self._words_here())
        self.at = self.at if pair else mark
        quantity, count, whole = ("the", 0, None) if pair else self._quantity()
        if whole is not None:
            return whole
        self.at += quantity == "all" and self.ahead() == "one" and self.ahead(1) == "of"  # "every one of the mugs"
        number = int(self.tokens[start : self.at][-1:] in (["a"], ["an"], ["one"]))
        freely, other = quantity == "any", bool(self.phrase(_OTHER))
        if self.ahead() in ("others", "rest") and quantity in ("", "the", "all"):
            rest = self.phrase(("rest of them", "rest of the", "rest", "others"))
            found = self._words("all")[0] if rest == "rest of the" else []
            found = found or [("rest", frozenset("*"))]
            return NounPhrase(rest, tuple(found), "all", plural=True, other=True, without=tuple(self.without))
        one = other and self.ahead() == "one" and self.vocabulary.english_word(self.ahead(1)) is None
        if (self.ahead() in lexicon_en.NUMBERS and not one) or (
            self.ahead().isdigit() and self.ahead(1) not in ("", ",") and self.ahead(1) not in lexicon_en.UNITS
        ):
            count = lexicon_en.NUMBERS.get(self.ahead()) or int(self.ahead())
            if not count:  # "0 apples" is not "an apple"
                raise NotUnderstood("planner.negation", "negation", word=self.ahead())
            self.at += 1
            freely, quantity = quantity == "any", quantity or "any"
        counted = count or self.tokens[start : self.at][-1:] == ["one"]
        if counted and self.ahead() == "more" and self.vocabulary.english_word("more") is None:
            self.at += 1  # "two more mugs"
        if quantity in ("any", "all") and self.phrase(("of them", "of those", "of these")):
            if self.tokens[self.at - 1] == "them" or not self._words_here():
                return NounPhrase(
                    f"{count or quantity} of them", quantity=quantity, count=count, pronoun=True, plural=True
                )
        elif quantity in ("any", "all"):
            freely = bool(self.phrase(_OF_THEM)) or freely
        pairs = count != 1 and bool(self.phrase(("pairs of",)))
        other = bool(self.phrase(_OTHER)) or other
        best = self._best(quantity)
        of_two = bool(best) and self.tokens[self.at - 1] in lexicon_en.COMPARED | lexicon_en.PLAIN_SIZES
        side_word = bool(best) and self.tokens[self.at - 1] in lexicon_en.BEST_SIDE
        size_word = bool(best) and self.tokens[self.at - 1] in lexicon_en.PLAIN_SIZES
        self.phrase(("only",))
        quote = quote or self.phrase(('"', "“", "'", "‘"))
        found, plural = self._words(quantity)
        if quote and not self.phrase(('"', "”", "'", "’")):
            raise NotUnderstood("planner.word", word=quote)
        if count and quantity == "any" and not freely and found and all("*" in senses for _, senses in found):
            quantity = "the"  # "three things": which, unless there are three?
        plural, pair = (plural or pairs) and not pair, pair or pairs
        several = plural  # "the heaviest cubes": how many is not said
        # "the heaviest of the cubes", "the heavier one of the two fruits", "the heaviest"
        if best and not any(words[0] not in ("one", "ones") for words in found):
            if self.phrase(("of the", "of all the", "of all", "of these", "of those", "of")):
                of_two = bool(self.phrase(("two",))) or of_two
                if self.ahead() in lexicon_en.UNITS or not self._words_here():
                    if not of_two:
                        self._stuck()
                else:
                    found, plural = self._words("all")
            found = found or [("one", frozenset("*"))]  # of those that were named before, or of all things
        if other and not found and quantity == "the" and not count:
            found = [("one", frozenset("*"))]  # "the other in the tray"
        if not found:
            if self.without:  # "all non-bottles", "all non-red": of what?
                raise NotUnderstood("planner.noun", word=" ".join(self.tokens[start : self.at]), hint="")
            if quantity == "all" and self.tokens[self.at - 1] != "every" and self.at > start:
                return NounPhrase("all", (("all", frozenset("*")),), "all", count, True)
            self._stuck()
        numbered = count > 1 and quantity != "all"
        if numbered and not (best or plural) and len(found) > 1 and not any(map(self._describes, found)):
            raise NotUnderstood("planner.word", word=str(count))  # "the 3 kg weight": no count, and of no name
        if measured := self.vocabulary.measured_otherwise(count or number, found):  # "the 1 litre bottle", of 2 litres
            what = " ".join(self.tokens[start : self.at])
            raise NotUnderstood("planner.perhaps", "ambiguous", measured, what=what)
        some = self.tokens[start : start + 1] == ["some"] and not (plural or count or best)
        some = some and not any("*" in senses for _, senses in found)
        if best:
            quantity, plural = "the", bool(count) or (several and self.vocabulary.is_plural(found[-1][0]))
        said = self.tokens[start : self.at]
        text, owner = " ".join(said), next((word for word in said if word in lexicon_en.POSSESSIVES), "")
        read = NounPhrase(
            text, tuple(found), quantity, count, plural, best=best, other=other, of_two=of_two, side_word=side_word,
            size_word=size_word, pair=pair, pack=pack, portion="some" if some else "", owner=owner,
        )  # fmt: skip
        return replace(self._after(read, start), without=tuple(self.without))

    def _pack(self) -> str:
        """The pack of "a packet of chips"; "" and nothing consumed where a thing of the scene may be called so."""
        mark = self.at
        if self.phrase(_ONE):
            word = self.ahead()
            self.at += 1
            known = word not in lexicon_en.PACKS or self.vocabulary.names_a_thing(word)
            if not known and self.phrase(("of",)) and self._words_here():
                return word
        self.at = mark
        return ""

    def _words_here(self) -> bool:
        return self.ahead() == "non" or self.vocabulary.english_word(self.ahead()) is not None

    def _stuck(self) -> None:
        """No noun where one must be; a superlative that the scene cannot tell is named as that."""
        word = self.ahead()
        if word.endswith("est") or word == "most":
            word = f"{word} {self.ahead(1)}".strip() if word == "most" else word
            raise NotUnderstood("planner.not_compared", "missing", word=word)
        raise NotUnderstood(
            "planner.noun",
            word=word or "".join(self.tokens[self.at - 1 : self.at]) or "…",
            hint=self.vocabulary.closest_word(word),
        )

    def _describes(self, word: Word) -> bool:
        return is_colour(word) or word[0] in lexicon_en.PLAIN_SIZES

    def _quantity(self) -> tuple[str, int, NounPhrase | None]:
        """all | the | any and a count; or the whole phrase, where that is all of it."""
        quantity, count, word = "", 0, self.ahead()
        if self.anything_here():
            self.tokens = [*self.tokens[: self.at], "everything", *self.tokens[self.at + 1 :]]
            word = "everything"
        if word in lexicon_en.ALL and self.vocabulary.english_word(word) is None:
            self.at += 1
            quantity = "all"
            count = 2 if word == "both" else 0
            if word == "everything" and self.ahead() in ("that", "which"):
                self.tokens = [*self.tokens[: self.at], "things", *self.tokens[self.at :]]
            elif word == "everything":
                other = bool(self.phrase(("else",)))
                colour = self._colour()
                words = (*((colour,) if colour else ()), (word, frozenset("*")))
                return "", 0, NounPhrase(word, words, "all", plural=True, other=other)
            if word == "both" and not (self._words_here() or self.ahead() in (*_BEFORE_NOUN, "pairs")):
                return "", 0, NounPhrase(word, quantity="all", count=2, pronoun=True, plural=True)
            self.phrase(("of",))
            if self.ahead() in lexicon_en.PRONOUNS:
                self.at += 1
                return "", 0, NounPhrase(f"{word} of them", quantity="all", count=count, pronoun=True, plural=True)
        if self.phrase(_WHAT_IS):
            return "", 0, NounPhrase("what is", (("things", frozenset("*")),), "all", plural=True)
        if self.phrase(("whatever", "whichever")):
            told = next((n for n in range(self.at, len(self.tokens)) if self.tokens[n] in ("is", "are")), -1)
            if told < 0 and not self._words_here():
                raise NotUnderstood("planner.noun", word=self.tokens[self.at - 1])
            if told >= 0:
                self.tokens[told:told] = ["that"] if told > self.at else ["thing", "that"]
            quantity = "the"
        elif self.ahead() in lexicon_en.THE:
            self.at += 1
            quantity = quantity or "the"
        elif self.ahead() in lexicon_en.ANY and not quantity:
            self.at += 1
            quantity = "any"
            if self.tokens[self.at - 1] == "another":
                self.at -= 1
                self.tokens = [*self.tokens[: self.at], "other", *self.tokens[self.at + 1 :]]
            self.phrase(("of the",))
        return quantity, count, None

    def _best(self, quantity: str) -> str:
        """A superlative: "the heaviest …", "the left …" before a noun."""
        word = self.ahead()
        if word in lexicon_en.BEST_SIDE and not (
            quantity == "the" and self.ahead(1) and self.vocabulary.english_word(self.ahead(1))
        ):
            return ""
        found = lexicon_en.BEST.get(word, "")
        if quantity == "the" and word in lexicon_en.COMPARED and self.ahead(1) not in ("to", "from"):
            found = lexicon_en.COMPARED[word]
        if quantity == "the" and word in lexicon_en.PLAIN_SIZES and self._names_a_thing(self.ahead(1)):
            found = lexicon_en.PLAIN_SIZES[word]
        self.at += bool(found)
        return found

    def _names_a_thing(self, word: str) -> bool:
        return bool(word) and self.vocabulary.english_word(word) is not None

    def _words(self, quantity: str) -> tuple[list[Word], bool]:
        found: list[Word] = []
        plural = False
        denying = ("non", "not") if quantity == "all" else ("non",)  # "all not plastic cups"
        while self.ahead() in denying and (keys := self.vocabulary.english_word(self.ahead(1))) is not None:
            denied, *rest = self.vocabulary.said(self.ahead(1), keys)
            self.without.append(denied)
            found += rest  # "non-plastic cup" with a plastic cup: its name is no reason to deny the cup as well
            plural = bool(rest) and self.vocabulary.is_plural(rest[-1][0])
            self.at += 2
            if rest:
                break
        while word := self.ahead():
            keys = self.vocabulary.english_word(word)
            if keys is None and quantity and not found and word in self.vocabulary.head_forms:
                keys = frozenset((f"w:{word}",))  # "the set": a verb elsewhere, and here the head of a name
            if keys is None and quantity and word in self.vocabulary.states and self._names_a_thing(self.ahead(1)):
                keys = frozenset((f"w:{word}",))  # "the empty dish": a verb elsewhere
            if keys is None or (word == "can" and found and self.ahead(1) in ("go", "be")):  # "the carton can go in …"
                break
            said = self.vocabulary.said(word, keys)
            if numbered := self._numbered(said[-1]):
                said = (*said[:-1], numbered)
                self.at += 1
            self.at += 1
            found += said
            plural = (not numbered and self.vocabulary.is_plural(found[-1][0])) or word == "stuff"
            if word in lexicon_en.COLLECTIVE and quantity in ("", "the"):
                plural = True
        return found, plural

    def _numbered(self, word: Word) -> Word | None:
        """The things that are named with this word and the number after it; none for "the cube 9 cm to the left"."""
        number = self.ahead(1)
        if not number.isdecimal() or self.ahead(2) in lexicon_en.UNITS:
            return None
        named = self.vocabulary.named_with(word, number)
        if not named and self.vocabulary.counts(word):
            raise NotUnderstood("planner.noun", word=f"{word[0]} {number}", hint="")
        return (f"{word[0]} {number}", named) if named else None

    def _next_number(self, before: NounPhrase) -> NounPhrase | None:
        """ "10" after "cubes 9 and": another thing of that name; None and nothing consumed for none."""
        name, _, said = before.words[-1][0].rpartition(" ") if before.words else ("", "", "")
        number, after = self.ahead(), self.ahead(1)
        if not (name and said.isdecimal() and number.isdecimal()) or after in lexicon_en.UNITS:
            return None
        if self.vocabulary.english_word(after) is not None:
            return None
        keys = self.vocabulary.named_with((name, self.vocabulary.senses(name)), number)
        if not keys:
            return None
        self.at += 1
        return replace(before, text=f"{name} {number}", words=(*before.words[:-1], (f"{name} {number}", keys)))

    def _after(self, noun: NounPhrase, start: int) -> NounPhrase:
        """What follows a noun and still says which: "nearest to the basket", "on the left", "that is not red"."""
        mark = self.at
        aside = self.ahead() == "," and self.ahead(1) in ("which", "that")
        self.at += aside
        linked = self.phrase(_WHICH)
        if linked and self.phrase(("not",)):
            here = self.at
            side = lexicon_en.PREPS.get(self.phrase(lexicon_en.PREPS), "")
            if side in ("in", "on") and self.noun_here():
                there = things_at(side, self.noun_apart())
                return replace(noun, but=(*noun.but, there), text=" ".join(self.tokens[start : self.at]))
            self.at = here
            words, _ = self._words("all")
            if words and all(map(is_colour, words)):
                self.without += words
                while self._colour_after(("or", "nor", ", or")):
                    self.without += self._words("all")[0]
            else:
                self.at = here
                noun = replace(noun, but=(*noun.but, *self._not_these(several=noun.plural)))
            return replace(noun, text=" ".join(self.tokens[start : self.at]))
        if linked and (colour := self._colour()):
            return replace(noun, being=(*noun.being, colour), text=" ".join(self.tokens[start : self.at]))
        self.phrase(("the",) if linked else ())
        near = self.phrase(lexicon_en.NEAREST)
        if not noun.best and near:
            noun = replace(noun, best=lexicon_en.NEAREST[near])
        elif linked and not noun.best and (best := lexicon_en.BEST.get(self.ahead())):
            noun = replace(noun, best=best, side_word=self.ahead() in lexicon_en.BEST_SIDE)
            self.at += 1
        elif (
            not noun.best
            and (side := self.phrase(lexicon_en.ON_THE_SIDE))
            and self.ahead() not in ("of", "side", "half", "between")
            and not (self.ahead() == "," and self.ahead(1) == "between")
        ):
            noun = replace(noun, best=lexicon_en.ON_THE_SIDE[side], side_word=True)
        elif not (noun.best in ("nearest", "farthest") and self.phrase(("to", "from"))):
            self.at = mark
            return noun
        if noun.best in ("nearest", "farthest") and self.phrase(lexicon_en.ROBOT) == "" and (near or self.at > mark):
            if not self.noun_here():
                self._stuck()
            noun = replace(noun, best_of=self.noun_apart())
        self.at += aside and self.ahead() == ","
        last = noun.words[-1][0]  # "the fruit" may be several, "the fruit nearest to the can" is one
        plural = noun.plural and self.vocabulary.is_plural(last)
        return replace(noun, quantity="the", plural=plural, text=" ".join(self.tokens[start : self.at]))

    def _colour_after(self, joins: Iterable[str]) -> str:
        """A joining word before a colour that no noun follows, consumed; "" for none."""
        mark = self.at
        found = self.phrase(joins)
        here = self.at
        words = self._words("all")[0] if found else []
        self.at = here if words and all(map(is_colour, words)) else mark
        return found if self.at == here else ""

    def _not_these(self, *, several: bool) -> tuple[NounPhrase, ...]:
        """ "… that is not the cup or the plate": each of them.

        Raises NotUnderstood where "and" may add to what is meant: "the things that are not the cup and the plate".
        """
        found, joins, marks = [self.noun_apart()], [""], [self.at]
        while (joined := self.phrase(_EACH)) and self.noun_here() and not self.verb_here():
            found.append(self.noun_apart())
            joins.append(joined)
            marks.append(self.at)
        last = max((n for n, joined in enumerate(joins) if joined[-2:] == "or"), default=0)  # "or", "nor"
        if several and last + 1 < len(found):
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=found[last + 1].text)
        self.at = marks[last]
        return tuple(found[: last + 1])

    def noun_apart(self) -> NounPhrase:
        """A noun inside another: what it leaves out is its own."""
        kept = self.without
        found = self.noun()
        self.without = kept
        return found

    def _colour(self) -> Word | None:
        word = self.ahead()
        keys = frozenset(k for k in self.vocabulary.english_word(word) or () if k[:2] == "c:")
        self.at += bool(keys)
        return (word, keys) if keys else None
