"""`paos lessons`: search what was learned."""

from __future__ import annotations

from .command_context import CommandContext


def run(call: CommandContext) -> int:
    from dataclasses import asdict

    query = " ".join(call["query"])
    with call.open() as world:
        notes = world.lessons(query, call.actor, limit=call["limit"])
    call.voice.value({"query": query, "lessons": [asdict(note) for note in notes]})
    if not notes:
        call.voice.line(f"no lesson about {query!r}" if query else "no lesson yet")
    for note in notes:
        times = f" (learned {note.count} times)" if note.count > 1 else ""
        call.voice.line(" — ".join(part for part in (note.at, note.title) if part) + times)
        for label, text in (
            ("action", note.action),
            ("reason", note.reason),
            ("critic", note.rejection),
            ("fix", note.fix),
        ):
            if text:
                call.voice.line(f"  {label:7} {text}")
    return 0
