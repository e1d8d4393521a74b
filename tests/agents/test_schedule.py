"""Who runs next, and the reasons, which add up."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.agents.agent_schedule import AgentScore, expected_error_rate, rank_agents, score_agent
from worldfs.agents.overview import AgentSummary
from worldfs.base.clock import stamp

NOW = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
TODAY = stamp(NOW - timedelta(hours=3))


def quiet(agent: str, **fields: object) -> AgentSummary:
    return AgentSummary(agent, last_outcome="completed", last_ended_at=TODAY)._replace(**fields)


def order(*lines: AgentSummary) -> list[str]:
    return [choice.agent for choice in rank_agents(lines, now=NOW)]


def why(line: AgentSummary) -> tuple[str, ...]:
    return score_agent(line, NOW).reasons


def test_what_has_high_priority_comes_first_though_a_few_sessions_failed() -> None:
    broken = quiet("broken", letters=1, letters_high=1, sessions=40, failed=19, last_outcome="error")
    busy = quiet("busy", letters=300, tasks_pending=300, tasks_active=9)
    assert order(busy, broken, quiet("none")) == ["broken", "busy", "none"]
    assert why(broken)[0] == "1 message of high priority waits (+101)"
    assert why(quiet("x", letters=2, letters_high=2, tasks_pending=1, tasks_high=1)) == (
        "2 messages and 1 task of high priority wait (+103)",
    )


def test_a_high_error_rate_goes_down_and_a_first_failure_a_little() -> None:
    steady, new, first = quiet("steady", sessions=50, failed=1), quiet("new"), quiet("first", sessions=1, failed=1)
    bad, old_bad = quiet("bad", sessions=10, failed=6), quiet("awful", sessions=100, failed=90)
    assert order(old_bad, bad, first, new, steady) == ["new", "steady", "first", "bad", "awful"]
    assert why(bad) == ("6 of 10 sessions failed, 46% are to be expected (-14.3)", "Nothing waits for it")
    assert [round(expected_error_rate(*pair), 2) for pair in ((0, 0), (1, 1), (90, 100))] == [0.1, 0.28, 0.87]


def test_a_long_idle_goes_down_day_by_day_and_no_further_than_work_can_lift_it() -> None:
    days = [quiet(f"d{day:02}", last_ended_at=stamp(NOW - timedelta(days=day))) for day in (0, 7, 8, 12, 22, 23, 400)]
    assert [score_agent(line, NOW).score for line in days] == [50, 50, 49, 45, 35, 35, 35]
    assert why(days[3])[0] == "It has been idle for 12 days (-5)"
    waiting = days[-1]._replace(agent="waiting", tasks_pending=1, tasks_high=1)
    assert order(*days, waiting)[0] == "waiting"


def test_an_agent_without_a_past_is_not_held_to_be_idle() -> None:
    assert score_agent(AgentSummary("new"), NOW) == AgentScore(
        "new", 50.0, ("Nothing waits for it", "No record of its last run")
    )


def test_the_blocked_come_last_of_those_that_can_run() -> None:
    blocked = quiet("blocked", blocked_by="Leo's answer\nabout MetaDAO", letters=50, letters_high=50, tasks_active=3)
    worst = quiet("worst", sessions=900, failed=900, last_outcome="error", last_ended_at="2020-01-01T00:00:00Z")
    assert order(blocked, worst) == ["worst", "blocked"]
    assert why(blocked)[0] == "It is blocked by Leo's answer about MetaDAO (-350)"


def test_one_that_runs_is_no_choice_and_says_who_runs_it() -> None:
    line = quiet("rio", letters=5, letters_high=5, running=True, session_id="s1", seconds=4000, runner={"pid": 77})
    (choice,) = rank_agents([line], now=NOW)
    assert choice == AgentScore("rio", 0.0, ("It runs now: process 77 has session s1, for 66 min",), ready=False)
    assert order(line, quiet("blocked", blocked_by="x")) == ["blocked", "rio"]
    assert not score_agent(quiet("begins", runner={}), NOW).ready


def test_a_session_without_a_runner_keeps_nobody_from_the_next() -> None:
    choice = score_agent(quiet("rio", stale=True), NOW)
    assert choice.ready
    assert "Its last session has no runner any more; a start ends it as lost" in choice.reasons


def test_unfinished_work_and_bad_ends_are_told() -> None:
    line = quiet("rio", tasks_active=1, tasks_pending=2, last_outcome="timeout", unreadable=("report.json: no object",))
    assert why(line) == (
        "3 messages and tasks wait (+3)",
        "1 active task was left behind (+3)",
        "Its last session ended in a timeout (-3)",
        "Not readable: report.json: no object",
    )


LINES = st.fixed_dictionaries(
    {
        "agent": st.sampled_from("abcdef"),
        "blocked_by": st.sampled_from([None, "x"]),
        "running": st.booleans(),
        "stale": st.booleans(),
        "last_outcome": st.sampled_from([None, "completed", "timeout", "error", "?"]),
        "last_ended_at": st.sampled_from(
            ["", TODAY, "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "soon", "0001-01-01T00:00+09:00"]
        ),
        "letters": st.integers(50, 2000),
        "letters_high": st.integers(0, 50),
        "tasks_pending": st.integers(0, 500),
        "tasks_active": st.integers(0, 9),
        "tasks_high": st.integers(0, 20),
        "sessions": st.integers(0, 999),
        "failed": st.integers(0, 999),
    }
).map(lambda fields: AgentSummary(**{**fields, "failed": min(fields["failed"], fields["sessions"])}))


@given(st.lists(LINES, max_size=5, unique_by=lambda line: line.agent))
@settings(max_examples=40, deadline=None)
def test_the_order_is_the_same_however_the_lines_come_and_the_points_add_up(lines: list[AgentSummary]) -> None:
    choices = rank_agents(lines, now=NOW)
    assert all(rank_agents(other, now=NOW) == choices for other in permutations(lines))
    for choice in choices:
        assert choice.reasons
        if choice.ready:
            points = [float(found[1]) for text in choice.reasons if (found := re.search(r"\(([+-][\d.]+)\)$", text))]
            assert abs(50 + sum(points) - choice.score) < 0.01


def test_an_agent_that_fails_more_often_than_not_stands_behind_those_that_work_whatever_waits() -> None:
    failing = quiet("failing", letters=50, letters_high=50, tasks_active=9, sessions=6, failed=6, last_outcome="error")
    idle = quiet("idle", last_ended_at="2020-01-01T00:00:00Z", sessions=9, failed=2, last_outcome="timeout")
    assert order(failing, idle) == ["idle", "failing"]


@given(LINES, LINES)
@settings(max_examples=40, deadline=None)
def test_high_priority_beats_none_and_anything_beats_blocked(one: AgentSummary, other: AgentSummary) -> None:
    one = one._replace(agent="one", running=False, blocked_by=None, letters_high=1, failed=one.failed // 2)
    other = other._replace(agent="other", running=False, letters_high=0, tasks_high=0)
    assert order(one, other) == ["one", "other"]
    blocked = one._replace(agent="blocked", blocked_by="x")
    other = other._replace(failed=other.failed // 2)
    assert order(blocked, other._replace(blocked_by=None)) == ["other", "blocked"]
