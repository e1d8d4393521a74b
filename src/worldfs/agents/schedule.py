"""Which agent should run next, and why: a pure function of what the overview says.

    50 to begin with, and then, in points
    +100   letters or tasks of high priority wait, and 1 more for each up to 10
      +1   for every other letter or open task, up to 10; +3 when an active task was left behind
     -40   times the error rate above the usual: 4 sessions of which a tenth failed are added to the agent's own, so
           that the first failure of a new agent is not "100 %"
    -130   more of its sessions fail than end well: then it stands behind all that work, whatever waits for it
      -3   the last session did not end well
      -1   for every day beyond a week that nothing has happened, up to 15
    -350   it says that it is blocked

An agent that somebody runs now is no choice: it stands at the end, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.ground.clock import parse_stamp

if TYPE_CHECKING:
    from datetime import datetime

    from .overview import AgentLine

BASE: Final = 50.0
HIGH, EACH_HIGH = 100.0, 10  # above what everything below can add up to
EACH_MAX: Final = 10
LEFT_BEHIND: Final = 3.0
ERRORS: Final = 40.0
FAILING: Final = 130.0  # above what may wait for it
PRIOR_SESSIONS, PRIOR_RATE = 4, 0.1
LAST_BAD: Final = 3.0
IDLE_DAYS, IDLE_MAX = 7, 15
BLOCKED: Final = 350.0


class Choice(NamedTuple):
    """An agent's place in the order. The points of its reasons add up to `score` - 50."""

    agent: str
    score: float
    reasons: tuple[str, ...]  # sentences, the weightiest first; each ends with its points, if it has any
    ready: bool = True  # False: it runs now


def rank(lines: Iterable[AgentLine], *, now: datetime) -> list[Choice]:
    """Best first, equals by name. The same lines at the same time always give the same order."""
    choices = [choose(line, now) for line in lines]
    return sorted(choices, key=lambda choice: (not choice.ready, -choice.score, choice.agent))


def choose(line: AgentLine, now: datetime) -> Choice:
    """The score of one agent."""
    if line.running or line.runner is not None:
        return Choice(line.agent, 0.0, (_busy(line),), ready=False)
    found = [(round(points, 1), text) for points, text in _reasons(line, now)]
    found.sort(key=lambda reason: -abs(reason[0]))
    score = round(BASE + sum(points for points, _ in found), 1)
    return Choice(line.agent, score, tuple(text + (f" ({points:+g})" if points else "") for points, text in found))


def expected_failures(failed: int, sessions: int) -> float:
    """The error rate to reckon with, 0 to 1: few sessions say little."""
    return (failed + PRIOR_SESSIONS * PRIOR_RATE) / (sessions + PRIOR_SESSIONS)


def _reasons(line: AgentLine, now: datetime) -> Iterator[tuple[float, str]]:
    """(points, sentence), for everything that there is to say."""
    if line.blocked_by:
        yield -BLOCKED, f"It is blocked by {_short(line.blocked_by)}"
    if high := line.letters_high + line.tasks_high:
        waiting = [_count(line.letters_high, "message"), _count(line.tasks_high, "task")]
        verb = "waits" if high == 1 else "wait"
        yield HIGH + min(high, EACH_HIGH), f"{' and '.join(filter(None, waiting))} of high priority {verb}"
    other = line.letters + line.tasks_pending + line.tasks_active - high
    if other > 0:
        waits = "message or task waits" if other == 1 else "messages and tasks wait"
        yield float(min(other, EACH_MAX)), f"{other} {'more ' if high else ''}{waits}"
    if left := line.tasks_active:
        yield LEFT_BEHIND, f"{_count(left, 'active task')} {'was' if left == 1 else 'were'} left behind"
    if not line.letters and not line.tasks_pending and not line.tasks_active:
        yield 0.0, "Nothing waits for it"
    expected = expected_failures(line.failed, line.sessions)
    if line.failed:
        points = -ERRORS * max(0.0, expected - PRIOR_RATE)
        points -= FAILING if expected > 0.5 else 0.0
        yield points, f"{line.failed} of {_count(line.sessions, 'session')} failed, {expected:.0%} are to be expected"
    if line.last_outcome in ("timeout", "error"):
        yield -LAST_BAD, f"Its last session ended in {'a timeout' if line.last_outcome == 'timeout' else 'an error'}"
    if line.stale:
        yield 0.0, "Its last session has no runner any more; a start ends it as lost"
    yield from _idle(line, now)
    for what in line.unreadable:
        yield 0.0, f"Not readable: {_short(what)}"


def _idle(line: AgentLine, now: datetime) -> Iterator[tuple[float, str]]:
    last = line.last_ended_at or line.updated_at
    try:
        moment = parse_stamp(last)
    except OverflowError:  # the year 1, and a zone
        moment = None
    if moment is None:
        yield 0.0, "Nothing says when it ran last"
    elif (days := (now - moment).days) > IDLE_DAYS:
        yield -float(min(days - IDLE_DAYS, IDLE_MAX)), f"It has been idle for {days} days"


def _busy(line: AgentLine) -> str:
    runner = line.runner or {}
    who = f"process {runner['pid']}" if runner.get("pid") else "somebody"
    what = f"session {line.session_id}" if line.running and line.session_id else "it"
    return f"It runs now: {who} has {what}" + (f", for {_span(line.seconds)}" if line.seconds is not None else "")


def _span(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def _count(number: int, noun: str) -> str:
    return "" if not number else f"{number} {noun}{'' if number == 1 else 's'}"


def _short(text: str, most: int = 80) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
