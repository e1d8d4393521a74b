"""What a policy is shown."""

import numpy as np
import pytest

from worldfs.drivers.policies.client import PolicyError
from worldfs.drivers.skills.shown import Shown, padded
from worldfs.drivers.skills.turning import quaternion
from worldfs.ground.model import PolicySpec

PICTURE = np.random.default_rng(2).integers(0, 255, (24, 32, 3), np.uint8)
TURN = np.array([0.1, -0.2, 0.3])
SEEN = {
    "rgb.front": PICTURE,
    "depth.front": np.ones((24, 32), np.float32),
    "ee_pose": np.array([0.4, 0.0, 0.3, *quaternion(TURN)]),
    "gripper": np.array([0.08]),
}


def show(wanted=None, **extra):
    return Shown(PolicySpec("http", "http://localhost:1/", "", extra), wanted)


def test_everything_is_shown_unless_somebody_says_what():
    assert show()(SEEN) == SEEN
    assert set(show({"gripper": ()})(SEEN)) == {"gripper"}


def test_names_are_theirs_and_several_of_ours_make_one():
    libero = show(
        observations={
            "rgb.front": "observation/image", "ee_position+ee_axis_angle+gripper": "observation/state",
        }
    )  # fmt: skip
    shown = libero(SEEN)
    assert set(shown) == {"observation/image", "observation/state"}
    np.testing.assert_allclose(shown["observation/state"], [0.4, 0, 0.3, *TURN, 0.08])


def test_pictures_are_turned_and_resized_with_black_beside():
    shown = show(image={"size": 16, "rotate180": True}, observations={"rgb.front": "image"})(SEEN)["image"]
    assert shown.shape == (16, 16, 3) and not shown[:2].any() and not shown[-2:].any() and shown[2:-2].any()
    turned = show(image={"rotate180": True}, observations={"rgb.front": "image"})(SEEN)["image"]
    np.testing.assert_array_equal(turned, PICTURE[::-1, ::-1])
    assert padded(PICTURE, 24, 32) is PICTURE
    tall = show(image={"size": [40, 20]})(SEEN)
    assert tall["rgb.front"].shape == (40, 20, 3) and tall["depth.front"].shape == (24, 32)


def test_what_nobody_has_is_named():
    wanting = show(observations={"rgb.wrist": "w", "ee_position+tactile": "s"})
    assert wanting.missing(SEEN) == ["rgb.wrist", "tactile"] and show().missing(SEEN) == []
    with pytest.raises(PolicyError, match=r"no rgb\.wrist") as refused:
        wanting(SEEN)
    assert refused.value.code == "POLICY_CLIENT" and "gripper" in refused.value.expected and refused.value.fix


@pytest.mark.parametrize(
    ("names", "real", "source"),
    [
        ({"rgb.front": "image", "joint_states": "state"}, False, "camera"),
        ({"rgb.front": "image", "object_position": "goal"}, False, "truth"),
        ({"ee_position+ee_axis_angle+gripper": "state", "depth.wrist": "d"}, False, "camera"),
        ({"joint_states+gripper": "state"}, False, "robot"),
        ({"joint_states": "state"}, True, "robot"),
        ({"rgb.wrist": "image", "state": "s"}, True, "camera"),
        ({"state": "s"}, False, "truth"),
        ({}, False, "truth"),
    ],
)
def test_what_a_policy_is_shown_names_its_source(names, real, source):
    have = dict.fromkeys(("rgb.front", "joint_states", "object_position"))
    assert show(observations=names).source(have, real=real) == source
