"""A module of Python's library that a command imports and does not use is not loaded; one that it uses, once."""

from __future__ import annotations

import os
import subprocess
import sys
from ast import literal_eval
from importlib.util import find_spec
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import LATER

ROOT = Path(__file__).parents[2]
THREADS = """
import sys, threading
from pathlib import Path
from worldfs.interfaces.cli.lazy_module import load_when_used

sys.path.insert(0, "{place}")
load_when_used("counted")
import counted
import counted
assert not Path("{place}/loads").exists(), "an import alone loaded it"
gate, found = threading.Barrier(8), []
def take():
    gate.wait()
    found.append((counted.last, counted.first))
threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == [("last", "first")] * 8, found
assert Path("{place}/loads").read_text() == "x"
assert counted is sys.modules["counted"] and counted.__file__ == "{place}/counted.py"
try:
    counted.nothing
except AttributeError:
    print("whole")
"""
COUNTED = """
import time
from pathlib import Path
Path(__file__).with_name("loads").open("a").write("x")
first = "first"
import circular
time.sleep(0.2)
last = "last"
"""
INTERRUPTED = """
import sys
if not hasattr(sys, "again"):
    sys.again = True
    raise KeyboardInterrupt
last = "last"
"""
CIRCULAR = """
import counted
assert counted.first and not hasattr(counted, "last")
"""


def python(*words: str) -> str:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, *words], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_eight_threads_that_use_it_at_once_load_it_once_and_see_it_whole(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text(COUNTED)
    (tmp_path / "circular.py").write_text(CIRCULAR)
    assert python("-W", "ignore", "-c", THREADS.format(place=tmp_path)) == "whole\n"


@pytest.mark.parametrize("name", LATER)
def test_what_is_taken_from_it_is_the_librarys(name: str) -> None:
    script = (
        f"import sys, worldfs.interfaces.cli.main as main; main.tune_process(); import {name} as found\n"
        f"assert type(found).__name__ == '_LazyModule'; from {name} import *\n"
        f"assert type(found).__name__ == 'module' and found.__file__.endswith('{name}.py') and found.__spec__"
    )
    assert python("-c", script) == ""


def test_one_whose_loading_was_interrupted_is_loaded_by_the_next_use(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text(INTERRUPTED)
    script = (
        f"import sys; sys.path.insert(0, '{tmp_path}')\n"
        "from worldfs.interfaces.cli.lazy_module import load_when_used; load_when_used('counted'); import counted\n"
        "try: counted.last\n"
        "except KeyboardInterrupt: print(counted.last)"
    )
    assert python("-c", script) == "last\n"


# Python 3.12 and later may take the annotations of a class from `inspect`: no import of ours loads it.
DATACLASS = ["inspect"] if sys.version_info >= (3, 12) else []


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    ("command", "used"),
    [(["status"], [*DATACLASS, "shlex"]), (["ls", "/"], DATACLASS), (["agents"], [])],
    ids=["status", "ls", "agents"],
)
def test_a_command_loads_those_alone_that_it_uses(tmp_path: Path, command: list[str], used: list[str]) -> None:
    """`status` quotes the command that starts the kernel."""
    said = "[name for name in main.LATER if type(sys.modules[name]).__name__ != '_LazyModule']"
    assert {*literal_eval(after(tmp_path, command, said))} <= {*used}


AGENT = {"agents.agent_hosts", "agents.fact_readers", "formats.config", "storage.version_log"}
BOUND = {"access.things", "access.bound_actors", "agents.agent_state", "storage.version_log"}


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    ("command", "others"),
    [
        (["status"], BOUND),
        (["ls"], BOUND | {"base.model.job"}),
        (["cat", "TASK.md"], BOUND | {"base.model.job"}),
        (["agents"], {"agents.agent_files", "storage.open_store", "base.model.agent", "formats.config"}),
        (["agent", "tasks", "rio"], AGENT | {"agents.overview"}),
        (["agent", "show", "rio"], AGENT),
    ],
    ids=["status", "ls", "cat", "agents", "tasks", "show"],
)
def test_a_reading_command_does_without_what_others_use(tmp_path: Path, command: list[str], others: set[str]) -> None:
    """Each class that a module makes costs a part of a millisecond at every start."""
    for name in others:
        assert find_spec(f"worldfs.{name}"), f"{name} has another name now"
    assert (
        after(tmp_path, command, f"sorted({others} & {{name.removeprefix('worldfs.') for name in sys.modules}})")
        == "[]"
    )


def after(place: Path, command: list[str], said: str) -> str:
    """What an expression is after a command in a new home with a task and an agent."""
    words = ["--home", str(place / "home")]
    python("-m", "worldfs.interfaces.cli.main", *words, "onboard")
    (place / "home/workspace/TASK.md").write_text("# Task\n\nClear the table\n")
    if "rio" in command:
        python("-m", "worldfs.interfaces.cli.main", *words, "agent", "init", "rio")
        python("-m", "worldfs.interfaces.cli.main", *words, "agent", "tasks", "rio", "--add", "look again")
    script = (
        f"import sys; sys.argv[1:] = {[*words, *command]}\n"
        "import worldfs.interfaces.cli.main as main\n"
        "assert main.main() == 0\n"
        f"print('after:', {said})"
    )
    return python("-c", script).rpartition("after: ")[2].rstrip("\n")
