"""JSON that nests too deep is refused by a bound of ours: each version of Python has another one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.json_text import DEPTH_MOST, NoNumber, brackets, depth, each_key_once, parse_json
from worldfs.formats import jsontext

ROOT = Path(__file__).parents[2]
LISTS = ("[", "]")
MAPPINGS = ('{"a":', "}")


def nested(levels: int, around: tuple[str, str] = LISTS, inside: str = "1") -> str:
    return around[0] * levels + inside + around[1] * levels


@pytest.mark.parametrize(
    "encode", [str, str.encode, lambda text: bytearray(text.encode())], ids=["str", "bytes", "array"]
)
@pytest.mark.parametrize("around", [LISTS, MAPPINGS], ids=["lists", "mappings"])
@pytest.mark.parametrize("levels", [DEPTH_MOST + 1, 500, 950, 5_000, 100_000])
def test_what_nests_deeper_is_refused_with_the_same_words(encode, around, levels):
    assert depth(parse_json(encode(nested(DEPTH_MOST, around)))) == DEPTH_MOST
    with pytest.raises(ValueError, match=r"^nested too deep$"):
        parse_json(encode(nested(levels, around)))


def test_the_bound_holds_with_the_hooks_of_the_library_and_beside_wide_values():
    deep = nested(DEPTH_MOST + 1, MAPPINGS)
    for text in (deep, f"[{deep[5:-1]}, 1]", f'{{"a": [], "b": {deep[5:-1]}}}'):
        with pytest.raises(ValueError, match="nested too deep"):
            parse_json(text.replace("1", "[1]"), object_pairs_hook=each_key_once, parse_float=str)


@pytest.mark.parametrize("number", ["1" * 6_000, "-" + "1" * 6_000])
@pytest.mark.parametrize("read", [parse_json, jsontext.parse])
def test_a_number_of_too_many_digits_is_refused_in_our_own_words(read, number):
    with pytest.raises((NoNumber, BadInput), match="a number of 6000 digits") as refused:
        read(f'{{"a": [1, {number}]}}')
    assert "sys." not in str(refused.value)


def test_what_is_wide_or_has_brackets_in_strings_is_read():
    wide = [[i, {"a": {}}] for i in range(1000)]
    assert parse_json(json.dumps(wide)) == wide
    text = json.dumps("[{" * 1000)
    assert parse_json(text) == "[{" * 1000 and brackets(text) == 2000


def test_nothing_in_the_product_takes_the_bound_of_pythons_own_reader_for_its_own():
    """`json.loads` beside `RecursionError` accepts another depth with each version."""
    own = {"base/json_text.py", "formats/jsontext.py", "formats/agent/jsonfile.py"}  # with a bound of theirs
    found = {
        path.relative_to(ROOT / "src/worldfs").as_posix()
        for path in (ROOT / "src/worldfs").rglob("*.py")
        if "RecursionError" in (text := path.read_text("utf-8")) and re.search(r"\bjson\.loads?\(", text)
    }
    assert found == own
