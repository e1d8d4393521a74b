"""The tools of an agent: lessons, remember, recall, send."""

from __future__ import annotations

import json
from typing import Final

from worldfs.access.verb import Verb
from worldfs.agents.message_names import new_name
from worldfs.base.clock import stamp
from worldfs.base.errors import NotFound, UserError
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded
from worldfs.base.model import Json, Message
from worldfs.formats import lessons_file
from worldfs.formats.agent import documents
from worldfs.planning.lesson_notes import search
from worldfs.storage.revision import of

from . import bounded_content, places
from .agent_orders import answer
from .tool_arguments import ToolArgument
from .tool_spec import FLAG, OBJECT, TEXT, ToolCall, ToolSpec, output_schema, rows_of

MEMORY: Final = f"{places.SELF}/memory/control"
NOTE_MOST: Final = 20_000  # characters of a note or message
ANSWER_S: Final = 20.0
RECALLED: Final = 1_500  # characters of a note that are shown


async def lessons(call: ToolCall) -> Json:
    given, path = call.given, f"{await places.project(call.tree)}/LESSONS.md"
    try:
        data = (await call.tree.read(path)).data
    except NotFound:
        data = b""
    known, query = lessons_file.read(data), given.text("query")
    limit = given.number("limit")
    found = [one for one, _ in search(known, query, limit, revision=of(data))] if query else known[::-1][:limit]
    shown = [
        {name: bounded_content.line(text, 600) for name in ("title", "action", "reason", "rejection", "fix", "at")
         if (text := str(getattr(one, name)))}
        for one in found
    ]  # fmt: skip
    return {"path": path, "lessons": shown, "known": len(known)}


async def remember(call: ToolCall) -> Json:
    note: Json = {"kind": call.given.text("kind"), "content": call.given.text("text")}
    made = await answer(call.tree, f"{MEMORY}/create.json", note, ANSWER_S)
    return {"remembered": True, "note": made.get("mem_id")}


async def recall(call: ToolCall) -> Json:
    query: Json = {"query": call.given.text("query"), "limit": call.given.number("limit")}
    found = await answer(call.tree, f"{MEMORY}/search.json", query, ANSWER_S)
    notes: list[Json] = []
    for one in as_objects(found.get("results")):
        try:
            loaded = await answer(call.tree, f"{MEMORY}/load.json", {"mem_id": one.get("mem_id")}, ANSWER_S)
        except UserError:
            continue  # forgotten meanwhile
        content = loaded.get("content")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        notes.append({"note": one.get("mem_id"), "kind": one.get("kind"), "text": bounded_content.line(text, RECALLED)})
    return {"notes": notes}


async def send(call: ToolCall) -> Json:
    given, sender = call.given, call.tree.binding.agent
    to, subject = given.text("to"), given.text("subject")
    there = await places.names(call.tree, "/agents")
    if to not in there:
        others = ", ".join(name for name in there if name != "self")
        raise NotFound(
            coded("mcp.no_agent", name=to[:60]),
            op="send",
            expected=coded("common.one_of", names=others) if others else coded("mcp.no_other_agent"),
        )
    now, priority = call.clock.now(), given.text("priority")
    id = f"msg-{new_name(priority, int(now.timestamp() * 1000))}"
    message = Message(id, sender, to, stamp(now), priority=priority, subject=subject, body=given.text("text"))
    await call.tree.write(f"/agents/{to}/inbox/{id}.json", documents.message_write(message))
    return {"sent": True, "to": to, "message": id}


_NOTES = ((Verb.WRITE, f"{MEMORY}/create.json"),)
AGENT_TOOLS: Final = (
    ToolSpec(
        "lessons", "Lessons", "What was refused or failed here before, why, and what to do instead: read them before "
        "you order something similar.", lessons,
        (
            ToolArgument("query", "string", "what you intend; none: the newest ones", default=""),
            ToolArgument("limit", "integer", "at most so many", default=10, least=1, most=25),
        ),
        output_schema(path=TEXT, lessons=rows_of(OBJECT), known={"type": "integer"}),
        ((Verb.READ, "/projects/{project}/LESSONS.md"),), read_only=True, idempotent=True,
    ),
    ToolSpec(
        "remember", "Remember", "Keep a note in your own memory, for later sessions.", remember,
        (
            ToolArgument("text", "string", "what to remember", required=True, most=NOTE_MOST),
            ToolArgument("kind", "string", "what kind of note", default="note", most=60),
        ),
        output_schema(remembered=FLAG, note=TEXT), _NOTES,
    ),
    ToolSpec(
        "recall", "Recall", "Search your own memory: notes, and the items of memory.md.", recall,
        (
            ToolArgument("query", "string", "what to look for; none: the newest notes", default=""),
            ToolArgument("limit", "integer", "at most so many", default=5, least=1, most=10),
        ),
        output_schema(notes=rows_of(OBJECT)), _NOTES, read_only=True, idempotent=True,
    ),
    ToolSpec(
        "send", "Send a message", "Send a message to another agent: it is in its inbox when this returns.", send,
        (
            ToolArgument("to", "string", "the agent's name", required=True, most=100),
            ToolArgument("text", "string", "the message", required=True, most=NOTE_MOST),
            ToolArgument("subject", "string", "what it is about", default="", most=200),
            ToolArgument("priority", "string", "how urgent it is", default="normal", choices=("high", "normal", "low")),
        ),
        output_schema(sent=FLAG, to=TEXT, message=TEXT), ((Verb.WRITE, "/agents/{agent}/inbox/{letter}"),),
    ),
)  # fmt: skip
