"""Keys as subjects of NATS: one to one, in the alphabet that the server takes."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from worldfs.base.errors import BadInput, UserError
from worldfs.plugins.nats_store.key_codec import SUBJECT_MAX, decode_key, encode_key
from worldfs.testing.value_contract import AWKWARD, MEANINGLESS, OUTSIDE

LEVEL = re.compile(r"(?:[A-Za-z0-9_-]|=[0-9A-F]{2})+")
NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="/"), min_size=1, max_size=40).filter(
    lambda name: name not in (".", "..")
)


def _encoded(key):
    try:
        return encode_key(key)
    except UserError:
        assume(False)


@given(names=st.lists(NAMES, min_size=1, max_size=5))
def test_a_key_comes_back_and_its_levels_are_those_of_its_names(names):
    key = "/".join(names)
    levels = _encoded(key)
    assert decode_key(levels) == key
    assert len(levels.split(".")) == len(key.split("/"))
    assert all(LEVEL.fullmatch(level) for level in levels.split("."))


@given(levels=st.from_regex(r"[A-Za-z0-9=._/-]{1,60}", fullmatch=True))
def test_what_decodes_encodes_to_the_same(levels):
    key = decode_key(levels)
    assert key is None or encode_key(key) == levels


@given(one=NAMES, two=NAMES)
def test_two_keys_are_two_subjects(one, two):
    assume(one != two)
    assert _encoded(one) != _encoded(two)


@pytest.mark.parametrize("key", AWKWARD)
def test_awkward_names_have_a_subject(key):
    assert decode_key(encode_key(key)) == key


@pytest.mark.parametrize("key", [*OUTSIDE, *MEANINGLESS])
def test_what_no_store_keeps_has_none(key):
    with pytest.raises(UserError):
        encode_key(key)


@pytest.mark.parametrize("levels", ["=D", "a.=D", "=L.a", "=2f", "=41", "a..b", "", "=FF", "a/b", "=2E=2E", "=2F"])
def test_subjects_of_no_key(levels):
    assert decode_key(levels) is None


def test_a_path_that_is_too_long_for_a_subject_is_refused_before_it_is_sent():
    name = "深" * 70  # 630 bytes as a level
    assert decode_key(encode_key("/".join([name] * 3))) == "/".join([name] * 3)
    with pytest.raises(BadInput, match="2523 bytes as a key") as error:
        encode_key("/".join([name] * 4))
    assert str(SUBJECT_MAX) in error.value.expected
