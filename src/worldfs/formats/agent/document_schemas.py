"""What the documents of Agent State v1 hold: the members of their records, in the order of the specification (003).

Name, type and default of a member are the record's (`base/model/agent.py`); here stands what only a file needs.
`required` names only what a reader cannot do without: an agent that writes by hand forgets the rest. Writers write all.
"""

from __future__ import annotations

from typing import Final

from worldfs.base.model.agent import KINDS as SESSION_TYPE
from worldfs.base.model.agent import (
    OUTCOMES,
    AgentReport,
    AgentTask,
    LastSession,
    Message,
    Metrics,
    SessionRecord,
    TaskList,
)

from .object_schema import NUMBER_OR_NULL, TEXT, TEXT_OR_NULL, WHOLE, Field, ObjectSchema
from .record_schema import Member, record_schema

REPORT_STATUS: Final = ("idle", "researching", "extracting", "evaluating", "error")
SESSION_STATUS: Final = ("running", *OUTCOMES)
TASK_TYPE: Final = ("research", "extract", "evaluate", "follow-up", "disconfirm")
TASK_STATUS: Final = ("pending", "active", "completed", "dropped")
TASK_PRIORITY: Final = ("high", "medium", "low")
MESSAGE_TYPE: Final = ("flag", "task", "question", "cascade")
MESSAGE_PRIORITY: Final = ("high", "normal", "medium", "low")  # medium is normal

VERSION: Final = Field("schema_version", WHOLE, "version of this form; absent means 1", least=1)
_AGENT: Final = Member("whose directory this is", required=True)
_UPDATED: Final = Member("when it was last written", time=True)

REPORT: Final = record_schema(
    AgentReport,
    "report",
    "report.json",
    "What an agent is at now: written after each meaningful action, read at every wake.",
    {
        "agent": _AGENT,
        "updated_at": _UPDATED,
        "status": Member("what it does now", REPORT_STATUS, required=True),
        "summary": Member("what was done last, in a sentence"),
        "current_task": Member("id of the task at hand"),
        "last_session": Member(
            "how the last session went",
            item=record_schema(
                LastSession,
                "last_session",
                "last_session",
                "How the last session went.",
                {
                    "id": Member("id of the session", required=True),
                    "started_at": Member("when it began", time=True),
                    "ended_at": Member("when it ended", time=True),
                    "outcome": Member("how it ended", OUTCOMES),
                    "sources_archived": Member("sources archived in it", least=0),
                    "branch": Member("branch that it worked on"),
                    "pr_number": Member("pull request that it opened", least=0),
                },
            ),
        ),
        "blocked_by": Member("what it waits for"),
        "next_priority": Member("what it should do next"),
    },
    more=(VERSION,),
)

TASK: Final = record_schema(
    AgentTask,
    "task",
    "task",
    "An intention of the agent; its status is kept by its owner.",
    {
        "id": Member("unique in this file", required=True),
        "type": Member("what kind of work", TASK_TYPE),
        "description": Member("what is to be done", required=True),
        "status": Member("how far it is", TASK_STATUS),
        "priority": Member("how much it matters", TASK_PRIORITY),
        "created_at": Member("when it was written down", time=True),
        "context": Member("where it came from"),
        "follow_up_from": Member("id of the task that it follows"),
        "completed_at": Member("when it was completed or dropped", time=True),
        "outcome": Member("what came of it"),
    },
)

TASKS: Final = record_schema(
    TaskList,
    "tasks",
    "tasks.json",
    "The agent's task queue: written when the status of a task changes, read at every wake.",
    {
        "agent": Member("whose directory this is"),
        "updated_at": _UPDATED,
        "tasks": Member("the tasks", required=True, item=TASK),
    },
    more=(VERSION,),
)

SESSION: Final = record_schema(
    SessionRecord,
    "session",
    "session.json",
    "The session that runs, or the last one: written at its start and at its end.",
    {
        "agent": _AGENT,
        "session_id": Member("id of the session, made at its start", required=True),
        "started_at": Member("when it began", time=True),
        "ended_at": Member("when it ended; null while it runs", time=True),
        "type": Member("what kind of work", SESSION_TYPE),
        "domain": Member("field of knowledge"),
        "branch": Member("branch that it works on"),
        "status": Member("whether it runs, or how it ended", SESSION_STATUS, required=True),
        "model": Member("model that it runs on"),
        "timeout_seconds": Member("seconds it may take", least=0),
        "research_question": Member("what it asks"),
        "belief_targeted": Member("belief that it tests"),
        "disconfirmation_target": Member("what would disprove that belief"),
        "sources_archived": Member("sources archived so far", least=0),
        "sources_expected": Member("sources it hopes for", least=0),
        "tokens_used": Member("model tokens used", least=0),
        "cost_usd": Member("cost in US dollars", least=0),
        "errors": Member("what went wrong"),
        "handoff_notes": Member("what the next session must know"),
    },
    more=(VERSION,),
)

MESSAGE: Final = record_schema(
    Message,
    "message",
    "inbox/{uuid}.json",
    "A message to an agent: one file, consumed once.",
    {
        "id": Member("unique; a second message with it is a duplicate", required=True),
        "sender": Member("sender", name="from", required=True),
        "to": Member("recipient", required=True),
        "created_at": Member("when it was written", time=True),
        "type": Member("kind of message", MESSAGE_TYPE),
        "priority": Member("high > normal = medium > low", MESSAGE_PRIORITY),
        "subject": Member("what it is about, in a line"),
        "body": Member("what it says"),
        "source_ref": Member("where it comes from: a branch, a session, a file"),
        "expires_at": Member("never delivered after that; null: never expires", time=True),
    },
    more=(VERSION,),
)

LIFETIME: Final = (
    ("sessions_total", "sessions that ended: completed + timeout + error"),
    ("sessions_completed", "sessions that ended well"),
    ("sessions_timeout", "sessions ended by their deadline"),
    ("sessions_error", "sessions that ended in any other way"),
    ("sources_archived", "sources archived"),
    ("claims_proposed", "claims proposed; not less than accepted + challenged + rejected"),
    ("claims_accepted", "claims accepted"),
    ("claims_challenged", "claims challenged"),
    ("claims_rejected", "claims rejected"),
    ("disconfirmation_attempts", "attempts to disprove a belief"),
    ("disconfirmation_hits", "attempts that found something; not more than attempts"),
    ("cross_agent_flags_sent", "flags sent to other agents"),
    ("cross_agent_flags_received", "flags received from other agents"),
)

METRICS: Final = record_schema(
    Metrics,
    "metrics",
    "metrics.json",
    "Cumulative counters of an agent, and of its last 30 days: written at session end.",
    {
        "agent": _AGENT,
        "updated_at": _UPDATED,
        "lifetime": Member(
            "totals since the beginning",
            required=True,
            item=ObjectSchema(
                "lifetime",
                "lifetime",
                "Totals since the beginning.",
                tuple(Field(name, WHOLE, about, least=0, default=0) for name, about in LIFETIME),
            ),
        ),
        "rolling_30d": Member(
            "the last 30 days",
            item=ObjectSchema(
                "rolling_30d",
                "rolling_30d",
                "The last 30 days.",
                (
                    Field("sessions", WHOLE, "sessions that ended", least=0, default=0),
                    Field("sources_archived", WHOLE, "sources archived", least=0, default=0),
                    Field("claims_proposed", WHOLE, "claims proposed", least=0, default=0),
                    Field("acceptance_rate", NUMBER_OR_NULL, "accepted / proposed; null when none", least=0),
                    Field("avg_sources_per_session", NUMBER_OR_NULL, "sources / sessions; null when none", least=0),
                ),
            ),
        ),
    },
    more=(VERSION,),
)

ENTRY: Final = ObjectSchema(
    "entry",
    "journal.jsonl",
    "One line of the journal. Which events there are is open; each brings members of its own.",
    (
        Field("ts", TEXT, "when it happened", required=True, time=True),
        Field("event", TEXT, "what happened", required=True),
        Field("session_id", TEXT_OR_NULL, "session that it belongs to"),
        Field("seq", WHOLE, "its number: no gaps for one agent", least=1),
    ),
)

TABLES: Final = (REPORT, TASKS, SESSION, MESSAGE, METRICS, ENTRY)
