"""What other tools kept, brought over; and an agent's files taken out."""

from __future__ import annotations

from ..call import Call
from . import opened


def bring(call: Call) -> int:
    """Exit 1 when something was left behind."""
    from worldfs.agents.importers import carry, plan

    made = plan(call["place"], call["name"], also=("research-journal",) if call["research_journal"] else ())
    if call["dry_run"]:
        call.voice.value({"plan": list(made.words())})
        for word in made.words():
            call.voice.line(word)
        return 0
    with opened(call) as state:
        report = carry(made, state)
    words = list(report.words())
    call.voice.value({"import": words, "left": len(report.left)})
    for word in words:
        call.voice.line(word)
    return 1 if report.not_understood else 0


def export(call: Call) -> int:
    from worldfs.agents.importers import export as take_out

    with opened(call) as state:
        written = take_out(state, call["place"])
    call.voice.say(f"{len(written)} files in {call['place']}", {"files": written, "place": call["place"]}, "good")
    return 0
