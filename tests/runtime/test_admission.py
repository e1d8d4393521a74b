"""What is refused without knowing the body: unknown nodes, unknown dependencies, circles."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.messages import render
from worldfs.base.model import Job, JobStatus, Order
from worldfs.runtime.admission import admit, has_cycle, means_stop


def order(id, *others, node="arm"):
    return Order(id, node, "move_to", depends_on=others)


def table(*orders):
    return {item.id: Job(item, JobStatus()) for item in orders}


def test_a_known_node_and_known_dependencies_pass():
    assert admit(order("b", "a"), {"arm"}, {"a"}.__contains__) == []


def test_every_finding_is_told_at_once_and_says_what_there_is():
    found = admit(order("b", "a", "c", node="leg"), {"arm"}, {"c"}.__contains__)
    assert [item.code for item in found] == ["NODE_UNKNOWN", "DEPENDENCY_FAILED"]
    assert "arm" in found[0].expected and found[0].found == "leg" and found[1].found == "a"


def test_waiting_for_oneself_is_refused():
    assert [item.code for item in admit(order("a", "a"), {"arm"}, {"a"}.__contains__)] == ["DEPENDENCY_FAILED"]


def test_a_circle_through_others_is_seen():
    a, b, c = order("a", "b"), order("b", "c"), order("c", "a")
    assert has_cycle(c, table(a, b, c))
    assert not has_cycle(order("d", "a"), table(a, b, order("c")))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_orders_that_only_wait_for_earlier_ones_are_in_no_circle(pairs):
    needs = {n: {low for low, high in pairs if high == n and low < n} for n in range(10)}
    jobs = table(*(order(str(n), *map(str, sorted(needs[n]))) for n in range(10)))
    assert not any(has_cycle(job.order, jobs) for job in jobs.values())


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        ({"params": {"object_id": "can\ud800"}}, "half of a character (U+D800)"),
        ({"params": {"\udfff": 1}}, "half of a character (U+DFFF)"),
        ({"params": {"pose": [float("nan"), 0, 0]}}, "NaN or Infinity"),
        ({"extra": {"task_description": "go\udc00"}}, "half of a character (U+DC00)"),
        ({"op": "move\ud834"}, "half of a character (U+D834)"),
    ],
)
def test_what_no_file_can_show_is_refused_by_name(bad, found):
    """It could never be approved: what is shown would be another order."""
    (finding,) = admit(replace(order("a"), **bad), {"arm"}, {}.__contains__, asks=True)
    assert (finding.code, finding.job) == ("SCHEMA_VALIDATION", "a")
    assert str(render(finding.found, "en")) == found


@pytest.mark.parametrize(
    "op",
    [
        "stop",
        "STOP",
        "emergency_stop",
        "e-stop",
        "halt",
        "stop_all",
        "急停",
        "停止",
        "pause",
        "emergency_brake",
        "cancel",
        "wait",
        "hold",
        "quit",
        "shutdown",
        "power off",
        "kill",
        "stand_still",
        "stop_motion",
        "disable",
        "暂停",
        "别动",
    ],
)
def test_an_order_that_is_to_stop_a_robot_is_refused_at_once(op):
    """It would wait behind the job that it is to end."""
    (finding,) = means_stop(replace(order("a"), op=op))
    assert finding.code == "OP_NOT_IN_PROFILE" and "no robot was stopped" in str(render(finding.found, "en"))
    assert "paos stop arm" in str(render(finding.fix, "en"))


@pytest.mark.parametrize("op", ["move_to", "place", "hold_out", "bend", "awaited", ""])
def test_another_order_is_not(op):
    assert means_stop(replace(order("a"), op=op)) == []
