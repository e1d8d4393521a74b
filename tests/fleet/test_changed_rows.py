"""A row of ORCHESTRATOR.md that was changed or removed makes no second mission, and loses none; people are told."""

from __future__ import annotations

import pytest

from worldfs.fleet.mission import MissionOrder


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


@pytest.mark.parametrize(("edits", "named"), [
    ({"go to the dock": "go to the bay"}, {"go to the bay": "m1"}),
    ({"go to the press": "go to the bay"}, {"go to the bay": "m2"}),
    ({"go to the press": "go to the bay", "go to the dock": "go to the gate"},
     {"go to the bay": "m2", "go to the gate": "m1"}),
    ({"go to the press | robot: r1": "go to the press | robot: r2"}, {"go to the press": "m2"}),
    ({"| go to the dock ": "", "go to the press": "go to the press now"}, {"go to the press now": "m2"}),
    ({"go to the dock": "go to the dock now", "| go to the press ": ""}, {"go to the dock now": "m1"}),
])  # fmt: skip
@pytest.mark.parametrize("order", [1, -1])
def test_the_alert_of_a_changed_row_names_its_own_mission_among_those_of_the_same_second(fleet, edits, named, order):
    fleet.add("m0", text="fetch the cup", robot="r1")
    fleet.settle()
    for id, text in [("m1", "go to the dock"), ("m2", "go to the press")][::order]:
        fleet.files.add(MissionOrder(id, text, text, robot="r1"))
    fleet.settle()
    page = fleet.page()
    for old, new in edits.items():
        if new:
            page = page.replace(old, new)
        else:
            page = "".join(line for line in page.splitlines(keepends=True) if not line.startswith(old))
    fleet.write(page)
    fleet.settle()
    changed = [found for found in fleet.alerts.values() if found is not None and found.code == "MISSION_ROW_CHANGED"]
    assert {found.field.rpartition(" / ")[2]: found.fix.split()[3].rstrip("`,") for found in changed} == named


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
    again = line.replace("go to the dock", "go to the gate").replace(when, "2026-11-29 18:30")
    waiting.write(waiting.page().replace(line, f"{line}\n{again}"))
    waiting.settle()
    (new,) = [id for id in waiting.files.open_ids() if id not in ("m0", "m1", "m2")]
    order = waiting.files.load(new).order
    assert (order.text, order.robot, order.requires) == ("go to the gate", "r1", ("mobile",))
    assert alerts(waiting) == set()


def rows(fleet):
    return [line for line in fleet.page().splitlines() if line.startswith("|")]


def queued_at(fleet, title="go to the dock"):
    (line,) = [line for line in rows(fleet) if title in line]
    return line, line.split("|")[4].strip()


@pytest.mark.parametrize("said", ["cancelled", "{} cancelled", "cancelled {}", "已取消：{}",
                                  "cancelled by Anna", "{} (cancelled)", "{} 已取消",
                                  "{} | cancelled"])  # fmt: skip
def test_a_row_that_says_cancelled_beside_its_time_cancels_its_mission(waiting, said):
    line, when = queued_at(waiting)
    waiting.write(waiting.page().replace(line, line.replace(when, said.format(when))))
    waiting.settle()
    assert waiting.state("m1") == "cancelled"
    assert sorted(waiting.files.open_ids()) == ["m0", "m2"] and alerts(waiting) == set()


@pytest.mark.parametrize("said", ["{} not yet", "hold", "{} cancelled if it rains", "tonight", "不要去", "{} | hold"])
def test_a_row_with_words_that_nothing_reads_repeats_no_mission(waiting, said):
    line, when = queued_at(waiting)
    waiting.write(waiting.page().replace(line, line.replace(when, said.format(when))))
    waiting.settle()
    assert sorted(waiting.files.open_ids()) == ["m0", "m1", "m2"] and waiting.state("m1") == "queued"
    assert alerts(waiting) <= {"MISSION_TIME", "FIELD_UNREAD"} and alerts(waiting)
    assert sum("go to the dock" in line for line in rows(waiting)) == 1


def test_an_old_row_whose_time_says_cancelled_repeats_no_ended_mission(waiting):
    line, when = queued_at(waiting, "go to the press")
    waiting.robots.end("m0")
    waiting.settle()
    waiting.robots.end("m2")
    waiting.settle()
    (other, _) = queued_at(waiting)
    waiting.write(waiting.page().replace(other, f"{other}\n{line.replace(when, f'{when} done by hand')}"))
    waiting.settle()
    assert sorted(waiting.files.open_ids()) == ["m1"] and alerts(waiting) == {"MISSION_TIME"}


def test_a_row_that_is_repeated_has_another_time(waiting):
    line, when = queued_at(waiting)
    waiting.write(waiting.page().replace(line, f"{line}\n{line.replace(when, '2026-11-30 08:00')}"))
    waiting.settle()
    assert len(waiting.files.open_ids()) == 4 and alerts(waiting) == set()


def test_a_status_that_nothing_reads_is_named_and_changes_nothing(waiting):
    page = waiting.page()
    waiting.write(page.replace("running", "on hold"))
    waiting.settle()
    assert waiting.state("m0") == "running" and alerts(waiting) == {"MISSION_ROW_CHANGED"}
    (said,) = [found for found in waiting.alerts.values() if found is not None]
    assert "paos mission pause m0" in said.fix
    waiting.write(waiting.page().replace("running", "running, cancelled by Anna").replace("running, ", ""))
    waiting.settle()
    assert waiting.state("m0") == "cancelled"


def test_a_row_that_is_cancelled_just_as_its_mission_begins_cancels_it(waiting):
    page, (line, when) = waiting.page(), queued_at(waiting, "go to the press")
    waiting.robots.end("m0")
    waiting.settle()
    assert waiting.state("m2") == "running"
    waiting.write(page.replace(line, line.replace(when, f"{when} cancelled")))
    waiting.settle()
    assert waiting.state("m2") == "cancelled"


def put_on_hold(fleet, times):
    """A person's rows with the words of a mission, which make none."""
    lines = fleet.page().splitlines(keepends=True)
    head = next(at for at, line in enumerate(lines) if "Queued At" in line)
    held = ["| go to the dock | robot: r1 | normal | on hold |\n"] * times
    fleet.write("".join([*lines[: head + 2], *held, *lines[head + 2 :]]))
    fleet.settle()


@pytest.mark.parametrize("first", ["rows", "mission"])
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("end", ["cancelled", "running"])
def test_rows_on_hold_stay_and_the_row_of_a_mission_of_the_same_words_leaves_with_it(fleet, first, times, end):
    fleet.add("m0", text="fetch the cup", robot="r1")
    fleet.settle()
    if first == "rows":
        put_on_hold(fleet, times)
    fleet.add("m1", text="go to the dock", robot="r1")
    fleet.settle()
    if first == "mission":
        put_on_hold(fleet, times)
    queue = [line for line in rows(fleet) if "go to the dock" in line]
    assert len(queue) == times + 1 and sum("on hold" in line for line in queue) == times
    if end == "cancelled":
        fleet.files.request("m1", "cancel", "operator")
    else:
        fleet.robots.end("m0")
    fleet.settle()
    assert fleet.state("m1") == end
    queue = [line for line in rows(fleet) if "go to the dock" in line and "normal" in line and "| r1 " not in line]
    assert len(queue) == times and all("on hold" in line for line in queue)


ROWS_OF = "| Mission | Requirements | Priority | Queued At |\n|---|---|---|---|\n"
HEAD = f"# Orchestrator Dashboard\n\n## Pending Queue\n\n{ROWS_OF}"


@pytest.mark.parametrize(("part", "rest"), [
    ("| go to (5, 0) |", " robot: r2 | normal | |\n"), ("| go to (5", ", 0) | robot: r2 | normal | |\n"),
    ("| go to (5, 0) | robot: r2 | normal | 10:00", ":00 |\n"), ("| go to (5, 0) | robot: r2 | normal |", " |\n"),
    ("|", " go to (5, 0) | robot: r2 | normal | |\n"),
])  # fmt: skip
@pytest.mark.parametrize("by", ["append", "rename"])
def test_a_row_whose_writer_has_not_finished_it_waits_and_then_is_one_mission(fleet, part, rest, by):
    fleet.write(HEAD + part)
    fleet.settle()
    assert not fleet.files.open_ids() and alerts(fleet) == {"MISSION_UNFINISHED"}
    fleet.add("m0", text="fetch the cup", robot="r1")
    fleet.settle()
    fleet.write((HEAD + part if by == "rename" else fleet.page()) + rest)
    fleet.settle()
    (new,) = [id for id in fleet.files.open_ids() if id != "m0"]
    order = fleet.files.load(new).order
    assert (order.text, order.robot) == ("go to (5, 0)", "r2") and not alerts(fleet)
    assert "fetch the cup" in fleet.page()


@pytest.mark.parametrize("row", ["| go to (5, 0) |\n", "| go to (5, 0) | robot: r2 |\n"])
def test_a_row_with_fewer_cells_than_the_table_is_named_and_stays_while_the_rest_goes_on(fleet, row):
    fleet.write(HEAD + row + "| go to (1, 1) | robot: r1 | normal | |\n\n## Decision Log\n")
    fleet.settle()
    (id,) = fleet.files.open_ids()
    assert fleet.files.load(id).order.text == "go to (1, 1)"
    assert alerts(fleet) == {"MISSION_UNFINISHED"} and row in fleet.page() and "| go to (1, 1) | r1 " in fleet.page()


def test_a_whole_row_needs_no_line_end(fleet):
    fleet.write(HEAD + "| go to (5, 0) | robot: r2 | normal | |")
    fleet.settle()
    (id,) = fleet.files.open_ids()
    assert fleet.files.load(id).order.robot == "r2" and not alerts(fleet)


@pytest.mark.parametrize("row", [" robot: r2 | normal | |", "| go to (5, 0) | robot: r2 | normal | |"])
def test_a_row_below_another_heading_is_named(fleet, row):
    fleet.add("m0", text="fetch the cup", robot="r1")
    fleet.settle()
    fleet.write(fleet.page() + row + "\n")
    fleet.settle()
    assert fleet.files.open_ids() == ["m0"] and alerts(fleet) == {"ROW_OUTSIDE"}
    assert row in fleet.page()


@pytest.mark.parametrize("cell", ["robot：r2", "Robot : r2", "机器人：r2"])
def test_the_only_robot_is_read_as_people_write_it(fleet, cell):
    fleet.write(HEAD + f"| go to (5, 0) | mobile + {cell} | normal | |\n")
    fleet.settle()
    (id,) = fleet.files.open_ids()
    order = fleet.files.load(id).order
    assert (order.robot, order.requires) == ("r2", ("mobile",))


@pytest.mark.parametrize(
    "cell", ["robot: r1 or r2", "robot: r1 + robot: r2", "robot: r1/r2", "robot: r1或r2", "robot:"]
)
def test_two_robots_are_refused_with_the_reason(fleet, cell):
    fleet.write(HEAD + f"| go to (5, 0) | {cell} | normal | |\n")
    fleet.settle()
    assert not fleet.files.open_ids() and alerts(fleet) == {"MISSION_ROBOT"}
