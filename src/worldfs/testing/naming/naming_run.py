"""Many cases, judged on all cores, and their figures by kind and language."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

from . import naming_judge
from .generator import KINDS, case
from .naming_judge import Judged, Verdict

CHUNK = 200


@dataclass(slots=True)
class Tally:
    """How many of each verdict, by kind and by language."""

    by_kind: dict[str, Counter[Verdict]] = field(default_factory=dict)
    by_language: dict[str, Counter[Verdict]] = field(default_factory=dict)
    failures: list[Judged] = field(default_factory=list)
    must_ask: Counter[bool] = field(default_factory=Counter)  # asked rightly: whether every candidate was named

    def add(self, one: Judged) -> None:
        self.by_kind.setdefault(one.case.kind, Counter())[one.verdict] += 1
        self.by_language.setdefault(one.case.language, Counter())[one.verdict] += 1
        if one.verdict is not Verdict.RIGHT:
            self.failures.append(one)
        elif one.case.truth.must_ask:
            self.must_ask[one.asked_well] += 1

    @property
    def all(self) -> Counter[Verdict]:
        return sum(self.by_language.values(), Counter())

    def share(self, verdict: Verdict) -> float:
        return self.all[verdict] / max(1, self.all.total())

    def lines(self) -> Iterator[str]:
        """A table: all, each language, each kind."""
        yield f"{'':26}{'tried':>7}{'right':>8}{'needless':>10}{'wrong':>8}{'untrue':>8}"
        rows = [("all", self.all), *((f"in {name}", found) for name, found in sorted(self.by_language.items()))]
        rows += [(kind, self.by_kind[kind]) for kind in KINDS if kind in self.by_kind]
        for name, found in rows:
            total = found.total()
            shares = [100 * found[v] / total for v in (Verdict.RIGHT, Verdict.NEEDLESS)]
            yield (
                f"{name:26}{total:>7}{shares[0]:>7.1f}%{shares[1]:>9.1f}%{found[Verdict.WRONG]:>8}{found[Verdict.UNTRUE]:>8}"
            )
        asked = self.must_ask.total()
        yield f"asked where only asking is right: {asked}, all candidates named: {self.must_ask[True]}"


def tally(seed: int, numbers: Sequence[int], workers: int | None = None) -> Tally:
    """The verdicts on the cases of these numbers, counted."""
    found = Tally()
    for one in judged(seed, numbers, workers):
        found.add(one)
    return found


def judged(seed: int, numbers: Sequence[int], workers: int | None = None) -> Iterator[Judged]:
    """Each case with its verdict, in order. `workers`: processes, one for each processor; 0: in this process."""
    workers = os.cpu_count() or 1 if workers is None else workers
    if not workers:
        yield from _chunk(seed, numbers)
        return
    chunks = [numbers[n : n + CHUNK] for n in range(0, len(numbers), CHUNK)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for part in pool.map(_chunk, [seed] * len(chunks), chunks):
            yield from part


def _chunk(seed: int, numbers: Iterable[int]) -> list[Judged]:
    return [naming_judge.run(case(seed, number)) for number in numbers]
