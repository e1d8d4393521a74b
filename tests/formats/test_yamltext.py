"""A YAML text keeps its comments and its words when a value in it changes."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.formats import yamltext
from worldfs.formats.values import same

SESSIONS = """# the queue
sessions:
  - session_id: sess_pick_apple_001   # first
    skill_ref: "rekep_pick"
    status: pending
    created_at: 2025-04-01T12:00:00Z
    verification: {mode: off}
    # asked for by 王
    at: 12:30:45

  - session_id: sess_002
    status: 'pending'
    lamp: no
    count: 012
# the end
"""


def changed(text, change):
    new = yamltext.parse(text)
    change(new)
    after = yamltext.edit(text, yamltext.parse(text), new)
    assert same(yamltext.parse(after), new)
    return after


def test_words_and_times_stay_what_they_are():
    first, second = yamltext.parse(SESSIONS)["sessions"]
    assert first["created_at"] == "2025-04-01T12:00:00Z"
    assert first["at"] == "12:30:45"
    assert first["verification"] == {"mode": "off"}
    assert (second["lamp"], second["count"]) == ("no", 12)
    assert yamltext.parse("[1, 0x1F, 0o17, 1e3, .5, ~, true, !!str 12, '7', .inf, 2025-04-01]") == (
        [1, 31, 15, 1000.0, 0.5, None, True, "12", "7", float("inf"), "2025-04-01"]
    )
    assert yamltext.parse("") is None


def test_a_changed_word_is_the_only_difference():
    after = changed(SESSIONS, lambda v: v["sessions"][0].update(status="running"))
    assert after == SESSIONS.replace("status: pending", "status: running")
    after = changed(SESSIONS, lambda v: v["sessions"][1].update(status="no"))
    assert after == SESSIONS.replace("'pending'", '"no"')


def test_members_and_entries_come_and_go_with_their_lines():
    after = changed(SESSIONS, lambda v: v["sessions"][0].update(error={"cause": "lost", "code": "LOST"}))
    added = "    at: 12:30:45\n    error:\n      cause: lost\n      code: LOST\n"
    assert after == SESSIONS.replace("    at: 12:30:45\n", added)
    after = changed(SESSIONS, lambda v: v["sessions"][1].pop("lamp"))
    assert after == SESSIONS.replace("    lamp: no\n", "")
    after = changed(SESSIONS, lambda v: v["sessions"].append({"session_id": "s3", "params": {"to": [1, 2.5]}}))
    assert after == SESSIONS.replace(
        "    count: 012\n", "    count: 012\n  - session_id: s3\n    params:\n      to: [1, 2.5]\n"
    )
    after = changed(SESSIONS, lambda v: v["sessions"].pop(0))
    assert "sess_002" in after and "rekep_pick" not in after and after.endswith("# the end\n")


def test_crlf_and_a_missing_last_newline_survive():
    text = "queue:\r\n- id: a\r\n  status: pending"
    assert changed(text, lambda v: v["queue"][0].update(status="done")) == "queue:\r\n- id: a\r\n  status: done"
    assert changed(text, lambda v: v["queue"][0].update(x=1)) == "queue:\r\n- id: a\r\n  status: pending\r\n  x: 1"


def test_a_shared_anchor_is_not_changed_in_both_places():
    text = "# kept\na: &x {v: 1}\nb: *x\n"
    after = changed(text, lambda v: v.update(b={"v": 2}))
    assert after.startswith("# kept\n")


def test_broken_or_exploding_yaml_is_refused_with_its_place():
    with pytest.raises(BadInput, match="line 2, column"):
        yamltext.parse("queue:\n\t- a")
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{n}: &{n} [{','.join(['*' + p] * 10)}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(BadInput, match="aliases"):
        yamltext.parse(bomb)
    with pytest.raises(BadInput, match="aliases"):
        yamltext.texts(bomb)


def test_a_key_that_is_repeated_without_end_is_not_read_to_the_end(monkeypatch):
    taken = []
    fetch = yamltext._LimitedScanner.fetch_more_tokens
    monkeypatch.setattr(
        yamltext._LimitedScanner, "fetch_more_tokens", lambda scanner: (taken.append(None), fetch(scanner))[1]
    )
    for text in ("queue: []\n" * 100_000, "- " + "a: 1\n  " * 100_000, "{" + "a: 1, " * 100_000 + "}"):
        with pytest.raises(BadInput, match="more than 20 times"):
            yamltext.parse(text)
    assert len(taken) < 2_000  # of 300,000
    assert yamltext.parse("a: 1\n" * yamltext.MOST_TWICE) == {"a": 1}


def test_a_text_of_too_many_tokens_is_refused(monkeypatch):
    monkeypatch.setattr(yamltext, "MOST_TOKENS", 50)
    with pytest.raises(BadInput, match="at most 50"):
        yamltext.parse("".join(f"a{n}: []\n" for n in range(50)))


def test_a_text_that_would_take_minutes_is_refused_with_its_length():
    with pytest.raises(BadInput, match=f"{yamltext.LONGEST + 1} characters of YAML"):
        yamltext.parse("a" * (yamltext.LONGEST + 1))
    with pytest.raises(BadInput):
        yamltext.parse("[" * 1000)
    with pytest.raises(BadInput):
        yamltext.parse("a: &a [*a]")
    with pytest.raises(BadInput, match="key"):
        yamltext.parse("[1, 2]: x")
    with pytest.raises(BadInput):
        yamltext.parse("a: \x00")


texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["no", "12", "a: b", "# x", "- x", "~", "", " a", "x ", "1e3", "2025-04-01", "*a", "|", "a\nb", "\x85", "é"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.just("id"), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(texts, values, min_size=1, max_size=4)


@given(documents, documents)
@settings(max_examples=30, deadline=None)
def test_what_is_written_is_what_is_read(old, new):
    text = yamltext.edit("", None, old)
    assert same(yamltext.parse(text), old)
    merged = old | new
    after = yamltext.edit(text, old, merged)
    assert same(yamltext.parse(after), merged)


NESTED = {
    "lists": lambda n: "objects: " + "[" * n + "]" * n,
    "unclosed": lambda n: "objects: " + "[" * n,
    "mappings": lambda n: "objects: " + "{a: " * n + "}" * n,
    "beside apostrophes": lambda n: "a: don't\nobjects: " + "[" * n + "]" * n + "\nb: don't",
    "items": lambda n: "- " * n + "x",
    "keys": lambda n: "? " * n + "x",
    "indented": lambda n: "\n".join(" " * i + "a:" for i in range(min(n, 1000))),
}


@pytest.mark.parametrize("shape", NESTED)
def test_what_is_nested_too_deep_is_refused_before_it_costs_time(shape: str) -> None:
    before = time.process_time()
    for n in (150, 2_000, 20_000, 200_000):
        with pytest.raises(BadInput, match="nested too deep"):
            yamltext.parse(NESTED[shape](n))
    assert time.process_time() - before < 1.5  # 2,000 brackets alone cost 3 s


@pytest.mark.parametrize("shape", ["lists", "mappings", "items", "indented"])
def test_ninety_levels_are_read(shape: str) -> None:
    assert yamltext.parse(NESTED[shape](90))
