"""The comparison itself: it must see what it is there to see."""

from __future__ import annotations

from typing import Any

import pytest

from .compared import ABSENT, Names, compare


def wheres(theirs: Any, ours: Any) -> list[str]:
    return [found.where for found in compare(theirs, ours, Names())]


@pytest.mark.parametrize(
    ("theirs", "ours", "where"),
    [
        ({"a": 1}, {"a": 2}, ["a"]),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": 1}, {}, ["a"]),
        ({"a": None}, {"a": 0}, ["a"]),
        ({"at_ms": 5}, {"at_ms": None}, ["at_ms"]),
        ({"at_ms": 0}, {"at_ms": 5}, ["at_ms"]),
        ({"mounts": ["a", "b"]}, {"mounts": ["b", "a"]}, ["mounts[0]", "mounts[1]"]),
        ({"l": [1]}, {"l": []}, ["l[0]"]),
        ({"l": []}, {"l": [1]}, ["l[0]"]),
        ({"s": '{"x":1}'}, {"s": '{"x":2}'}, ["s.x"]),
        ({"p": "/nodes/node-1/fs"}, {"p": "/nodes/node-1"}, ["p"]),
        ({"nodes": [{"node_id": "node-1"}]}, {"nodes": [{"node_id": "node-2"}]}, ["nodes[node-1]", "nodes[node-2]"]),
        ({"t": "secret-" + "0" * 32}, {"t": "lease-" + "0" * 32}, ["t"]),
        ({"t": "secret-" + "0" * 32}, {"t": None}, ["t"]),
    ],
)
def test_what_differs_is_found(theirs: Any, ours: Any, where: list[str]) -> None:
    assert wheres(theirs, ours) == where


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"a": 1}, {"a": 1, "more": 2}),
        ({"at_ms": 5}, {"at_ms": 6}),
        ({"n": "node-2"}, {"n": "node-1"}),
        ({"t": "secret-" + "0" * 32}, {"t": "secret-" + "1" * 32}),
        ({"r": "pending-join-1"}, {"r": "pending-join-0123456789abcdef"}),
        ({"s": '{"at_ms":1, "n":"node-2"}'}, {"s": '{"n":"node-3","at_ms":2}'}),
        (
            {"projects": [{"project_id": "a"}, {"project_id": "b"}]},
            {"projects": [{"project_id": "b"}, {"project_id": "a"}]},
        ),
    ],
)
def test_names_times_and_the_order_of_sets_are_no_difference(theirs: Any, ours: Any) -> None:
    assert wheres(theirs, ours) == []


def test_a_name_stands_for_one_thing_only() -> None:
    names = Names()
    assert compare({"n": "node-2"}, {"n": "node-1"}, names) == []
    assert names.said({"path": "/nodes/node-2/fs", "l": ["node-2", 3]}) == {
        "path": "/nodes/node-1/fs",
        "l": ["node-1", 3],
    }
    assert compare({"n": "node-2"}, {"n": "node-3"}, names)
    assert compare({"n": "node-4"}, {"n": "node-1"}, names)
    assert compare({"n": "x"}, {}, names)[0].ours is ABSENT
