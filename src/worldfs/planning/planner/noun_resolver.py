"""Noun phrases looked up in a scene: the things meant, or why that is ambiguous."""

from __future__ import annotations

from worldfs.base.model import Scene

from . import superlatives, thing_names
from .directions import SIDES, axis, lies_toward
from .goals import BesideGoal, held_by, holds
from .intent import NotUnderstood, NounPhrase
from .scene_facts import ThingLocation, final_support, layout, movable
from .vocabulary import Vocabulary


class NounResolver:
    """Finds things for one instruction; `last` is what "it" and "them" mean."""

    def __init__(self, scene: Scene, vocabulary: Vocabulary, language: str) -> None:
        self.scene, self.vocabulary, self.language = scene, vocabulary, language
        self.places = layout(scene)
        self.last: tuple[str, ...] = ()
        self.mentioned: set[str] = set()
        self.notes: list[str] = []
        self.head: frozenset[str] = frozenset()  # the kind that was named last: what "one" stands for

    def names(self, ids: tuple[str, ...] | list[str]) -> str:
        return thing_names.names(ids, self.scene, self.language)

    def here(self) -> str:
        return self.names([t.id for t in (*self.scene.objects, *self.scene.furniture)])

    def all(self, nouns: tuple[NounPhrase, ...]) -> tuple[str, ...]:
        """Every thing that the phrases mean, once, in order; () only for "all …" without any."""
        found = tuple(dict.fromkeys(id for noun in nouns for id in self.one(noun)))
        if found and not any(n.pronoun for n in nouns):
            self.last = found
        self.mentioned |= set(found)
        self.head = next((kinds for n in reversed(nouns) if (kinds := _kinds(n))), self.head)
        return found

    def one(self, noun: NounPhrase) -> tuple[str, ...]:
        if noun.pronoun:
            return self._pronoun(noun)
        if noun.options:
            return self._choice(noun)
        anywhere = self.vocabulary.matching_ids(noun.words)
        found = tuple(id for id in anywhere if all(self._is_at(id, side, where) for side, where in noun.at))
        if noun.words and noun.words[-1][0] in ("one", "ones"):
            found = tuple(id for id in found if self.head & self.vocabulary.keys[id]) or found
        if noun.without:
            found = tuple(id for id in found if not any(self.vocabulary.keys[id] & keys for _, keys in noun.without))
        if noun.other:
            if not self.mentioned & set(anywhere):
                raise NotUnderstood("planner.other", "ambiguous", what=noun.text, names=self.names(found))
            found = tuple(id for id in found if id not in self.mentioned)
        if noun.best and found:
            base = self.scene.thing(self._single(noun.best_of)) if noun.best_of is not None else None
            if noun.of_two and len(found) != 2:
                raise NotUnderstood("planner.ambiguous", "ambiguous", what=noun.text, names=self.names(found))
            if noun.plural and not noun.count:
                raise NotUnderstood("planner.ambiguous", "ambiguous", what=noun.text, names=self.names(found))
            try:
                chosen = superlatives.pick_superlative(found, noun.best, self.scene, noun.count or 1, base)
            except NotUnderstood as error:
                ids = [id for id in str(error.facts.get("names", "")).split(", ") if id]
                raise NotUnderstood(error.code, error.kind, **{**error.facts, "names": self.names(ids)}) from None
            self._tell(noun.text, chosen)
            return chosen
        if not found:
            named = [keys for _, keys in noun.words if any(k[:2] == "k:" for k in keys)]
            if noun.quantity == "all" and not noun.count and len(named) < 2:  # nothing is an apple and a can
                return ()
            code = "planner.missing_there" if anywhere else "planner.missing"
            listed = self.names(anywhere) if anywhere else self.here()
            raise NotUnderstood(code, "missing", what=bare(noun), here=listed)
        if noun.quantity == "any":
            number = noun.count or 1
            if len(found) < number:
                raise self._count(noun, found)
            return self.easiest(found)[:number]
        if noun.count and len(found) != noun.count:
            raise self._count(noun, found)
        if noun.quantity == "all" or noun.plural or noun.count or len(found) == 1:
            return found
        raise NotUnderstood("planner.ambiguous", "ambiguous", what=noun.text, names=self.names(found))

    def _single(self, noun: NounPhrase) -> str:
        found = self.one(noun)
        if len(found) != 1:
            raise NotUnderstood("planner.ambiguous", "ambiguous", what=noun.text, names=self.names(found))
        return found[0]

    def _choice(self, noun: NounPhrase) -> tuple[str, ...]:
        """ "the apple or the can": the one that is easier to reach, and a note says which."""
        several = tuple(self._single(option) for option in noun.options)
        if not set(several) <= set(self.places):  # of tables and baskets none is easier: the user must choose
            raise NotUnderstood("planner.ambiguous", "ambiguous", what=noun.text, names=self.names(several))
        chosen = self.easiest(several)[:1]
        self._tell(noun.text, chosen)
        return chosen

    def _tell(self, text: str, chosen: tuple[str, ...]) -> None:
        self.notes.append(f"{text} → {self.names(chosen)}")

    def _count(self, noun: NounPhrase, found: tuple[str, ...]) -> NotUnderstood:
        number = str(noun.count or 1)
        return NotUnderstood(
            "planner.count", "ambiguous", what=noun.text, count=number, found=str(len(found)), names=self.names(found)
        )

    def _pronoun(self, noun: NounPhrase) -> tuple[str, ...]:
        found = self.last
        if not found:
            held = held_by(self.scene)
            found = (held,) if held else ()
        if not found or (len(found) > 1 and noun.text in ("it", "它")):
            raise NotUnderstood("planner.pronoun", "ambiguous", word=noun.text)
        if noun.count and len(found) != noun.count:
            raise self._count(noun, found)
        return found

    def _is_at(self, id: str, side: str, where: NounPhrase) -> bool:
        for other in self.one(where):
            spot, end = self.places.get(id, ThingLocation()), final_support(self.places, id)
            if side in ("in", "from") and end == ThingLocation("in", other):
                return True
            if side in ("on", "from") and ThingLocation("on", other) in (spot, end):
                return True
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
        """For "any": free tops first, what lies in a container last, then page order."""
        covered = {w.of for w in self.places.values() if w.relation == "on"}
        order = {t.id: n for n, t in enumerate(movable(self.scene))}

        def rank(id: str) -> tuple[bool, bool, int]:
            return (final_support(self.places, id).relation == "in", id in covered, order.get(id, 0))

        return tuple(sorted(ids, key=rank))


def bare(noun: NounPhrase) -> str:
    """The phrase without its article and number."""
    return " ".join(word for word, _ in noun.words) or noun.text


def _kinds(noun: NounPhrase) -> frozenset[str]:
    return frozenset(k for _, keys in noun.words[-1:] for k in keys if k[:2] == "k:")
