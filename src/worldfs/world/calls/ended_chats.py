"""The ends of chat calls of one agent in one project, by number, for as long as they are shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator


class EndedChats:
    """Numbers only grow; finding what came after one costs a bisection."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._ids: list[str] = []
        self._gone = 0

    def add(self, number: int, id: str) -> None:
        self._numbers.append(number)
        self._ids.append(id)

    def after(self, number: int) -> Iterator[tuple[int, str]]:
        """(number, id), oldest first. A snapshot is not taken: hold the table's lock."""
        for index in range(bisect_right(self._numbers, number), len(self._numbers)):
            yield self._numbers[index], self._ids[index]

    def forget(self, shown: Callable[[str], bool]) -> None:
        """One more of them is no longer shown; now and then the list is made shorter."""
        self._gone += 1
        if self._gone > 64 and self._gone * 2 > len(self._ids):
            kept = [(n, id) for n, id in zip(self._numbers, self._ids, strict=True) if shown(id)]
            self._numbers, self._ids = [n for n, _ in kept], [id for _, id in kept]
            self._gone = 0
