"""Command-line agents that are known by name: how each is started for a state directory, and how its report is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .agent_cli import AgentCli, ReportReader, base_name
from .claude_code_cli import ClaudeCodeCli
from .codex_cli import CodexCli
from .gemini_cli import GeminiCli

TOOLS: Final[dict[str, AgentCli]] = {tool.name: tool for tool in (ClaudeCodeCli(), CodexCli(), GeminiCli())}
WRAPPERS: Final = ("env", "nice", "nohup", "npx", "timeout", "stdbuf")

__all__ = ["TOOLS", "AgentCli", "ReportReader", "ReportingCommand", "preset_command", "reporting_command"]


class ReportingCommand(NamedTuple):
    """A command line of a known tool. `added`: the runner requested the report, so the caller does not see it."""

    argv: tuple[str, ...]
    reader: ReportReader
    added: bool


def preset_command(name: str, state_dir: str, words: Sequence[str], model: str | None) -> ReportingCommand:
    """The command line that grants a tool this state directory, followed by the caller's arguments."""
    if name not in TOOLS:
        raise BadInput(f"--with {name}", op="agent run", expected=", ".join(TOOLS))
    tool = TOOLS[name]
    given = [word for word in words if word.partition("=")[0] in tool.format_options]
    if given:
        raise BadInput(
            coded("command.after_with", given=given[0], name=name),
            op="agent run",
            expected=coded("command.other_options"),
        )
    reader = tool.reader(state_dir)
    reader.granted = tool.grants
    return ReportingCommand(tool.preset(state_dir, words, model), reader, True)


def reporting_command(argv: Sequence[str], state_dir: str, silence: bool = False) -> ReportingCommand | None:
    """The command line made to report, if it is the headless form of a known tool; else None.

    Only the form of the report is added, no right. `BadInput` where there is a limit to `silence`, and the caller
    chose a format that prints nothing before the end.
    """
    at = 0
    if argv and base_name(argv[0]) in WRAPPERS:
        at = next((n for n, word in enumerate(argv) if _tool(word) is not None), 0)
    tool = _tool(argv[at]) if argv else None
    if tool is None or not tool.headless(argv[at + 1 :]):
        return None
    words = argv[at + 1 :]
    chosen = any(word.partition("=")[0] in tool.format_options for word in words)
    if chosen and silence and tool.silent(words):
        raise BadInput(
            coded("command.silent", command=' '.join(argv[:at + 1])), op="agent run",
            expected=coded("command.showing_output"), fix=coded("command.leave_format"),
        )  # fmt: skip
    arguments = tuple(words) if chosen else tool.with_report_options(words)
    return ReportingCommand((*argv[: at + 1], *arguments), tool.reader(state_dir), not chosen)


def _tool(word: str) -> AgentCli | None:
    return next((tool for tool in TOOLS.values() if base_name(word) in tool.programs), None)
