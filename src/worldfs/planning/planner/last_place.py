"""The last place of a clause: where things go, or which things are meant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .intent import Clause, NotUnderstood, NounPhrase
from .scene_facts import immovable_ids
from .waste import waste_bins

if TYPE_CHECKING:
    from .goal_builder import GoalBuilder


class LastPlace:
    """Reads it for the clauses of one instruction, in its scene."""

    def __init__(self, meaning: GoalBuilder) -> None:
        self.meaning = meaning

    def read(self, clause: Clause) -> Clause:
        """The clause with a last place that is a destination, or with nouns that say where the things are.

        Raises NotUnderstood where it may be either.
        """
        if not clause.last_place or not clause.places:
            return clause
        side, where = clause.places[-1]
        nouns = tuple(noun for noun in where if isinstance(noun, NounPhrase))
        if not nouns or any(noun.pronoun for noun in (*nouns, *clause.what)):
            return replace(clause, act="put", last_place="") if clause.act == "discard" else clause
        if (clause.act == "discard" or clause.last_place == "thrown") and self._is_bin(nouns):
            return replace(clause, act="put", last_place="")
        if clause.last_place == "which":
            return self._telling_which(clause, side, nouns)
        every = any(noun.quantity == "all" and all("*" in senses for _, senses in noun.words) for noun in clause.what)
        if len(clause.places) == 1 and (every or self._lie_there(clause.what, side, nouns)):
            raise NotUnderstood("planner.reading", "ambiguous", what=f"{side} {nouns[0].text}")
        return clause

    def _is_bin(self, nouns: tuple[NounPhrase, ...]) -> bool:
        bins = waste_bins(self.meaning.scene, self.meaning.resolve.vocabulary)
        try:
            found = self.meaning.resolve.one(nouns[0]) if len(nouns) == 1 else ()
        except NotUnderstood:
            return False
        return len(found) == 1 and found[0] in bins

    def _telling_which(self, clause: Clause, side: str, nouns: tuple[NounPhrase, ...]) -> Clause:
        """ "The apple in the box on the table": the box that is there."""
        places = [place for place in clause.places[:-1] if place[0] != "from"]
        if places and clause.act == "bring":  # "take the cup in the box on the table": onto the table?
            return clause
        if len(nouns) > 1 and not self._are_places(nouns):  # "throw away the apple in the box and the cup"
            raise NotUnderstood("planner.reading", "ambiguous", what=f"{side} {nouns[0].text}")
        there = nouns[0] if len(nouns) == 1 else NounPhrase(" ".join(noun.text for noun in nouns), options=nouns)
        for inner_side, inner in reversed(places):
            if len(inner) != 1 or not isinstance(inner[0], NounPhrase):
                raise NotUnderstood("planner.reading", "ambiguous", what=f"{side} {nouns[0].text}")
            side, there = inner_side, replace(inner[0], at=(*inner[0].at, (side, there)))
        what = tuple(_placed(noun, (side, there)) for noun in clause.what)
        # "throw away the pens and the apple in the box": are the pens there, too?
        pairs = zip(_each(clause.what)[:-1], _each(what)[:-1], strict=True)
        if any({*self.meaning.resolve.one(noun)} != {*self.meaning.resolve.one(placed)} for noun, placed in pairs):
            raise NotUnderstood("planner.reading", "ambiguous", what=f"{side} {nouns[0].text}")
        kept = tuple(place for place in clause.places if place[0] == "from")
        return replace(clause, what=what, places=kept, last_place="")

    def _are_places(self, nouns: tuple[NounPhrase, ...]) -> bool:
        found = {id for noun in nouns for id in self.meaning.resolve.one(noun)}
        return found <= immovable_ids(self.meaning.scene)

    def _lie_there(self, what: tuple[NounPhrase, ...], side: str, nouns: tuple[NounPhrase, ...]) -> bool:
        """Does anything that the words fit lie in that place already?"""
        for noun in what:
            for option in noun.options or (noun,):
                all_of_it = replace(option, quantity="all", count=0, best="", best_of=None, other=False)
                at = tuple((side, place) for place in nouns)
                try:
                    if any(self.meaning.resolve.one(replace(all_of_it, at=(*option.at, place))) for place in at):
                        return True
                except NotUnderstood as error:
                    if error.kind != "missing":
                        raise
        return False


def _placed(noun: NounPhrase, place: tuple[str, NounPhrase]) -> NounPhrase:
    options = tuple(_placed(option, place) for option in noun.options)
    return replace(noun, at=(*noun.at, place), options=options)


def _each(nouns: tuple[NounPhrase, ...]) -> list[NounPhrase]:
    return [option for noun in nouns for option in (noun.options or (noun,))]
