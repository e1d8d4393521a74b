"""The words of one scene: the lexicon joined with what its things are called, and which things words fit."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from worldfs.base.model import Scene
from worldfs.base.name_parts import (
    BINDING_SIGNS,
    DENYING,
    DENYING_SIGNS,
    DESCRIBING,
    DESCRIBING_SIGNS,
    HOLDING_LINKS,
    MATERIALS_ZH,
    SIZES,
    STATE_SIGNS,
    STATES,
    bare_name,
    is_closed,
    is_denied,
    may_be_head,
    names_head,
)
from worldfs.base.word_forms import fold, is_chinese, pieces, plurals, singulars

from . import lexicon_en, lexicon_zh, thing_names
from .scene_facts import movable
from .thing_words import MANY_KINDS, ThingWords, words_of_scene

Word = tuple[
    str, frozenset[str]
]  # a word as it was said, and its senses: `k:` kind, `c:` colour, `i:` id, `*` any thing


class FitKind(IntEnum):
    """How the head of a phrase fits a thing, the closest first."""

    NAME = 0  # it is the head of the thing's own name, or its id
    KIND = 1  # another word for that kind
    BROADER = 2  # a kind that this kind belongs to, or the category that is stated
    WIDER = 3  # a kind above this that names things of its own as well: a mug is a cup
    SHAPE = 4  # only its shape
    FILLED = 5  # what is in it: the milk, of a carton of milk
    ANY = 6  # "thing", "one"
    DOUBT = 7  # the word may be the head of its name; or it is the stated category and yet only a modifier of the name
    ENDING = 8  # its head ends in the word: a pocketknife may be one of the knives
    PERHAPS = 9  # no fit: the word is part of the name, and the thing may be asked about


class Fit(NamedTuple):
    """A thing that a phrase fits. `exact`: the phrase is its whole name; `several`: only as a plural; `clash`: its
    name and its stated colour disagree about the phrase; `renamed`: it has another name than was said, and things of
    the said name are here: a tin, where there are cans; `stated`: its stated category or its kind is of what was said:
    a doll that is called Barbie."""

    id: str
    kind: FitKind
    exact: bool = False
    several: bool = False
    clash: bool = False
    renamed: bool = False
    stated: bool = False

    @property
    def certain(self) -> bool:
        return self.kind < FitKind.DOUBT and not self.renamed


_SAID_OF_THINGS: Final = lexicon_en.PLAIN | lexicon_en.USES | STATES | SIZES | lexicon_en.OWN  # metal, lunch, dirty


@lru_cache(maxsize=1)
def _lexicon_forms() -> dict[str, str]:
    """Plural → noun of the lexicon."""
    return {form: noun for noun in lexicon_en.nouns_en() for form in plurals(noun)}


class Vocabulary:
    """Looks words up, and finds the things that they fit."""

    def __init__(self, scene: Scene) -> None:
        self.english, self.chinese = lexicon_en.nouns_en(), lexicon_en.nouns_zh()
        self.function_zh = lexicon_zh.chinese_lexicon()
        self.moving = {t.id for t in movable(scene)}
        self.things = {t.id: t for t in (*scene.objects, *scene.furniture)}
        self.called = words_of_scene(self.things.values())
        self.keys = {id: self._describe(called) for id, called in self.called.items()}
        # of a name, only words that are not of the grammar are known by themselves
        self.words = frozenset(
            word
            for c in self.called.values()
            for word in (*c.english, *c.categories)
            if len(word) > 1 and word not in lexicon_en.FUNCTION and not is_chinese(word)
        )
        self.forms = {form: word for word in self.words for form in plurals(word)}
        self.heads = {c.head for c in self.called.values()} - {""}
        singles = {form for word in self.words - self.heads for form in singulars(word)[1:] if len(form) > 2}
        self.singles = singles - lexicon_en.FUNCTION  # "marble box", of a box of marbles
        # an id that is a word of the grammar, of the lexicon or of a name is read as that word
        known = self.words.union(
            self.forms, self.singles, self.english, self.chinese, _lexicon_forms(), _SAID_OF_THINGS
        )
        self.word_ids = {id.lower(): id for id in self.things if id.isalpha() and id.lower() in known}
        ids = (
            id.lower() for id, thing in self.things.items() if not (thing.name and id.lower() in lexicon_en.FUNCTION)
        )
        self.ids = {id: frozenset((f"i:{id}",)) for id in ids if id not in self.word_ids}
        self.head_forms = {form: head for head in self.heads for form in (head, *plurals(head))}
        self.states = STATES & {word for c in self.called.values() for word in c.beside}
        self.marks: Mapping[str, tuple[Word, ...]] = {}
        self.tails = {part for c in self.called.values() for part in (*_tails(c), *filter(is_chinese, c.categories))}
        parts = self.tails | {part for c in self.called.values() for part in _inner(c.signs)}
        self.parts_zh = {part for part in parts if not self._begins_with_grammar(part)}
        counted = [c.signs for c in self.called.values() if c.signs and self.is_counted(c)]
        self.parts_zh -= {signs[:n] for signs in counted for n in range(2, len(signs) + 1)}
        self.more_parts_zh = {part for part in self.tails - self.parts_zh if part not in self.function_zh}
        self.longest_zh = max(map(len, (*self.function_zh, *self.chinese, *parts)), default=1)

    def _begins_with_grammar(self, part: str) -> bool:
        """Does a part of a Chinese name begin with a verb or the like? A side may begin it: 左手套."""
        if (len(part) == 2 and part[1] == "子") or (len(part) > 1 and MATERIALS_ZH.fullmatch(part)):
            return False
        if part[0] == "有":  # 有把手的壶: it must not swallow that of 里有什么
            return True
        found = {kind for n in (1, 2, 3) for kind in self.function_zh.get(part[:n], ())}
        return any(kind[:3] != "way" for kind in found)

    def _describe(self, called: ThingWords) -> frozenset[str]:
        """What kind of thing and of what colour: for sorting."""
        kinds = {*called.kinds, *called.broader, *called.wider, *filter(None, (called.shape,))}
        return frozenset({*kinds, *called.colours, *(("*",) if called.id in self.moving else ())})

    def with_names(self, marks: Mapping[str, tuple[Word, ...]]) -> Vocabulary:
        """This vocabulary and the signs that stand for names in one text."""
        found = copy.copy(self)
        found.marks = marks
        return found

    def with_more_parts(self) -> Vocabulary:
        """This vocabulary and the ends of Chinese names that begin like a verb: 收纳箱."""
        found = copy.copy(self)
        found.parts_zh = self.parts_zh | self.more_parts_zh
        return found

    # -- words --------------------------------------------------------------------------------------------------------

    def senses(self, word: str) -> frozenset[str]:
        """The senses of a word of a name, which may be one of the grammar."""
        return self.english_word(word) or self.chinese_word(word) or frozenset((f"w:{word}",))

    def said(self, token: str, senses: frozenset[str]) -> tuple[Word, ...]:
        """The words of a token: its own, or those of the name that it stands for."""
        return self.marks.get(token) or ((token, senses),)

    def english_word(self, word: str) -> frozenset[str] | None:
        """The senses of an English word or an id, None when neither lexicon nor scene knows it."""
        if word in self.marks:
            return self.marks[word][-1][1]
        if word in self.ids and not word.isalpha():
            return self.ids[word]
        found = self.english.get(word) or self.english.get(_lexicon_forms().get(word, "")) or frozenset()
        if word in self.words or word in self.forms or word in self.singles or word in self.ids:
            found |= {f"w:{word}"} | self.ids.get(word, frozenset())
        return found or None

    def is_plural(self, word: str) -> bool:
        """Whether an English word is the plural of a known noun; "scissors" may be a name and is none then."""
        known = word in self.forms or word in _lexicon_forms() or self.head_forms.get(word, word) != word
        return known and word not in self.ids

    def names_a_thing(self, word: str) -> bool:
        """May an English word for a pack name a thing of the scene: by name, kind or category, or in Chinese?"""
        ends = (*lexicon_zh.VESSELS, *(f"{sign}子" for sign in lexicon_zh.VESSELS))
        if any(called.tail.endswith(ends) for called in self.called.values()):
            return True
        if not self.words.isdisjoint({word, *plurals(word)}):
            return True
        fits = self.fits(((word, self.english_word(word) or frozenset()),))
        return any(fit.certain and fit.kind is not FitKind.SHAPE for fit in fits)

    def is_packed_otherwise(self, id: str, pack: str) -> bool:
        """Is it stated that the thing is another pack than this?"""
        return not self.called[id].categories.isdisjoint(lexicon_en.PACKS - {pack})

    def is_full_name(self, said: Sequence[str], *, several: bool) -> bool:
        """Are these the words of a whole name; `several`: or of its plural?"""
        last = {said[-1], *(singulars(said[-1]) if several else ())}
        return any(list(c.full[:-1]) == [*said[:-1]] and c.full[-1] in last for c in self.called.values() if c.full)

    def every_english_word(self) -> Iterator[str]:
        """Every English noun that is known, and its plurals."""
        yield from (*self.english, *_lexicon_forms(), *self.words, *self.forms)
        yield from (id for id in self.ids if id.isalpha() and id.isascii())

    def chinese_word(self, word: str) -> frozenset[str] | None:
        if word in self.marks:
            return self.marks[word][-1][1]
        found = self.chinese.get(word, frozenset())
        if word in self.parts_zh and word not in self.function_zh:
            found |= {f"w:{word}"}
        return found or None

    def knows(self, word: str) -> bool:
        return (self.chinese_word(word) if is_chinese(word) else self.english_word(word)) is not None

    def closest_word(self, word: str) -> str:
        """A known noun one edit away, for a suggestion only."""
        known = sorted({*self.english, *self.words, *self.ids})
        close = [k for k in known if len(word) > 3 and one_edit(word, k)]
        return close[0] if len(close) == 1 else ""

    # -- numbers ------------------------------------------------------------------------------------------------------

    def named_with(self, word: Word, number: str) -> frozenset[str]:
        """Senses for the things that are called so and have this number: cube 9, cubes 09, 方块9."""
        if not number.isdecimal() or all(k[:2] == "c:" for k in word[1]):
            return frozenset()
        wanted = str(int(number))
        those = [fit.id for fit in self.fits((word,)) if fit.kind < FitKind.SHAPE]
        return frozenset(f"i:{id.lower()}" for id in those if self.called[id].number == wanted)

    def counts(self, word: Word) -> bool:
        """Are there things that are called so and have a number?"""
        return any(self.called[fit.id].number for fit in self.fits((word,)) if fit.kind < FitKind.SHAPE)

    def measured_otherwise(self, count: int, words: Sequence[Word]) -> list[str]:
        """The things that the words fit, and whose names have a number before the first of them which the number that
        was said need not be: a "2 litre bottle", of one litre bottle."""
        found = {fit.id: _number_before(self.called[fit.id].full, words) for fit in self.fits(words) if count}
        return [id for id, number in found.items() if number and not count == number == 1]

    # -- things -------------------------------------------------------------------------------------------------------

    def matching_ids(self, words: Sequence[Word]) -> tuple[str, ...]:
        """Ids of all things that the words fit."""
        return tuple(fit.id for fit in closest(self.fits(words), several=True))

    def doubtful_ids(self, words: Sequence[Word]) -> tuple[str, ...]:
        """Ids of things whose own head the last word may be."""
        return tuple(fit.id for fit in self.fits(words) if fit.kind is FitKind.DOUBT)

    def fits(self, words: Sequence[Word], *, by_name: bool = True) -> list[Fit]:
        """The things whose head the last word names, and that all other words are said of. `by_name`: the words were
        said so, and may be a whole name."""
        if not words:
            return []
        said = tuple(piece for text, _ in words for piece in pieces(text))
        found = [fit for called in self.called.values() if (fit := self._fit(called, words, said, by_name)) is not None]
        if any(fit.kind in (FitKind.KIND, FitKind.WIDER) for fit in found) and self.names_one(words[-1]):
            found = [fit._replace(renamed=self._is_renamed(fit, words[-1][0])) for fit in found]
        return found

    def is_counted(self, called: ThingWords) -> bool:
        """Does the name begin like one thing of several: "A string", where a G string is; 一只杯子, where 杯子 are?"""
        first, *rest = called.full
        if is_chinese(first):
            number = lexicon_zh.COUNT.match(called.signs)
            rest = [called.signs[number.end() :]] if number else []
        elif first not in lexicon_en.ANY:
            return False
        fits = self.fits([(word, self.senses(word)) for word in rest if word])
        return any(fit.kind <= FitKind.ENDING and self.called[fit.id].full != called.full for fit in fits)

    def is_in_a_name(self, signs: str) -> bool:
        """Does a Chinese name have these signs, one after the other?"""
        return any(signs in called.signs for called in self.called.values())

    def names_one(self, head: Word) -> bool:
        """Is there a thing whose own name has this head?"""
        return any(self.has_name(id, head) for id in self.called)

    def _is_renamed(self, fit: Fit, word: str) -> bool:
        """Does it fit only as a kind, though its name could have this word? A name in the other language could not, and
        a thing is what its category states."""
        called = self.called[fit.id]
        if not called.categories.isdisjoint(singulars(word)):
            return False
        return fit.kind in (FitKind.KIND, FitKind.WIDER) and bool(called.tail if is_chinese(word) else called.head)

    def has_name(self, id: str, word: Word) -> bool:
        """Is the word the head of the thing's own name?"""
        return self._head(self.called[id], word)[0] is FitKind.NAME

    def has_all(self, id: str, words: Sequence[Word]) -> bool:
        """Are all of the words in the thing's name, in whatever order?"""
        called = self.called[id]
        names = {*called.full, *called.beside, called.head}
        return all(w in called.signs if is_chinese(w) else not names.isdisjoint(singulars(w)) for w, _ in words)

    def is_called(self, id: str, word: Word) -> bool:
        """Is the word said of the thing: its kind, its colour or a word of its name's head?"""
        kind, _ = self._head(self.called[id], word)
        return (kind is not None and kind < FitKind.ANY) or bool(word[1] & self.called[id].colours)

    def may_be_called(self, id: str, word: Word) -> bool:
        """May the word be said of the thing: the head of a name that does not tell it plainly, or a colour?"""
        return self.may_be_coloured(id, word) or self._head(self.called[id], word)[0] is FitKind.DOUBT

    def may_hold(self, id: str) -> bool:
        """May the thing be meant by what is in it, where another is called by that: the bowl of soup?"""
        return self.called[id].head in lexicon_en.HOLDING

    def is_pack(self, id: str) -> bool:
        """Does its name say that it is sold with something in it: a carton, a bottle?"""
        return self.called[id].head in lexicon_en.FILLED

    def named_after(self, word: str) -> list[str]:
        """The vessels and packs whose names say that they are for it, and perhaps what is in them: coffee, of a coffee
        cup, 水 of 水杯."""
        found = [called for called in self.called.values() if self._perhaps(called, fold(word), set())]
        return [called.id for called in found if _is_vessel(called)]

    def is_whole(self, id: str, portion: str) -> bool:
        """Does a measure word count the whole thing: 一片药片, and no 一片梨?"""
        called = self.called[id]
        names = [called.signs] if called.signs else lexicon_en.chinese_names(called.kinds)
        return any(lexicon_zh.counts_whole(name, portion) for name in names)

    def samples_of(self, word: str) -> list[str]:
        """The things that may be some of what the word names: blood, of a blood sample."""
        found = [called for called in self.called.values() if self._perhaps(called, fold(word), set())]
        return [c.id for c in found if c.head in lexicon_en.SAMPLES or c.tail.endswith(lexicon_zh.SAMPLES)]

    def may_be_translated(self, word: str) -> bool:
        """May a word that no list knows name a thing whose name is in the other language, and of no known kind?"""
        called = (self.called[id] for id in self.moving)
        return any(one.full and not one.kinds and bool(one.tail) != is_chinese(word) for one in called)

    def names_many(self, word: Word, fits: Iterable[Fit]) -> bool:
        """Is it a word for many kinds of things, by the lexicon or by the categories that the scene states?"""
        certain = [fit for fit in fits if fit.certain]
        listed = bool(word[1] & MANY_KINDS) or bool(certain and all(fit.stated for fit in certain))
        return listed and "k:container" not in word[1]

    def is_of_no_known_kind(self, id: str) -> bool:
        """Is neither its kind known nor a category stated?"""
        called = self.called[id]
        return not (called.kinds or called.categories)

    def is_filling(self, id: str, word: Word) -> bool:
        """Does the word name what may be in the thing, and not the thing itself: tea, of a tea bag?"""
        return not lexicon_en.FILLINGS.isdisjoint(singulars(fold(word[0]))) and not self.has_name(id, word)

    def holds_substances(self, id: str) -> bool:
        """May there be something in it that is no thing of a scene: water in a cup?"""
        called = self.called[id]
        return called.head in lexicon_en.VESSELS or called.tail.endswith(lexicon_zh.POURED_FROM)

    def is_owner(self, word: str) -> bool:
        """Does a name say that the thing belongs to who is called so: Tom, of Tom's mug, 王芳 of 王芳的杯子?"""
        said = fold(word)
        if is_chinese(said):
            return any(f"{said}的" in called.signs for called in self.called.values())
        return any((said, "s") in itertools.pairwise(called.full) for called in self.called.values())

    def states_owner(self, id: str) -> bool:
        """Does the name say whose the thing is, or may it: Bob's key, coat Anna, cup of Anna, 小明的钥匙?"""
        name = self.things[id].name
        if self.called[id].titled or thing_names.OWNED.search(name):
            return True
        owner, _, rest = name.partition("的")
        plain = owner in self.chinese or MATERIALS_ZH.sub("", owner).strip(DESCRIBING_SIGNS + STATE_SIGNS) == ""
        return bool(owner and rest) and not plain and lexicon_zh.NO_OWNER.fullmatch(owner) is None

    def names_a_side(self, id: str) -> bool:
        """Is a side part of the thing's name ("left shoe", 左手套, 前轮, 上盖 beside 下盖)? Then it is no place."""
        called = self.called[id]
        if not lexicon_en.NAMED_SIDES.isdisjoint(called.beside) or not set("左右前后").isdisjoint(called.signs):
            return True
        names = {other.signs for other in self.called.values()} - {called.signs}
        return any(
            called.signs[:at] + other + called.signs[at + 1 :] in names
            for at, sign in enumerate(called.signs)
            if sign in lexicon_zh.CONTRARY_SIDES
            for other in lexicon_zh.CONTRARY_SIDES
        )

    def sizes_another(self, id: str, words: Sequence[Word]) -> bool:
        """Is a size in a name said of another noun, or a part of a word that is not said: tall of "tall tale book",
        大 of 大米袋?"""
        called, said = self.called[id], tuple(piece for text, _ in words for piece in pieces(text))
        sizes = {word for word, _ in called.denied} & lexicon_en.PLAIN_SIZES.keys()
        return any(word in said or not self.named_sizes(id) for word in sizes) or any(
            _is_part_of_another(called.signs, sign, said) for sign in called.signs if sign in lexicon_zh.SIZES_ZH
        )

    def named_sizes(self, id: str) -> frozenset[str]:
        """The sizes in the thing's name ("big box", 小盒子, 盒子（小）), each as what a superlative would say."""
        called = self.called[id]
        aside = {word for word in called.beside if is_chinese(word)}
        signs = {*called.tail.removesuffix(bare_name(called.tail)), *(aside if aside <= {*DESCRIBING_SIGNS} else ())}
        english = {lexicon_en.PLAIN_SIZES.get(word, "") for word in called.beside - {word for word, _ in called.denied}}
        return frozenset({*english, *(lexicon_zh.SIZES_ZH.get(sign, "") for sign in signs)} - {""})

    def belies(self, id: str, best: str) -> bool:
        """Does the thing's name say another side or size than the most so: the rightmost, of a "left boot"?"""
        called = self.called[id]
        sides = {lexicon_en.BEST[word] for word in called.beside if word in lexicon_en.BEST_SIDE}
        sides |= {best for sign, best in lexicon_zh.SIDES_ZH.items() if called.signs.startswith(sign)}
        another = bool(sides) and best in lexicon_en.SIDED and best not in sides
        return another or not self.named_sizes(id).isdisjoint(lexicon_en.OPPOSITES.get(best, ()))

    def is_coloured(self, id: str, word: Word) -> bool:
        """Has the thing this colour, as it is stated, or else as its name tells it?"""
        return bool({sense for sense in word[1] if sense[:2] == "c:"} & self.called[id].colours)

    def may_be_coloured(self, id: str, word: Word) -> bool:
        """May it be of this colour, which is not certain: red wine, what is stated to be "#b98a54", or in no colour?"""
        called = self.called[id]
        return bool(word[1] & (called.perhaps_colours | called.maybe_colours))

    def _fit(
        self, called: ThingWords, words: Sequence[Word], said: tuple[str, ...], by_name: bool = True
    ) -> Fit | None:
        exact = by_name and bool(said) and said == called.full and not _is_id(words[-1])
        kind, several = (FitKind.NAME, False) if exact else self._head(called, words[-1])
        if _is_generic(words[-1]) and not (exact or any(_in_name(called, word) for word, _ in words[:-1])):
            # "things" are not the wild thing alone
            kind, several = (FitKind.ANY if called.id in self.moving else None), False
        if kind is None:
            return None
        if kind is FitKind.NAME and called.titled and not exact and not _is_id(words[-1]):
            kind = kind if any(word in called.perhaps for word, _ in words[:-1]) else FitKind.DOUBT
        clash = False
        for word, following in itertools.pairwise(words):
            named = _in_name(called, word[0])
            told = named and not _denied(called, word[0], said)
            stated = _is_said_of(called, word[1], by_name=kind is not FitKind.ANY)
            if told and word[1] & called.perhaps_colours and not _together(called, word[0], following[0]):
                kind = max(kind, FitKind.SHAPE)  # 红 of a 红酒杯 tells its sort, where 酒 is not said as well
            coloured = {k for k in word[1] if k[:2] == "c:"}
            unsure = not told and (named or bool(word[1] & called.perhaps_colours)) and not coloured & called.colours
            own = exact or bool(word[1] & called.colours)
            unsure |= told and not own and self._is_part(called.signs, word[0], said)
            if not (told or stated or exact or unsure):
                return None
            if unsure or kind is FitKind.FILLED or (told and not stated and kind is FitKind.ANY):
                kind = FitKind.PERHAPS
            if coloured and called.told_colours and kind is not FitKind.ANY:
                sorts = bool(
                    coloured & called.told_colours or called.tail or called.head in lexicon_en.SORTED_BY_COLOUR
                )
                clash |= sorts and (coloured & called.told_colours) != (coloured & called.colours)
        stated = kind is FitKind.BROADER and "k:container" not in words[-1][1]
        return Fit(called.id, kind, exact, several, clash, stated=stated)

    def _head(self, called: ThingWords, head: Word) -> tuple[FitKind | None, bool]:
        text, senses = head
        word = fold(text)
        if f"i:{called.id.lower()}" in senses:
            return FitKind.NAME, False
        if _is_id(head):
            return None, False
        if word == called.head or (called.tail and is_chinese(word) and self._names_tail(word, called.tail)):
            return FitKind.NAME, False
        if called.head and word in plurals(called.head):
            return FitKind.NAME, True
        kinds = {k for k in senses if k[:2] == "k:"}
        if kinds & called.kinds and (called.simple or lexicon_word(word) in lexicon_en.main_nouns()):
            return FitKind.KIND, False
        if kinds & called.broader or not called.categories.isdisjoint(singulars(word)):
            return FitKind.BROADER, False
        if kinds & called.wider:
            return FitKind.WIDER, False
        filled = word in lexicon_en.FILLINGS and called.head in lexicon_en.FILLED and _tells_contents(word, called)
        if not called.doubted.isdisjoint(singulars(word)):
            return (FitKind.BROADER if filled else FitKind.DOUBT), False
        if filled:
            return FitKind.FILLED, False
        if called.shape in kinds and not called.full:
            return FitKind.SHAPE, False
        if "*" in senses:
            return (FitKind.ANY if called.id in self.moving else None), False
        if self._may_be_head(called, word):
            return FitKind.DOUBT, False
        if _ends_in(called.head, word):
            return FitKind.ENDING, False
        return (FitKind.PERHAPS if self._perhaps(called, word, kinds) else None), False

    def _may_be_head(self, called: ThingWords, word: str) -> bool:
        """Whether a word, in the singular or the plural, may be the head of a name that does not tell it plainly."""
        if not called.perhaps.isdisjoint(singulars(word)):
            return True
        if not is_chinese(word):
            return False
        bare = word if called.tail.endswith(word) else word.removesuffix("子")
        if names_head(word, called.tail) and self._begins_inside(bare, called.tail.removesuffix(bare)):
            return True
        tails = [part for part in called.perhaps if is_chinese(part)]
        return any(self._names_tail(word, tail) for tail in tails) or (
            bool(called.tail) and not called.kinds and may_be_head(word, called.tail)
        )

    def _names_tail(self, word: str, tail: str) -> bool:
        """Whether a Chinese word is the head of a name, and cuts through no other word of it (果酱 of 苹果酱)."""
        bare = word if tail.endswith(word) else word.removesuffix("子")
        return names_head(word, tail) and not (tail.endswith(bare) and self._cuts(bare, tail))

    def _cuts(self, word: str, tail: str) -> bool:
        start = len(tail) - len(word)
        if self._begins_inside(word, tail[:start]):
            return True
        if any(tail[a:start] in self.chinese for a in range(start - 1)):  # 水果|篮子
            return False
        return start > 0 and any(
            tail[a:b] in self.chinese and tail[a] not in DESCRIBING_SIGNS
            for a in range(max(0, start - 4), start)
            for b in range(start + 1, min(a + 5, len(tail)))
        )

    def _begins_inside(self, word: str, before: str) -> bool:
        """Whether a Chinese word that no list knows begins within another word of a name: 水袋 of 防水袋, 红 of 小红的.

        A single sign before it mostly belongs to the next, as Chinese words have two."""
        if len(word) < 2 or not before or word in self.chinese or word.removesuffix("子") in self.chinese:
            return False
        if is_closed(word):
            return False
        if word[1] == "的" and before[-1] not in "的色":
            return True
        if len(before) == 2 and before[0] in BINDING_SIGNS:  # 无糖|口香糖: what binds has its sign
            return False
        left = MATERIALS_ZH.sub("", before.rpartition("的")[2]).strip(DESCRIBING_SIGNS + STATE_SIGNS)
        if any(left[at:] in self.chinese for at in range(len(left))):
            return False
        # 空调|遥控器: of three signs the first two are a word; 饼干|铁盒
        alone = len(left) == 1 and len(word) == 2 and before.endswith(left) and not self._ends_several(word)
        return alone or left[-1:] in set(BINDING_SIGNS)

    def _ends_several(self, word: str) -> bool:
        """Do names that differ before it end in the word, and not in a head of one sign (防水|袋, 香水|袋): 种子 of
        薄荷种子 and 罗勒种子? A sign after a number measures: 20牙|齿轮."""
        names = {"".join(called.full) for called in self.called.values()}
        fronts = {name.removesuffix(word) for name in names if name.endswith(word)} - {""}
        measured = all(len(front) > 1 and front[-2].isdigit() for front in fronts)
        return len(fronts) > 1 and (measured or not names_head(word[-1], word))

    def _is_part(self, signs: str, text: str, said: Sequence[str]) -> bool:
        """Are the signs only a part of a word of a Chinese name: 红 of 小红的杯子, 成品 of 半成品面包?"""
        if self._is_contrasted(signs, text):
            return False
        if MATERIALS_ZH.fullmatch(text):
            return _is_of_another(signs, text, "".join(said))
        if len(text) == 1:
            return _is_part_of_another(signs, text, said)
        return is_chinese(text) and self._begins_inside(text, signs[: max(signs.find("".join(pieces(text))), 0)])

    def _is_contrasted(self, signs: str, text: str) -> bool:
        """Does another name end in all that follows the word, with no word cut: 旧台灯 beside 木台灯, 旧茶叶罐 beside
        茶叶罐? A single sign may be half of a word: 木瓜刀 beside 西瓜刀."""
        rest = signs.removeprefix(text)
        fronts = {one.signs.removesuffix(rest) for one in self.called.values() if one.signs.endswith(rest)} - {text}
        made = any(MATERIALS_ZH.fullmatch(front) or front in set(DESCRIBING_SIGNS) for front in fronts)
        whole = any(len(front) != 1 for front in fronts)
        return len(signs) > len(rest) > 1 and (made or (whole and len(rest) > 2))

    def _perhaps(self, called: ThingWords, word: str, kinds: set[str]) -> bool:
        """Whether a word that is no head of a thing's name may still stand for the thing."""
        if called.shape in kinds or kinds & called.kinds:
            return True
        if is_chinese(word):
            return word.removesuffix("子") in called.signs
        forms, code = set(singulars(word)), pieces(word)
        if len(code) > 1 and called.beside.issuperset(code):  # the ESP32, of an ESP32 board
            return True
        if (
            any(len(form) > 2 and called.head.endswith(form) for form in forms)
            and called.head in lexicon_en.OTHER_THAN_END
        ):
            return True
        return not forms.isdisjoint(called.beside | called.perhaps) or called.head in plurals(word)


def _is_vessel(called: ThingWords) -> bool:
    """What is on a plate or a tray is seen; what is in a bottle or a box is not."""
    heads = (lexicon_en.FILLED | lexicon_en.HOLDING | lexicon_en.VESSELS) - {"dish", "plate"}
    return called.head in heads or called.tail.removesuffix("子").endswith(tuple(lexicon_zh.VESSELS.replace("盘", "")))


def _is_id(word: Word) -> bool:
    """Is it an id, or a name with a number, and no other word?"""
    return any(sense[:2] == "i:" for sense in word[1]) and f"w:{word[0]}" not in word[1]


def _is_generic(word: Word) -> bool:
    """Is it a word for any thing, and no id?"""
    generic = fold(word[0]) in lexicon_en.GENERIC_EN | lexicon_en.GENERIC_ZH
    return generic and "*" in word[1] and not any(sense[:2] == "i:" for sense in word[1])


def closest(fits: Iterable[Fit], several: bool) -> list[Fit]:
    """Of what fits, the closest kind of fit, and what is stated to be of that kind; of several things all kinds of fit,
    but those by shape or by doubt."""
    found = [fit for fit in fits if fit.certain]
    best = min((fit.kind for fit in found), default=FitKind.ANY)
    most = FitKind.WIDER if several and best <= FitKind.WIDER else best
    return [fit for fit in found if fit.kind <= most or (fit.stated and best < FitKind.BROADER)]


def lexicon_word(word: str) -> str:
    """The noun of the lexicon that an English plural is of, else the word."""
    return _lexicon_forms().get(word, word)


def _ends_in(head: str, word: str) -> bool:
    """Is the head a longer word that ends in this one and may be of its kind: teaspoon, cookbook, but not pineapple?"""
    if head in lexicon_en.OTHER_THAN_END:
        return False
    return any(len(form) > 2 and len(head) > len(form) + 2 and head.endswith(form) for form in singulars(word))


def _in_name(called: ThingWords, text: str) -> bool:
    """Is the word one of those beside the head?"""
    said = pieces(text)
    if is_chinese(text):
        return "".join(said) in called.signs
    return bool(said) and all(not called.beside.isdisjoint((piece, *plurals(piece))) for piece in said)


def _number_before(full: tuple[str, ...], words: Sequence[Word]) -> int:
    """The number before the first of the words in a name; 0 for none, and for that of what stands before it ("iPhone
    12 case", of a case)."""
    for at, (one, two) in enumerate(itertools.pairwise(full)):
        number = int(one) if one.isdecimal() else lexicon_en.NUMBERS.get(one, 0)
        if number and two in singulars(words[0][0]) and (at == 0 or len(words) > 1):
            return number
    return 0


def _tells_contents(word: str, called: ThingWords) -> bool:
    """Does the word alone tell what is in it: "oil bottle", "bottle of oil", and not "bottle for oil" or "toilet water
    bottle"?"""
    plain = {word, called.head, *DESCRIBING, *SIZES, *HOLDING_LINKS}
    alone = all(other in plain or other.isdecimal() for other in called.full)
    return alone and (word in called.perhaps or word in called.full[: called.full.index(called.head)])


def _together(called: ThingWords, text: str, following: str) -> bool:
    """Does the second word follow the first in the name?"""
    if is_chinese(text):
        return text + following in called.signs
    return (text, following) in itertools.pairwise(called.full)


def _is_part_of_another(signs: str, sign: str, said: Sequence[str]) -> bool:
    """Is one sign of a Chinese name a part of a word that is not said: 酒 of 下酒菜盒, 黄 of 黄油刀, 红 of 小红的杯?"""
    if len(sign) != 1 or not is_chinese(sign):
        return False
    at, said = signs.find(sign), "".join(said)
    known, head = {*said, *DESCRIBING_SIGNS}, _head_after(signs, at + 1, said)
    if signs[at - 1 : at] == "小" and signs[at + 1 : at + 2] == "的":
        return True
    return signs[at - 1 : at] not in ("", *known) or not known.issuperset(MATERIALS_ZH.sub("", signs[at + 1 : head]))


def _head_after(signs: str, at: int, said: str) -> int:
    """Where the head that is said begins in a Chinese name."""
    return next((n for n in range(at, len(signs)) if signs[n:] in said or signs[n:] + "子" in said), len(signs) - 1)


def _is_of_another(signs: str, material: str, said: str) -> bool:
    """Is a material only a sign of another word, or is another thing of it: 铁 of 铁观音罐, 木 of 装木块的盒子?"""
    for found in MATERIALS_ZH.finditer(signs):
        between = signs[found.end() : _head_after(signs, found.end(), said)]
        before = MATERIALS_ZH.sub("", signs[: found.start()].rpartition("的")[2]).strip(DESCRIBING_SIGNS + STATE_SIGNS)
        after = MATERIALS_ZH.sub("", between).strip(DESCRIBING_SIGNS + said)
        cut = len(found[0]) == 1 and (len(before) == 1 or after)
        if material in found[0] and not cut and not ("的" in between and (before or after)):
            return False
    return True


def _denied(called: ThingWords, text: str, said: Sequence[str]) -> bool:
    """Does the name deny the word, or have it as the half of another: sterile, of "non-sterile swab"? Not where the
    other half is said too."""
    if not DENYING.isdisjoint(said):
        return False
    if is_chinese(text):
        at = called.signs.find("".join(pieces(text)))
        return at > 0 and called.signs[at - 1] in DENYING_SIGNS
    return any(is_denied(word, said, called.denied) for word in pieces(text))


def _is_said_of(called: ThingWords, senses: frozenset[str], by_name: bool) -> bool:
    """Is the word a colour of the thing, or a kind that it is or, `by_name`, that a word beside its head names?"""
    said = called.colours | called.kinds | called.broader | (called.said_of if by_name else frozenset())
    return bool(senses & said) or (f"i:{called.id.lower()}" in senses and not any(s[:2] == "w:" for s in senses))


def _tails(called: ThingWords) -> list[str]:
    """The ends of a Chinese name that may be said for it: of 玩具车 also 具车, 车, 车子 and 玩具车子."""
    tail = called.tail
    found = [tail[start:] for start in range(len(tail)) if len(tail) - start > 1 or len(tail) == 1]
    longer = [f"{part}子" for part in found if len(part) > 1 and names_head(f"{part}子", tail)]
    return [*found, *longer, *((tail[-1], tail[-1] + "子") if tail else ())]


def _inner(signs: str) -> list[str]:
    """Every part of a Chinese name, so that its modifiers are known as words."""
    return [signs[a:b] for a in range(len(signs)) for b in range(a + 1, min(a + 7, len(signs) + 1))]


def one_edit(a: str, b: str) -> bool:
    """One letter more, less, other, or two swapped."""
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) == len(b):
        return a[at + 1 :] == b[at + 1 :] or (a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :])
    short, long = sorted((a, b), key=len)
    return short[at:] == long[at + 1 :]
