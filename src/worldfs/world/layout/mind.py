"""The rows of an agent: what a mind keeps (Agent State v1, 003)."""

from __future__ import annotations

from worldfs.tree.rights import OPERATOR
from worldfs.tree.table import Kind, Row

from .roles import AGENT, ORCHESTRATOR, PLANNER, readers
from .shape import folder

MIND = "/agents/{agent}"

ROWS: tuple[Row, ...] = (
    Row(
        MIND + "/report.json",
        Kind.RECORD,
        "what the agent is at; what the agent writes is a proposal: summary, current_task, next_priority, blocked_by",
        readers(AGENT, ORCHESTRATOR, PLANNER),
        {AGENT: ""},
        key="report.json",
        view="agent_report",
        document="report",
        room="mind",
    ),
    Row(
        MIND + "/tasks.json",
        Kind.RECORD,
        "what the agent intends, and how far it is",
        readers(AGENT, ORCHESTRATOR),
        {AGENT: "", OPERATOR: ""},
        key="tasks.json",
        view="agent_tasks",
        document="tasks",
        room="mind",
    ),
    Row(
        MIND + "/session.json",
        Kind.RECORD,
        "the session that runs, or the last one; written by the runner",
        readers(AGENT, ORCHESTRATOR),
        key="session.json",
        document="session",
        room="mind",
    ),
    Row(
        MIND + "/memory.md",
        Kind.RECORD,
        "what the agent remembers across sessions",
        readers(AGENT),
        {AGENT: "", OPERATOR: ""},
        key="memory.md",
        view="agent_memory",
        document="memory",
        room="mind",
    ),
    Row(
        MIND + "/inbox/{letter}",
        Kind.DROP,
        "messages: anybody adds one, only the agent reads and takes them",
        readers(AGENT),
        {PLANNER: "", ORCHESTRATOR: "", AGENT: "", OPERATOR: ""},
        key="inbox/{letter}",
        view="agent_letter",
        document="message",
        room="mind",
    ),
    *folder(
        MIND + "/inbox",
        "Letters to {agent}",
        "One file a letter: whoever sends it makes it, whole; only its agent reads it and takes it away.",
        room="mind_pages",
    ),
    Row(
        MIND + "/journal.jsonl",
        Kind.LOG,
        "what happened, numbered; the record of every commit",
        readers(AGENT, ORCHESTRATOR),
        {AGENT: "", OPERATOR: ""},
        key="journal.jsonl",
        view="agent_journal",
        document="journal",
        room="mind",
    ),
    Row(
        MIND + "/metrics.json",
        Kind.RECORD,
        "totals since the beginning and of the last 30 days; folded from the journal",
        readers(AGENT, ORCHESTRATOR),
        key="metrics.json",
        document="metrics",
        room="mind",
    ),
)
