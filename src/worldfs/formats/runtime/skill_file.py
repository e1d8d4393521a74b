"""A skill file, skills/NAME.md: prose around blocks of Python with a program of constraints, as models write them."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Skill
from worldfs.formats import block

FOLDER: Final = "skills"
RUNTIME: Final = "ReKepPolicyRuntime"  # it reads the program with a reader of its own, and executes nothing as Python
LONGEST: Final = 128 * 1024  # bytes
_NAME: Final = re.compile(r"([a-z][a-z0-9_]{0,63})\.md")


def name_of(file: str) -> str:
    """The skill's id; "" for a file that is no skill file."""
    match = _NAME.fullmatch(file)
    return match[1] if match else ""


def read(data: bytes, name: str) -> Skill:
    """Raises `BadInput` for what is no text or too long. Whether the program can be used, its runtime says."""
    path = f"{FOLDER}/{name}.md"
    if len(data) > LONGEST:
        found, expected = coded("skill.bytes", n=len(data)), coded("skill.at_most_bytes", n=LONGEST)
        raise BadInput(found, path=path, op="read a skill", expected=expected)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadInput(
            coded("common.no_utf8"), path=path, op="read a skill", expected=coded("skill.markdown")
        ) from None
    digest = hashlib.sha256(name.encode() + b"\n" + data).hexdigest()
    return Skill(name, RUNTIME, extra={"constraints": {"program": program_text(text)}}, digest=digest)


def program_text(text: str) -> str:
    """The program in a Markdown text: its blocks of Python one after the other, else the whole of it."""
    blocks = [
        text[start:end] for word, start, end, closed in block.fences(text) if closed and word in ("", "python", "py")
    ]
    return "\n\n".join(blocks) if blocks else text
