"""Successes of trials with Wilson's interval."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

Z: Final = 1.959963984540054  # 95 %


class SuccessRate(NamedTuple):
    """`good` of `tried`, and between what the true share lies with a confidence of 95 % (Wilson 1927)."""

    good: int
    tried: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        return self.good / self.tried if self.tried else math.nan

    def __str__(self) -> str:
        if not self.tried:
            return "–"
        return f"{self.good}/{self.tried} ({100 * self.low:.0f}–{100 * self.high:.0f} %)"


def success_rate(good: int, tried: int) -> SuccessRate:
    """Wilson's score interval, which is right for few trials and for none or all of them good."""
    if tried == 0:
        return SuccessRate(0, 0, 0.0, 1.0)
    p, n, z2 = good / tried, tried, Z * Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    spread = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return SuccessRate(good, tried, 0.0 if good == 0 else middle - spread, 1.0 if good == tried else middle + spread)
