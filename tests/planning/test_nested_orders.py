"""A field beside an order inside an order is judged as one beside an entry of ACTION.md, at each depth."""

from __future__ import annotations

from typing import Any

import pytest

from worldfs.base.compound_orders import SEQUENCES
from worldfs.base.model import Operation, Order, Profile, Scene
from worldfs.planning import nested_orders
from worldfs.planning.critic import Critic

HOLDING: list[tuple[str, Any]] = [
    ("dry_run", True), ("hold", True), ("enabled", False), ("status", "cancelled"), ("status", "completed"),
    ("depends_on", ["x"]), ("only_if", "clear"), ("requires_approval", True), ("not_before", "2999-01-01T00:00:00Z"),
    ("velocity", 0.01), ("max_force", 1), ("avoid", ["cup"]), ("timeout_s", 5), ("robot_id", "other"),
    ("robot", "other"), ("node", "other"), ("priority", "low"), ("metadata", {"a": {"hold": True}}), ("x_if", "never"),
    ("暂停", True), ("reviewed", False), ("arguments", {"object_id": "knife"}), ("object_id", "knife"),
    ("gentle", True),
]  # fmt: skip
HARMLESS: list[tuple[str, Any]] = [
    ("action_id", "a"), ("id", "a"), ("description", "to the bowl"), ("reasoning", "it is first"),
    ("status", "pending"), ("robot_id", "arm"), ("x_shelf", 3), ("metadata", {"author": "x"}), ("title", "one"),
    ("备注", "早餐"),
    ("dry_run", False), ("enabled", True), ("only_if", ""), ("created_at", "2026-01-01T00:00:00Z"),
]  # fmt: skip
PICK: dict[str, Any] = {"action_type": "pick_up", "params": {"object_id": "cup"}}
PROFILE = Profile(ops=(Operation("strategy"), Operation("pick_up"), Operation("do_several")))


def order(op: str, **params: Any) -> Order:
    return Order("act", "arm", op, params)


def steps(entry: dict[str, Any]) -> list[Order]:
    inner = {"action_type": "strategy", "params": {"steps": [PICK, entry]}}
    return [
        order("strategy", steps=[entry]),
        order("strategy", name="steps", steps=[PICK, entry]),
        order("strategy", steps=[inner]),
        order("strategy", steps=[PICK, {"action_type": "strategy", "params": {"steps": [inner]}}]),
        order("do_several", actions=[PICK, entry]),
        order("do_several", plan={"first": {"then": [entry]}}),
    ]


def refusals(one: Order) -> list[str]:
    return [found.field for found in Critic().review(one, Scene(), PROFILE) if not found.warning]


@pytest.mark.parametrize(("name", "value"), HOLDING)
def test_what_may_hold_a_step_back_refuses_the_whole_order_and_is_named(name: str, value: Any) -> None:
    for one in steps({**PICK, name: value}):
        found = [*nested_orders.review_nested(one)]
        assert found and not any(finding.warning for finding in found), one
        assert all(finding.code in ("FIELD_UNREAD", "NODE_MISMATCH") for finding in found)
        assert any(finding.field.endswith(f"/{name}") for finding in found), found
        assert any(field.endswith(f"/{name}") for field in refusals(one))


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_what_only_tells_of_a_step_is_let_through(name: str, value: Any) -> None:
    for one in steps({**PICK, name: value}):
        assert [*nested_orders.review_nested(one)] == []


@pytest.mark.parametrize("entry", [PICK, {"op": "pick_up", "object_id": "cup"}, {"name": "wave"}])
def test_the_robot_of_the_parameters_is_the_robot_of_the_order(entry: dict[str, Any]) -> None:
    params = entry.get("params", {k: v for k, v in entry.items() if k not in ("op", "name")})
    for robot, refused in (("arm", False), ("other", True), (7, True), ("", False), (None, False)):
        one = {**entry, "params": {**params, "robot_id": robot}}
        found = [*nested_orders.review_nested(order("strategy", steps=[one]))]
        assert [finding.code for finding in found] == ["NODE_MISMATCH"] * refused
    assert "ACTION.md /params/robot_id" in refusals(order("pick_up", object_id="cup", robot_id="other"))
    assert "ACTION.md /params/robot_id" not in refusals(order("pick_up", object_id="cup", robot_id="arm"))


def test_a_movement_takes_no_parameters() -> None:
    for op in ("home", "wave", "open_gripper"):
        plain = order("strategy", steps=[{"action_type": op, "params": {"comment": "x"}}])
        assert [*nested_orders.review_nested(plain)] == []
        fast = order("strategy", steps=[{"action_type": op, "params": {"speed": 0.1}}])
        assert [finding.field for finding in nested_orders.review_nested(fast)] == [
            "ACTION.md /params/steps/0/params/speed"
        ]


def test_a_step_without_params_may_tell_of_itself() -> None:
    flat = {"action_type": "pick_up", "object_id": "cup", "description": "x", "action_id": "a", "status": "pending"}
    assert "ACTION.md params / description" not in refusals(order("strategy", steps=[flat]))
    assert any("velocity" in field for field in refusals(order("strategy", steps=[{**flat, "velocity": 0.1}])))
    second = {"action_type": "pick_up", "params": None, "parameters": {"object_id": "cup"}}
    assert not any("object_id" in field and "params" in field for field in refusals(order("strategy", steps=[second])))


@pytest.mark.parametrize("name", ["home", "wave", *SEQUENCES])
def test_a_strategy_leaves_nothing_out_that_it_names(name: str) -> None:
    both = order("strategy", name=name, object_id="cup", target="bowl", steps=[PICK])
    assert [*nested_orders.review_nested(both)]
    assert [*nested_orders.review_nested(order("strategy", name=name, comment="x"))] == []
