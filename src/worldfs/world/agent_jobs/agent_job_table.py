"""The table in memory: the agents' jobs that have not ended or ended within a day, by agent and project."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from worldfs.access.binding import Binding
from worldfs.access.judge import judge
from worldfs.access.things import JobOwner
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock

from .agent_job import AgentJob, epoch_ms
from .ended_chats import EndedChats

KEEP_S: Final = 86_400.0  # an ended job leaves the table after so long; its file stays


class AgentJobTable:
    """Thread-safe. Only listings cost more when more jobs have ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._calls: dict[str, AgentJob] = {}
        self._views: dict[tuple[str, str], dict[str, None]] = {}
        self._ends: dict[tuple[str, str], EndedChats] = {}
        self._old: deque[tuple[int, str]] = deque()  # (when it ended, id), oldest first
        self._latest: dict[tuple[str, str, str, str], str] = {}  # agent, project, place, control file ("": any)

    def horizon(self) -> int:
        """Jobs that ended at or before this moment, in milliseconds, are not shown."""
        return epoch_ms(self._clock.now()) - int(KEEP_S * 1000)

    def get(self, id: str) -> AgentJob | None:
        return self._calls.get(id)

    def shown(self, binding: Binding, id: str) -> AgentJob | None:
        """The job, if this binding may see it."""
        call = self._calls.get(id)
        if call is None or not judge(binding, Verb.SEE, JobOwner(call.agent, call.project)):
            return None
        return None if call.over and call.updated_ms <= self.horizon() else call

    def ids(self, binding: Binding) -> list[str]:
        self.forget_old()
        with self._lock:
            return list(self._views.get((binding.agent, binding.project), ()))

    def latest(self, binding: Binding, place: str, file: str) -> str | None:
        """The id of the newest job of this control, also when it is no longer shown."""
        return self._latest.get((binding.agent, binding.project, place, file))

    def chat_end_after(self, binding: Binding, number: int, given: Callable[[str], bool]) -> AgentJob | None:
        """The job of the first end of a chat after `number` that was not delivered yet."""
        with self._lock:
            ends = self._ends.get((binding.agent, binding.project))
            for _, id in ends.after(number) if ends is not None else ():
                call = self._calls.get(id)
                if call is not None and not given(id):
                    return call
        return None

    def newest_chats(self, binding: Binding, most: int) -> list[str]:
        """The ids of the chat jobs of the binding's agent and project that ended last, newest first."""
        with self._lock:
            ends = self._ends.get((binding.agent, binding.project))
            return ends.newest(most) if ends is not None else []

    def enter(self, call: AgentJob) -> None:
        """Add a new job, or one that a start found."""
        with self._lock:
            self._calls[call.id] = call
            self._views.setdefault((call.agent, call.project), {})[call.id] = None
            if call.place:
                self._latest[call.agent, call.project, call.place, ""] = call.id
                self._latest[call.agent, call.project, call.place, call.file] = call.id
            if call.over:
                self._note_end(call)

    def change(self, call: AgentJob) -> None:
        """Set the new state of a job; ends must come in the order of their numbers."""
        with self._lock:
            self._calls[call.id] = call
            if call.over:
                self._note_end(call)

    def forget_old(self) -> None:
        """Remove the jobs that ended a day ago."""
        horizon = self.horizon()
        while self._old and self._old[0][0] <= horizon:
            with self._lock:
                if not self._old or self._old[0][0] > horizon:
                    return
                call = self._calls.pop(self._old.popleft()[1])
                view = self._views[call.agent, call.project]
                del view[call.id]
                if not view:
                    del self._views[call.agent, call.project]
                if (ends := self._ends.get((call.agent, call.project))) is not None:
                    ends.forget(self._calls.__contains__)

    def _note_end(self, call: AgentJob) -> None:
        self._old.append((call.updated_ms, call.id))
        if call.kind == "chat":
            self._ends.setdefault((call.agent, call.project), EndedChats()).add(call.ended, call.id)
