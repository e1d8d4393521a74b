"""Answers to questions from the scene: places, counts, held things, yes or no."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from worldfs.base.hollows import opens
from worldfs.base.messages import coded, render
from worldfs.base.model import RobotState, Scene
from worldfs.base.robot_sides import SIDES
from worldfs.base.tray_names import tray_id
from worldfs.base.word_forms import is_chinese, singulars

from . import lexicon_en, lexicon_zh, superlatives, task_text
from .directions import axis, lies_toward
from .goals import BesideGoal, ClearedGoal, held_by, holds
from .intent import NotUnderstood, NounPhrase
from .noun_resolver import NounResolver, bare
from .phrase_heads import is_colour
from .question_parser import ParsedQuestion, QuestionPart, parse_question
from .scene_facts import ThingLocation, containers, contents, is_there, locations, movable, perhaps_there, surfaces
from .scene_sentences import SceneSentences, with_contradictions
from .thing_words import MANY_KINDS
from .unread_entries import left_out
from .vocabulary import FitKind, Vocabulary, Word, closest


@dataclass(frozen=True, slots=True)
class SceneAnswer:
    text: str
    told: bool = True  # False: the scene does not tell, and the text says so


def answer(
    text: str,
    scene: Scene,
    language: str,
    vocabulary: Vocabulary,
    can: Callable[[], Sequence[str]] = tuple,
    *,
    robots: Sequence[RobotState] = (),
    several: bool = False,
) -> SceneAnswer:
    """One sentence or two, or that the scene has no answer. `can`: suggestions of commands. `robots`: all that are
    here, the one that is asked among them. `several`: others are asked as well, so the answer names its robot.

    Raises NotUnderstood for what only begins like a question ("tell me a joke"), and where it is not certain which
    thing is meant.
    """
    question = parse_question(text, vocabulary, language)
    if question.topic == "can":
        return SceneAnswer(("；" if language == "zh" else "; ").join(can()))
    answerer = _QuestionAnswerer(scene, vocabulary, language, robots, several=several)
    found = answerer.to(question)
    if not found and question.mild:
        raise NotUnderstood("planner.verb", word=text.split(maxsplit=1)[0])
    found = answerer.with_left_out(question, found)
    if found and language == "en" and _REMAINDER.search(text):
        found = f"{found}; {render(coded('planner.remainder_untold'), language)}"
    code = coded("planner.unread", word=question.unread) if question.unread else coded("planner.untold")
    said = with_contradictions(found or render(code, language), text, scene, language)
    return SceneAnswer(said, told=bool(found))


# "what is left of the juice?": beside it, or what remains of it?
_REMAINDER: Final = re.compile(r"\b(?:what|anything|something|nothing|much)(?:'s)?(?: is)? left of\b", re.IGNORECASE)

BEST = {
    "heaviest": "planner.best_heaviest",
    "lightest": "planner.best_lightest",
    "biggest": "planner.best_biggest",
    "smallest": "planner.best_smallest",
    "tallest": "planner.best_tallest",
    "lowest": "planner.best_lowest",
    "longest": "planner.best_longest",
    "nearest": "planner.best_nearest",
    "farthest": "planner.best_farthest",
    "leftmost": "planner.best_leftmost",
    "rightmost": "planner.best_rightmost",
    "top": "planner.best_top",
    "frontmost": "planner.best_frontmost",
    "backmost": "planner.best_backmost",
    "bottom": "planner.best_bottom",
    "middle": "planner.best_middle",
}
_MEASURED = {"heaviest": "mass", "lightest": "mass", **dict.fromkeys(("biggest", "smallest", "tallest"), "size")}
_STATES: Final = {"open": "planner.is_open", "closed": "planner.is_closed", "ajar": "planner.is_ajar"}
AT = {"beside": "planner.side_beside", "on": "planner.side_on"}  # else in


class _QuestionAnswerer(SceneSentences):
    """Answers about one scene in one language."""

    def __init__(
        self,
        scene: Scene,
        vocabulary: Vocabulary,
        language: str,
        robots: Sequence[RobotState] = (),
        *,
        several: bool = False,
    ) -> None:
        super().__init__(scene, language, several=several)
        self.vocabulary = vocabulary
        self.robots = {robot.robot_id: robot for robot in robots or scene.robots}
        self.resolver = NounResolver(scene, vocabulary, language)
        self.counted = False  # the question is about a number of things
        self.denied = False  # the answer says of something that it is not here, or not so

    def with_left_out(self, q: ParsedQuestion, told: str) -> str:
        """An answer that says that there is no more than it tells, with the entries that cannot be read."""
        every = any(part.every for part in q.subjects())
        more = self.denied or every or q.topic in ("list", "many", "more", "fewer", "best", "is_best", "clear", "held")
        named = self.denied or q.topic == "held" or any(not part.general for part in q.subjects())
        unread = left_out(self.scene, self.language, ("entry", "name") if named else ("entry",)) if more else ""
        return self.joined(filter(None, (told, unread))) if told else ""

    def yes(self, held: bool, rest: str) -> str:
        self.denied = self.denied or not held
        return super().yes(held, rest)

    # -- things ---------------------------------------------------------------------------------------------------

    def fit(self, part: QuestionPart) -> list[str]:
        """The things that a phrase names, where it says that they are."""
        noun, places = part.noun, self.tells_where(part)
        self.resolver.owned(noun, several=True)
        if noun.best:
            at = tuple((place.side, place.noun) for place in part.within)
            return list(self.resolver.one(replace(noun, at=(*noun.at, *at))))
        found = self.anywhere(part)
        if part.side in ("in", "on"):  # what is on a carrier is on its tray
            found = [tray_id(id) if id in self.robots and self.scene.thing(tray_id(id)) else id for id in found]
        return [id for id in found if all(self.is_there(id, place) for place in places)]

    def tells_where(self, part: QuestionPart) -> list[QuestionPart]:
        return [*part.within, *(QuestionPart(where, side) for side, where in part.noun.at)]

    def anywhere(self, part: QuestionPart) -> list[str]:
        """The things that a phrase names, wherever they are. Raises NotUnderstood where a name and the stated colour
        disagree about the phrase, as for an order."""
        noun = part.noun
        fits = self.resolver.fits(noun)
        self.resolver.about((noun,))
        if part.side and (exact := [fit.id for fit in fits if fit.exact]):  # behind the buffer: not the "pH 7 buffer"
            return exact
        found = closest(fits, several=True)
        if noun.pair and found and not self.resolver.is_one(noun, found):
            raise self.uncertain(noun, [fit.id for fit in found])
        if noun.portion and not all(self.vocabulary.is_whole(fit.id, noun.portion) for fit in found):
            raise self.uncertain(noun, [fit.id for fit in found])
        each = noun.plural or self.counted  # "how many glasses": of each, whatever the word looks like
        unsure = (FitKind.DOUBT, *((FitKind.ENDING,) if each or not found else ()))
        doubtful = [fit.id for fit in fits if fit.kind in unsure]
        if doubtful and not (found and all(fit.exact for fit in found) and not each):  # as for an order
            raise self.uncertain(noun, [*(fit.id for fit in found), *doubtful])
        if any(fit.clash and not fit.exact for fit in found):
            raise self.uncertain(noun, [fit.id for fit in found])
        return [fit.id for fit in found if all(self.vocabulary.is_coloured(fit.id, word) for word in noun.being)]

    def uncertain(self, noun: NounPhrase, ids: Sequence[str]) -> NotUnderstood:
        return NotUnderstood("planner.perhaps", "ambiguous", ids, what=bare(noun))

    def missing(self, part: QuestionPart) -> str:
        """Why a phrase names nothing: no such thing is here, or "" where that is not certain.

        Raises NotUnderstood where there are such things, and it is not known whether all of the phrase is so of them.
        """
        words = part.noun.words
        if part.noun.being or part.noun.without:  # "a cup that is green", where cups are
            return ""
        if words and self.vocabulary.is_owner(words[-1][0]):  # where Tom is, of Tom's mug
            return ""
        holders = self.vocabulary.named_after(words[-1][0]) if words else []
        if len(words) == 1 and holders:  # coffee, where a coffee cup is
            return self.say("planner.contents_unknown", places=self.several(holders))
        if len(words) == 1 and (samples := self.vocabulary.samples_of(words[0][0])):
            raise self.uncertain(part.noun, samples)
        known = [[sense for sense in senses if sense[:2] != "w:"] for _, senses in words]
        foreign = words and not known[-1] and not self.resolver.fits(part.noun)
        if foreign and self.vocabulary.may_be_translated(words[-1][0]):
            return ""  # a phone, where a 手机 is
        if part.general:  # "anything tasty"; the brown of a table
            plain = [word for word in words if is_colour(word)]
            coloured = [
                id for id, called in self.vocabulary.called.items() if all(k & called.colours for _, k in plain)
            ]
            if not all(known) or (plain and coloured):
                return ""
            return (plain and self.colours_unknown(self.uncoloured(self.places, plain))) or self.none(part)
        if words[-1][1] & MANY_KINDS and (like := [fit.id for fit in self.vocabulary.fits(words)]):
            raise self.uncertain(part.noun, like)  # is a toy car a toy?
        if words[-1][1] & MANY_KINDS and any(not self.vocabulary.called[id].kinds for id in self.vocabulary.moving):
            return ""  # is a hammer a tool?
        mixed = [fit.id for fit in self.vocabulary.fits(words[-1:]) if self.vocabulary.has_all(fit.id, words)]
        if len(words) > 1 and mixed:
            raise self.uncertain(part.noun, mixed)  # are there two 瓶 of 水, where a 水瓶 is here?
        rest = [word for word in words[:-1] if not is_colour(word)]
        heads = [fit.id for fit in closest(self.vocabulary.fits(words[-1:]), several=True)]
        like = [fit.id for fit in closest(self.vocabulary.fits((*rest, words[-1])), several=True)]
        if heads and not like:  # a fragile boot, where a boot is not called so
            raise self.uncertain(part.noun, heads)
        if holders:  # brown eggs, where an egg box is
            return self.say("planner.contents_unknown", places=self.several(holders))
        unknown = self.uncoloured(like, [word for word in words[:-1] if is_colour(word)])
        return self.joined(map(self.colour_of, unknown)) if unknown else self.none(part)

    def none(self, part: QuestionPart) -> str:
        """That no such thing is here. Raises NotUnderstood where a name has the word, as for an order."""
        self.resolver.ask_if_part_of_a_name(part.noun, self.resolver.fits(part.noun))
        things = (*self.scene.objects, *self.scene.furniture)
        here = self.bare(t.id for t in things if t.id not in self.robots)
        self.denied = True
        if left_out(self.scene, self.language):
            return self.say("planner.none_told", what=self.said(part), here=here)
        if part.noun.words and not self.vocabulary.knows(part.noun.words[-1][0]):  # it may be called otherwise
            return self.say("planner.none_called", what=self.said(part), here=here)
        if part.noun.plural:
            return self.say("planner.none_of_them_here", what=self.said(part), here=here)
        return self.say("planner.none_here", what=self.said(part), here=here)

    def said(self, part: QuestionPart) -> str:
        return ("" if self.zh else " ").join(word for word, _ in part.noun.words)

    # -- topics ---------------------------------------------------------------------------------------------------

    def to(self, q: ParsedQuestion) -> str:
        if q.topic in ("", "never"):
            return ""
        subjects, place = q.subjects(), q.place()
        self.counted = q.topic in ("many", "more", "fewer")
        parts = [*subjects, *((place,) if place is not None else ())]
        if q.topic in ("more", "fewer"):
            return self.compared_counts(q, subjects, place)
        if place is not None and (place.general or place.noun.being):  # "inside something", "in the box that is white"
            return ""
        if place is not None and place.side in SIDES and {s.id for s in surfaces(self.scene)} & set(self.fit(place)):
            return ""  # "on the left side of the table": of its middle, or of all of it?
        if any(part.some and part.noun.best for part in subjects):  # 有大箱子吗: big, or the biggest of these?
            return ""
        if place is not None and (unknown := self.unseen(subjects, place)):
            return self.say("planner.contents_unknown", places=self.several(unknown))
        for part in parts if q.topic not in ("best", "is_best") else ():
            if place is None and q.topic == "so" and part.some and (full := self.may_be_filled(part)):
                return self.say("planner.contents_unknown", places=self.several(full))
            if not self.fit(part):
                if not self.anywhere(part):
                    return self.missing(part)
                if q.topic != "many":
                    return self.say(
                        "planner.missing_there",
                        what=self.said(part),
                        here=self.joined(map(self.fact, self.anywhere(part))),
                    )
        hands = list(dict.fromkeys(id for part in parts for id in self.fit(part) if id in self.robots))
        held = q.topic == "held" or (place is not None and self._is_robot(place))
        if held and (place is None or hands or q.any_hand):
            return self.held(q, [part for part in parts if not self._is_robot(part)], hands)
        if held and place is not None:  # "what is held in the basket?"
            return ""
        if place is not None and (unknown := self.closed_off(subjects, place)):
            return self.unknown_there(place.side, unknown)
        if q.topic == "gripper":
            return self.gripper(q, hands)
        if q.topic == "clear":
            return self.clear(subjects[0])
        if q.topic in ("list", "many", "size", "heavy") and any(self._is_robot(part) for part in subjects):
            return ""  # "what is arm_2?", "what does arm_2 weigh?"
        if q.topic == "best":
            return self.most(q, subjects, place)
        if q.topic == "is_best":
            return self.is_best(*subjects)
        named = list(dict.fromkeys(id for part in subjects for id in self.fit(part)))
        match q.topic:
            case "than":
                return self.than(q, subjects)
            case "far":
                return self.apart(subjects, place)
            case "state":
                return self.state(q.state, named)
            case "heavy":
                return self.measure(named, "mass")
            case "size":
                return self.measure(named, "size")
            case "where":
                told = self.joined(self.fact(id) + self.numbers(id) for id in named)
            case "colour":
                return self.joined(self.colour_of(id) for id in named)
            case "many":
                found = self.filtered(named if subjects else list(self.places), place, q.colour())
                told = self.joined(filter(None, (self.number(found), self.colourless(subjects, place, q.colour()))))
            case "holder":
                told = self.holding(subjects, named, place)
            case "list":
                told = self.listed(named, subjects, place, q.colour())
            case _:
                told = self.so(subjects, named, place, q.colour())
                first = subjects[0] if subjects else None
                if first and first.some and not first.noun.count and self.filtered(named, place, q.colour()):
                    return told  # yes, there is one
        return self.joined((told, *self.not_counted(subjects, place, q.colour()))) if told else ""

    def not_counted(
        self, subjects: Sequence[QuestionPart], place: QuestionPart | None, colour: QuestionPart | None
    ) -> list[str]:
        """The things that may be of the kinds that are asked about, as nothing tells of what kind they are."""
        found = []
        for part in subjects:
            more = self.resolver.of_no_known_kind(part.noun, self.resolver.fits(part.noun))
            more = [id for id in more if all(self.is_there(id, spot) for spot in part.within)]
            more = more if part.every else self.filtered(more, place, colour)
            if more:
                found.append(self.say("planner.not_counted", what=bare(part.noun), names=self.resolver.names(more)))
        return found

    def colourless(
        self, subjects: Sequence[QuestionPart], place: QuestionPart | None, colour: QuestionPart | None
    ) -> str:
        """Of a question about a colour: the things that may have it, because the scene does not tell theirs."""
        asked = colour.noun.words if colour is not None else ()
        found = self.uncoloured(self.places, asked) if colour is not None and not subjects else []
        for part in subjects:
            said = [*asked, *filter(is_colour, part.noun.words)]
            if said:
                like = self.vocabulary.matching_ids(tuple(word for word in part.noun.words if not is_colour(word)))
                there = [id for id in like if all(self.is_there(id, where) for where in self.tells_where(part))]
                found += self.uncoloured(there, said)
        return self.colours_unknown(self.filtered(found, place, None))

    def uncoloured(self, ids: Iterable[str], said: Iterable[Word]) -> list[str]:
        """Those that may be of all these colours, and are of none for certain."""
        called = ((id, self.vocabulary.called[id]) for id in ids)
        return [id for id, one in called if not one.colours and all(one.maybe_colours & senses for _, senses in said)]

    def colours_unknown(self, ids: Sequence[str]) -> str:
        """Of what is stated what that is: "#b98a54"; of the others that nothing is."""
        stated = {id for id in ids if (thing := self.scene.thing(id)) is not None and thing.color}
        rest = [id for id in ids if id not in stated]
        told = (
            [self.say("planner.colours_unknown", things=self.several(rest))]
            if len(rest) > 1
            else map(self.colour_of, rest)
        )
        return self.joined((*map(self.colour_of, (id for id in ids if id in stated)), *told))

    def number(self, ids: Sequence[str]) -> str:
        return self.say("planner.count_of", n=len(ids), things=self.several(ids)) if ids else "0"

    def compared_counts(self, q: ParsedQuestion, subjects: Sequence[QuestionPart], place: QuestionPart | None) -> str:
        """Are there more of these than of those?"""
        found: list[list[str]] = []
        for part in subjects:
            ids = self.anywhere(part)
            told = "" if ids else self.missing(part)
            if not ids and told != self.none(part):
                return told
            found.append(self.filtered(ids, place, None))
        if place is not None and not self.fit(place):
            return self.missing(place)
        one, other = map(len, found)
        so = one > other if q.topic == "more" else one < other
        return self.yes(so, self.joined((*map(self.number, found), *self.not_counted(subjects, place, None))))

    def most(self, q: ParsedQuestion, subjects: Sequence[QuestionPart], place: QuestionPart | None) -> str:
        """Which is the heaviest; of what was named, else of all that can be moved."""
        best = next((part for part in subjects if part.noun.best), None)
        of = [part for part in subjects if part is not best]
        if best is not None and not of:
            (chosen,) = self.fit(replace(best, within=(place,) if place is not None else ()))
            return self.is_most(chosen, best.noun.best)
        if best is not None and (not best.general or best.noun.side_word or best.noun.at):
            return ""
        what = best.noun.best if best is not None else q.best
        base = best.noun.best_of if best is not None else None
        if place is not None and place.side == "to":
            base, place = place.noun, None
        ids = list(dict.fromkeys(id for part in of for id in self.fit(part)))
        if any(not self.fit(part) for part in of):
            return next(self.missing(part) for part in of if not self.fit(part))
        ids = self.filtered(ids if of else [t.id for t in movable(self.scene)], place, None)
        ids = [id for id in ids if id in self.places]
        other = self.scene.thing(self.resolver.one(base)[0]) if base is not None else None
        if not what or not ids or (len(of) > 1 and len(ids) != len(of)):
            return ""
        (chosen,) = superlatives.pick_superlative(ids, what, self.scene, 1, other)
        return self.is_most(chosen, what)

    def is_most(self, id: str, what: str) -> str:
        best = coded(BEST[what]) if what in BEST else what
        return self.joined((self.say("planner.is_best", thing=self.the(id), best=best), self.measured(id, what)))

    def measured(self, id: str, what: str) -> str:
        """The measure by which things were compared, else where the thing is."""
        return self.measure([id], _MEASURED.get(what, "")) or self.fact(id)

    def is_best(self, one: QuestionPart, best: QuestionPart) -> str:
        """Is this the heaviest?"""
        if not (ids := self.fit(one)):
            return self.missing(one)
        (chosen,) = self.fit(best)
        return self.yes(ids == [chosen], self.is_most(chosen, best.noun.best)) if len(ids) == 1 else ""

    def than(self, q: ParsedQuestion, subjects: Sequence[QuestionPart]) -> str:
        """Is this heavier than that?"""
        ids = [id for part in subjects for id in self.fit(part)]
        things = [thing for id in ids if (thing := self.scene.thing(id)) is not None]
        if len(ids) != 2 or len(set(ids)) != 2 or q.best in ("nearest", "farthest"):
            return ""
        one, other = (superlatives.measure(thing, q.best, self.scene) for thing in things)
        if one is None or other is None:
            return ""
        so = one - other > superlatives.TIE.get(q.best, superlatives.TIE_M)
        return self.yes(so, self.joined(self.measured(id, q.best) for id in ids))

    def apart(self, subjects: list[QuestionPart], place: QuestionPart | None) -> str:
        """How far two things are from each other, or one from the robot's base; centre to centre."""
        parts = [*subjects, *((place,) if place is not None else ())]
        if not parts or any(len(self.fit(part)) != 1 for part in parts) or len(parts) > 2:
            return ""
        things = [t for part in parts if (t := self.scene.thing(self.fit(part)[0])) is not None]
        base = self.robot.pose[:2] if self.robot is not None else ()
        ends = [t.position[:2] for t in things] + ([base] if len(things) == 1 else [])
        if len(ends) != 2 or not all(len(e) == 2 and all(map(math.isfinite, e)) for e in ends):
            return ""
        metres = math.dist(ends[0], ends[1])
        other = self.the(things[1].id) if len(things) == 2 else coded("planner.robot_base")
        return self.say("planner.far_from", thing=self.the(things[0].id), m=metres, other=other)

    def filtered(self, ids: Sequence[str], place: QuestionPart | None, colour: QuestionPart | None) -> list[str]:
        found = [id for id in ids if place is None or self.is_there(id, place)]
        return [id for id in found if colour is None or self.coloured(id, colour)]

    def is_there(self, id: str, place: QuestionPart) -> bool:
        return any(self.is_at(id, place.side, spot) for spot in self.fit(place))

    def is_at(self, id: str, side: str, other: str) -> bool:
        thing = self.scene.thing(other)
        if side in ("in", "on") and thing is not None and id in self.places:
            return is_there(id, side, thing, self.scene, self.resting)
        found = locations(id, self.scene, self.resting) if id in self.places else [self.where(id)]
        spots = tuple(spot.of for spot in found)
        if side in SIDES:
            if other in spots:  # what is in a basket is not beside it
                return False
            one, two = self.scene.thing(id), self.scene.thing(other)
            return other != id and one is not None and two is not None and lies_toward(one, two, axis(side, self.scene))
        if side == "beside":
            return id in self.places and other != id and holds(BesideGoal(id, other), self.scene)
        return other != id and other in spots

    def coloured(self, id: str, colour: QuestionPart) -> bool:
        return all(senses & self.vocabulary.called[id].colours for _, senses in colour.noun.words)

    def held(self, q: ParsedQuestion, parts: Sequence[QuestionPart], hands: Sequence[str]) -> str:
        """What is in the hands that are asked about: those named, all where none is meant, else the own."""
        own = [self.robot.robot_id] if self.robot is not None else []
        if self.of_several and not q.any_hand:
            hands = hands or own
        of = hands or (list(self.robots) if q.any_hand or not own else own)
        held = {id: spot.of for id, spot in self.places.items() if spot.relation == "held"}
        named = list(dict.fromkeys(id for part in parts if not part.general for id in self.fit(part)))
        now = [id for id, robot in held.items() if robot in of and id in (named or held)]
        if q.counted:
            return self.number(now)
        if named:
            return self.yes(bool(now), self.joined(self.fact(id) for id in now or named))
        if of == own and not self.of_several:
            return (
                self.say("planner.gripper_holds", thing=self.several(now)) if now else self.say("planner.nothing_held")
            )
        empty = [self.say("planner.holds_nothing", robot=id) for id in hands if id not in held.values()]
        return self.joined([*map(self.fact, now), *empty]) or self.say("planner.nothing_held")

    def _is_robot(self, part: QuestionPart) -> bool:
        return any(id in self.robots for id in self.fit(part))

    def gripper(self, q: ParsedQuestion, hands: Sequence[str]) -> str:
        robot = self.robots.get(hands[0]) if len(hands) == 1 else None if hands else self.robot
        if robot is None or any(spot == ThingLocation("held", robot.robot_id) for spot in self.places.values()):
            return self.held(q, (), hands)
        code = {"open": "planner.gripper_open", "closed": "planner.gripper_closed"}.get(robot.gripper or "")
        state = coded(code) if code else "" if self.zh else robot.gripper
        if not state:
            return self.held(q, (), hands)
        if robot.robot_id in hands or self.of_several:
            return self.say("planner.gripper_of", robot=robot.robot_id, state=state)
        return self.say("planner.gripper_is", state=state)

    def clear(self, part: QuestionPart) -> str:
        tops = [s.id for s in surfaces(self.scene)]
        found = []
        for id in self.fit(part):
            thing = self.vocabulary.things[id]
            if id not in tops and not thing.is_container and not opens(thing):
                return ""  # is a plate clean, a bottle empty? The scene does not tell
            word = "on" if id in tops else "in"
            inside, the = self.contents(id, word), self.the(id)
            side = coded("planner.side_on") if id in tops else coded("planner.side_in")
            if not inside and (self.perhaps_there(id, word) or left_out(self.scene, self.language, ("entry",))):
                found.append(self.unknown_there(word, [id]))
            elif inside:
                facts = {"things": self.several(inside), "side": side, "place": the}
                code = "planner.are_there" if len(inside) > 1 else "planner.is_there"
                found.append(self.yes(False, self.say(code, **facts)))
            elif id in tops and not holds(ClearedGoal(id), self.scene):
                found.append(self.yes(False, self.say("planner.gripper_holds", thing=self.the(held_by(self.scene)))))
            else:
                found.append(self.yes(True, self.say("planner.nothing_there", side=side, place=the)))
        return self.joined(found)

    def state(self, asked: str, ids: Sequence[str]) -> str:
        """Is it open, or closed, by its status? What is ajar is not closed; "" where no status says."""
        found, told = [], False
        for id in ids:
            thing = self.scene.thing(id)
            status = thing.status if thing is not None else ""
            known, the = status in _STATES, self.the(id)
            said = self.say(_STATES.get(status, "planner.state_unknown"), thing=the)
            plain = not known or not asked or (status == "ajar" and asked == "open")
            found.append(said if plain else self.yes(status == asked, said))
            told = told or known
        return self.joined(found) if told else ""

    def closed_off(self, subjects: Sequence[QuestionPart], place: QuestionPart) -> list[str]:
        """Of the places, those of which the scene does not tell whether it is in them: anything, in a carton, which may
        be full; the milk, in the milk jug; what is on a post that a beam may rest on."""
        if place.side not in ("in", "on"):
            return []
        found = self.fit(place)
        asked = {id for part in subjects for id in self.fit(part) if not part.general}
        perhaps = {id: self.perhaps_there(id, place.side) for id in found}
        unsure = [id for id, more in perhaps.items() if more and (not asked or not asked.isdisjoint(more))]
        if unsure or place.side == "on":
            return unsure
        if subjects and all(set(self.fit(part)) & set(found) for part in subjects if not part.general):
            if not all(part.general for part in subjects):
                return found
        elif subjects:
            return []
        return [id for id in found if not self.shows_contents(id)]

    def unseen(self, subjects: Sequence[QuestionPart], place: QuestionPart) -> list[str]:
        """Of the places, those of which the scene does not tell whether what is no thing of the scene is in them: tea
        in a mug, wherever the tea bag is; eggs in an egg box."""
        found = self.fit(place) if place.side == "in" else []
        closed = [id for id in found if not self.shows_contents(id)]
        vessels = [id for id in found if id in closed or self.vocabulary.holds_substances(id)]
        if any(id in self.robots for id in found):
            return []
        for part in subjects:
            head = part.noun.words[-1] if part.noun.words else ("", frozenset())
            fits = [fit for fit in self.resolver.fits(part.noun) if fit.kind is not FitKind.PERHAPS]
            if part.general or part.noun.best or any(self.is_there(fit.id, place) for fit in fits):
                continue
            some = part.some or self.counted or (not self.zh and part.noun.quantity != "the")
            if some and (full := set(closed).intersection(self.vocabulary.named_after(head[0]))):
                return [id for id in closed if id in full]  # any eggs in the egg box, wherever one egg lies
            if fits and all(self.vocabulary.is_filling(fit.id, head) for fit in fits):
                return vessels
            if not fits and not self.vocabulary.is_owner(head[0]):
                return vessels if _is_substance(part.noun) else closed
        return []

    def may_be_filled(self, part: QuestionPart) -> list[str]:
        """Where nothing is called so but by what may be in it: water, of a water bottle."""
        found = closest(self.resolver.fits(part.noun), several=True)
        return [fit.id for fit in found] if all(fit.kind is FitKind.FILLED for fit in found) else []

    def shows_contents(self, id: str) -> bool:
        """Does the scene tell what is in it: in a basket, on a table, but not in a carton, which may be full?"""
        known = {thing.id for thing in (*containers(self.scene), *surfaces(self.scene))}
        thing = self.scene.thing(id)
        if thing is None or self.perhaps_there(id, "in"):
            return False
        return id in known or opens(thing) or bool(self.contents(id, "in"))

    def perhaps_there(self, id: str, side: str) -> list[str]:
        thing = self.scene.thing(id)
        return [] if thing is None else perhaps_there(thing, self.scene, self.resting, side)

    def contents(self, id: str, side: str) -> list[str]:
        thing = self.scene.thing(id)
        return [] if thing is None else contents(thing, side, self.scene, self.resting)

    def unknown_there(self, side: str, ids: Sequence[str]) -> str:
        """That the scene does not tell what is there, with the things that may be."""
        perhaps = dict.fromkeys(one for id in ids for one in self.perhaps_there(id, side))
        code = "planner.top_unknown" if side == "on" else "planner.contents_unknown"
        return self.joined((self.say(code, places=self.several(ids)), *map(self.fact, perhaps)))

    def listed(
        self, ids: list[str], subjects: list[QuestionPart], place: QuestionPart | None, colour: QuestionPart | None
    ) -> str:
        ids = ids if subjects else list(self.places)
        found = self.filtered(ids, place, colour)
        if colour is not None and not found and self.may_be_coloured(ids, colour, furniture=not subjects):
            return ""
        every = place is not None and all(len(part.noun.words) == 1 and part.general for part in subjects)
        if subjects and ids and not (found or every):  # "which cup is in the box?", where a pen is
            return self.say("planner.none_of_these", things=self.several(ids))
        if place is not None:
            side = coded({**AT, **task_text.SIDES}.get(place.side, "planner.side_in"))
            return self.say("planner.listed", side=side, place=self.several(self.fit(place)), things=self.bare(found))
        return self.joined(self.fact(id) for id in found) or self.say("planner.no_objects")

    def holding(self, subjects: Sequence[QuestionPart], ids: Sequence[str], place: QuestionPart | None) -> str:
        """In which of the places is it? Where it is in none, where it is."""
        found = self.filtered(ids, place, None)
        if place is not None and not found and any(part.general for part in subjects):
            return self.nothing(place)
        return self.joined(self.fact(id) for id in (found if found and len(subjects) == 1 else ids))

    def may_be_coloured(self, ids: Sequence[str], colour: QuestionPart, *, furniture: bool) -> bool:
        """Whether one of them has no colour in the scene, or a table has this one: not denied."""
        unknown = self.uncoloured(ids, colour.noun.words)
        return bool(unknown) or (furniture and any(self.coloured(id, colour) for id in self.vocabulary.called))

    def so(
        self, subjects: list[QuestionPart], ids: list[str], place: QuestionPart | None, colour: QuestionPart | None
    ) -> str:
        """Yes or no, with the fact that decides it; each by itself where several could be meant."""
        if not subjects:
            return ""
        first, noun = subjects[0], subjects[0].noun
        good = self.filtered(ids, place, colour)
        unknown = self.uncoloured(ids, colour.noun.words) if colour is not None else []
        loose = first.general and noun.quantity != "all" and not noun.text.startswith("the ")  # "two things", of many
        if noun.count and (first.some or loose or noun.quantity not in ("all", "the")):
            return "" if self.colourless(subjects, place, colour) else self.is_number(good, noun.count)
        if noun.count and len(ids) != noun.count:
            raise NotUnderstood(
                "planner.count", "ambiguous", ids, what=noun.text, count=str(noun.count), found=str(len(ids))
            )
        if place is None and colour is None:
            return self.yes(True, self.joined(self.fact(id) for id in ids)) if first.some else ""
        some = first.some or noun.quantity == "any" or (first.general and not noun.best and noun.quantity != "the")
        every = any(p.every for p in subjects)
        if unknown and every and (other := [id for id in ids if id not in (*good, *unknown)]):
            return self.yes(False, self.joined(map(self.colour_of, other)))
        if unknown and (every or not (some and good)):
            return self.joined(map(self.colour_of, unknown))
        if place is None:
            facts = {id: self.colour_of(id) for id in ids}
        elif place.side in SIDES:
            facts = {id: self.sided(id, id in good, place) for id in ids}
        elif place.side == "beside":
            facts = {id: self.beside(id, id in good, place) for id in ids}
        else:
            facts = {id: self.fact(id) for id in ids}
            told = place.side in ("in", "on") or any(self.where(id).relation for id in ids)
            if not good and not told:
                return ""
        rest = [id for id in ids if id not in good]
        if every:
            return self.yes(not rest, self.joined(facts[id] for id in (rest or good)))
        if some:  # is there any …: the ones that are
            anything = all("*" in senses for _, senses in noun.words) and not noun.best
            if not good and place is not None and anything:
                return self.yes(False, self.nothing(place))
            each = all(not set(good).isdisjoint(self.fit(part)) for part in subjects)  # a cup and a bowl
            return self.yes(each, self.joined(facts[id] for id in (good if each else ids)))
        if not good or not rest:
            return self.yes(bool(good), self.joined(facts.values()))
        return self.joined(self.yes(id in good, facts[id]) for id in ids)

    def is_number(self, found: Sequence[str], count: int) -> str:
        """Are there four cups? Where there are more, how many."""
        return self.number(found) if len(found) > count else self.yes(len(found) == count, self.number(found))

    def nothing(self, place: QuestionPart) -> str:
        self.denied = True
        codes = {"beside": "planner.side_next", "on": "planner.side_on", **task_text.SIDES}
        side = coded(codes.get(place.side, "planner.side_in"))
        return self.say("planner.nothing_there", side=side, place=self.several(self.fit(place)))

    def sided(self, id: str, so: bool, place: QuestionPart) -> str:
        other = self.several(self.fit(place))
        facts = {"thing": self.the(id), "side": coded(task_text.SIDES[place.side]), "other": other}
        return self.say("planner.is_sided", **facts) if so else self.say("planner.not_sided", **facts)

    def beside(self, id: str, near: bool, place: QuestionPart) -> str:
        if near:
            others = self.several(o for o in self.fit(place) if self.is_at(id, "beside", o))
            return self.say("planner.is_beside", thing=self.the(id), other=others)
        return self.fact(id)


def _is_substance(noun: NounPhrase) -> bool:
    """Is it said like one that is not counted: blood, any sand, 血液, and not an apple?"""
    word = noun.words[-1][0]
    if is_chinese(word):
        return word.endswith(lexicon_zh.SUBSTANCES)
    if not lexicon_en.FILLINGS.isdisjoint(singulars(word)):
        return True
    return not noun.plural and not noun.count and noun.text.split()[0] not in ("a", "an", "the", "one", "another")
