"""The ends of chat jobs of one agent in one project, by number, for as long as they are shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator


class EndedChats:
    """Numbers only grow; finding the ends after one costs a bisection."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._ids: list[str] = []
        self._gone = 0

    def add(self, number: int, id: str) -> None:
        self._numbers.append(number)
        self._ids.append(id)

    def after(self, number: int) -> Iterator[tuple[int, str]]:
        """(number, id), oldest first. Not a snapshot: the caller holds the table's lock."""
        for index in range(bisect_right(self._numbers, number), len(self._numbers)):
            yield self._numbers[index], self._ids[index]

    def newest(self, most: int) -> list[str]:
        """The ids of the last ends, newest first."""
        return self._ids[: -most - 1 : -1]

    def forget(self, shown: Callable[[str], bool]) -> None:
        """One more is no longer shown; the list is compacted now and then."""
        self._gone += 1
        if self._gone > 64 and self._gone * 2 > len(self._ids):
            kept = [(n, id) for n, id in zip(self._numbers, self._ids, strict=True) if shown(id)]
            self._numbers, self._ids = [n for n, _ in kept], [id for _, id in kept]
            self._gone = 0
