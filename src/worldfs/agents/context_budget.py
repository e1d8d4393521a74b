"""The allotment of a budget: which items of a text fit, the important ones first, each kind with a share of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from .text_cost import Unit, prefix, text_cost

TROUBLE, LETTER, TASK, PIN, OTHER_LETTER, OTHER_TASK, NOTE = range(1, 8)
# What a kind may use in the first round, whatever the others need; what is left of it is for all.
SHARES: Final = ((TROUBLE, 0.15), (LETTER, 0.30), (TASK, 0.20), (PIN, 0.25))
FLOOR: Final = 0.10  # stays for what is neither urgent nor pinned
_LEAST: Final = {"tokens": 24, "bytes": 80}  # a shorter beginning of a text says nothing
_WEIGHTS: Final = {"patterns": 3, "corrections": 3, "dead_ends": 2, "questions": 2}  # of memory's headings; others 1


class ContextItem(NamedTuple):
    kind: int
    places: tuple[str, ...]  # the frames that must be around it, outermost first
    text: str
    size: int  # bytes of what it shows
    where: str  # for people
    head: str = ""
    tail: str = ""
    section: str = ""  # of memory

    @property
    def whole(self) -> str:
        return f"{self.head}{self.text}{self.tail}"


class ContextBudget:
    """`taken`: number of an item → the text that represents it; `cut`: number → bytes that its text left out."""

    def __init__(
        self,
        items: Sequence[ContextItem],
        frames: Mapping[str, tuple[str, str]],
        unit: Unit,
        mark: Callable[[ContextItem, int], str],
    ) -> None:
        self.items, self.unit, self.mark = items, unit, mark
        self.left = 0
        self.taken: dict[int, str] = {}
        self.cut: dict[int, int] = {}
        self._frames = {key: sum(text_cost(f"{part}\n", unit) for part in pair if part) for key, pair in frames.items()}
        self._open: set[str] = set()
        self._prices = [text_cost(f"{item.whole}\n", unit) for item in items]

    def need(self) -> int:
        """What everything would cost."""
        places = {place for item in self.items for place in item.places}
        return sum(self._prices) + sum(self._frames[place] for place in places)

    def fill(self, left: int) -> None:
        """All the rounds, with a budget of `left`."""
        self.left = left
        least = int(left * FLOOR)
        for kind, share in SHARES:
            self._round(kind, self.left - int(left * share))
        for kind in (LETTER, TASK, PIN, TROUBLE):
            self._round(kind, least)
        for kind in (LETTER, PIN):
            self._round(kind, least, cut=True)
        self._round(OTHER_LETTER, self.left - self.left // 3)
        self._round(OTHER_TASK, self.left - self.left // 3)
        self._notes()
        self.rest(self.left)

    def rest(self, left: int) -> None:
        """Whatever still fits into `left`, the important first."""
        self.left = left
        for kind in range(TROUBLE, NOTE + 1):
            self._round(kind, 0)

    def drop(self) -> bool:
        """Give the least important item back; False if there is none."""
        if not self.taken:
            return False
        number = max(self.taken, key=lambda n: (self.items[n].kind, n))
        del self.taken[number]
        self.cut.pop(number, None)
        return True

    def _round(self, kind: int, floor: int, *, cut: bool = False) -> None:
        for number, item in enumerate(self.items):
            if item.kind == kind and number not in self.taken and not self._take(number, floor) and cut:
                self._shorten(number, floor)

    def _take(self, number: int, floor: int) -> bool:
        price = self._prices[number] + self._around(self.items[number])
        if self.left - price < floor:
            return False
        self._keep(number, self.items[number].whole, price)
        return True

    def _shorten(self, number: int, floor: int) -> None:
        item = self.items[number]
        fixed = f"{item.head}…{item.tail}\n{self.mark(item, item.size)}\n"
        room = self.left - floor - self._around(item) - text_cost(fixed, self.unit) - 1
        if room < _LEAST[self.unit]:
            return
        text = prefix(item.text, room, self.unit)
        missing = len(item.text[len(text) :].encode("utf-8", "replace"))
        whole = f"{item.head}{text}…{item.tail}\n{self.mark(item, missing)}"
        price = text_cost(f"{whole}\n", self.unit) + self._around(item)
        if self.left - price >= floor:
            self.cut[number] = missing
            self._keep(number, whole, price)

    def _notes(self) -> None:
        """The headings share what is left by weight; one that needs less leaves the rest to the others."""
        sections: dict[str, list[int]] = {}
        for number, item in enumerate(self.items):
            if item.kind == NOTE and number not in self.taken:
                sections.setdefault(item.places[-1], []).append(number)
        need = {key: sum(self._prices[n] for n in numbers) for key, numbers in sections.items()}
        weight = {key: _WEIGHTS.get(self.items[numbers[0]].section, 1) for key, numbers in sections.items()}
        total = sum(weight.values())
        for key in sorted(sections, key=lambda key: need[key] / weight[key]):
            floor = self.left - self.left * weight[key] // total
            total -= weight[key]
            for number in sections[key]:
                self._take(number, floor)

    def _around(self, item: ContextItem) -> int:
        return sum(self._frames[key] for key in item.places if key not in self._open)

    def _keep(self, number: int, text: str, price: int) -> None:
        self.left -= price
        self._open.update(self.items[number].places)
        self.taken[number] = text
