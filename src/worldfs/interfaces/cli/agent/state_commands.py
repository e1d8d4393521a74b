"""The state of an agent, read and changed: init, show, tasks, memory, search, context, journal, schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, UserError
from worldfs.base.messages import coded, render
from worldfs.base.messages.message_rendering import finding_message
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import columns

from . import check_exclusive, notice_findings, open_agent_state

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState

TASKS: Final = "tasks.json"
LABELS = {
    "agent": "command.label_agent",
    "status": "command.label_status",
    "summary": "command.label_summary",
    "current_task": "command.label_current_task",
    "next_priority": "command.label_next_priority",
    "blocked_by": "command.label_blocked_by",
    "updated_at": "command.label_updated_at",
    "session_id": "command.label_session_id",
    "session_type": "command.label_session_type",
    "running": "command.label_running",
    "since": "command.label_since",
    "seconds": "command.label_seconds",
    "runner": "command.label_runner",
    "stale": "command.label_stale",
    "last_outcome": "command.label_last_outcome",
    "last_ended_at": "command.label_last_ended_at",
    "letters": "command.label_letters",
    "letters_high": "command.label_letters_high",
    "tasks_pending": "command.label_tasks_pending",
    "tasks_active": "command.label_tasks_active",
    "tasks_high": "command.label_tasks_high",
    "sessions": "command.label_sessions",
    "failed": "command.label_failed",
    "error_rate": "command.label_error_rate",
    "unreadable": "command.label_unreadable",
}


def init(context: CommandContext) -> int:
    from pathlib import Path

    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.init_agent import create_agent
    from worldfs.base.agent_names import check_new_names, list_agents

    root = Path(context.agents)
    given = context["name"] or list_agents(root)
    if not given:
        expected = coded("command.agent_names")
        raise BadInput(coded("command.no_name"), path=str(root), op="agent init", expected=expected)
    wanted: dict[str, str] = {}
    for name in check_new_names(root, given):  # all of them before the first is made
        if wanted.setdefault(name.casefold(), name) != name:
            raise BadInput(
                coded("command.and", one=wanted[name.casefold()], other=name),
                op="agent init",
                expected=coded("command.other_names"),
            )
    for name in wanted.values():
        made = create_agent(root, name, language=context["language"], checked=True)
        if made:
            with AgentState.open(name, root) as state:  # so that later edits can be told from our own content
                state.reconcile()
        place = root / name
        said = coded("command.made", path=place, names=made) if made else coded("command.all_there", path=place)
        context.output.report(said, {"agent": name, "path": str(root / name), "made": made}, "good" if made else "")
    return 0


def show(context: CommandContext) -> int:
    from worldfs.agents.overview import agent_summary

    with open_agent_state(context) as state:
        seen = agent_summary(context.agents, context["name"])
        session, metrics = state.session(), state.metrics()
        findings = state.findings()
    value = {
        **seen._asdict(),
        "session": session and session._asdict(),
        "metrics": metrics and metrics._asdict(),
        "findings": [str(finding) for finding in findings],
    }
    context.output.value(value)
    recent = metrics is not None and metrics.rolling_30d.get("sessions")  # then these are not of the lifetime
    rows: list[tuple[str, str]] = []
    for key, item in seen._asdict().items():
        label = coded(LABELS[key])
        label = coded("command.last_days", label=label) if recent and key in ("sessions", "failed") else label
        rows += [(label, _text(item, context.language))] if item else []
    if session is not None:
        ran = f"{session.session_id} {session.type} {session.status}"
        rows += [(coded("command.session"), ran), (coded("command.label_since"), session.started_at)]
        rows += [(coded("command.handoff"), session.handoff_notes)] if session.handoff_notes else []
    if metrics is not None:
        counts = ", ".join(f"{key} {item}" for key, item in metrics.lifetime.items() if item)
        rows += [(coded("command.lifetime"), counts or coded("common.nothing"))]
    for text in columns([(render(label, context.language), render(item, context.language)) for label, item in rows]):
        context.output.line(text)
    for finding in findings:
        context.output.line(finding_message(finding), "warn")
    return 0


def tasks(context: CommandContext) -> int:
    check_exclusive(context, "add", "close", "drop")
    with open_agent_state(context) as state:
        known = len(state.agent_dir.findings)
        if context["add"] is not None:
            if not context["add"].strip():
                found, expected = coded("command.no_task"), coded("command.a_task")
                raise BadInput(found, path=context["name"], op="agent tasks", expected=expected)
            task = state.add_task(context["add"], type=context["type"], priority=context["priority"])
            context.output.report(coded("command.task_added", id=task.id), task._asdict(), "good")
            notice_findings(context, state, known)
            return 0
        for id, status in ((context["close"], "completed"), (context["drop"], "dropped")):
            if id is not None:
                task = state.close_task(id, context["outcome"], status)
                code = "command.task_completed" if status == "completed" else "command.task_dropped"
                context.output.report(coded(code, id=task.id), task._asdict(), "good")
                notice_findings(context, state, known)
                return 0
        there = state.tasks()
        shown = [task for task in there if context["all"] or task.status in ("pending", "active")]
        unreadable = [] if there and _is_as_known(state, TASKS) else _unreadable(context, TASKS)
    context.output.value({"tasks": [task._asdict() for task in shown], "unreadable": unreadable})
    for text in columns([(t.id, t.status, t.priority, t.type, t.description) for t in shown]):
        context.output.line(text)
    for said in unreadable:
        context.output.line(coded("command.tasks_unreadable", what=said), "warn")
    if not shown and not unreadable:
        context.output.line(coded("command.nothing_to_do"))
    return 0


def _is_as_known(state: AgentState, file: str) -> bool:
    """Whether a document is the last version of it that could be read."""
    try:
        stored = state.agent_dir.store.get(file)
    except UserError:  # a link, or no file
        return False
    return stored is not None and stored.data == state.documents[file].read()


def _unreadable(context: CommandContext, file: str) -> list[str]:
    from worldfs.agents.overview import agent_summary  # it reads all files of the agent

    return [said for said in agent_summary(context.agents, context["name"]).unreadable if said.startswith(file)]


def memory(context: CommandContext) -> int:
    check_exclusive(context, "add", "undo", "versions")
    if context["add"] is None and (context["section"] or context["pin"]):
        expected = coded("command.add_text")
        raise BadInput(coded("command.nothing_to_remember"), path=context["name"], op="agent memory", expected=expected)
    with open_agent_state(context) as state:
        known = len(state.agent_dir.findings)
        if context["add"] is not None:
            remark = state.remember(context["section"] or "patterns", context["add"], pinned=context["pin"])
            context.output.report(coded("command.remembered", section=remark.section), remark._asdict(), "good")
            notice_findings(context, state, known)
        elif context["undo"] is not None:
            state.undo("memory.md", context["undo"])
            said = coded("command.versions_back", n=context["undo"])
            context.output.report(said, {"undone": context["undo"]}, "good")
        elif context["versions"]:
            found = state.generations("memory.md")
            context.output.value({"versions": [item._asdict() for item in found]})
            for back, item in enumerate(reversed(found)):
                context.output.line(f"{back or 'now':>4}  {item.number:>6}  {item.revision}")
        else:
            data = state.documents["memory.md"].read() or b""
            context.output.value({"memory": data.decode("utf-8", "replace")})
            if not context.output.json:
                context.output.write_file(data)
    return 0


def search(context: CommandContext) -> int:
    query = " ".join(context["query"])
    with open_agent_state(context) as state:
        hits = state.search(query, context["limit"])
    context.output.value({"query": query, "hits": [{**hit.passage._asdict(), "score": hit.score} for hit in hits]})
    for hit in hits:
        context.output.line(f"{hit.passage.title}: {' '.join(hit.passage.text.split())}")
    if not hits:
        context.output.line(coded("command.nothing_about", query=query))
    return 0


def context(context: CommandContext) -> int:
    with open_agent_state(context) as state:
        if context["prompt"]:
            text = state.prompt(budget=context["budget"], language=context["language"])
            context.output.lines(text)
            context.output.value({"prompt": text})
            return 0
        pack = state.context(budget=context["budget"], unit=context["unit"], language=context["language"])
    context.output.value(
        {
            "text": pack.text,
            "used": pack.used,
            "budget": pack.budget,
            "omitted": [item._asdict() for item in pack.omitted],
        }
    )
    context.output.lines(pack.text.rstrip("\n"))
    return 0


def journal(context: CommandContext) -> int:
    with open_agent_state(context) as state:
        after = context["after"]
        wanted = (entry for _, entry in state.journal.lines(after)) if after is not None else None
        for entry in wanted or state.journal.tail(context["last"]):
            context.output.report(json.dumps(entry, ensure_ascii=False), entry)
    return 0


def schema(context: CommandContext) -> int:
    from worldfs.formats.agent.json_schemas import SCHEMAS

    value = SCHEMAS[context["document"]]()
    context.output.lines(json.dumps(value, indent=2, ensure_ascii=False))
    context.output.value(value)
    return 0


def _text(value: object, language: str) -> str:
    items = value if isinstance(value, tuple | list) else (value,)
    return ", ".join(render(item, language) if isinstance(item, str) else str(item) for item in items)
