"""The state of one agent: what a program, a runner and a command do with its seven files (Agent State v1).

    with AgentState.open("rio") as state:
        state.start(type="research", timeout_seconds=5400)
        state.event("sources_archived", count=5)
        state.finish("completed", summary="8 sources", sources_archived=8)

Reading takes no lock and writes nothing. Every change is durable when the call returns; any number of processes may
make them, and an agent that only rewrites files beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from worldfs.base.errors import BadInput, Busy, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .agent_directory import AgentDirectory
from .agent_files import AgentFiles
from .merged_document import Generation, MergedDocument

if TYPE_CHECKING:
    from worldfs.base.model import AgentReport, AgentTask, Job, Message, Remark, SessionRecord
    from worldfs.notes import SearchHit
    from worldfs.storage.lease import Lease

    from . import task_file
    from .context_builder import ContextPack
    from .session_job import ReadMessages
    from .state_prompt import StatePrompt

T = TypeVar("T")

BEAT: Final = ".paos/heartbeat"
KEY_FINDING: Final = "key_finding"
_OURS: Final = frozenset(("ts", "seq", "event"))  # of an entry


class AgentState(AgentFiles):
    """What is done with the files of one agent; a session that it began is its own until it ends."""

    def __init__(self, agent_dir: AgentDirectory) -> None:
        super().__init__(agent_dir)
        self.session_lock: Lease | None = None  # ours while a session runs that this object started
        self.started: tuple[int, int, Job | None] = 0, 0, None  # when we began a session: time, change count, its job

    def close(self) -> None:
        """Let go of files and locks. A session that was started here and not finished stays to be found as lost."""
        if self.session_lock is not None:
            self.session_lock.release()
            self.session_lock = None
        super().close()

    @cached_property
    def _tasks(self) -> task_file.TaskFile:
        from . import task_file

        return task_file.TaskFile()

    # -- the agent's own words --------------------------------------------------------------------------------------

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
            from worldfs.base.given_file import read_given_file

            text = read_given_file(template, op="prompt").decode("utf-8", "replace")
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
