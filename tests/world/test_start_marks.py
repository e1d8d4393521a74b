"""A package whose code ends the process while a start calls it is left out by name after three starts."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Target
from worldfs.storage.memory_store import MemoryStore
from worldfs.world.start_marks import FATAL, FILE, StartMarks, package_code

STARTS = """
import json, sys
from pathlib import Path
from worldfs.formats import config
from worldfs.world.world import World

settings = config.read(sys.argv[2].encode()) if sys.argv[2] else None
with World.open(Path(sys.argv[1]), config=settings, serve=True, threads=True) as world:
    drivers = {id: type(node.driver).__name__ for id, node in world.kernel.nodes.items()}
    found = {where: [item.code, item.found] for where, item in world.kernel.alert.now().items()}
print(json.dumps([drivers, found]))
"""
FATAL_PACKAGE = """
import os
from worldfs.base.model import RobotState, Scene

def dies(call):
    if os.environ.get("DIES_AT") == call:
        os._exit(0)

dies("import")

class Body:
    operations = ()
    def __init__(self, context):
        dies("__init__")
        self.robot = context.robot_id
    def open(self, scene): dies("open")
    def observe(self): return Scene((RobotState(self.robot, (0.0, 0.0, 0.0)),))
    def review(self, order): return ()
    def execute(self, order, run): raise AssertionError
    def close(self): pass

class Target:
    def __init__(self, target, context):
        dies("made")
        self.target = target
    def open(self): dies("open")
    def sensors(self): return frozenset()
    def actions(self): return []
    def observations(self): return {}
    def observe(self): return {}
    def scene(self): return Scene()
    def stop(self): pass
    def close(self): pass
"""
ROBOTS = json.dumps(
    {"embodiments": {"instances": [{"robotId": "bad_1", "driver": "fatal"}, {"robotId": "good_1", "driver": "good"}]}}
)


def text(robots):
    value = {"robots": [{"robot_id": id, "pose": [0.0, 0.0, 0.0]} for id in robots], "objects": []}
    return f"# World\n\n```json\n{json.dumps(value)}\n```\n"


@pytest.fixture
def starts(tmp_path, install):
    groups = {"worldfs.bodies": {"fatal": "fatal_one:Body"}, "worldfs.targets": {"Fatal": "fatal_one:Target"}}
    place = install("fatal-package", groups, fatal_one=FATAL_PACKAGE)
    good = install("good-package", {"worldfs.bodies": {"good": "good_one:Body"},
                                    "worldfs.targets": {"Good": "good_one:Target"}}, good_one=FATAL_PACKAGE.replace(
                                        'os.environ.get("DIES_AT")', "None"))  # fmt: skip
    (tmp_path / "EMBODIED.md").write_text("# Robot\n")

    def start(settings, dies):
        path = os.pathsep.join((str(place), str(good)))
        done = subprocess.run(
            [sys.executable, "-c", STARTS, str(tmp_path), settings], capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": path, "DIES_AT": dies, "HOME": str(tmp_path)},
        )  # fmt: skip
        return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else done.stderr

    return start


@pytest.mark.slice(3)
@pytest.mark.parametrize("dies", ["import", "__init__", "open"])
def test_a_body_that_ends_start_after_start_is_left_out_by_name(tmp_path, starts, dies):
    (tmp_path / "ENVIRONMENT.md").write_text(text(("bad_1", "good_1")))
    assert [starts(ROBOTS, dies) for _ in range(FATAL)] == [""] * FATAL
    drivers, alerts = starts(ROBOTS, dies)
    code, found = alerts["/nodes/bad_1"]
    assert code == "START_FATAL" and "fatal-package 1.0 fatal" in found and "/nodes/good_1" not in alerts
    assert drivers["bad_1"] == ("ShutDriver" if dies == "open" else "BarredDriver")
    (tmp_path / FILE).unlink()  # as the alert says
    drivers, alerts = starts(ROBOTS, "")
    assert drivers["bad_1"] == drivers["good_1"] and "/nodes/bad_1" not in alerts and not (tmp_path / FILE).exists()


@pytest.mark.slice(3, 2)
@pytest.mark.parametrize("dies", ["import", "made", "open"])
def test_a_target_that_ends_start_after_start_is_left_out_until_its_entry_is_another_one(tmp_path, starts, dies):
    def declare(**more):
        targets = [{"id": "bad", "type": "sim", "adapter": {"class": "Fatal"}, **more},
                   {"id": "fine", "type": "sim", "adapter": {"class": "Good"}}]  # fmt: skip
        (tmp_path / "TARGETS.md").write_text(f"```json\n{json.dumps({'targets': targets})}\n```\n")

    declare()
    assert [starts("", dies) for _ in range(FATAL)] == [""] * FATAL
    drivers, alerts = starts("", dies)
    assert alerts["/nodes/bad"][0] == "START_FATAL"
    assert (drivers["bad"], drivers["fine"]) == ("ShutDriver", "SessionDriver")
    declare(config={"now": "corrected"})
    drivers, alerts = starts("", "")
    assert drivers["bad"] == "SessionDriver" and "/nodes/bad" not in alerts and not (tmp_path / FILE).exists()


def test_a_start_that_died_once_is_told_at_the_next_one(tmp_path, starts):
    (tmp_path / "ENVIRONMENT.md").write_text(text(("bad_1", "good_1")))
    starts(ROBOTS, "open")
    _, alerts = starts(ROBOTS, "")
    assert alerts["/nodes/bad_1 open"][0] == "START_DIED"
    assert not any(code.startswith("START_") for code, _ in starts(ROBOTS, "")[1].values())


def marks(store, code="package\nentry"):
    return StartMarks(store, lambda node: code)


def test_calls_that_return_and_processes_that_end_as_they_should_do_not_count():
    store = MemoryStore()
    for _ in range(2 * FATAL):
        one = marks(store)
        assert one.begin("a", "open") is None and one.begin("b", "open") is None
        one.end("a", "open")
        one.end_all()
    assert store.get(FILE) is None and marks(store, "").begin("a", "open") is None and store.get(FILE) is None


def test_each_death_in_one_call_counts_once_and_other_code_begins_at_none():
    store = MemoryStore()
    codes = []
    for _ in range(FATAL + 1):
        one = marks(store)
        one.begin("a", "__init__")
        one.end("a", "__init__")
        found = [one.begin("a", "open"), one.begin("a", "open")][0]
        codes.append(found and found.code)
    assert codes == [None, "START_DIED", "START_DIED", "START_FATAL"]
    assert marks(store, "package 2\nentry").begin("a", "open") is None


@pytest.mark.parametrize("data", [b"", b"[]", b"7", b'{"a open": 7}', b'{"a open": {"n": 1e999, "code": 1}}', b"\xff"])
def test_a_file_of_marks_that_cannot_be_read_counts_none(data):
    store = MemoryStore()
    store.put(FILE, data)
    found = marks(store).begin("a", "open")
    assert not isinstance(found, BadInput)


def test_an_environment_that_a_start_makes_is_known_by_its_name_and_entry():
    one = Target("one", "SIM", backend=" Gymnasium", adapter="SimTargetAdapter", config={"env_id": "Odd-v0"})
    assert package_code(None, one).startswith("gymnasium Odd-v0\n")
    others = (replace(one, config={"env_id": "Odd-v1"}), replace(one, config={**one.config, "seed": 1}))
    assert len({package_code(None, entry) for entry in (one, *others)}) == 3
    apart = {**one.config, "python": "/usr/bin/python3"}  # in a process of its own
    for ours in (replace(one, config=apart), replace(one, enabled=False), replace(one, backend="mujoco"), None):
        assert package_code(None, ours) == ""
