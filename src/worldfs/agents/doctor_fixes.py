"""Repairs of an agent's files: a broken file is set aside, a missing one is created; no byte is deleted."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.durable import Root
from worldfs.base.errors import Busy, Unsafe

from .agent_directory import ASIDE, flat_name
from .document_rules import with_members

if TYPE_CHECKING:
    from .agent_state import AgentState
    from .merged_document import MergedDocument


def take_in_journal(state: AgentState) -> None:
    with state.agent_dir.locked():
        state.journal.reconcile()


def settle_document(state: AgentState, document: MergedDocument) -> None:
    with state.agent_dir.locked():
        document.reconcile(settle=True)


def recreate_file(state: AgentState, name: str) -> None:
    """Set the broken file aside and create it empty: no good version of it is known."""
    from .init_agent import create_agent

    with state.agent_dir.locked():
        put_aside(state, name)
        create_agent(state.agent_dir.path.parent, state.name, clock=state.agent_dir.clock)


def correct_agent_name(state: AgentState, document: MergedDocument) -> None:
    with state.agent_dir.locked():
        document.reconcile(settle=True)
        document.write(with_members(document.read() or b"", {"agent": state.name}))


def end_session(state: AgentState) -> None:
    """A session without a job: of another tool, or its job's file is gone."""

    with state.agent_dir.locked():
        document = state.documents["session.json"]
        document.reconcile(settle=True)
        words = ["lost: no process runs it"]
        document.write(
            with_members(
                document.read() or b"", {"status": "error", "ended_at": state.agent_dir.now(), "errors": words}
            )
        )


def drop_journal_line(state: AgentState, raw: bytes) -> None:
    """A line that is no JSON goes out of the live segment; it is document aside."""
    with suppress(Busy), state.agent_dir.runner_lease("check"):
        state.journal.drop_line(raw)


def put_aside(state: AgentState, key: str) -> None:
    """Move a file, whatever it holds, to where set-aside things lie."""
    with state.agent_dir.locked():
        move_aside(state.agent_dir.path, key)


def move_aside(home: Path, key: str) -> None:
    root = Root(home)
    try:
        number_ = 0
        while True:
            target = root.ensure_parent(f"{ASIDE}/{flat_name(key)}.{number_}")
            if root.lstat(target) is None:
                break
            number_ += 1
        source = root.locate(key)
        if source is None:
            return
        root.rename(source, target, "new")
        root.sync(target, source)
    except Unsafe:
        return
    finally:
        root.close()
