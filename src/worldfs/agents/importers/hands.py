"""How things get into an agent's state: tasks and notes each in one change, letters and journal lines as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from worldfs.ground.model import AgentTask, Message, Remark

from .words import same_text

if TYPE_CHECKING:
    from worldfs.agents.journal import Journal
    from worldfs.agents.room import Room
    from worldfs.agents.state import AgentState


class Hands(Protocol):
    """What `carry` needs of an agent."""

    @property
    def room(self) -> Room: ...

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

    def deposit(self, letter: Message) -> bool:
        """Into the agent's inbox, durable; False if it has had a letter of that id."""
        ...

    def clean(self, value: Any) -> Any:
        """A value without the secrets in it."""
        ...

    def recount(self) -> None:
        """Bring metrics.json up to the journal."""
        ...


class StateHands:
    """The hands of an open agent."""

    def __init__(self, state: AgentState) -> None:
        self.state = state

    @property
    def room(self) -> Room:
        return self.state.room

    @property
    def journal(self) -> Journal:
        return self.state.journal

    def tasks(self) -> Sequence[AgentTask]:
        return self.state.tasks()

    def put_tasks(self, tasks: Mapping[str, AgentTask]) -> None:
        from worldfs.formats.agent import documents

        def edit(old: bytes) -> bytes:
            listed = documents.tasks_read(old) if old.strip() else documents.TaskList(self.state.name)
            there = {task.id for task in listed.tasks}
            kept = [tasks.get(task.id, task) for task in listed.tasks]
            new = [task for id, task in tasks.items() if id not in there]
            listed = listed._replace(updated_at=self.room.now(), tasks=(*kept, *new))
            return documents.tasks_write(listed, old)

        self.state.kept["tasks.json"].change(edit)

    def notes(self) -> Sequence[Remark]:
        from worldfs.formats.agent import memory

        return memory.read(self.state.kept["memory.md"].read() or b"").remarks

    def put_notes(self, new: Sequence[Remark], instead: Sequence[tuple[Remark, Remark]]) -> None:
        from worldfs.formats.agent import memory

        def edit(data: bytes) -> bytes:
            for old, put in instead:
                there = [item for item in memory.read(data).remarks if same_text(item.text) == same_text(old.text)]
                for item in there[:1]:
                    data = memory.remove(data, item)
                    data = memory.add(data, item.section, put.text, pinned=item.pinned)
            return _added(data, new)

        self.state.edit_memory(edit)

    def deposit(self, letter: Message) -> bool:
        from worldfs.agents.inbox import deposit_to

        sent = deposit_to(self.room.path.parent, self.room.name, letter)
        return bool(sent.new)

    def clean(self, value: Any) -> Any:
        from worldfs.formats.agent.redact import redact_value

        return redact_value(value)

    def recount(self) -> None:
        from worldfs.agents.state import FOLD

        with self.room.alone():
            # before metrics.json: else a crash between the two takes counted figures for figures that were found
            self.room.store.put(FOLD, self.state.fold().dump())
            self.state.refold()


def _added(data: bytes, notes: Sequence[Remark]) -> bytes:
    """memory.md with notes at the end of their sections: one reading of it a section, however many they are."""
    from worldfs.formats.agent import memory
    from worldfs.formats.agent.remarks import parse, raw

    sections: dict[str, list[Remark]] = {}
    for note in notes:
        sections.setdefault(note.section, []).append(note)
    for section, (first, *more) in sections.items():
        data = memory.add(data, section, first.text, pinned=first.pinned)
        doc = parse(data)
        index = doc.find(" ".join(section.split()))
        last = next((item for item in reversed(doc.items) if item.head == index), None)
        if more and index is not None and last is not None and not last.mark[0].isdigit():
            bodies = [(*memory.plain(note.text), note.pinned) for note in more]
            data = memory.insert(doc, index, [raw(doc, index, body, pin or mark) for body, mark, pin in bodies if body])
        else:  # a numbered list counts on from item to item
            for note in more:
                data = memory.add(data, section, note.text, pinned=note.pinned)
    return data
