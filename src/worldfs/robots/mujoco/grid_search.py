"""The shortest way over a grid of cells: A*, deterministic, with what the body at hand knows of its cells."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from typing import Final

Cell = tuple[int, int]
AROUND: Final = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))


def shortest_way(
    start: Cell,
    arrived: Callable[[Cell], bool],
    next_cells: Callable[[Cell], Iterable[Cell]],
    left: Callable[[Cell], float],
) -> list[Cell]:
    """The cells from `start` to the first that has `arrived`; empty: there is no way.

    `next_cells`: the neighbours that can be reached from a cell. `left`: never more than the cells that are left to go.
    """
    came: dict[Cell, Cell | None] = {}
    best = {start: 0.0}
    heap: list[tuple[float, Cell, Cell | None]] = [(left(start), start, None)]
    while heap:
        _, cell, before = heapq.heappop(heap)
        if cell in came:
            continue
        came[cell] = before
        if arrived(cell):
            found: list[Cell] = []
            at: Cell | None = cell
            while at is not None:
                found.append(at)
                at = came[at]
            return found[::-1]
        for then in next_cells(cell):
            cost = best[cell] + math.dist(cell, then)
            if then not in came and cost < best.get(then, math.inf):
                best[then] = cost
                heapq.heappush(heap, (cost + left(then), then, cell))
    return []
