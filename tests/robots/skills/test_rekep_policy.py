"""A policy beside the constraints: asked once, believed where it makes sense, never needed."""

from __future__ import annotations

import numpy as np
import pytest

from worldfs.policies.policy_client import ActionChunk, PolicyError

from .test_rekep_runtime import LIFT


class Said:
    """A policy client that answers with `extra`, or fails."""

    def __init__(self, extra):
        self.extra, self.asked = extra, []

    def infer(self, observation, words, timeout_s):
        self.asked.append((sorted(observation), words))
        if isinstance(self.extra, Exception):
            raise self.extra
        return ActionChunk(np.zeros((1, 7), np.float32), extra=self.extra)


def test_its_constraints_are_used(stand):
    table = stand()
    given = {"constraints": LIFT, "keypoints": ["apple_01.centre", "cube_01.top"]}
    policy = Said(given)
    outcome = table.do("rekep_pick", "lift it over the cube", policy=policy, object_id="apple_01")
    assert policy.asked == [(["ee_pose", "gripper", "joint_states", "keypoints"], "lift it over the cube")]
    assert outcome.ok and outcome.evidence["policy"] == "its constraints are used", outcome.message
    assert np.linalg.norm(table.rig.position("apple_01")[:2] - table.rig.position("cube_01")[:2]) < 0.03


def test_its_hints_move_keypoints_and_what_is_far_off_is_not_believed(stand):
    table = stand()
    hints = {"can_01.centre": [0.55, 0.25, 0.085], "can_01.top": [9, 9, 9], "moon": [0, 0, 0]}
    outcome = table.do("rekep_pick", policy=Said({"keypoints": hints}), object_id="can_01")
    assert outcome.ok, outcome.message
    assert outcome.evidence["policy"] == "its keypoints are used: can_01.centre"
    assert outcome.evidence["stages"][0]["keypoints_before"][0][2] == pytest.approx(0.085, abs=0.002)


@pytest.mark.slice(6)
@pytest.mark.parametrize(
    "extra",
    [{}, {"constraints": "import os"}, {"constraints": 7}, {"keypoints": {"apple_01.centre": "here"}},
     PolicyError("no such thing", code="POLICY_CLIENT"), PolicyError("gone", code="POLICY_CONNECTION")],
)  # fmt: skip
def test_what_it_says_amiss_leaves_the_library(stand, extra):
    table = stand()
    outcome = table.do("rekep_pick", policy=Said(extra), object_id="apple_01")
    assert outcome.ok and outcome.evidence["policy"], outcome.message
