"""`paos lessons`: search the lessons."""

from __future__ import annotations

from dataclasses import asdict

from worldfs.base.messages import coded

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    query = " ".join(context["query"])
    with context.open() as world:
        notes = world.lessons(query, context.actor, limit=context["limit"])
    context.output.value({"query": query, "lessons": [asdict(note) for note in notes]})
    if not notes:
        none = coded("command.no_lesson_about", query=query) if query else coded("command.no_lesson")
        context.output.line(none)
    for note in notes:
        title = " — ".join(part for part in (note.at, note.title) if part)
        context.output.line(coded("command.lesson_times", title=title, n=note.count) if note.count > 1 else title)
        for label, text in (
            ("command.lesson_action", note.action),
            ("command.lesson_reason", note.reason),
            ("command.lesson_critic", note.rejection),
            ("command.lesson_fix", note.fix),
        ):
            if text:
                context.output.line(coded(label, text=text))
    return 0
