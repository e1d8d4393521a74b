"""The state of one agent: what a program, a runner and a command do with its seven files (Agent State v1).

    with AgentState.open("rio") as state:
        state.start(type="research", timeout_seconds=5400)
        state.event("sources_archived", count=5)
        state.finish("completed", summary="8 sources", sources_archived=8)

Reading takes no lock and writes nothing. Every change is durable when the call returns; any number of processes may
make them, and a mind that only rewrites files beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from worldfs.ground.clock import Clock
from worldfs.ground.durable import Disk
from worldfs.ground.errors import BadInput, UserError

from .journal import Journal
from .kept import Generation, Kept
from .room import Room, check_name

if TYPE_CHECKING:
    from types import TracebackType

    from worldfs.ground.model import AgentTask, Finding, Message, Metrics, Remark, Report, SessionRecord
    from worldfs.tree.stores.lock import RootLock

    from .inbox import Inbox
    from .metrics import Fold

Json = dict[str, Any]

VARIABLE: Final = "PAOS_AGENTS"
HOME: Final = "PAOS_HOME"
FOLD: Final = ".paos/metrics.json"
BEAT: Final = ".paos/heartbeat"


def default_root(environ: Mapping[str, str] | None = None) -> Path:
    """$PAOS_AGENTS, else `agents` below the home ($PAOS_HOME, else ~/.PhyAgentOS)."""
    environ = os.environ if environ is None else environ
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE]).expanduser().absolute()
    return Path(environ.get(HOME) or "~/.PhyAgentOS").expanduser().absolute() / "agents"


class AgentState:
    """One agent's directory, opened. Usable from many threads; `close` when done, or use it in a `with`."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.name = room.name
        self.hold: RootLock | None = None  # ours while a session runs that this object started
        self._fold: Fold | None = None

    @classmethod
    def open(
        cls,
        name: str,
        root: str | os.PathLike[str] | None = None,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        create: bool = False,
        language: str = "en",
    ) -> AgentState:
        """Raises `NotFound` naming the agents there are, `BadInput` for what is no name.

        `create`: make the agent's directory and its first files, those that are missing; needs nothing installed.
        """
        place = Path(root) if root is not None else default_root()
        if create:
            from .birth import make

            make(place, check_name(name), clock=clock, disk=disk, language=language)
        return cls(Room(place, name, clock=clock, disk=disk))

    def close(self) -> None:
        """Let go of files and locks. A session that was started here and not finished stays to be found as lost."""
        if self.hold is not None:
            self.hold.release()
            self.hold = None
        for part in ("journal", "inbox"):
            if part in self.__dict__:
                getattr(self, part).close()
        self.room.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @cached_property
    def journal(self) -> Journal:
        return Journal(self.room)

    @cached_property
    def inbox(self) -> Inbox:
        from .inbox import Inbox

        return Inbox(self.room)

    @cached_property
    def kept(self) -> dict[str, Kept]:
        from .documents import documents

        return documents(self.room)

    # -- reading ----------------------------------------------------------------------------------------------------

    def report(self) -> Report | None:
        from worldfs.formats.agent import documents

        data = self._read("report.json")
        return None if data is None else documents.report_read(data)

    def tasks(self) -> tuple[AgentTask, ...]:
        from worldfs.formats.agent import documents

        data = self.kept["tasks.json"].read()
        return () if data is None else documents.tasks_read(data).tasks

    def session(self) -> SessionRecord | None:
        from worldfs.formats.agent import documents

        data = self._read("session.json")
        return None if data is None else documents.session_read(data)

    def metrics(self) -> Metrics | None:
        from worldfs.formats.agent import documents

        data = self._read("metrics.json")
        return None if data is None else documents.metrics_read(data)

    def memory(self) -> Any:
        from worldfs.formats.agent import memory

        return memory.read(self.kept["memory.md"].read() or b"")

    def findings(self) -> tuple[Finding, ...]:
        """What was wrong with the files and has not been told in a whole session yet."""
        return tuple(self.room.kept_findings())

    def _read(self, name: str) -> bytes | None:
        return self.kept[name].read()

    # -- the agent's own words --------------------------------------------------------------------------------------

    def take_in(self, *, settle: bool = False) -> tuple[Finding, ...]:
        """Look at what a mind with file tools did to the files, and settle it; what was wrong with it."""
        met = len(self.room.findings)
        with self.room.alone():
            self.journal.take_in()
            for kept in self.kept.values():
                kept.take_in(settle=settle)
        return tuple(self.room.findings[met:])

    def event(self, event: str, /, **fields: Any) -> int:
        """One entry of the journal; its number. Secrets in it are marked out."""
        wrong = [key for key in ("ts", "seq", "event") if key in fields]
        if wrong or not event or not event.isprintable():
            raise BadInput(
                f"{event!r} with {', '.join(wrong) or 'no name'}", path=self.name, op="event",
                expected="a printable name, and fields other than ts, seq, event",
            )  # fmt: skip
        return self.append({"event": event, **fields})

    def append(self, entry: Json) -> int:
        """An entry as it stands, redacted and numbered; the metrics hear of it. For the parts of this package."""
        from worldfs.formats.agent.redact import redact_value

        with self.room.alone():
            entry = redact_value(entry)
            seq = self.journal.append_many([entry])
            if self._fold is not None and self._fold.applied_seq == seq - 1:
                self._fold.apply(seq, entry)
            return seq

    def set_report(self, **changes: Any) -> Report:
        """Any of status, summary, current_task, next_priority, blocked_by; durable when it returns."""
        from worldfs.formats.agent import documents

        allowed = ("status", "summary", "current_task", "next_priority", "blocked_by")
        _only(changes, allowed, "set_report")
        data = self._put("report.json", lambda old: changes | {"updated_at": self.room.now()})
        return documents.report_read(data)

    def add_task(
        self,
        description: str,
        *,
        type: str = "follow-up",
        priority: str = "medium",
        context: str = "",
        follow_up_from: str | None = None,
        id: str = "",
    ) -> AgentTask:
        """A new pending task; with an `id` that is there already, nothing is written and that one comes back."""
        from worldfs.formats.agent.documents import tasks_read
        from worldfs.ground.model import AgentTask

        from . import todo

        made: list[AgentTask] = []

        def edit(old: bytes) -> bytes:
            there = {task.id: task for task in tasks_read(old).tasks} if old else {}
            made.clear()
            if id in there:
                made.append(there[id])
                return old
            now = self.room.now()
            new = AgentTask(id or _free_id(there), type, description, "pending", priority, now, context, follow_up_from)
            made.append(new)
            return todo.added(old, self.name, self._clean(new), now)

        self.kept["tasks.json"].change(edit)
        return made[0]

    def update_task(self, id: str, **changes: Any) -> AgentTask:
        """Change fields of one task. `NotFound` names the tasks there are; `BadInput` for a word that is none."""
        from worldfs.formats.agent.documents import tasks_read
        from worldfs.ground.model import AgentTask

        from . import todo

        _only(changes, AgentTask._fields, "update_task")

        def edit(old: bytes) -> bytes:
            now = self.room.now()
            if changes.get("status") in ("completed", "dropped"):
                changes.setdefault("completed_at", now)
            return todo.changed(old, id, self._clean(changes), now)

        data = self.kept["tasks.json"].change(edit)
        return next(task for task in tasks_read(data).tasks if task.id == id)

    def close_task(self, id: str, outcome: str = "", status: str = "completed") -> AgentTask:
        """Completed or dropped, with a word on what came of it."""
        return self.update_task(id, status=status, outcome=outcome or None)

    def remember(self, section: str, text: str, *, pinned: bool = False) -> Remark:
        """One note more in memory.md: patterns, dead_ends, questions, corrections, flags, or any heading."""
        from worldfs.formats.agent import memory

        text = self._clean(text)
        data = self.edit_memory(lambda old: memory.add(old, section, text, pinned=pinned))
        return next(remark for remark in reversed(memory.read(data).remarks) if remark.text.strip() == text.strip())

    def edit_memory(self, change: Callable[[bytes], bytes]) -> bytes:
        """Change memory.md as text; `change` may be called again if somebody was faster."""
        return self.kept["memory.md"].change(change)

    def undo(self, file: str = "memory.md", steps: int = 1) -> None:
        """Go back to an earlier version of memory.md or tasks.json."""
        self._document(file).undo(steps)

    def generations(self, file: str = "memory.md") -> list[Generation]:
        return self._document(file).generations()

    # -- sessions ---------------------------------------------------------------------------------------------------

    def start(self, *, type: str = "ad-hoc", argv: Sequence[str] = (), id: str = "", **fields: Any) -> SessionRecord:
        """Begin a session: durable as running when it returns. `Busy` names who runs one.

        `fields`: timeout_seconds, domain, branch, model, research_question, belief_targeted, disconfirmation_target,
        sources_expected, and any other, kept as they are.
        """
        from worldfs.ground.model.agent import KINDS

        from . import session_job

        if type not in KINDS:
            raise BadInput(f"type {type!r}", path=self.name, op="start", expected=" | ".join(KINDS))
        return session_job.start(self, self._clean({"type": type, **fields}), argv, id)

    def finish(
        self,
        outcome: str = "completed",
        *,
        summary: str = "",
        handoff: str = "",
        errors: Sequence[str] = (),
        next_priority: str | None = None,
        cause: str = "",
        session: str = "",
        **figures: Any,
    ) -> SessionRecord:
        """End the session: one commit, from which the files are written. Durable when it returns.

        `figures`: sources_archived, pr_number, branch, tokens_used, cost_usd, claims_proposed, … `session`: which, for
        who did not start it. Completed: the letters that were there at its start are acknowledged; else they are
        returned.
        """
        from worldfs.ground.model.agent import OUTCOMES

        from . import session_job

        if outcome not in OUTCOMES:
            raise BadInput(f"outcome {outcome!r}", path=self.name, op="finish", expected=" | ".join(OUTCOMES))
        said = {
            "summary": summary, "handoff": handoff, "errors": list(errors), "next_priority": next_priority,
            "cause": cause,
        }  # fmt: skip
        session_job.finish(self, session, outcome, self._clean(said), self._clean(figures))
        record = self.session()
        assert record is not None
        return record

    def recover(self) -> bool:
        """Settle what a dead runner left, if none is alive; True if there was something."""
        from worldfs.ground.errors import Busy
        from worldfs.tree.stores.lock import RootLock

        from . import session_job

        if not session_job.running(self):
            return False
        with (
            suppress(Busy),
            RootLock(self.room.path, "recovery", clock=self.room.clock, disk=self.room.disk),
            self.room.alone(),
        ):
            return session_job.recover(self)
        return False

    def heartbeat(self) -> None:
        """The session lives: its letters stay claimed, and who looks sees when it was last heard of."""
        from . import session_job

        sid = session_job.running(self)
        if sid:
            self.inbox.extend(sid, session_job.LEASE_S)
            self.room.hint(BEAT, f"{self.room.now()} {sid}\n".encode())

    def runner(self) -> Json | None:
        """Who runs a session now: {pid, host, command, started_at}; None if nobody does."""
        from . import session_job

        return session_job.runner(self)

    # -- letters ----------------------------------------------------------------------------------------------------

    def send(
        self,
        to: str,
        *,
        subject: str,
        body: str = "",
        type: str = "flag",
        priority: str = "normal",
        source_ref: str | None = None,
        expires_at: str | None = None,
        id: str = "",
    ) -> Message:
        """A letter into another agent's inbox, durable when it returns. `NotFound` names the agents there are."""
        from worldfs.ground.model import Message

        from .inbox import deposit_to

        letter = Message(id, self.name, to, self.room.now(), type, priority, subject, body, source_ref, expires_at)
        sent = deposit_to(self.room.path.parent, to, letter, clock=self.room.clock, disk=self.room.disk)
        self.append({"event": "message_sent", "to": to, "type": type, "id": sent.message.id})
        return sent.message

    # -- for minds --------------------------------------------------------------------------------------------------

    def context(self, *, budget: int = 4000, unit: str = "tokens", language: str = "en") -> Any:
        """What a mind should have before it: memory, tasks and letters within a budget (agents/pack.py)."""
        from .pack import pack

        return pack(
            self.kept["memory.md"].read() or b"",
            self.kept["tasks.json"].read() or b"",
            [letter.message for letter in self.inbox.waiting() if letter.message is not None],
            _or_none(self.session),
            _or_none(self.report),
            self.findings(),
            budget=budget,
            unit=unit,
            language=language,
        )

    def search(self, query: str, limit: int = 10) -> Any:
        """Notes of memory.md that fit a query, best first."""
        from .recall import recall

        return recall(self, query, limit)

    # -- for the parts of this package ------------------------------------------------------------------------------

    def fold(self) -> Fold:
        """The metrics as of the journal's last entry. Call inside `alone`."""
        from .documents import mapping
        from .metrics import Fold

        if self._fold is None:
            stored = self.room.store.get(FOLD)
            if stored is not None:
                self._fold = Fold.load(stored.data)
            else:
                # What was counted before us is settled before we count: a metrics.json of ours must never be taken for it.
                self._fold = Fold(mapping(self.kept["metrics.json"].read() or b"") or None)
                self.room.store.put(FOLD, self._fold.dump())
        if self._fold.applied_seq != self.journal.seq():
            for seq, entry in self.journal.since(self._fold.applied_seq):
                self._fold.apply(seq, entry)
        return self._fold

    def refold(self) -> None:
        """Count the metrics anew: the baseline that was imported, and every entry of the journal."""
        from worldfs.formats.agent.documents import metrics_write

        from .metrics import Fold, project

        with self.room.alone():
            fold = Fold(self.fold().baseline)
            for seq, entry in self.journal.lines():
                fold.apply(seq, entry)
            self._fold = fold
            kept = self.kept["metrics.json"]
            like = kept.take_in(settle=True) or b""
            fresh = metrics_write(project(fold, self.name, self.room.clock.now()), like)
            self._put_many({"metrics.json": fresh, FOLD: fold.dump()})

    def put_session(self, record: SessionRecord) -> None:
        """session.json and report.json at the start of a session."""
        from worldfs.formats.agent import documents
        from worldfs.ground.model import Report

        from .documents import edited
        from .session_job import VERBS

        report = {
            "agent": self.name, "updated_at": record.started_at, "status": VERBS[record.type],
        }  # fmt: skip
        last = self.kept["report.json"].take_in(settle=True) or documents.report_write(Report(self.name))
        self._put_many({"session.json": documents.session_write(record), "report.json": edited(last, report)})

    def put_end(self, entry: Mapping[str, Any]) -> None:
        """session.json, metrics.json and report.json at the end of one, as a group."""
        from . import projection

        self._put_many(projection.files(self, entry))

    def _put(self, name: str, changes: Callable[[bytes], Mapping[str, Any]]) -> bytes:
        from .documents import edited

        return self.kept[name].change(lambda old: edited(old, self._clean(dict(changes(old)))))

    def _put_many(self, files: Mapping[str, bytes]) -> None:
        from .kept import write_many

        write_many(self.room, self.kept, files)

    def _clean(self, value: Any) -> Any:
        from worldfs.formats.agent.redact import redact_value

        if hasattr(value, "_asdict"):
            return value._replace(**redact_value(value._asdict()))
        return redact_value(value)

    def _document(self, file: str) -> Kept:
        if file not in ("memory.md", "tasks.json"):
            raise BadInput(f"no versions of {file!r}", path=self.name, op="undo", expected="memory.md or tasks.json")
        return self.kept[file]


def _only(changes: Mapping[str, Any], allowed: Sequence[str], op: str) -> None:
    wrong = [key for key in changes if key not in allowed]
    if wrong:
        raise BadInput(", ".join(wrong), op=op, expected="any of: " + ", ".join(allowed))


def _free_id(there: Mapping[str, Any]) -> str:
    number = len(there) + 1
    while f"task-{number:03d}" in there:
        number += 1
    return f"task-{number:03d}"


def _or_none(read: Callable[[], Any]) -> Any:
    """A document that cannot be read is named elsewhere; here it is as if it were not there."""
    try:
        return read()
    except UserError:
        return None
