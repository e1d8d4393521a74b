"""What TASK.md claims: true, false or unjudged, by the world and by the record, never by its own words."""

from __future__ import annotations

import pytest

from worldfs.base.messages import render
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.model import Relation, RobotState, Scene, Task, TaskStep, Thing
from worldfs.formats import task as page
from worldfs.planning.task_review import FALSE, UNJUDGED, findings, review

TABLE = Thing("table_01", "table", "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.2, 0.05), shape="table")
BASKET = Thing("basket_01", "basket", "container", (0.4, 0.4, 0.06), size=(0.36, 0.3, 0.12), shape="basket")


def world(where: str = "on table_01", holding: str | None = None) -> Scene:
    relation, of = where.split()
    apple = Thing("apple_01", "apple", "fruit", (0.5, 0.1, 0.03), size=(0.06,) * 3, shape="sphere")
    edges = () if holding else (Relation("apple_01", relation, of),)
    return Scene((RobotState("arm", (0.0, 0.0, 0.0), holding=holding),), (apple,), (TABLE, BASKET), edges)


def claims(*rows: str, goal: str = "", scene: Scene | None = None, language: str = "en", **more):
    steps = tuple(TaskStep(str(n), *row.split(" | ")[:1], status=row.split(" | ")[1]) for n, row in enumerate(rows, 1))
    return review(Task(goal, steps, language), scene or world(), **more)


IN = world("in basket_01")


@pytest.mark.parametrize(
    ("rows", "goal", "scene", "verdicts"),
    [
        (["Place apple in basket | done"], "", world(), ["false"]),
        (["Place apple in basket | done"], "", IN, ["true"]),
        (["Place apple in basket | pending"], "put the apple in the basket", world(), []),
        (["Grasp apple | done"], "", world(), ["unjudged"]),
        (["Grasp apple | done"], "pick up the apple", world(), ["unjudged", "false"]),
        (["Grasp banana | done"], "", world(), ["false"]),
        (["Grasp apple | done"], "", world(holding="apple_01"), ["true"]),
        (["Grasp apple | done", "Place apple in basket | done"], "", IN, ["true", "true"]),
        (["Grasp apple | done", "Place apple in basket | done"], "", world(), ["unjudged", "false"]),
        (["Place apple in basket | done", "Place apple on table | done"], "", world(), ["unjudged", "true"]),
        (["Set apple aside on table | done"], "", world(), ["true"]),
        (["Place banana in basket | done"], "", world(), ["false"]),
        (["Feed the cat | done"], "", world(), ["unjudged"]),
        (["Look at apple | done"], "", world(), ["unjudged"]),
        (["Go home | done"], "", world(), ["unjudged"]),
        (["Wave | done"], "", world(), ["unjudged"]),
        (["Move to [0.4, 0.1, 0.4] | done"], "", world(), ["unjudged"]),
        (["Open gripper | done"], "", world(), ["unjudged"]),
        (["Feed the cat | done"], "put the apple in the basket", world(), ["unjudged", "false"]),
        (["Feed the cat | done"], "put the apple in the basket", IN, ["unjudged", "true"]),
        (["Feed the cat | done", "Rest | pending"], "put the apple in the basket", world(), ["unjudged"]),
        (["抓取苹果 | done", "将苹果放入篮子 | done"], "把苹果放进篮子里", world(), ["unjudged", "false", "false"]),
        (["将苹果暂放到桌子上 | done"], "", world(), ["true"]),
    ],
)
def test_a_row_is_what_the_world_shows(rows, goal, scene, verdicts):
    assert [c.verdict for c in claims(*rows, goal=goal, scene=scene)] == verdicts


def test_what_the_page_shows_no_more_is_borne_out_by_the_record():
    asked = []

    def happened(op, word, support):
        asked.append((op, word, support))
        return True

    found = claims(
        "Place apple in basket | done", "Go home | done", goal="put the apple in the basket", happened=happened
    )
    assert asked == [("place", "apple_01", "basket_01"), ("strategy", "home", "")]
    assert [(c.verdict, c.past) for c in found] == [("true", True), ("true", True), ("false", True)]
    assert [f.warning for f in findings(found)] == [True]  # it was so, and is no more


@pytest.mark.parametrize(
    ("line", "wrong"),
    [("9/5 (180 %)", True), ("1/2 (50%)", False), ("2/2 (100%)", True), ("1/2 (80%)", True), ("1/2", False)],
)
def test_the_progress_line_is_held_against_the_table(line, wrong):
    text = "# Task: x\n\n| Sub-Task | Action | Status |\n|---|---|---|\n| 1 | Rest | done |\n| 2 | Rest | pending |\n"
    data = f"{text}\n**Overall Progress**: {line}\n".encode()
    found = review(page.read(data), world(), progress=page.progress(data))
    assert [c.where for c in found if c.verdict == "false"] == (["progress"] if wrong else [])


def test_findings_name_the_claim_the_fact_and_what_nobody_can_judge():
    [false, unjudged] = findings(claims("Place apple in basket | done", "Feed the cat | done"))
    assert (false.code, false.field, false.warning) == (FALSE, "TASK.md row 1", False)
    assert "the apple is on the table" in false.found
    assert (unjudged.code, unjudged.warning) == (UNJUDGED, True)
    assert "row 2 “Feed the cat”" in unjudged.found
    [chinese] = findings(claims("将苹果放入篮子 | done", language="zh"))
    assert "苹果在桌子上" in render_finding(chinese, "zh").found


def test_a_table_without_actions_is_judged_by_the_names_of_its_rows_and_no_claim_is_empty():
    text = "# Task: x\n\n| Sub-Task | Status |\n|---|---|\n| Place apple in basket | done |\n| 2 | done |\n"
    false, unjudged = review(page.read(text.encode()), world())[:2]
    assert (false.verdict, false.text) == ("false", "Place apple in basket") and "on the table" in false.found
    assert (unjudged.verdict, render(unjudged.text, "en")) == ("unjudged", "no action is named")
    assert "row 2 “no action is named”" in findings([unjudged])[0].found


@pytest.mark.parametrize("goal", ["undo", "put everything back where it was", "撤销"])
def test_a_goal_that_undoes_what_was_before_is_as_true_as_its_rows(goal):
    """What there was to undo, the page no longer shows: that is no claim that the world contradicts."""
    rows = ("Place apple in basket | done",)
    assert [c.verdict for c in claims(*rows, goal=goal, scene=IN)] == ["true", "true"]
    assert [c.verdict for c in claims(*rows, goal=goal)] == ["false", "unjudged"]


def test_a_grasp_is_the_grasp_of_the_robot_that_the_row_names():
    scene = world(holding="apple_01")
    scene = Scene((*scene.robots, RobotState("arm_2")), scene.objects, scene.furniture, scene.relations)
    rows = [TaskStep(str(n), "Grasp apple", robot, "done") for n, robot in enumerate(("arm", "arm_2", ""), 1)]
    assert [claim.verdict for claim in review(Task("", tuple(rows)), scene)] == ["true", "unjudged", "true"]
