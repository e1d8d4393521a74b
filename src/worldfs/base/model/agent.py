"""What an agent keeps: report, tasks, session, message, metrics, and what it remembers (Agent State v1).

Named tuples, because a command that only reads must start at once. `extra` holds keys that the specification does not
name; they are kept. Times are ISO 8601 in UTC with a Z, as they are in the files. Annotations are types at once: as
text, each of them would be compiled when the module is loaded.
"""

from typing import NamedTuple

from .base import Json

OUTCOMES = ("completed", "timeout", "error")
KINDS = ("research", "extract", "evaluate", "ad-hoc")


class LastSession(NamedTuple):
    id: str
    started_at: str = ""
    ended_at: str | None = None
    outcome: str | None = None  # completed | timeout | error
    sources_archived: int = 0
    branch: str | None = None
    pr_number: int | None = None
    extra: Json = {}


class AgentReport(NamedTuple):
    """report.json: what the agent is at now."""

    agent: str
    updated_at: str = ""
    status: str = "idle"  # idle | researching | extracting | evaluating | error
    summary: str = ""
    current_task: str | None = None
    last_session: LastSession | None = None
    blocked_by: str | None = None
    next_priority: str | None = None
    extra: Json = {}


class AgentTask(NamedTuple):
    """One entry of tasks.json: an intention; its status is kept by its owner."""

    id: str
    type: str = "follow-up"  # research | extract | evaluate | follow-up | disconfirm
    description: str = ""
    status: str = "pending"  # pending | active | completed | dropped
    priority: str = "medium"  # high | medium | low
    created_at: str = ""
    context: str = ""
    follow_up_from: str | None = None
    completed_at: str | None = None
    outcome: str | None = None
    extra: Json = {}


class TaskList(NamedTuple):
    """tasks.json: the agent's task queue."""

    agent: str = ""
    updated_at: str = ""
    tasks: tuple[AgentTask, ...] = ()
    extra: Json = {}


class SessionRecord(NamedTuple):
    """session.json: the session that runs, or the last one."""

    agent: str
    session_id: str
    started_at: str = ""
    ended_at: str | None = None
    type: str = "ad-hoc"  # research | extract | evaluate | ad-hoc
    domain: str | None = None
    branch: str | None = None
    status: str = "running"  # running | completed | timeout | error
    model: str | None = None
    timeout_seconds: int | None = None
    research_question: str | None = None
    belief_targeted: str | None = None
    disconfirmation_target: str | None = None
    sources_archived: int = 0
    sources_expected: int | None = None
    tokens_used: int | None = None
    cost_usd: float | None = None
    errors: tuple[str, ...] = ()
    handoff_notes: str | None = None
    extra: Json = {}


class Message(NamedTuple):
    """inbox/{uuid}.json: a message to an agent, consumed once."""

    id: str
    sender: str  # "from"
    to: str
    created_at: str = ""
    type: str = "flag"  # flag | task | question | cascade
    priority: str = "normal"  # high | normal (medium is read as normal) | low
    subject: str = ""
    body: str = ""
    source_ref: str | None = None
    expires_at: str | None = None  # past: never delivered
    extra: Json = {}


class Metrics(NamedTuple):
    """metrics.json: totals since the beginning, and of the last 30 days. Keys as in the specification."""

    agent: str
    updated_at: str = ""
    lifetime: Json = {}
    rolling_30d: Json = {}
    extra: Json = {}


AgentRecord = LastSession | AgentReport | AgentTask | TaskList | SessionRecord | Message | Metrics


class Remark(NamedTuple):
    """One remembered thing of memory.md: a list item below one of its headings."""

    section: str  # the canonical section ("patterns", "dead_ends", …), or the heading as written for any other
    text: str  # without the list mark; continuation lines joined by newlines
    pinned: bool = False  # never left out of a context pack
    at: str = ""  # the newest date that its text names, YYYY-MM-DD, or ""
    line: int = 0  # where it is, from 1
