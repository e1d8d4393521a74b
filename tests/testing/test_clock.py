"""The manual clock stands still until it is told."""

from __future__ import annotations

import pytest

from worldfs.testing.manual_clock import START, ManualClock


def test_time_passes_only_when_told_and_both_clocks_agree() -> None:
    clock = ManualClock()
    assert (clock.now(), clock.monotonic()) == (START, 0.0)
    clock.advance(90.5)
    assert ((clock.now() - START).total_seconds(), clock.monotonic()) == (90.5, 90.5)


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_it_never_goes_back(seconds: float) -> None:
    with pytest.raises(ValueError, match="cannot pass"):
        ManualClock().advance(seconds)
