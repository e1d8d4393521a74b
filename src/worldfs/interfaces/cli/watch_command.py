"""`paos watch`: events of the world, or changes of one file, as they happen."""

from __future__ import annotations

from .command_context import CommandContext
from .home_tree import HomeTree
from .name_suggestion import suggest_names
from .status_diff import diff_status, event_line


def run(context: CommandContext) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with context.open() as world, suggest_names(HomeTree(world, context.actor).names):
        if context["path"]:
            path = world.resolve(context["path"])
            with world.changes.of_file(path, context.actor) as changes:
                while True:
                    for change in changes.read():
                        event: dict[str, object] = {"event": "change", "kind": change.kind, "path": path}
                        context.output.report(f"{change.kind:9} {path}", event)
        before: dict[str, object] = {}
        with world.changes.of_status() as changes:
            while True:
                after = world.status()
                for event in diff_status(before, after):
                    text, mood = event_line(event)
                    context.output.report(text, event, mood)
                before = after
                changes.read()
