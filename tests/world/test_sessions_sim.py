"""Sessions on the real simulation: a thing is picked, then placed, and the files say what was measured."""

from __future__ import annotations

import json
import threading

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.formats.runtime import sessions  # after the question whether it is there
from worldfs.world.world import World  # same


def put(root, entries, skills):
    target = {"id": "sim", "type": "sim", "backend": "mujoco", "adapter": {"class": "SimTargetAdapter"}}
    (root / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
    (root / "SKILLS.md").write_text(json.dumps({"skills": skills}))
    (root / "SESSIONS.md").write_text(json.dumps({"sessions": entries}))


def entry(id, skill, depends=(), **params):
    return {
        "session_id": id, "target_ref": "sim", "skill_ref": skill, "depends_on": list(depends),
        "execution": {"params": params},
    }  # fmt: skip


def test_a_thing_is_picked_then_placed_and_the_world_is_written(tmp_path):
    builtin = [{"id": id, "runtime": "BuiltinSkillRuntime"} for id in ("rekep_pick", "rekep_place")]
    own = {"id": "tidy", "runtime": "BuiltinSkillRuntime", "steps": [
        {"pick_up": {"object_id": "{what}"}}, {"place": {"target": "basket_01"}}]}  # fmt: skip
    entries = [
        entry("a", "rekep_pick", object_id="apple_01"),
        entry("b", "rekep_place", ["a"], object_id="apple_01", target_id="basket_01"),
        entry("c", "tidy", ["b"], what="cube_01"),
        entry("d", "rekep_pick", ["c"], object_id="moon"),
        entry("e", "rekep_pick", ["c"]),
    ]
    put(tmp_path, entries, [*builtin, own])
    with World.open(tmp_path, serve=True) as world:
        world.run(stop=threading.Event(), until_idle=True)
        outcomes = {id: world.jobs.load(id).status.outcome for id in "abcde"}
    assert outcomes["a"].ok and outcomes["a"].evidence["object_moved"] > 0.15
    assert outcomes["b"].ok and [step["op"] for step in outcomes["b"].evidence["steps_done"]] == ["place"]
    assert outcomes["c"].ok and len(outcomes["c"].evidence["steps_done"]) == 2
    assert outcomes["d"].code == "UNKNOWN_OBJECT" and "cube_01" in outcomes["d"].message
    assert outcomes["e"].code == "SCHEMA_VALIDATION" and "object_id" in outcomes["e"].message
    page = (tmp_path / "ENVIRONMENT.md").read_text()
    assert "in_basket" in page
    words = {item.id: item.word for item in sessions.read((tmp_path / "SESSIONS.md").read_bytes()).entries}
    assert words == {"a": "succeeded", "b": "succeeded", "c": "succeeded", "d": "failed", "e": "failed"}
