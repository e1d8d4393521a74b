"""A message is a code with arguments: said in each language, kept beside its text, and given back from a file."""

from __future__ import annotations

import copy
import json
import pickle
import re
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.messages import CodedText, coded, kept_text, parts, read_coded, render, stored_form
from worldfs.base.messages.coded_text import AREAS
from worldfs.base.messages.message_rendering import error_message, render_finding, render_outcome
from worldfs.base.model import Cause, Finding, Outcome

ROBOT, FLOOR = coded("robot.body"), coded("robot.floor")
HITS = [
    coded("robot.contact", one="basket_01", other=ROBOT, mm=12.2),
    coded("robot.contact", one=ROBOT, other="t_1", mm=3),
]
BLOCKED = coded("robot.pick_up", id="apple_01", at=(0.3, -0.4, 0.0412), why=coded("robot.at_grasp", hits=HITS))
SAID = {
    BLOCKED: (
        "pick_up apple_01 at [0.3, -0.4, 0.041]: at the grasp basket_01-robot (12 mm deep), robot-t_1 (3 mm deep)",
        "pick_up apple_01 于 [0.3, -0.4, 0.041]：在抓取处：basket_01-机器人 (12 毫米深)、机器人-t_1 (3 毫米深)",
    ),
    coded("robot.step_failed", i=2, n=3, op="place", said=coded("robot.no_space", on="bin_1")): (
        "step 2 of 3, place: no free place in or on bin_1",
        "第 2 步(共 3 步) place：bin_1 里或上面没有空位",
    ),
    coded("robot.steps_done", n=2, ops=["pick_up", "place"]): (
        "2 steps done: pick_up, place",
        "已完成 2 步：pick_up, place",
    ),
    coded("runtime.stopped", by="operator", said="a driver's own words"): (
        "stopped by operator: a driver's own words",
        "被 operator 停止：a driver's own words",
    ),
    coded("file.bad_byte", byte=0x0C, at=7): ("byte 0x0c at offset 7 is not UTF-8", "偏移 7 处的字节 0x0c 不是 UTF-8"),
}


@pytest.mark.parametrize(("text", "said"), SAID.items())
def test_a_message_is_a_string_in_english_and_is_said_in_chinese_with_its_numbers_and_ids(text, said) -> None:
    assert isinstance(text, str)
    assert (text, render(text, "zh")) == said
    assert render(render(text, "zh-CN"), "en") == said[0]


@pytest.mark.parametrize("area", AREAS)
def test_no_message_says_that_nothing_moves(area) -> None:
    """Nobody measures that. A refusal says what was not ordered, a stop what a driver has confirmed."""
    asserts = re.compile(
        r"nothing (?:of these |has |was |will )?move|什么都(?:不|没|没有)动|不会(?:有任何动作|运动)|没有移动任何",
        re.IGNORECASE,
    )
    rows = import_module(f"worldfs.base.messages.{area}_messages").ROWS
    assert not [code for code, said in rows.items() if any(map(asserts.search, said))]


def test_a_text_of_another_program_is_the_same_in_every_language() -> None:
    assert render("EPERM: not permitted", "zh") == "EPERM: not permitted"
    assert stored_form("EPERM: not permitted") is None
    assert list(parts("EPERM")) == []


@pytest.mark.parametrize("text", SAID)
def test_code_and_arguments_come_back_from_a_file_whatever_language_the_text_beside_them_is_in(text) -> None:
    kept = json.loads(json.dumps(stored_form(text)))
    back = read_coded(str(render(text, "zh")), kept)
    assert isinstance(back, CodedText)
    assert back == render(text, "zh")
    assert (back.code, render(back, "en")) == (text.code, text)
    assert [part.code for part in parts(back)] == [part.code for part in parts(text)]


@pytest.mark.parametrize(
    "kept",
    [
        None,
        1,
        [],
        {},
        {"code": "robot.body"},
        {"code": 1, "args": {}},
        {"code": "robot.holds", "args": {"id": {"code": "x.y"}}},
    ],
)
def test_a_text_whose_code_cannot_be_read_is_shown_as_it_was_kept(kept) -> None:
    back = read_coded("夹爪已闭合", kept)
    assert back == render(back, "en") == render(back, "zh") == "夹爪已闭合"


@pytest.mark.parametrize("code", ["robot.of_a_later_version", "os.path", "robot", ""])
def test_a_code_of_another_version_keeps_its_text(code) -> None:
    back = read_coded("was kept", {"code": code, "args": {}})
    assert render(back, "zh") == "was kept"


def test_arguments_that_another_version_named_otherwise_keep_the_text() -> None:
    assert render(read_coded("was kept", {"code": "robot.holds", "args": {"thing": "cup"}}), "zh") == "was kept"


def test_a_code_that_no_catalogue_has_fails_where_it_is_made() -> None:
    with pytest.raises(KeyError):
        coded("robot.no_such_message")
    with pytest.raises(LookupError, match="no catalogue"):
        coded("os.path")


@given(st.text(alphabet="ab_0 {}[],:;'().!r", min_size=1, max_size=40))
def test_data_is_never_read_as_a_template(id) -> None:
    assert render(coded("robot.holds", id=id), "zh") == f"夹爪正拿着 {id}"


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_a_copy_keeps_code_and_arguments(twin) -> None:
    assert stored_form(twin(BLOCKED)) == stored_form(BLOCKED)


def test_what_a_document_kept_without_its_code_is_known_in_either_language() -> None:
    assert kept_text("collision check of the body", "robot.collision_check")
    assert kept_text("机器人本体的碰撞检查", "robot.collision_check")
    assert not kept_text("a collision", "robot.collision_check")


def test_a_finding_and_an_outcome_are_rendered_with_all_their_texts_and_keep_the_rest() -> None:
    finding = Finding("X", coded("robot.collision_check"), coded("robot.no_contact"), BLOCKED, "plain", "act_1", True)
    told = render_finding(finding, "zh")
    assert (told.code, told.fix, told.job, told.warning) == ("X", "plain", "act_1", True)
    assert (told.field, told.expected) == ("机器人本体的碰撞检查", "目标处及路径上没有会移动物体的接触")
    outcome = Outcome.failure(
        Cause.ERROR, "X", coded("robot.plan_failed", found=BLOCKED, fix="plain"), findings=(finding,)
    )
    assert render_outcome(outcome, "zh").message == f"{told.found}；plain"
    assert render_outcome(outcome, "zh").findings == (told,)
    assert render_outcome(outcome, "en") is outcome and render_finding(finding, "en") is finding


@pytest.mark.parametrize(
    "error",
    [
        BadInput("plain"),
        BadInput(coded("file.not_object"), path="a", expected=coded("file.an_order"), fix=coded("common.remove_it")),
        BadInput("found", expected="more"),
    ],
)
def test_an_error_in_one_text_is_what_the_error_says_of_itself(error) -> None:
    assert error_message(error) == str(error)


# What stands in every language: arguments, names in quotes, command lines.
SAME = re.compile(r"`[^`]*`|\{[^}]*\}|'[^']*'|\"[^\"]*\"|\b(paos|apt install)( [\w.-]+)*")


@pytest.mark.parametrize("area", AREAS)
def test_no_chinese_text_of_a_catalogue_holds_an_english_sentence(area) -> None:
    rows = import_module(f"worldfs.base.messages.{area}_messages").ROWS
    assert not [row for _, row in rows.values() if re.search(r"[a-z]+ [a-z]+ [a-z]+", SAME.sub("", row))]


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(ANY_JSON)
@example([None])
@example([10**400])
@example([[0.4, 0.0], {}])
def test_whatever_a_file_holds_is_said(value) -> None:
    said = coded("file.says_other", name="parameters", value=value)
    assert str(said) and render(said, "zh") != said
    assert read_coded(str(said), json.loads(json.dumps(stored_form(said)))) == said


def test_a_list_of_numbers_is_said_to_the_millimetre_and_any_other_as_it_is() -> None:
    assert "[0.4, 1]" in coded("file.says_other", name="a", value=[0.40001, 1])
    assert "[0.4, None]" in coded("file.says_other", name="a", value=[0.4, None])
