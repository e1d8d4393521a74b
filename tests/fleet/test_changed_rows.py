"""A row of ORCHESTRATOR.md that was changed or removed makes no second mission, and loses none; people are told."""

from __future__ import annotations

import pytest


def alerts(fleet) -> set[str]:
    return {found.code for found in fleet.alerts.values() if found is not None}


@pytest.fixture
def waiting(fleet):
    fleet.add("m0", text="fetch the cup", robot="r1")
    fleet.settle()
    fleet.add("m1", text="go to the dock", requires=("mobile",), robot="r1")
    fleet.add("m2", text="go to the press", robot="r2", after=("m0",))
    fleet.settle()
    assert (fleet.state("m0"), fleet.state("m1")) == ("running", "queued")
    return fleet


@pytest.mark.parametrize(("old", "new"), [("go to the dock", "go to the bay"), ("mobile", "manipulation"),
                                          ("robot: r1", "robot: r2"), ("mobile + robot: r1", "mobile")])  # fmt: skip
def test_a_changed_row_makes_no_second_mission(waiting, old, new):
    page = waiting.page()
    assert old in page
    waiting.write(page.replace(old, new))
    waiting.settle()
    assert sorted(waiting.files.open_ids()) == ["m0", "m1", "m2"]
    assert alerts(waiting) == {"MISSION_ROW_CHANGED"}
    assert waiting.page().count("go to the dock") == page.count("go to the dock") and "robot: r1" in waiting.page()
    (said,) = [found for found in waiting.alerts.values() if found is not None]
    assert "paos mission cancel m1" in said.fix


def test_a_removed_row_cancels_nothing_and_comes_back_with_a_word(waiting):
    page = waiting.page()
    waiting.write("".join(line for line in page.splitlines(keepends=True) if "go to the dock" not in line))
    waiting.settle()
    assert waiting.state("m1") == "queued" and "go to the dock" in waiting.page()
    assert alerts(waiting) == {"MISSION_ROW_REMOVED"}


def test_a_changed_row_of_a_mission_that_has_begun_meanwhile_makes_no_other(waiting):
    page = waiting.page()
    waiting.robots.end("m0")
    waiting.settle()
    assert waiting.state("m2") == "running"
    waiting.write(page.replace("go to the press", "go to the bay"))
    waiting.settle()
    assert sorted(waiting.files.open_ids()) == ["m1", "m2"]
    assert "MISSION_ROW_CHANGED" in alerts(waiting)


def test_a_new_row_names_the_only_robot_that_may_do_it(waiting):
    line = next(line for line in waiting.page().splitlines() if "go to the dock" in line)
    when = line.split("|")[4].strip()
    again = line.replace("go to the dock", "go to the gate").replace(when, "tonight")
    waiting.write(waiting.page().replace(line, f"{line}\n{again}"))
    waiting.settle()
    (new,) = [id for id in waiting.files.open_ids() if id not in ("m0", "m1", "m2")]
    order = waiting.files.load(new).order
    assert (order.text, order.robot, order.requires) == ("go to the gate", "r1", ("mobile",))
    assert alerts(waiting) == set()
