"""The fold of the journal: every figure once, whatever is replayed, whatever the clock said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.agents.metrics import EVENTS, FIGURES, LIFETIME, MetricsReducer, RecentTotals, project, recover_reducer
from worldfs.base.clock import stamp
from worldfs.base.errors import BadInput
from worldfs.formats.agent.documents import metrics_findings, metrics_value
from worldfs.testing.journal_oracle import random_entries, recount

Json = dict[str, Any]
NOW = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
RIO = {
    "agent": "rio",
    "updated_at": "2026-03-31T22:00:00Z",
    "lifetime": {
        "sessions_total": 47,
        "sessions_completed": 42,
        "sessions_timeout": 3,
        "sessions_error": 2,
        "sources_archived": 312,
        "claims_proposed": 89,
        "claims_accepted": 71,
        "claims_challenged": 12,
        "claims_rejected": 6,
        "disconfirmation_attempts": 47,
        "disconfirmation_hits": 8,
        "cross_agent_flags_sent": 23,
        "cross_agent_flags_received": 15,
    },
    "rolling_30d": {
        "sessions": 12,
        "sources_archived": 87,
        "claims_proposed": 24,
        "acceptance_rate": 0.83,
        "avg_sources_per_session": 7.25,
    },
}
EXAMPLE = """\
{"ts":"2026-03-31T20:30:00Z","event":"session_start","session_id":"20260331-220000","type":"research"}
{"ts":"2026-03-31T20:35:00Z","event":"orient_complete","files_read":["identity.md"]}
{"ts":"2026-03-31T21:30:00Z","event":"sources_archived","count":5,"domain":"internet-finance"}
{"ts":"2026-03-31T22:00:00Z","event":"session_end","outcome":"completed","sources_archived":8,"handoff":"…"}
"""


def event(name: str, at: datetime = NOW, **fields: Any) -> Json:
    return {"ts": stamp(at), "event": name, **fields}


def folded(*entries: Json, baseline: Json | None = None) -> MetricsReducer:
    fold = MetricsReducer(baseline)
    fold.follow(enumerate(entries, 1))
    return fold


def lifetime(*entries: Json) -> Json:
    return {key: count for key, count in folded(*entries).totals.items() if count}


def total(fold: MetricsReducer, key: str) -> int:
    return fold.totals.get(key, 0)


def same(one: MetricsReducer, other: MetricsReducer) -> bool:
    return one.dump() == other.dump()


# -- what counts ------------------------------------------------------------------------------------------------------


def test_the_figure_of_the_end_stands_in_place_of_what_happened_in_the_session() -> None:
    entries = [json.loads(line) for line in EXAMPLE.splitlines()]
    assert lifetime(*entries) == {"sessions_total": 1, "sessions_completed": 1, "sources_archived": 8}
    assert project(folded(*entries), "rio", NOW).rolling_30d == {
        "sessions": 1,
        "sources_archived": 8,
        "claims_proposed": 0,
        "acceptance_rate": None,
        "avg_sources_per_session": 8.0,
    }


def test_what_happened_in_a_session_is_summed_where_its_end_is_silent() -> None:
    inside = [event("claim_proposed", session_id="a"), event("claim_proposed", count=3), event("flag_sent")]
    end = event("session_end", session_id="a", outcome="timeout", claims_accepted=2)
    assert lifetime(event("session_start", session_id="a"), *inside, end) == {
        "sessions_total": 1,
        "sessions_timeout": 1,
        "claims_proposed": 4,
        "claims_accepted": 2,
        "cross_agent_flags_sent": 1,
    }


def test_an_explicit_zero_of_the_end_is_a_figure() -> None:
    start, end = event("session_start", session_id="a"), event("session_end", session_id="a", outcome="completed")
    assert "sources_archived" not in lifetime(start, event("sources_archived", count=5), end | {"sources_archived": 0})


def test_nothing_of_a_session_counts_before_its_end() -> None:
    fold = folded(event("session_start", session_id="a"), event("sources_archived", count=5))
    assert fold.blank
    assert fold.apply(3, event("session_end", session_id="a", outcome="completed"))
    assert total(fold, "sources_archived") == 5


@pytest.mark.parametrize("name", EVENTS)
def test_outside_of_a_session_everything_counts_at_once(name: str) -> None:
    assert lifetime(event(name), event(name, count=2)) == {EVENTS[name]: 3}


def test_a_claim_accepted_after_its_session_counts_although_the_end_said_none() -> None:
    entries = [
        event("session_start", session_id="a"),
        event("session_end", session_id="a", outcome="completed", claims_proposed=3, claims_accepted=0),
        event("claim_accepted", NOW + timedelta(days=9), session_id="a"),
    ]
    assert lifetime(*entries)["claims_accepted"] == 1


def test_a_session_ends_once() -> None:
    start = event("session_start", session_id="a")
    first = event("session_end", session_id="a", outcome="error", sources_archived=2)
    again = event("session_end", session_id="a", outcome="completed", sources_archived=9)
    once = {"sessions_total": 1, "sessions_error": 1, "sources_archived": 2}
    assert lifetime(start, first, again) == lifetime(start, first, start, again) == lifetime(first, again) == once


def test_a_start_that_is_repeated_after_the_end_opens_nothing() -> None:
    start, end = event("session_start", session_id="a"), event("session_end", session_id="a", outcome="completed")
    assert lifetime(start, end, start, event("flag_sent"))["cross_agent_flags_sent"] == 1


def test_a_session_that_a_mind_ended_without_its_name_is_ended_by_its_runner_all_the_same() -> None:
    start = event("session_start", session_id="a")
    mind = event("session_end", outcome="completed", sources_archived=3, claims_proposed=2)
    runner = event("session_end", session_id="a", outcome="timeout", sources_archived=4)
    assert lifetime(start, mind)["sessions_completed"] == 1
    assert lifetime(start, mind, mind, event("flag_sent"), runner, runner) == {
        "sessions_total": 1,
        "sessions_timeout": 1,
        "sources_archived": 4,
        "claims_proposed": 2,
        "cross_agent_flags_sent": 1,
    }


def test_events_without_a_name_belong_to_the_session_opened_last_and_others_to_theirs() -> None:
    entries = [event("session_start", session_id="a"), event("session_start", session_id="b")]
    entries += [event("flag_sent"), event("flag_sent", session_id="a"), event("flag_sent", session_id="gone")]
    fold = folded(*entries)
    assert total(fold, "cross_agent_flags_sent") == 1
    fold.apply(6, event("session_end", session_id="b", outcome="completed"))
    assert total(fold, "cross_agent_flags_sent") == 2
    fold.apply(7, event("session_end", session_id="a", outcome="completed", cross_agent_flags_sent=7))
    assert total(fold, "cross_agent_flags_sent") == 9


@pytest.mark.parametrize("outcome", ["killed", "", None, 7, "lost"])
def test_an_outcome_that_is_none_of_the_three_did_not_go_well(outcome: object) -> None:
    assert lifetime(event("session_end", session_id="a", outcome=outcome)) == {"sessions_total": 1, "sessions_error": 1}


@pytest.mark.parametrize("count", ["5", -1, 2.5, True, None, [5], float("nan"), float("inf"), 10**400])
def test_what_is_no_number_counts_nothing(count: object) -> None:
    assert lifetime(event("sources_archived", count=count)) == {}
    ended = lifetime(event("session_end", session_id="a", outcome="completed", sources_archived=count))
    assert "sources_archived" not in ended


def test_letters_count_where_they_are_flags() -> None:
    letters = [event("message_sent", type="flag"), event("message_sent", type="task"), event("message_received")]
    assert lifetime(*letters, event("message_received", type="flag")) == {
        "cross_agent_flags_sent": 1,
        "cross_agent_flags_received": 1,
    }


def test_a_session_whose_end_never_comes_gives_its_place_to_the_seventeenth_after_it() -> None:
    fold = folded(event("session_start", session_id="dead"), event("flag_sent"))
    for turn in range(16):
        assert total(fold, "cross_agent_flags_sent") == 0
        fold.apply(3 + turn, event("session_start", session_id=f"s{turn}"))
    assert total(fold, "cross_agent_flags_sent") == 1


# -- the window -------------------------------------------------------------------------------------------------------


def ended(at: datetime, id: str = "a", **figures: Any) -> Json:
    return event("session_end", at, session_id=id, **{"outcome": "completed", **figures})


@pytest.mark.parametrize(
    ("at", "inside"),
    [
        (datetime(2026, 3, 2, 0, 0, 0, tzinfo=UTC), True),  # the first second of the thirtieth day
        (datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC), False),
        (NOW + timedelta(days=1), True),  # a clock that runs ahead
        (NOW + timedelta(days=2), False),
        (datetime(2099, 1, 1, tzinfo=UTC), False),
    ],
)
def test_the_window_is_today_and_the_29_days_before_it(at: datetime, inside: bool) -> None:
    fold = folded(ended(at))
    assert fold.recent(NOW).sessions == int(inside)
    assert total(fold, "sessions_total") == 1


def test_the_window_counts_a_leap_day() -> None:
    fold = folded(ended(datetime(2028, 2, 10, 12, tzinfo=UTC)))
    assert fold.recent(datetime(2028, 3, 10, tzinfo=UTC)).sessions == 1  # 10 February is the thirtieth day, by the 29th
    assert fold.recent(datetime(2028, 3, 11, tzinfo=UTC)).sessions == 0


def test_a_day_is_a_day_of_utc() -> None:
    fold = folded({**ended(NOW), "ts": "2026-03-31T23:30:00-05:00"})
    assert fold.recent(datetime(2026, 4, 30, tzinfo=UTC)).sessions == 1
    assert fold.recent(datetime(2026, 5, 1, tzinfo=UTC)).sessions == 0


@pytest.mark.parametrize("ts", ["yesterday", "", None, 17, "2026-13-45T99:00:00Z", "0001-01-01T00:00:00+05:00"])
def test_an_entry_without_a_time_is_of_the_day_before_it(ts: object) -> None:
    fold = folded(ended(NOW - timedelta(days=29)), {**ended(NOW, "b"), "ts": ts})
    assert fold.recent(NOW).sessions == 2
    assert fold.recent(NOW + timedelta(days=1)).sessions == 0
    assert folded({**ended(NOW), "ts": ts}).recent(NOW) == RecentTotals()


def test_a_clock_that_once_stood_wrong_does_not_push_the_window_out() -> None:
    fold, seq = MetricsReducer(), 0
    for back in range(60, -1, -1):
        for wrong in (4000, -4000):
            seq += 1
            fold.apply(seq, ended(NOW + timedelta(days=wrong - wrong // 4000 * (back % 4)), f"w{seq}"))
        seq += 1
        fold.apply(seq, ended(NOW - timedelta(days=back), f"s{seq}", sources_archived=2))
    assert fold.recent(NOW) == RecentTotals(30, 0, 60, 0, 0)
    assert total(fold, "sessions_total") == seq
    assert len(fold.dump()) < 8000


def test_a_step_back_of_the_clock_counts_on_the_day_it_names() -> None:
    fold = folded(
        ended(NOW), ended(NOW - timedelta(days=40), "b"), ended(NOW - timedelta(days=1), "c", outcome="error")
    )
    assert fold.recent(NOW)[:2] == (2, 1)


def test_more_is_accepted_than_proposed_in_a_window_and_the_rate_is_one() -> None:
    rolling = project(folded(event("claim_proposed"), event("claim_accepted", count=3)), "rio", NOW).rolling_30d
    assert rolling["acceptance_rate"] == 1.0


# -- what was there before us -----------------------------------------------------------------------------------------


def test_an_imported_document_stays_as_it_was_found_until_something_is_counted() -> None:
    found = {**RIO, "schema_version": 1}
    metrics = project(folded(event("session_start", session_id="a"), baseline=found), "rio", NOW + timedelta(days=99))
    assert (metrics.updated_at, metrics.lifetime, metrics.rolling_30d) == tuple(found.values())[1:4]
    assert list(metrics.lifetime) == list(LIFETIME)
    assert metrics.extra == {"schema_version": 1}


def test_what_is_counted_is_added_to_what_was_found() -> None:
    found = {**RIO, "lifetime": {**RIO["lifetime"], "naps": 3}, "note": "ours"}
    metrics = project(folded(ended(NOW, sources_archived=5), baseline=found), "rio", NOW)
    assert metrics.lifetime["sessions_total"] == 48
    assert metrics.lifetime["sessions_completed"] == 43
    assert metrics.lifetime["sources_archived"] == 317
    assert metrics.lifetime["naps"] == 3
    assert metrics.extra == {"note": "ours"}
    assert metrics.rolling_30d["sessions"] == 13
    assert metrics.rolling_30d["acceptance_rate"] == 0.83
    assert metrics.updated_at == "2026-03-31T22:30:00Z"


def test_imported_rolling_figures_leave_the_window_evenly_over_thirty_days() -> None:
    fold = folded(ended(NOW, sources_archived=1), baseline=RIO)
    seen = [project(fold, "rio", NOW + timedelta(days=day)).rolling_30d for day in range(32)]
    assert [seen[day]["sessions"] for day in (0, 15, 29, 30, 31)] == [13, 7, 1, 0, 0]
    assert [seen[day]["sources_archived"] for day in (0, 10, 30)] == [88, 59, 0]
    assert seen[30]["acceptance_rate"] is None
    assert all(one["sessions"] >= next_["sessions"] for one, next_ in pairwise(seen))


def test_a_found_document_that_is_half_nonsense_gives_what_it_can() -> None:
    found = {"lifetime": {"sessions_total": "many", "sources_archived": 4}, "rolling_30d": [], "updated_at": 5}
    metrics = project(folded(ended(NOW), baseline=found), "rio", NOW)
    assert (metrics.lifetime["sessions_total"], metrics.lifetime["sources_archived"]) == (1, 4)
    assert metrics.rolling_30d["sessions"] == 1


def test_a_journal_can_tell_by_itself_what_was_found() -> None:
    fold = folded(event("metrics_imported", metrics=RIO), ended(NOW), event("metrics_imported", metrics={}))
    assert project(fold, "rio", NOW).lifetime["sessions_total"] == 48


def test_an_import_takes_the_place_of_a_new_agents_zeros_and_of_nothing_else() -> None:
    zeros = {"agent": "rio", "updated_at": stamp(NOW), "lifetime": dict.fromkeys(LIFETIME, 0)}
    imported = event("metrics_imported", metrics=RIO)
    assert project(folded(imported, baseline=zeros), "rio", NOW).lifetime == RIO["lifetime"]
    other = {"lifetime": {"sessions_completed": 3}}
    assert project(folded(imported, ended(NOW), baseline=other), "rio", NOW).lifetime["sessions_total"] == 4


def test_a_document_from_before_us_is_taken_over_whole() -> None:
    fold = recover_reducer(RIO, enumerate([event("session_start", session_id="a")], 1))
    assert (fold.baseline, fold.applied_seq) == (RIO, 1)
    assert recover_reducer(None, []).baseline is None


@given(st.integers(0, 2**32), st.integers(1, 120), st.sampled_from([None, RIO]), st.booleans(), st.data())
@settings(max_examples=40, deadline=None)
def test_a_lost_state_is_made_again_from_journal_and_document(
    seed: int, count: int, found: Json | None, told: bool, data: st.DataObject
) -> None:
    entries = list(random_entries(Random(seed), count, NOW))
    if found and told:
        entries.insert(0, event("metrics_imported", NOW - timedelta(days=1), metrics=found))
    numbered = list(enumerate(entries, 1))
    whole = MetricsReducer(None if told else found)
    document = dict(found) if found else None  # as it was written at a session's end, or not at all since
    ends = [seq for seq, entry in numbered if entry["event"] == "session_end"]
    shown = data.draw(st.sampled_from([0, *ends]))
    for seq, entry in numbered:
        whole.apply(seq, entry)
        if seq == shown:
            document = dict(project(whole, "rio", datetime.fromisoformat(entry["ts"]))._asdict())
    again = recover_reducer(document, numbered)
    kept, lost = project(whole, "rio", NOW).lifetime, project(again, "rio", NOW).lifetime
    decided = ("claims_proposed", "disconfirmation_attempts")  # what was raised to hold an invariant stays raised
    assert {**lost, **{key: kept[key] for key in decided}} == kept
    assert all(lost[key] >= kept[key] for key in decided)
    assert again.recent(NOW) == whole.recent(NOW)


def test_what_was_counted_in_segments_that_are_gone_is_not_lost_with_the_state() -> None:
    numbered = [(seq, ended(NOW + timedelta(hours=seq), f"s{seq}", sources_archived=2)) for seq in range(1, 21)]
    whole = MetricsReducer(RIO)
    whole.follow(numbered)
    document = project(whole, "rio", NOW + timedelta(hours=20))._asdict()
    life = project(recover_reducer(document, numbered[12:]), "rio", NOW).lifetime
    assert (life["sessions_total"], life["sources_archived"]) == (67, 352)


def test_what_models_cost_in_segments_that_are_gone_is_not_lost_with_the_state_and_counts_once() -> None:
    call = {"input_tokens": 90, "output_tokens": 10, "cost_usd": 0.1, "latency_s": 0.5}
    numbered = [(seq, event("model_call", NOW + timedelta(hours=seq), **call)) for seq in range(1, 21)]
    whole = MetricsReducer()
    whole.follow(numbered)
    document = project(whole, "rio", NOW + timedelta(hours=20))._asdict()
    for left in (numbered, numbered[12:]):
        life = project(recover_reducer(document, left), "rio", NOW).lifetime
        costs = [life[key] for key in ("model_calls", "tokens_used", "cost_usd", "model_latency_s")]
        assert costs == [20, 2000, 2.0, 10.0]


def test_a_call_in_the_second_in_which_a_session_ended_counts_once_where_the_state_is_lost() -> None:
    numbered = [(1, ended(NOW, "s", sources_archived=2)), (2, event("model_call", input_tokens=100))]
    whole = MetricsReducer()
    whole.follow(numbered)
    document = project(whole, "rio", NOW)._asdict()
    assert project(recover_reducer(document, numbered), "rio", NOW).lifetime["tokens_used"] == 100


@pytest.mark.parametrize("earlier", [[], [("claim_proposed", {"count": 7})]])
def test_what_follows_a_call_in_its_second_counts_once_where_the_state_is_lost(earlier: list[Any]) -> None:
    """metrics.json is written after each of them. In the second case it also has figures of a segment that is gone."""
    at = [*earlier, ("model_call", {"input_tokens": 100}), ("claim_accepted", {}), ("claim_accepted", {})]
    numbered = [(seq, event(name, NOW, **fields)) for seq, (name, fields) in enumerate(at, 1)]
    for written in range(len(earlier) + 1, len(at) + 1):
        whole = MetricsReducer()
        whole.follow(numbered[:written])
        document = project(whole, "rio", NOW)._asdict()
        again = recover_reducer(document, numbered[len(earlier) : written])
        assert project(again, "rio", NOW).lifetime == document["lifetime"]


def test_what_metrics_do_not_have_yet_takes_nothing_from_what_segments_had_that_are_gone() -> None:
    """The power failed before the last two were counted."""
    numbered = [(1, event("claim_proposed", count=7)), (2, event("claim_accepted"))]
    whole = MetricsReducer()
    whole.follow(numbered)
    document = project(whole, "rio", NOW)._asdict()
    journal = [numbered[1], (3, event("claim_accepted")), (4, event("claim_proposed"))]
    life = project(recover_reducer(document, journal), "rio", NOW).lifetime
    assert (life["claims_proposed"], life["claims_accepted"]) == (8, 2)


# -- kept -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"null", b'{"format":1}', b"\0" * 90, b"[" * 99999])
def test_a_torn_state_is_refused_with_what_to_do(data: bytes) -> None:
    with pytest.raises(BadInput, match="rebuilt"):
        MetricsReducer.load(data)


@pytest.mark.parametrize(
    "key", ["applied_seq", "day", "totals", "days", "open", "guess", "ended", "baseline", "format"]
)
@pytest.mark.parametrize("value", ["x", 3.5, {"a": "b"}, [1]])
def test_a_state_with_a_wrong_field_is_refused(key: str, value: object) -> None:
    state = json.loads(folded(ended(NOW)).dump())
    if (key, value) in (("day", "x"), ("baseline", {"a": "b"})):
        return
    with pytest.raises(BadInput):
        MetricsReducer.load(json.dumps({**state, key: value}).encode())


def test_the_state_stays_small_whatever_the_history() -> None:
    fold, random = MetricsReducer(RIO), Random(7)
    fold.follow(enumerate(random_entries(random, 30_000, datetime(2020, 1, 1, tzinfo=UTC)), 1))
    assert len(fold.dump()) < 24_000


# -- laws -------------------------------------------------------------------------------------------------------------

NUMBERS = st.one_of(st.integers(-2, 9), st.none(), st.just("4"), st.floats(), st.booleans())
IDS = st.sampled_from(["a", "b", "c", "d", "", "x/y", None, 5])
TIMES = st.one_of(
    st.integers(-45, 45).map(lambda days: stamp(NOW + timedelta(days=days))),
    st.sampled_from(["", "now", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", None, 12]),
)
NAMES = st.sampled_from(["session_start", "session_end", "session_end", "note", *EVENTS, "message_sent", None])
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"event": NAMES, "ts": TIMES},
        optional={
            "session_id": IDS,
            "count": NUMBERS,
            "type": st.sampled_from(["flag", "task"]),
            "outcome": st.sampled_from(["completed", "timeout", "error", "lost", None]),
            **dict.fromkeys(FIGURES[:3], NUMBERS),
        },
    ),
    max_size=40,
)


@given(ENTRIES, st.data())
@settings(max_examples=40, deadline=None)
def test_a_prefix_and_the_rest_are_the_whole_and_replay_changes_nothing(
    entries: list[Json], data: st.DataObject
) -> None:
    whole, numbered = folded(*entries), list(enumerate(entries, 1))
    cut = data.draw(st.integers(0, len(entries)))
    part = MetricsReducer.load(folded(*entries[:cut]).dump())
    part.follow(numbered[data.draw(st.integers(0, cut)) :])
    assert same(part, whole)
    assert not part.follow(numbered)
    assert same(part, whole)
    step = MetricsReducer()
    for seq, entry in numbered:  # killed after every entry
        step.apply(seq, entry)
        step = MetricsReducer.load(step.dump())
    assert same(step, whole)


FOUND = st.dictionaries(st.sampled_from(LIFETIME), st.one_of(st.integers(0, 99), st.none(), st.just("x")), max_size=9)
ROLLING = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("sessions", "sources_archived", "claims_proposed"), st.integers(0, 99)),
        "acceptance_rate": st.one_of(st.none(), st.floats(-1, 2), st.just("x")),
    },
)


@given(ENTRIES, FOUND, ROLLING, st.integers(-40, 40))
@settings(max_examples=40, deadline=None)
def test_whatever_a_journal_says_the_invariants_hold(entries: list[Json], found: Json, old: Json, day: int) -> None:
    at = NOW + timedelta(days=day)
    fold = folded(
        *entries, ended(at, "last"), baseline={"lifetime": found, "rolling_30d": old, "updated_at": stamp(NOW)}
    )
    metrics = project(fold, "rio", at)
    assert metrics_findings(metrics_value(metrics)) == ()  # the document's own judge, and what it might not ask
    life, rolling = metrics.lifetime, metrics.rolling_30d
    assert tuple(life) == LIFETIME
    assert min(life.values()) >= 0
    assert life["sessions_total"] == sum(life[key] for key in LIFETIME[1:4])
    assert life["claims_proposed"] >= sum(life[f"claims_{how}"] for how in ("accepted", "challenged", "rejected"))
    assert life["disconfirmation_attempts"] >= life["disconfirmation_hits"]
    assert 0 <= rolling["sessions"] <= life["sessions_total"]
    assert 0 <= rolling["sources_archived"] <= life["sources_archived"]
    assert 0 <= rolling["claims_proposed"] <= life["claims_proposed"]
    assert 0 <= (rolling["acceptance_rate"] or 0) <= 1


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"sessions_total": 47, "sessions_completed": 42}, (48, 43, 0, 5)),  # the five others went wrong somehow
        ({"sessions_total": 50}, (51, 51, 0, 0)),  # nothing bad is known
        ({"sessions_total": 50, "sessions_completed": 40, "sessions_timeout": 3, "sessions_error": 4}, (48, 41, 3, 4)),
        ({"sessions_completed": 4}, (5, 5, 0, 0)),
    ],
)
def test_a_found_total_that_is_not_its_sum_becomes_it(found: Json, expected: tuple[int, ...]) -> None:
    life = project(folded(ended(NOW), baseline={"lifetime": found}), "rio", NOW).lifetime
    assert tuple(life[key] for key in LIFETIME[:4]) == expected


@given(st.integers(0, 2**32), st.integers(0, 400), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_the_fold_is_the_plain_recount(seed: int, count: int, later: int) -> None:
    entries = list(random_entries(Random(seed), count, NOW - timedelta(days=20)))
    now = NOW + timedelta(days=later - 20)
    metrics = project(folded(*entries), "rio", now)
    assert (metrics.lifetime, metrics.rolling_30d) == recount(entries, now)


def test_a_recount_that_forgets_one_entry_differs() -> None:
    entries = list(random_entries(Random(1), 300, NOW - timedelta(days=9)))
    whole = recount(entries, NOW)
    assert any(recount(entries[:at] + entries[at + 1 :], NOW) != whole for at in range(0, 300, 30))
