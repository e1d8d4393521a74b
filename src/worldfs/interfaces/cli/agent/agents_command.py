"""`paos agents`: the status of every agent, live if wanted, or in the order in which they should run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.agents.overview import agent_summaries
from worldfs.base.agent_names import list_agents
from worldfs.base.clock import SystemClock
from worldfs.base.messages import coded, render
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import columns

if TYPE_CHECKING:
    from worldfs.agents.overview import AgentSummary
    from worldfs.storage.store_interface import StoreWatch

_HEADINGS = (
    "command.label_agent",
    "command.label_status",
    "command.label_since",
    "command.last",
    "command.tasks",
    "command.label_letters",
    "command.label_summary",
)
LOOK_S = 30.0  # seconds without a change after which the durations in the table are refreshed


def run(context: CommandContext) -> int:
    if not context["watch"]:
        _tell(context, agent_summaries(context.agents))
        return 0
    return _watch(context)


def _tell(context: CommandContext, lines: list[AgentSummary]) -> None:
    if context["plan"]:
        return _plan(context, lines)
    context.output.value({"agents": [line._asdict() for line in lines]})
    if not lines:
        context.output.line(coded("command.no_agents", path=context.agents))
    headings: list[tuple[str, ...]] = [tuple(map(coded, _HEADINGS))] if lines else []
    rows = headings + [_row(line) for line in lines]
    for text in columns([tuple(render(cell, context.language) for cell in row) for row in rows]):
        context.output.line(text)
    for line in lines:
        for word in line.unreadable:
            context.output.line(coded("command.agent_said", agent=line.agent, said=word), "bad")
    return None


def _row(line: AgentSummary) -> tuple[str, ...]:
    status = coded("command.lost") if line.stale else line.status or "?"
    since = _span(line.seconds) if line.running else ""
    tasks = f"{line.tasks_active}+{line.tasks_pending}" if line.tasks_active or line.tasks_pending else ""
    high = line.letters_high
    letters = coded("command.n_high", n=line.letters, high=high) if high else str(line.letters or "")
    last = line.last_outcome or ""
    if line.error_rate:
        last = coded("command.failed_of", last=last, failed=line.failed, n=line.sessions)
    return line.agent, status, since, last, tasks, letters, line.summary[:80]


def _plan(context: CommandContext, lines: list[AgentSummary]) -> None:
    from worldfs.agents.agent_schedule import rank_agents

    choices = rank_agents(lines, now=SystemClock().now())
    context.output.value({"plan": [choice._asdict() for choice in choices]})
    for choice in choices:
        runs = coded("command.runs_now", score=choice.score, agent=choice.agent)
        context.output.line(f"{choice.score:5.1f}  {choice.agent}" if choice.ready else runs)
        for reason in choice.reasons:
            context.output.line(f"       {reason}")


def _watch(context: CommandContext) -> int:
    """Print again whenever a report, a session or an inbox changes; until Ctrl-C."""
    from worldfs.storage.open_store import open_store

    root = context.agents
    with_names: list[str] = []
    told: list[AgentSummary] | None = None
    watch: StoreWatch | None = None
    store = open_store("disk", root)
    try:
        while True:
            now = list_agents(root)
            if watch is None or now != with_names:
                if watch is not None:
                    watch.close()
                with_names = now
                watch = store.watch("", *now, *(f"{name}/inbox" for name in now))
            seen = agent_summaries(root)
            if told is None or seen != told:
                if told is not None:
                    context.output.line()
                _tell(context, seen)
                told = seen
            watch.read(LOOK_S)
            while watch.read(0.2):  # one table per group
                pass
    finally:
        if watch is not None:
            watch.close()
        store.close()


def _span(seconds: int | None) -> str:
    if seconds is None:
        return ""
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word}"
    return f"{seconds} s"
