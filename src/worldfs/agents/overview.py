"""Every agent of a state root in a line each: what it is at, how it went, what waits for it. Only read, never written.

No lock is taken and no index is kept: a line is what the files say now. A file that cannot be read is named in its
line, and the others still count. Imports are few, because `paos agents` has to be there at once.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.agent_names import is_agent_name, list_agents
from worldfs.base.clock import SystemClock, parse_stamp
from worldfs.base.dir_reader import DirReader, path_error, read_whole
from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .metrics_reducer import SESSIONS, MetricsReducer, as_count

if TYPE_CHECKING:
    from datetime import datetime


LOOK: Final = 50  # messages that are read for their priority, an agent; names that we give sort by it
SIZE_MAX: Final = 16 << 20  # bytes; a longer document is named and not read
TAIL: Final = 1 << 20  # bytes of the journal that are read for what is not counted yet
_OPEN: Final = ("pending", "active")
_CLOSED: Final = ("completed", "dropped")


class AgentSummary(NamedTuple):
    """One agent. Words as they are in its files; "" or None where they say nothing. Times are ISO 8601, UTC."""

    agent: str
    status: str = ""  # of report.json
    summary: str = ""
    current_task: str | None = None
    next_priority: str | None = None
    blocked_by: str | None = None
    updated_at: str = ""
    session_id: str = ""  # that runs, or ran last
    session_type: str = ""
    running: bool = False  # a session is on, and its runner lives
    since: str = ""  # when it began
    seconds: int | None = None  # for how long it is on
    runner: Json | None = None  # the process that holds the agent's lock: {pid, host, command, started_at, purpose}
    stale: bool = False  # session.json says running, but no process runs it: the next wake ends it as lost
    last_outcome: str | None = None  # completed | timeout | error
    last_ended_at: str = ""
    letters: int = 0  # in the inbox
    letters_high: int = 0  # of them with high priority: of the first 50 by name
    tasks_pending: int = 0
    tasks_active: int = 0
    tasks_high: int = 0  # pending or active, with high priority
    sessions: int = 0  # ended: of the last 30 days where the journal has any, else of the lifetime
    failed: int = 0  # of them: timeout or error
    error_rate: float | None = None  # failed / sessions, None when none
    unreadable: tuple[str, ...] = ()  # "FILE: what was found"


def agent_summaries(root: str | os.PathLike[str], *, now: datetime | None = None) -> list[AgentSummary]:
    """All agents below a root by name; none if it is not there."""
    moment = now or SystemClock().now()
    lines = []
    for name in list_agents(root):
        try:
            lines.append(agent_summary(root, name, now=moment))
        except NotFound:  # gone since it was listed
            continue
        except WorldError as error:
            lines.append(AgentSummary(name, unreadable=(coded("file.at", where=".", found=error.found),)))
    return lines


def agent_summary(root: str | os.PathLike[str], name: str, *, now: datetime | None = None) -> AgentSummary:
    """One agent. `NotFound` if there is none of this name."""
    if not is_agent_name(name):
        raise NotFound(coded("agent.no_agent", name=name), path=os.fspath(root), op="agents")
    files = _AgentFiles(os.path.join(root, name))
    moment = now or SystemClock().now()
    report, session = files.object("report.json"), files.object("session.json")
    if session.get("session_id") == "":  # seeded: none ran yet
        session = {}
    last = report.get("last_session")
    last = last if type(last) is dict else {}
    runner = files.runner()
    says_running = session.get("status") == "running"
    running = says_running and runner is not None
    since = _text(session.get("started_at")) if says_running else ""
    letters, letters_high = files.letters()
    pending, active, high = files.tasks()
    sessions, failed = files.outcomes(moment)
    return AgentSummary(
        name,
        status=_text(report.get("status")),
        summary=_text(report.get("summary")),
        current_task=_word(report.get("current_task")),
        next_priority=_word(report.get("next_priority")),
        blocked_by=_word(report.get("blocked_by")),
        updated_at=_text(report.get("updated_at")),
        session_id=_text(session.get("session_id")) or _text(last.get("id")),
        session_type=_text(session.get("type")),
        running=running,
        since=since,
        seconds=_passed(since, moment) if running else None,
        runner=runner,
        stale=says_running and runner is None,
        last_outcome=_word(last.get("outcome"))
        if says_running
        else _word(session.get("status") or last.get("outcome")),
        last_ended_at=_text(last.get("ended_at"))
        if says_running
        else _text(session.get("ended_at") or last.get("ended_at")),
        letters=letters,
        letters_high=letters_high,
        tasks_pending=pending,
        tasks_active=active,
        tasks_high=high,
        sessions=sessions,
        failed=failed,
        error_rate=round(failed / sessions, 2) if sessions else None,
        unreadable=tuple(files.unreadable),
    )


class _AgentFiles:
    """One agent's files, read one after the other; what could not be read is noted."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.walk = DirReader(path)
        self.unreadable: list[str] = []

    def _note(self, file: str, why: str) -> None:
        self.unreadable.append(coded("file.at", where=file, found=why))

    def value(self, file: str) -> object:
        """What a JSON file holds; None if it is not there or not readable."""
        try:
            data = self._bytes(file)
            return None if data is None else parse_json(data.decode().removeprefix("\ufeff"))
        except WorldError as error:
            self._note(file, error.found)
        except ValueError as error:
            self._note(file, _why(error))
        return None

    def object(self, file: str) -> Json:
        value = self.value(file)
        if value is not None and type(value) is not dict:
            self._note(file, coded("agent.no_object"))
        return value if type(value) is dict else {}

    def tasks(self) -> tuple[int, int, int]:
        """(pending, active, open ones with high priority). A bare list of tasks is understood too."""
        value = self.value("tasks.json")
        listed = value.get("tasks") if type(value) is dict else value
        if type(listed) is not list:
            if value is not None:
                self._note("tasks.json", coded("agent.no_task_list"))
            return 0, 0, 0
        counts = {"pending": 0, "active": 0}
        high = 0
        for task in listed:
            if type(task) is not dict:
                continue
            status = _status(task.get("status"))
            if status in counts:
                counts[status] += 1
                high += _is_high(task.get("priority"))
        return counts["pending"], counts["active"], high

    def letters(self) -> tuple[int, int]:
        """(in the inbox, of them with high priority)."""
        try:
            names = [name for name in self.walk.folder("inbox").names() if name.endswith(".json") and name[0] != "."]
        except FileNotFoundError:
            return 0, 0
        except OSError as error:
            self._note("inbox", path_error(error, "inbox", "read").found)
            return 0, 0
        except WorldError as error:
            self._note("inbox", error.found)
            return 0, 0
        if len(names) > LOOK:
            from heapq import nsmallest  # here: readers should start fast

            first = nsmallest(LOOK, names)
        else:
            first = sorted(names)
        return len(names), sum(_is_high(self.object(f"inbox/{name}").get("priority")) for name in first)

    def outcomes(self, now: datetime) -> tuple[int, int]:
        """(sessions that ended, of them those that failed)."""

        try:
            state = self._bytes(".paos/metrics.json")
            fold = MetricsReducer.load(state) if state else None
            if fold is not None:
                with suppress(OSError, WorldError):  # what is wrong with the journal, `check` says
                    self._follow(fold)
            recent = None if fold is None else fold.recent(now)
        except WorldError as error:  # the document itself may still be good
            self._note(".paos/metrics.json", error.found)
            recent = None
        if recent is not None and recent.sessions:
            return recent.sessions, recent.failed
        lifetime = self.object("metrics.json").get("lifetime")
        figures = lifetime if type(lifetime) is dict else {}
        completed, timeout, failed = (as_count(figures.get(key)) or 0 for key in SESSIONS[1:])
        return completed + timeout + failed, timeout + failed

    def _follow(self, fold: MetricsReducer) -> None:
        """What the journal has said since the figures were kept: they are written at the start of a session."""
        place = self.walk.locate("journal.jsonl")
        fd = None if place is None else self.walk.open(place)
        if fd is None:
            return
        try:
            data = os.pread(fd, TAIL, max(0, os.fstat(fd).st_size - TAIL))
        finally:
            os.close(fd)
        for raw in data.split(b"\n")[:-1]:
            entry = _entry(raw)
            seq = entry.get("seq")
            if type(seq) is int and seq > fold.applied_seq:
                fold.apply(seq, entry)

    def runner(self) -> Json | None:
        """The process that holds the agent's lock; the lock is queried, not taken."""
        try:
            place = self.walk.locate(".paos/kernel.lock")
            if place is None or self.walk.lstat(place) is None:
                return None
            from worldfs.storage.directory_lease import directory_lease

            return directory_lease(self.path).holder()
        except OSError as error:
            self._note(".paos/kernel.lock", path_error(error, self.path, "read").found)
        except WorldError as error:
            self._note(".paos/kernel.lock", error.found)
        return None

    def _bytes(self, file: str) -> bytes | None:
        try:
            place = self.walk.locate(file)
            fd = None if place is None else self.walk.open(place)
        except OSError as error:
            raise path_error(error, file, "read") from error
        if fd is None:
            return None
        try:
            if (size := os.fstat(fd).st_size) > SIZE_MAX:
                expected = coded("common.at_most", n=SIZE_MAX)
                raise BadInput(coded("agent.bytes", n=size), path=file, op="read", expected=expected)
            return read_whole(fd)
        finally:
            os.close(fd)


def _entry(raw: bytes) -> Json:
    try:
        value = parse_json(raw)
    except ValueError:
        return {}
    return value if type(value) is dict else {}


def _status(word: object) -> str:
    if type(word) is not str:
        return "pending"  # an agent that forgot it meant a task to be done
    if word in _OPEN or word in _CLOSED:
        return word
    from worldfs.formats.agent.synonyms import task_status

    return task_status(word)


def _is_high(word: object) -> bool:
    if type(word) is not str or word in ("normal", "medium", "low"):
        return False
    if word == "high":
        return True
    from worldfs.formats.agent.synonyms import task_priority

    return task_priority(word) == "high"


def _passed(since: str, now: datetime) -> int | None:
    try:
        moment = parse_stamp(since)
    except OverflowError:  # the year 1, and a zone
        moment = None
    return None if moment is None else max(0, int((now - moment).total_seconds()))


def _text(value: object) -> str:
    return value if type(value) is str else ""


def _word(value: object) -> str | None:
    return value if type(value) is str and value else None


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return coded("agent.no_json_at", line=error.lineno, column=error.colno)
    return coded("agent.not_utf8" if isinstance(error, UnicodeDecodeError) else "agent.senseless_json")
