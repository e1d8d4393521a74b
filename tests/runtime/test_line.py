"""Lines give what `schedule.choose` gives over everything that waits, looking only at their heads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.clock import stamp
from worldfs.base.model import Job, JobStatus, Order
from worldfs.runtime.job_schedule import choose, rank
from worldfs.runtime.ready_queue import ReadyQueue

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def job(id, node="a", *, priority="normal", after=None):
    status = JobStatus(
        accepted_at=stamp(NOW), not_before="" if after is None else stamp(NOW + timedelta(seconds=after))
    )
    return Job(Order(id, node, "op", created_at=stamp(NOW), priority=priority), status)


_step = st.tuples(
    st.sampled_from(["add", "drop", "choose", "pass"]), st.sampled_from("abc"), st.sampled_from(["high", "low"]),
    st.none() | st.integers(0, 9), st.sets(st.sampled_from("abc")),
)  # fmt: skip


_EMPTIED = [("add", "a", "high", None, set()), ("add", "b", "high", None, set()), ("drop", "a", "high", None, set())]


@example(
    [
        *_EMPTIED,
        ("add", "c", "high", None, set()),
        *[("add", "a", "high", None, set())] * 9,
        ("choose", "a", "high", None, set()),
    ]
)
@given(st.lists(_step, max_size=40))
def test_a_line_chooses_as_the_pure_function_does(steps):
    lines, here, now = ReadyQueue(), {}, NOW
    for number, (what, node, priority, after, busy) in enumerate(steps):
        if what == "add":
            new = job(f"j{number}", node, priority=priority, after=after)
            here[new.id] = new
            lines.add(new)
        elif what == "drop" and here:
            gone = here.pop(sorted(here)[number % len(here)])
            lines.drop(gone)
            lines.drop(gone)  # twice does nothing
        elif what == "pass":
            now += timedelta(seconds=after or 0)
        else:
            table = {name: sorted((j for j in here.values() if j.order.node == name), key=rank) for name in "abc"}
            running = dict.fromkeys(busy)
            assert lines.choose(running, now, lambda name: name != "b") == choose(
                table, running, now, able=lambda name: name != "b"
            )


def test_the_next_moment_is_that_of_who_still_waits():
    lines = ReadyQueue()
    first, second = job("first", after=1), job("second", after=5)
    lines.add(first)
    lines.add(second)
    lines.drop(first)
    assert lines.next_due() == NOW + timedelta(seconds=5)
    lines.drop(replace(second))
    assert lines.next_due() is None and lines.choose({}, NOW + timedelta(hours=1), lambda node: True) == []
