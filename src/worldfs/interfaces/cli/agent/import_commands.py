"""`paos agent import` and `export`: state of other tools into an agent, and an agent's files out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.agent_names import agent_exists
from worldfs.base.messages import coded
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.plugins.importers import adopt, plan, run_import
from worldfs.plugins.importers import export as take_out

from . import open_agent_state

if TYPE_CHECKING:
    from worldfs.plugins.importers import ImportPlan


def import_agent(context: CommandContext) -> int:
    """Exit 1 when something was left behind, or nothing was found."""

    also = [word for word in ("research-journal", "instructions") if context[word.replace("-", "_")]]
    made = plan(context["place"], context["name"], also=also)
    nothing = not made.found and not made.skipped
    if context["dry_run"] or nothing:
        context.output.value({"plan": list(made.words())})
        for word in made.words():
            context.output.line(word)
        return 1 if nothing else 0
    adopted = _adopt(context, made)
    if adopted:
        made = plan(context["place"], context["name"], also=also)
        made.found = [found for found in made.found if found.source.importer != "agent-state"]
    with open_agent_state(context) as state:
        report = run_import(made, state)
    words = [*adopted, *(report.words() if made.found or not adopted else ())]
    context.output.value({"import": words, "left": len(report.skipped)})
    for word in words:
        context.output.line(word)
    return 1 if report.not_understood else 0


def _adopt(context: CommandContext, made: ImportPlan) -> list[str]:
    """Copy an agent that does not exist yet from a complete export, byte for byte; the lines to print, or []."""

    whole = [found.source for found in made.found if found.source.importer == "agent-state"]
    if agent_exists(context.agents, context["name"]) or len(whole) != 1:
        return []
    files = adopt(whole[0], context.agents, context["name"])
    return [coded("command.taken_over", name=context["name"], n=len(files))]


def export(context: CommandContext) -> int:
    with open_agent_state(context) as state:
        written = take_out(state, context["place"])
    said = coded("command.n_files", n=len(written), path=context["place"])
    context.output.report(said, {"files": written, "place": context["place"]}, "good")
    return 0
