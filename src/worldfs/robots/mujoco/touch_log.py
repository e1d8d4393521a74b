"""The touch log: which bodies of a world have touched each other, or what none of them may touch, at every step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Outcome

from .array_types import Native

KEPT = 1000  # touches


@dataclass(slots=True)
class Touch:
    """Two that touched, from `began` to `ended` (s of the world's time), and how deep at most (m)."""

    one: str
    other: str
    began: float
    ended: float
    depth: float


class TouchLog:
    """`sides`: name → the geoms that belong to it; `pairs`: the names that must not touch each other."""

    def __init__(self, model: Native, sides: Mapping[str, Iterable[int]], pairs: Iterable[tuple[str, str]]) -> None:
        self._names = ["", *sides]
        number = {name: i for i, name in enumerate(self._names)}
        self._side = np.zeros(model.ngeom, dtype=int)
        for name, geoms in sides.items():
            self._side[list(geoms)] = number[name]
        self._apart = np.zeros((len(self._names),) * 2, dtype=bool)
        for one, other in pairs:
            self._apart[number[one], number[other]] = self._apart[number[other], number[one]] = True
        wide = self._apart[self._side[:, None], self._side[None, :]]
        self._geoms = [row.tobytes() for row in wide]  # of two geoms, whether they must not touch
        self._now: dict[tuple[int, int], Touch] = {}
        self.touches: list[Touch] = []

    def look(self, data: Native) -> None:
        """After each step. What touches without a break is one touch."""
        geoms, side = self._geoms, self._side
        found = data.ncon and [i for i, (one, other) in enumerate(data.contact.geom.tolist()) if geoms[one][other]]
        if not found:
            if self._now:
                self._now.clear()
            return
        time, before = float(data.time), self._now
        self._now = {}
        for i in found:
            distance = float(data.contact.dist[i])
            if distance > 0:
                continue
            one, other = sorted(int(number) for number in side[data.contact.geom[i]])
            pair = (one, other)
            touch = self._now.get(pair) or before.get(pair)
            if touch is None:
                touch = Touch(self._names[pair[0]], self._names[pair[1]], time, time, -distance)
                self.touches = [*self.touches[-KEPT:], touch]
            touch.ended, touch.depth = time, max(touch.depth, -distance)
            self._now[pair] = touch

    def since(self, time: float, names: Iterable[str]) -> list[Touch]:
        """The touches of these that had not ended by then (s of the world's time)."""
        wanted = set(names)
        return [touch for touch in self.touches if touch.ended > time and wanted & {touch.one, touch.other}]


def judged(outcome: Outcome, touches: Sequence[Touch]) -> Outcome:
    """The outcome with what touched as evidence; with any of it nothing has succeeded."""
    lines = [
        {"one": t.one, "other": t.other, "began_s": round(t.began, 3), "ended_s": round(t.ended, 3),
         "depth_m": round(t.depth, 4)}
        for t in touches
    ]  # fmt: skip
    evidence = {**outcome.evidence, "touched": lines}
    if not outcome.ok or not touches:
        return replace(outcome, evidence=evidence)
    worst = max(touches, key=lambda touch: touch.depth)
    text = coded("robot.bodies_touched", one=worst.one, other=worst.other, mm=worst.depth * 1000, n=len(touches))
    return Outcome.failure(Cause.ERROR, "BODIES_TOUCHED", text, evidence=evidence)
