"""Noun phrases looked up in a scene: the things meant, or why that is ambiguous."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from worldfs.base.hollows import opens
from worldfs.base.messages import coded, render
from worldfs.base.model import Scene
from worldfs.base.robot_sides import SIDES
from worldfs.base.word_forms import is_chinese, pieces

from . import lexicon_en, lexicon_zh, superlatives, thing_names
from .directions import axis, lies_toward
from .goals import BesideGoal, held_by, holds
from .intent import NotUnderstood, NounPhrase
from .phrase_heads import is_colour, is_description
from .scene_facts import (
    ThingLocation,
    final_support,
    is_flat,
    layout,
    movable,
    own_robot,
    perhaps_there,
    settled_at,
    told_location,
)
from .vocabulary import Fit, FitKind, Vocabulary, Word, closest

_OTHERS = ("others", "rest", "rest of them")  # all of a phrase that names no kind


class NounResolver:
    """Finds things for one instruction; `last` is what "it" and "them" mean."""

    def __init__(self, scene: Scene, vocabulary: Vocabulary, language: str) -> None:
        self.page, self.vocabulary, self.language = scene, vocabulary, language
        self.scene = scene  # as it is once the earlier steps of the instruction are done
        self.moved: frozenset[str] = frozenset()  # by those: where each is then is not known exactly
        self.walked = False  # the robot itself is elsewhere then
        self.places = layout(scene)
        self.last: tuple[str, ...] = ()
        self.mentioned: set[str] = set()
        self.notes: list[str] = []
        self.closed: set[str] = set()  # what is to be left alone
        self.heads: tuple[Word, ...] = ()  # the words for what was named last: what "one" stands for
        self.earlier: tuple[Word, ...] = ()  # those before that: what it may stand for
        self.into: frozenset[str] = frozenset()  # the container of what is read: where in doubt, not in itself
        self.sparing = False  # reading what is left out
        self.there: frozenset[str] = frozenset()  # what is already as it is wanted: of "a mug" rather that
        self.said: tuple[Word, ...] = ()  # the heads of all phrases of the instruction
        self.moved_heads: tuple[Word, ...] = ()  # those for the last that can be moved: what "the others" are
        self.shared: set[tuple[Word, ...]] = set()  # heads of several phrases of a list: the red and blue cubes
        self.uncoloured: set[str] = set()  # of these, what is not known is the colour
        self.unsure: dict[str, str] = {}  # things of no known kind → what is left out, and they may be
        self.uncounted: dict[str, str] = {}  # those → what is meant, and they may be
        self.mixed = False  # with "a battery" one thing was named that has no others

    def names(self, ids: tuple[str, ...] | list[str]) -> str:
        return thing_names.names(ids, self.page, self.language)

    def here(self) -> str:
        return self.names([t.id for t in (*self.scene.objects, *self.scene.furniture)])

    def all(self, nouns: tuple[NounPhrase, ...], but: Collection[str] = ()) -> tuple[str, ...]:
        """Every thing that the phrases mean, once, in order, and none of `but`; () only for "all …" without any."""
        heads = [noun.words[-1:] for noun in nouns]
        listed = self.language == "zh" and len(nouns) > 1  # 手机、水杯都放进去: 都 is said of the list
        self.shared = {head for head in heads if listed or heads.count(head) > 1}
        each = [self.one(noun, but) for noun in nouns]
        for n, (noun, ids) in enumerate(zip(nouns, each, strict=True)):
            if not noun.pronoun and len(ids) == 1 and ids in each[:n]:  # "the plate and the dish": two, and one is here
                raise self._asked("planner.ambiguous", noun, ids)
            if n and self._may_be_of_the_same(nouns[n - 1], noun):  # "the bag of rice and flour"
                raise self._asked("planner.ambiguous", noun, (*each[n - 1], *ids))
        found = tuple(dict.fromkeys(id for ids in each for id in ids))
        if found and not any(n.pronoun for n in nouns):
            self.last = found
        self.mentioned |= set(found)
        self.about(nouns)
        if self.vocabulary.moving & set(found):
            some = [noun for noun in nouns if noun.quantity == "any" or noun.count]
            self.mixed = 0 < len(some) < len(nouns)
            self.moved_heads = tuple(dict.fromkeys(head for noun in some if (head := _head(noun)) is not None))
        return found

    def about(self, nouns: tuple[NounPhrase, ...]) -> None:
        """What "one" stands for from here on: of "the mugs and the bowls" one of either."""
        each = (one for noun in nouns for one in (noun.options or (noun,)))
        if found := tuple(dict.fromkeys(self._unsized(head) for noun in each if (head := _head(noun)) is not None)):
            self.earlier = tuple(head for head in (*self.earlier, *self.heads) if head not in found)
            self.heads = found

    def _unsized(self, head: Word) -> Word:
        """盘子 of 小盘子, where other things have that head: so "the big one" may be one of them."""
        rest = head[0].lstrip("".join(lexicon_zh.SIZES_ZH)) if is_chinese(head[0]) else head[0]
        word = (rest, self.vocabulary.senses(rest)) if rest not in ("", head[0]) else head
        others = [fit.id for fit in self.vocabulary.fits((word,)) if fit.kind is FitKind.NAME]
        return word if len(others) > 1 else head

    def one(self, noun: NounPhrase, but: Collection[str] = ()) -> tuple[str, ...]:
        several = (
            self.sparing or self.language == "zh" or self._several(noun) or bool(noun.count or noun.quantity == "any")
        )
        owned = self.owned(noun, several=several)
        found = self._one(noun, but)
        if not owned.isdisjoint(found):
            raise self._asked("planner.whose", noun, sorted(owned.union(found)))
        if noun.portion and (parts := [id for id in found if not self.vocabulary.is_whole(id, noun.portion)]):
            raise self._asked("planner.perhaps", noun, parts, what=noun.text)
        if noun.under and len(found) > 1 and self._several(noun):
            wide = self.fits(replace(noun, words=(*noun.under, *noun.words)))
            told = {fit.id for fit in wide if fit.certain}.intersection(found)
            if len(told) < len(found) and (told or all(map(is_description, noun.under))):
                raise self._asked("planner.ambiguous", noun, found)
        return found

    def owned(self, noun: NounPhrase, *, several: bool) -> set[str]:
        """Of "my key" the things that may be meant and whose names state an owner; "my" says nothing where none does.

        Raises NotUnderstood where the scene cannot tell which are "my things", or `several` that are "my keys".
        """
        if not noun.owner or not noun.words or noun.pronoun:
            return set()
        if "*" in noun.words[-1][1] and noun.words[-1][0] not in ("one", "ones"):
            raise NotUnderstood("planner.whose_things", "ambiguous", what=noun.text)
        fits = [
            fit.id for fit in self.fits(noun) if fit.kind is not FitKind.PERHAPS and self._is_so_called(fit.id, noun)
        ]
        found = {id for id in fits if self.vocabulary.states_owner(id)}
        if found and several:
            raise self._asked("planner.whose", noun, fits)
        return found

    def _one(self, noun: NounPhrase, but: Collection[str] = ()) -> tuple[str, ...]:
        if noun.pronoun:
            return tuple(id for id in self._pronoun(noun) if id not in but)
        if noun.options:
            return self._choice(noun)
        if noun.other and self.mentioned:
            noun = self._others(noun)
        fits = self.fits(noun)
        if self.sparing:  # what is left out may have another name, unless that is said too: the cups, not the mugs
            fits = [fit._replace(renamed=fit.renamed and self._is_said_too(fit.id, noun)) for fit in fits]
        anywhere = [fit for fit in fits if fit.certain]
        spared = {id for aside in noun.but for id in self._aside(aside)}.union(but)
        here = [fit for fit in anywhere if self._is_so_called(fit.id, noun)]
        if self.sparing:
            self.unsure |= dict.fromkeys(self.of_no_known_kind(noun, fits), noun.text)
            one = len(here) == 1 and not noun.plural and noun.text.startswith("the ")
            if not one:  # "the red one" is the one that is known to be red
                self.unsure |= dict.fromkeys(self.of_no_known_colour(noun), noun.text)
        self._ask_if_said_of_things(noun.without)
        denied = self._denied(noun)
        here = [fit for fit in here if denied.get(fit.id) is not True]
        unsure = [fit.id for fit in here if any(self.vocabulary.may_be_called(fit.id, word) for word in noun.without)]
        unsure += [fit.id for fit in here if fit.id in denied and fit.id not in unsure]
        for word in noun.without:
            self.unsure |= dict.fromkeys(self.of_no_known_kind(replace(noun, words=(word,)), ()), word[0])
        if unsure:
            code = "planner.colour_unsure" if any(map(is_colour, noun.without)) else "planner.perhaps"
            raise self._asked(code, noun, unsure, what=" ".join(word for word, _ in noun.without))
        may_be = [fit for fit in fits if fit.kind in (FitKind.DOUBT, FitKind.ENDING)]
        doubtful = [fit for fit in may_be if self._is_so_called(fit.id, noun)]
        here, doubtful = ([fit for fit in found if fit.id not in spared] for found in (here, doubtful))
        doubtful = [fit for fit in doubtful if self.sparing or fit.id not in self.into]
        if noun.other:
            self.unsure |= self.uncounted  # "the fruit in the bowl, everything else in the box"
            places_alone = bool(self.mentioned) and self.mentioned <= self.closed  # "don't touch the tray, …"
            every = all("*" in senses for _, senses in noun.words)
            if not (self.mentioned & {fit.id for fit in anywhere} or (places_alone and every)):
                if not (here or doubtful):
                    return self._nothing(noun, fits, doubtful)
                raise self._asked("planner.other", noun, [fit.id for fit in (*here, *doubtful)])
            here, doubtful = ([fit for fit in found if fit.id not in self.mentioned] for found in (here, doubtful))
        if here and all(fit.kind is FitKind.FILLED for fit in here):  # the soup: the can of it, or the bowl
            doubtful += [fit for fit in fits if not fit.certain and self._may_hold(fit.id)]
        if noun.best and here:
            if doubtful:
                raise self._ambiguous(noun, [*here, *doubtful])
            kinds = [fit for fit in fits if fit.kind is FitKind.WIDER and self._is_so_called(fit.id, noun)]
            also = [fit._replace(renamed=False) for fit in kinds if fit.renamed and fit.id not in spared]
            return self._best(noun, closest([*here, *also], several=True))
        if not here:
            return self._nothing(noun, fits, doubtful)
        return self._chosen(noun, here, doubtful, fits)

    def _may_hold(self, id: str) -> bool:
        """May the thing be meant by what is in it; of what is left out a pack as well: the oat milk carton?"""
        return self.vocabulary.may_hold(id) or (self.sparing and self.vocabulary.is_pack(id))

    def _may_be_of_the_same(self, before: NounPhrase, noun: NounPhrase) -> bool:
        """After "the bag of rice", does a bare word name things by what is in them alone: and flour?"""
        if noun.quantity or noun.count or noun.pronoun or noun.options or len(noun.words) > 1:
            return False
        of = any("of" in pieces(text) for text, _ in before.words)
        return of and all(fit.kind is FitKind.FILLED or not fit.certain for fit in self.fits(noun))

    def _denied(self, noun: NounPhrase) -> dict[str, bool]:
        """Of "non-plastic cups" what may be a plastic cup, and whether it certainly is; not what its name denies."""
        found: dict[str, bool] = {}
        for word in noun.without:
            told = (("non", frozenset[str]()), word, *noun.words)
            apart = {fit.id for fit in self.vocabulary.fits(told) if fit.certain}
            for fit in () if is_colour(word) else self.vocabulary.fits((word, *noun.words)):
                if fit.id not in apart:
                    found[fit.id] = fit.certain or found.get(fit.id, False)
        return found

    def _is_said_too(self, id: str, noun: NounPhrase) -> bool:
        """Does another phrase of the instruction name the thing by its own name: "the cups and the mugs"?"""
        others = [word for word in self.said if word != noun.words[-1]]
        return any(self.vocabulary.has_name(id, word) for word in others)

    def _several(self, noun: NounPhrase) -> bool:
        """Is it decided of each thing whether it is meant: of several, of the most so, of what is left out?"""
        return noun.plural or noun.quantity == "all" or bool(noun.best) or self.sparing

    def may_be(self, noun: NounPhrase) -> list[str]:
        """Things of which only the colour is in doubt: red wine, of "the red things"."""
        heads = {fit.id for fit in self.fits(replace(noun, words=noun.words[-1:])) if fit.certain}
        doubtful = [fit.id for fit in self.fits(noun) if not fit.certain and fit.id in heads]
        return [id for id in doubtful if any(self.vocabulary.may_be_coloured(id, word) for word in noun.words)]

    def _ask_if_said_of_things(self, words: Sequence[Word]) -> None:
        """Raises NotUnderstood where what things are not is an id: "not shiny", with a pan of the id `shiny`."""
        for word in (word for word, _ in words if word.isalpha() and word in self.vocabulary.ids):
            ids = [id for id in self.vocabulary.called if id.lower() == word]
            raise NotUnderstood("planner.perhaps", "ambiguous", ids, what=word)

    def _aside(self, noun: NounPhrase) -> tuple[str, ...]:
        """What is not meant: of "a mug" all of them. A Chinese noun has no number: 水瓶 alone, or 香水瓶 as well?"""
        self._ask_if_said_of_things(noun.words if len(noun.words) == 1 and noun.text == noun.words[0][0] else ())
        before, self.sparing = self.sparing, True
        try:
            found = self.one(replace(noun, quantity="all", count=0) if noun.quantity == "any" else noun)
        finally:
            self.sparing = before
        fits = self.fits(noun) if len(found) > 1 and noun.quantity == "all" and not noun.plural else []
        if sum(fit.exact for fit in fits) == 1:
            raise self._ambiguous(noun, [fit for fit in fits if fit.id in found])
        return found

    def _others(self, noun: NounPhrase) -> NounPhrase:
        """After something was named "the rest" and "the others" are what was not, and no thing that is called so. Only
        "the rest" may be a spoon rest, too."""
        if noun.text not in _OTHERS:
            return noun
        called = [fit for fit in self.vocabulary.fits(noun.words) if fit.kind < FitKind.ANY]
        if noun.text != "others" and any(fit.id not in self.mentioned for fit in called):
            raise self._ambiguous(noun, called)
        every = replace(noun, words=(("things", frozenset("*")),))
        like = {
            fit.id for fit in self._of_kinds((), self.heads).values() if fit.certain and fit.id not in self.mentioned
        }
        rest = {fit.id for fit in self.vocabulary.fits(every.words) if fit.certain and fit.id not in self.mentioned}
        if like and not self.moved_heads and not rest <= like:  # the car key …, and the others: keys, or all things?
            raise self._asked("planner.ambiguous", noun, sorted(rest))
        return every

    def fits(self, noun: NounPhrase) -> list[Fit]:
        """The things that the words fit; "one" is what was named last, where the rest of the words allows that."""
        words = noun.words
        if words and words[-1][0] in ("one", "ones") and self.heads:
            again = self._of_kinds(words[:-1], self.heads)
            if sum(fit.certain for fit in again.values()) > bool(noun.best):  # the heaviest of one is no choice
                named = set() if self.sparing else self.mentioned
                before = self._of_kinds(words[:-1], self.earlier).items()
                perhaps = [fit for id, fit in before if fit.certain and id not in again and id not in named]
                return [*again.values(), *(fit._replace(kind=FitKind.DOUBT) for fit in perhaps)]
            if not (noun.best or self.sparing or any(fit.certain for fit in again.values())):
                return [fit._replace(kind=max(fit.kind, FitKind.DOUBT)) for fit in self.vocabulary.fits(words)]
        if noun.other and self.moved_heads and all("*" in senses for _, senses in words):
            like = [fit for fit in self._of_kinds((), self.moved_heads).values() if fit.certain]
            if any(fit.id not in self.mentioned for fit in like):  # a battery …, and the others: the other batteries
                those = {fit.id for fit in like}
                rest = [fit for fit in self.vocabulary.fits(words) if self.mixed and fit.id not in those]
                return [*like, *(fit._replace(kind=FitKind.DOUBT) for fit in rest)]
        described = any(f"{word}的" in noun.text for word, _ in words[:-1])  # 红的杯子 is no name, not of 红杯子 either
        found = self.vocabulary.fits(words, by_name=not described)
        self._ask_if_an_id(noun, found)
        if found and self._counts(noun):
            raise self._asked("planner.perhaps", noun, [fit.id for fit in found], what=noun.text)
        return found

    def _ask_if_an_id(self, noun: NounPhrase, fits: Sequence[Fit]) -> None:
        """Raises NotUnderstood for a word alone that is the id of a thing that has another name: "put cup in the box",
        where a plate has the id `cup`; "the cup" is asked about only where nothing is called so."""
        certain = [fit.id for fit in fits if fit.certain]
        word = noun.text if certain or len(noun.words) != 1 else noun.text.removeprefix("the ")
        id = self.vocabulary.word_ids.get(word)
        if id is not None and id not in certain:
            raise self._asked("planner.ambiguous" if certain else "planner.perhaps", noun, [*certain, id], what=word)

    def _counts(self, noun: NounPhrase) -> bool:
        """Is a number said that is also in names: "a dozen cartons", of one dozen eggs carton?"""
        said = [word for word, _ in noun.words]
        if len(said) < 2 or not (said[0] in lexicon_en.COUNTS or said[0].isdecimal()):
            return False
        return self.vocabulary.is_plural(said[-1]) and not self.vocabulary.is_full_name(
            said, several=noun.quantity in ("all", "the")
        )

    def _of_kinds(self, words: tuple[Word, ...], heads: tuple[Word, ...]) -> dict[str, Fit]:
        """What the words fit with any of the heads, once: "the red one" is no name, not of a "red mug" either."""
        found: dict[str, Fit] = {}
        for fit in (fit for head in heads for fit in self.vocabulary.fits((*words, head), by_name=not words)):
            found[fit.id] = min(found.get(fit.id, fit), fit, key=lambda one: one.kind)
        return found

    def _is_so_called(self, id: str, noun: NounPhrase) -> bool:
        """Is the thing where the phrase says, of the colour that it says, and nothing that it denies?"""
        return (
            all(self._is_at(id, side, where) for side, where in noun.at)
            and not any(self.vocabulary.is_called(id, word) for word in noun.without)
            and all(self.vocabulary.is_coloured(id, word) for word in noun.being)
        )

    def _nothing(self, noun: NounPhrase, fits: list[Fit], perhaps: list[Fit]) -> tuple[str, ...]:
        """No thing is meant: () where "all" of them are none, else why, with the things that may be meant."""
        if perhaps:
            raise self._asked("planner.perhaps", noun, [fit.id for fit in perhaps], what=bare(noun))
        if any(fit.certain for fit in fits):
            if noun.quantity == "all" and not noun.count:
                self._note_uncounted(noun, fits)
                return ()
            listed = self.names([fit.id for fit in fits if fit.certain])
            raise NotUnderstood(
                "planner.missing_there", "missing", what=noun.text if noun.other else bare(noun), here=listed
            )
        self.ask_if_part_of_a_name(noun, fits)
        if more := self.of_no_known_kind(noun, fits):
            raise self._asked("planner.kind_unknown", noun, more)
        raise NotUnderstood("planner.missing", "missing", what=bare(noun), here=self.here())

    def ask_if_part_of_a_name(self, noun: NounPhrase, fits: Sequence[Fit]) -> None:
        """Raises NotUnderstood where nothing is called so, and names have the word: ibuprofen, of ibuprofen tablets."""
        if fits and not any(fit.certain for fit in fits):
            ids = [fit.id for fit in fits if self.sparing or fit.id not in self.into]
            raise self._asked("planner.perhaps", noun, ids or [fit.id for fit in fits], what=bare(noun))

    def _chosen(self, noun: NounPhrase, here: list[Fit], doubtful: list[Fit], fits: list[Fit]) -> tuple[str, ...]:
        """The things that are meant, of those that fit: for one the closest fit, for all or a number every fit.

        `doubtful`: things whose own head may be the word; without an exact name they are asked about.
        """
        if noun.summed and sum(fit.exact for fit in here) == 1:
            noun = replace(noun, quantity="the", plural=False)
        several = noun.quantity in ("all", "any") or bool(noun.count)
        if noun.plural and not several:
            one = [fit for fit in closest(here, True) if fit.kind is FitKind.NAME and not fit.several]
            if one and len(one) + 1 < len(closest(here, True)):  # "the glasses": the glasses, or each glass?
                raise self._ambiguous(noun, closest(here, True))
            several = not one or self._each_so_named(noun, one, closest(here, True))
        found = closest(here, several)
        also = [fit for fit in fits if fit.renamed and self._is_so_called(fit.id, noun)]
        also = [fit for fit in also if not self._is_said_too(fit.id, noun)]
        if several and noun.quantity != "any" and len(found) == 1 and also:  # the cans: one can is here, and one tin
            raise self._ambiguous(noun, [*found, *also])
        if all(fit.clash and not fit.exact for fit in found):  # 红罐子: the green 红茶罐, or a can that is red?
            found = closest(here, several=True)
        exact = any(fit.exact for fit in found)
        listed = self.sparing and any(fit.kind is FitKind.DOUBT for fit in doubtful)
        if doubtful and (several or listed or not exact) and noun.quantity != "any":
            raise self._ambiguous(noun, [*found, *doubtful])
        if not several and exact:
            found = [fit for fit in found if fit.exact or fit.clash]
        filled = {fit.kind is FitKind.FILLED for fit in here}
        if self.sparing and not exact and len(filled) > 1:  # all but the juice: apple juice, and the juice box?
            raise self._ambiguous(noun, here)
        apart = len({fit.kind is FitKind.WIDER for fit in found}) > 1  # the cups: is the mug one of them?
        if len(found) > 1 and (apart or any(fit.clash for fit in found)):
            raise self._ambiguous(noun, found)
        if any(fit.clash and not fit.exact for fit in found):  # one thing, of whose colour its name tells another
            raise self._asked("planner.perhaps", noun, [fit.id for fit in found], what=bare(noun))
        if noun.pair and not self.is_one(noun, found):
            raise self._ambiguous(noun, found)
        ids = tuple(fit.id for fit in found)
        if noun.quantity == "any":
            if noun.plural and not noun.count and _is_some(noun.text):
                raise self._ambiguous(noun, found)
            number = noun.count or 1
            if len(ids) < number:
                raise self._count(noun, ids)
            plain = [fit.id for fit in found if fit.kind is FitKind.NAME]  # two cups: rather than what only is one, too
            ids = tuple(plain) if len(plain) >= number else ids
            fresh = tuple(
                id for id in ids if id not in self.mentioned or id in self.there
            )  # a mug …, and a mug …: another one
            return self.easiest(fresh if len(fresh) >= number else ids)[:number]
        if noun.count and len(ids) != noun.count:
            raise self._count(noun, ids)
        of_it = [fit for fit in fits if fit.certain and not fit.renamed]
        if len(ids) == len(of_it) == 1 and self._says_several(noun, found[0]) and (more := self._unknown(noun, fits)):
            raise self._asked("planner.only_one", noun, (*ids, *more), names=self.names(ids))
        if several:
            self._note_uncounted(noun, fits)
        if several or len(ids) == 1:
            return ids
        raise self._ambiguous(noun, found)

    def _note_uncounted(self, noun: NounPhrase, fits: Sequence[Fit]) -> None:
        """Of "all the fruit on the table": the note names the things of no known kind, and those that may be there,
        which stay."""
        certain = {fit.id for fit in fits if fit.certain}
        there = [(side, one) for side, where in noun.at for one in (where.options or (where,))]
        for side, where in () if self.sparing else there:
            for place in self.one(where) if side in ("in", "on", "from") else ():
                thing, told_side = self.scene.thing(place), "" if side == "from" else side
                perhaps = perhaps_there(thing, self.scene, self.places, told_side) if thing is not None else []
                if unknown := [id for id in perhaps if id in certain]:
                    self.ask_if_moved(noun.text, unknown)
                    told = coded("planner.perhaps_left", names=self.names(unknown), where=self.names((place,)))
                    self.notes.append(render(told, self.language))
        many = not self.sparing and self.vocabulary.names_many(noun.words[-1], fits)
        if many and (more := self._unknown(noun, fits)):
            self.uncounted |= dict.fromkeys(more, noun.text)
            told = coded("planner.not_counted", what=bare(noun), names=self.names(more))
            self.notes.append(render(told, self.language))

    def _each_so_named(self, noun: NounPhrase, named: Sequence[Fit], found: Sequence[Fit]) -> bool:
        """Of "tomato seeds" and "bean seeds" "the seeds" are both; "the scissors" may be one pair of two."""
        alike = len({fit.exact for fit in named}) == 1 and len(named) == len(found) > 1
        return alike and noun.words[-1][0] not in lexicon_en.PAIRED

    def is_one(self, noun: NounPhrase, found: Sequence[Fit]) -> bool:
        """Is one thing called by the words of "a pair of scissors", "a packet of chips"; or each of "two pairs"?"""
        if (len(found) != 1 and not noun.plural) or any(fit.several for fit in found):
            return False
        another = found[0].kind is not FitKind.NAME or self.vocabulary.is_packed_otherwise(found[0].id, noun.pack)
        return not (noun.pack and another)

    def _says_several(self, noun: NounPhrase, fit: Fit) -> bool:
        """Does a phrase that only one thing fits mean more than one: the shoes, 所有鞋; and not the scissors?"""
        named_so = fit.kind is FitKind.NAME and not fit.several and not is_chinese(noun.words[-1][0])
        owned = any(word == "s" for word, _ in noun.words)  # the chef's and the guest's knives
        each = owned or noun.count or noun.other or noun.words[-1:] in self.shared
        all_of_it = noun.words[-1][0] in lexicon_en.COLLECTIVE or noun.words[-1][1] & (lexicon_en.MASS | {"*"})
        return noun.plural and not (named_so or each or all_of_it)

    def _unknown(self, noun: NounPhrase, fits: Sequence[Fit]) -> list[str]:
        """Things that may be of the kind that is said, though their names do not say it: a sneaker, of the shoes."""
        if self.vocabulary.names_many(noun.words[-1], fits):
            return [id for id in self.of_no_known_kind(noun, fits) if id not in self.mentioned]
        apart = {fit.id for fit in fits if fit.kind is not FitKind.DOUBT} | self.mentioned
        called = (self.vocabulary.called[id] for id in sorted(self.vocabulary.moving - apart))
        return [one.id for one in called if not one.kinds]

    def of_no_known_kind(self, noun: NounPhrase, fits: Sequence[Fit]) -> list[str]:
        """After a word for many kinds the things that may be of them or not, as nothing tells of what kind they are."""
        if not noun.words or not self.vocabulary.names_many(noun.words[-1], fits):
            return []
        told = {fit.id for fit in fits if fit.certain}
        colours = [word for word in noun.words[:-1] if is_colour(word)]
        return [
            id
            for id in sorted(self.vocabulary.moving - told)
            if self.vocabulary.is_of_no_known_kind(id)
            and self._is_so_called(id, replace(noun, without=()))
            and all(self.vocabulary.is_coloured(id, word) for word in colours if self.vocabulary.called[id].colours)
        ]

    def of_no_known_colour(self, noun: NounPhrase) -> list[str]:
        """The things that are so called but for the colours that are said, where theirs do not rule these out."""
        said = [word for word in (*noun.words, *noun.being) if is_colour(word)]
        rest = tuple(word for word in noun.words if not is_colour(word)) or (("things", frozenset("*")),)
        plain = replace(noun, words=rest, being=tuple(word for word in noun.being if not is_colour(word)), without=())
        found = []
        for fit in self.vocabulary.fits(rest) if said else ():
            unsure = [word for word in said if not self.vocabulary.is_coloured(fit.id, word)]
            if fit.certain and unsure and all(self.vocabulary.may_be_coloured(fit.id, word) for word in unsure):
                found.append(fit.id)
        self.uncoloured |= {*found}
        return [id for id in found if self._is_so_called(id, plain)]

    def _best(self, noun: NounPhrase, fits: list[Fit]) -> tuple[str, ...]:
        found = tuple(fit.id for fit in fits)
        base = self.scene.thing(self._single(noun.best_of)) if noun.best_of is not None else None
        if noun.size_word and len(found) == 1 and self.vocabulary.sizes_another(found[0], noun.words):
            raise self._doubted(noun, found)
        sizes = {id: self.vocabulary.named_sizes(id) for id in found}
        if noun.size_word and any(sizes.values()):  # "the big green box": one is called "big box"
            chosen = tuple(id for id in found if noun.best in sizes[id])
            if len(chosen) != 1 or not all(sizes.values()):
                raise self._doubted(noun, found)
            return chosen
        if noun.side_word and noun.words[-1][0] == "one" and all(map(self.vocabulary.names_a_side, found)):
            named = tuple(id for id in found if not self.vocabulary.belies(id, noun.best))
            if len(named) == 1 < len(found):  # the right glove …, and the left one
                return named
        unclear = (noun.of_two and len(found) != 2) or (noun.plural and not noun.count)
        if unclear or (noun.side_word and any(self.vocabulary.names_a_side(id) for id in found)):
            raise self._doubted(noun, found)
        if found and len(found) < noun.count:
            raise self._count(noun, found)
        if noun.best not in superlatives.BY_SIZE and (noun.side_word or len(found) > 1):
            of = {*found, base.id} if base is not None else {*found}
            self.ask_if_moved(noun.text, of, walked=base is None)
        chosen = superlatives.pick_superlative(found, noun.best, self.scene, noun.count or 1, base)
        if len(found) == 1 and not self._is_so(noun, fits[0]):
            raise self._doubted(noun, chosen)
        wider = {fit.id for fit in fits if fit.kind is FitKind.WIDER}  # the leftmost cup: is the mug one?
        if len(wider) < len(found) and not wider.isdisjoint(found if noun.best == "middle" else chosen):
            raise self._doubted(noun, found)
        self._tell(noun.text, chosen)
        return chosen

    def ask_if_moved(self, text: str, ids: Collection[str], *, walked: bool = False) -> None:
        """Raises NotUnderstood for words that depend on where the things are, if an earlier step moves one of them."""
        if moved := sorted(self.moved.intersection(ids)):
            raise NotUnderstood("planner.moved_before", "ambiguous", what=text, moved=self.names(moved))
        if walked and self.walked:
            raise NotUnderstood("planner.walked_before", "ambiguous", what=text)

    def _is_so(self, noun: NounPhrase, fit: Fit) -> bool:
        """Whether one thing alone is what is said to choose it: its name says no other, and it lies on that side."""
        if not fit.exact and self.vocabulary.belies(fit.id, noun.best):
            return False
        return noun.size_word or not noun.side_word or self._lies(fit.id, noun.best)

    def _lies(self, id: str, best: str) -> bool:
        """Does it lie on that side, as the robot stands? What is not plain is no."""
        side, thing, robot = best.removesuffix("most"), self.scene.thing(id), own_robot(self.scene)
        if best in ("top", "bottom"):
            upper, lower = (id, "") if best == "top" else ("", id)
            return any(
                spot.relation == "on" and spot.of in self.places and upper in ("", one) and lower in ("", spot.of)
                for one, spot in self.places.items()
            )
        if thing is None or side not in ("left", "right") or len(thing.position) < 2:
            return False
        x, y = axis(side, self.scene)
        dx, dy = robot.pose[:2] if robot is not None and len(robot.pose) >= 2 else (0.0, 0.0)
        return (thing.position[0] - dx) * x + (thing.position[1] - dy) * y > superlatives.TIE_M

    def _doubted(self, noun: NounPhrase, found: Sequence[str]) -> NotUnderstood:
        if len(found) == 1:
            return self._asked("planner.perhaps", noun, found, what=noun.text)
        return self._asked("planner.ambiguous", noun, found)

    def _ambiguous(self, noun: NounPhrase, found: list[Fit]) -> NotUnderstood:
        every = noun.quantity == "all" and not self.sparing
        return self._asked("planner.not_all" if every else "planner.ambiguous", noun, [fit.id for fit in found])

    def _asked(self, code: str, noun: NounPhrase, ids: Sequence[str], **facts: str) -> NotUnderstood:
        """A question about what may be meant."""
        return NotUnderstood(code, "ambiguous", ids, **{"what": noun.text, **facts})

    def _single(self, noun: NounPhrase) -> str:
        found = self.one(noun)
        if len(found) != 1:
            raise self._asked("planner.ambiguous", noun, found)
        return found[0]

    def _choice(self, noun: NounPhrase) -> tuple[str, ...]:
        """ "the apple or the can": the one that is easier to reach, and a note says which."""
        several = tuple(self._single(option) for option in noun.options)
        if not set(several) <= set(self.places):  # of tables and baskets none is easier: the user must choose
            raise self._asked("planner.ambiguous", noun, several)
        chosen = self.easiest(several)[:1]
        self._tell(noun.text, chosen)
        return chosen

    def _tell(self, text: str, chosen: tuple[str, ...]) -> None:
        self.notes.append(f"{text} → {self.names(chosen)}")

    def _count(self, noun: NounPhrase, found: tuple[str, ...]) -> NotUnderstood:
        return self._asked("planner.count", noun, found, count=str(noun.count or 1), found=str(len(found)))

    def _pronoun(self, noun: NounPhrase) -> tuple[str, ...]:
        found = self.last
        if not found:
            held = held_by(self.scene)
            found = (held,) if held else ()
        if noun.quantity == "any" and noun.count and len(found) > noun.count:
            return self.easiest(found)[: noun.count]
        if not found:
            raise NotUnderstood("planner.stands_alone", "ambiguous", word=noun.text)
        if len(found) > 1 and noun.text in ("it", "它"):
            raise NotUnderstood("planner.pronoun", "ambiguous", word=noun.text)
        if noun.count and len(found) != noun.count:
            raise self._count(noun, found)
        return found

    def _is_at(self, id: str, said: str, where: NounPhrase) -> bool:
        for other in (id for noun in where.options or (where,) for id in self.one(noun)):
            spot, end = self.places.get(id, ThingLocation()), final_support(self.places, id)
            place = self.scene.thing(other)
            hollow = place is not None and ((place.is_container and not is_flat(place)) or opens(place))
            side = "from" if said == "out" and not hollow else said  # "out of the saucer"
            flat = side in ("in", "on") and is_flat(place)  # on a tray and in it are the same
            if side in ("in", "out") and told_location(id, self.scene, self.places) == ThingLocation("in", other):
                return True
            if (side in ("in", "out", "from") or flat) and end == ThingLocation("in", other):
                return True
            if (side in ("on", "from") or flat) and ThingLocation("on", other) in (spot, end):
                return True
            apart = side == "beside" and settled_at(self.places, id) != settled_at(self.places, other)
            if (side in SIDES or side == "beside") and other != id and not apart:
                self.ask_if_moved(where.text, (id, other))
            if side in SIDES and other != id and self._beyond(id, side, other):
                return True
            if side == "beside" and id in self.places and holds(BesideGoal(id, other), self.scene):
                return True
            # a basket stands on its table as well
            if side == "on" and id not in self.places and self._stands_on(id, other):
                return True
        return False

    def _beyond(self, id: str, side: str, other: str) -> bool:
        one, two = self.scene.thing(id), self.scene.thing(other)
        return one is not None and two is not None and lies_toward(one, two, axis(side, self.scene))

    def _stands_on(self, id: str, other: str) -> bool:
        return any(r.subject == id and r.object == other and r.relation == "on" for r in self.scene.relations)

    def easiest(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """For "any": what is as wanted, then free tops, what lies in a container last; in page order."""
        covered = {w.of for w in self.places.values() if w.relation == "on"}
        order = {t.id: n for n, t in enumerate(movable(self.scene))}

        def rank(id: str) -> tuple[bool, bool, bool, int]:
            return (
                id not in self.there,
                final_support(self.places, id).relation == "in",
                id in covered,
                order.get(id, 0),
            )

        return tuple(sorted(ids, key=rank))


def bare(noun: NounPhrase) -> str:
    """The phrase without its article and number."""
    return " ".join(word for word, _ in noun.words) or noun.text


def _is_some(text: str) -> bool:
    """Does it say several without a number: some books, any books, 几本书? Of "any of the books" one will do."""
    return text.startswith(("some ", "几")) or (text.startswith("any ") and " of " not in text)


def _head(noun: NounPhrase) -> Word | None:
    """The word of a phrase that names a kind of thing."""
    word = noun.words[-1] if noun.words else None
    return None if word is None or "*" in word[1] or any(k[:2] == "i:" for k in word[1]) else word
