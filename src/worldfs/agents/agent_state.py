"""The state of one agent: what a program, a runner and a command do with its seven files (Agent State v1).

    with AgentState.open("rio") as state:
        state.start(type="research", timeout_seconds=5400)
        state.event("sources_archived", count=5)
        state.finish("completed", summary="8 sources", sources_archived=8)

Reading takes no lock and writes nothing. Every change is durable when the call returns; any number of processes may
make them, and an agent that only rewrites files beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, Self, TypeVar

from worldfs.base.agent_names import check_agent_name
from worldfs.base.clock import Clock, epoch_ns
from worldfs.base.durable import Disk
from worldfs.base.errors import BadInput, Busy, UserError, from_os
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .agent_directory import AgentDirectory
from .agent_hosts import lives_elsewhere
from .merged_document import GRACE_S, Generation, MergedDocument
from .metrics_cache import FOLD, MetricsCache

if TYPE_CHECKING:
    from types import TracebackType

    from worldfs.base.model import AgentReport, AgentTask, Finding, Job, Message, Metrics, Remark, SessionRecord
    from worldfs.formats.agent.memory import MemoryDocument
    from worldfs.notes import SearchHit
    from worldfs.storage.lease import Lease

    from . import task_file
    from .context_builder import ContextPack
    from .inbox import Inbox
    from .journal import Journal
    from .metrics_reducer import MetricsReducer
    from .session_job import ReadMessages
    from .state_prompt import StatePrompt

T = TypeVar("T")

VARIABLE: Final = "PAOS_AGENTS"
HOME: Final = "PAOS_HOME"
BEAT: Final = ".paos/heartbeat"
KEY_FINDING: Final = "key_finding"
_OURS: Final = frozenset(("ts", "seq", "event"))  # of an entry


def default_root(environ: Mapping[str, str] | None = None) -> str:
    """$PAOS_AGENTS, else `agents` below the home ($PAOS_HOME, else ~/.PhyAgentOS). Text: readers should start fast."""
    environ = os.environ if environ is None else environ
    place = environ.get(VARIABLE) or os.path.join(environ.get(HOME) or "~/.PhyAgentOS", "agents")
    return os.path.abspath(os.path.expanduser(place))


class AgentState:
    """One agent's directory, opened. Usable from many threads; `close` when done, or use it in a `with`."""

    def __init__(self, agent_dir: AgentDirectory) -> None:
        self.agent_dir = agent_dir
        self.name = agent_dir.name
        self.session_lock: Lease | None = None  # ours while a session runs that this object started
        self.started: tuple[int, int, Job | None] = 0, 0, None  # when we began a session: time, change count, its job
        self._late_at = 0.0  # when to check old copies for late writes again

    @classmethod
    def open(
        cls,
        name: str,
        root: str | os.PathLike[str] | None = None,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        create: bool = False,
        take: bool = False,
        language: str = "en",
    ) -> AgentState:
        """Raises `NotFound` naming the agents there are, `BadInput` for what is no name.

        `create`: make the agent's directory and its first files, those that are missing; needs nothing installed.
        `take`: an agent of another host lives here from now on; `Busy` while it works there.
        """
        place = root if root is not None else default_root()
        made: Sequence[str] = ()
        if create and not lives_elsewhere(place, name):
            from pathlib import Path

            from .init_agent import create_agent

            made = create_agent(Path(place), check_agent_name(name), clock=clock, disk=disk, language=language)
        state = cls(AgentDirectory(place, name, clock=clock, disk=disk, take=take))
        if made:
            state.reconcile()  # so that later edits by others can be told from our first version
        return state

    def close(self) -> None:
        """Let go of files and locks. A session that was started here and not finished stays to be found as lost."""
        if self.session_lock is not None:
            self.session_lock.release()
            self.session_lock = None
        for part in ("journal", "inbox"):
            if part in self.__dict__:
                getattr(self, part).close()
        self.agent_dir.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @cached_property
    def journal(self) -> Journal:
        from .journal import Journal

        return Journal(self.agent_dir)

    @cached_property
    def inbox(self) -> Inbox:
        from .inbox import Inbox

        return Inbox(self.agent_dir)

    @cached_property
    def metrics_cache(self) -> MetricsCache:
        return MetricsCache(self.agent_dir, lambda: self.journal, self.documents["metrics.json"].read)

    @cached_property
    def _tasks(self) -> task_file.TaskFile:
        from . import task_file

        return task_file.TaskFile()

    @cached_property
    def documents(self) -> dict[str, MergedDocument]:
        from .document_rules import documents

        return documents(self.agent_dir)

    # -- reading ----------------------------------------------------------------------------------------------------

    def report(self) -> AgentReport | None:
        from worldfs.formats.agent import documents

        data = self._read("report.json")
        return None if data is None else documents.report_read(data)

    def tasks(self) -> tuple[AgentTask, ...]:
        from worldfs.formats.agent import documents

        data = self.documents["tasks.json"].read()
        return () if data is None else documents.tasks_read(data).tasks

    def session(self) -> SessionRecord | None:
        from worldfs.formats.agent import documents

        data = self._read("session.json")
        record = None if data is None else documents.session_read(data)
        return record if record is not None and record.session_id else None  # without an id: seeded, none ran yet

    def metrics(self) -> Metrics | None:
        from worldfs.formats.agent import documents

        data = self._read("metrics.json")
        return None if data is None else documents.metrics_read(data)

    def memory(self) -> MemoryDocument:
        from worldfs.formats.agent import memory

        return memory.read(self.documents["memory.md"].read() or b"")

    def findings(self) -> tuple[Finding, ...]:
        """What was wrong with the files and has not been in the prompt of a successful session yet."""
        return tuple(self.agent_dir.pending_findings())

    def _read(self, name: str) -> bytes | None:
        return self.documents[name].read()

    # -- the agent's own words --------------------------------------------------------------------------------------

    def reconcile(self, *, settle: bool = False, young: bool = True) -> tuple[Finding, ...]:
        """Merge what an agent with file tools did to the files; returns what was wrong with it.

        `settle`: decide about texts that look unfinished, too. `young=False`: late writes to copies that were replaced
        a moment ago can wait for the next call.
        """
        met = len(self.agent_dir.findings)
        with self.agent_dir.locked():
            self.reconcile_all(settle=settle, young=young)
        return tuple(self.agent_dir.findings[met:])

    def reconcile_all(
        self, *, settle: bool = True, young: bool = False, since: int | None = None, alone: bool = False
    ) -> dict[str, bytes | None]:
        """What counts of each document afterwards, by its name. Call inside `locked`.

        `since` (ns since 1970): late writes to copies that were replaced after it do not wait either; `alone`: no other
        process has replaced any since.
        """
        self.journal.reconcile()
        late = None if young else self._rested(since, alone)
        return {
            name: document.reconcile(settle=settle, late=late is None or name in late, young=young)
            for name, document in self.documents.items()
        }

    def _rested(self, since: int | None, alone: bool) -> Container[str]:
        """Documents whose old copies to check for late writes: lists a directory, so not twice in a moment."""
        store = self.agent_dir.store
        now = store.clock.monotonic()
        found = set() if since is None else store.written_keys(since, alone=alone)
        grown = since is not None and epoch_ns(store.clock.now()) - since >= 1e9 * GRACE_S
        if now < self._late_at and not grown:
            return found
        self._late_at = now + GRACE_S / 2
        return found | store.settled_keys()

    def event(self, event: str, /, **fields: object) -> int:
        """One entry of the journal; its number. Secrets in it are marked out."""
        if not event or not event.isprintable() or not _OURS.isdisjoint(fields):
            wrong = [key for key in fields if key in _OURS]
            raise BadInput(
                coded("agent.bad_event", event=event, names=wrong or coded("agent.no_name")), path=self.name,
                op="event", expected=coded("agent.event_form"),
            )  # fmt: skip
        seq = self._record({"event": event, **fields})
        if event == KEY_FINDING:  # 003, report.json: written after each key finding
            said = next((fields[key] for key in ("summary", "finding", "text") if type(fields.get(key)) is str), "")
            self.set_report(**({"summary": said} if said else {}))
        return seq

    def _record(self, entry: Json) -> int:
        """An entry; between sessions its figures are in metrics.json at once, within one at its end."""
        seq = self.append(entry)
        if entry["event"] in self.metrics_cache.events:
            from . import session_job

            if not session_job.running_session(self):
                self.count()
        return seq

    def append(self, entry: Json, *, durable: bool = True) -> int:
        """An entry as it is, redacted and numbered; the metrics count it. For the parts of this package."""
        with self.agent_dir.locked():
            self.metrics_cache.load_baseline()
            seq = self.journal.add((entry,), durable=durable)
            self.metrics_cache.apply_entry(seq, entry)
            return seq

    def count(self) -> None:
        """Bring metrics.json up to the journal; a session's end does so by itself."""
        from worldfs.formats.agent.documents import metrics_write

        from .metrics import project

        with self.agent_dir.locked():
            fold = self.metrics_reducer()
            old = self.documents["metrics.json"].reconcile(settle=True) or b""
            fresh = metrics_write(project(fold, self.name, self.agent_dir.clock.now()), old)
            self.put_many({FOLD: fold.dump(), "metrics.json": fresh})

    def set_report(self, **changes: object) -> AgentReport:
        """Any of status, summary, current_task, next_priority, blocked_by; durable when it returns."""
        from worldfs.base.model import AgentReport
        from worldfs.formats.agent import documents

        allowed = ("status", "summary", "current_task", "next_priority", "blocked_by")
        _only(changes, allowed, "set_report")
        new = documents.report_value(AgentReport(self.name))
        data = self._put(
            "report.json", lambda old: ({} if old else new) | changes | {"updated_at": self.agent_dir.now()}
        )
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
        from worldfs.base.model import AgentTask

        from . import task_file

        made: list[AgentTask] = []

        def edit(old: bytes) -> bytes:
            now = self.agent_dir.now()
            new = AgentTask(id, type, description, "pending", priority, now, context, follow_up_from)
            data, task = task_file.add_task(old, self.name, self._cleaned_task(new), now, self._tasks)
            made[:] = [task]  # of the last try
            return data

        self.documents["tasks.json"].change(edit)
        return made[0]

    def update_task(self, id: str, **changes: object) -> AgentTask:
        """Change fields of one task. `NotFound` names the tasks there are; `BadInput` for a word that is none."""
        from worldfs.base.model import AgentTask

        from . import task_file

        _only(changes, AgentTask._fields, "update_task")
        made: list[AgentTask] = []

        def edit(old: bytes) -> bytes:
            now = self.agent_dir.now()
            if changes.get("status") in ("completed", "dropped"):
                changes.setdefault("completed_at", now)
            data, task = task_file.update_task(old, id, self.cleaned(changes), now, self._tasks)
            made[:] = [task]  # of the last try
            return data

        self.documents["tasks.json"].change(edit)
        return made[0]

    def close_task(self, id: str, outcome: str = "", status: str = "completed") -> AgentTask:
        """Completed or dropped, with a word on what came of it."""
        return self.update_task(id, status=status, outcome=outcome or None)

    def remember(self, section: str, text: str, *, pinned: bool = False) -> Remark:
        """One note more in memory.md: patterns, dead_ends, questions, corrections, flags, or any heading."""
        from worldfs.formats.agent import memory

        text = self.cleaned(text)
        data = self.edit_memory(lambda old: memory.add(old, section, text, pinned=pinned))
        written = memory.remark_text(text)[0]
        return next(remark for remark in reversed(memory.read(data).remarks) if remark.text == written)

    def edit_memory(self, change: Callable[[bytes], bytes]) -> bytes:
        """Change memory.md as text; `change` may be called again if another process was faster."""
        return self.documents["memory.md"].change(change)

    def undo(self, file: str = "memory.md", steps: int = 1) -> None:
        """Go back to an earlier version of memory.md or tasks.json."""
        self._document(file).undo(steps)

    def generations(self, file: str = "memory.md") -> list[Generation]:
        return self._document(file).generations()

    # -- sessions ---------------------------------------------------------------------------------------------------

    def start(self, *, type: str = "ad-hoc", argv: Sequence[str] = (), id: str = "", **fields: object) -> SessionRecord:
        """Begin a session: durable as running when it returns. `Busy` names the process that runs one.

        `fields`: timeout_seconds, domain, branch, model, research_question, belief_targeted, disconfirmation_target,
        sources_expected, and any other, kept as they are.
        """
        from worldfs.base.model.agent import KINDS

        from . import session_job

        if type not in KINDS:
            raise BadInput(coded("agent.bad_type", type=type), path=self.name, op="start", expected=" | ".join(KINDS))
        return session_job.start(self, self.cleaned({"type": type, **fields}), argv, id)

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
        read: ReadMessages | None = None,
        **figures: object,
    ) -> SessionRecord:
        """End the session: one commit, from which the files are written. Durable when it returns.

        `figures`: sources_archived, pr_number, branch, tokens_used, cost_usd, claims_proposed, … `session`: its id, for
        a caller that did not start it. Completed: the messages claimed at its start
        are acknowledged, of them those that were `read` (None: all); else they are returned.
        """
        from worldfs.base.model.agent import OUTCOMES

        from . import session_job

        if outcome not in OUTCOMES:
            found = coded("agent.bad_outcome", outcome=outcome)
            raise BadInput(found, path=self.name, op="finish", expected=" | ".join(OUTCOMES))
        said = {
            "summary": summary, "handoff": handoff, "errors": list(errors), "next_priority": next_priority,
            "cause": cause,
        }  # fmt: skip
        return session_job.finish(self, session, outcome, self.cleaned(said), self.cleaned(figures), read=read)

    def session_facts(self) -> Json:
        """Facts that `paos agent outcome` recorded in the running session."""
        from . import session_facts, session_job

        return session_facts.read(self.agent_dir, session_job.running_session(self))

    def recover(self) -> bool:
        """Settle what a dead runner left, if none is alive; True if there was something."""
        from . import session_job

        if not session_job.running_session(self):
            return False
        with suppress(Busy), self.agent_dir.runner_lease("recovery"), self.agent_dir.locked():
            return session_job.recover(self)
        return False

    def heartbeat(self) -> None:
        """The session lives: its messages stay claimed, and the heartbeat file shows when it was last active."""
        from . import session_job

        sid = session_job.running_session(self)
        if sid:
            self.inbox.extend(sid, session_job.LEASE_S)
            self.agent_dir.write_unsynced(BEAT, f"{self.agent_dir.now()} {sid}\n".encode())

    def runner(self) -> Json | None:
        """The process that runs a session now: {pid, host, command, started_at}; None if none does."""
        from . import session_job

        return session_job.runner(self)

    # -- messages ---------------------------------------------------------------------------------------------------

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
        """A message into another agent's inbox, durable when it returns. `NotFound` names the agents there are."""
        from worldfs.base.model import Message

        from .inbox import deposit_to

        message = Message(
            id, self.name, to, self.agent_dir.now(), type, priority, subject, body, source_ref, expires_at
        )
        sent = deposit_to(self.agent_dir.path.parent, to, message, clock=self.agent_dir.clock, disk=self.agent_dir.disk)
        if sent.new:
            self.sent(sent.message)
        return sent.message

    def sent(self, message: Message) -> int:
        """Record a message of this agent that is in another agent's inbox now."""
        return self._record({"event": "message_sent", "to": message.to, "type": message.type, "id": message.id})

    # -- for agents -------------------------------------------------------------------------------------------------

    def context(
        self, *, budget: int = 4000, unit: Literal["tokens", "bytes"] = "tokens", language: str = "en"
    ) -> ContextPack:
        """The context for the agent's model: memory, tasks and messages within a budget (context_builder.py)."""
        from .context_builder import build_context

        memory, tasks, messages = self._context_sources(self._session_here())
        return build_context(
            memory, tasks, messages, session=_or_none(self.session), report=_or_none(self.report),
            findings=self.findings(), budget=budget, unit=unit, language=language, agent=self.name,
        )  # fmt: skip

    def prompt(self, *, budget: int = 4000, language: str = "en", template: str = "") -> str:
        """The state prompt (003, "Load Operational State"), in at most `budget` tokens; `template`: one of your own.

        `BadInput` names the least budget that holds what surrounds the context.
        """
        return self.prompted(budget=budget, language=language, template=template).text

    def prompted(
        self, *, session: SessionRecord | None = None, outcome: str = "", budget: int = 4000, language: str = "en",
        template: str = "",
    ) -> StatePrompt:  # fmt: skip
        """As `prompt`, with what it left out. `session`: which it is for, else the one that runs, else the next one.

        It names the messages that are claimed for that session and no others; before a session, those that a claim
        would deliver. `outcome`: the file of facts that the session may write.
        """
        from . import state_prompt as prompts
        from .text_cost import text_cost

        text = None
        if template:
            from pathlib import Path

            try:
                text = Path(template).read_text("utf-8")
            except OSError as error:
                raise from_os(error, path=template, op="prompt") from error
        session = session or self._session_here()
        memory, tasks, messages = self._context_sources(session)
        last = self._last(session)
        room = budget
        for _ in range(4):  # what surrounds the pack has its price, too: the pack gets what is left
            made = prompts.build_prompt(
                self.name, str(self.agent_dir.path), memory, tasks, messages, last=last, session=session,
                report=_or_none(self.report), findings=self.findings(), template=text, file=template, budget=room,
                language=language, outcome=outcome,
            )  # fmt: skip
            over = text_cost(made.text, "tokens") - budget
            if over <= 0:
                return made
            if not room:
                break
            room = max(0, min(room, made.pack.used) - over)
        raise BadInput(
            coded("agent.budget", n=budget), path=self.name, op="prompt",
            expected=coded("agent.budget_least", n=budget + over), fix=coded("agent.raise_budget"),
        )  # fmt: skip

    def _session_here(self) -> SessionRecord | None:
        """The session that runs."""
        from . import session_job

        sid = session_job.running_session(self)
        return session_job.record_of(self, sid) if sid else None

    def _last(self, session: SessionRecord | None) -> SessionRecord | None:
        """The session before `session`; session.json is that of the one that runs."""
        last: SessionRecord | None = _or_none(self.session)
        if last is None or session is None or last.session_id != session.session_id:
            return last
        from . import session_job

        return session_job.previous_session(self, session.session_id)

    def _context_sources(self, session: SessionRecord | None) -> tuple[bytes, bytes, list[Message]]:
        messages = (
            self.inbox.deliverable()
            if session is None
            else [claimed.message for claimed in self.inbox.claimed(session.session_id)]
        )
        return self.documents["memory.md"].read() or b"", self.documents["tasks.json"].read() or b"", messages

    def search(self, query: str, limit: int = 10) -> list[SearchHit]:
        """Notes of memory.md that fit a query, best first; by meaning too where the extra `embed` is installed."""
        from worldfs.notes import embed

        from .memory_search import INDEX, search_memory

        data, index = self.documents["memory.md"].read() or b"", self.agent_dir.path / INDEX
        return search_memory(data, query, limit, index=index, embedder=embed.installed_embedder())

    # -- for the parts of this package ------------------------------------------------------------------------------

    def metrics_reducer(self) -> MetricsReducer:
        """The metrics as of the journal's last entry. Call inside `locked`."""
        return self.metrics_cache.reducer()

    def recount_metrics(self) -> None:
        """Count the metrics anew, from what was found at the beginning and every entry of the journal."""
        with self.agent_dir.locked():
            self.metrics_cache.recount()
            self.count()

    def _put(self, name: str, changes: Callable[[bytes], Mapping[str, object]]) -> bytes:
        from .document_rules import with_members

        return self.documents[name].change(lambda old: with_members(old, self.cleaned(dict(changes(old)))))

    def put_many(
        self, files: Mapping[str, bytes], *, looked: bool = False, between: Callable[[], object] | None = None
    ) -> None:
        """Several files as a group (`merged_document.write_many`)."""
        from .merged_document import write_many

        write_many(self.agent_dir, self.documents, files, looked=looked, between=between)

    def cleaned(self, value: T) -> T:
        """A value of JSON with its secrets marked out."""
        from worldfs.formats.agent.redact import redact_value

        return redact_value(value)

    def _cleaned_task(self, task: AgentTask) -> AgentTask:
        return task._replace(**self.cleaned(task._asdict()))

    def _document(self, file: str) -> MergedDocument:
        if file not in ("memory.md", "tasks.json"):
            found, expected = coded("agent.no_versions", file=file), coded("agent.versioned")
            raise BadInput(found, path=self.name, op="undo", expected=expected)
        return self.documents[file]


def _only(changes: Mapping[str, object], allowed: Sequence[str], op: str) -> None:
    wrong = [key for key in changes if key not in allowed]
    if wrong:
        raise BadInput(", ".join(wrong), op=op, expected=coded("agent.any_of", names=list(allowed)))


def _or_none(read: Callable[[], T]) -> T | None:
    """A document that cannot be read is named elsewhere; here it is as if it were not there."""
    try:
        return read()
    except UserError:
        return None
