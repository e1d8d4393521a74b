"""Whatever is written to a control is understood or refused; nothing else comes of it."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.world.agent_jobs import wait_selection
from worldfs.world.services import tool_order
from worldfs.world.services.tool_order import AcceptedTools

WORDS = st.sampled_from(
    [
        "tool",
        "tool_name",
        "op",
        "args",
        "arguments",
        "paths",
        "timeout_ms",
        "since",
        "kind",
        "changes",
        "memory_load",
        "a",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
BYTES = st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode())
ACCEPTS = AcceptedTools({"load": "memory_load"}, "", "memory")


@given(BYTES, st.sampled_from(["invoke.json", "load.json", "nothing.json"]))
@example(b'{"tool":"memory_load","args":NaN}', "invoke.json")
@example(b'{"op":"memory_load","args":{"n":1e999}}', "invoke.json")
def test_an_order_is_read_or_refused(data: bytes, file: str) -> None:
    try:
        order = tool_order.parse_tool_order(data, file, ACCEPTS)
    except BadInput as error:
        assert error.found == tool_order.REFUSAL or error.found.startswith(tool_order.NO_NUMBER)
        assert error.code == "invalid"
        return
    assert order.tool.startswith("memory_")
    assert isinstance(tool_order.arguments(order.text), dict)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400", "1" * 6_000])
def test_a_number_that_is_none_is_named(number: str) -> None:
    data = f'{{"op": "memory_load", "args": {{"at": [{number}, 0, 0]}}}}'.encode()
    with pytest.raises(BadInput) as refused:
        tool_order.parse_tool_order(data, "invoke.json", ACCEPTS)
    named = number if len(number) < 20 else "6000 digits"
    assert refused.value.found.startswith(tool_order.NO_NUMBER) and named in refused.value.found


@pytest.mark.parametrize(
    "more",
    [
        '"dry_run": true',
        '"enabled": false',
        '"not_before": "2030"',
        '"approval": "required"',
        '"args": {}',
        '"tool": "x"',
    ],
)
@pytest.mark.parametrize("arguments", [', "args": {"n": 1}', ""])
def test_an_order_that_says_it_is_held_back_or_a_key_twice_is_refused(more: str, arguments: str) -> None:
    if more == '"args": {}' and not arguments:
        return
    with pytest.raises(BadInput) as refused:
        tool_order.parse_tool_order(f'{{"tool": "memory_load"{arguments}, {more}}}'.encode(), "invoke.json", ACCEPTS)
    assert more.split('"')[1] in refused.value.expected


def test_what_an_order_without_arguments_says_is_for_its_tool() -> None:
    order = tool_order.parse_tool_order(b'{"enabled": false, "n": 1, "note": "x"}', "load.json", ACCEPTS)
    assert tool_order.arguments(order.text) == {"enabled": False, "n": 1, "note": "x"}


@given(BYTES)
def test_a_selection_is_read_or_refused(data: bytes) -> None:
    try:
        found = wait_selection.parse_selection(data.decode("utf-8", "replace").strip())
    except BadInput as error:
        assert (error.found, error.code) == (wait_selection.REFUSAL, "invalid")
        return
    assert found.timeout_ms >= 0
    assert not found.configured or all(source.path for source in found.sources)
