"""What bodies and kernel say in English is read in Chinese in a Chinese workspace, and only there."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Cause, Finding, Order, Outcome, Scene, Thing
from worldfs.planning.message_translation import localise, localise_outcome, to_chinese
from worldfs.runtime.admission import admit
from worldfs.runtime.job_end import refusal_outcome

# Ids, ops, params and file names stand in both languages.
KEPT = re.compile(
    r"MUJOCO_GL=\w+|[\w.]+_\w+|[A-Z]+\.md|config\.json|\[x, y, z(, roll, pitch, yaw)?\]|'[^']*'|\"[^\"]*\"|\bx, y, z\b"
    r"|\b(id|params|target|place|home|ready|wave|steps|paos do|strategy|z|embodiments\.instances)\b"
)


def english_left(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", KEPT.sub("", text))


def words(finding: Finding) -> tuple[str, str, str]:
    return finding.expected, finding.found, finding.fix


ORDERS = (
    ("move_to", {}),
    ("move_to", {"target_pose": [3.0, 0.0, 0.5]}),
    ("move_to", {"target_pose": [0.5, 0.0, -0.3]}),
    ("move_to", {"target_pose": [0.4, 0.0, 0.4, 0.1]}),
    ("move_to", {"target_pose": ["a", 1, 2]}),
    ("pick_up", {}),
    ("pick_up", {"object_id": "unicorn_01"}),
    ("pick_up", {"object_id": "table_01"}),
    ("place", {"target": "basket_01"}),
    ("target_navigation", {}),
    ("target_navigation", {"target_label": "unicorn_01"}),
    ("real_execute", {"nl_task": "x"}),
    ("strategy", {"name": "nonsense_01"}),
    ("strategy", {"name": "pick_and_place"}),
    ("strategy", {"name": "pick_and_place", "object_id": "apple_01"}),
    ("strategy", {"steps": "x"}),
    ("strategy", {"steps": [{"action_type": "strategy"}]}),
)


@pytest.fixture(scope="module")
def body():
    pytest.importorskip("mujoco")
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    body = TabletopDriver("franka_001", seed=7, cameras=False)
    body.open(Scene())
    yield body
    body.close()


@pytest.mark.parametrize(("op", "params"), ORDERS)
def test_a_body_s_refusal_is_chinese_in_a_chinese_workspace(body, op, params) -> None:
    findings = body.review(Order("act_001", "franka_001", op, params))
    assert findings, "the order is bad"
    for finding in findings:
        told = localise(finding, "zh")
        # why there is no picture is the graphics library's own word
        checked = words(told)[:1] if told.code == "CAMERA_UNAVAILABLE" else words(told)
        assert not any(english_left(text) for text in checked), told
        assert (told.code, told.job) == (finding.code, finding.job)
        assert localise(finding, "en") == finding
        assert localise(told, "zh") == told
        message = localise_outcome(refusal_outcome((finding,)), "zh").message
        assert message == refusal_outcome((told,)).message


TEXTS = {
    "pick_up apple_01 at [0.3, -0.4, 0.041]: at the grasp basket_01-robot (12 mm deep), robot-table_01 (3 mm deep)": (
        "pick_up apple_01 于 [0.3, -0.4, 0.041]：在抓取处：basket_01-机器人 (12 毫米深)，机器人-table_01 (3 毫米深)"
    ),
    "target_pose at [3, 0, 0.5], 3.041 m from the base: no joint angles reach it in that orientation": (
        "target_pose 位于 [3, 0, 0.5]，距底座 3.041 米：没有关节角能让手以该姿态到达那里"
    ),
    "brick_01 is 0.120 m wide where it is narrowest": "brick_01 最窄处宽 0.120 米",
    "a_1-b_2 (4 mm deep), a_1-floor (3 mm deep)": "a_1-b_2 (4 毫米深)，a_1-地面 (3 毫米深)",
    "[1, 2, 3]: the nearest surface there is floor at z = -0.750 m": (
        "[1, 2, 3]：那里最近的支撑面是 地面，z = -0.750 米"
    ),
    "step 2 of 3, place: no free place in or on bin_1; take something out of bin_1 first, or place it elsewhere": (
        "第 2 步(共 3 步) place：bin_1 里或上面没有空位；先从 bin_1 取走一些物体，或放到别处"
    ),
    "cancelled; attempt 1 had ended before: cube_01 was lost on the way": (
        "已取消；此前第 1 次尝试的结果：cube_01 在途中掉落"
    ),
    "timed out after 30 s, and the driver did not stop when asked": "30 秒后仍未结束，且驱动在要求停止后没有停下",
    "grasp missed: fingers 0.001 m apart, can_01 touches ['table_01']": (
        "没有抓到：两指间距 0.001 米，can_01 接触到的物体：['table_01']"
    ),
    "apple_01 rests at [0.3, 0, 0.03], 0.5 mm from the goal": "apple_01 停在 [0.3, 0, 0.03]，距目标 0.5 毫米",
}


@pytest.mark.parametrize(("text", "told"), TEXTS.items())
def test_a_message_reads_in_chinese_with_its_numbers_and_ids(text, told) -> None:
    findings = ()
    if text.startswith("step"):
        fix = "take something out of bin_1 first, or place it elsewhere"
        findings = (Finding("CRITIC_REFUSED", "x", "y", "no free place in or on bin_1", fix),)
    outcome = Outcome.failure(Cause.ERROR, "X", text, findings=findings)
    assert localise_outcome(outcome, "zh").message == told
    assert localise_outcome(outcome, "en") is outcome


SAID = (
    "the gripper stopped 7.0 mm and 0.060 rad from the goal",
    "the gripper is at [0.4, 0, 0.4], 0.3 mm from the goal",
    "apple_01 is held, its centre at z = 0.233 m at attempt 2",
    "object lost on the lift: can_01 rose 0.010 m of 0.20 m, 1 of 2 fingers touch it",
    "object lost while lowering: can_01 is at [0.1, 0.2, 0.3]",
    "can_01 still moves at 0.120 m/s",
    "can_01 rests at [0.1, 0.2, 0.3], outside basket_01",
    "can_01 rests at [0.1, 0.2, 0.3], 40 mm from the goal (limit 30 mm)",
    "can_01 touches nothing",
    "the gripper is open, 0.080 m",
    "the fingers are 0.010 m apart, expected 0.08 m",
    "the gripper holds can_01",
    "no space to wave: robot-wall_01 (12 mm deep)",
    "2 steps done: pick_up, move_to",
    "pick_up stopped (timeout); the arm holds still where it is",
    "can_01 is in no picture: front camera and 4 looks of the wrist camera",
    "can_01 is 30 pixels off the middle after 6 looks (limit 16)",
    "the straight way down fails at waypoint 3 of 10",
    "cancelled before it started",
    "timed out: waited longer than 2.5 s in the queue",
    "the worker died while it ran; it may have moved, so it is not repeated",
    "name a robot of this workspace, or declare it in config.json embodiments.instances",
    "see why act_001 failed, then submit both again under new ids",
)


@pytest.mark.parametrize("text", SAID)
def test_no_english_word_is_left(text) -> None:
    told = to_chinese(text)
    assert told != text
    assert not english_left(told)
    numbers = re.findall(r"\d+\.\d+", text)
    assert all(number in told for number in numbers)


def test_the_kernel_s_own_refusals_are_chinese() -> None:
    order = Order("act_001", "ghost_01", "pick_up", depends_on=("act_000",))
    refused = admit(order, ["arm_01"], lambda id: False)
    assert len(refused) == 2
    for finding in refused:
        told = localise(finding, "zh")
        assert not any(english_left(text) for text in words(told)), told
        assert localise_outcome(refusal_outcome((finding,)), "zh").message == refusal_outcome((told,)).message


def test_the_planner_still_finds_what_is_in_the_way() -> None:
    from worldfs.planning.planner import failure_reasons

    found = "at the grasp basket_01-robot (12 mm deep), bar_01-robot (4 mm deep)"
    finding = Finding(
        "CRITIC_REFUSED", "collision check of the body", "no contact deeper than 2 mm at the goal", found, ""
    )
    outcome = localise_outcome(refusal_outcome((finding,)), "zh")
    scene = Scene(objects=(Thing("bar_01"),), furniture=(Thing("basket_01"),))
    assert failure_reasons.collides(outcome)
    assert failure_reasons.obstructing_ids(outcome, scene) == ("basket_01", "bar_01")


@given(st.text(max_size=300))
def test_any_text_is_taken(text) -> None:
    finding = Finding("X", text, text, text, text)
    told = localise_outcome(Outcome.failure(Cause.ERROR, "X", text, findings=(finding,)), "zh")
    assert told.code == "X"
    assert localise(finding, "en") is finding


@given(st.text(alphabet=string.ascii_uppercase + "{}%\n", max_size=60))
def test_a_text_without_a_row_stays_as_it_is(text) -> None:
    assert to_chinese(text) == text
    assert to_chinese(f"{text} qqq {text}") == f"{text} qqq {text}"


@given(st.text(alphabet="ab_0 {}[],:;'().", min_size=1, max_size=40))
def test_data_in_a_blank_is_never_read_as_a_template(id) -> None:
    assert to_chinese(f"the gripper holds {id}") == f"夹爪正拿着 {id}"


FOUND = {
    "invalid JSON at line 3, column 5: unexpected '}'": "JSON 在第 3 行第 5 列有误：'}'",
    "invalid YAML at line 3, column 5: expected <block end>": "YAML 在第 3 行第 5 列有误：expected <block end>",
    "byte 0xff at offset 12 is not UTF-8": "偏移 12 处的字节 0xff 不是 UTF-8",
    "set aside as .paos/quarantine/x; a new one is written at the next start": (
        "已移开为 .paos/quarantine/x；下次启动时会写入新文件"
    ),
    "arm_01 wants the driver ur5, which is not here": "arm_01 需要驱动 ur5，但这里没有",
    "at most 5,000 in one sheet": "一个文件中至多 5,000 项",
    "action move_to (that id is taken)": "action move_to(该 id 已被使用)",
    "mode 0644": "权限 0644",
    "completed + timeout + error = 47": "completed + timeout + error = 47",
}


@pytest.mark.parametrize(("text", "told"), FOUND.items())
def test_what_is_found_in_files_reads_in_chinese(text, told) -> None:
    assert to_chinese(text) == told


def test_a_stop_is_told_in_chinese_with_what_the_body_said_of_it():
    said = "stopped by operator: place stopped (cancelled); the arm holds still where it is"
    assert to_chinese(said) == "被 operator 停止：place 已停止(已取消)；机械臂停在原处"
    deaf = (
        "stopped by critic, and the driver of arm has not confirmed it: the robot may still move; use the robot's own "
    )
    assert "急停" in to_chinese(deaf + "emergency stop, then restart the kernel")
