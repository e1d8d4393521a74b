"""Clauses to goals: the goals of each act for the things that it names."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from worldfs.base.footprint import is_round_above
from worldfs.base.hollows import is_vessel, opens
from worldfs.base.messages import coded, render
from worldfs.base.model import Scene, Thing, Vec
from worldfs.base.resting import slope
from worldfs.base.robot_sides import SIDES
from worldfs.base.tray_names import tray_id

from . import thing_names
from .clearing_goals import ClearingGoals
from .directional_goals import DirectionalGoals
from .goals import (
    ApartGoal,
    AreaGoal,
    AtGoal,
    BesideGoal,
    CentreGoal,
    ClearedGoal,
    DownGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HandedGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    OpenedGoal,
    OperationGoal,
    PlacedGoal,
    PouredGoal,
    SeenGoal,
    TowardGoal,
    UprightGoal,
    VisitGoal,
    destinations,
    held_by,
    holds,
    littering,
    point_above,
    subject,
)
from .intent import THERE, Clause, CommandIntent, NotUnderstood, NounPhrase
from .last_place import LastPlace
from .noun_resolver import NounResolver, bare
from .predicted_scene import predicted_scene
from .scene_facts import (
    ROBOT,
    ThingLocation,
    final_support,
    grains_in,
    immovable_ids,
    is_flat,
    layout,
    lies_flat,
    sanitized_scene,
    surfaces,
    told_location,
    wipes,
)
from .undo import undo_goals
from .unread_entries import left_out, refuse_unread
from .vocabulary import FitKind, Vocabulary, Word
from .wanted_ends import WantedEnds

PLACING = (InGoal, OnGoal, BesideGoal, TowardGoal, ApartGoal, AreaGoal, CentreGoal, PlacedGoal, DownGoal)


Before = Callable[[], Scene | None]


def never() -> None:
    """There is no previous instruction."""


class GoalBuilder:
    """Adds up the goals of one instruction, clause by clause."""

    def __init__(
        self,
        scene: Scene,
        vocabulary: Vocabulary,
        language: str,
        before: Before | None = None,
        *,
        mobile: bool = False,
        slides: bool = False,
    ) -> None:
        self.page, self.vocabulary, self.language, self.before = scene, vocabulary, language, before or never
        self.scene = scene  # as it is once the goals so far are met
        self.together = False  # what is joined by "and" is meant as things are before any of it
        self.slides = slides  # the robot can push a thing; without that it carries
        self._mobile = mobile  # the robot itself goes to places
        self.resolve = NounResolver(scene, vocabulary, language)
        self.place_heads: tuple[Word, ...] = ()  # what "one" stands for, of a place
        self._in(scene)
        self.goals: list[Goal] = []
        self.later: list[int] = []
        self.protected: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.emptied: tuple[str, ...] = ()  # containers that were to be emptied
        self.holding = held_by(scene) or ""
        self.ends: set[tuple[str, str]] = set()  # (side, place) of all that was put so far; ("", "") for one not clear
        self.left_there: set[str] = set()  # what lies where something is said to be left
        self.closed = self.resolve.closed  # nothing is put there, and nothing taken from it
        self.shut: set[str] = set()  # that, and what the clause that is read excepts or bars
        self.fixtures: tuple[str, ...] = ()  # drawers and lids, as they were named last

    def _in(self, scene: Scene, moved: frozenset[str] = frozenset()) -> None:
        """Reads in this scene from here on."""
        self.scene, self.resolve.scene, self.resolve.moved = scene, scene, moved
        self.resolve.places = layout(scene)
        self.sided, self.clearing, self.wanted = DirectionalGoals(self), ClearingGoals(self), WantedEnds(self)

    def command(self, clauses: list[Clause], text: str) -> CommandIntent:
        """Each clause is read in the scene as it is once those before it are done. Where it matters whether what is
        joined by "and" is meant so, or as things are before any of it, it is asked."""
        clauses = _taken_together(_placed_apart(clauses))
        if all(clause.then or clause.end for clause in clauses[1:]):
            return self._read(clauses, text)
        other = GoalBuilder(
            self.page, self.vocabulary, self.language, self.before, mobile=self._mobile, slides=self.slides
        )
        other.together = True
        at_once, found = other._read(clauses, text), self._read(clauses, text)
        if Counter(at_once.goals) != Counter(found.goals):
            raise NotUnderstood("planner.at_once", "ambiguous")
        return found

    def _foresee(self, clause: Clause) -> None:
        """Reads this clause in the scene as it is then."""
        if self.goals and (clause.then or clause.end or not self.together):
            from_where_it_lay = clause.shift is not None and isinstance(self.goals[-1], HoldingGoal)
            self._in(*predicted_scene(self.page, self.goals[:-1] if from_where_it_lay else self.goals))
            self.resolve.walked = self._mobile and any(isinstance(g, AtGoal | VisitGoal | HomeGoal) for g in self.goals)

    def _read(self, clauses: list[Clause], text: str) -> CommandIntent:
        said = (one for clause in clauses for noun in clause.nouns() for one in (noun.options or (noun,)))
        self.resolve.said = tuple(dict.fromkeys(noun.words[-1] for noun in said if noun.words))
        self.resolve.about(tuple(noun for clause in clauses for noun in clause.what))
        for clause in clauses:  # "all mugs …, all cups …, but leave the white one": of either
            self.protected += self._kept(clause.keep, clauses)
            self.closed |= {*self._kept(tuple(noun for noun in clause.keep if not noun.at), clauses)}
            self.left_there |= self._left_at(clause.keep)
        self.resolve.heads, self.resolve.earlier = (), ()
        for clause in clauses:
            self._foresee(clause)
            self._kept_still(clause, clauses)
            self.read(clause)
        self._in(self.page)
        for clause in clauses:  # "and leave the rest": all that was not named until then
            self.protected += self.resolve_aside(tuple(n for n in clause.keep if n.other))
        clash = sorted({subject(g) for g in self.goals} & set(self.protected))
        if clash:
            raise NotUnderstood("planner.contradiction", "negation", names=self.resolve.names(clash))
        self._certainly_left(clauses)
        refuse_unread(clauses, self.goals, self.scene, self.language)
        if any(isinstance(goal, PLACING) for goal in self.goals):
            self.notes.append(left_out(self.scene, self.language, ("entry", "place")))
        kept = tuple(dict.fromkeys(self.protected))
        self.notes = [*self.resolve.notes, *self.notes]
        goals = [
            replace(g, but=tuple(dict.fromkeys((*g.but, *kept)))) if isinstance(g, ClearedGoal) else g
            for g in self.goals
        ]
        note = "; ".join(dict.fromkeys(filter(None, self.notes)))
        later = tuple(self.later)
        return CommandIntent(tuple(goals), self.language, text, kept, note, later=later, emptied=self.emptied)

    def _certainly_left(self, clauses: list[Clause]) -> None:
        """Asks about things of no known kind that would be moved, where those of a kind are left out: "but the fruit".
        What is named itself is meant."""
        unsure = self.resolve.unsure
        if not unsure:
            return
        fits = (self.resolve.vocabulary.fits(noun.words) for clause in clauses for noun in clause.what)
        named = {fit.id for each in fits for fit in each if fit.certain and fit.kind < FitKind.SHAPE}
        named |= {self.holding} if any(noun.text in ("it", "它") for c in clauses for noun in c.what) else set()
        moved = {subject(goal) for goal in self.goals if not holds(goal, self.scene)}
        for goal in self.goals:
            moved |= {*littering(goal, self.scene)} if isinstance(goal, ClearedGoal) else set()
        doubt = [id for id in unsure if id in moved and id not in {*named, *self.protected}]
        if doubt:
            code = "planner.colour_unsure" if doubt[0] in self.resolve.uncoloured else "planner.kind_unknown"
            raise NotUnderstood(code, "ambiguous", doubt, what=unsure[doubt[0]])

    def _kept(self, nouns: tuple[NounPhrase, ...], clauses: list[Clause]) -> tuple[str, ...]:
        """What must not be touched. 雨伞留下，其他的…: what its words mean, as of an exception; 雨伞不要动，儿童雨伞…:
        not what an order calls by its full name, where another thing has the name that is said."""
        ordered = [noun for clause in clauses for noun in clause.what]
        all_that_fit = not (self.language == "zh" and any(noun.other for noun in ordered))
        named = {fit.id for noun in ordered for fit in self.resolve.fits(noun) if fit.exact}
        found: list[str] = []
        for noun in nouns:
            if noun.other:
                continue
            ids = self.resolve_aside((noun,), all_that_fit)
            exact = {fit.id for fit in self.resolve.fits(noun) if fit.exact} if len(ids) > 1 else set[str]()
            found += [id for id in ids if not exact or id in exact or id not in named]
        return tuple(found)

    def _kept_still(self, clause: Clause, clauses: list[Clause]) -> None:
        """Asks where "leave what is in the basket" means other things by then."""
        for noun in clause.keep if self.scene is not self.page else ():
            ids = {*self._kept((noun,), clauses)} if noun.at or noun.best else set[str]()
            if later := sorted(ids - {*self.protected}):
                names = self.resolve.names(later)
                raise NotUnderstood("planner.moved_before", "ambiguous", later, what=noun.text, moved=names)

    def resolve_aside(self, nouns: tuple[NounPhrase, ...], all_that_fit: bool = True) -> tuple[str, ...]:
        """Exceptions and protections do not become what "it" means; a pronoun there means nothing clear.

        What must not be touched is all that fits; an exception is what its words mean, as anywhere else.
        """
        for noun in nouns:
            if noun.pronoun:
                raise NotUnderstood("planner.pronoun", "negation", word=noun.text)
        last, self.resolve.sparing = self.resolve.last, True
        try:
            each = tuple(option for noun in nouns for option in (noun.options or (noun,)))  # neither of two
            return self._left_out(each, all_that_fit)
        finally:
            self.resolve.last, self.resolve.sparing = last, False

    def _left_out(self, nouns: tuple[NounPhrase, ...], all_that_fit: bool) -> tuple[str, ...]:
        chinese = self.language == "zh"  # 除了方块, 除了玩具: a Chinese noun has no number
        unnumbered = [n.quantity == "" and (chinese or not n.plural) for n in nouns]
        every = tuple(
            replace(n, quantity="all", count=0) if n.quantity != "any" and (all_that_fit or one) else n
            for n, one in zip(nouns, unnumbered, strict=True)
        )
        for noun, one in zip(nouns, unnumbered, strict=True):
            open_number = (one or _looks_plural(noun)) and not all_that_fit
            exact = [fit.id for fit in self.resolve.fits(noun) if fit.exact] if open_number else []
            if len(exact) == 1 and len(fit_ids := self.resolve.one(replace(noun, quantity="all", count=0))) > 1:
                raise NotUnderstood("planner.ambiguous", "ambiguous", fit_ids, what=noun.text)
        found = self.resolve.all(every)
        for noun in nouns:
            if unsure := self.resolve.may_be(noun):
                raise NotUnderstood("planner.perhaps", "ambiguous", unsure, what=noun.text)
            fit = self.resolve.one(replace(noun, quantity="all", count=0)) if noun.quantity == "any" else ()
            if len(fit) > max(noun.count, 1):  # "all but one cube": which one?
                raise NotUnderstood("planner.ambiguous", "ambiguous", fit, what=noun.text)
            # of "the mug" one was found, but not where it is said to be left
            there = noun.other or (noun.quantity == "the" and not noun.at)
            if not there and not self.resolve.one(replace(noun, quantity="all", count=0)):
                elsewhere = [fit.id for fit in self.resolve.fits(noun) if fit.certain] if noun.at else []
                if elsewhere:
                    here = self.resolve.names(elsewhere)
                    raise NotUnderstood("planner.missing_there", "missing", what=bare(noun), here=here)
                raise NotUnderstood("planner.missing", "missing", what=bare(noun), here=self.resolve.here())
        return found

    def barred(self, nouns: tuple[NounPhrase, ...]) -> set[str]:
        """The places where nothing may be put, with those that may be meant. "One" does not stand for them."""
        kept = self.resolve.heads, self.resolve.earlier, self.resolve.moved_heads, self.resolve.mixed
        found: set[str] = set()
        for noun in nouns:
            try:
                found |= {*self.resolve_aside((replace(noun, quantity="all", count=0),))}
            except NotUnderstood as error:
                found |= {*error.ids}
        self.resolve.heads, self.resolve.earlier, self.resolve.moved_heads, self.resolve.mixed = kept
        return found

    def name(self, id: str) -> str:
        return thing_names.name(self.page.thing(id), self.language, self.page, id)

    def read(self, clause: Clause) -> None:
        sparing = ("clear", "discard", "empty", "put", "stack", "sort", "look", "pick", "bring")
        if clause.but and clause.act not in sparing and not (clause.act in ("drop", "down") and clause.places):
            raise NotUnderstood(
                "planner.word", word=clause.but[0].text
            )  # an exception that would be dropped is not understood
        barred, mentioned = self.barred(clause.barred) | self.closed, {*self.resolve.mentioned}
        excepted, self.shut = self._excepted_places(clause), barred | self.barred(clause.but)
        self.resolve.mentioned = mentioned  # what is left out is named where the clause is read
        clause = LastPlace(self).read(clause)
        before = self.last_held()
        found = self._not_from(excepted, clause, getattr(self, f"_{clause.act}")(clause))
        if before and any(isinstance(g, (*PLACING, HoldingGoal)) for g in found):
            if any(subject(g) != before for g in found):
                raise NotUnderstood("planner.hand_full", "impossible", name=self.name(before))
            # to be put somewhere is to be picked up; what is put down again, or later on, is picked up first
            if self.goals[-1] == HoldingGoal(before) and not all(isinstance(g, DownGoal) for g in found):
                self.goals.pop()
        ends = {id for goal in found for id in destinations(goal)}
        ends |= {box for id in ends for box in self._holders(id)}  # on what lies in the box
        if taken := sorted(ends & (barred | excepted)):
            raise NotUnderstood("planner.barred", "negation", names=self.resolve.names(taken))
        self._only_there(clause, found)
        self._once(clause, found)
        self._note_places(clause, found)
        if clause.then:
            self.later.append(len(self.goals))
        self.goals += found

    def _excepted_places(self, clause: Clause) -> set[str]:
        """The places among what is left out: "everything except the red box", and not "except the red things". A place
        that the clause names itself is none of them."""
        named = [noun.words for _, where in clause.places for noun in where if isinstance(noun, NounPhrase)]
        each = [self.barred((noun,)) for noun in clause.but if noun.words not in named]
        return {id for ids in each if ids <= immovable_ids(self.scene) for id in ids}

    def _not_from(self, excepted: set[str], clause: Clause, found: list[Goal]) -> list[Goal]:
        """The goals without what lies in a place that is to be left alone, or that is left out of where things are
        taken from. Where a thing is named itself, or a place is left out of what is moved, it is asked."""
        inside = {id: self._holders(id) for goal in found if (id := subject(goal)) and not holds(goal, self.scene)}
        left = {id for id, boxes in inside.items() if boxes & (self.closed | excepted)}
        if not left or clause.act in ("look", "go"):
            return found
        source = any(side == "from" for side, _ in clause.places) or any(noun.at for noun in clause.what)
        several = all(noun.quantity == "all" and not noun.summed for noun in clause.what)
        kept = [goal for goal in found if subject(goal) not in left]
        sure = source or all(inside[id] & self.closed for id in left)
        if not (several and sure and kept):
            boxes = sorted({box for id in left for box in inside[id] & (self.closed | excepted)})
            names, holding = self.resolve.names(sorted(left)), self.resolve.names(boxes)
            raise NotUnderstood("planner.within_kept", "ambiguous", sorted(left), names=names, boxes=holding)
        self.notes.append(render(coded("planner.left_within", names=self.resolve.names(sorted(left))), self.language))
        return kept

    def _holders(self, id: str) -> set[str]:
        """What a thing lies in, and what that lies in. What is on the lid of a box is not in it."""
        found, seen = set[str](), set[str]()
        spot = told_location(id, self.scene, self.resolve.places)
        while spot.of and spot.of not in seen:
            seen.add(spot.of)
            flat = is_flat(self.scene.thing(spot.of))
            found |= {spot.of} if spot.relation == "in" or flat else set()
            around = (r.object for r in self.scene.relations if r.subject == spot.of and r.relation == "in")
            below = self.resolve.places.get(spot.of)
            spot = below or ThingLocation("in", next(around, ""))
        return {box for box in found if (t := self.scene.thing(box)) is not None and (t.is_container or opens(t))}

    def _only_there(self, clause: Clause, found: list[Goal]) -> None:
        """ "Leave the fork in the box and throw the rest away": its rest or that of all things, if not the same."""
        rest = [noun for noun in clause.what if noun.other and not noun.at]
        if not rest or self.left_there <= {*self.protected}:
            return
        beyond = [id for goal in found if (id := subject(goal)) not in self.left_there and not holds(goal, self.scene)]
        if beyond:
            raise NotUnderstood("planner.rest_of", "ambiguous", what=rest[0].text, names=self.resolve.names(beyond))

    def _left_at(self, nouns: tuple[NounPhrase, ...]) -> set[str]:
        """All that lies where something is said to be left."""
        at = {place for noun in nouns for place in noun.at if place[0] in ("in", "on", "out", "from")}
        every = (NounPhrase("*", (("*", frozenset("*")),), "all", plural=True, at=(place,)) for place in at)
        return {id for noun in every for id in self.resolve.one(noun)}

    def _note_places(self, clause: Clause, found: list[Goal]) -> None:
        """Where things were put, for "there". What is said of any other place leaves it open."""
        if clause.act == "openup":
            self.ends |= {("in", goal.object) for goal in found if isinstance(goal, OpenedGoal)}
        elif (
            clause.act in ("put", "bring", "drop", "down", "clear") and len(clause.places) == 1 and not clause.or_places
        ):
            put = [goal for goal in found if isinstance(goal, (InGoal, OnGoal))]
            self.ends |= {("in" if isinstance(g, InGoal) else "on", id) for g in put for id in destinations(g)}
            self.ends |= {("", "")} if len(put) < len(found) or clause.places[0][0] == "from" else set()
        elif clause.places or clause.act not in ("pick", "bring"):
            self.ends |= {("", "")}

    def _there(self) -> tuple[str, Thing]:
        """The side and the place that "there" means: the only one that was named."""
        side, id = next(iter(self.ends)) if len(self.ends) == 1 else ("", "")
        place = self.scene.thing(id)
        if place is None or (side == "on" and id not in immovable_ids(self.scene)):
            code = "planner.pronoun" if self.ends else "planner.stands_alone"
            raise NotUnderstood(code, "ambiguous", word="there" if self.language == "en" else "那里")
        return side, place

    def _once(self, clause: Clause, found: list[Goal]) -> None:
        """None gets a second place unsaid: the cup in the basket and the cup on the tray."""
        places = {subject(g): g for g in self.goals if isinstance(g, PLACING)}
        twice = [subject(g) for g in found if isinstance(g, PLACING) and places.get(subject(g), g) != g]
        said_again = clause.then
        if twice and not said_again:
            raise NotUnderstood("planner.two_places", "ambiguous", twice, names=self.resolve.names(twice))

    def last_held(self) -> str:
        last = next((g for g in reversed(self.goals) if isinstance(g, (HoldingGoal, *PLACING))), None)
        return last.object if isinstance(last, HoldingGoal) else ""

    # -- what is named --------------------------------------------------------------------------------------------

    def objects(
        self, nouns: tuple[NounPhrase, ...], but: tuple[NounPhrase, ...] = (), also: bool = False
    ) -> tuple[str, ...]:
        """Movable things; exceptions are taken away and protected."""
        several = tuple(noun for noun in nouns if noun.plural or noun.quantity == "all")
        self.resolve.about((but and several) or nouns)  # "the notebook and all mugs except the blue one": of the mugs
        self._one_kind_of_exception(but, nouns)
        spared = self._spared(but, nouns)
        self.protected += spared
        if all(aside.quantity != "the" for aside in but):  # "not the blue one" is said of one of them
            nouns = tuple(self._all_but(noun, spared) for noun in nouns)
        found = self.resolve.all(nouns, spared)
        for noun in nouns if spared and len(nouns) > 1 else ():
            ids = {fit.id for fit in self.resolve.fits(noun) if fit.certain}
            if ids and ids <= {*spared}:  # "the mugs and the notebook, except the blue ones": it is named, and left out
                raise NotUnderstood("planner.left_or_meant", "ambiguous", what=noun.text)
        for noun in nouns if len(nouns) > 1 else ():  # of "all mugs and all plates" either is here
            if noun.quantity == "all" and noun.words and not (noun.count or noun.other or self.resolve.one(noun)):
                code = "planner.missing_there" if noun.at else "planner.missing"
                raise NotUnderstood(code, "missing", what=bare(noun), here=self.resolve.here())
        if not found and not spared:  # "all red things", of none: the words fit nothing
            code = "planner.missing_there" if nouns[0].at else "planner.missing"
            raise NotUnderstood(code, "missing", what=bare(nouns[0]), here=self.resolve.here())
        still = immovable_ids(self.scene)
        everything = all(n.quantity == "all" for n in nouns)
        if everything:
            found = tuple(id for id in found if id not in self.protected)
        for id in found:
            if id in still and not also:
                raise NotUnderstood("planner.not_movable", "impossible", name=self.name(id))
        return found

    def _spared(self, but: tuple[NounPhrase, ...], nouns: tuple[NounPhrase, ...]) -> tuple[str, ...]:
        """What is left out. Of one thing that is ordered it matters not which of others "not the Arduino" may mean."""
        try:
            return self.resolve_aside(tuple(_of_these(aside, nouns) for aside in but), all_that_fit=False)
        except NotUnderstood as error:
            one = all(noun.quantity in ("", "the") and noun.words and not (noun.plural or noun.other) for noun in nouns)
            if not (one and error.ids) or set(error.ids) & {*self.resolve.all(nouns)}:
                raise
            return error.ids

    def _all_but(self, noun: NounPhrase, spared: tuple[str, ...]) -> NounPhrase:
        """把工具放进工具箱，扳手除外: a Chinese noun of which one is left out is all of the others."""
        bare_noun = replace(noun, text="", words=(), at=()) == NounPhrase("")
        if self.language != "zh" or not bare_noun or not noun.words:
            return noun
        fits = self.resolve.fits(noun)
        these = {fit.id for fit in fits if fit.certain}.union(self.resolve.of_no_known_kind(noun, fits))
        of_these = not these.isdisjoint(spared)
        return replace(noun, quantity="all", plural=True) if of_these else noun

    def _one_kind_of_exception(self, but: tuple[NounPhrase, ...], nouns: tuple[NounPhrase, ...]) -> None:
        """ "All mugs except the blue one, and the notebook": what is none of the mugs may be meant as well."""
        if len(but) < 2 or any(noun.pronoun or all("*" in senses for _, senses in noun.words) for noun in nouns):
            return
        of = {fit.id for noun in nouns for fit in self.resolve.fits(noun)}
        each = {aside: {fit.id for fit in self.resolve.fits(aside) if fit.certain} for aside in but}
        apart = [aside for aside, ids in each.items() if ids and of.isdisjoint(ids)]
        if 0 < len(apart) < len(but):
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=apart[0].text)

    def single(self, nouns: tuple[NounPhrase, ...], but: tuple[NounPhrase, ...] = ()) -> str:
        found = self.objects(nouns, but)
        if len(found) > 1:
            raise NotUnderstood("planner.one_hand", "impossible", names=self.resolve.names(found))
        if not found:
            raise NotUnderstood("planner.missing", "missing", what=bare(nouns[0]), here=self.resolve.here())
        return found[0]

    def where(self, nouns: tuple[NounPhrase, ...]) -> str:
        last, heads, earlier = self.resolve.last, self.resolve.heads, self.resolve.earlier
        self.resolve.heads = self.place_heads or heads
        try:
            found = self.resolve.all(nouns, self.shut if any(noun.quantity == "any" for noun in nouns) else ())
        except NotUnderstood as error:
            if error.code != "planner.missing_there" or not self.shut:
                raise
            raise NotUnderstood("planner.no_other", "missing", what=bare(nouns[0])) from None
        self.place_heads = self.resolve.heads
        self.resolve.last, self.resolve.heads, self.resolve.earlier = last, heads, earlier
        if len(found) != 1:
            raise NotUnderstood("planner.ambiguous", "ambiguous", found, what=nouns[0].text)
        return found[0]

    def filtered(
        self, clause: Clause, *, keep_last: bool
    ) -> tuple[Clause, tuple[str, tuple[NounPhrase, ...] | Vec] | None]:
        """The clause with its places turned into filters of what is named; the destination apart."""
        places = [p for p in clause.places if p[0] != "from"]
        filters = [p for p in clause.places if p[0] == "from"]
        goal = places.pop() if keep_last and places else None
        what = list(clause.what)
        for side, nouns in (*filters, *places):
            if not isinstance(nouns, tuple) or not nouns or not isinstance(nouns[0], NounPhrase) or not what:
                raise NotUnderstood("planner.word", word=str(nouns))
            if side not in ("in", "on", "beside", "from", *SIDES):
                raise NotUnderstood("planner.reading", what=f"{side} {nouns[0].text}")
            there = [n for n in nouns if isinstance(n, NounPhrase)]
            if side in ("in", "on", "from") and len(there) > 1:  # "from the basket and the tray": what lies in either
                there = [NounPhrase(" ".join(n.text for n in there), options=tuple(there))]
            at = "out" if side == "from" and clause.inside else side
            what = [replace(n, at=(*n.at, *((at, t) for t in there))) if not n.pronoun else n for n in what]
        return replace(clause, what=tuple(what), places=()), goal

    # -- acts -----------------------------------------------------------------------------------------------------

    def _clear(self, clause: Clause) -> list[Goal]:
        return self.clearing.clear(clause)

    def _discard(self, clause: Clause) -> list[Goal]:
        return self.clearing.discard(clause)

    def _empty(self, clause: Clause) -> list[Goal]:
        return self.clearing.empty(clause)

    def _sort(self, clause: Clause) -> list[Goal]:
        return self.clearing.sort(clause)

    def _put(self, clause: Clause) -> list[Goal]:
        return self.wanted.goals(clause) if clause.end else self.put(clause)

    def either(self, clause: Clause) -> list[Goal]:
        """ "in the basket or on the tray": the first of the places, if each of them is one."""
        kept, found, named = self.protected, list[list[Goal]](), {*self.resolve.mentioned}
        for place in (clause.places[-1], *clause.or_places):
            self.protected, self.resolve.mentioned = kept, {*named}
            try:
                found.append(self._put(replace(clause, places=(*clause.places[:-1], place), or_places=())))
            except NotUnderstood as error:
                if error.kind in ("ambiguous", "missing"):
                    raise
                raise NotUnderstood("planner.word", word="or" if self.language == "en" else "或者") from None
        return self.wanted.nearest(found) if clause.end else found[0]

    def put(self, clause: Clause) -> list[Goal]:
        if clause.or_places:
            return self.either(clause)
        if clause.each and len(clause.places) == 1 and len(clause.what) == len(clause.places[0][1]) > 1:
            side, where = clause.places[0]
            pairs = [
                (noun, place) for noun, place in zip(clause.what, where, strict=True) if isinstance(place, NounPhrase)
            ]
            parts = [replace(clause, what=(noun,), places=((side, (place,)),), each=False) for noun, place in pairs]
            goals = [goal for part in parts for goal in self.put(part)]
            self.resolve.last = tuple(filter(None, map(subject, goals)))
            return goals
        clause = self._with_more(clause)
        places = [p for p in clause.places if p[0] != "from"]
        if not places and clause.out:
            there, _ = self.filtered(clause, keep_last=False)
            return self.clearing.taken_out(there, self.objects(there.what, there.but))
        if not places:
            raise NotUnderstood("planner.where", word=clause.what[0].text)
        if len(places) == 1:
            return self._put_at(*self.filtered(clause, keep_last=True))
        # "the apple on the table in the basket" or "the apple in the basket-on-the-table": the scene decides
        readings: list[list[Goal]] = []
        failure: NotUnderstood | None = None
        side, where = places[-2]
        nested: list[tuple[Clause, tuple[str, tuple[NounPhrase, ...] | Vec] | None]] = []
        try:
            nested.append(self.filtered(clause, keep_last=True))
        except NotUnderstood as error:
            failure = error
        inner = [n for n in where if isinstance(n, NounPhrase)]
        outer = [n for n in places[-1][1] if isinstance(n, NounPhrase)]
        if len(inner) == 1 and outer and places[-1][0] in ("in", "on", "beside"):
            target = replace(inner[0], at=(*inner[0].at, *((places[-1][0], o) for o in outer)))
            rest = tuple(p for p in clause.places if p is not places[-1] and p is not places[-2])
            nested.append(self.filtered(replace(clause, places=(*rest, (side, (target,)))), keep_last=True))
        named = {*self.resolve.mentioned}
        emptied = False
        for reading in nested:
            kept, self.resolve.mentioned = self.protected, {*named}
            try:
                goals = self._put_at(*reading)
            except NotUnderstood as error:
                failure, self.protected = failure or error, kept
                first = len(nested) == 2 and reading is nested[0]  # of where the things are
                emptied |= first and error.code == "planner.missing_there" and self._took_from(inner)
            else:
                if goals:
                    readings.append(goals)
        if len(readings) == 1 and not emptied:
            return readings[0]
        if failure and not readings:
            raise failure
        raise NotUnderstood("planner.reading", "ambiguous", what=f"{side} {inner[0].text if inner else where}")

    def _took_from(self, places: list[NounPhrase]) -> bool:
        """Did an earlier step take from one of these places what was there?"""
        was = layout(self.page) if self.resolve.moved else {}
        left = {final_support(was, id).of for id in self.resolve.moved}
        return any(not left.isdisjoint(self.resolve.one(noun)) for noun in places)

    def _with_more(self, clause: Clause) -> Clause:
        """ "Put the jam in the crate, and the honey": what is no place after a place goes there as well."""
        if len(clause.places) != 1 or clause.places[0][0] not in ("in", "on", "to"):
            return clause
        side, where = clause.places[0]
        nouns = [noun for noun in where if isinstance(noun, NounPhrase)]
        first, more = nouns[:1], nouns[1:]
        if not more or not self._may_be_place(first[0]) or any(map(self._may_be_place, more)):
            return clause
        return replace(clause, what=(*clause.what, *more), places=((side, (*first,)),))

    def _may_be_place(self, noun: NounPhrase) -> bool:
        """May something be put into what the phrase means, or on it as on a table?"""
        fits = [fit for one in (noun.options or (noun,)) for fit in self.resolve.fits(one)]
        things = [thing for fit in fits if (thing := self.scene.thing(fit.id)) is not None]
        fixed, names = immovable_ids(self.scene), self.resolve.vocabulary
        return not things or any(
            thing.is_container or opens(thing) or thing.id in fixed or names.may_hold(thing.id)
            or names.holds_substances(thing.id) for thing in things
        )  # fmt: skip

    def _put_at(self, clause: Clause, goal: tuple[str, tuple[NounPhrase, ...] | Vec] | None) -> list[Goal]:
        assert goal is not None
        side, where = goal
        nouns = tuple(n for n in where if isinstance(n, NounPhrase))
        ids = self._objects_for(clause, nouns if side in ("in", "to", "on") else ())
        if side in (*SIDES, "between", "middle"):
            return self.sided.goals(ids, side, nouns, clause.gap)
        if not nouns:
            spot = tuple(float(v) for v in where if isinstance(v, float))
            if len(ids) > 1:
                raise NotUnderstood("planner.one_support", "impossible", name=str(spot))
            return [PlacedGoal(id, spot) for id in ids]
        if nouns[0] is THERE:
            there, place = self._there()
            return self._towards(ids, side or there, place, everything=all(n.quantity == "all" for n in clause.what))
        inside = self._opened_last() if side == "in" and _is_it(nouns) else ""
        if not (inside or nouns[0].text) and self.goals and isinstance(self.goals[-1], InGoal):
            inside = self.goals[-1].container  # 先把苹果放进篮子，再把罐子放进去
        if not (inside or nouns[0].text):
            raise NotUnderstood("planner.where", word=clause.what[0].text)
        target = self.scene.thing(inside or self.where(nouns))
        assert target is not None
        if target.id in ids and _is_it(nouns):  # "… and the can next to it"
            raise NotUnderstood("planner.pronoun", "ambiguous", word=nouns[0].text)
        if clause.gap:
            raise NotUnderstood("planner.which_side", "ambiguous", name=self.name(target.id))
        return self._towards(ids, side, target, everything=all(n.quantity == "all" for n in clause.what))

    def _objects_for(self, clause: Clause, nouns: tuple[NounPhrase, ...]) -> tuple[str, ...]:
        """What is put somewhere. "The toys" that go into the toy box are not that box."""
        try:
            return self.objects(clause.what, clause.but)
        except NotUnderstood as error:
            into = frozenset() if not nouns or any(n.pronoun for n in nouns) else self._place_among(nouns, error.ids)
            if not into:
                raise
        self.resolve.into = into
        try:
            return self.objects(clause.what, clause.but)
        finally:
            self.resolve.into = frozenset()

    def _place_among(self, nouns: tuple[NounPhrase, ...], ids: tuple[str, ...]) -> frozenset[str]:
        try:
            return frozenset((self.where(nouns),)) & {*ids}
        except NotUnderstood:
            return frozenset()

    def beside(self, ids: tuple[str, ...], other: Thing) -> list[Goal]:
        return self._towards(ids, "beside", other, everything=False)

    def _towards(self, ids: tuple[str, ...], side: str, target: Thing, everything: bool) -> list[Goal]:
        if everything:
            ids = tuple(id for id in ids if id != target.id)
        if target.id in ids:
            raise NotUnderstood("planner.itself", "impossible", name=self.name(target.id))
        if target.category == ROBOT and side in ("in", "on", "to", "at"):
            target = self.scene.thing(tray_id(target.id)) or target  # what a carrier is given lies on its tray
        if target.category == ROBOT:
            if side != "to":
                raise NotUnderstood("planner.robot_place", "impossible", name=target.id)
            if len(ids) > 1:
                raise NotUnderstood("planner.one_hand", "impossible", names=self.resolve.names(ids))
            handed = [HandedGoal(id, target.id) for id in ids]
            if all(holds(goal, self.scene) for goal in handed):
                return [*handed]  # it has it: nobody takes it back to hand it over once more
            return [goal for id in ids for goal in (HoldingGoal(id), HandedGoal(id, target.id))]
        if side == "beside" and target.id in {surface.id for surface in surfaces(self.scene)}:
            raise NotUnderstood("planner.beside_table", "ambiguous", name=self.name(target.id))
        if side == "beside":
            return [BesideGoal(id, target.id) for id in ids]
        if target.is_container and side in ("in", "on", "to", "at"):
            return [InGoal(id, target.id) for id in ids]
        if side == "in" and opens(target):
            self.fixtures = (target.id,)
            return [InGoal(id, target.id) for id in ids]
        if side == "in":
            raise NotUnderstood("planner.not_container", "impossible", name=self.name(target.id))
        if target.id in immovable_ids(self.scene):
            return [OnGoal(id, target.id) for id in ids]
        if side != "on":
            raise NotUnderstood("planner.where_to", "ambiguous", name=self.name(target.id))
        if len(ids) > 1:
            raise NotUnderstood("planner.one_support", "impossible", name=self.name(target.id))
        if is_round_above(target):
            raise NotUnderstood("planner.round", "impossible", names=self.name(target.id))
        for id in ids:  # none: all of it is left out, or is there
            self._level(id, target.id)
        return [OnGoal(id, target.id) for id in ids]

    def _level(self, id: str, on: str) -> None:
        """Raises `NotUnderstood` for a support that is tilted too far for the thing to stay there."""
        thing, support = self.scene.thing(id), self.scene.thing(on)
        if thing is not None and support is not None and (steep := slope(thing, support)):
            names, degrees = self.resolve.names((on,)), f"{math.degrees(steep):.0f}"
            raise NotUnderstood("planner.steep", "impossible", names=names, degrees=degrees)

    def _bring(self, clause: Clause) -> list[Goal]:
        # a "take the apple in the basket" could mean either; "to", "into" and "from" are plain
        if any(side != "from" for side, _ in clause.places):
            return self.put(clause)
        return self._pick(clause)

    def _pick(self, clause: Clause) -> list[Goal]:
        there, _ = self.filtered(clause, keep_last=False)
        last = self.resolve.last  # what "it" is in "take the ring out of it"
        ids = self.objects(there.what, there.but) if clause.out else ()
        if len(ids) > 1 or (ids and there.what[0].quantity == "all"):
            return self.clearing.taken_out(there, ids)
        if clause.out and not ids:  # all of it is left there
            return []
        self.resolve.last = last
        return [HoldingGoal(self.single(there.what, there.but))]

    def _down(self, clause: Clause) -> list[Goal]:
        if clause.places:
            return self.put(clause)
        ids = self.objects(clause.what) if clause.what else tuple(filter(None, (self.last_held() or self.holding,)))
        if not ids:
            raise NotUnderstood("planner.nothing_held", "missing")
        return [DownGoal(id) for id in ids]

    def _drop(self, clause: Clause) -> list[Goal]:
        return self._down(clause)

    def _stack(self, clause: Clause) -> list[Goal]:
        places = [p for p in clause.places if p[0] == "on"]
        clause, goal = self.filtered(clause, keep_last=bool(places) and clause.places[-1][0] == "on")
        ids = list(self.objects(clause.what, clause.but))
        base = ""
        if goal is not None:
            base = self.where(tuple(n for n in goal[1] if isinstance(n, NounPhrase)))
            if base in ids:
                raise NotUnderstood("planner.itself", "impossible", name=self.name(base))
        things = [t for id in ids if (t := self.scene.thing(id)) is not None]
        # widest below; round things only on top
        things.sort(key=lambda t: (is_round_above(t), -max(t.size[:2], default=0.0)))
        chain = [t.id for t in things]
        goals: list[Goal] = []
        if base and base not in immovable_ids(self.scene):
            chain.insert(0, base)
        elif base:
            goals = [OnGoal(chain[0], base)] if chain else []
        if len(chain) < 2 and not goals:
            raise NotUnderstood("planner.stack_one", "impossible")
        round_ones = [id for id in chain[:-1] if (t := self.scene.thing(id)) and is_round_above(t)]
        if round_ones:
            raise NotUnderstood("planner.round", "impossible", names=self.resolve.names(round_ones))
        for lower, upper in pairwise(chain):
            self._level(upper, lower)
        self.notes.append(render(coded("planner.from_below", names=self.resolve.names(chain)), self.language))
        return [*goals, *(OnGoal(upper, lower) for lower, upper in pairwise(chain))]

    def _look(self, clause: Clause) -> list[Goal]:
        clause, _ = self.filtered(clause, keep_last=False)
        ids = self.objects(clause.what, clause.but, also=True)
        if not ids and clause.what[0].quantity != "all":
            raise NotUnderstood("planner.missing", "missing", what=bare(clause.what[0]), here=self.resolve.here())
        return [VisitGoal(id) if self._mobile else SeenGoal(id) for id in ids]

    def _go(self, clause: Clause) -> list[Goal]:
        spots = [p[1] for p in clause.places if p[0] == "at"]
        if spots and not clause.what:
            spot = tuple(v for v in spots[0] if isinstance(v, float))
            if self._mobile and len(spot) == 2:
                spot = (*spot, 0.0)
            if len(spot) != 3:
                raise NotUnderstood("planner.three")
            return [AtGoal(spot)]
        clause, _ = self.filtered(clause, keep_last=False)
        id = self.where(clause.what)
        if self._mobile:
            return [VisitGoal(id)]
        point = point_above(self.scene, id)
        if not all(map(math.isfinite, point)):
            raise NotUnderstood("planner.no_position", "missing", where=self.name(id))
        return [AtGoal(point, id)]

    def _upright(self, clause: Clause) -> list[Goal]:
        ids = self.objects(clause.what, clause.but)
        balls = [id for id in ids if (t := self.scene.thing(id)) is not None and t.shape == "sphere"]
        if balls:
            raise NotUnderstood("planner.ball", "impossible", names=self.resolve.names(balls))
        flat = [id for id in ids if (t := self.scene.thing(id)) is not None and lies_flat(t)]
        if flat:
            raise NotUnderstood("planner.lies_flat", "impossible", names=self.resolve.names(flat))
        return [UprightGoal(id) for id in ids]

    def _pour(self, clause: Clause) -> list[Goal]:
        """All of one vessel into another; nine of ten grains count as all."""
        clause, goal = self.filtered(clause, keep_last=True)
        nouns = tuple(n for n in goal[1] if isinstance(n, NounPhrase)) if goal is not None else ()
        if not nouns or goal is None or goal[0] not in ("in", "to", "on"):
            raise NotUnderstood("planner.where", word=clause.what[0].text)
        source, into = self.single(clause.what), self.scene.thing(self.where(nouns))
        counted = grains_in(self.scene.thing(source))
        if not counted:
            raise NotUnderstood("planner.empty_vessel", "impossible", name=self.name(source))
        if into is None or into.id == source or not (is_vessel(into) or into.is_container):
            raise NotUnderstood("planner.no_vessel", "impossible", name=self.name(into.id if into else source))
        return [PouredGoal(source, into.id, grains_in(into) + math.ceil(0.9 * counted))]

    def _wipe(self, clause: Clause) -> list[Goal]:
        """With what is named, else with the only sponge or cloth there is."""
        tools = tuple(n for _, nouns in clause.places for n in nouns if isinstance(n, NounPhrase))
        area = self.where(clause.what)
        found = self.objects(tools) if tools else tuple(t.id for t in self.scene.objects if wipes(t))
        if len(found) != 1:
            code, kind = ("planner.ambiguous", "ambiguous") if found else ("planner.no_sponge", "missing")
            raise NotUnderstood(code, kind, found, what=clause.what[0].text)
        return [OperationGoal("wipe", json.dumps({"object_id": found[0], "target": area}))]

    def _openup(self, clause: Clause) -> list[Goal]:
        return [OpenedGoal(id, "open") for id in self._fixtures(clause)]

    def _shut(self, clause: Clause) -> list[Goal]:
        return [OpenedGoal(id, "closed") for id in self._fixtures(clause)]

    def _opened_last(self) -> str:
        """The drawer or lid that this instruction named last: what "it" is where a thing is put in; "": none."""
        return self.fixtures[0] if len(self.fixtures) == 1 else ""

    def _fixtures(self, clause: Clause) -> tuple[str, ...]:
        """What has a drawer or a lid; "it" is the one that was named last."""
        if _is_it(clause.what) and (last := self._opened_last()):
            return (last,)
        ids = self.objects(clause.what, clause.but, also=True)
        things = [t for id in ids if (t := self.scene.thing(id)) is not None]
        if fixed := [t.id for t in things if not opens(t)]:
            raise NotUnderstood("planner.no_lid", "impossible", names=self.resolve.names(fixed))
        self.fixtures = ids
        return ids

    def _shift(self, clause: Clause) -> list[Goal]:
        assert clause.shift is not None
        ids = self.objects(clause.what, clause.but)
        for id in ids:
            spot, name = final_support(self.resolve.places, id), self.name(id)
            if spot.relation == "held":
                raise NotUnderstood("planner.held_now", "ambiguous", name=name)
            if spot.relation == "in":
                raise NotUnderstood("planner.shift_inside", "impossible", name=name, where=self.name(spot.of))
            if spot.relation != "on":
                raise NotUnderstood("planner.shift_unknown", "impossible", name=name)
        return self.sided.shifted(ids, clause.shift)

    def _wave(self, clause: Clause) -> list[Goal]:
        return [GestureGoal("wave")]

    def _undo(self, clause: Clause) -> list[Goal]:
        wanted = self.objects(clause.what, clause.but) if clause.what else None
        before = self.before()
        if before is None:
            raise NotUnderstood("planner.no_history", "missing")
        goals, lost = undo_goals(sanitized_scene(before), self.page, wanted)
        there = {*(wanted or ())} - {*lost, *map(subject, goals)}
        each = [(noun.quantity == "all" and not noun.summed) or _names_no_kind(noun) for noun in clause.what]
        if there and not ((goals or lost) and all(each)):
            raise NotUnderstood("planner.not_moved_last", "missing", names=self.resolve.names(sorted(there)))
        if not (goals or lost):
            raise NotUnderstood("planner.nothing_moved_last", "missing")
        if lost:
            whys = [coded("planner.name_why", name=self.resolve.names([id]), why=why) for id, why in lost.items()]
            names = ("；" if self.language == "zh" else "; ").join(render(why, self.language) for why in whys)
            if not goals:
                raise NotUnderstood("planner.undo_none", "impossible", names=names)
            self.notes.append(render(coded("planner.undo_lost", names=names), self.language))
        return goals

    def _home(self, clause: Clause) -> list[Goal]:
        docks = [thing.id for thing in self.scene.furniture if thing.category == "dock"]
        if self._mobile and len(docks) == 1:
            return [VisitGoal(docks[0])]
        return [HomeGoal()]

    def _open(self, clause: Clause) -> list[Goal]:
        held = self.last_held() or ("" if any(isinstance(g, PLACING) for g in self.goals) else self.holding)
        if held:
            raise NotUnderstood("planner.hand_full", "impossible", name=self.name(held))
        return [GripperGoal("open")]

    def _close(self, clause: Clause) -> list[Goal]:
        return [GripperGoal("closed")]


def _names_no_kind(noun: NounPhrase) -> bool:
    return bool(noun.words) and all("*" in senses for _, senses in noun.words)


def _of_these(aside: NounPhrase, nouns: tuple[NounPhrase, ...]) -> NounPhrase:
    """ "The white things except the heaviest": of those, and not of all things."""
    if not aside.best or aside.at or aside.best_of is not None or not all("*" in senses for _, senses in aside.words):
        return aside
    if len(nouns) != 1 or nouns[0].pronoun or nouns[0].best or nouns[0].other or nouns[0].options:
        if all(noun.quantity == "all" and all("*" in s for _, s in noun.words) and not noun.at for noun in nouns):
            return aside
        raise NotUnderstood("planner.word", word=aside.text)
    of = nouns[0]
    return replace(aside, words=of.words, at=of.at, without=of.without, being=of.being)


def _looks_plural(noun: NounPhrase) -> bool:
    """ "The scissors" may be one thing, or all of several."""
    return noun.words[-1:] != () and noun.words[-1][0].endswith("s") and not noun.count


def _is_it(nouns: tuple[NounPhrase, ...]) -> bool:
    return len(nouns) == 1 and nouns[0].pronoun and not nouns[0].plural


def _placed_apart(clauses: list[Clause]) -> list[Clause]:
    """ "grab the phone and the book, put the phone in the box and the book in the basket": only the placing, where it
    is of exactly these."""
    found, at = [*clauses], 0
    while at < len(found):
        taken, end = found[at], at + 1
        placed: list[tuple[Word, ...]] = []
        wanted = [noun.words for noun in taken.what]
        while end < len(found) and found[end].act == "put" and len(placed) < len(wanted):
            placed += [() if noun.pronoun else noun.words for noun in found[end].what]
            end += 1
        plain = taken.act in ("pick", "bring") and not (taken.places or taken.but)
        if plain and len(set(wanted)) == len(wanted) > 1 and Counter(placed) == Counter(wanted):
            first = found[at + 1]
            keep, barred = (*taken.keep, *first.keep), (*taken.barred, *first.barred)
            found[at : at + 2] = [replace(first, keep=keep, barred=barred, then=taken.then)]
        at += 1
    return found


def _taken_together(clauses: list[Clause]) -> list[Clause]:
    """ "take the lemon and the pear and put both in the tray": several things are not held, they are put one by one."""
    found: list[Clause] = []
    for clause in clauses:
        last = found[-1] if found else None
        out = last is not None and last.out and all(side == "from" for side, _ in last.places)
        if out and last is not None and clause.act == "put" and all(n.pronoun and n.text for n in clause.what):
            places = (*last.places, *clause.places)  # "remove it from the basket and put it in the tray"
            but, keep = (*last.but, *clause.but), (*last.keep, *clause.keep)
            barred = (*last.barred, *clause.barred)
            found[-1] = replace(
                clause, what=last.what, places=places, but=but, keep=keep, then=last.then, barred=barred
            )  # fmt: skip
            continue
        several = last is not None and last.act in ("pick", "bring") and not last.places and len(last.what) > 1
        them = clause.act in ("put", "discard") and all(n.pronoun and n.plural for n in clause.what)
        if several and last is not None and them:
            barred = (*last.barred, *clause.barred)
            found[-1] = replace(clause, what=last.what, keep=(*last.keep, *clause.keep), barred=barred)
        else:
            found.append(clause)
    return found
