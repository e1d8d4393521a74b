"""Behaviour as text: a script of lines with the files inlined below, run against a real world.

    # the planner asks, the kernel works
    onboard
    start
    as planner
    write ACTION.md asked.md
    tick
    json ACTION.md /queue/0/status completed
    -- asked.md --
    {"queue": [ … ]}

A line is a verb and its words (quoted as in a shell); `#` begins a comment. Verbs are in `ScriptWorld`; a `!` before a
verb expects it to fail its expectation (`!has`). UPDATE_SCRIPTS=1 rewrites the files that `cmp` compares with.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .script_world import ScriptWorld

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store

_SECTION = re.compile(r"^-- (\S+) --$")


@dataclass(slots=True)
class Script:
    """`lines`: (number, text). `files`: name → content, in order. `head` keeps the bytes above the first file."""

    head: str
    lines: list[tuple[int, str]]
    files: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.head + "".join(f"-- {name} --\n{text}" for name, text in self.files.items())


class ScriptError(AssertionError):
    """A line that failed: `file:number: line`, and why."""


def parse(text: str) -> Script:
    """Text → script. Raises `ScriptError` for a file that is inlined twice."""
    head: list[str] = []
    files: dict[str, list[str]] = {}
    into = head
    for line in text.splitlines(keepends=True):
        found = _SECTION.match(line.rstrip("\n"))
        if found:
            if found[1] in files:
                raise ScriptError(f"file {found[1]!r} is inlined twice")
            into = files[found[1]] = []
        else:
            into.append(line)
    lines = [(number, line.strip()) for number, line in enumerate(head, 1)]
    return Script(
        "".join(head),
        [(number, line) for number, line in lines if line and not line.startswith("#")],
        {name: "".join(content) for name, content in files.items()},
    )


def verbs() -> dict[str, Callable[..., None]]:
    """Verb → method of `ScriptWorld`: the public ones; a trailing underscore keeps clear of Python's own words."""
    return {
        name.rstrip("_"): method
        for name, method in vars(ScriptWorld).items()
        if callable(method) and not name.startswith("_")
    }


def run(
    path: Path, root: Path, *, disk: bool, update: bool | None = None, opened: Callable[[], Store] | None = None
) -> None:
    """Run one script in the empty directory `root`; `disk`, `opened`: as `ScriptWorld` has them.

    Raises `ScriptError` at the first line that does not hold.
    """
    script = parse(path.read_text(encoding="utf-8"))
    update = os.environ.get("UPDATE_SCRIPTS", "") not in ("", "0") if update is None else update
    known = verbs()
    stage = ScriptWorld(root, script.files, disk=disk, update=update, opened=opened)
    try:
        for number, line in script.lines:
            words = shlex.split(line, comments=True)
            wrong = words[0].startswith("!")
            verb = words[0].lstrip("!")
            if verb not in known:
                raise ScriptError(f"{path.name}:{number}: no verb {verb!r}; there are: {', '.join(sorted(known))}")
            try:
                known[verb](stage, *words[1:])
            except AssertionError as error:
                if not wrong:
                    raise ScriptError(f"{path.name}:{number}: {line}\n{error}") from None
            except Exception as error:
                raise ScriptError(f"{path.name}:{number}: {line}\n{type(error).__name__}: {error}") from error
            else:
                if wrong:
                    raise ScriptError(f"{path.name}:{number}: {line}\nexpected it not to hold, and it does")
    finally:
        stage._end()
    if update and stage.updated:
        path.write_text(str(script), encoding="utf-8")
