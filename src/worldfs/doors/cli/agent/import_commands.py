"""What other tools kept, brought over; and an agent's files taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.doors.cli.command_context import CommandContext

from . import open_agent_state

if TYPE_CHECKING:
    from worldfs.agents.importers import ImportPlan


def import_agent(call: CommandContext) -> int:
    """Exit 1 when something was left behind, or nothing was found."""
    from worldfs.agents.importers import plan, run_import

    also = [word for word in ("research-journal", "instructions") if call[word.replace("-", "_")]]
    made = plan(call["place"], call["name"], also=also)
    nothing = not made.found and not made.skipped
    if call["dry_run"] or nothing:
        call.voice.value({"plan": list(made.words())})
        for word in made.words():
            call.voice.line(word)
        return 1 if nothing else 0
    adopted = _adopt(call, made)
    if adopted:
        made = plan(call["place"], call["name"], also=also)
        made.found = [found for found in made.found if found.source.importer != "agent-state"]
    with open_agent_state(call) as state:
        report = run_import(made, state)
    words = [*adopted, *(report.words() if made.found or not adopted else ())]
    call.voice.value({"import": words, "left": len(report.skipped)})
    for word in words:
        call.voice.line(word)
    return 1 if report.not_understood else 0


def _adopt(call: CommandContext, made: ImportPlan) -> list[str]:
    """An agent that is not here yet, and that the place has whole, is taken over byte for byte; in words, or []."""
    from worldfs.agents.agent_names import agent_exists
    from worldfs.agents.importers import adopt

    whole = [found.source for found in made.found if found.source.importer == "agent-state"]
    if agent_exists(call.agents, call["name"]) or len(whole) != 1:
        return []
    files = adopt(whole[0], call.agents, call["name"])
    return [f"agent {call['name']} taken over whole: {len(files)} files"]


def export(call: CommandContext) -> int:
    from worldfs.agents.importers import export as take_out

    with open_agent_state(call) as state:
        written = take_out(state, call["place"])
    call.voice.say(f"{len(written)} files in {call['place']}", {"files": written, "place": call["place"]}, "good")
    return 0
