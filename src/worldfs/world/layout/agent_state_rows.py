"""The rows of an agent's state (Agent State v1, 003)."""

from __future__ import annotations

from worldfs.access.roles import AGENT, OPERATOR, ORCHESTRATOR, PLANNER, readers
from worldfs.tree.row_table import FileKind, FileRow

from .row_builders import directory_rows

AGENT_DIR = "/agents/{agent}"

ROWS: tuple[FileRow, ...] = (
    FileRow(
        AGENT_DIR + "/report.json",
        FileKind.RECORD,
        "what the agent is at; what the agent writes is a proposal: summary, current_task, next_priority, blocked_by",
        readers(AGENT, ORCHESTRATOR, PLANNER),
        {AGENT: ""},
        key="report.json",
        view="agent_report",
        document="report",
        mount="mind",
    ),
    FileRow(
        AGENT_DIR + "/tasks.json",
        FileKind.RECORD,
        "what the agent intends, and how far it is",
        readers(AGENT, ORCHESTRATOR),
        {AGENT: "", OPERATOR: ""},
        key="tasks.json",
        view="agent_tasks",
        document="tasks",
        mount="mind",
    ),
    FileRow(
        AGENT_DIR + "/session.json",
        FileKind.RECORD,
        "the session that runs, or the last one; written by the runner",
        readers(AGENT, ORCHESTRATOR),
        key="session.json",
        document="session",
        mount="mind",
    ),
    FileRow(
        AGENT_DIR + "/memory.md",
        FileKind.RECORD,
        "what the agent remembers across sessions",
        readers(AGENT),
        {AGENT: "", OPERATOR: ""},
        key="memory.md",
        view="agent_memory",
        document="memory",
        mount="mind",
    ),
    FileRow(
        AGENT_DIR + "/inbox/{letter}",
        FileKind.DROP,
        "messages: anybody adds one, only the agent reads and takes them",
        readers(AGENT),
        {PLANNER: "", ORCHESTRATOR: "", AGENT: "", OPERATOR: ""},
        key="inbox/{letter}",
        view="agent_letter",
        document="message",
        mount="mind",
    ),
    *directory_rows(
        AGENT_DIR + "/inbox",
        "Messages to {agent}",
        "One file for each message: the sender creates it, whole; only the agent reads and removes it.",
        mount="mind_pages",
    ),
    FileRow(
        AGENT_DIR + "/journal.jsonl",
        FileKind.LOG,
        "what happened, numbered; the record of every commit",
        readers(AGENT, ORCHESTRATOR),
        {AGENT: "", OPERATOR: ""},
        key="journal.jsonl",
        view="agent_journal",
        document="journal",
        mount="mind",
    ),
    FileRow(
        AGENT_DIR + "/metrics.json",
        FileKind.RECORD,
        "totals since the beginning and of the last 30 days; folded from the journal",
        readers(AGENT, ORCHESTRATOR),
        key="metrics.json",
        document="metrics",
        mount="mind",
    ),
)
