"""What a session's order says of its execution is read once, as types; what is unusable is left out."""

import pytest

from worldfs.base.model import Execution, Order, Routing, execution_of, routing_of


def order(**extra: object) -> Order:
    return Order("s1", "arm", "pick", {"instruction": "take it"}, extra=extra)


def test_an_order_that_says_nothing_leaves_everything_open():
    assert execution_of(Order("s1", "arm", "pick")) == Execution()
    assert routing_of(Order("s1", "arm", "pick")) == Routing()


def test_the_words_of_the_task_come_before_those_of_the_parameters():
    assert execution_of(order()).instruction == "take it"
    assert execution_of(order(task_description="put it down")).instruction == "put it down"


def test_execution_is_read_by_its_names_and_what_is_unusable_is_left_out():
    said = {"control_hz": 30, "max_steps": 12.0, "replan_every_steps": 4, "action_chunk_mode": "open_loop", "seed": 7}
    found = execution_of(order(execution=said | {"real_time": True}))
    assert found == Execution("take it", 30.0, 12, 4, "open_loop", 7, True)
    odd = {"control_hz": -1, "max_steps": True, "replan_every": "8", "seed": True, "real_time": "yes"}
    assert execution_of(order(execution=odd)) == Execution("take it")
    assert execution_of(order(execution=["no", "mapping"])) == Execution("take it")
    assert execution_of(order(execution={"replan_every": 3})).replan_every == 3


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"target_adapter": "Sim", "skill_runtime": "R"}, Routing("Sim", "R")),
        ({"target_adapter": 7}, Routing("", "", "7")),
        ({"target_adapter": ""}, Routing("", "", "nothing")),
        ("Sim", Routing()),
    ],
)
def test_routing_names_what_is_no_name(said, found):
    assert routing_of(order(routing=said)) == found
