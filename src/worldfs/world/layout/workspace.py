"""The rows of a workspace: what robots, planners and critics tell each other (000)."""

from __future__ import annotations

from worldfs.tree.rights import OPERATOR
from worldfs.tree.table import AT_STARTUP, Kind, Row

from .roles import ALL, CRITIC, ORCHESTRATOR, PLANNER, RUNTIME, WATCHDOG, readers
from .shape import folder

PROJECT = "/projects/{project}"
NODE = "/nodes/{node}"
JOB = NODE + "/jobs/{job}"

ROWS: tuple[Row, ...] = (
    Row(
        PROJECT + "/ENVIRONMENT.md",
        Kind.RECORD,
        "what the world looks like: robots, objects, scene graph, perception",
        readers(PLANNER, CRITIC, ORCHESTRATOR, RUNTIME),
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
        readers(PLANNER, CRITIC),
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
        readers(CRITIC, WATCHDOG),
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
        readers(RUNTIME),
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
        readers(PLANNER, ORCHESTRATOR, RUNTIME),
        {OPERATOR: ""},
        key="TARGETS.md",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/SKILLS.md",
        Kind.RECORD,
        "the skills that the operator declares",
        readers(PLANNER, ORCHESTRATOR, RUNTIME),
        {OPERATOR: ""},
        key="SKILLS.md",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/TASK.md",
        Kind.RECORD,
        "the planner's sub-tasks and how far they are",
        readers(CRITIC, ORCHESTRATOR),
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
        readers(PLANNER),  # the one changed cell of the matrix: somebody must read it (D2)
        {ORCHESTRATOR: ""},
        key="ORCHESTRATOR.md",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/LESSONS.md",
        Kind.RECORD,
        "what was refused or failed, why, and the fix",
        readers(PLANNER, ORCHESTRATOR),
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
        readers(PLANNER, WATCHDOG, ORCHESTRATOR),
        key="ENVIRONMENT.md",
        view="robots",
        in_matrix=True,
    ),
    Row(
        PROJECT + "/artifacts/{path*}",
        Kind.RECORD,
        "pictures, depth and traces that ENVIRONMENT.md and results refer to",
        ALL,
        {WATCHDOG: ""},
        key="artifacts/{path*}",
    ),
    *folder(
        PROJECT + "/artifacts",
        "Artifacts of {project}",
        "Pictures, depth and traces that ENVIRONMENT.md and results refer to.",
        room="workspace_pages",
    ),
    *folder(
        NODE + "/jobs", "Jobs of {node}", "What this body was asked to do, a directory a job.", room="workspace_pages"
    ),
    *folder(JOB, "Job {job}", "One order: what was asked, how far it is, what came of it.", room="workspace_pages"),
    Row(
        JOB + "/job.json",
        Kind.VIEW,
        "the order as it was accepted; it is written once, by who submits it to the sheet",
        ALL,
        key=".paos/jobs",
        view="job",
    ),
    Row(
        JOB + "/status.json",
        Kind.VIEW,
        "the kernel's word: pending, running, succeeded or failed, with the outcome and its evidence",
        ALL,
        key=".paos/jobs",
        view="status",
        blocking=True,
    ),
    Row(
        JOB + "/result.txt",
        Kind.VIEW,
        "how it ended, in one line",
        ALL,
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
        "/meta/alerts.json",
        Kind.VIEW,
        "what is wrong now: unreadable files, refused entries, devices",
        ALL,
        key=".paos",
        view="alerts",
    ),
)
