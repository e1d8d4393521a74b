"""The robot that an instruction is said to: "arm_2, put …", "tell arm_2 to put …", 让arm_2把…."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

# What is said before a robot's name, and what follows it.
_FORMS: Final = (
    (re.compile(r"(?:(?:hey|hi|hello|ok|okay|please)[ ,]{1,3}|请[,，]?)?", re.IGNORECASE), re.compile(" ?[,:，：]")),
    (re.compile(r"(?:please )?(?:tell|ask|let|have) ", re.IGNORECASE), re.compile(r" (?:to )?")),
    (re.compile("请?[让叫]"), re.compile("[ ,，]?(?=[\u4e00-\u9fff])")),
)


def addressed(text: str, robots: Collection[str]) -> tuple[str, str]:
    """The id of the robot, and what is said to it; "" and the whole text where none of these is addressed."""
    said = text.strip()
    for id in sorted(filter(None, robots), key=len, reverse=True):
        for before, after in _FORMS:
            begins = before.match(said)
            start = begins.end() if begins is not None else len(said)
            end = start + len(id)
            follows = after.match(said, end) if said[start:end].lower() == id.lower() else None
            if follows is not None and (rest := said[follows.end() :].strip()):
                return id, rest
    return "", text
