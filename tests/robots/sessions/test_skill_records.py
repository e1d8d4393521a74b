"""What a skill file may do follows from its trials and from a promotion that is bound to its text and the body."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Skill, Target
from worldfs.formats.runtime import skill_file
from worldfs.sessions.skill_records import (
    ALLOWED,
    DRAFT,
    RECORDS,
    SIMULATED,
    TRIALS,
    SkillRecords,
    SkillTrial,
    body_digest,
)
from worldfs.storage.open_store import open_store
from worldfs.testing.manual_clock import ManualClock

ARM = Target("arm", "real_robot", adapter="RealRobotTargetAdapter", driver="franka", config={"ip": "192.0.2.7"})
TEXT = b"```python\nnum_stages = 1\n```\n"


@pytest.fixture
def store(tmp_path):
    store = open_store("disk", tmp_path)
    yield store
    store.close()


@pytest.fixture
def records(store):
    return SkillRecords(store, ManualClock(), trials=40)


def skill(text: bytes = TEXT, name: str = "wave") -> Skill:
    return skill_file.read(text, name)


def tried(records: SkillRecords, good: int, bad: int = 0, of: Skill | None = None) -> Skill:
    of = of or skill()
    for seed in range(good + bad):
        records.add(of, SkillTrial(seed, seed >= bad, "" if seed >= bad else "dropped"))
    return of


def test_a_skill_is_a_draft_then_simulated_then_allowed_on_one_body(records):
    one = tried(records, 39)
    assert records.state(one, ARM).state == DRAFT and "39 of 40" in records.state(one).why
    records.add(one, SkillTrial(39, True))
    assert records.state(one).state == SIMULATED and records.state(one, ARM).state == SIMULATED
    assert records.allow(one, ARM, "operator").state == ALLOWED
    assert "arm by operator" in records.state(one, ARM).why
    other = replace(ARM, id="arm_2")
    assert records.state(one, other).state == SIMULATED


def test_any_edit_makes_it_a_draft_again_and_the_old_text_is_what_it_was(records):
    one = tried(records, 40)
    records.allow(one, ARM, "operator")
    for other in (skill(TEXT + b" "), skill(TEXT, "wave_2"), skill(TEXT.replace(b"1", b"2"))):
        assert records.state(other, ARM).state == DRAFT
        with pytest.raises(BadInput, match="0 of 40"):
            records.allow(other, ARM, "operator")
    assert records.state(one, ARM).state == ALLOWED


@pytest.mark.parametrize("change", [
    {"config": {"ip": "192.0.2.8"}}, {"driver": "lerobot"}, {"config": {**ARM.config, "safety": {"speed": 9}}},
])  # fmt: skip
def test_another_body_of_the_same_name_is_another_body(records, change):
    one = tried(records, 40)
    records.allow(one, ARM, "operator")
    assert records.state(one, replace(ARM, **change)).state == SIMULATED
    assert records.state(one, replace(ARM, enabled=False, skills=("wave",))).state == ALLOWED


def test_a_skill_that_fails_often_is_not_promoted(records):
    one = tried(records, 97, 3 + 5)
    now = records.state(one)
    assert (now.state, now.rate.good, now.rate.tried) == (DRAFT, 97, 105) and "97/105" in now.why
    assert now.rate.low < 0.9
    with pytest.raises(BadInput, match="failed too often") as refused:
        records.allow(one, ARM, "operator")
    assert refused.value.code == "SKILL_DRAFT"


def test_the_product_asks_for_a_hundred(store):
    records = SkillRecords(store, ManualClock())
    one = tried(records, 99)
    assert TRIALS == 100 and records.state(one).rate.low > 0.9
    with pytest.raises(BadInput, match="99 of 100"):
        records.allow(one, ARM, "operator")
    records.add(one, SkillTrial(99, True))
    assert records.allow(one, ARM, "operator").state == ALLOWED


def test_a_seed_counts_once_and_as_failed_if_it_ever_was(records):
    one = tried(records, 39)
    records.add(one, SkillTrial(38, True))
    assert records.state(one).rate.tried == 39
    records.add(one, SkillTrial(38, False, "dropped"))
    records.add(one, SkillTrial(38, True))
    assert records.state(one).rate.good == 38


def test_a_torn_or_foreign_line_is_no_trial(records, store):
    one = tried(records, 3)
    store.append(f"{RECORDS}/{one.digest}.trials.jsonl", b'{"seed": 7, "ok": tr')
    records.add(one, SkillTrial(3, True))
    for line in (b'{"seed": "8", "ok": true}', b'{"seed": 9, "ok": 1}', b"[]", b"\xff", b"[" * 9_000):
        store.append(f"{RECORDS}/{one.digest}.trials.jsonl", line + b"\n")
    assert sorted(records.trials(one)) == [0, 1, 2, 3]


def forged(records, store, change):
    """The state of a skill whose promotion was changed on the disk."""
    one = tried(records, 40)
    records.allow(one, ARM, "operator")
    key = f"{RECORDS}/{one.digest}.{body_digest(ARM)[:16]}.allowed.json"
    value = json.loads(store.get(key).data)
    value.update(change)
    store.put(key, json.dumps(value).encode())
    return records.state(one, ARM)


@pytest.mark.parametrize("change", [
    {"sha256": "0" * 64}, {"body_sha256": "0" * 64}, {"target": "arm_2"}, {"skill": "other"}, {"trials": 400},
    {"successes": 39}, {"log_sha256": "0" * 64}, {"log_bytes": 10}, {"log_bytes": None}, {"log_bytes": -1},
])  # fmt: skip
def test_a_record_that_was_changed_is_refused_by_name(records, store, change):
    now = forged(records, store, change)
    assert now.state == SIMULATED and "allowed.json" in now.why


def test_a_promotion_that_rests_on_too_few_trials_is_none_although_more_followed(records, store):
    head = b'{"seed": 500, "ok": true}\n'
    store.append(f"{RECORDS}/{skill().digest}.trials.jsonl", head)
    few = {"log_bytes": len(head), "log_sha256": hashlib.sha256(head).hexdigest(), "trials": 1, "successes": 1}
    now = forged(records, store, few)
    assert now.rate.tried == 41 and now.state == SIMULATED and "allowed.json" in now.why


def test_a_record_from_another_skill_or_body_does_not_count_here(records, store):
    one = tried(records, 40)
    records.allow(one, ARM, "operator")
    data = store.get(f"{RECORDS}/{one.digest}.{body_digest(ARM)[:16]}.allowed.json").data
    other, bad = skill(TEXT + b"!"), replace(ARM, config={})
    tried(records, 40, of=other)
    for of, body in ((other, ARM), (one, bad)):
        store.put(f"{RECORDS}/{of.digest}.{body_digest(body)[:16]}.allowed.json", data)
        assert records.state(of, body).state == SIMULATED


def test_a_promotion_whose_trials_are_gone_or_were_rewritten_is_none(records, store):
    one = tried(records, 40)
    records.allow(one, ARM, "operator")
    log = f"{RECORDS}/{one.digest}.trials.jsonl"
    good = store.get(log).data
    store.put(log, good.replace(b'"seed": 7,', b'"seed": 77,'))
    assert records.state(one, ARM).state == SIMULATED
    store.delete(log)
    assert records.state(one, ARM).state == DRAFT
    store.put(log, good)
    assert records.state(one, ARM).state == ALLOWED


def test_trials_that_fail_after_the_promotion_take_it_back(records):
    one = tried(records, 40)
    records.allow(one, ARM, "operator")
    for seed in range(100, 110):
        records.add(one, SkillTrial(seed, False, "dropped"))
    assert records.state(one, ARM).state == DRAFT


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 9_000])
def test_a_promotion_that_is_no_json_allows_nothing(records, store, data):
    one = tried(records, 40)
    store.put(f"{RECORDS}/{one.digest}.{body_digest(ARM)[:16]}.allowed.json", data)
    assert records.state(one, ARM).state == SIMULATED
