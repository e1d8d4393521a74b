"""What an agent keeps, read and changed: init, show, tasks, memory, search, context, journal, schema."""

from __future__ import annotations

from typing import Any

from worldfs.doors.cli.command_context import CommandContext
from worldfs.doors.cli.command_output import columns
from worldfs.ground.errors import BadInput

from . import check_exclusive, open_agent_state


def init(call: CommandContext) -> int:
    from pathlib import Path

    from worldfs.agents.agent_names import check_new_name, list_agents
    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.init_agent import create_agent

    root = Path(call.agents)
    given = call["name"] or list_agents(root)
    if not given:
        raise BadInput("no name", path=str(root), op="agent init", expected="the agents to make: none is there yet")
    wanted: dict[str, str] = {}
    for name in given:  # all of them before the first is made
        if wanted.setdefault(name.casefold(), check_new_name(root, name)) != name:
            raise BadInput(
                f"{wanted[name.casefold()]} and {name}",
                op="agent init",
                expected="other names: on many disks they are one directory",
            )
    for name in wanted.values():
        made = create_agent(root, name, language=call["language"])
        if made:
            with AgentState.open(name, root) as state:  # what is ours from the beginning is told from edits of it
                state.reconcile()
        text = f"{root / name}: {', '.join(made)}" if made else f"{root / name}: all there"
        call.voice.say(text, {"agent": name, "path": str(root / name), "made": made}, "good" if made else "")
    return 0


def show(call: CommandContext) -> int:
    from worldfs.agents.overview import agent_summary

    with open_agent_state(call) as state:
        seen = agent_summary(call.agents, call["name"])
        session, metrics = state.session(), state.metrics()
        findings = state.findings()
    value = {
        **seen._asdict(),
        "session": session and session._asdict(),
        "metrics": metrics and metrics._asdict(),
        "findings": [str(finding) for finding in findings],
    }
    call.voice.value(value)
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
        call.voice.line(text)
    for finding in findings:
        call.voice.line(str(finding), "warn")
    return 0


def tasks(call: CommandContext) -> int:
    check_exclusive(call, "add", "close", "drop")
    with open_agent_state(call) as state:
        if call["add"] is not None:
            if not call["add"].strip():
                raise BadInput("nothing", path=call["name"], op="agent tasks", expected="what is to be done, in words")
            task = state.add_task(call["add"], type=call["type"], priority=call["priority"])
            call.voice.say(f"{task.id} added", task._asdict(), "good")
            return 0
        for id, status in ((call["close"], "completed"), (call["drop"], "dropped")):
            if id is not None:
                task = state.close_task(id, call["outcome"], status)
                call.voice.say(f"{task.id} {status}", task._asdict(), "good")
                return 0
        found = [task for task in state.tasks() if call["all"] or task.status in ("pending", "active")]
    call.voice.value({"tasks": [task._asdict() for task in found]})
    for text in columns([(t.id, t.status, t.priority, t.type, t.description) for t in found]):
        call.voice.line(text)
    if not found:
        call.voice.line("nothing to do")
    return 0


def memory(call: CommandContext) -> int:
    check_exclusive(call, "add", "undo", "versions")
    if call["add"] is None and (call["section"] or call["pin"]):
        raise BadInput("nothing to remember", path=call["name"], op="agent memory", expected="--add TEXT as well")
    with open_agent_state(call) as state:
        if call["add"] is not None:
            remark = state.remember(call["section"] or "patterns", call["add"], pinned=call["pin"])
            call.voice.say(f"remembered below {remark.section}", remark._asdict(), "good")
        elif call["undo"] is not None:
            state.undo("memory.md", call["undo"])
            call.voice.say(f"{call['undo']} version(s) back", {"undone": call["undo"]}, "good")
        elif call["versions"]:
            found = state.generations("memory.md")
            call.voice.value({"versions": [item._asdict() for item in found]})
            for back, item in enumerate(reversed(found)):
                call.voice.line(f"{back or 'now':>4}  {item.number:>6}  {item.revision}")
        else:
            data = state.documents["memory.md"].read() or b""
            call.voice.value({"memory": data.decode("utf-8", "replace")})
            if not call.voice.json:
                call.voice.raw(data)
    return 0


def search(call: CommandContext) -> int:
    query = " ".join(call["query"])
    with open_agent_state(call) as state:
        hits = state.search(query, call["limit"])
    call.voice.value({"query": query, "hits": [{**hit.passage._asdict(), "score": hit.score} for hit in hits]})
    for hit in hits:
        call.voice.line(f"{hit.passage.title}: {hit.passage.text}")
    if not hits:
        call.voice.line(f"nothing about {query!r}")
    return 0


def context(call: CommandContext) -> int:
    with open_agent_state(call) as state:
        if call["prompt"]:
            text = state.prompt(budget=call["budget"], language=call["language"])
            call.voice.say(text, {"prompt": text})
            return 0
        pack = state.context(budget=call["budget"], unit=call["unit"], language=call["language"])
    call.voice.value(
        {
            "text": pack.text,
            "used": pack.used,
            "budget": pack.budget,
            "omitted": [item._asdict() for item in pack.omitted],
        }
    )
    call.voice.line(pack.text.rstrip("\n"))
    return 0


def journal(call: CommandContext) -> int:
    import json

    with open_agent_state(call) as state:
        after = call["after"]
        wanted = (entry for _, entry in state.journal.lines(after)) if after is not None else None
        for entry in wanted or state.journal.tail(call["last"]):
            call.voice.say(json.dumps(entry, ensure_ascii=False), entry)
    return 0


def schema(call: CommandContext) -> int:
    import json

    from worldfs.formats.agent.json_schemas import SCHEMAS

    value = SCHEMAS[call["document"]]()
    call.voice.line(json.dumps(value, indent=2, ensure_ascii=False))
    call.voice.value(value)
    return 0


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
