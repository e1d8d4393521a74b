"""Which elements of a list live on in another list: so an edit can drop, keep and add elements."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from worldfs.formats.values import same

_IDENTITY = ("id", "action_id", "session_id", "robot_id", "job_id", "name")

Span = tuple[int, int]


def match_elements(old: Sequence[Any], new: Sequence[Any]) -> dict[int, int]:
    """Which element of `old` lives on as which element of `new`; both indices ascend.

    By identity first, then by the entry's own id, then by content; what has no id may replace what has none.
    """
    low, high_old, high_new = 0, len(old), len(new)
    while low < high_old and low < high_new and same(old[low], new[low]):
        low += 1
    while high_old > low and high_new > low and same(old[high_old - 1], new[high_new - 1]):
        high_old, high_new = high_old - 1, high_new - 1
    partner = {i: i for i in range(low)}
    partner.update(_pair_middle(old, new, (low, high_old), (low, high_new)))
    partner.update((high_old + k, high_new + k) for k in range(len(old) - high_old))
    return partner


def _pair_middle(old: Sequence[Any], new: Sequence[Any], mine: Span, theirs: Span) -> dict[int, int]:
    if mine[0] == mine[1] or theirs[0] == theirs[1]:
        return {}
    by_object = {id(old[i]): i for i in range(*mine) if isinstance(old[i], dict | list)}
    taken = {by_object[id(new[j])] for j in range(*theirs) if id(new[j]) in by_object}
    by_label: dict[str, list[int]] = defaultdict(list)
    for i in reversed(range(*mine)):
        if i not in taken:
            by_label[_label(old[i])].append(i)
    candidates: list[tuple[int, int]] = []
    for j in range(*theirs):
        here = by_object.get(id(new[j]))
        if here is None:
            waiting = by_label.get(_label(new[j]))
            here = waiting.pop() if waiting else None
        if here is not None:
            candidates.append((here, j))
    anchors = _ascending(candidates)
    partner = dict(anchors)
    for (i, j), (next_i, next_j) in pairwise([(mine[0] - 1, theirs[0] - 1), *anchors, (mine[1], theirs[1])]):
        for a, b in zip(range(i + 1, next_i), range(j + 1, next_j), strict=False):
            if not (_named(old[a]) or _named(new[b])):
                partner[a] = b
    return partner


def _named(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _IDENTITY)


def _label(value: Any) -> str:
    if isinstance(value, dict):
        for key in _IDENTITY:
            if isinstance(value.get(key), str | int):
                return f"{key}={value[key]}"
    return json.dumps(value, sort_keys=True)


def _ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose first members ascend: what was not moved."""
    tops: list[int] = []
    top_at: list[int] = []
    before: list[int] = []
    for at, (i, _) in enumerate(pairs):
        rank = bisect_left(tops, i)
        before.append(top_at[rank - 1] if rank else -1)
        if rank == len(tops):
            tops.append(i)
            top_at.append(at)
        else:
            tops[rank], top_at[rank] = i, at
    run: list[tuple[int, int]] = []
    at = top_at[-1] if top_at else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]
