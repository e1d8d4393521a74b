"""`paos check`: reads every file and prints every finding (code, field, expected, found, fix)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from worldfs.agents.doctor import check as check_agents
from worldfs.base.agent_names import list_agents
from worldfs.base.errors import BadInput, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import render_finding
from worldfs.runtime.job_codec import finding_value

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.base.model import Finding

ALERTS: Final = "/meta/alerts.json"


def run(context: CommandContext) -> int:
    """Exit 1 if anything but a warning was found (and not fixed)."""
    return _report(context, [render_finding(finding, context.language) for finding in _findings(context)])


def remote(context: CommandContext) -> int:
    """Over --connect: the present alerts of the server's kernel, which are all that a client may know."""
    if context["fix"]:
        fix = coded("command.check_at_home")
        raise BadInput(coded("command.no_fix_there"), op="paos check --fix", fix=fix, code="USAGE")
    from worldfs.runtime.job_codec import read_finding

    from .server_tree import open_connection

    with open_connection(context) as world:
        alerts = as_object(parse_json(world.read(ALERTS)))
    context.output.notice(coded("command.checked_there"))
    return _report(context, [read_finding(as_object(item), None) for item in alerts.values()])


def _report(context: CommandContext, findings: list[Finding]) -> int:
    wrong = [finding for finding in findings if not finding.warning]
    context.output.value({"ok": not wrong, "findings": [finding_value(finding) for finding in findings]})
    for finding in findings:
        head = "command.warning" if finding.warning else "command.wrong"
        context.output.line(coded(head, field=finding.field), _mood(finding.warning))
        for label, text in (
            ("command.found", finding.found),
            ("command.expected", finding.expected),
            ("command.mend", finding.fix),
            ("command.code", finding.code),
        ):
            if text:
                context.output.line(coded(label, text=text))
    if not findings:
        context.output.line(coded("command.no_problems"), "good")
    return 1 if wrong else 0


def _findings(context: CommandContext) -> list[Finding]:
    """Findings of the workspace and of the agents, where they exist."""

    agents = list_agents(context.agents)
    found = [] if context["agents"] and not context["workspace"] else _of_workspace(context, bool(agents))
    return found + (check_agents(context.agents, fix=context["fix"]) if agents else [])


def _of_workspace(context: CommandContext, agents: bool) -> list[Finding]:
    if agents and not context["workspace"] and not _has_workspace(context):
        return []  # a home with agents only
    from worldfs.world.check import check

    place = context.workspace if context["workspace"] else context.home
    return check(place, fix=context["fix"], environ=context.environ)


def _has_workspace(context: CommandContext) -> bool:
    try:
        return context.workspace.exists()
    except UserError:
        return True  # config.json is unreadable: reported below


def _mood(warning: bool) -> str:
    return "warn" if warning else "bad"
