"""The codec: what was encoded is decoded, and no bytes whatever break it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.interfaces.ninep.ninep_frames import REQUESTS, MalformedRequest, NinePRequest, decode, encode

NUMBERS = {kind: st.integers(0, 2 ** (8 * int(kind)) - 1) for kind in "1248"}
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = {**NUMBERS, "s": NAMES, "d": st.binary(max_size=200), "n": st.lists(NAMES, max_size=16).map(tuple)}


@st.composite
def requests(draw):
    type = draw(st.sampled_from(sorted(REQUESTS)))
    name, fields = REQUESTS[type]
    values = {field.name: draw(VALUES[field.kind]) for field in fields}
    return NinePRequest(type, name, draw(NUMBERS["2"]), values)


@given(requests())
def test_a_request_is_read_as_it_was_written(request):
    assert decode(encode(request)) == request


@given(requests(), st.data())
def test_a_frame_cut_anywhere_is_refused_and_names_its_tag(request, data):
    whole = encode(request)
    cut = data.draw(st.integers(0, len(whole) - 1))
    try:
        found = decode(whole[:cut])
    except MalformedRequest as bad:
        assert bad.number and bad.tag == (request.tag if cut >= 7 else 0xFFFF)
    else:  # only a field that may be left out may be missing
        assert found.fields.items() < request.fields.items()


@given(requests(), st.binary(min_size=1, max_size=20))
def test_bytes_after_the_end_are_refused(request, more):
    if request.name in ("fsync", "auth", "attach") and "datasync" not in request.fields and "uid" not in request.fields:
        return
    with pytest.raises(MalformedRequest):
        decode(encode(request) + more)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_refused(data):
    try:
        found = decode(data)
    except MalformedRequest as bad:
        assert bad.number > 0
    else:
        assert found.type in REQUESTS


@given(st.sampled_from(sorted(REQUESTS)), st.binary(max_size=120))
def test_any_body_of_a_known_type_is_a_request_or_refused(type, body):
    try:
        decode(struct.pack("<IBH", 7 + len(body), type, 5) + body)
    except MalformedRequest as bad:
        assert bad.tag == 5


def test_a_length_beyond_the_frame_allocates_nothing():
    head = struct.pack("<IBHIQI", 7 + 16, 118, 1, 0, 0, 0xFFFF_FFFF)
    with pytest.raises(MalformedRequest, match="ends inside a field"):
        decode(head)
