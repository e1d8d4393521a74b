"""`paos lessons`: search the lessons."""

from __future__ import annotations

from dataclasses import asdict

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    query = " ".join(context["query"])
    with context.open() as world:
        notes = world.lessons(query, context.actor, limit=context["limit"])
    context.output.value({"query": query, "lessons": [asdict(note) for note in notes]})
    if not notes:
        context.output.line(f"no lesson about {query!r}" if query else "no lesson yet")
    for note in notes:
        times = f" (learned {note.count} times)" if note.count > 1 else ""
        context.output.line(" — ".join(part for part in (note.at, note.title) if part) + times)
        for label, text in (
            ("action", note.action),
            ("reason", note.reason),
            ("critic", note.rejection),
            ("fix", note.fix),
        ):
            if text:
                context.output.line(f"  {label:7} {text}")
    return 0
