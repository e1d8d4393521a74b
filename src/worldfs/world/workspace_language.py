"""The language of a workspace: what its own documents are written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.dir_reader import DirReader
from worldfs.base.errors import UserError

if TYPE_CHECKING:
    from worldfs.formats.config import Config

    from .home import Home

_OVERRIDES = "phyagentos_"  # of variables that config.json gives way to (formats/config.py, not loaded for it here)
_HAN = re.compile(rb"\xe4[\xb8-\xbf][\x80-\xbf]|[\xe5-\xe9][\x80-\xbf]{2}")  # U+4E00 to U+9FFF in UTF-8
_ENTRY = re.compile(rb"^(#{1,3} |- \*\*)", re.MULTILINE)


def detect_language(task: bytes, lessons: bytes, *profiles: bytes) -> str:
    """`zh` or `en`: by TASK.md if there is one, else by the lessons, else by the profiles' descriptions."""
    return language_of_work(task, lessons) or language_of_profiles(profiles)


def language_of_work(task: bytes, lessons: bytes) -> str:
    """By TASK.md if there is one, else by the lessons; "": neither says anything."""
    for data in (task, _entries(lessons)):
        if _han(data) >= 2:
            return "zh"
        if data.strip():
            return "en"
    return ""


def language_of_profiles(profiles: Iterable[bytes]) -> str:
    return "zh" if any(_han(data) >= 10 for data in profiles) else "en"


def home_language(place: Home | Path, environ: Mapping[str, str] | None = None) -> str:
    """The language of a home that is not open, or of one workspace directory; `en` where nothing is readable."""
    root = place if isinstance(place, Path) else place.workspace
    robots = [root]
    if not isinstance(place, Path) and (config := _config(place, environ or {})):
        if config.language:
            return config.language
        if config.mode == "fleet":
            root, robots = place.root(config), [Path(item.workspace) for item in config.instances]
    files = [(root, "TASK.md"), (root, "LESSONS.md"), *((robot, "EMBODIED.md") for robot in robots)]
    try:
        return detect_language(*(DirReader(folder).read(name) or b"" for folder, name in files))
    except UserError:
        return "en"


def _config(home: Home, environ: Mapping[str, str]) -> Config | None:
    """The configuration, which is read as a whole only where a language or a fleet may stand in it."""
    try:
        if not any(name.lower().startswith(_OVERRIDES) for name in environ):
            data = home.config_path.read_bytes().lower()
            if b"language" not in data and b"fleet" not in data:
                return None
        return home.config(environ)
    except (OSError, UserError):  # `paos check` reports it
        return None


def _han(data: bytes) -> int:
    return len(_HAN.findall(data))


def _entries(lessons: bytes) -> bytes:
    """Lessons without the file's title, which is the same word in both languages."""
    return lessons if len(_ENTRY.findall(lessons)) > 1 else b""
