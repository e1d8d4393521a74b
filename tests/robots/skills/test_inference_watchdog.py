"""What the thread that watches a policy's inference is told by a target or a policy that fails."""

from __future__ import annotations

import threading

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.skills.inference_watchdog import InferenceWatchdog
from worldfs.testing.waiting import PATIENCE_S


def fails() -> None:
    raise RuntimeError("no longer there")


def wait_for_an_answer(watchdog: InferenceWatchdog, ended: threading.Event, limit_s: float = PATIENCE_S) -> None:
    with watchdog.waiting(limit_s):
        assert ended.wait(PATIENCE_S)


def test_a_heartbeat_that_fails_ends_the_request_and_is_raised_in_the_loop() -> None:
    ended, clock = threading.Event(), SystemClock()
    watchdog = InferenceWatchdog(Run(clock, clock.monotonic() + PATIENCE_S), ended.set, fails)
    with pytest.raises(RuntimeError, match="no longer there"):
        wait_for_an_answer(watchdog, ended)
    assert not watchdog.ended  # neither late nor stopped
    watchdog.close()


def test_a_stop_that_fails_is_raised_in_the_loop() -> None:
    ended, clock = threading.Event(), SystemClock()

    def end() -> None:
        ended.set()
        fails()

    watchdog = InferenceWatchdog(Run(clock, clock.monotonic() + PATIENCE_S), end)
    with pytest.raises(RuntimeError, match="no longer there"):
        wait_for_an_answer(watchdog, ended, 0.0)
    assert watchdog.ended
    watchdog.close()
