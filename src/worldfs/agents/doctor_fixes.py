"""What the doctor does about what is wrong with an agent: set aside, taken in, begun anew; no byte is deleted."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import Busy, Unsafe
from worldfs.tree.stores.root_lock import RootLock

from .agent_directory import ASIDE, flat_name

if TYPE_CHECKING:
    from .agent_state import AgentState


def take_in_journal(state: AgentState) -> None:
    with state.room.alone():
        state.journal.take_in()


def settle_document(state: AgentState, kept: Any) -> None:
    with state.room.alone():
        kept.take_in(settle=True)


def recreate_file(state: AgentState, name: str) -> None:
    """No good version is known: what stands there is set aside, and the file begins anew."""
    from .init_agent import create_agent

    with state.room.alone():
        put_aside(state, name)
        create_agent(state.room.path.parent, state.name, clock=state.room.clock)


def correct_agent_name(state: AgentState, kept: Any) -> None:
    from .document_rules import with_members

    with state.room.alone():
        kept.take_in(settle=True)
        kept.write(with_members(kept.read(), {"agent": state.name}))


def end_session(state: AgentState) -> None:
    """A session without a job: of another tool, or its job's file is gone."""
    from .document_rules import with_members

    with state.room.alone():
        kept = state.kept["session.json"]
        kept.take_in(settle=True)
        words = ["lost: nobody runs it"]
        kept.write(with_members(kept.read() or b"", {"status": "error", "ended_at": state.room.now(), "errors": words}))


def drop_journal_line(state: AgentState, raw: bytes) -> None:
    """A line that is no JSON goes out of the live segment; it is kept aside."""
    with suppress(Busy), RootLock(state.room.path, "check"):
        state.journal.drop_line(raw)


def put_aside(state: AgentState, key: str) -> None:
    """Move a file, whatever it holds, to where set-aside things lie."""
    with state.room.alone():
        move_aside(state.room.path, key)


def move_aside(home: Path, key: str) -> None:
    from worldfs.ground.durable import Root

    root = Root(home)
    try:
        number_ = 0
        while True:
            target = root.room(f"{ASIDE}/{flat_name(key)}.{number_}")
            if root.glance(target) is None:
                break
            number_ += 1
        source = root.place(key)
        if source is None:
            return
        root.rename(source, target, "new")
        root.sync(target, source)
    except Unsafe:
        return
    finally:
        root.close()
