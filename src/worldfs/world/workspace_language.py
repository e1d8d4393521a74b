"""The language of a workspace: what its own documents are written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.dir_reader import DirReader
from worldfs.base.errors import UserError

if TYPE_CHECKING:
    from .home import Home

_HAN = re.compile("[\u4e00-\u9fff]")
_ENTRY = re.compile(rb"^(#{1,3} |- \*\*)", re.MULTILINE)


def detect_language(task: bytes, lessons: bytes, *profiles: bytes) -> str:
    """`zh` or `en`: by TASK.md if there is one, else by the lessons, else by the profiles' descriptions."""
    for data in (task, _entries(lessons)):
        if _han(data) >= 2:
            return "zh"
        if data.strip():
            return "en"
    return "zh" if any(_han(data) >= 10 for data in profiles) else "en"


def home_language(place: Home | Path, environ: Mapping[str, str] | None = None) -> str:
    """The language of a home that is not open, or of one workspace directory; `en` where nothing is readable."""

    root = place if isinstance(place, Path) else place.workspace
    if not isinstance(place, Path):
        try:
            if chosen := place.config(environ or {}).language:
                return chosen
        except UserError:  # `paos check` reports it
            pass
    try:
        walk = DirReader(root)
        return detect_language(*(walk.read(name) or b"" for name in ("TASK.md", "LESSONS.md", "EMBODIED.md")))
    except UserError:
        return "en"


def _han(data: bytes) -> int:
    return len(_HAN.findall(data.decode("utf-8", "ignore")))


def _entries(lessons: bytes) -> bytes:
    """Lessons without the file's title, which is the same word in both languages."""
    return lessons if len(_ENTRY.findall(lessons)) > 1 else b""
