"""Messages that an agent sends by writing files: its own outbox/, and files that it put into another agent's inbox/.

An outbox lets an agent that may write its own directory only send as well. It is emptied when a session ends, however
it ends: each file goes into the inbox of the agent that its "to" names. Both ways are counted as sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from worldfs.base.agent_names import agent_exists, list_agents
from worldfs.base.clock import parse_stamp, stamp
from worldfs.base.dir_reader import DirReader, read_whole
from worldfs.base.errors import NotFound, UserError, WorldError
from worldfs.base.messages import coded

from .agent_hosts import known_agents
from .message_files import parse_message
from .message_names import INBOX, rank_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from worldfs.base.model import Message

    from .agent_state import AgentState

OUTBOX: Final = "outbox"
SLACK_S: Final = 2.0  # the time of a session's start is a whole second; file systems stamp with coarse clocks
MOST: Final = 1 << 20  # bytes of a message that is sent from here


def deliver(state: AgentState, session: str, started_at: str) -> None:
    """Send what lies in the outbox, and note what the session put into other inboxes. Call inside `locked`."""
    since = parse_stamp(started_at)
    if since is None:
        return
    files, deposited = _files(state), list(_deposited(state, since.timestamp() - SLACK_S))
    if not files and not deposited:  # nearly always: the journal need not be read
        return
    told = _told(state, stamp(since - timedelta(seconds=2 * SLACK_S)))
    for name in files:
        message = _sent(state, session, name)
        if message is not None:
            deposited.append(message)
    for message in deposited:
        if message.id not in told:  # an earlier delivery may have been cut off after this line
            told.add(message.id)
            state.sent(message)
    for name in files:
        with suppress(NotFound, UserError):
            state.agent_dir.store.delete(f"{OUTBOX}/{name}")


def _told(state: AgentState, since: str) -> set[str]:
    """Ids of messages that the journal has as sent since then."""
    found: set[str] = set()

    def keep(entry: Mapping[str, object]) -> bool:
        id = entry.get("id")
        if entry.get("event") == "message_sent" and isinstance(id, str):
            found.add(id)
        return False

    state.journal.find(keep, lambda entry: entry.get("event") == "session_start" and str(entry.get("ts")) < since)
    return found


def _files(state: AgentState) -> list[str]:
    try:
        return [name for name in state.agent_dir.store.list(OUTBOX) if name.endswith(".json") and name[0] != "."]
    except WorldError:  # something else is in its place
        return []


def _sent(state: AgentState, session: str, name: str) -> Message | None:
    """The message of a file, in the inbox of its recipient by now; None if it cannot be delivered."""
    from .inbox import deposit_to

    agent_dir, key = state.agent_dir, f"{OUTBOX}/{name}"
    try:
        data = agent_dir.root.read(key)
        message = None if data is None else parse_message(data, f"{session}-{name}")
        if message is None:
            _refuse(state, key, coded("agent.outbox_message"), coded("file.no_message"))
            return None
        to = _recipient(state, message.to)
        if not to:
            there = known_agents(agent_dir.path.parent)
            _refuse(state, key, coded("agent.to_one_of", names=[*there]), f'"to": {message.to!r}')
            return None
        message = message._replace(to=to, sender=state.name, created_at=message.created_at or agent_dir.now())
        return deposit_to(agent_dir.path.parent, to, message, clock=agent_dir.clock, disk=agent_dir.disk).message
    except UserError as error:
        _refuse(state, key, coded("agent.deliverable"), error.found)
    return None


def _refuse(state: AgentState, key: str, expected: str, found: str) -> None:
    """Kept byte for byte aside, and named at the agent's next wake."""
    with suppress(UserError, OSError):
        state.agent_dir.move_aside(key, "not delivered")
    shown = "".join(sign if sign.isprintable() else "?" for sign in key)
    state.agent_dir.add_finding("NOT_DELIVERED", shown, expected, found, coded("agent.write_corrected"))


def _recipient(state: AgentState, to: str) -> str:
    """The agent that is meant, "" if there is none of this name."""
    root = state.agent_dir.path.parent
    if agent_exists(root, to):
        return to
    return next((name for name in known_agents(root) if name.casefold() == to.casefold()), "")


def _deposited(state: AgentState, since: float) -> Iterator[Message]:
    """Messages from this agent in other inboxes, in files that no command of ours named, written since then."""
    root = state.agent_dir.path.parent
    for name in list_agents(root):
        inbox = os.path.join(root, name, INBOX)
        if name == state.name:
            continue
        with suppress(OSError):
            if os.lstat(inbox).st_mtime < since:
                continue
            with os.scandir(inbox) as entries:
                fresh = [
                    entry.name
                    for entry in entries
                    if entry.name.endswith(".json") and rank_of(entry.name) is None
                    and entry.stat(follow_symlinks=False).st_mtime >= since
                ]  # fmt: skip
            walk = DirReader(inbox)
            for file in sorted(fresh):
                with suppress(UserError, OSError):
                    message = _message(walk, file)
                    if message is not None and message.sender.casefold() == state.name.casefold():
                        yield message._replace(to=name)


def _message(walk: DirReader, file: str) -> Message | None:
    place = walk.locate(file)
    fd = None if place is None else walk.open(place)
    if fd is None:
        return None
    try:
        return parse_message(read_whole(fd), file) if os.fstat(fd).st_size <= MOST else None
    finally:
        os.close(fd)
