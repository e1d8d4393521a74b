"""`paos check`: every file read, every finding in the five words of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .call import Call

if TYPE_CHECKING:
    from worldfs.ground.model import Finding


def run(call: Call) -> int:
    """Exit 1 if anything but a warning was found (and not mended)."""
    from dataclasses import asdict

    findings = _findings(call)
    wrong = [finding for finding in findings if not finding.warning]
    call.voice.value({"ok": not wrong, "findings": [asdict(finding) for finding in findings]})
    for finding in findings:
        call.voice.line(("warning: " if finding.warning else "wrong:   ") + finding.field, _mood(finding.warning))
        for label, text in (
            ("found", finding.found),
            ("expected", finding.expected),
            ("mend", finding.fix),
            ("code", finding.code),
        ):
            if text:
                call.voice.line(f"  {label:9} {text}")
    if not findings:
        call.voice.line("every file reads well", "good")
    return 1 if wrong else 0


def _findings(call: Call) -> list[Finding]:
    """Of the workspace, and of the agents, where there are such."""
    from worldfs.agents.doctor import check as check_agents
    from worldfs.agents.names import names

    agents = names(call.agents)
    found = [] if call["agents"] and not call["workspace"] else _of_workspace(call, bool(agents))
    return found + (check_agents(call.agents, fix=call["fix"]) if agents else [])


def _of_workspace(call: Call, agents: bool) -> list[Finding]:
    if agents and not call["workspace"] and not call.workspace.exists():
        return []  # a home of agents alone
    from worldfs.world.check import check

    return check(call.workspace if call["workspace"] else call.home, fix=call["fix"])


def _mood(warning: bool) -> str:
    return "warn" if warning else "bad"
