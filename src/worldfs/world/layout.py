"""The layout: one row per file of the world. Routing, rights, templates and the protocol pages are computed from it."""

from __future__ import annotations

from worldfs.tree.rights import OPERATOR
from worldfs.tree.table import AT_STARTUP, Kind, Row, Table

PLANNER = "planner"
CRITIC = "critic"
WATCHDOG = "watchdog"  # the kernel and its drivers, for the documents of bodies
ORCHESTRATOR = "orchestrator"
RUNTIME = "runtime_watchdog"  # the kernel, for sessions of skills
AGENT = "agent"  # a mind with a directory of its own (Agent State v1)

# In the order of the specification's matrix, with its column headings (000 "Who Reads, Who Writes").
MATRIX_ROLES = {
    PLANNER: "Planner (Agent)",
    CRITIC: "Critic",
    WATCHDOG: "Watchdog (Track B)",
    ORCHESTRATOR: "Orchestrator",
    RUNTIME: "Runtime Watchdog",
}
ROLES = (*MATRIX_ROLES, AGENT, OPERATOR)

_ALL = frozenset(MATRIX_ROLES)
PROJECT = "/projects/{project}"
NODE = "/nodes/{node}"
JOB = NODE + "/jobs/{job}"
MIND = "/agents/{agent}"


def _readers(*roles: str) -> frozenset[str]:
    return frozenset(roles)


ROWS: tuple[Row, ...] = (
    Row(
        PROJECT + "/ENVIRONMENT.md",
        Kind.RECORD,
        "what the world looks like: robots, objects, scene graph, perception",
        _readers(PLANNER, CRITIC, ORCHESTRATOR, RUNTIME),
        {WATCHDOG: ""},
        key="ENVIRONMENT.md",
        document="environment",
        template="environment",
        in_matrix=True,
    ),
    Row(
        NODE + "/EMBODIED.md",
        Kind.RECORD,
        "what the body can do, and its limits",
        _readers(PLANNER, CRITIC),
        {WATCHDOG: AT_STARTUP},
        key="EMBODIED.md",
        document="embodied",
        template="embodied",
        in_matrix=True,
    ),
    Row(
        NODE + "/ACTION.md",
        Kind.SHEET,
        "the actions of a node: reading renders its jobs, writing submits new ids and obeys cancelled",
        _readers(CRITIC, WATCHDOG),
        {PLANNER: "", WATCHDOG: "", OPERATOR: ""},
        key="ACTION.md",
        view="actions",
        document="action",
        template="action",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/SESSIONS.md",
        Kind.SHEET,
        "sessions of skills on targets (served by the runtime)",
        _readers(RUNTIME),
        {PLANNER: "", ORCHESTRATOR: "", RUNTIME: ""},
        key="SESSIONS.md",
        view="sessions",
        document="sessions",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/TARGETS.md",
        Kind.RECORD,
        "the targets that the operator declares",
        _readers(PLANNER, ORCHESTRATOR, RUNTIME),
        {OPERATOR: ""},
        key="TARGETS.md",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/SKILLS.md",
        Kind.RECORD,
        "the skills that the operator declares",
        _readers(PLANNER, ORCHESTRATOR, RUNTIME),
        {OPERATOR: ""},
        key="SKILLS.md",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/TASK.md",
        Kind.RECORD,
        "the planner's sub-tasks and how far they are",
        _readers(CRITIC, ORCHESTRATOR),
        {PLANNER: ""},
        key="TASK.md",
        document="task",
        template="task",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/ORCHESTRATOR.md",
        Kind.RECORD,
        "the fleet's missions and robots",
        _readers(PLANNER),  # the one changed cell of the matrix: somebody must read it (D2)
        {ORCHESTRATOR: ""},
        key="ORCHESTRATOR.md",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/LESSONS.md",
        Kind.RECORD,
        "what was refused or failed, why, and the fix",
        _readers(PLANNER, ORCHESTRATOR),
        {CRITIC: ""},
        key="LESSONS.md",
        document="lessons",
        template="lessons",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/ROBOTS.md",
        Kind.VIEW,
        "the robots that there are, computed from profiles and ENVIRONMENT.md",
        _readers(PLANNER, WATCHDOG, ORCHESTRATOR),
        key="ENVIRONMENT.md",
        view="robots",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/artifacts/{path*}",
        Kind.RECORD,
        "pictures, depth and traces that ENVIRONMENT.md and results refer to",
        _ALL,
        {WATCHDOG: ""},
        key="artifacts/{path*}",
    ),
    Row(
        JOB + "/job.json",
        Kind.VIEW,
        "the order as it was accepted; it is written once, by who submits it to the sheet",
        _ALL,
        key=".paos/jobs",
        view="job",
    ),
    Row(
        JOB + "/status.json",
        Kind.VIEW,
        "the kernel's word: pending, running, succeeded or failed, with the outcome and its evidence",
        _ALL,
        key=".paos/jobs",
        view="status",
        blocking=True,
    ),
    Row(
        JOB + "/result.txt",
        Kind.VIEW,
        "how it ended, in one line",
        _ALL,
        key=".paos/jobs",
        view="result",
        blocking=True,
    ),
    Row(
        JOB + "/cancel",
        Kind.CONTROL,
        "write anything to cancel the job",
        frozenset(),
        {PLANNER: "", ORCHESTRATOR: "", WATCHDOG: "", OPERATOR: ""},
        key=".paos/cancel",
        view="cancel",
    ),
    Row(
        NODE + "/film",
        Kind.CONTROL,
        "write a file name (clear.gif, clear.mp4) to film the body into artifacts/films/, nothing to stop",
        frozenset(),
        {PLANNER: "", ORCHESTRATOR: "", OPERATOR: ""},
        key=".paos/control/{node}",
        view="film",
    ),
    Row(
        MIND + "/report.json",
        Kind.RECORD,
        "what the agent is at; what the agent writes is a proposal: summary, current_task, next_priority, blocked_by",
        _readers(AGENT, ORCHESTRATOR, PLANNER),
        {AGENT: ""},
        key="report.json",
        view="agent_report",
        document="report",
    ),
    Row(
        MIND + "/tasks.json",
        Kind.RECORD,
        "what the agent intends, and how far it is",
        _readers(AGENT, ORCHESTRATOR),
        {AGENT: "", OPERATOR: ""},
        key="tasks.json",
        view="agent_tasks",
        document="tasks",
    ),
    Row(
        MIND + "/session.json",
        Kind.RECORD,
        "the session that runs, or the last one; written by the runner",
        _readers(AGENT, ORCHESTRATOR),
        key="session.json",
        document="session",
    ),
    Row(
        MIND + "/memory.md",
        Kind.RECORD,
        "what the agent remembers across sessions",
        _readers(AGENT),
        {AGENT: "", OPERATOR: ""},
        key="memory.md",
        view="agent_memory",
        document="memory",
    ),
    Row(
        MIND + "/inbox/{letter}",
        Kind.DROP,
        "letters: anybody adds one, only the agent reads and takes them",
        _readers(AGENT),
        {PLANNER: "", ORCHESTRATOR: "", AGENT: "", OPERATOR: ""},
        key="inbox/{letter}",
        view="agent_letter",
        document="message",
    ),
    Row(
        MIND + "/journal.jsonl",
        Kind.LOG,
        "what happened, numbered; the record of every commit",
        _readers(AGENT, ORCHESTRATOR),
        {AGENT: "", OPERATOR: ""},
        key="journal.jsonl",
        view="agent_journal",
        document="journal",
    ),
    Row(
        MIND + "/metrics.json",
        Kind.RECORD,
        "totals since the beginning and of the last 30 days; folded from the journal",
        _readers(AGENT, ORCHESTRATOR),
        key="metrics.json",
        document="metrics",
    ),
    Row(
        "/meta/alerts.json",
        Kind.VIEW,
        "what is wrong now: unreadable files, refused entries, devices",
        _ALL,
        key=".paos",
        view="alerts",
    ),
    Row("/meta/README.md", Kind.VIEW, "this tree, explained from its own table", _ALL, view="readme"),
    Row("/meta/SCHEMA.json", Kind.VIEW, "the table of files as data", _ALL, view="schema"),
)


def table() -> Table:
    return Table(ROWS)
