"""choose: pure, due first, then priority, then created_at; one job a node."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Job, JobStatus, Order
from worldfs.runtime.job_schedule import choose, rank

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def job(id, node="a", created="2026-01-01T00:00:00Z", priority="normal", not_before="", *, seq=0):
    return Job(
        Order(id, node, "move_to", created_at=created, priority=priority, seq=seq), JobStatus(not_before=not_before)
    )


def lines(*jobs):
    found = {}
    for item in sorted(jobs, key=rank):
        found.setdefault(item.order.node, []).append(item)
    return found


def test_high_goes_before_normal_and_medium_before_low():
    jobs = [job(word, priority=word) for word in ("low", "medium", "high")]
    assert [item.id for item in sorted(jobs, key=rank)] == ["high", "medium", "low"]


def test_the_earlier_created_goes_first_whatever_its_spelling_of_time():
    late, early = job("late", created="2026-01-01T10:00:00.5Z"), job("early", created="2026-01-01T11:00:00+02:00")
    assert choose(lines(late, early), {}, NOW) == [early]


def test_equal_times_keep_the_order_in_the_file():
    assert choose(lines(job("b", seq=0), job("a", seq=1)), {}, NOW)[0].id == "b"


def test_a_retry_that_is_not_due_lets_others_pass():
    waiting, other = job("first", not_before="2026-01-01T12:00:01Z"), job("second", created="2026-01-01T01:00:00Z")
    assert choose(lines(waiting, other), {}, NOW) == [other]


def test_what_is_not_ready_lets_others_pass():
    first, second = job("first"), job("second", seq=1)
    assert choose(lines(first, second), {}, NOW, lambda item: item.id != "first") == [second]


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.integers(0, 23), st.sampled_from(["high", "normal", "low"])), max_size=30
    ),
    st.sets(st.sampled_from("abcd")),
)
def test_never_two_jobs_of_one_node_and_never_one_of_a_busy_node(drawn, busy):
    jobs = [job(str(i), node, f"2026-01-01T{hour:02d}:00:00Z", word) for i, (node, hour, word) in enumerate(drawn)]
    table = lines(*jobs)
    chosen = choose(table, dict.fromkeys(busy), NOW)
    nodes = [item.order.node for item in chosen]
    assert len(nodes) == len(set(nodes)) and not set(nodes) & busy
    assert set(nodes) == set(table) - busy
    assert choose(table, dict.fromkeys(busy), NOW) == chosen  # pure: asked again, the same answer
