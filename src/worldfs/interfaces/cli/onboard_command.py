"""`paos onboard`: a home, its configuration, a workspace. Existing files stay."""

from __future__ import annotations

from worldfs.base.messages import coded

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    from worldfs.world.onboard import onboard

    home = context.home
    made = onboard(home, profile=context["profile"], language=context["language"], robot_id=context["robot_id"])
    for path, what in made:
        written = what == "written"
        said = coded("command.written", path=path) if written else coded("command.kept", path=path)
        context.output.line(said, "" if written else "dim")
    context.output.line()
    context.output.line(coded("command.home", path=home.path))
    context.output.line(coded("command.next_up", name=context.name, wish=coded("command.clear_the_table")))
    files = [{"path": str(path), "what": str(what)} for path, what in made]
    context.output.value({"home": str(home.path), "workspace": str(home.workspace), "files": files})
    return 0
