"""Workload of the memory service: notes created, changed and deleted, short ones and those with a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.agent_state import AgentState
from worldfs.agents.notebook import Notebook
from worldfs.base.disk import Disk
from worldfs.base.errors import NotFound
from worldfs.base.json_values import as_object
from worldfs.testing.call_fixtures import ALICE, tool_run
from worldfs.testing.manual_clock import ManualClock
from worldfs.world.services.memory_tools import MemoryTools

from . import View, Workload


def prepare(path: Path) -> None:
    AgentState.open(ALICE.agent, path, clock=ManualClock(), create=True).close()


def run(path: Path, disk: Disk) -> Iterator[str]:
    memory = _open(path, disk)
    short = _create(memory, "short", "the cup is red")
    yield "a short note"
    long = _create(memory, "long", "x" * 9000)
    yield "a long note"
    _do(memory, "memory_mutate", mem_id=short, content="the cup is blue")
    yield "changed"
    _do(memory, "memory_mutate", mem_id=long, content="y" * 7000)
    yield "the long one changed"
    _create(memory, "kept", "z" * 1500)
    yield "another note"
    _do(memory, "memory_evict", mem_id=short)
    yield "forgotten"
    memory.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    memory = _open(path, disk)
    made = _create(memory, "again", "w" * 3000)
    yield "a note again"
    _do(memory, "memory_mutate", mem_id=made, content="and once more")
    yield "changed again"
    memory.close()


def inspect(path: Path) -> View:
    """Every version and its content; a note created now is found when the notebook is reopened."""
    found: dict[str, object] = {}
    for name, versions in _versions(path).items():
        found[name] = tuple(versions)
    memory = _open(path, Disk())
    _create(memory, "seen", "s" * 600)
    memory.close()
    after = _versions(path)
    assert after.pop("seen", None) == [("seen", "s" * 600)], "what was noted after the crash is not found"
    assert {name: tuple(versions) for name, versions in after.items()} == found, "the next note changed others"
    found["forgotten"] = frozenset(name for name in _names(path, active=False) if name not in _names(path, active=True))
    return found


def _versions(path: Path) -> dict[str, list[tuple[str, object]]]:
    notes = _notes(path)
    try:
        return {
            name: [(version.kind, notes.content(version)) for version in notes.versions(name)] for name in _known(notes)
        }
    finally:
        _close(notes)


def _names(path: Path, *, active: bool) -> list[str]:
    notes = _notes(path)
    try:
        return [version.name for version in notes.active()] if active else _known(notes)
    finally:
        _close(notes)


def _known(notes: Notebook) -> list[str]:
    """All possible notes of this workload."""
    found = []
    for name in ("short", "long", "kept", "again", "seen"):
        with suppress(NotFound):
            notes.versions(name)
            found.append(name)
    return found


def _notes(path: Path) -> Notebook:
    return Notebook(AgentDirectory(path, ALICE.agent, clock=ManualClock()))


def _close(notes: Notebook) -> None:
    notes.close()
    notes.agent_dir.close()


def _create(memory: MemoryTools, name: str, content: str) -> str:
    return str(as_object(_do(memory, "memory_create", name=name, kind=name, content=content))["mem_id"])


def _do(memory: MemoryTools, tool: str, **args: object) -> object:
    return memory.invoke(tool, args, tool_run())


def _open(path: Path, disk: Disk) -> MemoryTools:
    return MemoryTools(path, ManualClock(), disk=disk)


LIFE = Workload("memory", prepare, run, restart, inspect)
