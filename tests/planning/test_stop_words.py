"""What says stop, and what only has the word in it."""

import pytest

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
