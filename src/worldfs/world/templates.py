"""The templates that onboard writes: the empty documents of the layout (workspace D11)."""

from __future__ import annotations

from worldfs.formats import lessons_file


def template(name: str, language: str) -> bytes:
    """The empty document of a layout row's `template` name."""
    if name == "lessons":
        return lessons_file.template(language)
    if name == "action":
        return b'# ACTION\n\n```json\n{\n  "queue": []\n}\n```\n'
    # ENVIRONMENT.md and EMBODIED.md are the watchdog's, written at the first start; TASK.md is the planner's.
    return b""
