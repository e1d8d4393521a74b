"""What the documents of Agent State v1 hold: one row a member, in the order of the specification (003).

`required` names only what a reader cannot do without: an agent that writes by hand forgets the rest. Writers write all.
"""

from __future__ import annotations

from typing import Final

from .object_schema import (
    LIST,
    NUMBER_OR_NULL,
    OBJECT,
    OBJECT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    WHOLE,
    WHOLE_OR_NULL,
    Field,
    ObjectSchema,
)

REPORT_STATUS: Final = ("idle", "researching", "extracting", "evaluating", "error")
OUTCOME: Final = ("completed", "timeout", "error")
SESSION_STATUS: Final = ("running", *OUTCOME)
SESSION_TYPE: Final = ("research", "extract", "evaluate", "ad-hoc")
TASK_TYPE: Final = ("research", "extract", "evaluate", "follow-up", "disconfirm")
TASK_STATUS: Final = ("pending", "active", "completed", "dropped")
TASK_PRIORITY: Final = ("high", "medium", "low")
MESSAGE_TYPE: Final = ("flag", "task", "question", "cascade")
MESSAGE_PRIORITY: Final = ("high", "normal", "medium", "low")  # medium is normal

VERSION: Final = Field("schema_version", WHOLE, "version of this form; absent means 1", least=1)
_AGENT: Final = Field("agent", TEXT, "whose directory this is", required=True)
_UPDATED: Final = Field("updated_at", TEXT, "when it was last written", time=True, default="")

REPORT: Final = ObjectSchema(
    "report",
    "report.json",
    "What an agent is at now: written after each meaningful action, read at every wake.",
    (
        _AGENT,
        _UPDATED,
        Field("status", TEXT, "what it does now", REPORT_STATUS, required=True),
        Field("summary", TEXT, "what was done last, in a sentence", default=""),
        Field("current_task", TEXT_OR_NULL, "id of the task at hand"),
        Field(
            "last_session",
            OBJECT_OR_NULL,
            "how the last session went",
            item=ObjectSchema(
                "last_session",
                "last_session",
                "How the last session went.",
                (
                    Field("id", TEXT, "id of the session", required=True),
                    Field("started_at", TEXT, "when it began", time=True, default=""),
                    Field("ended_at", TEXT_OR_NULL, "when it ended", time=True),
                    Field("outcome", TEXT_OR_NULL, "how it ended", OUTCOME),
                    Field("sources_archived", WHOLE, "sources archived in it", least=0, default=0),
                    Field("branch", TEXT_OR_NULL, "branch that it worked on"),
                    Field("pr_number", WHOLE_OR_NULL, "pull request that it opened", least=0),
                ),
            ),
        ),
        Field("blocked_by", TEXT_OR_NULL, "what it waits for"),
        Field("next_priority", TEXT_OR_NULL, "what it should do next"),
        VERSION,
    ),
)

TASK: Final = ObjectSchema(
    "task",
    "task",
    "An intention of the agent; its status is kept by its owner.",
    (
        Field("id", TEXT, "unique in this file", required=True),
        Field("type", TEXT, "what kind of work", TASK_TYPE, default="follow-up"),
        Field("description", TEXT, "what is to be done", required=True),
        Field("status", TEXT, "how far it is", TASK_STATUS, default="pending"),
        Field("priority", TEXT, "how much it matters", TASK_PRIORITY, default="medium"),
        Field("created_at", TEXT, "when it was written down", time=True, default=""),
        Field("context", TEXT, "where it came from", default=""),
        Field("follow_up_from", TEXT_OR_NULL, "id of the task that it follows"),
        Field("completed_at", TEXT_OR_NULL, "when it was completed or dropped", time=True),
        Field("outcome", TEXT_OR_NULL, "what came of it"),
    ),
)

TASKS: Final = ObjectSchema(
    "tasks",
    "tasks.json",
    "The agent's task queue: written when the status of a task changes, read at every wake.",
    (
        Field("agent", TEXT, "whose directory this is", default=""),
        _UPDATED,
        Field("tasks", LIST, "the tasks", required=True, item=TASK),
        VERSION,
    ),
)

SESSION: Final = ObjectSchema(
    "session",
    "session.json",
    "The session that runs, or the last one: written at its start and at its end.",
    (
        _AGENT,
        Field("session_id", TEXT, "id of the session, made at its start", required=True),
        Field("started_at", TEXT, "when it began", time=True, default=""),
        Field("ended_at", TEXT_OR_NULL, "when it ended; null while it runs", time=True),
        Field("type", TEXT, "what kind of work", SESSION_TYPE, default="ad-hoc"),
        Field("domain", TEXT_OR_NULL, "field of knowledge"),
        Field("branch", TEXT_OR_NULL, "branch that it works on"),
        Field("status", TEXT, "whether it runs, or how it ended", SESSION_STATUS, required=True),
        Field("model", TEXT_OR_NULL, "model that it runs on"),
        Field("timeout_seconds", WHOLE_OR_NULL, "seconds it may take", least=0),
        Field("research_question", TEXT_OR_NULL, "what it asks"),
        Field("belief_targeted", TEXT_OR_NULL, "belief that it tests"),
        Field("disconfirmation_target", TEXT_OR_NULL, "what would disprove that belief"),
        Field("sources_archived", WHOLE, "sources archived so far", least=0, default=0),
        Field("sources_expected", WHOLE_OR_NULL, "sources it hopes for", least=0),
        Field("tokens_used", WHOLE_OR_NULL, "model tokens used", least=0),
        Field("cost_usd", NUMBER_OR_NULL, "cost in US dollars", least=0),
        Field("errors", LIST, "what went wrong", item=TEXT),
        Field("handoff_notes", TEXT_OR_NULL, "what the next session must know"),
        VERSION,
    ),
)

MESSAGE: Final = ObjectSchema(
    "message",
    "inbox/{uuid}.json",
    "A message to an agent: one file, consumed once.",
    (
        Field("id", TEXT, "unique; a second message with it is a duplicate", required=True),
        Field("from", TEXT, "sender", required=True),
        Field("to", TEXT, "recipient", required=True),
        Field("created_at", TEXT, "when it was written", time=True, default=""),
        Field("type", TEXT, "kind of message", MESSAGE_TYPE, default="flag"),
        Field("priority", TEXT, "high > normal = medium > low", MESSAGE_PRIORITY, default="normal"),
        Field("subject", TEXT, "what it is about, in a line", default=""),
        Field("body", TEXT, "what it says", default=""),
        Field("source_ref", TEXT_OR_NULL, "where it comes from: a branch, a session, a file"),
        Field("expires_at", TEXT_OR_NULL, "never delivered after that; null: never expires", time=True),
        VERSION,
    ),
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

METRICS: Final = ObjectSchema(
    "metrics",
    "metrics.json",
    "Cumulative counters of an agent, and of its last 30 days: written at session end.",
    (
        _AGENT,
        _UPDATED,
        Field(
            "lifetime",
            OBJECT,
            "totals since the beginning",
            required=True,
            item=ObjectSchema(
                "lifetime",
                "lifetime",
                "Totals since the beginning.",
                tuple(Field(name, WHOLE, about, least=0, default=0) for name, about in LIFETIME),
            ),
        ),
        Field(
            "rolling_30d",
            OBJECT,
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
        VERSION,
    ),
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
