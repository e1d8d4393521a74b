"""Lessons: made, found, heeded."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from worldfs.base.model import Cause, Finding, Lesson, Order, Outcome, RobotState, Scene, Thing
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


def test_the_very_order_that_failed_is_avoided_and_no_other() -> None:
    notes = lessons_file.read(lessons_file.add(EN, refused()))
    lesson = avoid(notes, PICK, SCENE)
    assert lesson is not None
    assert lesson.title == "Grasp Failed: Object Out of Reach"
    assert avoid(notes, replace(PICK, params={"object_id": "apple_02"}), SCENE) is None
    assert avoid(notes, replace(PICK, op="place", params={"target": "apple_01"}), SCENE) is None


def test_a_lesson_of_another_place_does_not_forbid() -> None:
    notes = lessons_file.read(lessons_file.add(EN, refused()))
    moved = replace(SCENE, objects=(replace(APPLE, position=(0.9, 0.3, 0.3)),))
    driven = replace(SCENE, robots=(RobotState("franka_001", (1.0, 0.5, 0.5)),))
    assert avoid(notes, PICK, moved) is None
    assert avoid(notes, PICK, driven) is None
    assert avoid(notes, PICK) is not None


def test_a_chinese_lesson_is_heeded_as_well() -> None:
    notes = lessons_file.read(lessons_file.add(b"", refused(language="zh"), language="zh"))
    assert avoid(notes, PICK, SCENE) is not None
    assert avoid(notes, PICK, replace(SCENE, objects=(replace(APPLE, position=(0.9, 0.3, 0.3)),))) is None


def test_a_lesson_of_an_unknown_object_ends_when_it_is_known() -> None:
    notes = [refused(scene=Scene(SCENE.robots, (replace(APPLE, id="pear_01"),)))]
    assert avoid(notes, PICK, Scene(SCENE.robots)) is not None
    assert avoid(notes, PICK, SCENE) is None


def test_passing_states_never_forbid() -> None:
    full = replace(
        SCENE, robots=(replace(SCENE.robots[0], holding="cup"),), objects=(replace(APPLE, position=(0.8, 0, 0)),)
    )
    assert avoid([refused(scene=full), note_for_lost(PICK, WHEN), note_for_lost(PICK, WHEN, "zh")], PICK) is None


def test_lessons_of_the_older_forms_are_heeded() -> None:
    notes = lessons_file.read((FIXTURES / "lessons" / "q1.md").read_bytes())
    assert avoid(notes, Order("1", "desk", "pick_up", {"target": "vase"})) is notes[0]
    assert avoid(notes, Order("1", "desk", "move_to", {"x": 900, "y": 0, "z": 0})) is notes[1]
    spec = lessons_file.read(EN)
    assert avoid(spec, Order("1", "go2", "target_navigation", {"target_label": "kitchen_counter"})) is spec[1]


def test_an_order_in_one_line_holds_no_second_line() -> None:
    text = action_text(Order("1", "r", "pick_up\n## x", {"object_id": "a\n- **Fix**: y" * 50}))
    assert len(text.splitlines()) == 1
    assert len(text) < 200
    assert (
        action_text(Order("1", "r", "move_to", {"target_pose": [0.8, 0.3, 0.5, 0, 1.57, 0]}))
        == "move_to [0.8, 0.3, 0.5]"
    )


def test_a_lesson_of_a_collision_never_forbids():
    hit = "pick_up cube_01: at the grasp brick_01-robot (18 mm deep)"
    found = Finding("CRITIC_REFUSED", "collision check of the body", "no contact deeper than 2 mm", hit, "move it")
    order = Order("1", "franka", "pick_up", {"object_id": "cube_01"})
    for language in ("en", "zh"):
        assert avoid([note_for(order, [found], "2026-11-21 10:00:00", language)], order) is None
