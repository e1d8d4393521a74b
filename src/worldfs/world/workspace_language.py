"""The language of a workspace: what its own documents are written in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from worldfs.base.dir_reader import DirReader
from worldfs.base.errors import UserError, WorldError
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object

from .home import Home

_OVERRIDES = "phyagentos_"  # of variables that config.json gives way to (formats/config.py, not loaded for it here)
# Patterns, compiled where a document has to be read: most homes say their language
_HAN = rb"\xe4[\xb8-\xbf][\x80-\xbf]|[\xe5-\xe9][\x80-\xbf]{2}"  # U+4E00 to U+9FFF in UTF-8
_ENTRY = rb"(?m)^(#{1,3} |- \*\*)"


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


def home_language(home: str, environ: Mapping[str, str]) -> str:
    """The language of a home that is not open; `en` where nothing is readable."""
    overridden = any(name.lower().startswith(_OVERRIDES) for name in environ)
    data = b"" if overridden else _config_bytes(home).lower()
    if said := _plain_language(data):
        return said
    if overridden or b"language" in data or b"fleet" in data:
        with suppress(OSError, UserError):  # `paos check` reports it
            config = Home.find(home, environ).config(environ)
            if config.language:
                return config.language
            if config.mode == "fleet":
                return directory_language(config.shared_workspace, [item.workspace for item in config.instances])
    return directory_language(os.path.join(home, "workspace"))


def directory_language(root: str, robots: Sequence[str] = ()) -> str:
    """The language of a workspace that is not open. `robots`: the directories of its robots, if it is not theirs."""
    files = [(root, "TASK.md"), (root, "LESSONS.md"), *((robot, "EMBODIED.md") for robot in robots or (root,))]
    try:
        return detect_language(*(DirReader(folder).read(name) or b"" for folder, name in files))
    except UserError:
        return "en"


def _config_bytes(home: str) -> bytes:
    try:
        return read_given_file(os.path.join(home, "config.json"), op="read")
    except WorldError:
        return b""


def _plain_language(data: bytes) -> str:
    """Of a config.json (lower case) that has the word once, as `paos onboard` writes it; "": to be read as a whole."""
    if data.count(b"language") == 1:
        with suppress(ValueError):
            said = as_object(parse_json(data)).get("language")
            return said if said in ("en", "zh") else ""
    return ""


def _han(data: bytes) -> int:
    return len(re.findall(_HAN, data))


def _entries(lessons: bytes) -> bytes:
    """Lessons without the file's title, which is the same word in both languages."""
    return lessons if len(re.findall(_ENTRY, lessons)) > 1 else b""
