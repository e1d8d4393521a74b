"""The mounts of agents: `/agents/<agent>` over the directories of a state root."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.access.judge import judge
from worldfs.access.role_things import InboxMessage
from worldfs.access.verb import Verb
from worldfs.base.agent_names import agent_exists
from worldfs.base.agent_names import list_agents as agents
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded
from worldfs.storage.store_interface import Store
from worldfs.tree.row_table import FileRow
from worldfs.tree.verb_values import WriteContext
from worldfs.tree.virtual_file import FileBehaviour, Names, VirtualFile

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState


class AgentMounts:
    """Opens an agent's state when it is first asked for, and keeps it open until `close`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._open: dict[str, AgentState] = {}
        self._mutex = threading.Lock()

    def close(self) -> None:
        with self._mutex:
            for state in self._open.values():
                state.close()
            self._open.clear()

    def state(self, name: str) -> AgentState:
        """Raises `NotFound` naming the agents there are."""
        if (state := self._open.get(name)) is not None:
            return state
        with self._mutex:  # two interfaces may ask at once; a directory is opened once
            if name not in self._open:
                from worldfs.agents.agent_state import AgentState

                self._open[name] = AgentState.open(name, self.root)
            return self._open[name]

    # -- a mount of the tree ----------------------------------------------------------------------------------------

    def store(self, row: FileRow, names: Names) -> Store:
        return self.state(names["agent"]).agent_dir.store

    def key(self, row: FileRow, names: Names) -> str:
        return row.fill(names)

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        if variable == "agent":
            return agents(self.root)
        if variable == "letter":
            return [name for name in self.state(names["agent"]).agent_dir.store.list("inbox") if name.endswith(".json")]
        return []

    def holds(self, mount: str, names: Names) -> bool:
        if "agent" not in names:
            return True

        return agent_exists(self.root, names["agent"])

    def exists(self, row: FileRow, names: Names) -> bool:
        return self.store(row, names).probe(row.fill(names)) is not None

    # -- what reading and writing mean -------------------------------------------------------------------------------

    def behaviours(self) -> dict[str, FileBehaviour]:
        return {
            "agent_tasks": _AgentDocument(self, "tasks.json"),
            "agent_memory": _AgentDocument(self, "memory.md"),
            "agent_report": _AgentDocument(self, "report.json"),
            "agent_letter": _MessageFile(self),
            "agent_journal": _JournalFile(self),
        }


class _AgentDocument(VirtualFile):
    """A document that its agent writes: validated before the write, merged if it changed meanwhile."""

    def __init__(self, agents: AgentMounts, file: str) -> None:
        self._agents, self._file = agents, file

    def read(self, names: Names) -> bytes:
        data = self._agents.state(names["agent"]).documents[self._file].read()
        if data is None:
            raise NotFound(coded("tree.no_file"), path=self._file, op="read")
        return data

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        kept = self._agents.state(names["agent"]).documents[self._file]
        wrong = [finding for finding in kept.rules.judge(data) if not finding.warning]
        if wrong:
            raise BadInput(
                "; ".join(f"{f.field}: {f.found}" for f in wrong[:5]), path=f"{names['agent']}/{self._file}",
                op="write", actor=ask.actor, expected=wrong[0].expected, fix=wrong[0].fix,
            )  # fmt: skip
        kept.write_merged(data)


class _MessageFile(VirtualFile):
    """A message: written once by its sender, whole; read and removed by its recipient."""

    def __init__(self, agents: AgentMounts) -> None:
        self._agents = agents

    def read(self, names: Names) -> bytes:
        stored = self._agents.state(names["agent"]).agent_dir.store.get(f"inbox/{names['letter']}")
        if stored is None:
            raise NotFound(coded("tree.no_message"), path=f"inbox/{names['letter']}", op="read")
        return stored.data

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        from worldfs.agents.inbox import deposit_to
        from worldfs.formats.agent import documents

        message = documents.message_read(data)
        decision = judge(ask.actor, Verb.WRITE, InboxMessage(names["agent"], message.to))
        if not decision:
            raise decision.error(path=f"/agents/{names['agent']}/inbox", op="write", actor=ask.actor)
        deposit_to(self._agents.root, names["agent"], message)


class _JournalFile(VirtualFile):
    """The journal: reading returns the live segment, writing appends entries."""

    def __init__(self, agents: AgentMounts) -> None:
        self._agents = agents

    def read(self, names: Names) -> bytes:
        stored = self._agents.state(names["agent"]).agent_dir.store.get("journal.jsonl")
        return stored.data if stored is not None else b""

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        from worldfs.agents.journal import parse

        entries = [parse(raw) for raw in data.split(b"\n") if raw.strip()]
        for entry in entries:
            if entry is None or type(entry.get("event")) is not str:
                raise BadInput(
                    coded("tree.no_entry"), path="journal.jsonl", op="write", actor=ask.actor,
                    expected=coded("tree.entries"),
                )  # fmt: skip
        state = self._agents.state(names["agent"])
        for entry in entries:
            if entry is not None:
                state.append({key: value for key, value in entry.items() if key != "seq"})
