"""Workspaces of the generations before us: opened as they are, run, and written back in their own form."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")

RUN = {"q1_franka": "0123456789ab", "page_v1": "act_001", "runtime_beside_page": "act_001"}
OPENED = (*RUN, "notes", "empty")


def lost(before: str, after: str) -> list[str]:
    """Lines that are not there any more as they were."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), n=0)
    return [line[1:] for line in lines if line.startswith("-") and not line.startswith("---")]


@pytest.mark.parametrize("name", OPENED)
def test_it_opens_and_reads_well_and_stays_as_it_is(found: Callable, name: str) -> None:
    place = found(name)
    before = place.bytes()
    assert place.paos("check").code == 0
    assert place.paos("status").code == 0
    assert "franka_001" in place.paos("cat", "ROBOTS.md").out
    assert place.bytes() == before


@pytest.fixture(scope="module", params=RUN)
def ran(request, found):
    place = found(request.param)
    place.name, place.before = request.param, {file.name: place.text(file.name) for file in place.root.iterdir()}
    place.said = place.up()
    return place


def test_its_pending_action_runs_on_the_real_body(ran) -> None:
    assert ran.said.code == 0
    assert ran.entry(RUN[ran.name])["status"] == "completed"
    [job] = ran.ended().values()
    assert job.status.outcome.evidence["object_moved"] > 0.1
    found = ran.paos("--json", "check").values[0]["findings"]
    assert {item["code"] for item in found} <= {"DRIVER_MISSING"}


def test_the_sheet_is_written_back_in_its_own_form(ran) -> None:
    gone = lost(ran.before["ACTION.md"], ran.text("ACTION.md"))
    assert gone
    for line in gone:
        assert re.search(r'"status": "pending"|"created_at"|"why"|"params": \{\}', line), line
    kept = {
        "q1_franka": ("result", "reasoning"),
        "page_v1": ("result", "why"),
        "runtime_beside_page": ("result", "status"),
    }
    assert set(kept[ran.name]) <= set(ran.entry(RUN[ran.name]))
    if ran.name == "q1_franka":
        assert isinstance(ran.entry(RUN[ran.name])["result"], str)
        assert "action_id" not in ran.text("ACTION.md")
        assert ran.entry("a1b2c3d4e5f6")["result"] == "Arrived."
        assert ran.text("ACTION.md").endswith("A remark of the operator.\n")
    if ran.name == "page_v1":
        assert ran.text("ACTION.md").endswith("Do not touch the vase.\n")
        assert list(ran.value("ACTION.md")) == ["queue", "x_shift"]


def test_the_world_is_written_back_in_its_own_form(ran) -> None:
    world = ran.value("ENVIRONMENT.md")
    if ran.name == "q1_franka":
        assert world["schema_version"] == "PhyAgentOS.environment.v1"
        apple = world["objects"]["red_apple"]
        node = next(node for node in world["scene_graph"]["nodes"] if node["id"] == "n_apple")
        assert apple["position"]["z"] == pytest.approx(100 * node["center"]["z"], abs=0.1)  # centimetres beside metres
        assert node["center"]["z"] > 0.15
        assert (apple["ripeness"], node["track_id"]) == (0.9, 4)
        assert (apple["state"], apple["location"]) == ("fresh", "franka_001")  # "fresh" is no word of a place
        assert {"source", "target", "relation"} <= set(world["scene_graph"]["edges"][0])
        robot = world["robots"]["franka_001"]
        assert (robot["holding"], robot["arm_state"], robot["gripper_state"]["width"]) == ("red_apple", "ready", 0.08)
        assert robot["connection_state"]["port"] == 9000
        for key in ("map", "tf", "active_watchdog"):
            assert f'"{key}": ' + ran.before["ENVIRONMENT.md"].split(f'"{key}": ')[1].split("\n")[0] in ran.text(
                "ENVIRONMENT.md"
            )
        assert "请勿手改" in ran.text("ENVIRONMENT.md")
        assert ran.text("ENVIRONMENT.md").endswith("Notes below the block stay.\n")
    if ran.name == "page_v1":
        assert world["schema_version"] == "v1"
        assert "robots" not in world
        assert (world["robot"]["holding"], world["robot"]["firmware"]) == ("apple_01", "4.2")
        assert list(world["scene_graph"]) == ["nodes"]  # v1 has no edges
        assert "perception" not in world
        assert world["objects"][0]["name"] == "红苹果"
    if ran.name == "runtime_beside_page":
        assert world["schema_version"] == "PhyAgentOS.environment.v2"
        assert "robots" not in world
        apple, cup = world["objects"]["apple_0"], world["objects"]["cup_0"]
        assert apple["pose"]["position"][2] > 0.15
        assert (apple["bbox_2d"], apple["identity"], apple["confidence"]) == ([10, 20, 50, 60], {"track": 3}, 0.91)
        assert cup == {"label": "cup", "confidence": 0.5, "bbox_2d": [1, 2, 3, 4]}  # nobody knows where it is
        assert world["targets"]["real_franka"]["enabled"] is False
        assert world["perception"]["runs"]["run_1"]["pipeline"] == ["grounding", "depth"]


def test_what_nobody_had_to_say_anything_about_is_byte_for_byte_the_same(ran) -> None:
    for name in ("TASK.md", "LESSONS.md", "EMBODIED.md"):
        if name in ran.before:
            assert ran.text(name) == ran.before[name], name


def test_a_lesson_goes_into_a_file_of_another_form_and_removes_nothing(found: Callable) -> None:
    for name in ("q1_franka", "runtime_beside_page", "notes"):
        place = found(name)
        before = place.text("LESSONS.md")
        thing = {"notes": "vase_01"}.get(name, "no_such_thing")
        if name == "notes":
            place.queue({"action_id": "a", "action_type": "pick_up", "params": {"object_id": thing}})
        else:
            key = "target" if name == "q1_franka" else "object_id"
            old = "red_apple" if name == "q1_franka" else "apple_0"
            sheet = place.text("ACTION.md")
            place.put("ACTION.md", re.sub(rf'"{key}":\s*"{old}"', f'"{key}": "{thing}"', sheet))
        assert place.up().code == 0
        assert lost(before, place.text("LESSONS.md")) == [], name
        [new] = [lesson for lesson in place.lessons() if thing in lesson and "**Critic Rejection**" in lesson]
        assert re.match(r"## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d — ", new)
        assert place.paos("lessons", thing).out.strip()


def test_windows_line_ends_stay(found: Callable) -> None:
    place = found("page_v1")
    for name in ("ACTION.md", "ENVIRONMENT.md"):
        (place.root / name).write_bytes(place.text(name).replace("\n", "\r\n").encode())
    assert place.up().code == 0
    for name in ("ACTION.md", "ENVIRONMENT.md"):
        text = place.text(name)
        assert text.count("\n") == text.count("\r\n") > 10, name
    assert place.entry("act_001")["status"] == "completed"


def test_prose_alone_is_no_queue_and_stays(found: Callable) -> None:
    place = found("notes")
    before = {
        name: place.text(name) for name in ("ACTION.md", "TASK.md", "LESSONS.md", "EMBODIED.md", "ENVIRONMENT.md")
    }
    assert place.up().code == 0
    assert place.ended() == {}
    for name in ("ACTION.md", "TASK.md", "LESSONS.md", "EMBODIED.md"):
        assert place.text(name) == before[name], name
    assert lost(before["ENVIRONMENT.md"], place.text("ENVIRONMENT.md")) == []  # the body adds what it sees below
    said = place.do("pick up the apple")
    assert said.code == 1
    assert "put the body's profile into EMBODIED.md" in said.out


def test_five_files_of_no_bytes_are_an_empty_world_that_works(found: Callable) -> None:
    place = found("empty")
    said = place.do("put the apple in the basket")
    assert said.code == 0, said
    assert place.where("apple_01") == {("in", "basket_01")}
    assert "Max Reach" in place.text("EMBODIED.md")
    assert "# Task" in place.text("TASK.md")


@pytest.mark.parametrize("name", ["q1_franka", "page_v1"])
def test_an_instruction_is_carried_out_in_a_foreign_workspace(found: Callable, name: str) -> None:
    place = found(name)
    assert place.up().code == 0
    assert place.do("put the apple on the table").code == 0
    assert place.paos("check").code == 0
    if name == "q1_franka":
        assert {"source": "n_apple", "target": "n_table", "relation": "ON"} in place.value("ENVIRONMENT.md")[
            "scene_graph"
        ]["edges"]
        assert "action_id" not in place.text("ACTION.md")
        assert "# Active Task" in place.text("TASK.md") or "# Task" in place.text("TASK.md")


def test_a_foreign_world_whose_orders_are_all_refused_keeps_every_byte(found: Callable) -> None:
    place = found("q1_fleet")
    before = {name: place.text(name) for name in ("ENVIRONMENT.md", "EMBODIED.md")}
    assert place.up().code == 0
    ended = place.ended()
    assert len(ended) == 4
    assert {str(job.status.outcome.cause) for job in ended.values()} == {"rejected"}
    assert {job.status.outcome.code for job in ended.values()} == {"OP_NOT_IN_PROFILE", "CRITIC_REFUSED"}
    assert {name: place.text(name) for name in before} == before
    found = place.paos("--json", "check").values[0]["findings"]
    assert [item["found"] for item in found if item["code"] == "ACTION_NOT_LISTED"] == [
        "pythonpath, below Driver config fields:",
        "interface, below Driver config fields:",
    ]
    assert place.up().code == 0
    assert {name: place.text(name) for name in before} == before
