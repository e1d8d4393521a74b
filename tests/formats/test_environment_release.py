"""A robot that is gone lets go of what it held, in every dialect, and nothing else of the document changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.formats import environment
from worldfs.formats.environment_release import release, things_held

PAGE = {
    "schema_version": "v2.0",
    "updated_at": "then",
    "scene_graph": {
        "nodes": [
            {"id": "apple_01", "type": "object", "status": "held", "mine": 1},
            {"id": "can_01", "status": "held"},
        ],
        "edges": [
            {"from": "apple_01", "to": "arm_2", "relation": "held_by"},
            {"from": "can_01", "to": "arm_1", "relation": "held_by"},
            {"from": "pear_01", "to": "table_01", "relation": "on"},
        ],
    },
    "robots": [
        {"robot_id": "arm_1", "holding": "can_01", "gripper": "closed"},
        {"robot_id": "arm_2", "pose": [1, 0, 0], "gripper": "closed", "holding": "apple_01", "note": "x"},
    ],
    "objects": [
        {"id": "apple_01", "name": "Red Apple", "position": [0.5, 0.1, 0.23], "status": "held"},
        {"id": "can_01", "position": [0.4, 0.1, 0.23], "status": "held"},
    ],
    "tf": {"a": [1]},
}
V1 = {"schema_version": "v1", "robot": {"robot_id": "arm_2", "holding": "apple_01"}, "objects": [{"id": "apple_01"}]}
Q1 = {
    "robots": {"arm_2": {"holding": "apple_01", "robot_pose": {"x": 1.0}}},
    "objects": {"apple_01": {"type": "fruit", "position": {"x": 1, "y": 2, "z": 3}, "state": "held"}},
}


def page(value: object) -> bytes:
    return f"# ENVIRONMENT\n\nmy words\n\n```json\n{json.dumps(value)}\n```\nthe end\n".encode()


@pytest.mark.parametrize("value", [PAGE, V1, Q1])
def test_its_gripper_is_empty_and_the_thing_is_where_it_was(value):
    data = page(value)
    before, freed = environment.read(data), release(data, "arm_2", "now")
    after = environment.read(freed)
    assert things_held(before.scene, "arm_2") == ("apple_01",) and things_held(after.scene, "arm_2") == ()
    assert after.dialect == before.dialect and not after.findings
    one, same = before.scene.thing("apple_01"), after.scene.thing("apple_01")
    assert one is not None and same is not None and same.position == one.position and same.status != "held"
    assert b"my words" in freed and b"the end" in freed and release(freed, "arm_2", "later") == freed


def test_nothing_else_is_touched():
    after = environment.read(release(page(PAGE), "arm_2", "now")).value
    wanted = json.loads(json.dumps(PAGE).replace('"then"', '"now"').replace('"holding": "apple_01"', '"holding": null'))
    wanted["scene_graph"]["nodes"][0]["status"] = wanted["objects"][0]["status"] = "released"
    del wanted["scene_graph"]["edges"][0]
    assert after == wanted


KEYS = st.sampled_from(["id", "robot_id", "holding", "from", "to", "relation"])
words = st.sampled_from(["arm_1", "arm_2", "apple_01", "held", "held_by", "x"])
values = st.recursive(
    st.one_of(st.none(), st.integers(), words),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(words, KEYS), inner, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.fixed_dictionaries({"robots": values, "objects": values, "scene_graph": values}))
def test_whatever_a_document_holds_its_other_robots_keep_what_they_hold(value):
    data = page(value)
    before, after = environment.read(data), environment.read(release(data, "arm_2", "now"))
    assert not things_held(after.scene, "arm_2")
    assert things_held(after.scene, "arm_1") == things_held(before.scene, "arm_1")
    assert {t.id for t in after.scene.objects} == {t.id for t in before.scene.objects}
