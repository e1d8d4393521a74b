"""A session whose skill asks a model of config.json: over SESSIONS.md, on the simulated table."""

from __future__ import annotations

import json
import re
import threading

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("gymnasium", reason="the simulation is an extra")
pytest.importorskip("pydantic_ai", reason="the extra `models`")

from worldfs.base.model import Cause
from worldfs.formats import config
from worldfs.testing.model_api import serving
from worldfs.world.world import World

LIFT = """```python
num_stages = 2
grasp_keypoints = [NUMBER, -1]

def stage1_subgoal_constraint1(end_effector, keypoints):
    return np.linalg.norm(end_effector - keypoints[NUMBER]) - 0.02

def stage2_subgoal_constraint1(end_effector, keypoints):
    return 0.18 - keypoints[NUMBER][2]

def stage2_path_constraint1(end_effector, keypoints):
    return get_grasping_cost_by_keypoint_idx(NUMBER)
```"""
TARGETS = {"targets": [{"id": "table", "type": "sim", "backend": "mujoco", "adapter": {"class": "SimTargetAdapter"},
                        "config": {"seed": 7}}]}  # fmt: skip
SKILLS = {"skills": [{"id": "rekep_real", "runtime": "ReKepPolicyRuntime", "model": "eyes"}]}
SESSION = {"session_id": "sess_words_001", "target_ref": "table", "skill_ref": "rekep_real",
           "execution": {"params": {"nl_task": "lift the apple"}}}  # fmt: skip


def lift(request: str) -> str:
    found = re.search(r"(\d+): apple_01\.centre", json.loads(request)["messages"][1]["content"])
    assert found
    return LIFT.replace("NUMBER", found[1])


def ended(root, models):
    for name, value in (("TARGETS.md", TARGETS), ("SKILLS.md", SKILLS), ("SESSIONS.md", {"sessions": [SESSION]})):
        (root / name).write_text(json.dumps(value))
    read = config.read(json.dumps({"models": models}).encode(), {})
    with World.open(root, config=read, serve=True) as world:
        world.run(stop=threading.Event(), until_idle=True)
        return world.jobs.load("sess_words_001").status.outcome


def test_the_model_of_the_configuration_is_asked_rehearsed_and_recorded(tmp_path):
    with serving(["```python\nimport os\n```", lift], in_order=True, without_tools=True) as api:
        entry = {"kind": "openai", "model": "tiny", "baseUrl": f"{api.url}/v1"}
        outcome = ended(tmp_path, {"eyes": entry})
    assert outcome.ok, outcome
    assert len(outcome.evidence["model_calls"]) == 2 and "import" in outcome.evidence["refusals"][0]
    assert outcome.evidence["rehearsal"]["sim_seconds"] > 1
    kept = json.loads((tmp_path / outcome.evidence["artifact_dir"] / "episode.json").read_text())
    assert kept["evidence"]["model_calls"][0]["prompt_sha256"]


def test_without_a_model_the_session_is_refused_by_name_before_it_starts(tmp_path):
    outcome = ended(tmp_path, {})
    assert outcome.cause is Cause.REJECTED and outcome.code == "MODEL_MISSING"
    assert "eyes" in outcome.findings[0].found and "config.json" in outcome.findings[0].fix
