"""The agents' jobs that ended on the last day, a line each, so that a start reads these lines and no job's file.

    HOME/.paos/calls/<day>.jsonl   the jobs that ended on that day (UTC); removed when none of them is shown any more

A job's file stays among the open ones until the line of its end is durable: whatever a crash loses, a
start finds the one or the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.json_text import compact_json, parse_json
from worldfs.base.model import JobState
from worldfs.storage.store_interface import Store

from .agent_job import NAME, AgentJob

FOLDER: Final = ".paos/calls"
GROUP: Final = 64  # ends that one sync covers


class EndedJobs:
    """Usable from many threads."""

    def __init__(self, store: Store, put_away: Callable[[str], None]) -> None:
        self._store, self._put_away = store, put_away
        self._lock = threading.Lock()
        self._waiting: list[AgentJob] = []  # ended, and still among the open files
        self._unwritten: list[AgentJob] = []  # of these: the disk refused the line

    def read(self, horizon_ms: int) -> list[AgentJob]:
        """The jobs that ended after the horizon, in the order of their lines; older days are removed."""
        found: dict[str, AgentJob] = {}
        for name in self._store.list(FOLDER):
            key = f"{FOLDER}/{name}"
            if name < _day(horizon_ms):
                with suppress(WorldError):
                    self._store.delete(key, durable=False)
                continue
            stored = self._store.get(key)
            for line in stored.data.split(b"\n") if stored is not None else ():
                call = _read(line)
                if call is not None and call.updated_ms > horizon_ms:
                    found[call.id] = call
        return list(found.values())

    def add(self, call: AgentJob) -> None:
        """Add an ended job. Its file is archived with the next group."""
        with self._lock:
            self._waiting.append(call)
            durable = len(self._waiting) >= GROUP
            with suppress(WorldError):  # a full disk: its line is written with the next one
                self._append(call, durable)

    def flush(self) -> None:
        """Archive everything: the newest line is written once more, durably, so that all of them are durable."""
        with self._lock, suppress(WorldError):
            if self._waiting:
                self._append(self._waiting[-1], True)

    def _append(self, call: AgentJob, durable: bool) -> None:
        day = _day(call.updated_ms)
        if call not in self._unwritten:
            self._unwritten.append(call)
        lines = [other for other in self._unwritten if _day(other.updated_ms) == day]
        self._store.append(f"{FOLDER}/{day}", b"".join(map(_line, lines)), durable=durable)
        self._unwritten.clear()
        if durable:
            # Lines of the day before may not be durable, or not there: those files wait for the next start.
            waiting, self._waiting = self._waiting, []
            for other in waiting:
                if _day(other.updated_ms) == day:
                    self._put_away(other.id)


def _day(moment_ms: int) -> str:
    return f"{datetime.fromtimestamp(moment_ms / 1000, UTC):%Y-%m-%d}.jsonl"


def _line(call: AgentJob) -> bytes:
    return compact_json({**call._asdict(), "state": call.state.value, "ended": 0}) + b"\n"


def _read(line: bytes) -> AgentJob | None:
    """None for a line that a crash tore."""
    try:
        value = parse_json(line)
        call = AgentJob(**{**value, "state": JobState(value["state"])})
    except (ValueError, TypeError, KeyError):
        return None
    return call if NAME.match(call.id) and call.over and isinstance(call.updated_ms, int) else None
