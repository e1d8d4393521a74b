"""The material of a context pack: what the files of an agent say, each thing an item with its price tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded, render
from worldfs.base.model.agent import AgentReport, AgentTask, Message, SessionRecord
from worldfs.formats.agent import documents

from .context_budget import LETTER, NOTE, OTHER_LETTER, OTHER_TASK, PIN, TASK, TROUBLE, ContextItem
from .memory_items import MemoryItem, memory_items
from .quote import Quote, quote_block, quote_line

if TYPE_CHECKING:
    from worldfs.base.model import Finding

_ORDER = {"high": 0, "medium": 1, "low": 2}
LAST: Final = {  # how the last session ended
    "none": "context.last_none",
    "completed": "context.last_completed",
    "timeout": "context.last_timeout",
    "error": "context.last_error",
    "lost": "context.last_lost",
    "running": "context.last_running",
}


class PackInput(NamedTuple):
    items: list[ContextItem]
    frames: dict[str, tuple[str, str]]  # place → what opens and what closes it; in the order of the text
    finished: list[AgentTask]  # completed and dropped tasks: never listed, always counted
    unread: list[tuple[str, int]]  # (what, bytes) that cannot be read


def gather(
    notes: bytes,
    tasks: bytes,
    inbox: Sequence[Message],
    session: SessionRecord | None,
    report: AgentReport | None,
    *,
    findings: Sequence[Finding],
    language: str,
) -> tuple[Quote, PackInput]:
    """Files that cannot be read are findings and counted; nothing is raised."""
    faults, unread = list(findings), []
    listed: Sequence[AgentTask] = ()
    pieces: Sequence[MemoryItem] = ()
    try:
        listed = documents.tasks_read(tasks).tasks if tasks.strip() else ()
    except BadInput as error:
        faults.append(_fault(error))
        unread.append(("tasks.json", len(tasks)))
    try:
        pieces = memory_items(notes)
    except BadInput as error:
        faults.append(_fault(error))
        unread.append(("memory.md", len(notes)))
    messages = sorted(
        inbox, key=lambda message: (documents.message_rank(message.priority), message.created_at, message.id)
    )
    quote = Quote(
        [
            notes.decode("utf-8", "replace"),
            repr((listed, session, report, faults)),
            *(part for message in messages for part in (message.subject, message.body)),
            repr([message[:5] + message[8:10] for message in messages]),
        ]
    )
    pack_input = PackInput([], {}, [task for task in listed if task.status in ("completed", "dropped")], unread)
    _last(pack_input, quote, session, report, language)
    _faults(pack_input, faults, language)
    _messages(pack_input, quote, messages, language)
    _tasks(pack_input, quote, [task for task in listed if task.status not in ("completed", "dropped")], language)
    _memory(pack_input, quote, pieces, language)
    return quote, pack_input


def last_outcome(session: SessionRecord) -> str:
    """How the session ended, as a word of `LAST`: completed, timeout, error, lost, running."""
    if session.status == "error" and any(error.casefold().startswith("lost") for error in session.errors):
        return "lost"
    return session.status if session.status in LAST else "error"


def session_details(session: SessionRecord | None, report: AgentReport | None) -> Iterator[str]:
    """What is known of the last session, a line each, the most useful first."""
    if session is not None:
        yield from _said(session, ("handoff_notes", "errors", "session_id", "type", "branch", "ended_at"))
        yield from _said(session, ("research_question", "belief_targeted", "disconfirmation_target", "domain"))
        if session.sources_archived or session.sources_expected:
            yield f"sources_archived: {session.sources_archived} / {session.sources_expected or '?'}"
    if report is not None:
        yield from _said(report, ("next_priority", "blocked_by", "current_task", "summary"))


def finding_line(finding: Finding, language: str) -> str:
    """The finding in one line; what was found is foreign text, so it is in quotes that it cannot close."""
    found = quote_line(render(finding.found, language), 160).replace('"', "'").replace("”", "'")
    values = {"code": finding.code, "field": finding.field, "expected": finding.expected, "fix": finding.fix}
    return quote_line(render(coded("context.finding", found=found, **values), language), 500)


def _said(noun: SessionRecord | AgentReport, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        value = getattr(noun, name)
        text = "; ".join(str(part) for part in value) if isinstance(value, tuple) else str(value or "")
        if text.strip():
            yield f"{name}: {quote_line(text, 600)}"


def _last(
    pack_input: PackInput, quote: Quote, session: SessionRecord | None, report: AgentReport | None, language: str
) -> None:
    lines = list(session_details(session, report))
    if not lines:
        return
    where = "session.json, report.json"
    heading = render(coded("context.last"), language)
    opening = render(coded(LAST[last_outcome(session)]), language) if session is not None else ""
    pack_input.frames["last"] = ("\n".join(part for part in (heading, opening) if part), "")
    pack_input.frames["last/quote"] = (quote.open(files=where), quote.close())
    pack_input.items.extend(
        ContextItem(TROUBLE, ("last", "last/quote"), text, len(text.encode()), where) for text in lines
    )


def _faults(pack_input: PackInput, findings: Sequence[Finding], language: str) -> None:
    pack_input.frames["faults"] = (render(coded("context.faults"), language), "")
    for finding in findings:
        text = f"- {finding_line(finding, language)}"
        pack_input.items.append(ContextItem(TROUBLE, ("faults",), text, _bytes(text), ".paos/findings.json"))


def _messages(pack_input: PackInput, quote: Quote, messages: Sequence[Message], language: str) -> None:
    pack_input.frames["letters"] = (render(coded("context.letters"), language), "")
    for message in messages:
        high = documents.message_rank(message.priority) == 0
        head = quote.open(
            **{"letter": message.id, "from": message.sender, "type": message.type, "priority": message.priority},
            **{"at": message.created_at, "expires": message.expires_at, "source": message.source_ref},
        )
        text = "\n".join(part for part in (quote_line(message.subject, 300), quote_block(message.body)) if part)
        size = _bytes(message.subject) + _bytes(message.body)
        tail = f"\n{quote.close()}"
        kind = LETTER if high else OTHER_LETTER
        pack_input.items.append(
            ContextItem(kind, ("letters",), text, size, message_label(message.id), f"{head}\n", tail)
        )


def message_label(id: str) -> str:
    """How the text names a message."""
    return f"inbox/ › {quote_line(id, 80)}"


def _tasks(pack_input: PackInput, quote: Quote, tasks: Sequence[AgentTask], language: str) -> None:
    pack_input.frames["tasks"] = (render(coded("context.tasks"), language), "")
    pack_input.frames["tasks/quote"] = (quote.open(file="tasks.json"), quote.close())
    for task in sorted(tasks, key=lambda task: (task.status != "active", _ORDER.get(task.priority, 1))):
        words = ", ".join(quote_line(word, 40) for word in (task.status, task.priority, task.type) if word)
        more = [
            quote_line(task.context),
            f"(after {quote_line(task.follow_up_from or '', 80)})" if task.follow_up_from else "",
        ]
        said = " — ".join(part for part in (quote_line(task.description), *more) if part)
        text = f"- {quote_line(task.id, 80)} [{words}] {said}"
        kind = TASK if task.status == "active" else OTHER_TASK
        size = _bytes(task.description) + _bytes(task.context)
        pack_input.items.append(ContextItem(kind, ("tasks", "tasks/quote"), text, size, "tasks.json"))


def task_size(task: AgentTask) -> int:
    return _bytes(task.description) + _bytes(task.context) + _bytes(task.outcome or "")


def _memory(pack_input: PackInput, quote: Quote, pieces: Sequence[MemoryItem], language: str) -> None:
    pack_input.frames["memory"] = (render(coded("context.memory"), language), "")
    pack_input.frames["memory/quote"] = (quote.open(file="memory.md"), quote.close())
    pin = render(coded("context.pin"), language)
    headings: dict[str, list[MemoryItem]] = {}
    for piece in pieces:
        headings.setdefault(piece.heading, []).append(piece)
    for number, (heading, below) in enumerate(headings.items()):
        name = quote_line(heading, 80) or render(coded("context.other"), language)
        place, where = f"memory/{number}", f"memory.md › {name}"
        pack_input.frames[place] = (f"### {name}", "")
        for piece in newest_first(below):
            pinned, text = piece.remark.pinned, piece.remark.text
            shown = quote_block(text, "  ")
            shown = f"- {pin if pinned else ''}{shown.lstrip()}" if piece.item else shown
            kind, places = PIN if pinned else NOTE, ("memory", "memory/quote", place)
            pack_input.items.append(ContextItem(kind, places, shown, _bytes(text), where, section=piece.remark.section))


def newest_first(pieces: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Pinned first, then by date; one without a date is as old as what is before it; of one date, the lower one."""
    latest, dated = "", []
    for piece in sorted(pieces, key=lambda piece: piece.remark.line):
        latest = piece.remark.at or latest
        dated.append((piece.remark.pinned, latest, piece.remark.line, piece))
    dated.sort(key=lambda row: row[:3], reverse=True)
    return [row[3] for row in dated]


def _fault(error: BadInput) -> Finding:
    from worldfs.base.model import Finding

    return Finding(error.code, error.path, error.expected, error.found, error.fix)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
