"""Things put away, thrown away, taken out of containers and sorted: acts whose places follow from the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from worldfs.base.hollows import opens

from .assign import by_attribute, groups, into_containers
from .goals import ClearedGoal, Goal, InGoal, OnGoal, littering
from .intent import Clause, NotUnderstood, NounPhrase
from .scene_facts import containers, contents, final_support, immovable_ids, perhaps_there, surfaces, told_location
from .storage import alike, also_fit, storage
from .waste import waste_bins

if TYPE_CHECKING:
    from .goal_builder import GoalBuilder


class ClearingGoals:
    """These acts of one instruction, in its scene."""

    def __init__(self, meaning: GoalBuilder) -> None:
        self.meaning, self.scene = meaning, meaning.scene

    def clear(self, clause: Clause) -> list[Goal]:
        if self.comes_out(clause):
            return self.meaning.put(clause)
        last = clause.places[-1][0] if clause.places else ""
        said_there = any(side in ("in", "on") for noun in clause.what for side, _ in noun.at)
        clause, goal = self.meaning.filtered(clause, keep_last=last in ("in", "to"))
        boxes = [b.id for b in containers(self.scene)]
        if goal is not None:
            nouns = goal[1]
            box = self.meaning.where(tuple(n for n in nouns if isinstance(n, NounPhrase)))
            if box not in boxes:
                raise NotUnderstood("planner.not_container", "impossible", name=self.meaning.name(box))
            boxes = [box]
        self.meaning.resolve.into = frozenset(boxes if goal is not None else ())
        found = self.meaning.objects(clause.what, clause.but, also=True) if clause.what else self._only_surface(clause)
        self.meaning.resolve.into = frozenset()
        if found and goal is not None and clause.hollow == "emptied" and all(map(self._is_hollow, found)):
            if boxes[0] in found:
                raise NotUnderstood("planner.itself", "impossible", name=self.meaning.name(boxes[0]))
            return [InGoal(id, boxes[0]) for id in self._inside(found)]
        if found and goal is None and all(id in boxes for id in found):
            if clause.hollow == "itself":
                raise NotUnderstood("planner.not_movable", "impossible", name=self.meaning.name(found[0]))
            if clause.hollow != "emptied":
                names = self.meaning.resolve.names(found)
                raise NotUnderstood("planner.emptied_or_moved", "ambiguous", names=names)
            return self._emptied(found)
        if not boxes:
            raise NotUnderstood("planner.no_container", "impossible")
        tops = [id for id in found if id in {s.id for s in surfaces(self.scene)}]
        if tops and clause.what and clause.hollow == "itself":
            raise NotUnderstood("planner.not_movable", "impossible", name=self.meaning.name(tops[0]))
        loose = [id for id in found if id not in tops]
        for id in loose:
            if id in immovable_ids(self.scene):
                raise NotUnderstood("planner.not_movable", "impossible", name=self.meaning.name(id))
        if clause.what and goal is None:
            free = [id for id in loose if final_support(self.meaning.resolve.places, id).relation != "in"]
            every = clause.what[0].quantity == "all"
            told = clause.out or said_there
            if told and loose and not (free if every else len(free) == len(loose)):
                raise NotUnderstood("planner.where", "ambiguous", word=clause.what[0].text)  # it lies in a container
            loose = free or loose if every else loose
        aside = tuple(dict.fromkeys(self.meaning.protected))
        for top in tops:
            self._ask_of_unknown(top, "on")
            loose += [id for id in littering(ClearedGoal(top, aside), self.scene) if id not in loose]
        if goal is None:
            boxes = self.storage(loose)
        goals = [ClearedGoal(top, aside, tuple(boxes)) for top in tops]
        return [*into_containers(tuple(loose), boxes, self.scene), *goals]

    def discard(self, clause: Clause) -> list[Goal]:
        """Thrown away: into the only bin for waste; where there is none or another, the person says where."""
        clause, _ = self.meaning.filtered(clause, keep_last=False)
        bins = waste_bins(self.scene, self.meaning.resolve.vocabulary)
        ids = self.meaning.objects(clause.what, clause.but)
        if len(bins) != 1:
            boxes = bins or tuple(box.id for box in containers(self.scene))
            if not boxes:
                raise NotUnderstood("planner.no_container", "impossible")
            raise NotUnderstood("planner.into_which", "ambiguous", names=self.meaning.resolve.names(boxes))
        return [InGoal(id, bins[0]) for id in ids]

    def storage(self, ids: Sequence[str]) -> list[str]:
        """The containers for things of which no place is said; the person is asked where it matters which."""
        found = storage(ids, self.scene, self.meaning.resolve.vocabulary)
        if found:
            found = tuple(dict.fromkeys((*found, *also_fit(ids, self.scene, self.meaning.resolve.vocabulary))))
        found = tuple(id for id in found if id not in self.meaning.shut)
        if ids and not alike(found, self.meaning.resolve.vocabulary):
            boxes = [box.id for box in containers(self.scene) if box.id not in self.meaning.shut]
            if not boxes and self.meaning.shut:
                raise NotUnderstood("planner.no_container", "impossible")
            names = self.meaning.resolve.names(found or boxes)
            raise NotUnderstood("planner.into_which", "ambiguous", names=names)
        return list(found)

    def empty(self, clause: Clause) -> list[Goal]:
        """A container or a table; what a mug holds is to go somewhere, which is not said."""
        if not self.comes_out(clause):
            hollow = {*(box.id for box in containers(self.scene)), *(top.id for top in surfaces(self.scene))}
            if not hollow.issuperset(self.meaning.objects(clause.what, clause.but, also=True)):
                raise NotUnderstood("planner.where", "ambiguous", word=clause.what[0].text)
        return self.clear(replace(clause, hollow="emptied"))

    def _emptied(self, boxes: tuple[str, ...]) -> list[Goal]:
        """What lies in the boxes comes onto the table."""
        self.meaning.emptied += boxes
        return [OnGoal(id, self.below(box)) for id, box in self._inside(boxes).items()]

    def _inside(self, boxes: tuple[str, ...]) -> dict[str, str]:
        """What lies in the boxes, and may be moved, each with its box."""
        places, found = self.meaning.resolve.places, dict[str, str]()
        for box in boxes:
            self._ask_of_unknown(box, "in")
            thing = self.scene.thing(box)
            inside = contents(thing, "in", self.scene, places) if thing is not None else []
            found |= {id: box for id in inside if id not in self.meaning.protected}
        return found

    def _is_hollow(self, id: str) -> bool:
        thing = self.scene.thing(id)
        return thing is not None and (thing.is_container or opens(thing))

    def _ask_of_unknown(self, place: str, side: str) -> None:
        """Raises NotUnderstood where a thing may be there, and the scene does not tell."""
        thing, places = self.scene.thing(place), self.meaning.resolve.places
        perhaps = perhaps_there(thing, self.scene, places, side) if thing is not None else []
        if unknown := [id for id in perhaps if id not in self.meaning.protected]:
            names, where = self.meaning.resolve.names(unknown), self.meaning.name(place)
            raise NotUnderstood("planner.perhaps_there", "ambiguous", unknown, names=names, where=where)

    def comes_out(self, clause: Clause) -> bool:
        """Is it said to come out of containers or drawers?"""
        nouns = [n for side, where in clause.places if side == "from" for n in where if isinstance(n, NounPhrase)]
        boxes = [
            thing
            for noun in nouns
            for id in self.meaning.resolve.one(noun)
            if (thing := self.scene.thing(id)) is not None
        ]
        places = self.meaning.resolve.places
        full = {spot.of for id in places if (spot := told_location(id, self.scene, places)).relation == "in"}
        return bool(boxes) and all(box.is_container or opens(box) or box.id in full for box in boxes)

    def taken_out(self, clause: Clause, ids: Sequence[str]) -> list[Goal]:
        """What lies in a container comes onto what that stands on. All of it: of the only one that holds any."""
        places = self.meaning.resolve.places
        told = {id: told_location(id, self.scene, places) for id in ids}
        boxes = {id: spot if spot.relation == "in" else final_support(places, id) for id, spot in told.items()}
        inside = {id: box for id, box in boxes.items() if box.relation == "in"}
        if all(noun.quantity == "all" and not noun.at for noun in clause.what) and len({*inside.values()}) == 1:
            boxes = inside
        if any(box.relation != "in" for box in boxes.values()):
            raise NotUnderstood("planner.where", word=clause.what[0].text)
        return [OnGoal(id, self.below(box.of)) for id, box in boxes.items()]

    def below(self, box: str) -> str:
        """The surface that a container stands on, else the only one that there is."""
        tops = {surface.id for surface in surfaces(self.scene)}
        found = (r.object for r in self.scene.relations if r.subject == box and r.relation == "on" and r.object in tops)
        return next(found, "") or self._only_surface(Clause("clear"))[0]

    def _only_surface(self, clause: Clause) -> tuple[str, ...]:
        self.meaning.protected += self.meaning.resolve_aside(clause.but)
        found = tuple(s.id for s in surfaces(self.scene))
        if not found:
            raise NotUnderstood("planner.no_surface", "missing")
        if len(found) > 1:
            raise NotUnderstood("planner.ambiguous", "ambiguous", found, what=clause.act)
        return found

    def sort(self, clause: Clause) -> list[Goal]:
        into = [p for p in clause.places if p[0] in ("in", "to")]
        clause, goal = self.meaning.filtered(clause, keep_last=bool(into) and clause.places[-1] is into[-1])
        boxes: list[str] = []
        if goal is not None:
            boxes = list(self.meaning.resolve.all(tuple(n for n in goal[1] if isinstance(n, NounPhrase))))
        every = NounPhrase("*", (("*", frozenset("*")),), "all", plural=True)
        ids = self.meaning.objects(clause.what or (every,), clause.but, also=True)
        tops = [s.id for s in surfaces(self.scene)]
        if ids and all(id in tops for id in ids):  # "sort the table" means what is on it
            for id in ids:
                self._ask_of_unknown(id, "on")
            ids = tuple(
                o
                for id in ids
                for o in littering(
                    ClearedGoal(id, self.meaning.protected), self.scene, places=self.meaning.resolve.places
                )
            )
        for id in ids:
            if id in immovable_ids(self.scene):
                raise NotUnderstood("planner.not_movable", "impossible", name=self.meaning.name(id))
        if goal is not None and len(groups(ids, clause.by, self.scene, self.meaning.language)) > len(boxes):
            raise NotUnderstood("planner.few_boxes", "impossible", names=self.meaning.resolve.names(boxes))
        if goal is None:
            found = storage(ids, self.scene, self.meaning.resolve.vocabulary)
            boxes = [id for id in found if id not in self.meaning.shut]
        goals, note = by_attribute(ids, clause.by, boxes, self.scene, self.meaning.language)
        self.meaning.notes.append(note)
        return goals
