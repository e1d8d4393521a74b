"""What says stop, and what only has the word in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Scene, Thing
from worldfs.planning.planner import RefusedIntent, interpret
from worldfs.planning.stop_words import is_stop

STOPS = (
    "stop", "Stop!", "STOP", "  stop.  ", "stop stop stop", "STOP! STOP!", "stop!!!", "“stop”", "halt", "Halt!",
    "freeze", "abort", "please stop", "stop please", "stop now!", "just stop", "no, stop", "stop the robot",
    "stop the arm", "stop everything now", "emergency stop", "E-STOP", "e-stop!", "estop", "don’t move", "do not move",
    "ｓｔｏｐ", "🛑 stop",
    "停", "停！", "停!", "停停停", "停！停！停！", "停下", "停下来", "停下来！", "请停下", "快停下来", "停止", "急停",
    "pause", "wait!", "hold on", "cancel", "shut down", "turn off the robot", "stopp!", "STOOOP",
    "could you stop please?",    "can you stop",
    "stop what you are doing", "Stop franka_001!", "stop the robot go2_edu_001", "whoa", "enough!",
    "停下來", "機器人停！", "別動", "緊急停止", "請停下來", "馬上停下來", "取消", "等一下", "别再动了", "中止", "关机",
    "紧急停止！", "立即停止", "别动", "住手", "站住", "马上停", "停下吧", "机器人停下",
)  # fmt: skip
OTHERS = (
    "", "!", "clear the table", "stop the music", "put the cup next to the stop sign", "stop at the table",
    "don't stop", "never stop", "stop and go home", "go on", "can you stop?  no", "unstoppable", "do not stop",
    "wait 5 seconds and then wave", "stop at 5", "stop after 3", "cancel the last step", "shut the drawer",
    "turn off the light", "enough of the apples", "hold the can", "could you clear the table",
    "stay on the left of cube 9",    "等五秒再挥手", "取消上一步", "关上抽屉", "撤销", "停车场", "把停车牌",
    "resume", "不要停", "别停", "把停车牌放进篮子", "停在桌子旁边", "清理桌子", "了", "请", "吧",
)  # fmt: skip


@pytest.mark.parametrize("text", STOPS)
def test_it_stops(text):
    assert is_stop(text)


@pytest.mark.parametrize("text", OTHERS)
def test_it_does_not(text):
    assert not is_stop(text)


def test_a_long_text_costs_little():
    assert not is_stop("please " * 100_000)


CUP = Thing("cup_01", "Cup", "cup", (0.4, 0.1, 0.05), size=(0.08, 0.08, 0.1))
SCENE = Scene(objects=(CUP,))
ROBOTS = ("wa", "cart_2", "go2-edu-001", "stop", "arm", "小白", "the_red_one", "please", "B", "music")
MANNERS = (
    "", "please", "hey", "no, no,", "for god's sake", "can you", "oh my god", "ok now", "I said", "would you please",
    "let go of me,", "Watch out!", "it hurts me,", "请", "快", "拜托", "现在马上", "危险！", "先",
)  # fmt: skip
AFTER = ("", "!", "!!!", " now", ", please", " at once!", " right there", "吧", "！", " immediately", " for god's sake")
WORDS = ("stop", "STOP", "halt", "freeze", "stooop", "停", "停下", "停止", "急停", "停一停")
PARTS = (
    "the cart", "the robot", "the arm", "the wheels", "its motors", "all robots", "every robot", "your arm", "driving",
    "moving", "moving towards me", "turning around", "what you are doing", "everything", "both of them", "it",
    "小车", "机器人", "所有机器人", "行驶", "运动", "机械臂", "轮子",
)  # fmt: skip


@st.composite
def orders_to_stop(draw):
    """A robot of the home, a part or motion of one, or nothing; before or behind; with manners; in both languages."""
    word, robot = draw(st.sampled_from(WORDS)), draw(st.sampled_from(ROBOTS))
    thing = draw(st.sampled_from(("", robot, f"robot {robot}", f"{robot} and cart_2", f"{robot}'s arm", *PARTS)))
    joined = f"{word}{robot}" if word > "~" else word
    cores = (
        f"{word} {thing}", f"{robot}, {word}", f"{robot} {word} {thing}", joined, f"{word} {word} {thing}",
        f"{word} 停", f"{word}! {word}, {thing}", f"make {robot} {word}",
    )  # fmt: skip
    core = draw(st.sampled_from(cores))
    return f"{draw(st.sampled_from(MANNERS))} {core}{draw(st.sampled_from(AFTER))}"


@given(orders_to_stop())
def test_an_order_to_stop_a_robot_stops(text):
    assert is_stop(text, lambda: ROBOTS)


NOT_STOPS = (
    "don't stop {}", "never stop {}", "does {} stop?", "did {} stop", "why did {} stop?", "must {} stop?",
    "stop putting the cup in the box {}", "put the stopper in the bottle, {}", "stop sign", "put {} by the stop sign",
    "stop and go home, {} now", "if it falls, stop {}", "stop {} when it falls", "clear the table and then stop {}",
    "stop the light", "{} stopped", "stop {} in 5 seconds", "stop {} from falling", "take the non-stop cup to {}",
    "put the cup on {}", "{}", "please {}", "不要停{}", "别停 {}", "{}停了吗", "为什么停 {}", "如果倒了，停{}",
    "把停车牌给{}", "停在{}旁边", "停止把杯子放进篮子 {}", "什么时候停 {}", "把杯子给{}",
)  # fmt: skip


@given(
    st.sampled_from(NOT_STOPS),
    st.sampled_from([name for name in ROBOTS if name != "stop"]),
    st.sampled_from(["", "!"]),
)
def test_what_only_has_the_word_in_it_does_not(text, robot, after):
    assert not is_stop(text.format(robot) + after, lambda: ROBOTS[:3] + ROBOTS[4:])


@pytest.mark.parametrize("text", [text.format("wb") for text in NOT_STOPS if "stop" in text or "停" in text])
def test_a_refusal_of_it_does_not_say_that_nothing_moves(text):
    read = interpret(text, SCENE)
    if isinstance(read, RefusedIntent):
        assert "nothing moves" not in read.reason and "什么都不动" not in read.reason
    if "don't" in text or "putting" in text or "停止把" in text:
        assert isinstance(read, RefusedIntent) and "paos stop" in read.reason


def test_the_names_of_the_home_are_asked_for_only_where_they_decide():
    def unknown():
        raise AssertionError

    assert is_stop("stop the cart!", unknown) and not is_stop("clear the table", unknown)
