"""`paos onboard`: a home, its configuration, a workspace. What is there stays."""

from __future__ import annotations

from .command_context import CommandContext


def run(call: CommandContext) -> int:
    from worldfs.world.onboard import onboard

    home = call.home
    made = onboard(home, profile=call["profile"], language=call["language"], robot_id=call["robot_id"])
    for path, what in made:
        call.voice.line(f"{what:8} {path}", "" if what == "written" else "dim")
    call.voice.line()
    call.voice.line(f"home: {home.path}")
    wish = {"zh": "收拾桌子"}.get(call["language"], "clear the table")
    call.voice.line(f'next: {call.name} up    then, in another terminal: {call.name} do "{wish}"')
    files = [{"path": str(path), "what": str(what)} for path, what in made]
    call.voice.value({"home": str(home.path), "workspace": str(home.workspace), "files": files})
    return 0
