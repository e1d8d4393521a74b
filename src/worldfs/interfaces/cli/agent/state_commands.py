"""The state of an agent, read and changed: init, show, tasks, memory, search, context, journal, schema."""

from __future__ import annotations

import json

from worldfs.base.errors import BadInput
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import columns

from . import check_exclusive, open_agent_state


def init(context: CommandContext) -> int:
    from pathlib import Path

    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.init_agent import create_agent
    from worldfs.base.agent_names import check_new_name, list_agents

    root = Path(context.agents)
    given = context["name"] or list_agents(root)
    if not given:
        raise BadInput("no name", path=str(root), op="agent init", expected="the names of the agents: none exists yet")
    wanted: dict[str, str] = {}
    for name in given:  # all of them before the first is made
        if wanted.setdefault(name.casefold(), check_new_name(root, name)) != name:
            raise BadInput(
                f"{wanted[name.casefold()]} and {name}",
                op="agent init",
                expected="other names: on many disks they are one directory",
            )
    for name in wanted.values():
        made = create_agent(root, name, language=context["language"])
        if made:
            with AgentState.open(name, root) as state:  # so that later edits can be told from our own content
                state.reconcile()
        text = f"{root / name}: {', '.join(made)}" if made else f"{root / name}: all there"
        context.output.report(text, {"agent": name, "path": str(root / name), "made": made}, "good" if made else "")
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
    rows = [(key.replace("_", " "), _text(item)) for key, item in seen._asdict().items() if item]
    if metrics is not None and metrics.rolling_30d.get("sessions"):  # then these are not of the lifetime
        rows = [(f"{key}, last 30 days" if key in ("sessions", "failed") else key, item) for key, item in rows]
    if session is not None:
        rows += [("session", f"{session.session_id} {session.type} {session.status}"), ("since", session.started_at)]
        rows += [("handoff", session.handoff_notes)] if session.handoff_notes else []
    if metrics is not None:
        rows += [
            ("lifetime", ", ".join(f"{key} {item}" for key, item in metrics.lifetime.items() if item) or "nothing")
        ]
    for text in columns(rows):
        context.output.line(text)
    for finding in findings:
        context.output.line(str(finding), "warn")
    return 0


def tasks(context: CommandContext) -> int:
    check_exclusive(context, "add", "close", "drop")
    with open_agent_state(context) as state:
        if context["add"] is not None:
            if not context["add"].strip():
                raise BadInput("nothing", path=context["name"], op="agent tasks", expected="a description of the task")
            task = state.add_task(context["add"], type=context["type"], priority=context["priority"])
            context.output.report(f"{task.id} added", task._asdict(), "good")
            return 0
        for id, status in ((context["close"], "completed"), (context["drop"], "dropped")):
            if id is not None:
                task = state.close_task(id, context["outcome"], status)
                context.output.report(f"{task.id} {status}", task._asdict(), "good")
                return 0
        found = [task for task in state.tasks() if context["all"] or task.status in ("pending", "active")]
    context.output.value({"tasks": [task._asdict() for task in found]})
    for text in columns([(t.id, t.status, t.priority, t.type, t.description) for t in found]):
        context.output.line(text)
    if not found:
        context.output.line("nothing to do")
    return 0


def memory(context: CommandContext) -> int:
    check_exclusive(context, "add", "undo", "versions")
    if context["add"] is None and (context["section"] or context["pin"]):
        raise BadInput("nothing to remember", path=context["name"], op="agent memory", expected="--add TEXT as well")
    with open_agent_state(context) as state:
        if context["add"] is not None:
            remark = state.remember(context["section"] or "patterns", context["add"], pinned=context["pin"])
            context.output.report(f"remembered below {remark.section}", remark._asdict(), "good")
        elif context["undo"] is not None:
            state.undo("memory.md", context["undo"])
            context.output.report(f"{context['undo']} version(s) back", {"undone": context["undo"]}, "good")
        elif context["versions"]:
            found = state.generations("memory.md")
            context.output.value({"versions": [item._asdict() for item in found]})
            for back, item in enumerate(reversed(found)):
                context.output.line(f"{back or 'now':>4}  {item.number:>6}  {item.revision}")
        else:
            data = state.documents["memory.md"].read() or b""
            context.output.value({"memory": data.decode("utf-8", "replace")})
            if not context.output.json:
                context.output.write_raw(data)
    return 0


def search(context: CommandContext) -> int:
    query = " ".join(context["query"])
    with open_agent_state(context) as state:
        hits = state.search(query, context["limit"])
    context.output.value({"query": query, "hits": [{**hit.passage._asdict(), "score": hit.score} for hit in hits]})
    for hit in hits:
        context.output.line(f"{hit.passage.title}: {hit.passage.text}")
    if not hits:
        context.output.line(f"nothing about {query!r}")
    return 0


def context(context: CommandContext) -> int:
    with open_agent_state(context) as state:
        if context["prompt"]:
            text = state.prompt(budget=context["budget"], language=context["language"])
            context.output.report(text, {"prompt": text})
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
    context.output.line(pack.text.rstrip("\n"))
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
    context.output.line(json.dumps(value, indent=2, ensure_ascii=False))
    context.output.value(value)
    return 0


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
