"""A JSON text is changed where its value changed and nowhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.formats import jsontext
from worldfs.formats.values import not_finite, same

scalars = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4) | st.just("id"), inner, max_size=4),
    max_leaves=12,
)
styles = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"indent": 1, "separators": (" ,", " : ")},
    ]
)


@given(values, values, styles, st.booleans())
def test_an_edited_text_means_the_new_value(old, new, style, crlf):
    text = json.dumps(old, ensure_ascii=False, **style)
    text = text.replace("\n", "\r\n") if crlf else text
    assert jsontext.edit(text, old, old) == text
    assert jsontext.edit(text, old, json.loads(json.dumps(old))) == text
    edited = jsontext.edit(text, old, new)
    assert same(jsontext.parse(edited), new)


@given(
    st.lists(st.tuples(st.integers(0, 30), values), max_size=8),
    st.lists(st.tuples(st.integers(0, 30), values), max_size=8),
)
def test_entries_with_ids_survive_drop_move_and_repeat(old, new):
    old, new = ([{"id": str(i), "v": v} for i, v in side] for side in (old, new))
    text = json.dumps(old, indent=2)
    assert same(jsontext.parse(jsontext.edit(text, old, new)), new)


PAGE = """{
  "queue": [
    {
      "action_id": "act_001",
      "params": {
        "target_pose": [0.80, 3e-1, 0.5, 0.0, 1.570, 0.0]
      },
      "status": "pending"
    },
    {
      "action_id": "act_002",
      "status": "pending"
    }
  ]
}
"""


def changed(text, change):
    value = jsontext.parse(text)
    new = jsontext.parse(text)
    change(new)
    return jsontext.edit(text, value, new)


def test_a_changed_word_is_the_only_difference():
    after = changed(PAGE, lambda v: v["queue"][1].update(status="running"))
    assert after == PAGE.replace('act_002",\n      "status": "pending"', 'act_002",\n      "status": "running"')


def test_an_added_member_stands_like_its_siblings():
    after = changed(PAGE, lambda v: v["queue"][1].update(error={"cause": "lost"}))
    assert after == PAGE.replace(
        '"act_002",\n      "status": "pending"',
        '"act_002",\n      "status": "pending",\n      "error": {\n        "cause": "lost"\n      }',
    )


def test_an_added_element_stands_like_its_siblings():
    after = changed(PAGE, lambda v: v["queue"].append({"action_id": "三", "params": {"to": [1, 2]}}))
    tail = ',\n    {\n      "action_id": "三",\n      "params": {\n        "to": [1, 2]\n      }\n    }\n  ]\n}\n'
    assert after == PAGE.removesuffix("\n  ]\n}\n") + tail


def test_inline_entries_stay_inline():
    text = '{\n  "nodes": [\n    {"id": "a", "p": [1.0, 2.50]},\n    {"id": "b", "p": [0, 0]}\n  ]\n}'
    after = changed(text, lambda v: (v["nodes"][0].update(status="held"), v["nodes"].append({"id": "c", "p": [3]})))
    assert after == (
        '{\n  "nodes": [\n    {"id": "a", "p": [1.0, 2.50], "status": "held"},\n    {"id": "b", "p": [0, 0]},\n'
        '    {"id": "c", "p": [3]}\n  ]\n}'
    )


def test_a_removed_element_takes_its_comma_along():
    first = changed(PAGE, lambda v: v["queue"].pop(0))
    assert first == '{\n  "queue": [\n    {\n      "action_id": "act_002",\n      "status": "pending"\n    }\n  ]\n}\n'
    assert changed('{"a": 1, "b": 2}', lambda v: v.pop("a")) == '{"b": 2}'
    assert changed('{"a": 1, "b": 2}', lambda v: v.pop("b")) == '{"a": 1}'
    assert changed('{"a":[1,2,3]}', lambda v: v["a"].remove(2)) == '{"a":[1,3]}'
    assert changed("[\n  1\n]", lambda v: v.clear()) == "[]"


def test_an_empty_list_opens_up_in_the_document_s_indentation():
    text = '{\r\n    "queue": []\r\n}'
    after = changed(text, lambda v: v["queue"].append({"id": 1}))
    assert after == '{\r\n    "queue": [\r\n        {"id": 1}\r\n    ]\r\n}'
    assert changed('{"queue":[]}', lambda v: v["queue"].append({"id": 1})) == '{"queue":[{"id":1}]}'


def test_equal_numbers_keep_their_spelling_and_true_is_not_one():
    text = '{"a": 1.0, "b": 1e3, "c": -0.0}'
    assert jsontext.edit(text, jsontext.parse(text), {"a": 1, "b": 1000, "c": 0}) == text
    assert jsontext.edit("[1]", [1], [True]) == "[true]"


def test_of_a_repeated_key_the_last_value_is_the_one_that_changes():
    text = '{"a": [1, 2], "a": {"x": 1}, "b": 0}'
    assert changed(text, lambda v: v["a"].update(x=2)) == '{"a": [1, 2], "a": {"x": 2}, "b": 0}'
    assert changed(text, lambda v: v.pop("a")) == '{"b": 0}'


def test_half_a_surrogate_pair_is_written_as_an_escape():
    after = jsontext.edit('["x"]', ["x"], ["\ud800é"])
    assert after == '["\\ud800é"]'
    after.encode()


def test_nan_is_read_and_named_by_its_pointer():
    value = jsontext.parse('{"params": {"pose": [0, NaN]}}')
    assert not_finite(value) == "/params/pose/1"
    assert not_finite(jsontext.parse("[1e999]")) == "/0"
    assert not_finite({"a": [1, 2.0, "NaN"]}) is None


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 101 + "]" * 101, '{"a":' * 5000 + "1" + "}" * 5000])
def test_deep_nesting_is_refused_not_followed(text):
    with pytest.raises(BadInput) as caught:
        jsontext.parse(text)
    assert "deep" in str(caught.value)


def test_the_deepest_allowed_text_can_be_edited():
    old = json.loads("[" * 100 + "1" + "]" * 100)
    new = json.loads("[" * 100 + "2" + "]" * 100)
    assert jsontext.edit(json.dumps(old), old, new) == json.dumps(new)


def test_broken_text_names_line_and_column_and_what_was_expected():
    with pytest.raises(BadInput) as caught:
        jsontext.parse('{\n  "queue": [\n    {"a": }\n')
    assert "line 3, column 11" in caught.value.found
    assert "}" in caught.value.found
    assert caught.value.expected == "value"
    with pytest.raises(BadInput, match="end of file"):
        jsontext.parse('{"queue": [')
    with pytest.raises(BadInput):
        jsontext.parse("1" * 5000)


def test_five_thousand_entries_are_edited():
    old = {"queue": [{"action_id": f"a{i}", "params": {"x": [i, 0.5]}, "status": "pending"} for i in range(5000)]}
    text = json.dumps(old, indent=2)
    old = jsontext.parse(text)
    entries = [e | {"status": "completed"} if i % 100 == 0 else e for i, e in enumerate(old["queue"]) if i % 7]
    new = {"queue": [*entries, {"action_id": "new"}]}
    after = jsontext.edit(text, old, new)
    assert jsontext.parse(after) == new
