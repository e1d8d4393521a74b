"""Merging a whole text whose writer may have read any version: nothing that was acknowledged is undone.

It is merged with the version that it was most likely made from. Then the result is held against the history: what was
acknowledged after the newest version that the writer is known to have read must still be there. If it is not, the merge
is made from an older version, or from one that is put together from the history; and if that cannot be, the file stays
as it is and the text is set aside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from worldfs.base.model import Finding

    from .agent_directory import AgentDirectory
    from .fact_history import FactHistory, FactReader


class MergeResult(NamedTuple):
    data: bytes
    conflicts: tuple[str, ...] = ()  # in words: what of the foreign version was not taken, and why


class DocumentRules(NamedTuple):
    """What a kind of document allows."""

    judge: Callable[[bytes], Sequence[Finding]]  # what is wrong with a text; warnings refuse nothing
    merge: Callable[[Sequence[bytes], bytes, bytes], MergeResult]
    """(generations oldest first, ours, theirs): what becomes of a valid foreign text; ours is the newest good one."""
    clean: Callable[[bytes], bytes] = bytes  # secrets out of a text
    keep: int = 32  # versions kept whole
    most: int = 16 << 20  # bytes
    facts: Callable[[], FactReader] | None = None  # what of it a rewrite from an old reading must not undo


class MergeInput(NamedTuple):
    """What there is to merge with."""

    agent_dir: AgentDirectory
    name: str
    rules: DocumentRules
    history: FactHistory | None
    versions: Sequence[tuple[int, bytes]]  # (number, bytes), oldest first; the last is what counts


def merge_edit(document: MergeInput, theirs: bytes, *, newest_only: bool) -> MergeResult:
    """`newest_only`: the last version is theirs, too. Conflicts are named, and what is not taken of it is set aside."""
    agent_dir, name, rules, history, versions = document
    ours, bases = versions[-1][1], [data for _, data in versions]
    clean = rules.clean(theirs)
    keep_duplicate_keys(agent_dir, name, clean)
    merged = rules.merge(bases[-1:] if newest_only else bases, ours, clean)
    if history is not None and merged.data != ours:
        merged = _guarded(document, history, clean, merged)
    if merged.conflicts:
        words = "; ".join(merged.conflicts)
        key = agent_dir.set_aside(name, clean, words)
        agent_dir.add_finding(
            "EDIT_CONFLICT", name, coded("agent.edit_of_newest"), words[:500], coded("agent.read_and_repeat", key=key)
        )  # fmt: skip
    elif merged.data == ours != clean and (history is not None or (not newest_only and theirs in bases)):
        agent_dir.add_finding(
            "EDIT_STALE", name, coded("agent.edit_of_newest"), coded("agent.older_again"),
            coded("agent.later_is_kept", name=agent_dir.name),
        )  # fmt: skip
    return merged


def keep_duplicate_keys(agent_dir: AgentDirectory, name: str, data: bytes) -> None:
    """A text that says the same key twice is kept as it is: a reader takes one of the two, and writes only that."""
    if not name.endswith(".json"):
        return
    twice: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        keys = [key for key, _ in pairs]
        twice.extend(key for key in dict.fromkeys(keys) if keys.count(key) > 1)

    with suppress(ValueError):
        parse_json(data, object_pairs_hook=look)
    if twice:
        kept = agent_dir.set_aside(name, data, f"duplicate keys: {', '.join(twice)}")
        agent_dir.add_finding(
            "KEY_TWICE", name, coded("agent.key_once"), coded("agent.twice_last_counts", names=", ".join(twice)[:200]),
            coded("agent.your_text_kept", key=kept),
        )  # fmt: skip


def _guarded(document: MergeInput, history: FactHistory, theirs: bytes, merged: MergeResult) -> MergeResult:
    agent_dir, name, rules, _, versions = document
    ours = versions[-1][1]
    mine = history.entries(ours)
    reading = history.base_version(history.entries(theirs))
    lost = history.lost_facts(mine, history.entries(merged.data), after=reading.number)
    if lost and all(
        map(history.is_new_value, lost)
    ):  # they say something new of what was there: it is kept, and reported
        _told(agent_dir, name, ours, [history.kind.describe(mine[one.name], one.part) for one in lost])
        lost = []
    elif lost:
        older = [data for number, data in versions if number <= reading.number]
        for bases in (older, [history.kind.base(ours, theirs, reading)]):
            if lost and bases:
                merged = rules.merge(bases, ours, theirs)
                lost = history.lost_facts(mine, history.entries(merged.data), after=reading.number)
    if lost:
        return MergeResult(ours, ("it was made from an older version, and what has changed since would be lost",))
    new = history.entries(merged.data)
    # A value that was never there before comes from no old reading: it is what its writer means.
    read = history.lost_facts(mine, new, after=reading.first, until=reading.number)
    undone = [one for one in read if not history.is_new_value(one)]
    if undone and reading.is_doubtful(undone):
        shown = history.kind.describe
        back = [f"{shown(new[one.name], '')} again" for one in undone if one.name not in mine]
        _told(agent_dir, name, ours, [shown(mine[one.name], one.part) for one in undone if one.name in mine] + back)
    return merged


def _told(agent_dir: AgentDirectory, name: str, ours: bytes, words: Sequence[str]) -> None:
    """Acknowledged facts gave way to a rewrite that may not have known them: they are kept beside, and named."""
    what = "; ".join(words)
    key = agent_dir.set_aside(name, ours, coded("agent.rewrite_changed", what=what))
    agent_dir.add_finding(
        "EDIT_OVER", name, coded("agent.what_was_acknowledged"), coded("agent.rewrite_changed", what=what[:480]),
        coded("agent.write_again_before_kept", key=key),
    )  # fmt: skip
