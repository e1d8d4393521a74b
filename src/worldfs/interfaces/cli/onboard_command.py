"""`paos onboard`: a home, its configuration, a workspace. Existing files stay."""

from __future__ import annotations

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    from worldfs.world.onboard import onboard

    home = context.home
    made = onboard(home, profile=context["profile"], language=context["language"], robot_id=context["robot_id"])
    for path, what in made:
        context.output.line(f"{what:8} {path}", "" if what == "written" else "dim")
    context.output.line()
    context.output.line(f"home: {home.path}")
    wish = {"zh": "收拾桌子"}.get(context["language"], "clear the table")
    context.output.line(f'next: {context.name} up    then, in another terminal: {context.name} do "{wish}"')
    files = [{"path": str(path), "what": str(what)} for path, what in made]
    context.output.value({"home": str(home.path), "workspace": str(home.workspace), "files": files})
    return 0
