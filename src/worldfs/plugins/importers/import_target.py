"""How things get into an agent's state: tasks and notes each in one change, messages and journal lines as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from worldfs.agents.inbox import deposit_to
from worldfs.agents.metrics_cache import FOLD
from worldfs.base.errors import BadInput
from worldfs.base.model import AgentTask, Message, Remark
from worldfs.formats.agent import documents, memory
from worldfs.formats.agent.memory_outline import apply_edits, insertion_point, item_text, parse, remark_text
from worldfs.formats.agent.redact import redact_value

from .value_conversion import comparison_key, note_text

if TYPE_CHECKING:
    from worldfs.agents.agent_directory import AgentDirectory
    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.journal import Journal

T = TypeVar("T")
_FENCES: Final = ("```", "~~~", "-->")


class ImportTarget(Protocol):
    """What `run_import` needs of an agent."""

    @property
    def agent_dir(self) -> AgentDirectory: ...

    @property
    def journal(self) -> Journal: ...

    def tasks(self) -> Sequence[AgentTask]: ...

    def put_tasks(self, tasks: Mapping[str, AgentTask]) -> None:
        """Add these, or put them in the place of the task of that id; every other task stays as it is. Durable."""
        ...

    def notes(self) -> Sequence[Remark]: ...

    def put_notes(self, new: Sequence[Remark], instead: Sequence[tuple[Remark, Remark]]) -> None:
        """Add notes, and put others (old, new) in the place of old ones. Durable."""
        ...

    def deposit(self, message: Message) -> bool:
        """Into the agent's inbox, durable; False if it has had a message of that id."""
        ...

    def clean(self, value: T) -> T:
        """A value without the secrets in it."""
        ...

    def recount(self) -> None:
        """Bring metrics.json up to the journal."""
        ...


class AgentImportTarget:
    """The target of an open agent."""

    def __init__(self, state: AgentState) -> None:
        self.state = state

    @property
    def agent_dir(self) -> AgentDirectory:
        return self.state.agent_dir

    @property
    def journal(self) -> Journal:
        return self.state.journal

    def tasks(self) -> Sequence[AgentTask]:
        return self.state.tasks()

    def put_tasks(self, tasks: Mapping[str, AgentTask]) -> None:
        def edit(old: bytes) -> bytes:
            listed = documents.tasks_read(old) if old.strip() else documents.TaskList(self.state.name)
            there = {task.id for task in listed.tasks}
            kept = [tasks.get(task.id, task) for task in listed.tasks]
            new = [task for id, task in tasks.items() if id not in there]
            listed = listed._replace(updated_at=self.agent_dir.now(), tasks=(*kept, *new))
            return documents.tasks_write(listed, old)

        self.state.documents["tasks.json"].change(edit)

    def notes(self) -> Sequence[Remark]:
        return memory.read(self.state.documents["memory.md"].read() or b"").remarks

    def put_notes(self, new: Sequence[Remark], instead: Sequence[tuple[Remark, Remark]]) -> None:
        def edit(data: bytes) -> bytes:
            for old, put in instead:
                there = [
                    item for item in memory.read(data).remarks if comparison_key(item.text) == comparison_key(old.text)
                ]
                for item in there[:1]:
                    data = memory.remove(data, item)
                    data = _one(data, put._replace(section=item.section, pinned=item.pinned))
            return _added(data, new)

        self.state.edit_memory(edit)

    def deposit(self, message: Message) -> bool:
        sent = deposit_to(self.agent_dir.path.parent, self.agent_dir.name, message)
        return bool(sent.new)

    def clean(self, value: T) -> T:
        return redact_value(value)

    def recount(self) -> None:
        with self.agent_dir.locked():
            # before metrics.json: else a crash between the two takes counted figures for figures that were found
            self.agent_dir.store.put(FOLD, self.state.metrics_reducer().dump())
            self.state.recount_metrics()


def _added(data: bytes, notes: Sequence[Remark]) -> bytes:
    """memory.md with notes at the end of their sections: one reading of it a section, however many they are."""

    sections: dict[str, list[Remark]] = {}
    for remark in notes:
        sections.setdefault(remark.section, []).append(remark)
    for section, (first, *more) in sections.items():
        data = _one(data, first)
        doc = parse(data)
        index = doc.find(" ".join(section.split()))
        last = next((item for item in reversed(doc.items) if item.head == index), None)
        if index is None or last is None or last.mark[0].isdigit():  # a numbered list counts on from item to item
            for remark in more:
                data = _one(data, remark)
            continue
        line, apart, loose = insertion_point(doc, index)
        new: list[str] = []
        for remark in more:
            body, marked = remark_text(remark.text)
            if any(sign in body for sign in _FENCES):
                body, marked = remark_text(note_text(remark.text))
            if apart if not new else loose:
                new.append(doc.end)
            new += item_text(doc, index, body, remark.pinned or marked)
        data = apply_edits(doc, {line: new}) if new else data
    return data


def _one(data: bytes, remark: Remark) -> bytes:
    try:
        return memory.add(data, remark.section, remark.text, pinned=remark.pinned)
    except BadInput:  # it would end a fence or comment that the file leaves open
        return memory.add(data, remark.section, note_text(remark.text), pinned=remark.pinned)
