"""Values of JSON as types: what is of another type reads as the default, and nothing raises."""

import math

import pytest

from worldfs.base.json_values import as_float, as_floats, as_int, as_list, as_object, as_objects, as_text


@pytest.mark.parametrize("odd", [None, True, "12", [1], {"a": 1}, math.nan, math.inf, 1.5])
def test_what_is_no_whole_number_is_the_default(odd):
    assert as_int(odd, 7) == 7


def test_a_whole_number_may_be_written_with_a_point():
    assert as_int(8.0) == 8 and as_int(10**30) == 10**30 and as_int(-3) == -3


def test_a_number_is_no_truth_value_and_a_huge_one_is_infinite():
    assert as_float(True, 2.5) == 2.5 and as_float("1") == 0.0 and as_float(3) == 3.0
    assert as_float(10**400) == math.inf and as_float(-(10**400)) == -math.inf


def test_lists_and_mappings_are_told_from_everything_else():
    assert as_list("abc") == [] and as_list({"a": 1}) == [] and as_list((1, "a")) == [1, "a"]
    assert as_floats([1, "2", None, 3.5]) == [1.0, 0.0, 0.0, 3.5]
    assert as_object([1]) == {} and as_object(found := {"a": 1}) is found
    assert as_objects([{"a": 1}, 2, {"b": 3}]) == [{"a": 1}, {"b": 3}] and as_objects({"a": {}}) == []
    assert as_text(5) == "" and as_text(None, "none") == "none" and as_text("words") == "words"
