"""A Chinese workspace from its beginning to a cleared table: what people read in it is Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")

HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def home(onboarded: Callable):
    place = onboarded("--language", "zh")
    place.first = place.text("TASK.md"), place.text("LESSONS.md")
    place.said = place.do("收拾桌子", "--seed", "3")
    return place


def test_the_table_is_clear(home) -> None:
    assert home.said.code == 0, home.said
    assert all(home.where(thing["id"]) == {("in", "basket_01")} for thing in home.value("ENVIRONMENT.md")["objects"])
    assert home.paos("check").out == "所有文件都可正常读取\n"


def test_progress_is_told_in_chinese(home) -> None:
    lines = home.said.out.strip().splitlines()
    assert lines[-1] == "完成"
    assert all(HAN.search(line) for line in lines)
    assert not re.search(r"\b(done|Grasp|Place|the)\b", home.said.out)


def test_task_is_the_chinese_page_s_table(home) -> None:
    task = home.text("TASK.md")
    assert re.match(r"# 任务[:：] ?收拾桌子\n", task)
    assert re.search(r"\| *子任务 *\| *动作 *\| *目标 *\| *状态 *\| *备注 *\|", task)
    assert "**总体进度**: 10/10 (100%)" in task
    assert task.count("✅ done") == 10


def test_the_profile_is_described_in_chinese(home) -> None:
    assert "抓取指定物体" in home.text("EMBODIED.md")


def test_a_refusal_becomes_a_chinese_lesson_and_is_found_by_a_chinese_word(home) -> None:
    far = {"action_id": "far", "action_type": "move_to", "params": {"target_pose": [1.5, 0, 0.5, 0, 0, 0]}}
    home.queue(far, {"action_id": "who", "action_type": "pick_up", "params": {"object_id": "unicorn_01"}})
    assert home.up().code == 0
    assert len(home.lessons()) == 2
    for lesson in home.lessons():
        assert HAN.search(lesson.splitlines()[0])
        labels = re.findall(r"^- \*\*(.+?)\*\*", lesson, re.MULTILINE)
        assert labels == ["动作", "原因", "Critic 拒绝", "修复", "成立条件"]
        assert HAN.search(lesson.split("**修复**")[1])
    for id in ("far", "who"):
        message = home.entry(id)["error"]["message"]
        assert "应为" in message
        assert not re.search(r"\b(found|expected)\b", message)
    assert "unicorn_01" in home.paos("lessons", "未知").out
    assert "move_to" in home.paos("lessons", "臂展").out


def test_questions_and_negations_in_chinese(home) -> None:
    ended = len(home.ended())
    clear = home.do("桌子收拾干净了吗？")
    assert clear.code == 0
    assert clear.out.startswith("是")
    for saying in ("别收拾桌子", "不要动苹果", "飞到月球去"):
        said = home.do(saying)
        assert said.code == 2
        assert HAN.search(said.out)
    assert len(home.ended()) == ended


def test_no_text_is_written_as_escapes(home) -> None:
    for name in ("ACTION.md", "ENVIRONMENT.md", "TASK.md", "LESSONS.md", "EMBODIED.md"):
        assert "\\u" not in home.text(name)


def test_an_english_instruction_is_answered_but_the_workspace_stays_chinese(home) -> None:
    assert home.do("go home").code == 0
    assert home.text("TASK.md").startswith("# 任务")
    assert "总体进度" in home.text("TASK.md")


LETTERS = re.compile(r"[A-Za-z]{2,}")
KEPT = re.compile(r"[a-z]+_\w+|[A-Z]+_[A-Z_]+|\w+\.md|\bplace\b|\bid\b")  # ids, ops, codes, file names


def test_a_random_scene_has_chinese_names_and_is_found_in_either_language(onboarded: Callable) -> None:
    home = onboarded("--language", "zh")
    assert home.do("put the red apple in the basket", "--seed", "7").code == 0
    assert home.where("apple_01") == {("in", "basket_01")}
    named = {thing["id"]: thing["name"] for thing in home.value("ENVIRONMENT.md")["objects"]}
    assert named == {
        "apple_01": "红色苹果",
        "cube_01": "蓝色方块",
        "can_01": "绿色罐子",
        "bar_01": "黄色长条",
        "brick_01": "棕色砖块",
    }
    assert home.do("把红色苹果放到桌子上").code == 0
    assert home.where("apple_01") == {("on", "table_01")}


def test_the_body_s_own_words_are_chinese_too(home) -> None:
    low = {"action_id": "low", "action_type": "move_to", "params": {"target_pose": [0.45, 0.0, 0.005, 0, 0, 0]}}
    fine = {"action_id": "fine", "action_type": "move_to", "params": {"target_pose": [0.4, 0.0, 0.4, 3.1416, 0, 0]}}
    empty = {"action_id": "empty", "action_type": "place", "params": {"target": "basket_01"}}
    home.queue(low, fine, empty)
    home.up()
    ended = home.ended()
    assert ended["fine"].status.outcome.ok, ended["fine"].status.outcome
    for id in ("low", "empty", "fine"):
        message = ended[id].status.outcome.message
        assert HAN.search(message), message
        assert not LETTERS.findall(KEPT.sub("", message.split("：", 1)[-1])), message
    for lesson in home.lessons():
        for line in re.findall(r"^- \*\*(?:原因|修复)\*\*: (.+)", lesson, re.MULTILINE):
            assert not LETTERS.findall(KEPT.sub("", line)), line
