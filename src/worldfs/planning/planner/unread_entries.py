"""What of ENVIRONMENT.md cannot be read: no answer denies it, and no order takes it for done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worldfs.base.messages import coded, render
from worldfs.base.model import Scene

from . import lexicon_en
from .goals import ClearedGoal, Goal
from .intent import Clause, NotUnderstood, NounPhrase
from .unnamed_things import touched_ids

LISTED = 3  # entries that a sentence names
ALL_OF = ("clear", "empty", "sort")  # acts that mean all that is there


def left_out(scene: Scene, language: str, what: Iterable[str] = ("entry", "name")) -> str:
    """A sentence with the entries that are not counted; "" where all can be read."""
    found = _named(scene, what, language)
    return render(coded("planner.left_out", entries=found), language) if found else ""


def _named(scene: Scene, what: Iterable[str], language: str) -> str:
    found = [one for one in scene.unread if one.what in what]
    told = [render(coded("planner.unread_entry", where=one.where, why=one.why), language) for one in found[:LISTED]]
    return "; ".join([*told, *(["…"] if len(found) > LISTED else [])])


def refuse_unread(clauses: Sequence[Clause], goals: Sequence[Goal], scene: Scene, language: str) -> None:
    """Raises NotUnderstood for an order about all of something, of which an entry that cannot be read may be one, and
    for an order that touches a thing whose id another entry has too."""
    nouns = [noun for clause in clauses for noun in clause.what]
    every = any(clause.act in ALL_OF for clause in clauses) or any(isinstance(goal, ClearedGoal) for goal in goals)
    every = every or any(map(_all_things, nouns))
    kinds = ("entry", "name") if any(map(_of_a_kind, nouns)) else ("entry",) if every else ()
    if found := _named(scene, kinds, language):
        raise NotUnderstood("planner.unread_all", "ambiguous", entries=found)
    ids = {*touched_ids(goals), *(id for goal in goals if isinstance(goal, ClearedGoal) for id in goal.into)}
    if twice := [one for one in scene.unread if one.id in ids]:
        why = render(coded("planner.unread_entry", where=twice[0].where, why=twice[0].why), language)
        raise NotUnderstood("planner.id_twice", "ambiguous", entry=why, id=twice[0].id)


def _all_things(noun: NounPhrase) -> bool:
    """Whether a phrase means each of several things, or the first of them by a measure."""
    many = noun.plural and not noun.pair and not (noun.words and noun.words[-1][0] in lexicon_en.PAIRED)
    return noun.quantity == "all" or noun.other or many or bool(noun.best)


def _of_a_kind(noun: NounPhrase) -> bool:
    return _all_things(noun) and not all("*" in senses for _, senses in noun.words)
