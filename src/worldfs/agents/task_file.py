"""tasks.json edited: one task added or changed, everything else as it is.

The file is read once: what of it is not touched stays the same objects, which cost nothing when it is written; and
while its bytes are those that we wrote, it is not read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.json_values import as_object, as_objects
from worldfs.base.messages import coded
from worldfs.formats.agent import document_schemas, documents
from worldfs.formats.agent.documents import tasks_findings, tasks_understood
from worldfs.formats.agent.jsonfile import arrange, encode, load_any, render
from worldfs.formats.values import same

if TYPE_CHECKING:
    from worldfs.base.model import AgentTask
    from worldfs.formats.agent.json_rows import RowLayout

FILE = "tasks.json"


def empty_tasks(agent: str, now: str) -> bytes:
    return documents.tasks_write(documents.TaskList(agent, now))


class TaskFile:
    """A file of tasks as it was last read or written, by its bytes."""

    def __init__(self) -> None:
        self._data = b""
        self._read: tuple[object, dict[str, object], bool] = {}, {}, False
        self._laid: RowLayout | None = None

    def read(self, data: bytes) -> tuple[object, dict[str, object], bool]:
        """What the file holds, that in the specification's words, and whether nothing is wrong with it then.

        `BadInput` when there is no list of tasks in it.
        """
        if data != self._data or not data:
            self._read, self._data, self._laid = _read(data), data, None
        return self._read

    def written(self, value: dict[str, object], old: bytes, found: object, task: Mapping[str, object]) -> bytes:
        """The file that holds `value`, which is what `old` held but for one `task`."""
        from worldfs.formats.agent import document_schemas, json_rows

        if type(found) is not dict or not _PLAIN.issuperset(map(type, task.values())):
            return render(value, old, document_schemas.TASKS, old=found)
        known = self._laid if old == self._data else None
        known = known or json_rows.parse_rows(old.decode(), found)
        new = arrange(value, found, document_schemas.TASKS)
        if same(found, new):
            return old
        laid = None if known is None else json_rows.update_rows(known, found, new)
        if laid is None:
            return render(value, old, document_schemas.TASKS, old=found)
        data = encode(laid.text())
        self._data, self._read, self._laid = data, (new, new, True), laid
        return data


_PLAIN: Final = frozenset((str, int, bool, type(None)))  # what reads as it was written


def add_task(old: bytes, agent: str, task: AgentTask, now: str, known: TaskFile) -> tuple[bytes, AgentTask]:
    """The file with one task more, and that task, with an id if it had none. The id is there already: `old`, and its
    task. Raises `BadInput` with pointer, expected and found when the new task is not one.
    """
    from worldfs.formats.agent.task_normalizer import next_id

    old = old or empty_tasks(agent, now)
    found, value, sound = known.read(old)
    tasks = as_objects(value["tasks"])
    there = {name: item for item in tasks if isinstance(name := item.get("id"), str)}
    if task.id in there:
        return old, documents.task_of(there[task.id])
    task = task._replace(id=task.id or next_id(there))
    new = documents.task_value(task)
    value = {**value, "updated_at": now, "tasks": [*tasks, new]}
    if not sound or not task.id.strip() or documents.task_findings(new):
        _refuse(value)
    return known.written(value, old, found, new), task


def update_task(
    old: bytes, id: str, changes: Mapping[str, object], now: str, known: TaskFile
) -> tuple[bytes, AgentTask]:
    """The file with one task changed, and that task. Raises `NotFound` naming the tasks there are, `BadInput` for a
    word that is none.
    """

    found, value, sound = known.read(old) if old else ({}, {"tasks": []}, True)
    tasks = as_objects(value["tasks"])
    for index, task in enumerate(tasks):
        if task.get("id") == id:
            new = {**task, **changes}
            new |= as_object(new.pop("extra", None))
            value = {**value, "updated_at": now, "tasks": [*tasks[:index], new, *tasks[index + 1 :]]}
            if not sound or new["id"] != id or documents.task_findings(new):
                _refuse(value)
            return known.written(value, old, found, new), documents.task_of(new)
    ids = [str(task.get("id")) for task in tasks]
    expected = coded("common.one_of", names=ids[-20:] or coded("agent.none_yet"))
    raise NotFound(coded("agent.no_task", id=id), path=FILE, op="task", expected=expected)


def normalize_tasks(old: bytes) -> bytes:
    """The file in the specification's words, where it was understood in others."""

    found, value, _ = _read(old)
    _refuse(value)
    return render(value, old, document_schemas.TASKS, old=found)


def _read(data: bytes) -> tuple[object, dict[str, object], bool]:
    """What the file holds, that in the specification's words, and whether nothing is wrong with it then.

    `BadInput` when there is no list of tasks in it.
    """

    found = load_any(data, FILE)
    value, wrong = tasks_understood(found)
    tasks = value.get("tasks") if type(value) is dict else None
    if type(tasks) is not list or (wrong and any(type(task) is not dict for task in tasks)):
        _refuse(value)
    return found, value, not wrong


def _refuse(value: object) -> None:
    """Raise for the first thing that is wrong with it."""

    for first in tasks_findings(value):
        raise BadInput(first.found, path=first.field, op="task", expected=first.expected, fix=first.fix)
