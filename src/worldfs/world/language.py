"""The language of a workspace: what its own documents are written in."""

from __future__ import annotations

import re

_HAN = re.compile("[\u4e00-\u9fff]")
_ENTRY = re.compile(rb"^(#{1,3} |- \*\*)", re.MULTILINE)


def language(task: bytes, lessons: bytes, profile: bytes) -> str:
    """`zh` or `en`: by TASK.md if there is one, else by the lessons, else by the profile's descriptions."""
    for data, enough in ((task, 2), (_entries(lessons), 2), (profile, 10)):
        han = len(_HAN.findall(data.decode("utf-8", "ignore")))
        if han >= enough:
            return "zh"
        if data.strip() and data is not profile:
            return "en"
    return "en"


def _entries(lessons: bytes) -> bytes:
    """Lessons without the file's title, which is the same word in both languages."""
    return lessons if len(_ENTRY.findall(lessons)) > 1 else b""
