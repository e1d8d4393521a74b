"""`paos check`: every file read, every finding in the five words of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.ground.model import Finding

_CHINESE: Final = {
    "warning: ": "警告：",
    "wrong:   ": "错误：",
    "found": "发现",
    "expected": "应为",
    "mend": "修复",
    "code": "代码",
    "every file reads well": "所有文件都可正常读取",
}


def run(call: CommandContext) -> int:
    """Exit 1 if anything but a warning was found (and not mended)."""
    from dataclasses import asdict

    from worldfs.roles.message_translation import localise
    from worldfs.world.workspace_language import home_language

    language = home_language(call.workspace if call["workspace"] else call.home, call.environ)
    findings = [localise(finding, language) for finding in _findings(call)]
    words = _CHINESE if language.startswith("zh") else {}
    wrong = [finding for finding in findings if not finding.warning]
    call.voice.value({"ok": not wrong, "findings": [asdict(finding) for finding in findings]})
    for finding in findings:
        head = "warning: " if finding.warning else "wrong:   "
        call.voice.line(words.get(head, head) + finding.field, _mood(finding.warning))
        for label, text in (
            ("found", finding.found),
            ("expected", finding.expected),
            ("mend", finding.fix),
            ("code", finding.code),
        ):
            if text:
                call.voice.line(f"  {words.get(label, label):9} {text}")
    if not findings:
        well = "every file reads well"
        call.voice.line(words.get(well, well), "good")
    return 1 if wrong else 0


def _findings(call: CommandContext) -> list[Finding]:
    """Of the workspace, and of the agents, where there are such."""
    from worldfs.agents.agent_names import list_agents
    from worldfs.agents.doctor import check as check_agents

    agents = list_agents(call.agents)
    found = [] if call["agents"] and not call["workspace"] else _of_workspace(call, bool(agents))
    return found + (check_agents(call.agents, fix=call["fix"]) if agents else [])


def _of_workspace(call: CommandContext, agents: bool) -> list[Finding]:
    if agents and not call["workspace"] and not call.workspace.exists():
        return []  # a home of agents alone
    from worldfs.world.check import check

    return check(call.workspace if call["workspace"] else call.home, fix=call["fix"])


def _mood(warning: bool) -> str:
    return "warn" if warning else "bad"
