"""The words of one scene: the lexicon joined with the ids, names and categories that its things really have."""

from __future__ import annotations

import re

from worldfs.base.model import Scene, Thing

from . import lexicon_en, lexicon_zh
from .scene_facts import movable


class Vocabulary:
    """Looks words up, and finds the things that match them."""

    def __init__(self, scene: Scene) -> None:
        self.english, self.chinese = lexicon_en.nouns_en(), lexicon_en.nouns_zh()
        self.function_zh = lexicon_zh.chinese_lexicon()
        self.moving = {t.id for t in movable(scene)}
        self.things = {t.id: t for t in (*scene.objects, *scene.furniture)}
        self.shaped: dict[str, str] = {}  # thing → the kind that only its shape says
        self.keys = {id: self._describe(t) for id, t in self.things.items()}
        self.names_zh = {t.name for t in self.things.values() if re.search(r"[\u4e00-\u9fff]", t.name)}
        # a thing named like a word of the grammar must not swallow that word: it keeps its id only
        grave = self._grave() if self.names_zh else ()
        self.names_zh = {n for n in self.names_zh if not any(w in n for w in grave)}
        self.numbered = self._numbered()
        self.raw = frozenset(k for keys in self.keys.values() for k in keys if k[:2] in ("w:", "i:"))

    def _grave(self) -> list[str]:
        kinds = ("neg", "if", "question", "except", "excluded", "but", "past", "ba", "join")
        return [w for w, found in self.function_zh.items() if any(k in found for k in kinds)]

    def _numbered(self) -> dict[str, frozenset[str]]:
        """Things whose name or id says a number: "cube 9" → their ids as keys; two things, where these disagree."""
        found: dict[str, frozenset[str]] = {}
        for id, thing in self.things.items():
            said = re.findall(r"([a-z]+)[ _-]+0*(\d+)\b(?!\.\d)", thing.name.lower())
            for word, number in {*said, *re.findall(r"^([a-z]+)[_-]?0*(\d+)$", id.lower())}:
                found[f"{word} {number}"] = found.get(f"{word} {number}", frozenset()) | {f"i:{id.lower()}"}
        return found

    def named_with(self, word: str, number: str) -> frozenset[str]:
        """Keys of the things whose name says this word and this number: cube 9, cubes 09."""
        if not number.isdecimal():
            return frozenset()
        forms = (word, lexicon_en.singular(word))
        return frozenset().union(*(self.numbered.get(f"{form} {int(number)}", ()) for form in forms))

    def counts(self, word: str) -> bool:
        """Are there things that are named with this word and some number?"""
        return any(name.startswith(f"{lexicon_en.singular(word)} ") for name in self.numbered)

    def of_number(self, keys: frozenset[str], number: str) -> frozenset[str]:
        """Keys of the things of this number among those that are called alike: "Cube 9" for 方块9 or 方块8和9."""
        if not number.isdecimal() or all(k[:2] == "c:" for k in keys):
            return frozenset()
        kind = {k for own in self.keys.values() if own & keys for k in own if k[:2] == "i:"}
        words = {name.rsplit(" ", 1)[0] for name, some in self.numbered.items() if some & kind}
        return frozenset().union(*(self.numbered.get(f"{word} {int(number)}", ()) for word in words))

    def english_word(self, word: str) -> frozenset[str] | None:
        """Keys of an English word or id, None when neither lexicon nor scene knows it."""
        if f"i:{word}" in self.raw:
            return frozenset((f"i:{word}",))
        keys = self.english.get(word) or self.english.get(lexicon_en.singular(word)) or frozenset()
        for form in (word, lexicon_en.singular(word)):
            if f"w:{form}" in self.raw:
                keys |= {f"w:{form}"}
        return keys or None

    def chinese_word(self, word: str) -> frozenset[str] | None:
        keys = self.chinese.get(word, frozenset())
        if word in self.names_zh:
            keys |= {f"n:{word}"}
        return keys or None

    def matching_ids(self, asked: tuple[tuple[str, frozenset[str]], ...]) -> tuple[str, ...]:
        """Ids of the things that every word fits; things a gripper may move unless a word names another kind."""
        found = tuple(id for id, keys in self.keys.items() if all(keys & some for _, some in asked))
        # where some things are called so, what only has the shape is not meant ("the basket" beside a tray)
        found = tuple(id for id in found if not any(self.shaped.get(id, "") in some for _, some in asked)) or found
        named = any(k[:2] in ("k:", "w:", "i:", "n:") for _, some in asked for k in some)
        return found if named else tuple(id for id in found if id in self.moving)

    def closest_word(self, word: str) -> str:
        """A known noun one edit away, for a suggestion only."""
        known = sorted({*self.english, *(k[2:] for k in self.raw)})
        close = [k for k in known if len(word) > 3 and one_edit(word, k)]
        return close[0] if len(close) == 1 else ""

    def _describe(self, thing: Thing) -> frozenset[str]:
        keys = {f"i:{thing.id.lower()}"}
        if thing.category == "stand":  # a support named after the thing on it: it is not that thing
            return frozenset(keys | {"w:stand"})
        texts = [thing.name, thing.category, re.sub(r"[_\-\d]+", " ", thing.id)]
        for word in re.findall(r"[a-z]+", " ".join(texts).lower()):
            form = lexicon_en.singular(word)
            if word not in lexicon_en.FUNCTION and len(word) > 1:
                keys |= {f"w:{form}"}
            keys |= self.english.get(form, frozenset()) - {"*"}
        for text in (thing.name, thing.category):
            keys |= self._chinese_keys(text)
        kinds = {k for k in keys if k.startswith("k:")}
        if thing.is_container:
            keys |= {"k:container"}
        if thing.shape in ("sphere", "cylinder", "basket", "table"):
            if f"k:{thing.shape}" not in kinds:
                self.shaped[thing.id] = f"k:{thing.shape}"
            keys |= {f"k:{thing.shape}"}
        elif thing.shape == "box" and not kinds:
            keys |= {"k:box"}
        for key in kinds:
            keys |= lexicon_en.ancestor_kinds(key[2:])
        # the stated colour decides; words of a name only where none is stated (an "orange" may be green)
        stated = {
            k for w in re.findall(r"[a-z]+", thing.color.lower()) for k in self.english.get(w, ()) if k[:2] == "c:"
        }
        stated |= {k for k in self._chinese_keys(thing.color) if k[:2] == "c:"}
        if stated:
            keys = {k for k in keys if k[:2] != "c:"} | stated
        elif "k:orange" in keys:
            keys.discard("c:orange")
        return frozenset(keys | ({"*"} if thing.id in self.moving else set()))

    def _chinese_keys(self, text: str) -> set[str]:
        keys: set[str] = {f"n:{text}"} if re.search(r"[\u4e00-\u9fff]", text) else set()
        at = 0
        while at < len(text):
            size = next((n for n in range(min(6, len(text) - at), 0, -1) if text[at : at + n] in self.chinese), 0)
            keys |= self.chinese[text[at : at + size]] - {"*"} if size else set()
            at += size or 1
        return keys


def one_edit(a: str, b: str) -> bool:
    """One letter more, less, other, or two swapped."""
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) == len(b):
        return a[at + 1 :] == b[at + 1 :] or (a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :])
    short, long = sorted((a, b), key=len)
    return short[at:] == long[at + 1 :]
