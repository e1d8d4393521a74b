"""The words that stop a robot. They are checked before any planning, in a chat as on the command line."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ENGLISH: Final = frozenset(
    {
        "stop", "halt", "freeze", "abort", "stop now", "stop it", "stop that", "stop there", "stop right there",
        "stop moving", "stop everything", "stop all", "stop all robots", "stop all of them", "stop immediately",
        "stop at once", "stop right now", "stop robot", "stop the robot", "stop the robots", "stop the arm",
        "halt now", "halt the robot", "halt everything", "freeze now", "do not move", "don't move", "dont move",
        "hold still", "stand still", "emergency stop", "emergency halt", "emergency", "e stop", "estop",
        "pause", "pause the robot", "pause everything", "wait", "hold on", "hold it", "stay", "stay still",
        "stay there", "stay where you are", "stop what you are doing", "stop whatever you are doing",
        "stop doing that", "stop this", "stop all motion", "stop motion", "stop working", "stop here", "stop him",
        "stop her", "cease", "cease all motion", "quit", "quit it", "quit moving", "whoa", "enough", "that is enough",
        "that's enough", "cancel", "cancel it", "cancel that", "cancel everything", "abort it", "abort that",
        "abort mission", "abort everything", "shut down", "shutdown", "shut it down", "shut off", "turn off",
        "turn it off", "turn off the robot", "turn the robot off", "switch off", "switch it off",
        "switch off the robot", "switch the robot off", "power off", "power down", "kill switch", "kill it",
    }
)  # fmt: skip
_CHINESE: Final = frozenset(
    {
        "停", "停下", "停下来", "停止", "停住", "停一下", "停手", "住手", "站住", "别动", "不要动", "不许动", "急停",
        "紧急停止", "紧急停机", "立即停止", "立刻停止", "马上停止", "马上停下", "立即停下", "立刻停下", "马上停",
        "快停", "快停下", "停止运动", "停止动作", "停止移动", "停机", "机器人停下", "停下机器人", "停止机器人",
        "全部停止", "全部停下", "都停下", "暂停", "别再动", "不要再动", "不准动", "定住", "打住", "等一下", "等等",
        "等一等", "慢着", "且慢", "停止工作", "停止一切动作", "停止所有动作", "停止所有机器人", "中止", "终止", "取消",
        "取消任务",
        "停止任务", "机器人停", "停下机器", "关机", "关掉机器人", "关闭机器人", "停车", "快停下来", "马上停下来",
    }
)  # fmt: skip
LONGEST: Final = 400  # characters: a longer text is no stop command
_POLITE: Final = re.compile(
    r"^(?:please|just|hey|robot|now|oh|no|ok|okay|(?:can|could|will|would) you) "
    r"| (?:please|now|immediately|at once|right now|already|for a (?:moment|second|minute))$"
)
_POLITE_ZH: Final = re.compile(r"^(?:请|快|赶快|赶紧|现在|马上|立刻|立即|你|给我)|(?:吧|啊|呀|了|来|！)$")
_TRADITIONAL: Final = str.maketrans("來緊別動許馬機運趕現請準終務關閉車給", "来紧别动许马机运赶现请准终务关闭车给")
# "stop franka_001": whichever robot it is, all of them stop
_NAMED: Final = re.compile(
    r"(?:stop|halt|freeze|pause)(?: (?!(?:at|in|after|before|for|on|when|to|by)\b)[a-z0-9]+){0,5} [a-z]*\d+"
)


def is_stop(text: str) -> bool:
    """Does the whole text say stop, however it is spelled, shouted or repeated?

    "stop!", "STOP STOP STOP", "please stop.", "停！停！" do; "stop the music", "put it next to the stop sign" do not.
    """
    if len(text) > LONGEST:
        return False
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").translate(_TRADITIONAL)
    words = " ".join("".join(sign if sign.isalnum() or sign == "'" else " " for sign in plain).split())
    return any(_without_politeness(form) for form in (words, _once(words), words.replace(" ", "")))


def _without_politeness(words: str) -> bool:
    """Polite words around it are dropped one by one."""
    while words:
        if _single(words) in _SINGLE or words in _CHINESE or _NAMED.fullmatch(words):
            return True
        less = _POLITE.sub("", words)
        less = less if less != words else _POLITE_ZH.sub("", words)
        if less == words:
            return len(words) > 1 and not words.isascii() and set(words) == {"停"}
        words = less.strip()
    return False


def _single(words: str) -> str:
    """Each repeated letter once: "stooopp" as "stop"."""
    return re.sub(r"([a-z])\1+", r"\1", words)


_SINGLE: Final = frozenset(map(_single, _ENGLISH))


def _once(words: str) -> str:
    """ "stop stop stop" as "stop"."""
    parts = words.split()
    return parts[0] if parts and len(set(parts)) == 1 else words
