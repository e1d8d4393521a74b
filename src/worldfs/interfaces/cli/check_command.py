"""`paos check`: reads every file and prints every finding (code, field, expected, found, fix)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from worldfs.agents.doctor import check as check_agents
from worldfs.base.agent_names import list_agents
from worldfs.base.messages.message_rendering import render_finding
from worldfs.world.workspace_language import home_language

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.base.model import Finding

_CHINESE: Final = {
    "warning: ": "警告：",
    "wrong:   ": "错误：",
    "found": "发现",
    "expected": "应为",
    "mend": "修复",
    "code": "代码",
    "no problems found": "所有文件都可正常读取",
}


def run(context: CommandContext) -> int:
    """Exit 1 if anything but a warning was found (and not fixed)."""

    language = home_language(context.workspace if context["workspace"] else context.home, context.environ)
    findings = [render_finding(finding, language) for finding in _findings(context)]
    words = _CHINESE if language.startswith("zh") else {}
    wrong = [finding for finding in findings if not finding.warning]
    context.output.value({"ok": not wrong, "findings": [asdict(finding) for finding in findings]})
    for finding in findings:
        head = "warning: " if finding.warning else "wrong:   "
        context.output.line(words.get(head, head) + finding.field, _mood(finding.warning))
        for label, text in (
            ("found", finding.found),
            ("expected", finding.expected),
            ("mend", finding.fix),
            ("code", finding.code),
        ):
            if text:
                context.output.line(f"  {words.get(label, label):9} {text}")
    if not findings:
        well = "no problems found"
        context.output.line(words.get(well, well), "good")
    return 1 if wrong else 0


def _findings(context: CommandContext) -> list[Finding]:
    """Findings of the workspace and of the agents, where they exist."""

    agents = list_agents(context.agents)
    found = [] if context["agents"] and not context["workspace"] else _of_workspace(context, bool(agents))
    return found + (check_agents(context.agents, fix=context["fix"]) if agents else [])


def _of_workspace(context: CommandContext, agents: bool) -> list[Finding]:
    if agents and not context["workspace"] and not context.workspace.exists():
        return []  # a home with agents only
    from worldfs.world.check import check

    return check(context.workspace if context["workspace"] else context.home, fix=context["fix"])


def _mood(warning: bool) -> str:
    return "warn" if warning else "bad"
