"""Which version brought each fact of a document: what is asked of a rewrite whose reading may be of any age.

    .paos/history/tasks.json    for each fact the number of the version that brought it or took it away, whose change
                                that was, and values that it had before: small whatever the history, durable

The last versions are kept whole (merged_document.py) and are added here before they are dropped. A rewrite holds what
version n acknowledged only if its writer has read version n or a later one: so what it lacks of later versions, it has
not seen, and cannot have meant to remove.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from worldfs.base.errors import UserError
from worldfs.base.json_text import parse_json
from worldfs.storage.revision import PRIVATE_DIR

from .fact_readers import BaseFacts, Entries, Facts

if TYPE_CHECKING:
    from .agent_directory import AgentDirectory

HISTORY: Final = f"{PRIVATE_DIR}/history"
UNREADABLE: Final = (UserError, ValueError, TypeError, LookupError, AttributeError)
HELD: Final = 8  # earlier values of one fact that are remembered
FOREIGN, MERGED, OURS = 0, 1, 2
"""The writer of a version: a rewrite; a merge; a call, whose words only a later reader can know. What a call or a
merge brought is protected."""
_THERE, _GONE, _BACK = 0, 1, 2
Parts = dict[str, list[Any]]
"""By part: [since, by, earlier values…]; of the part "": [since, by, whether it is there, gone or back]."""


class FactReader(Protocol):
    """How the facts of a kind of document are read (agents/fact_readers.py)."""

    def entries(self, data: bytes) -> Entries: ...

    def facts(self, entry: object) -> Facts: ...

    def describe(self, entry: object, part: str) -> str: ...

    def base(self, ours: bytes, theirs: bytes, reading: BaseFacts) -> bytes: ...


class LostFact(NamedTuple):
    """An acknowledged fact that a merge would undo."""

    name: str
    part: str
    value: str | None  # what it would become
    since: float


class FactHistory:
    """Of one document. Calls are made inside `agent_dir.locked()`."""

    def __init__(self, agent_dir: AgentDirectory, name: str, kind: FactReader) -> None:
        self._agent_dir, self._key, self.kind = agent_dir, f"{HISTORY}/{name}", kind
        self.number = 0  # of the last version that was taken in
        self._first = 0  # every reader of the file has read this version or a later one
        self._facts: dict[str, Parts] = {}
        self._last: Entries | None = None
        self.saved = -1  # number of what the file holds, -1: not known

    # -- kept -------------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """What the file says; nothing, if it is not there or broken: then everything counts as just acknowledged."""
        self.number, self._first, self._facts, self._last = 0, 0, {}, None
        stored = self._agent_dir.store.get(self._key)
        try:
            value = parse_json(stored.data) if stored else None
            if value and value["format"] == 1 and type(value["facts"]) is dict:
                self.number, self._first, self._facts = int(value["number"]), int(value["first"]), value["facts"]
        except (ValueError, LookupError, TypeError):
            self.number, self._first, self._facts = 0, 0, {}
        self.saved = self.number

    def save(self) -> None:
        value = {"format": 1, "number": self.number, "first": self._first, "facts": self._facts}
        self._agent_dir.store.put(self._key, json.dumps(value, separators=(",", ":")).encode() + b"\n")
        self.saved = self.number

    def add_versions(self, numbers: Sequence[int], version: Callable[[int], tuple[int, bytes] | None]) -> None:
        """The versions that are kept, oldest first, (whose, bytes) of one by its number; known ones are passed over."""
        if not numbers:
            return
        if self.saved < 0 or self.number > numbers[-1] or self.number + 1 < numbers[0]:
            self.load()
        for number in numbers:
            if number < self.number or (number == self.number and self._last is not None):
                continue
            found = version(number)
            if found is None:  # the power took it
                continue
            try:
                entries = self.kind.entries(found[1])
            except UNREADABLE:
                continue
            if number > self.number:
                self._add(number, found[0], entries)
            self._last = entries
            self.number = number

    def entries(self, data: bytes) -> Entries:
        try:
            return self.kind.entries(data)
        except UNREADABLE:
            return {}

    def _add(self, number: int, by: int, entries: Entries) -> None:
        if not self.number:
            # Every writer has read the very first version; of a later one nothing is known.
            self._first = number if number == 1 else number - 1
            by = FOREIGN if number == 1 else MERGED
        last = self._last
        for name, entry in entries.items():
            old = None if last is None else last.get(name)
            if old == entry and old is not None:
                continue
            self._change(self._facts.setdefault(name, {}), (number, by), old, entry, last is None)
        for name, parts in self._facts.items() if last is None else ((name, self._facts[name]) for name in last):
            if name not in entries and parts[""][2] != _GONE:
                self._facts[name] = {"": [number, by, _GONE]}

    def _change(self, parts: Parts, here: tuple[int, int], old: object, entry: object, unknown: bool) -> None:
        there = parts.get("")
        if there is None or there[2] == _GONE:
            parts.clear()
            parts[""] = [*here, _THERE if there is None else _BACK]
            return
        new = self.kind.facts(entry)
        before = {} if old is None else self.kind.facts(old)
        for part in new.keys() | before.keys():
            if part and (unknown or before.get(part) != new.get(part)):
                held = parts.get(part, [0, 0])[2:]
                # What it was before the version that the power took is not known: whose it is, neither.
                parts[part] = [here[0], MERGED] if unknown else [*here, *[*held, before.get(part)][-HELD:]]

    # -- asking -----------------------------------------------------------------------------------------------------

    def base_version(self, theirs: Entries) -> BaseVersion:
        """The version that the writer of `theirs` has read, or a later one."""
        proofs = []
        for name, entry in theirs.items():
            there = self._facts.get(name, {}).get("")
            if there is None or there[1] != OURS or there[2] != _THERE:
                continue
            title = self._facts[name].get("description")
            said = self.kind.facts(entry).get("description")
            mine = (self._last or {}).get(name)
            if mine is None or said == self.kind.facts(mine).get("description") or (title and said in title[2:]):
                proofs.append(there[0])
        return BaseVersion(self._facts, max(proofs, default=self._first), self._first, sorted(proofs, reverse=True))

    def lost_facts(self, ours: Entries, merged: Entries, after: int = 0, until: float = float("inf")) -> list[LostFact]:
        """What was acknowledged by a version in (`after`, `until`] and would be undone by what `merged` says."""
        found = []
        for name, entry in ours.items():
            other = merged.get(name)
            if other == entry:
                continue
            mine, there = self.kind.facts(entry), {} if other is None else self.kind.facts(other)
            parts = self._facts.get(name)
            for part in [""] if other is None else mine.keys() | there.keys():
                if mine.get(part) != there.get(part):
                    since, by = _since(parts, part)
                    if by != FOREIGN and after < since <= until:
                        found.append(LostFact(name, part, there.get(part), since))
        for name in merged.keys() - ours.keys():
            parts = self._facts.get(name, {})
            there_ = parts.get("")
            if there_ and there_[2] == _GONE and there_[1] != FOREIGN and after < there_[0] <= until:
                found.append(LostFact(name, "", "1", there_[0]))
        return found

    def is_new_value(self, one: LostFact) -> bool:
        """Has this fact never had that value? Then its writer meant it."""
        parts = self._facts.get(one.name, {})
        return bool(one.part) and one.value is not None and one.value not in parts.get(one.part, [0, 0])[2:]


class BaseVersion(NamedTuple):
    """The version that the writer of a rewrite had read, as far as it is known (implements `BaseFacts`)."""

    facts: dict[str, Parts]
    number: int  # it was this one or a later one
    first: int
    proofs: list[int]  # versions that brought what the rewrite says, newest first

    def was_read(self, name: str, part: str = "") -> bool:
        return _since(self.facts.get(name), part)[0] <= self.number

    def is_stale(self, name: str, part: str, value: str | None) -> bool:
        parts = self.facts.get(name, {})
        fact = parts.get(part)
        if fact is None or fact[0] <= self.number:
            return False
        return fact[2] == _GONE if not part else value in fact[2:]

    def is_doubtful(self, undone: Iterable[LostFact]) -> bool:
        """Could a writer that had not read these undo them, and only by chance say what later versions brought?"""
        for since in sorted({one.since for one in undone}):
            proofs = sum(proof >= since for proof in self.proofs)
            if proofs <= sum(one.since >= since for one in undone):
                return True
        return False


def _since(parts: Parts | None, part: str) -> tuple[float, int]:
    """(the version that brought a fact, whose it was); of one that no version tells of: after all, and protected."""
    if not parts:
        return float("inf"), MERGED
    fact = parts.get(part) or parts[""]
    return fact[0], fact[1]
