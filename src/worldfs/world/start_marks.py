"""Marks of calls into a package's code that a start makes: a process that dies in one leaves its mark.

A mark is written before the call and removed after it. After `FATAL` starts that died in the same call of the same
code, that code is called no more, and the start goes on without it. A mark need outlive the process alone: no write of
one waits for the disk, and where one fails the driver is made, and told what is in force, all the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int
from worldfs.base.messages import coded
from worldfs.base.plugin_registry import installed, package_of
from worldfs.runtime.job_recovery import REVIEWS

from .robot_drivers import ANY

if TYPE_CHECKING:
    from worldfs.base.model import Target
    from worldfs.storage.store_interface import Store

    from .node_specs import NodeSpec

FILE: Final = ".paos/starts.json"
FATAL: Final = REVIEWS  # starts that died in one call
START_DIED, START_FATAL = "START_DIED", "START_FATAL"


class StartMarks:
    """Used by the kernel's own thread only. `code`: what a node's package code is known by; "" where it has none."""

    def __init__(self, store: Store, code: Callable[[str], str]) -> None:
        self._store, self._code = store, code
        self._marks: dict[str, tuple[int, str]] | None = None  # "NODE CALL" → starts that died in it, the code's digest
        self._begun: set[str] = set()

    def begin(self, node: str, call: str) -> BadInput | None:
        """Mark the call. The error that names it where starts have died in it: by `fatal` it must not be called."""
        if not (code := self._code(node)):
            return None
        marks, name, digest = self._read(), f"{node} {call}", hashlib.sha256(code.encode()).hexdigest()[:16]
        n, earlier = marks.get(name, (0, ""))
        n = n if earlier == digest else 0
        if n < FATAL and name not in self._begun:
            marks[name] = n + 1, digest
            self._begun.add(name)
            self._write()
        if not n:
            return None
        kind = code.partition("\n")[0]
        fix = coded("plugin.correct_start", file=FILE) if n >= FATAL else coded("plugin.correct")
        return BadInput(
            coded("plugin.start_died", n=n, call=f"{kind} {call}"), path=f"/nodes/{node}", op="up",
            expected=coded("plugin.an_answer"), fix=fix, code=START_FATAL if n >= FATAL else START_DIED,
        )  # fmt: skip

    def end(self, node: str, *calls: str) -> None:
        """These calls have returned."""
        names = {f"{node} {call}" for call in calls} & self._begun
        if names:
            self._drop(names)

    def end_all(self) -> None:
        """This process ends as it should: what still hangs has not ended it."""
        if self._begun:
            self._drop(set(self._begun))

    def _drop(self, names: set[str]) -> None:
        self._begun -= names
        self._marks = {name: mark for name, mark in self._read().items() if name not in names}
        self._write()

    def _read(self) -> dict[str, tuple[int, str]]:
        if self._marks is None:
            self._marks = {}
            with suppress(WorldError, ValueError, TypeError, KeyError, AttributeError):  # it counts from 0 again
                stored = self._store.get(FILE)
                value = parse_json(stored.data) if stored is not None else {}
                self._marks = {str(name): (as_int(mark["n"]), str(mark["code"])) for name, mark in value.items()}
        return self._marks

    def _write(self) -> None:
        marks = self._read()
        with suppress(WorldError):  # a full disk, or something else of this name: nothing is counted
            if marks:
                value = {name: {"n": n, "code": digest} for name, (n, digest) in marks.items()}
                data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
                self._store.put(FILE, data, durable=False)
            else:
                self._store.delete(FILE)


def package_code(spec: NodeSpec | None, target: Target | None) -> str:
    """What a node's package code is known by: the package and its plug-in, then a line of the node's entry; "" where a
    start calls only code of ours."""
    wanted = []
    if spec is not None:
        robot = spec.driver.strip().lower()  # as robot_drivers.py reads it
        named = target.driver.strip().lower() if target is not None and robot == ANY else robot
        wanted = [("worldfs.bodies", spec.driver), ("worldfs.robots", named)]
    elif target is not None and target.enabled:
        wanted = [("worldfs.targets", target.adapter)]
        if target.backend.strip().lower() == "gymnasium" and not target.config.get("python"):
            return f"gymnasium {target.config.get('env_id', '')}\n{target!r}"
    for group, name in wanted:
        for point in installed(group).get(name, ()):
            if not point.value.startswith("worldfs."):
                return f"{package_of(point)} {name}\n{spec or ''}{target or ''}"
    return ""
