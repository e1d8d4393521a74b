"""Answers to questions from the scene: places, counts, held things, yes or no."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from worldfs.base.messages import coded, render
from worldfs.base.model import RobotState, Scene

from . import superlatives, task_text, thing_names
from .directions import SIDES, axis, lies_toward
from .goals import BesideGoal, ClearedGoal, held_by, holds
from .intent import NotUnderstood
from .lexicon_en import COLOURS
from .question_parser import ParsedQuestion, QuestionPart, parse_question
from .scene_facts import ThingLocation, final_support, layout, movable, own_robot, surfaces
from .vocabulary import Vocabulary


def answer(
    text: str,
    scene: Scene,
    language: str,
    vocabulary: Vocabulary,
    can: Callable[[], Sequence[str]] = tuple,
    *,
    robots: Sequence[RobotState] = (),
) -> str:
    """One sentence or two; "" where the scene has no answer. `can`: suggestions of commands. `robots`: all that are
    here, the one that is asked among them.

    Raises NotUnderstood for what only begins like a question ("tell me a joke").
    """
    question = parse_question(text, vocabulary, language)
    if question.topic == "can":
        return ("；" if language == "zh" else "; ").join(can())
    found = _SceneAnswer(scene, vocabulary, language, robots).to(question)
    if not found and question.mild:
        raise NotUnderstood("planner.verb", word=text.split(maxsplit=1)[0])
    return found


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
AT = {"beside": "planner.side_beside", "on": "planner.side_on"}  # else in


def fact(id: str, scene: Scene, language: str) -> str:
    """A whole sentence: where the thing is."""
    return _SceneAnswer(scene, Vocabulary(scene), language).fact(id)


def facts(ids: Sequence[str], scene: Scene, language: str) -> str:
    """Where each of the things is, with its position (m)."""
    told = _SceneAnswer(scene, Vocabulary(scene), language)
    return told.joined(told.fact(id) + told.numbers(id) for id in ids if scene.thing(id) is not None)


class _SceneAnswer:
    """Answers about one scene in one language."""

    def __init__(self, scene: Scene, vocabulary: Vocabulary, language: str, robots: Sequence[RobotState] = ()) -> None:
        self.scene, self.vocabulary, self.language, self.zh = scene, vocabulary, language, language == "zh"
        self.robots = {robot.robot_id: robot for robot in robots or scene.robots}
        self.places = layout(scene)
        self.robot = own_robot(scene)  # the robot that is asked

    # -- words ----------------------------------------------------------------------------------------------------

    def say(self, code: str, **facts: object) -> str:
        return render(coded(code, **facts), self.language)

    def joined(self, parts: Iterable[str]) -> str:
        return ("；" if self.zh else "; ").join(parts)

    def the(self, id: str | None) -> str:
        found = thing_names.name(self.scene.thing(id or ""), self.language, self.scene, id or "")
        return self.say("planner.the", name=found)

    def several(self, ids: Iterable[str]) -> str:
        named = [self.the(id) for id in ids]
        if len(named) < 2 or self.zh:
            return "、".join(named) or self.say("planner.no_things")
        return ", ".join(named[:-1]) + " and " + named[-1]

    def bare(self, ids: Iterable[str]) -> str:
        """A list without articles."""
        named = [thing_names.name(self.scene.thing(id), self.language, self.scene, id) for id in ids]
        return ("、" if self.zh else ", ").join(named) or self.say("planner.no_things")

    def at(self, spot: ThingLocation) -> str:
        """ "in the basket", "on the table", "in the gripper", "in the gripper of arm_2"; "" where it is not known."""
        if spot.relation == "held":
            own = self.robot is not None and spot.of == self.robot.robot_id
            return self.say("planner.at_held") if own else self.say("planner.at_held_by", robot=spot.of)
        code = {"in": "planner.at_in", "on": "planner.at_on"}.get(spot.relation)
        return self.say(code, place=self.the(spot.of)) if code else ""

    def fact(self, id: str) -> str:
        """A whole sentence: where it is."""
        return self.say("planner.is_at", thing=self.the(id), at=self.at(self.where(id)) or coded("planner.nowhere"))

    def where(self, id: str) -> ThingLocation:
        if id in self.places:
            spot = self.places[id]
            return final_support(self.places, id) if spot.relation == "" else spot
        stated = (r for r in self.scene.relations if r.subject == id and r.relation in ("in", "on"))
        return next((ThingLocation(r.relation, r.object) for r in stated), ThingLocation())

    def fit(self, part: QuestionPart) -> list[str]:
        fits = self.vocabulary.fits(part.words)
        if part.side and (exact := [fit.id for fit in fits if fit.exact]):  # behind the buffer: not the "pH 7 buffer"
            return exact
        return list(self.vocabulary.matching_ids(part.words) or self.vocabulary.doubtful_ids(part.words))

    def unsure(self, part: QuestionPart) -> bool:
        """Whether a word is known only from a name ("fragile box"), or a colour may be that of a table: not denied."""
        known = [[sense for sense in senses if sense[:2] != "w:"] for _, senses in part.words]
        if part.general and not all(known):
            return True
        return part.general and any(
            self.coloured(id, replace(part, words=part.words[:-1])) for id in self.vocabulary.called
        )

    def yes(self, held: bool, rest: str) -> str:
        return self.say("planner.yes", rest=rest) if held else self.say("planner.no", rest=rest)

    def none(self, part: QuestionPart) -> str:
        things = (*self.scene.objects, *self.scene.furniture)
        here = self.bare(t.id for t in things if t.id not in self.robots)
        return self.say("planner.none_here", what=part.text, here=here)

    def colour_of(self, id: str) -> str:
        thing = self.scene.thing(id)
        said = thing.color if thing is not None else ""
        if not said:
            return self.say("planner.colour_unknown", thing=self.the(id))
        if self.zh and said.lower() in COLOURS:
            said = COLOURS[said.lower()][1].split()[0]
        return self.say("planner.colour_is", thing=self.the(id), colour=said)

    # -- topics ---------------------------------------------------------------------------------------------------

    def to(self, q: ParsedQuestion) -> str:
        if q.topic == "never":
            return ""
        if q.strange:
            return ""
        subjects, place = q.subjects(), q.place()
        subject = subjects[0] if subjects else None
        for part in (*subjects, *((place,) if place is not None else ())):
            if not self.fit(part):
                return "" if self.unsure(part) else self.none(part)
        parts = [*subjects, *((place,) if place is not None else ())]
        hands = list(dict.fromkeys(id for part in parts for id in self.fit(part) if id in self.robots))
        if q.topic == "held" and (place is None or hands or q.any_hand):
            return self.held(q, [part for part in parts if not self._is_robot(part)], hands)
        if q.topic == "gripper":
            return self.gripper(q, hands)
        if q.topic == "clear":
            return self.clear(subject or place)
        if q.topic in ("list", "many", "size", "heavy") and any(self._is_robot(part) for part in subjects):
            return ""  # "what is arm_2?", "what does arm_2 weigh?"
        named = list(dict.fromkeys(id for part in subjects for id in self.fit(part)))
        match q.topic:
            case "best" | "compared":
                return self.most(q, subjects, named, place)
            case "far":
                return self.apart(subjects, place)
            case "heavy":
                return self.measure(named, "mass")
            case "size":
                return self.measure(named, "size")
            case "where":
                return self.joined(self.fact(id) + self.numbers(id) for id in named)
            case "colour":
                return "; ".join(self.colour_of(id) for id in named)
            case "many":
                chosen = self.filtered(named if subject is not None else list(self.places), place, q.colour())
                n = len(chosen)
                return self.say("planner.count_of", n=n, things=self.several(chosen)) if chosen else str(n)
            case "list":
                return self.listed(named, subject, place, q.colour())
        if q.seen and subjects and place is None:
            return self.yes(True, "; ".join(self.fact(id) for id in named))
        return self.so(subjects, named, place, q.colour())

    def most(
        self, q: ParsedQuestion, subjects: list[QuestionPart], named: list[str], place: QuestionPart | None
    ) -> str:
        """Which is the heaviest; of what was named, else of all that can be moved."""
        what = q.best
        if not what:
            return ""
        near = what in ("nearest", "farthest") and place is not None
        base = self.scene.thing(self.fit(place)[0]) if near and place is not None else None
        ids = named or [t.id for t in movable(self.scene)]
        if not near:
            ids = self.filtered(ids, place, None)
        ids = [id for id in ids if id in self.places]
        chosen = superlatives.pick_superlative(ids, what, self.scene, 1, base) if ids else ()
        if not chosen:
            return ""
        best = coded(BEST[what]) if what in BEST else what
        extra = {"heaviest": "mass", "lightest": "mass", "biggest": "size", "smallest": "size", "tallest": "size"}
        detail = self.measure(chosen, extra.get(what, "")) or self.fact(chosen[0])
        return self.joined((self.say("planner.is_best", thing=self.the(chosen[0]), best=best), detail))

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
        spots = self.fit(place) if place is not None else []
        found = [id for id in ids if place is None or any(self.is_at(id, place.side, spot) for spot in spots)]
        return [id for id in found if colour is None or self.coloured(id, colour)]

    def is_at(self, id: str, side: str, other: str) -> bool:
        if side in SIDES:
            one, two = self.scene.thing(id), self.scene.thing(other)
            return other != id and one is not None and two is not None and lies_toward(one, two, axis(side, self.scene))
        if side == "beside":
            return id in self.places and other != id and holds(BesideGoal(id, other), self.scene)
        spot = self.where(id)
        return other != id and other in (spot.of, final_support(self.places, id).of if id in self.places else spot.of)

    def coloured(self, id: str, colour: QuestionPart) -> bool:
        return all(senses & self.vocabulary.called[id].colours for _, senses in colour.words)

    def numbers(self, id: str) -> str:
        thing = self.scene.thing(id)
        known = thing is not None and len(thing.position) >= 3 and all(map(math.isfinite, thing.position[:3]))
        return f" ({' '.join(f'{v:.2f}' for v in thing.position[:3])})" if thing is not None and known else ""

    def held(self, q: ParsedQuestion, parts: Sequence[QuestionPart], hands: Sequence[str]) -> str:
        """What is in the hands that are asked about: those named, all where none is meant, else the own."""
        own = [self.robot.robot_id] if self.robot is not None else []
        of = hands or (list(self.robots) if q.any_hand or not own else own)
        held = {id: spot.of for id, spot in self.places.items() if spot.relation == "held"}
        named = list(dict.fromkeys(id for part in parts if not part.general for id in self.fit(part)))
        now = [id for id, robot in held.items() if robot in of and id in (named or held)]
        if q.counted:
            return self.say("planner.count_of", n=len(now), things=self.several(now)) if now else "0"
        if named:
            return self.yes(bool(now), self.joined(self.fact(id) for id in now or named))
        if of == own:
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
        if robot.robot_id in hands:
            return self.say("planner.gripper_of", robot=robot.robot_id, state=state)
        return self.say("planner.gripper_is", state=state)

    def clear(self, part: QuestionPart | None) -> str:
        tops = [s.id for s in surfaces(self.scene)]
        named = self.fit(part) if part is not None else (tops if len(tops) == 1 else [])
        found = []
        for id in named:
            inside, the = self.contents(id), self.the(id)
            side = coded("planner.side_on") if id in tops else coded("planner.side_in")
            if inside:
                facts = {"things": self.several(inside), "side": side, "place": the}
                code = "planner.are_there" if len(inside) > 1 else "planner.is_there"
                found.append(self.yes(False, self.say(code, **facts)))
            elif id in tops and not holds(ClearedGoal(id), self.scene):
                found.append(self.yes(False, self.say("planner.gripper_holds", thing=self.the(held_by(self.scene)))))
            else:
                found.append(self.yes(True, self.say("planner.nothing_there", side=side, place=the)))
        return "; ".join(found)

    def contents(self, id: str) -> list[str]:
        return [o for o in self.places if final_support(self.places, o).of == id or self.places[o].of == id]

    def measure(self, ids: Sequence[str], what: str) -> str:
        found = []
        for id in ids:
            thing = self.scene.thing(id)
            if thing is not None and what == "mass" and thing.mass:
                found.append(self.say("planner.weighs", thing=self.the(id), kg=thing.mass))
            elif thing is not None and what == "size" and thing.size:
                found.append(
                    self.say("planner.sized", thing=self.the(id), size=" x ".join(f"{v:g}" for v in thing.size))
                )
        return "; ".join(found)

    def listed(
        self, ids: list[str], subject: QuestionPart | None, place: QuestionPart | None, colour: QuestionPart | None
    ) -> str:
        if place is not None:
            spots = self.fit(place)
            found = self.filtered(ids if subject is not None else list(self.places), place, colour)
            side = coded({**AT, **task_text.SIDES}.get(place.side, "planner.side_in"))
            return self.say("planner.listed", side=side, place=self.several(spots), things=self.bare(found))
        if subject is None and colour is None:
            ids = [t.id for t in movable(self.scene)]
        found = self.filtered(ids, None, colour)
        return "; ".join(self.fact(id) for id in found) or self.say("planner.no_objects")

    def so(
        self, subjects: list[QuestionPart], ids: list[str], place: QuestionPart | None, colour: QuestionPart | None
    ) -> str:
        """Yes or no, with the fact that decides it; each by itself where several could be meant."""
        if not subjects:
            found = self.filtered(list(self.places), place, None) if place is not None else []
            return self.yes(bool(found), self.listed([], None, place, None)) if place is not None and not colour else ""
        if place is None and colour is None:
            return self.yes(True, "; ".join(self.fact(id) for id in ids)) if subjects[0].some else ""
        good = self.filtered(ids, place, colour)
        if place is None:
            facts = {id: self.colour_of(id) for id in ids}
        elif place.side in SIDES:
            facts = {id: self.sided(id, id in good, place) for id in ids}
        elif place.side == "beside":
            facts = {id: self.beside(id, id in good, place) for id in ids}
        else:
            facts = {id: self.fact(id) for id in ids}
            if not good and not any(self.where(id).relation for id in ids):
                return ""
        rest = [id for id in ids if id not in good]
        if any(p.every for p in subjects):
            return self.yes(not rest, self.joined(facts[id] for id in (rest or good)))
        if subjects[0].some or subjects[0].general:  # is there any …: the ones that are
            if not good and place is not None and subjects[0].general:
                return self.yes(False, self.nothing(place))
            return self.yes(bool(good), self.joined(facts[id] for id in (good or ids)))
        if not good or not rest:
            return self.yes(bool(good), self.joined(facts.values()))
        return self.joined(self.yes(id in good, facts[id]) for id in ids)

    def nothing(self, place: QuestionPart) -> str:
        codes = {"beside": "planner.side_next", "on": "planner.side_on"}
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
