"""Every message of the planner is given the facts that its text names, wherever it is made."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter

import pytest

from worldfs.base.messages import planner_messages
from worldfs.planning import planner
from worldfs.planning.planner import RefusedIntent, interpret

from .conftest import named_scene

MESSAGES = {
    code: row for rows in vars(planner_messages).values() if isinstance(rows, dict)
    for code, row in rows.items() if isinstance(code, str) and code.startswith("planner.")
}  # fmt: skip
MAKERS = ("NotUnderstood", "coded", "say", "_asked")
# What `interpret` gives to every refusal, and the noun resolver to every question about what is meant.
ALWAYS = {"NotUnderstood": {"said", "here", "hint", "names"}, "_asked": {"said", "here", "hint", "names", "what"}}


def fields(code: str) -> set[str]:
    return {name.partition(".")[0].partition("[")[0] for text in MESSAGES[code] for _, name, *_ in Formatter().parse(text) if name}  # noqa: E501  # fmt: skip


def made() -> list[tuple[str, str, set[str], bool]]:
    """(where, code, facts given, whether more are given that no reader of the source knows) of every message."""
    found = []
    for path in sorted(Path(planner.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            options = node.args[0]
            codes = [one.value for one in ast.walk(options) if isinstance(one, ast.Constant)]
            if name not in MAKERS or not isinstance(options, ast.Constant | ast.IfExp):
                continue
            given = {key.arg for key in node.keywords if key.arg} | ALWAYS.get(name, set())
            open_end = any(key.arg is None for key in node.keywords)
            found += [
                (f"{path.name}:{node.lineno}", code, given, open_end)
                for code in codes if isinstance(code, str) and code in MESSAGES
            ]  # fmt: skip
    return found


def test_every_message_of_the_planner_is_given_its_facts():
    found = made()
    assert len(found) > 150
    assert [
        (at, code, fields(code) - given) for at, code, given, more in found if not more and fields(code) - given
    ] == []


@pytest.mark.parametrize(
    ("text", "things", "box"),
    [
        ("put the other toys in the toy box", ("toy car", "ball"), "toy box"),
        ("don't touch the ball, put the other toys in the toy box", ("toy car", "ball"), "toy box"),
        ("put the other toys in the toy box", ("ball",), "toy box"),
        ("put the other cups in the box", ("ball",), "box"),
        ("别动球，把其他玩具放进玩具箱", ("玩具车", "球"), "玩具箱"),
        ("把其他玩具放进玩具箱", ("球",), "玩具箱"),
        ("把其他杯子放进箱子", ("球",), "箱子"),
    ],
)
def test_others_of_a_kind_that_no_name_tells_are_asked_about(text, things, box):
    found = interpret(text, named_scene(things, (box,)))
    assert isinstance(found, RefusedIntent) and found.kind in ("ambiguous", "missing"), found
