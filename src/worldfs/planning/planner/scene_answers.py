"""Answers to questions from the scene: places, counts, held things, yes or no."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from worldfs.base.model import Scene

from . import planner_messages, superlatives, task_text
from .directions import SIDES, axis, lies_toward
from .goals import BesideGoal, ClearedGoal, held_by, holds
from .intent import NotUnderstood
from .lexicon_en import COLOURS
from .question_parser import ParsedQuestion, QuestionPart, parse_question
from .scene_facts import ThingLocation, final_support, layout, movable, surfaces
from .vocabulary import Vocabulary


def answer(text: str, scene: Scene, language: str, can: Callable[[], Sequence[str]] = tuple) -> str:
    """One sentence or two; "" where the scene has no answer. `can`: suggestions of commands.

    Raises NotUnderstood for what only begins like a question ("tell me a joke").
    """
    vocabulary = Vocabulary(scene)
    question = parse_question(text, vocabulary, language)
    if question.topic == "can":
        return ("；" if language == "zh" else "; ").join(can())
    found = _SceneAnswer(scene, vocabulary, language).to(question)
    if not found and question.mild:
        raise NotUnderstood("verb", word=text.split(maxsplit=1)[0])
    return found


BEST_TEXT = {
    "heaviest": ("heaviest", "最重"), "lightest": ("lightest", "最轻"), "biggest": ("biggest", "最大"),
    "smallest": ("smallest", "最小"), "tallest": ("tallest", "最高"), "lowest": ("shortest", "最矮"),
    "longest": ("longest", "最长"), "nearest": ("nearest", "最近"), "farthest": ("farthest", "最远"),
    "leftmost": ("leftmost", "在最左边"), "rightmost": ("rightmost", "在最右边"), "top": ("highest", "在最上面"),
    "frontmost": ("nearest to the front", "在最前面"), "backmost": ("farthest back", "在最后面"),
    "bottom": ("lowest", "在最下面"), "middle": ("one in the middle", "在中间"),
}  # fmt: skip


def fact(id: str, scene: Scene, language: str) -> str:
    """A whole sentence: where the thing is."""
    return _SceneAnswer(scene, Vocabulary(scene), language).fact(id)


class _SceneAnswer:
    """Answers about one scene in one language."""

    def __init__(self, scene: Scene, vocabulary: Vocabulary, language: str) -> None:
        self.scene, self.vocabulary, self.language, self.zh = scene, vocabulary, language, language == "zh"
        self.places = layout(scene)

    # -- words ----------------------------------------------------------------------------------------------------

    def of(self, en: str, zh: str) -> str:
        return zh if self.zh else en

    def the(self, id: str | None) -> str:
        found = planner_messages.name(self.scene.thing(id or ""), self.language, self.scene, id or "")
        return found if self.zh else f"the {found}"

    def several(self, ids: Iterable[str]) -> str:
        named = [self.the(id) for id in ids]
        if self.zh:
            return "、".join(named) or "没有东西"
        return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else "".join(named) or "nothing"

    def bare(self, ids: Iterable[str]) -> str:
        """A list without articles."""
        named = [planner_messages.name(self.scene.thing(id), self.language, self.scene, id) for id in ids]
        return self.of(", ", "、").join(named) or self.of("nothing", "没有东西")

    def at(self, spot: ThingLocation) -> str:
        """ "in the basket", "on the table", "in the gripper"; "" where it is not known."""
        if spot.relation == "held":
            return self.of("in the gripper", "在夹爪里")
        words = {"in": ("in {}", "在{}里"), "on": ("on {}", "在{}上")}.get(spot.relation)
        return words[self.zh].format(self.the(spot.of)) if words else ""

    def fact(self, id: str) -> str:
        """A whole sentence: where it is."""
        at = self.at(self.where(id)) or self.of("somewhere that the scene does not tell", "在哪里场景里看不出来")
        return self.of(f"{self.the(id)} is {at}", f"{self.the(id)}{at}")

    def where(self, id: str) -> ThingLocation:
        if id in self.places:
            spot = self.places[id]
            return final_support(self.places, id) if spot.relation == "" else spot
        stated = (r for r in self.scene.relations if r.subject == id and r.relation in ("in", "on"))
        return next((ThingLocation(r.relation, r.object) for r in stated), ThingLocation())

    def fit(self, part: QuestionPart) -> list[str]:
        return list(self.vocabulary.matching_ids(tuple(("", k) for k in part.keys)))

    def yes(self, held: bool, rest: str) -> str:
        return self.of("yes, " if held else "no, ", "是的，" if held else "不，") + rest

    def none(self, part: QuestionPart) -> str:
        here = self.bare(t.id for t in (*self.scene.objects, *self.scene.furniture))
        return self.of(f"there is no {part.text} here; here are: {here}", f"这里没有{part.text}；这里有：{here}")

    def colour_of(self, id: str) -> str:
        thing = self.scene.thing(id)
        said = thing.color if thing is not None else ""
        if not said:
            return self.of(f"{self.the(id)} has no colour in the scene", f"场景里没有{self.the(id)}的颜色")
        if self.zh:
            return f"{self.the(id)}是{COLOURS[said.lower()][1].split()[0] if said.lower() in COLOURS else said}的"
        return f"{self.the(id)} is {said}"

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
                return self.none(part)
        if q.topic == "held":
            return self.held(subject)
        if q.topic == "gripper":
            return self.gripper()
        if q.topic == "clear":
            return self.clear(subject or place)
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
                return "; ".join(self.fact(id) + self.numbers(id) for id in named)
            case "colour":
                return "; ".join(self.colour_of(id) for id in named)
            case "many":
                chosen = self.filtered(named if subject is not None else list(self.places), place, q.colour())
                return f"{len(chosen)}" + (self.of(": ", "：") + self.several(chosen) if chosen else "")
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
        word = BEST_TEXT.get(what, (what, what))
        extra = {"heaviest": "mass", "lightest": "mass", "biggest": "size", "smallest": "size", "tallest": "size"}
        detail = self.measure(chosen, extra.get(what, "")) or self.fact(chosen[0])
        said = self.of(f"{self.the(chosen[0])} is the {word[0]}", f"{self.the(chosen[0])}{word[1]}")
        return f"{said}{self.of('; ', '；')}{detail}"

    def apart(self, subjects: list[QuestionPart], place: QuestionPart | None) -> str:
        """How far two things are from each other, or one from the robot's base; centre to centre."""
        parts = [*subjects, *((place,) if place is not None else ())]
        if not parts or any(len(self.fit(part)) != 1 for part in parts) or len(parts) > 2:
            return ""
        things = [t for part in parts if (t := self.scene.thing(self.fit(part)[0])) is not None]
        robot = self.scene.robots[0].pose[:2] if self.scene.robots else ()
        ends = [t.position[:2] for t in things] + ([robot] if len(things) == 1 else [])
        if len(ends) != 2 or not all(len(e) == 2 and all(map(math.isfinite, e)) for e in ends):
            return ""
        metres = math.dist(ends[0], ends[1])
        other = self.the(things[1].id) if len(things) == 2 else self.of("the robot's base", "机器人底座")
        first = self.the(things[0].id)
        return self.of(
            f"{first} is {metres:.2f} m from {other}, centre to centre", f"{first}距{other} {metres:.2f} 米(中心)"
        )

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
        return all(k & self.vocabulary.keys[id] for k in colour.keys)

    def numbers(self, id: str) -> str:
        thing = self.scene.thing(id)
        return f" ({' '.join(f'{v:.2f}' for v in thing.position[:3])})" if thing is not None else ""

    def held(self, subject: QuestionPart | None) -> str:
        held = held_by(self.scene)
        named = self.fit(subject) if subject is not None and not any("*" in k for k in subject.keys) else []
        now = self.several((held,)) if held else ""
        said = self.of(f"the gripper holds {now}", f"夹爪拿着{now}") if held else self.of(
            "nothing is held", "夹爪里没有东西")  # fmt: skip
        return self.yes(held in named, said) if named else said

    def gripper(self) -> str:
        robot = next(iter(self.scene.robots), None)
        if robot is None:
            return ""
        if robot.holding:
            return self.held(None)
        state = {"open": "张开", "closed": "闭合"}.get(robot.gripper or "", "") if self.zh else robot.gripper
        return (
            self.of(f"the gripper is {state} and holds nothing", f"夹爪{state}，没有拿东西")
            if state
            else self.held(None)
        )

    def clear(self, part: QuestionPart | None) -> str:
        tops = [s.id for s in surfaces(self.scene)]
        named = self.fit(part) if part is not None else (tops if len(tops) == 1 else [])
        found = []
        for id in named:
            inside, the = self.contents(id), self.the(id)
            en, zh = ("on", "上") if id in tops else ("in", "里")
            if inside:
                things, verb = self.several(inside), "are" if len(inside) > 1 else "is"
                found.append(self.yes(False, self.of(f"{things} {verb} {en} {the}", f"{the}{zh}有{things}")))
            elif id in tops and not holds(ClearedGoal(id), self.scene):
                found.append(self.yes(False, self.held(None)))
            else:
                found.append(self.yes(True, self.of(f"nothing is {en} {the}", f"{the}{zh}没有东西")))
        return "; ".join(found)

    def contents(self, id: str) -> list[str]:
        return [o for o in self.places if final_support(self.places, o).of == id or self.places[o].of == id]

    def measure(self, ids: Sequence[str], what: str) -> str:
        found = []
        for id in ids:
            thing = self.scene.thing(id)
            value = ""
            if thing is not None and what == "mass" and thing.mass:
                value = self.of(f"weighs {thing.mass:g} kg", f"重 {thing.mass:g} kg")
            elif thing is not None and what == "size" and thing.size:
                numbers = " x ".join(f"{v:g}" for v in thing.size)
                value = self.of(f"is {numbers} m", f"大小 {numbers} m")
            if value:
                found.append(f"{self.the(id)} {value}" if not self.zh else f"{self.the(id)}{value}")
        return "; ".join(found)

    def listed(
        self, ids: list[str], subject: QuestionPart | None, place: QuestionPart | None, colour: QuestionPart | None
    ) -> str:
        if place is not None:
            spots = self.fit(place)
            found = self.filtered(ids if subject is not None else list(self.places), place, colour)
            side = {"beside": ("beside", "旁边"), "on": ("on", "上"), **task_text.SIDES}.get(place.side, ("in", "里"))[
                self.zh
            ]
            where = self.several(spots)
            things = self.bare(found)
            return self.of(f"{side} {where}: {things}", f"{where}{side}：{things}")
        if subject is None and colour is None:
            ids = [t.id for t in movable(self.scene)]
        found = self.filtered(ids, None, colour)
        return "; ".join(self.fact(id) for id in found) or self.of("no objects are known here", "没看到东西")

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
        sign = self.of("; ", "；")
        rest = [id for id in ids if id not in good]
        if any(p.every for p in subjects):
            return self.yes(not rest, sign.join(facts[id] for id in (rest or good)))
        if subjects[0].some or any("*" in k for k in subjects[0].keys):  # is there any …: the ones that are
            if not good and place is not None and any("*" in k for k in subjects[0].keys):
                return self.yes(False, self.nothing(place))
            return self.yes(bool(good), sign.join(facts[id] for id in (good or ids)))
        if not good or not rest:
            return self.yes(bool(good), sign.join(facts.values()))
        return sign.join(self.yes(id in good, facts[id]) for id in ids)

    def nothing(self, place: QuestionPart) -> str:
        where = self.several(self.fit(place))
        side = {"beside": ("next to", "旁边"), "on": ("on", "上")}.get(place.side, ("in", "里"))[self.zh]
        return self.of(f"nothing is {side} {where}", f"{where}{side}没有东西")

    def sided(self, id: str, so: bool, place: QuestionPart) -> str:
        other = self.several(self.fit(place))
        en, zh = task_text.SIDES[place.side]
        return self.of(
            f"{self.the(id)} is {'' if so else 'not '}{en} {other}", f"{self.the(id)}{'' if so else '不'}在{other}{zh}"
        )

    def beside(self, id: str, near: bool, place: QuestionPart) -> str:
        if near:
            others = self.several(o for o in self.fit(place) if self.is_at(id, "beside", o))
            return self.of(f"{self.the(id)} is next to {others}", f"{self.the(id)}在{others}旁边")
        return self.fact(id)
