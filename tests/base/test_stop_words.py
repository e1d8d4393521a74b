"""What says stop, and what only has the word in it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.model import Scene, Thing
from worldfs.base.stop_words import is_stop, stops_others
from worldfs.planning.planner import RefusedIntent, interpret

STOPS = (
    "stop", "Stop!", "STOP", "  stop.  ", "stop stop stop", "STOP! STOP!", "stop!!!", "“stop”", "halt", "Halt!",
    "freeze", "abort", "please stop", "stop please", "stop now!", "just stop", "no, stop", "stop the robot",
    "stop the arm", "stop everything now", "emergency stop", "E-STOP", "e-stop!", "estop", "don’t move", "do not move",
    "ｓｔｏｐ", "🛑 stop",
    "停", "停！", "停!", "停停停", "停！停！停！", "停下", "停下来", "停下来！", "请停下", "快停下来", "停止", "急停",
    "pause", "wait!", "hold on", "cancel", "shut down", "turn off the robot", "stopp!", "STOOOP",
    "could you stop please?",    "can you stop",
    "stop what you are doing and listen", "stop what you’re doing and listen!", "drop everything and stop",
    "停止运行", "请停止运行", "马上停止运行", "你们几个全部停下", "这几台车停下", "立正别动", "站好别动",
    "stop and listen to me", "停止你正在做的事", "停下手里的活",
    "stop what you are doing", "Stop franka_001!", "stop the robot go2_edu_001", "whoa", "enough!",
    "停下來", "機器人停！", "別動", "緊急停止", "請停下來", "馬上停下來", "取消", "等一下", "别再动了", "中止", "关机",
    "紧急停止！", "立即停止", "别动", "住手", "站住", "马上停", "停下吧", "机器人停下",
)  # fmt: skip
OTHERS = (
    "", "!", "clear the table", "stop the music", "put the cup next to the stop sign", "stop at the table",
    "don't stop", "never stop", "stop and go home", "go on", "can you stop?  no", "unstoppable", "do not stop",
    "wait 5 seconds and then wave", "stop at 5", "stop after 3", "cancel the last step", "shut the drawer",
    "turn off the light", "enough of the apples", "hold the can", "could you clear the table",
    "stop and listen to the music", "drop everything", "drop everything in the box and stop",
    "stay on the left of cube 9",    "等五秒再挥手", "取消上一步", "关上抽屉", "撤销", "停车场", "把停车牌",
    "resume", "不要停", "别停", "停止运行这个程序", "停止运行把杯子放进篮子", "别停止运行", "立正", "几个苹果",
    "把停车牌放进篮子", "停在桌子旁边", "清理桌子", "了", "请", "吧",
)  # fmt: skip

SLEDS = ("sled_1", "sled_2")
STOPS_OF_A_HOME = (
    "stop the sled", "stop this sled", "stop the sleds", "stop both sleds", "sled, stop", "stop sled_2 too",
    "stop sled 2 as well", "stop or you will hit me", "freeze or you fall", "stop there's a child in front of you",
    "stop there is a wall", "please stop because there is a child", "stop because of the child",
    "stop it's dangerous", "stop since it is dangerous", "stop before you hit the wall",
    "can you stop before you hit the wall?", "stop the sled or it will fall", "would you mind stopping",
    "would you mind stopping the robot?", "i think you should stop", "I think we should stop", "stop until i say so",
    "stop until further notice", "stop altogether", "stop with that", "no!", "No!!!", "no no no!", "不！", "立马停",
    "立马停下", "就停在这", "就停在这里", "稍等", "稍等一下", "等会儿", "等会", "等一下再走", "急刹车", "hold up",
    "stand down", "stap", "stpop", "hault", "cancle", "abrot", "puase", "Stap!",
)  # fmt: skip
OTHERS_OF_A_HOME = (
    "no need to stop", "there is no need to stop the arm",
    "stop the sledge hammer", "stop at the sled", "don't stop because you are tired", "stop before the door",
    "stop until the cup is full", "stop when you reach the door", "stop if you see the cup",
    "stop because it is full then go", "stop the music because it is loud", "put the apple or you will be late",
    "would you mind stopping the music", "i think you should stop the music", "no", "no problem", "no, put it there",
    "hold up the cup", "stand down the ladder", "step", "shop", "stow", "top", "halo", "salt", "about", "cause",
    "cancer", "drop", "stap the box", "hault the music", "put the stop sign in the box or you are late",
    "why did you stop because of me", "就拿这个", "等杯子满了再拿", "move", "place",
)  # fmt: skip


@pytest.mark.parametrize("text", STOPS_OF_A_HOME)
def test_it_stops_the_robots_of_a_home(text):
    assert is_stop(text, lambda: SLEDS)


@pytest.mark.parametrize("text", OTHERS_OF_A_HOME)
def test_it_stops_no_robot_of_a_home(text):
    assert not is_stop(text, lambda: SLEDS)


@pytest.mark.parametrize("text", ["stop the music", "stap the box", "cancle the pizza", "don't stop", "stop the sled"])
def test_what_is_refused_says_that_no_robot_was_stopped(text):
    read = interpret(text, SCENE)
    assert isinstance(read, RefusedIntent) and "no robot" in read.reason and "paos stop" in read.reason


@pytest.mark.parametrize("text", ["stop the sled", "stop the sleds", "stop sled_2 too"])
def test_a_stop_by_the_word_of_several_robots_is_for_all(text):
    assert stops_others(text, "sled_1", lambda: SLEDS)


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


NOT = (
    "don't",
    "do not",
    "don’t",
    "please don't",
    "you must not",
    "never",
    "wa, don't",
    "I don't want you to",
    "Don't you dare",
    "tell it not to",
)
KEEP = ("", "keep on", "continue to")
GO = ("move", "go", "drive", "walk", "roll", "advance", "proceed", "go on", "come closer")
FAR = ("", "any further", "any more", "forward", "another step", "towards me", "an inch", "any further forward")
NOT_ZH = ("别", "不要", "不许", "请不要", "wa，别", "请勿", "千万别", "一步也别")
KEEP_ZH = ("", "再", "继续", "再往前", "再继续向前")
GO_ZH = ("走", "动", "去", "跑", "移动", "前进", "行驶", "靠近", "过来")
FAR_ZH = ("", "了", "一步", "下去了", "，危险")
NO_MORE = (
    "no further",
    "not another step",
    "not one more inch",
    "no more driving",
    "go no further",
    "don't take another step",
    "bring everything to a halt",
    "bring wa to a standstill",
    "come to a full stop",
    "hold everything",
    "wait for me",
    "stop the robot from moving",
    "keep wa from moving",
    "why don't you stop",
    "I told you to stop",
    "sotp",
    "等等我",
    "我不要你再走了",
    "停止往前走",
    "stop moving any further",
)
PLACES = ("the door", "the kitchen table", "the stop sign", "wb", "the left", "my desk over there")


@given(
    st.one_of(
        st.tuples(*map(st.sampled_from, (NOT, KEEP, GO, FAR, AFTER))).map(" ".join),
        st.tuples(*map(st.sampled_from, (NOT_ZH, KEEP_ZH, GO_ZH, FAR_ZH))).map("".join),
        st.tuples(
            st.sampled_from(("", "please ", "no, ", "请")), st.sampled_from(NO_MORE), st.sampled_from("!。 ")
        ).map("".join),
        st.builds(
            "{} {} {} {}".format,
            st.sampled_from(("stop", "quit", "wa, stop", "please stop")),
            st.sampled_from(("driving", "moving", "going", "walking")),
            st.sampled_from(("to", "towards", "into", "past")),
            st.sampled_from(PLACES),
        ),
        st.builds(
            "停止{}{}".format,
            st.sampled_from(("去", "前往", "驶向", "往")),
            st.sampled_from(("门口", "厨房", "停车场")),
        ),
    )
)
@example("请keep wa from moving!")
def test_what_forbids_to_go_on_stops(text):
    assert is_stop(text, lambda: ROBOTS)


THINGS = (
    "the stop sign",
    "the stop button",
    "the apple",
    "the halt sign",
    "the door",
    "the bus stop",
    "停止牌",
    "停车标志",
    "苹果",
)


@given(
    st.sampled_from(
        (
            "put {} in the box",
            "drive to {}",
            "don't drive to {}",
            "don't move {}",
            "do not touch {}",
            "move {} forward",
            "never put {} on the table",
            "don't take {} to the door",
            "bring {} to the table",
            "no {}",
            "not {}",
            "{} must not fall",
            "keep {} in the box",
            "don't stop going to {}",
            "stop driving to {} and pick up the cup",
            "把{}放进盒子",
            "别动{}",
            "不要拿{}",
            "不要去{}那里",
            "把{}往前移动一点",
            "别把{}放进盒子",
        )
    ),
    st.sampled_from(THINGS),
    st.sampled_from(("", "!", "。", " now")),
)
def test_what_forbids_or_orders_something_of_a_thing_does_not(text, thing, after):
    assert not is_stop(text.format(thing) + after, lambda: ("wa", "wb"))


@pytest.mark.parametrize(
    "text",
    [
        "go on",
        "move forward",
        "no, go on",
        "no, further",
        "keep moving",
        "it is not moving",
        "don't turn off",
        "don't come back",
        "don't let go",
        "不动",
        "继续",
        "往前走",
        "take a step forward",
        "not so fast",
        "don't drive to the door",
        "no no no",
    ],
)
def test_an_order_to_go_on_does_not(text):
    assert not is_stop(text, lambda: ROBOTS)


@pytest.mark.parametrize(
    "text",
    [
        "not so fast",
        "don't drive to the door",
        "don't touch the cup",
        "no no no",
        "wait a while",
        "别去门口",
        "不要碰杯子",
    ],
)
def test_what_says_not_to_do_something_is_told_how_to_stop(text):
    read = interpret(text, SCENE)
    assert isinstance(read, RefusedIntent) and "paos stop" in read.reason


HOME = ("wa", "wb", "cart_2", "arm", "小白")


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "stop!",
        "please stop",
        "wa, stop",
        "停",
        "请停下",
        "stop wa now",
        "别动",
        "stop the cart",
        "don't go any further",
    ],
)
def test_a_stop_for_one_robot_that_names_no_other_is_for_that_one(text):
    assert is_stop(text, lambda: HOME) and not stops_others(text, "wa", lambda: HOME)


@given(
    st.sampled_from(WORDS),
    st.sampled_from(
        (
            "wb",
            "cart_2",
            "arm",
            "小白",
            "wa and wb",
            "all",
            "all robots",
            "everything",
            "them",
            "both",
            "robot 2",
            "所有机器人",
        )
    ),
    st.sampled_from(("{0} {1}", "{1}, {0}", "please {0} {1}", "{0} {1} now", "{0}! {0} {1}!")),
)
def test_a_stop_for_one_robot_that_names_another_is_for_all(word, named, form):
    assert stops_others(form.format(word, named), "wa", lambda: HOME)


@pytest.mark.parametrize(
    "text", ["stop", "please stop now!", "wait for me", "wa, don't go any further", "不要再走了", "请停下"]
)
def test_no_name_is_asked_for_where_no_word_may_be_one(text):
    def unknown():
        raise AssertionError

    assert not stops_others(text, "wa", unknown)


def test_a_stop_whose_robots_cannot_be_known_is_for_all():
    assert stops_others("stop the cart", "wa", list) and not stops_others("stop", "wa", list)
    assert not stops_others("stop cart 2", "cart_2", lambda: ("cart", "cart_2"))
    assert stops_others("stop cart 2", "cart", lambda: ("cart", "cart_2"))


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
