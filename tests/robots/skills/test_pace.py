"""The beat of a control loop."""

import itertools
import threading

from worldfs.base.clock import SystemClock
from worldfs.skills.control_rate import ControlRate
from worldfs.testing.manual_clock import ManualClock


def test_steps_are_due_at_start_plus_k_periods_whatever_they_take():
    clock, began = ManualClock(), []
    pace = ControlRate(50, clock, clock.advance)
    for k in range(100):
        pace()
        began.append(clock.monotonic())
        clock.advance(0.019 if k % 2 else 0.001)
    assert max(abs(at - 0.02 * k) for k, at in enumerate(began)) < 1e-9
    assert pace.missed == 0 and max(pace.late) < 1e-9


def test_after_a_pause_there_is_no_burst():
    clock = ManualClock()
    pace = ControlRate(10, clock, clock.advance)
    pace()
    clock.advance(0.55)
    pace()
    assert clock.monotonic() == 0.55 and pace.missed == 4
    pace()
    assert abs(clock.monotonic() - 0.6) < 1e-9


def test_without_a_way_to_wait_it_runs_freely():
    clock = ManualClock()
    pace = ControlRate(10, clock, None)
    for _ in range(5):
        pace()
    assert clock.monotonic() == 0 and pace.late == []


def test_a_wait_that_is_never_exact_adds_up_to_no_drift():
    clock, began = ManualClock(), []
    late = itertools.cycle((0.0, 0.0003, 0.002, 0.0001))
    pace = ControlRate(100, clock, lambda seconds: clock.advance(seconds + next(late)))
    for _ in range(1001):
        pace()
        began.append(clock.monotonic())
    assert pace.missed == 0
    assert all(-1e-9 < at - 0.01 * k < 0.0021 for k, at in enumerate(began))


def test_on_the_machines_clock_no_step_is_early():
    """How late one may be is the machine's affair (`make bench`: loop.jitter_p99_ms)."""
    clock = SystemClock()
    pace, started = ControlRate(100, clock, threading.Event().wait), clock.monotonic()
    for _ in range(51):
        pace()
    assert clock.monotonic() - started >= 0.01 * 50 - 1e-3
    assert len(pace.late) == 51
