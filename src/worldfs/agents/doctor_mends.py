"""What the doctor does about what is wrong with an agent: set aside, taken in, begun anew; no byte is deleted."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import Busy, Unsafe
from worldfs.tree.stores.lock import RootLock

from .room import ASIDE, flat

if TYPE_CHECKING:
    from .state import AgentState


def look(state: AgentState) -> None:
    with state.room.alone():
        state.journal.take_in()


def settle(state: AgentState, kept: Any) -> None:
    with state.room.alone():
        kept.take_in(settle=True)


def renew(state: AgentState, name: str) -> None:
    """No good version is known: what stands there is set aside, and the file begins anew."""
    from .birth import make

    with state.room.alone():
        put_aside(state, name)
        make(state.room.path.parent, state.name, clock=state.room.clock)


def own(state: AgentState, kept: Any) -> None:
    from .documents import edited

    with state.room.alone():
        kept.take_in(settle=True)
        kept.write(edited(kept.read(), {"agent": state.name}))


def end_session(state: AgentState) -> None:
    """A session without a job: of another tool, or its job's file is gone."""
    from .documents import edited

    with state.room.alone():
        kept = state.kept["session.json"]
        kept.take_in(settle=True)
        words = ["lost: nobody runs it"]
        kept.write(edited(kept.read() or b"", {"status": "error", "ended_at": state.room.now(), "errors": words}))


def without_line(state: AgentState, raw: bytes) -> None:
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
            target = root.room(f"{ASIDE}/{flat(key)}.{number_}")
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
