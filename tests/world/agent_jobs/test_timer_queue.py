"""A callback is called on time, however its scheduling falls between the queue's look at the heap and its wait."""

from __future__ import annotations

import threading

from worldfs.base.clock import SystemClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.agent_jobs.timer_queue import TimerQueue

FAR_S = 1e6


class CrossedLooks(SystemClock):
    """While the queue's thread looks at the time, another thread begins to schedule; it waits for the queue's lock."""

    def __init__(self) -> None:
        self.queue = TimerQueue(self)
        self.called = threading.Event()
        self.other = threading.Thread(target=lambda: self.queue.schedule(0.0, self.called.set), daemon=True)
        self.queue._cond = OtherFirst(self)

    def monotonic(self) -> float:
        if self.other.ident is None and threading.current_thread() is self.queue._thread:
            self.other.start()
        return super().monotonic()


class OtherFirst(threading.Condition):
    """When the queue's thread lets go of the lock, that other thread has it next."""

    def __init__(self, clock: CrossedLooks) -> None:
        super().__init__()
        self.clock = clock

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)  # type: ignore[arg-type]  # what `with` gives
        if threading.current_thread() is self.clock.queue._thread:
            self.clock.other.join(PATIENCE_S)


def test_a_callback_scheduled_while_the_queue_looks_at_the_time_is_called() -> None:
    clock = CrossedLooks()
    clock.queue.schedule(clock.monotonic() + FAR_S, lambda: None)
    assert clock.called.wait(PATIENCE_S), "the queue slept through it"
    clock.queue.close()


def test_a_queue_that_ran_empty_or_is_closed_keeps_no_thread() -> None:
    queue = TimerQueue(SystemClock())
    for _ in range(3):  # the next callback starts another thread
        called = threading.Event()
        queue.schedule(0.0, called.set)
        assert called.wait(PATIENCE_S)
    queue.schedule(queue.clock.monotonic() + FAR_S, lambda: None)
    thread = queue._thread
    assert thread is not None
    queue.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
