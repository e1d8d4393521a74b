"""tasks.json edited: one task added or changed, everything else as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import BadInput, NotFound

if TYPE_CHECKING:
    from worldfs.ground.model import AgentTask

FILE = "tasks.json"


def empty(agent: str, now: str) -> bytes:
    from worldfs.formats.agent import documents

    return documents.tasks_write(documents.TaskList(agent, now))


def added(old: bytes, agent: str, task: AgentTask, now: str) -> bytes:
    """Raises `BadInput` with pointer, expected and found when the new task is not one."""
    from worldfs.formats.agent import documents

    value = _value(old or empty(agent, now))
    return _written({**value, "updated_at": now, "tasks": [*value["tasks"], documents.task_value(task)]}, old)


def changed(old: bytes, id: str, changes: Mapping[str, Any], now: str) -> bytes:
    """Raises `NotFound` naming the tasks there are."""
    value = _value(old) if old else {"tasks": []}
    tasks = value["tasks"]
    for index, task in enumerate(tasks):
        if task.get("id") == id:
            tasks = [*tasks[:index], task | changes, *tasks[index + 1 :]]
            return _written({**value, "updated_at": now, "tasks": tasks}, old)
    ids = [str(task.get("id")) for task in tasks]
    raise NotFound(f"no task {id!r}", path=FILE, op="task", expected="one of: " + (", ".join(ids[-20:]) or "none yet"))


def normal(old: bytes) -> bytes:
    """The file in the specification's words, where it was understood in others."""
    return _written(_value(old), old)


def _value(data: bytes) -> dict[str, Any]:
    from worldfs.formats.agent.jsonfile import load_any
    from worldfs.formats.agent.tasks import normal

    value: dict[str, Any] = normal(load_any(data, FILE))
    return value


def _written(value: dict[str, Any], old: bytes) -> bytes:
    from worldfs.formats.agent import documents, tables
    from worldfs.formats.agent.jsonfile import render

    wrong = documents.tasks_findings(value)
    if wrong:
        first = wrong[0]
        raise BadInput(first.found, path=first.field, op="task", expected=first.expected, fix=first.fix)
    return render(value, old, tables.TASKS)
