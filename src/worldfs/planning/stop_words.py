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
    }
)  # fmt: skip
_CHINESE: Final = frozenset(
    {
        "停", "停下", "停下来", "停止", "停住", "停一下", "停手", "住手", "站住", "别动", "不要动", "不许动", "急停",
        "紧急停止", "紧急停机", "立即停止", "立刻停止", "马上停止", "马上停下", "立即停下", "立刻停下", "马上停",
        "快停", "快停下", "停止运动", "停止动作", "停止移动", "停机", "机器人停下", "停下机器人", "停止机器人",
        "全部停止", "全部停下", "都停下", "暂停",
    }
)  # fmt: skip
LONGEST: Final = 400  # characters: a longer text is no stop command
_POLITE: Final = re.compile(r"^(?:please|just|hey|robot|now|oh|no|ok|okay) | (?:please|now|immediately|at once)$")
_POLITE_ZH: Final = re.compile(r"^(?:请|快|赶快|赶紧|现在)|(?:吧|啊|呀|了|！)$")


def is_stop(text: str) -> bool:
    """Does the whole text say stop, however it is spelled, shouted or repeated?

    "stop!", "STOP STOP STOP", "please stop.", "停！停！" do; "stop the music", "put it next to the stop sign" do not.
    """
    if len(text) > LONGEST:
        return False
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    words = " ".join("".join(sign if sign.isalnum() or sign == "'" else " " for sign in plain).split())
    return any(_without_politeness(form) for form in (words, _once(words), words.replace(" ", "")))


def _without_politeness(words: str) -> bool:
    """Polite words around it are dropped one by one."""
    while words:
        if words in _ENGLISH or words in _CHINESE:
            return True
        less = _POLITE.sub("", words)
        less = less if less != words else _POLITE_ZH.sub("", words)
        if less == words:
            return len(words) > 1 and not words.isascii() and set(words) == {"停"}
        words = less.strip()
    return False


def _once(words: str) -> str:
    """ "stop stop stop" as "stop"."""
    parts = words.split()
    return parts[0] if parts and len(set(parts)) == 1 else words
