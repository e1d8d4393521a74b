"""A child that a plug-in forks runs none of our code: it ends where it leaves the plug-in's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.testing.waiting import PATIENCE_S

PACKAGE = """
import os


class Odd(SystemExit):
    @property
    def code(self):
        raise KeyboardInterrupt


class Body:
    def __init__(self, context):
        pass

    def observe(self):
        if os.fork() == 0:
            {left}
        return os.waitstatus_to_exitcode(os.wait()[1])


if os.environ.get("AT") == "import" and (code := Body(None).observe()) != 7:
    print(code, flush=True)
"""
CALLER = """
import os
from typing import Protocol

from worldfs.base.clock import SystemClock
from worldfs.base.plugin_calls import checked
from worldfs.base.plugin_faults import contained
from worldfs.base.plugin_registry import PluginGroup
from worldfs.sessions.bounded_call import bounded


class Port(Protocol):
    def observe(self) -> int: ...


body = PluginGroup("worldfs.bodies", {})["forker"](None)
at = {
    "call": lambda: contained(body.observe, "forker"),
    "port": checked(body, Port).observe,
    "thread": lambda: bounded("forker", SystemClock(), checked(body, Port).observe, float("inf")),
}
if (call := at.get(os.environ["AT"])) is not None:
    print(call(), flush=True)
"""


@pytest.mark.parametrize("at", ["call", "port", "thread", "import"])
@pytest.mark.parametrize(
    ("left", "code"),
    [
        ("return 7", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('why')", 1),
        ("raise KeyboardInterrupt", 1),
        ("raise ValueError('why')", 1),
        ("raise Odd", 1),
    ],
)
def test_a_child_ends_where_it_leaves_the_plug_in(tmp_path: Path, install, at: str, left: str, code: int) -> None:
    place = install("forkers", {"worldfs.bodies": {"forker": "forkers_body:Body"}})
    (place / "forkers_body.py").write_text(PACKAGE.replace("{left}", left))
    environ = {"PYTHONPATH": ":".join(sys.path), "AT": at}
    command = [sys.executable, "-c", CALLER]
    said = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (said.stdout, said.stderr) == (f"{code}\n", "")
