"""Lessons: made, found, heeded."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import (
    Cause,
    Finding,
    Lesson,
    Operation,
    Order,
    Outcome,
    Relation,
    RobotState,
    Scene,
    Thing,
)
from worldfs.formats import embodied, lessons_file
from worldfs.planning.critic import Critic
from worldfs.planning.lesson_notes import action_text, avoid, note_for, note_for_failure, note_for_lost, search

FIXTURES = Path(__file__).parents[1] / "fixtures"
PAGE = embodied.read((FIXTURES / "profiles" / "page_en.md").read_bytes())
EN = (FIXTURES / "lessons" / "page_en.md").read_bytes()
ZH = (FIXTURES / "lessons" / "page_zh.md").read_bytes()
WHEN = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
APPLE = Thing("apple_01", "Red Apple", "fruit", (1.2, 0.75, 0.8))
SCENE = Scene((RobotState("franka_001", (0.5, 0.0, 0.0), gripper="open"),), (APPLE,))
PICK = Order("act_002", "franka_001", "pick_up", {"object_id": "apple_01"})


def refused(order: Order = PICK, language: str = "en", scene: Scene = SCENE) -> Lesson:
    return note_for(order, Critic().review(order, scene, PAGE), WHEN, language)


def test_a_refusal_becomes_a_lesson_in_the_specifications_form() -> None:
    note = refused()
    assert note.title == "Grasp Failed: Object Out of Reach"
    assert note.action == "pick_up apple_01"
    assert "[1.2, 0.75, 0.8] is 1.301 m from the base" in note.reason
    assert "at most 0.855 m" in note.reason
    assert note.rejection == "EMBODIED.md Physical Constraints validation failed (PROFILE_LIMIT)"
    assert note.fix == "bring it within 0.855 m of the base, or move the robot closer"
    assert note.at == "2026-11-21 12:00:05"


def test_a_chinese_workspace_gets_a_chinese_lesson() -> None:
    after = lessons_file.add(ZH, refused(language="zh"), language="zh").decode()
    entry = after.split("\n## ")[1]
    assert entry.startswith(
        "2026-11-21 12:00:05 — 抓取失败：物体超出臂展\n- **动作**: pick_up apple_01\n- **原因**: apple_01 的位置"
    )
    assert "- **Critic 拒绝**: EMBODIED.md Physical Constraints 校验失败 (PROFILE_LIMIT)\n" in entry


def test_one_refusal_is_one_lesson_and_the_same_again_is_counted() -> None:
    data = lessons_file.add(EN, refused())
    again = lessons_file.add(data, replace(refused(), at="2026-11-21 12:09:00"))
    assert len(lessons_file.read(again)) == len(lessons_file.read(EN)) + 1
    assert lessons_file.read(again)[0].count == 2


def test_a_missing_sensor_leaves_a_lesson_beside_those_that_are_there() -> None:
    blind = replace(PAGE, sensors=())
    order = Order("1", "franka_001", "target_navigation", {"target_label": "apple_01"})
    note = note_for(order, Critic().review(order, SCENE, blind), WHEN)
    assert (note.title, note.action) == ("Navigation Failed: Sensor Missing", "target_navigation apple_01")
    assert EN.decode().split("\n", 2)[2] in lessons_file.add(EN, note).decode()


def test_warnings_are_no_reason() -> None:
    assert "mass" not in refused().reason


def test_lost_and_failed_jobs_leave_lessons_in_both_languages() -> None:
    assert note_for_lost(PICK, WHEN).title == "Grasp Lost: Outcome Unknown"
    assert "LOST" in note_for_lost(PICK, WHEN, "zh").rejection
    outcome = Outcome.failure(Cause.ERROR, "GRASP_MISSED", "only one finger touched\nat 3 mm")
    note = note_for_failure(PICK, outcome, WHEN)
    assert (note.title, note.reason) == ("Grasp Failed: Grasp Missed", "only one finger touched at 3 mm")
    assert "GRASP_MISSED" in note_for_failure(PICK, outcome, WHEN, "zh").title


def test_reach_finds_the_lessons_of_what_was_out_of_reach() -> None:
    notes = [*lessons_file.read(EN), refused(), Lesson("Moved Well", "move_to", "unreachable by rule")]
    found = [note.title for note, _ in search(notes, "reach")]
    assert set(found) == {"Grasp Failed: Object Out of Workspace", "Grasp Failed: Object Out of Reach"}
    assert search(notes, "exceeds Franka max reach")[0][0].title == "Grasp Failed: Object Out of Workspace"


def test_chinese_words_find_chinese_lessons() -> None:
    notes = [*lessons_file.read(EN), *lessons_file.read(ZH)]
    assert [note.title for note, _ in search(notes, "臂展")] == ["抓取失败:物体超出工作空间"]
    assert [note.title for note, _ in search(notes, "椅")] == ["导航碰撞:路径被障碍物阻断"]
    assert "臂展" in search(notes, "最大臂展 超出")[0][0].reason


def test_words_are_found_by_their_stem_and_ids_by_their_parts() -> None:
    notes = lessons_file.read(EN)
    assert [n.title for n, _ in search(notes, "grasping")] == ["Grasp Failed: Object Out of Workspace"]
    assert [n.action for n, _ in search(notes, "obstacles")] == ["target_navigation to kitchen_counter"]
    assert [n.action for n, _ in search(notes, "kitchen")] == ["target_navigation to kitchen_counter"]
    assert [n.action for n, _ in search(notes, "apple_01")] == ["pick_up apple_01"]


def test_what_nothing_says_finds_nothing_and_odd_queries_do_no_harm() -> None:
    notes = lessons_file.read(EN)
    for query in ("zeppelin", "", '" OR 1=1 --', "*", "((", "\x00"):
        assert search(notes, query) == []
    assert search([], "reach") == []


def test_the_best_match_stands_first_and_the_limit_holds() -> None:
    many = [
        Lesson(f"Note {i}", "pick_up x", "a long reason " * 5 + "reach", at=f"2026-01-01 00:00:{i:02d}")
        for i in range(20)
    ]
    found = search([*many, Lesson("Out of Reach", "pick_up y")], "out of reach", 5)
    assert len(found) == 5
    assert found[0][0].title == "Out of Reach"
    assert found[1][0].title == "Note 19"


def test_one_of_a_thousand_lessons_is_found() -> None:
    notes = [replace(refused(), title=f"Lesson {i}", action=f"pick_up thing_{i}") for i in range(1000)]
    assert search(notes, "thing_77 reach", 1)[0][0].title == "Lesson 77"


def forbidding(notes: list[Lesson], order: Order = PICK, scene: Scene = SCENE, profile=PAGE) -> Lesson | None:
    """What refuses the order, after the lessons were written to LESSONS.md and read again."""
    data = b"# LESSONS\n"
    for note in notes:
        data = lessons_file.add(data, note)
    return avoid(lessons_file.read(data), order, scene, profile)


def test_the_very_order_that_failed_is_avoided_and_no_other() -> None:
    notes = lessons_file.read(lessons_file.add(EN, refused()))
    lesson = avoid(notes, PICK, SCENE, PAGE)
    assert lesson is not None
    assert lesson.title == "Grasp Failed: Object Out of Reach"
    assert avoid(notes, replace(PICK, params={"object_id": "apple_02"}), SCENE, PAGE) is None
    assert avoid(notes, replace(PICK, op="place", params={"target": "apple_01"}), SCENE, PAGE) is None


def test_a_lesson_says_while_what_it_holds_and_refuses_no_longer() -> None:
    note = refused()
    assert note.condition == (
        "apple_01 position = [1.2, 0.75, 0.8]; franka_001 base = [0.5, 0, 0]; franka_001 max_reach = 0.855"
    )
    moved = replace(SCENE, objects=(replace(APPLE, position=(0.9, 0.3, 0.3)),))
    driven = replace(SCENE, robots=(RobotState("franka_001", (1.0, 0.5, 0.5)),))
    longer = replace(PAGE, max_reach=1.5)
    assert forbidding([note]) is not None
    assert forbidding([note], scene=moved) is forbidding([note], scene=driven) is None
    assert forbidding([note], profile=longer) is forbidding([note], profile=None) is None
    other = replace(SCENE, robots=(*SCENE.robots, RobotState("arm_2", (0.5, 0.0, 0.0))))
    assert forbidding([note], replace(PICK, node="arm_2"), other) is None  # its limits are its own


def test_a_chinese_lesson_is_heeded_as_well() -> None:
    data = lessons_file.add(b"", refused(language="zh"), language="zh")
    assert "- **成立条件**: apple_01 position = " in data.decode()
    notes = lessons_file.read(data)
    assert avoid(notes, PICK, SCENE, PAGE) is not None
    assert avoid(notes, PICK, replace(SCENE, objects=(replace(APPLE, position=(0.9, 0.3, 0.3)),)), PAGE) is None


def test_a_lesson_of_an_unknown_object_ends_when_it_is_known() -> None:
    notes = [refused(scene=Scene(SCENE.robots, (replace(APPLE, id="pear_01"),)))]
    assert forbidding(notes, scene=Scene(SCENE.robots)) is not None
    assert forbidding(notes) is None


def test_a_lesson_of_a_full_gripper_holds_while_it_is_full() -> None:
    near = (replace(APPLE, position=(0.8, 0, 0)),)
    full = replace(SCENE, robots=(replace(SCENE.robots[0], holding="cup"),), objects=near)
    note = refused(scene=full)
    assert note.condition == "franka_001 holding = cup"
    assert forbidding([note], scene=full) is not None
    assert forbidding([note], scene=replace(full, robots=SCENE.robots)) is None


def test_one_that_is_refused_for_two_reasons_is_refused_while_either_holds() -> None:
    scene = replace(SCENE, robots=(replace(SCENE.robots[0], holding="cup"),))
    note = refused(scene=scene)
    assert " or " in note.condition
    assert forbidding([note], scene=SCENE) is not None  # the gripper is free, the apple is far
    assert forbidding([note], scene=replace(scene, objects=(replace(APPLE, position=(0.8, 0, 0)),))) is not None
    assert forbidding([note], scene=replace(SCENE, objects=(replace(APPLE, position=(0.8, 0, 0)),))) is None


def test_what_failed_underway_advises_and_never_refuses() -> None:
    ends = [
        (cause, code)
        for cause in (Cause.ERROR, Cause.TIMEOUT, Cause.CANCELLED, Cause.LOST)
        for code in ("GRASP_MISSED", "NAVIGATION_ABORTED", "EXECUTION_TIMEOUT", "CRITIC_REFUSED", "PROFILE_LIMIT", "")
    ]
    found = Critic().review(PICK, SCENE, PAGE)
    for cause, code in ends:
        for findings in ((), tuple(found)):
            outcome = Outcome.failure(cause, code, "at [1.2, 0.75, 0.8], status 6", findings=findings)
            assert forbidding([note_for_failure(PICK, outcome, WHEN)]) is None, (cause, code)
    assert forbidding([note_for_lost(PICK, WHEN), note_for_lost(PICK, WHEN, "zh")]) is None


def test_lessons_without_a_condition_advise() -> None:
    """The specification's own, older ones, and those of people."""
    q1 = lessons_file.read((FIXTURES / "lessons" / "q1.md").read_bytes())
    assert avoid(q1, Order("1", "desk", "pick_up", {"target": "vase"}), SCENE, PAGE) is None
    spec = lessons_file.read(EN)
    assert spec[1].action == "target_navigation to kitchen_counter"
    assert avoid(spec, Order("1", "go2", "target_navigation", {"target_label": "kitchen_counter"}), SCENE, PAGE) is None


def test_a_condition_that_a_person_wrote_holds_while_it_is_measured() -> None:
    text = "## Not the vase\n- **Action**: pick_up apple_01\n- **Holds While**: {}\n"
    for condition, refuses in (
        ("apple_01 on = table_01", True),
        ("apple_01 on = table_02", False),
        ("apple_01 status = ripe or franka_001 holding = nothing", True),
        ("apple_01 on = table_01; franka_001 holding = cup", False),
        ("always", False),
        ("apple_01 colour = red", False),
        ("nobody_7 holding = nothing", False),
        ("", False),
    ):
        notes = lessons_file.read(text.format(condition).encode())
        scene = replace(SCENE, relations=(Relation("apple_01", "on", "table_01"),))
        assert (avoid(notes, PICK, scene, PAGE) is not None) is refuses, condition


def test_an_order_in_one_line_holds_no_second_line() -> None:
    text = action_text(Order("1", "r", "pick_up\n## x", {"object_id": "a\n- **Fix**: y" * 50}))
    assert len(text.splitlines()) == 1
    assert len(text) < 200
    assert (
        action_text(Order("1", "r", "move_to", {"target_pose": [0.8, 0.3, 0.5, 0, 1.57, 0]}))
        == "move_to [0.8, 0.3, 0.5, 0, 1.57, 0]"
    )


@pytest.mark.parametrize(
    ("op", "params", "others"),
    [
        ("push", {"object_id": "book", "direction": "backward", "distance": 0.08},
         [{"direction": "left"}, {"direction": [0.0, 1.0]}, {"distance": 0.04}, {"object_id": "tin"}]),
        ("place_beside", {"target": "book", "side": "left", "distance": 0.1},
         [{"side": "right"}, {"distance": 0.2}, {"target": "tin"}]),
        ("pour", {"object_id": "jug", "target": "mug"}, [{"target": "bowl"}, {"object_id": "cup"}]),
        ("stack", {"object_ids": ["a", "b"]}, [{"object_ids": ["b", "a"]}, {"object_ids": ["a", "b", "c"]}]),
        ("wipe", {"object_id": "sponge", "target": "spill"}, [{"target": "stain"}]),
        ("hand_over", {"to": "arm_2"}, [{"to": "arm_3"}]),
        ("place", {"target": "book", "target_position": [0.4, 0.1, 0.2]}, [{"target": "tin"}]),
        ("move_to", {"target_pose": [0.8, 0.3, 0.5, 0, 1.57, 0]}, [{"target_pose": [0.8, 0.3, 0.5, 0, 3.14, 0]}]),
    ],
)  # fmt: skip
def test_a_lesson_is_of_all_that_its_order_was_given(op, params, others) -> None:
    scene = Scene((RobotState("franka_001", (0.0, 0.0, 0.0)),), (APPLE,))
    order = Order("1", "franka_001", op, params)
    found = Finding("CRITIC_REFUSED", "reach", "nearer", "far", "nearer", "1", condition=("apple_01 mass = 0.1",))
    scene = replace(scene, objects=(replace(APPLE, mass=0.1),))
    notes = lessons_file.read(lessons_file.add(b"# LESSONS\n", note_for(order, [found], WHEN)))
    assert avoid(notes, replace(order, id="2"), scene, None) is notes[0]
    for other in others:
        assert avoid(notes, replace(order, params=params | other), scene, None) is None, other


def test_a_lesson_of_a_collision_never_forbids():
    hit = "pick_up cube_01: at the grasp brick_01-robot (18 mm deep)"
    found = Finding("CRITIC_REFUSED", "collision check of the body", "no contact deeper than 2 mm", hit, "move it")
    order = Order("1", "franka", "pick_up", {"object_id": "cube_01"})
    for language in ("en", "zh"):
        assert forbidding([note_for(order, [found], "2026-11-21 10:00:00", language)], order) is None


# -- in random worlds -----------------------------------------------------------------------------------------------

IDS = st.sampled_from(["apple_01", "cup_02", "drawer 3", "盒子", "box or bin", "a;b"])
SIZES = st.sampled_from([(), (0.05, 0.05, 0.05), (0.12, 0.05, 0.05), (0.3, 0.3, 0.3)])


@st.composite
def worlds(draw):
    place = st.tuples(*(st.floats(-1.5, 1.5).map(lambda v: round(v, 2)),) * 3)
    ids = draw(st.lists(IDS, unique=True, max_size=4))
    things = tuple(
        Thing(id, "", "", draw(place), size=draw(SIZES), shape="box", mass=draw(st.sampled_from([0.0, 0.5, 9.0])))
        for id in ids
    )
    robots = tuple(
        RobotState(id, draw(place), {}, "open", draw(st.sampled_from([None, *ids]))) for id in ("arm_1", "arm_2")
    )
    profile = replace(
        PAGE,
        ops=tuple(
            Operation(op) for op in draw(st.sampled_from([("pick_up", "place"), ("place",), ("push", "pick_up")]))
        ),
        sensors=draw(st.sampled_from([(), PAGE.sensors])),
        max_reach=draw(st.sampled_from([None, 0.5, 0.855, 3.0])),
        max_payload=draw(st.sampled_from([None, 3.0])),
        max_grip_width=draw(st.sampled_from([None, 0.08])),
        bounds=draw(st.sampled_from([(), ((-0.5, 0.5), (-0.5, 0.5)), ((-2.0, 2.0), (-2.0, 2.0), (0.0, 0.2))])),
    )
    return Scene(robots, things), profile


ORDERS = st.one_of(
    st.builds(lambda id: Order("1", "arm_1", "pick_up", {"object_id": id}), IDS),
    st.builds(lambda id: Order("1", "arm_1", "place", {"target": id}), IDS),
    st.builds(lambda id: Order("1", "arm_1", "push", {"object_id": id, "direction": "left", "distance": 0.1}), IDS),
    st.just(Order("1", "arm_1", "place", {"target_position": [0.9, 0.9, 0.1]})),
)
REPEATED = ("OP_NOT_IN_PROFILE", "PROFILE_LIMIT", "HOLDING", "NOT_HOLDING", "HELD_ELSEWHERE", "UNKNOWN_OBJECT")


@given(worlds(), worlds(), ORDERS, st.sampled_from(["en", "zh"]), st.booleans())
def test_a_lesson_refuses_what_the_critic_would_refuse_now_and_nothing_else(now, later, order, language, keep):
    """Soundness in a world that changed at will, and completeness in the world in which it was learned."""
    scene, profile = now
    found = [f for f in Critic().review(order, scene, profile) if not f.warning]
    if not found:
        return
    notes = [note_for(order, found, WHEN, language)]
    data = lessons_file.add(b"# LESSONS\n", notes[0], language=language)
    notes = lessons_file.read(data)
    names = [*map(str, order.params.values()), *(robot.holding or "" for robot in scene.robots)]
    if any(f.code in REPEATED for f in found) and not {"box or bin", "a;b"} & set(names):  # ids that no fact can name
        assert avoid(notes, order, scene, profile) is not None, notes
    then, limits = (replace(later[0], objects=scene.objects), profile) if keep else later
    if avoid(notes, order, then, limits) is not None:
        assert [f for f in Critic().review(order, then, limits) if not f.warning], (notes, then)
