"""Arrays in JSON: there and back, whatever they hold, and nothing but numbers."""

import binascii
import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from worldfs.policies.arrays import array_from_json, array_of, array_to_json, json_pieces, read_json
from worldfs.policies.policy_client import PolicyError

from .peers import PICTURE, trouble

DTYPES = st.sampled_from(["|u1", "<i8", "<f4", "<f8", ">f4", "<f2", "|b1"])


def joined(value, **more):
    return b"".join(json_pieces(value, **more))


@given(arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)))
def test_an_array_returns_as_it_was(array):
    back = array_from_json(json.loads(joined({"a": array}))["a"])
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)


def test_parts_of_arrays_and_other_orders_are_written_in_c_order():
    for array in (PICTURE[::2, ::3], np.asfortranarray(PICTURE), PICTURE.T):
        np.testing.assert_array_equal(array_from_json(json.loads(joined(array))), array)
        assert json.loads(joined(array)) == array_to_json(array)


def test_pictures_return_from_png_pixel_for_pixel():
    said = json.loads(joined({"p": PICTURE, "n": 3, "w": 'a"b'}, png=True))
    np.testing.assert_array_equal(array_from_json(said["p"]), PICTURE)
    assert (said["n"], said["w"]) == (3, 'a"b')


@pytest.mark.parametrize(
    "value", ["x", None, {"a": 1}, [[1], [2, 3]], ["a"], [None], {"__png__": "!"}, {"__numpy__": 3}]
)
def test_what_is_no_array_is_refused(value):
    trouble("POLICY_PROTOCOL", lambda: array_from_json(value))


def test_a_picture_that_says_it_is_huge_is_not_decoded():
    chunks = (b"IHDR" + struct.pack(">IIBBBBB", 5_000, 5_000, 8, 2, 0, 0, 0), b"IDAT" + zlib.compress(b""))
    data = [struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks]
    picture = binascii.b2a_base64(b"\x89PNG\r\n\x1a\n" + b"".join(data), newline=False).decode()
    trouble("POLICY_PROTOCOL", lambda: array_from_json({"__png__": picture}), "5000 × 5000 pixels")


@pytest.mark.parametrize("dtype", ["O", "V8", "c8", "S4", "U4", "M8[s]", "<f4,<f4", "nonsense", None, 7])
def test_only_numbers_are_taken(dtype):
    trouble("POLICY_PROTOCOL", lambda: array_of(b"12345678", dtype, [1]))


def test_only_numbers_are_written():
    trouble("POLICY_CLIENT", lambda: joined(np.array(["a"])))


@pytest.mark.parametrize("text", [b"", b"{", b"NaN", b"[Infinity]", b"\xff", b"[" * 200_000])
def test_json_is_strict(text):
    trouble("POLICY_PROTOCOL", lambda: read_json(text))


def test_an_answer_with_a_key_that_is_written_twice_is_no_answer() -> None:
    with pytest.raises(PolicyError, match="'actions' is written twice"):
        read_json(b'{"actions": [[1]], "actions": [[2]]}')
