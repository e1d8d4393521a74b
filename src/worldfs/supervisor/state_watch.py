"""A command's observed effect on its agent's state: the messages that it opened, the files that it changed."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.agents.message_names import INBOX
from worldfs.agents.outbox import OUTBOX
from worldfs.agents.session_facts import FACTS_FILE

try:
    from inotify_simple import INotify, flags
except (ImportError, OSError):  # only Linux has it
    INotify = None

OWN: Final = ("memory.md", "tasks.json", "report.json", FACTS_FILE)  # files that a session changes
FileStamps = dict[str, tuple[int, int, int]]


class StateChanges(NamedTuple):
    """`opened`: names of messages; None: the system does not report it. `wrote`: a file of the state has changed."""

    opened: frozenset[str] | None
    wrote: bool


class StateWatch:
    """Begun right before the command, ended right after it: what happens in between is taken for the command's.

    The system says that a file was opened, not by whom: another program that opens one meanwhile counts too.
    """

    def __init__(self, home: str, outcome: str) -> None:
        """`home`: the agent's directory; `outcome`: the path of PAOS_OUTCOME."""
        self._home, self._outcome = home, outcome
        self._notify = None
        if INotify is not None:
            with suppress(OSError):  # none left of them, or a file system without
                self._notify = INotify(nonblocking=True)
                self._notify.add_watch(os.path.join(home, INBOX), flags.OPEN)
        self._before = self._file_stamps()
        self._messages = self._names(INBOX)

    def end(self) -> StateChanges:
        opened: frozenset[str] | None = None
        if self._notify is not None:
            events = self._notify.read(timeout=0)
            self._notify.close()
            if not any(event.mask & flags.Q_OVERFLOW for event in events):
                opened = frozenset(event.name for event in events if event.name)
        removed = self._messages - self._names(INBOX)
        return StateChanges(opened, bool(removed) or self._file_stamps() != self._before)

    def _file_stamps(self) -> FileStamps:
        found: FileStamps = {}
        files = [*OWN, *(f"{OUTBOX}/{name}" for name in self._names(OUTBOX)), self._outcome]
        for name in files:
            with suppress(OSError):
                info = os.lstat(os.path.join(self._home, name))
                found[name] = info.st_mtime_ns, info.st_size, info.st_ino
        return found

    def _names(self, folder: str) -> set[str]:
        try:
            return set(os.listdir(os.path.join(self._home, folder)))
        except OSError:
            return set()
