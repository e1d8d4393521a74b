"""The specification's matrix, cell by cell, through the tree of an opened workspace and through the command."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from worldfs.base.errors import BadInput, MissingRequirement, NotFound, NotPermitted
from worldfs.world.world import World

ROLES = ("planner", "critic", "watchdog", "orchestrator", "runtime_watchdog")
# 000 "Who Reads, Who Writes"; `w` only at start-up; the planner reads ORCHESTRATOR.md (reference D2).
MATRIX = {
    "ENVIRONMENT.md": ("R", "R", "W", "R", "R"),
    "EMBODIED.md": ("R", "R", "w", "-", "-"),
    "ACTION.md": ("W", "R", "RW", "-", "-"),
    "SESSIONS.md": ("W", "-", "-", "W", "RW"),
    "TARGETS.md": ("R", "-", "-", "R", "R"),
    "SKILLS.md": ("R", "-", "-", "R", "R"),
    "TASK.md": ("W", "R", "-", "R", "-"),
    "ORCHESTRATOR.md": ("R", "-", "-", "W", "-"),
    "LESSONS.md": ("R", "W", "-", "R", "-"),
    "ROBOTS.md": ("R", "-", "R", "R", "-"),
}
CELLS = [(name, role, cell) for name, row in MATRIX.items() for role, cell in zip(ROLES, row, strict=True)]
TEXT = {"ACTION.md": b'{"queue": []}\n', "SESSIONS.md": b"sessions: []\n"}


@pytest.fixture(scope="module")
def world(found):
    place = found("page_en")
    for name in ("SESSIONS.md", "TARGETS.md", "SKILLS.md", "ORCHESTRATOR.md"):
        place.put(name, f"# {name}\n")
    with World.open(place.root) as world:
        world.place = place
        yield world


@pytest.mark.parametrize(("name", "role", "cell"), CELLS, ids=[f"{name}-{role}" for name, role, _ in CELLS])
def test_reading(world: World, name: str, role: str, cell: str) -> None:
    path = world.resolve(name)
    if cell == "-":  # what you may not see does not exist for you
        with pytest.raises(NotFound):
            world.namespace(role).read(path)
        assert name not in world.namespace(role).list(path.rpartition("/")[0])
    else:  # a writer may read back what it writes (D3)
        assert world.namespace(role).read(path).data


@pytest.mark.parametrize(("name", "role", "cell"), CELLS, ids=[f"{name}-{role}" for name, role, _ in CELLS])
def test_writing(world: World, name: str, role: str, cell: str) -> None:
    path = world.resolve(name)
    before = world.place.bytes()
    if "W" in cell:
        try:
            there = world.namespace(role)
            there.write(path, TEXT.get(name) or there.read(path).data)
        except (MissingRequirement, BadInput):
            assert name == "SESSIONS.md"  # allowed, though nobody here carries sessions out yet
    else:
        with pytest.raises(NotFound if cell == "-" else NotPermitted):
            world.namespace(role).write(path, b"# mine now\n")
        assert world.place.bytes() == before


def test_the_operator_reads_all_and_writes_what_is_declared(world: World) -> None:
    for name in MATRIX:
        assert world.namespace("operator").read(world.resolve(name)).data
    for name in ("TARGETS.md", "SKILLS.md"):
        world.namespace("operator").write(world.resolve(name), b"# declared\n")
    for name in ("ENVIRONMENT.md", "TASK.md", "LESSONS.md", "ROBOTS.md"):
        with pytest.raises(NotPermitted):
            world.namespace("operator").write(world.resolve(name), b"# mine now\n")


@pytest.mark.parametrize("role", ["stranger", "", "PLANNER", "planner "])
def test_a_role_that_there_is_not_sees_nothing(world: World, role: str) -> None:
    for name in MATRIX:
        with pytest.raises(NotFound):
            world.namespace(role).read(world.resolve(name))


def test_the_command_refuses_with_2_and_says_who_may(found: Callable) -> None:
    place = found("page_en")
    before = place.bytes()
    refused = place.paos("--as", "planner", "write", "LESSONS.md", stdin=b"# nothing ever failed\n")
    assert (refused.code, refused.out) == (2, "")
    assert "critic" in refused.err
    for role, name in (("critic", "SKILLS.md"), ("watchdog", "TASK.md"), ("agent", "ENVIRONMENT.md")):
        hidden = place.paos("--as", role, "cat", name)
        assert (hidden.code, hidden.out) == (2, "")
        assert "no such file" in hidden.err
    assert place.bytes() == before
    assert place.paos("--as", "planner", "write", "TASK.md", stdin=b"# Task: rest\n").code == 0
    assert place.paos("--as", "critic", "cat", "TASK.md").out == "# Task: rest\n"
    assert place.paos("--as", "critic", "write", "TASK.md", stdin=b"# Task: work\n").code == 2


def test_an_action_through_the_door_is_a_job_and_a_stranger_s_is_none(found: Callable) -> None:
    place = found("page_en")
    sheet = b'{"queue": [{"action_id": "act_9", "action_type": "move_to", "params": {}, "robot_id": "franka_001"}]}'
    for role in ("critic", "orchestrator", "nobody"):
        assert place.paos("--as", role, "write", "ACTION.md", stdin=sheet).code == 2
    assert "act_9" not in place.paos("cat", "ACTION.md").out
    assert place.paos("--as", "planner", "write", "ACTION.md", stdin=sheet).code == 0
    assert "act_9" in place.paos("cat", "ACTION.md").out
