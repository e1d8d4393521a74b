"""`paos onboard`: a home, its configuration, a workspace. Existing files stay."""

from __future__ import annotations

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    from worldfs.world.onboard import default_ids, demand_body, onboard, workspace_directories

    home, fleet = context.home, context["fleet"]
    made = onboard(
        home, profile=context["profile"], language=context["language"], robot_id=context["robot_id"], fleet=fleet
    )
    for path, what in made:
        written = what == "written"
        said = coded("command.written", path=path) if written else coded("command.kept", path=path)
        context.output.line(said, "" if written else "dim")
    context.output.line()
    context.output.line(coded("command.home", path=home.path))
    try:
        demand_body(home, context["profile"])
    except MissingRequirement as missing:
        context.output.line(coded("command.install_first", found=missing.found, fix=missing.fix))
    name, wish = (
        context.name_elsewhere,
        coded("command.go_to_the_door" if _walks(context) else "command.clear_the_table"),
    )
    context.output.line(
        coded("fleet.next", name=name, node=default_ids(context["profile"])[0], wish=wish)
        if fleet
        else coded("command.next_up", name=name, wish=wish)
    )
    files = [{"path": str(path), "what": str(what)} for path, what in made]
    context.output.value({"home": str(home.path), "workspace": str(workspace_directories(home)[0]), "files": files})
    return 0


def _walks(context: CommandContext) -> bool:
    """Whether the profile that was asked for is of a robot that goes to places itself."""
    if not context["profile"]:
        return False
    from worldfs.formats import embodied
    from worldfs.planning.planner.planned_actions import goes_to_places
    from worldfs.world.profiles import profile_text

    text = profile_text(context["profile"], "en", context.home.profiles)
    return text is not None and goes_to_places(embodied.read(text))
