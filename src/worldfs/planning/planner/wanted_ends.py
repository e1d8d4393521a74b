"""Ends that are wanted, judged before anything moves: "make sure two mugs are in the basket", "only the plum …"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from worldfs.base.messages import coded, render

from .assign import into_containers
from .goals import (
    ApartGoal,
    AreaGoal,
    BesideGoal,
    CentreGoal,
    Goal,
    InGoal,
    OnGoal,
    TowardGoal,
    destinations,
    holds,
    subject,
)
from .intent import Clause, NotUnderstood, NounPhrase
from .scene_facts import contents, immovable_ids, movable, perhaps_there

if TYPE_CHECKING:
    from .goal_builder import GoalBuilder

PLACED = (InGoal, OnGoal, BesideGoal, TowardGoal, ApartGoal, AreaGoal, CentreGoal)


class WantedEnds:
    """The wanted ends of one instruction. Things that are already in place stay; only missing ones are moved."""

    def __init__(self, meaning: GoalBuilder) -> None:
        self.meaning, self.scene = meaning, meaning.scene

    def goals(self, clause: Clause) -> list[Goal]:
        """At least what is named is there; what must not be there beside it is taken out."""
        bounded = clause.end != "end"
        choice = bool(clause.or_places) or any(noun.options for noun in clause.what)
        if bounded and (choice or any(side == "from" for side, _ in clause.places)):
            raise self._not_read("or" if choice else "only")
        if clause.or_places:
            return self.meaning.either(clause)
        before = {*self.meaning.protected}
        found = self._named(clause)
        self._ask_of_uncertain(clause, found)
        side, id = self._place(found)
        if denied := [one for one in self._there(side, id) if one in {*self.meaning.protected} - before]:
            raise self._asked(clause.but[0], denied, id)  # "the fig should be in it instead of the pear"
        return [*self._others(clause, found), *found] if bounded else found

    def nearest(self, each: Sequence[list[Goal]]) -> list[Goal]:
        """Of the places that will do as well, the one where the least is missing. Where the things lie in several of
        them, it is asked."""
        best = min(each, key=lambda goals: sum(not self._holds(goal) for goal in goals))
        missing = {subject(goal) for goal in best if not self._holds(goal)}
        elsewhere = {subject(goal) for goals in each for goal in goals if self._holds(goal)}
        if split := sorted(missing & elsewhere):
            names = self.meaning.resolve.names(split)
            raise NotUnderstood("planner.two_places", "ambiguous", split, names=names)
        return best

    def _holds(self, goal: Goal) -> bool:
        """Does it hold once what was ordered before is done?"""
        placed = [g for g in self.meaning.goals if isinstance(g, PLACED) and subject(g) == subject(goal)]
        return placed[-1:] == [goal] or holds(goal, self.scene, places=self.meaning.resolve.places)

    def _named(self, clause: Clause) -> list[Goal]:
        """The goals of what is named: of "a mug" that of one that is there already, where one is."""
        meaning, resolve = self.meaning, self.meaning.resolve
        plain = replace(clause, end="")
        kept = meaning.protected, {*resolve.mentioned}, [*resolve.notes], [*meaning.notes], resolve.last
        found = meaning.put(plain)
        chosen = [noun for noun in clause.what if noun.quantity == "any" or noun.options]
        if not chosen or all(map(self._holds, found)):
            return found
        like = [goal for goal in found if isinstance(goal, PLACED)]
        resolve.there = frozenset(
            thing.id for thing in movable(self.scene) if any(self._holds(replace(g, object=thing.id)) for g in like)
        )
        meaning.protected, resolve.mentioned, resolve.notes, meaning.notes, resolve.last = kept
        try:
            return meaning.put(plain)
        finally:
            resolve.there = frozenset()

    def _place(self, found: Sequence[Goal]) -> tuple[str, str]:
        """(in | on, the container or surface) that all goals are of; ("", "") for any other place."""
        ends = {("in", g.container) if isinstance(g, InGoal) else ("on", getattr(g, "support", "")) for g in found}
        side, id = next(iter(ends)) if len(ends) == 1 else ("", "")
        plain = all(isinstance(goal, InGoal | OnGoal) for goal in found)
        return (side, id) if plain and id in immovable_ids(self.scene) else ("", "")

    def _there(self, side: str, id: str) -> list[str]:
        """What is in or on a place once what was ordered before is done."""
        place = self.scene.thing(id)
        return contents(place, side, self.scene, self.meaning.resolve.places) if place is not None else []

    def _fits(self, nouns: Sequence[NounPhrase]) -> set[str]:
        every = [fit for noun in nouns for one in (noun.options or (noun,)) for fit in self.meaning.resolve.fits(one)]
        return {fit.id for fit in every if fit.certain}

    def _ask_of_uncertain(self, clause: Clause, found: Sequence[Goal]) -> None:
        """Of "a mug" one may be there already, and the scene does not tell."""
        chosen = [noun for noun in clause.what if noun.quantity == "any" or noun.options]
        if chosen and not all(map(self._holds, found)):
            self._ask(*self._place(found), self._fits(chosen))

    def _ask(self, side: str, id: str, among: set[str]) -> None:
        place = self.scene.thing(id)
        perhaps = perhaps_there(place, self.scene, self.meaning.resolve.places, side) if place is not None else []
        if unknown := [one for one in perhaps if one in among]:
            names, where = self.meaning.resolve.names(unknown), self.meaning.name(id)
            raise NotUnderstood("planner.perhaps_there", "ambiguous", unknown, names=names, where=where)

    def _others(self, clause: Clause, found: list[Goal]) -> list[Goal]:
        """What is there and should not be comes out: of a container onto what that stands on, off a table into the
        container where things are kept."""
        side, id = self._place(found)
        named = {subject(goal) for goal in found}
        if not id:
            raise self._not_read("only")
        there = [one for one in self._there(side, id) if one not in named]
        counted = [noun for noun in clause.what if noun.quantity == "any"]
        among = {thing.id for thing in movable(self.scene)} - named
        if counted and clause.end != "alone":
            kind = self._fits(clause.what)
            if clause.end == "only" and (beside := [one for one in there if one not in kind]):
                raise self._asked(clause.what[0], beside, id)
            there, among = [one for one in there if one in kind], among & kind
        self._ask(side, id, among)
        bare = any(not noun.quantity and not noun.count and len(named) > len(clause.what) for noun in clause.what)
        if bare and not all(map(self._holds, found)):  # "only mugs": all of them, or nothing else?
            raise self._asked(clause.what[0], [subject(goal) for goal in found if not self._holds(goal)], id)
        if not there:
            return []
        if side == "in":
            below = self.meaning.clearing.below(id)
            out: list[Goal] = [OnGoal(one, below) for one in there]
        else:
            out = into_containers(tuple(there), self.meaning.clearing.storage(there), self.scene)
        resolve, to = self.meaning.resolve, sorted({end for goal in out for end in destinations(goal)})
        told = coded("planner.comes_out", names=resolve.names(there), where=self.meaning.name(id), to=resolve.names(to))
        self.meaning.notes.append(render(told, self.meaning.language))
        return out

    def _asked(self, noun: NounPhrase, ids: Sequence[str], place: str) -> NotUnderstood:
        names, where = self.meaning.resolve.names([*ids]), self.meaning.name(place)
        return NotUnderstood("planner.only_of", "ambiguous", ids, what=noun.text, names=names, where=where)

    def _not_read(self, word: str) -> NotUnderstood:
        zh = {"or": "或", "only": "只"}
        return NotUnderstood("planner.word", word=zh[word] if self.meaning.language == "zh" else word)
