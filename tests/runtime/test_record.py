"""Orders, statuses and ended jobs survive their files; what nobody of ours wrote is refused, never half read."""

import json
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Finding, Job, JobState, JobStatus, Order, Outcome
from worldfs.runtime.job_codec import (
    order_bytes,
    order_line,
    read_job,
    read_order,
    read_status,
    status_bytes,
    status_line,
)

TEXT = st.text(st.characters(), max_size=12)  # half surrogates too: JSON can say them
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
NUMBER = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MAPPING = st.dictionaries(TEXT, VALUE, max_size=3)
ORDERS = st.builds(
    Order,
    NAME,
    NAME,
    NAME,
    MAPPING,
    created_at=TEXT,
    priority=st.sampled_from(["high", "normal", "medium", "low"]),
    asker=TEXT,
    timeout_s=st.floats(0.001, 1e9),
    queue_timeout_s=st.floats(0, 1e9),
    attempts=st.integers(1, 1000),
    backoff=st.sampled_from(["none", "linear", "exponential"]),
    depends_on=st.lists(NAME, max_size=3).map(tuple),
    seq=st.integers(0, 10**6),
    extra=MAPPING,
)
FINDINGS = st.builds(Finding, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, st.booleans())
FAILURES = st.builds(
    Outcome,
    st.just(False),
    TEXT,
    st.sampled_from(Cause),
    TEXT,
    TEXT,
    MAPPING,
    st.lists(FINDINGS, max_size=2).map(tuple),
)
OUTCOMES = FAILURES | st.builds(Outcome, st.just(True), TEXT, evidence=MAPPING)
STATUSES = st.builds(
    JobStatus,
    st.sampled_from(JobState),
    st.integers(0, 1000),
    accepted_at=TEXT,
    started_at=TEXT,
    completed_at=TEXT,
    not_before=TEXT,
    outcome=st.none() | OUTCOMES,
)


@given(ORDERS, TEXT)
def test_an_order_comes_back_as_it_was_written(order, at):
    assert read_order(order_bytes(order, at), "job.json") == (order, at)


@given(STATUSES)
def test_a_status_comes_back_as_it_was_written(status):
    assert read_status(status_bytes(status), "status.json") == status


@given(ORDERS, STATUSES)
def test_an_ended_job_comes_back_as_it_was_written(order, status):
    text = order_line(order, status.accepted_at) + status_line(JobStatus(JobState.RUNNING, 1)) + status_line(status)
    assert read_job(text, "done") == Job(order, status)


def test_defaults_are_not_written_out():
    value = json.loads(order_bytes(Order("a", "arm", "move_to"), "2026-01-01T00:00:00Z"))
    assert set(value) == {"id", "node", "op", "accepted_at"} | ({"params"} & set(value))


@given(st.binary(max_size=60) | VALUE.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_record_of_ours_is_bad_input_and_nothing_else(data):
    for read in (read_order, read_status, read_job):
        try:
            read(data, "x")
        except BadInput as error:
            assert error.path == "x"


@pytest.mark.parametrize("name", [item.name for item in fields(Order)])
@settings(max_examples=20)
@given(wrong=VALUE)
def test_a_field_of_another_kind_is_refused_or_is_of_its_kind(name, wrong):
    value = {"id": "a", "node": "arm", "op": "move_to", "params": {}} | {name: wrong}
    try:
        order, _ = read_order(json.dumps(value).encode(), "x")
    except BadInput:
        return
    assert type(getattr(order, name)) in (type(wrong), tuple)


@given(st.dictionaries(st.sampled_from(["status", "attempt", "outcome", "not_before"]), VALUE, min_size=1))
def test_a_status_of_other_kinds_is_refused_or_read(value):
    try:
        read_status(json.dumps(value).encode(), "x")
    except BadInput as error:
        assert error.path == "x"
