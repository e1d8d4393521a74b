"""Sentences about the things of a scene: what they are called, where they are, their colours and measures."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from worldfs.base.messages import coded, render
from worldfs.base.model import Scene, Thing
from worldfs.base.stated_places import lacks_holder

from . import thing_names
from .lexicon_en import COLOURS
from .scene_facts import ThingLocation, final_support, layout, own_robot, told_location
from .stated_colours import UNSAID

MOST = 3  # contradictions in one reply
_TOLD = {"on": "on", "leans_on": "on", "held_by": "held"}


def fact(id: str, scene: Scene, language: str) -> str:
    """A whole sentence: where the thing is."""
    return SceneSentences(scene, language).fact(id)


def facts(ids: Sequence[str], scene: Scene, language: str) -> str:
    """Where each of the things is, with its position (m)."""
    told = SceneSentences(scene, language)
    return told.joined(told.fact(id) + told.numbers(id) for id in ids if scene.thing(id) is not None)


def with_contradictions(said: str, asked: str, scene: Scene, language: str, ids: Collection[str] = ()) -> str:
    """The reply, with what the document states against its own positions of each thing or holder that is one of `ids`
    or that the reply or the instruction (`asked`) names."""
    told, text = SceneSentences(scene, language), f"{asked} {said}".casefold()

    def is_meant(id: str) -> bool:
        return id in ids or thing_names.name(scene.thing(id), language, scene, id).casefold() in text

    here = {thing.id for thing in (*scene.objects, *scene.furniture)}
    loose = (one for one in scene.relations if one.subject in here and one.object not in here)
    untold = (one for one in loose if lacks_holder(one, scene))
    meant = [one for one in (*scene.contradicted, *untold) if is_meant(one.subject) or is_meant(one.object)]
    end = "。" if told.zh else ". "
    apart = [one for one in meant if one.relation != "held_by" and scene.thing(one.object) is not None]
    for code, group in (("planner.contradicted", apart), ("planner.no_holder", [m for m in meant if m not in apart])):
        stated = [(one.subject, ThingLocation(_TOLD.get(one.relation, "in"), one.object)) for one in group[:MOST]]
        what = told.joined(told.say("planner.is_at", thing=told.the(id), at=told.at(spot)) for id, spot in stated)
        if what:
            said = said.rstrip(".。") + end + told.say(code, what=what + ("…" if len(group) > MOST else ""))
    if scene.edited:
        what = told.joined(map(told.edit, scene.edited[:MOST])) + ("…" if len(scene.edited) > MOST else "")
        said = said.rstrip(".。") + end + told.say("planner.edited", what=what)
    return said


class SceneSentences:
    """Sentences about one scene in one language."""

    def __init__(self, scene: Scene, language: str, *, several: bool = False) -> None:
        """`several`: a robot is named also where it is the one that is asked."""
        self.scene, self.language, self.zh = scene, language, language == "zh"
        self.resting = layout(scene)
        self.places = {id: told_location(id, scene, self.resting) for id in self.resting}
        self.robot = own_robot(scene)  # the robot that is asked
        self.of_several = several

    def say(self, code: str, **facts: object) -> str:
        return render(coded(code, **facts), self.language)

    def joined(self, parts: Iterable[str]) -> str:
        return ("；" if self.zh else "; ").join(parts)

    def the(self, id: str | None) -> str:
        found = thing_names.name(self.scene.thing(id or ""), self.language, self.scene, id or "")
        return render(thing_names.the(found), self.language)

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
            own = self.robot is not None and spot.of == self.robot.robot_id and not self.of_several
            return self.say("planner.at_held") if own else self.say("planner.at_held_by", robot=spot.of)
        code = {"in": "planner.at_in", "on": "planner.at_on"}.get(spot.relation)
        return self.say(code, place=self.the(spot.of)) if code else ""

    def fact(self, id: str) -> str:
        """A whole sentence: where it is."""
        spot, end = self.where(id), final_support(self.resting, id)
        at = self.at(spot)
        if spot.relation == "on" and end.relation == "in":
            at = self.say("planner.at_on_in", place=self.the(spot.of), box=self.the(end.of))
        return self.say("planner.is_at", thing=self.the(id), at=at or coded("planner.nowhere"))

    def where(self, id: str) -> ThingLocation:
        if id in self.places:
            return self.places[id]
        stated = (r for r in self.scene.relations if r.subject == id and r.relation in ("in", "on"))
        told = (ThingLocation(r.relation, r.object) for r in stated if not lacks_holder(r, self.scene))
        return next(told, ThingLocation())

    def edit(self, thing: Thing) -> str:
        """Where the document has a thing, and where it was measured."""
        there = self.scene.thing(thing.id)
        at = there.position if there is not None else ()
        return self.say("planner.edited_at", thing=self.the(thing.id), told=thing.position, at=at)

    def numbers(self, id: str) -> str:
        thing = self.scene.thing(id)
        known = thing is not None and len(thing.position) >= 3 and all(map(math.isfinite, thing.position[:3]))
        return f" ({' '.join(f'{v:.2f}' for v in thing.position[:3])})" if thing is not None and known else ""

    def colour_of(self, id: str) -> str:
        thing = self.scene.thing(id)
        said = thing.color if thing is not None else ""
        if said.strip().lower() in UNSAID:
            return self.say("planner.colour_unknown", thing=self.the(id))
        if self.zh and said.lower() in COLOURS:
            said = COLOURS[said.lower()][1].split()[0]
        return self.say("planner.colour_is", thing=self.the(id), colour=said)

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
        return self.joined(found)

    def yes(self, held: bool, rest: str) -> str:
        return self.say("planner.yes", rest=rest) if held else self.say("planner.no", rest=rest)
