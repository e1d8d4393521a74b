"""`paos agents`: every agent at a glance, live if wanted, or in the order in which they should run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..call import Call
from ..voice import columns

if TYPE_CHECKING:
    from worldfs.agents.overview import AgentLine

LOOK_S = 30.0  # how long nothing need change before the spans in the table are told anew


def run(call: Call) -> int:
    if not call["watch"]:
        from worldfs.agents.overview import overview

        _tell(call, overview(call.agents))
        return 0
    return _watch(call)


def _tell(call: Call, lines: list[AgentLine]) -> None:
    if call["plan"]:
        return _plan(call, lines)
    call.voice.value({"agents": [line._asdict() for line in lines]})
    if not lines:
        call.voice.line(f"no agents in {call.agents}; make one with: paos agent init NAME")
    rows = [("agent", "status", "since", "last", "tasks", "messages", "summary")] if lines else []
    for text in columns(rows + [_row(line) for line in lines]):
        call.voice.line(text)
    for line in lines:
        for word in line.unreadable:
            call.voice.line(f"{line.agent}: {word}", "bad")
    return None


def _row(line: AgentLine) -> tuple[str, ...]:
    status = "lost" if line.stale else line.status or "?"
    since = _span(line.seconds) if line.running else ""
    tasks = f"{line.tasks_active}+{line.tasks_pending}" if line.tasks_active or line.tasks_pending else ""
    letters = str(line.letters or "") + (f" ({line.letters_high} high)" if line.letters_high else "")
    last = line.last_outcome or ""
    if line.error_rate:
        last += f" ({line.failed} of {line.sessions} failed)"
    return line.agent, status, since, last, tasks, letters, line.summary[:80]


def _plan(call: Call, lines: list[AgentLine]) -> None:
    from datetime import UTC, datetime

    from worldfs.agents.schedule import rank

    choices = rank(lines, now=datetime.now(UTC))
    call.voice.value({"plan": [choice._asdict() for choice in choices]})
    for choice in choices:
        call.voice.line(f"{choice.score:5.1f}  {choice.agent}{'' if choice.ready else ' (runs now)'}")
        for reason in choice.reasons:
            call.voice.line(f"       {reason}")


def _watch(call: Call) -> int:
    """Print again whenever a report, a session or an inbox changes; until Ctrl-C."""
    from worldfs.agents.names import names
    from worldfs.agents.overview import overview
    from worldfs.tree.stores.disk import DiskStore

    root = call.agents
    with_names: list[str] = []
    told: list[AgentLine] | None = None
    watch: Any = None
    store = DiskStore(root)
    try:
        while True:
            now = names(root)
            if watch is None or now != with_names:
                if watch is not None:
                    watch.close()
                with_names = now
                watch = store.watch("", *now, *(f"{name}/inbox" for name in now))
            seen = overview(root)
            if told is None or seen != told:
                if told is not None:
                    call.voice.line()
                _tell(call, seen)
                told = seen
            watch.read(LOOK_S)
            while watch.read(0.2):  # one table for what belongs together
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
