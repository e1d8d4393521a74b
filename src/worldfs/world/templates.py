"""What onboard writes: every document of the layout that has a template, empty (decision D11)."""

from __future__ import annotations

from worldfs.formats import action, environment, lessons, task


def template(name: str, language: str) -> bytes:
    """The empty document of a layout row's `template` name."""
    if name == "environment":
        return environment.template()
    if name == "action":
        return action.template()
    if name == "lessons":
        return lessons.template(language)
    if name == "task":
        return task.template(language)
    return b""  # EMBODIED.md: the profile is copied in at the first start
