"""What a person approves is shown whole: nothing in it is hidden, turned around, or commands the terminal."""

from __future__ import annotations

import pytest

from worldfs.world.approval_lines import approval_lines

STEP = {
    "op": "pick_up",
    "params": {"object_id": "can"},
    "request": {"task_description": "pour"},
    "sources": {"skill p": "12ab"},
    "places": {"can": {"x": 0.42, "y": 0.1}},
}


def lines(**change):
    item = {"plan": "0" * 16, "node": "arm", "asker": "planner", "orderer": "agent/rio", "purpose": "pick up the can"}
    return "\n".join(approval_lines([item | {"steps": [STEP | change.pop("step", {})]} | change], "paos"))


def test_the_whole_request_is_shown_and_who_ordered_it():
    said = lines()
    for part in (
        "planner, agent rio",
        "pick up the can",
        'object_id="can"',
        '"task_description": "pour"',
        "12ab",
        '"x": 0.42',
    ):
        assert part in said


@pytest.mark.parametrize(
    ("sign", "code"),
    [("\u202e", "\\u202e"), ("\u200b", "\\u200b"), ("\x1b", "\\u001b"), ("\U000e0041", "\\ue0041"), ("\n", "\\n")],
)
def test_a_sign_that_hides_or_turns_text_is_shown_as_its_code(sign, code):
    bad = f"tea{sign}dica"
    for said in (
        lines(step={"params": {"object_id": bad}}),
        lines(step={"request": {"task_description": bad}}),
        lines(purpose=bad),
        lines(step={"op": bad}),
    ):
        assert f"tea{code}dica" in said or (sign == "\n" and "tea\\u000adica" in said)
        assert f"tea{sign}dica" not in said


def test_chinese_is_shown_as_it_is():
    assert "把茶倒进杯子" in lines(purpose="把茶倒进杯子")
