"""From what a policy gives to what a target accepts."""

import numpy as np
import pytest

from worldfs.robots.targets.target_adapter import ActionSpec
from worldfs.skills.action_conversion import NoConversion, choose_conversion
from worldfs.skills.quaternions import axis_angle, inverse, multiply, quaternion

HOME = np.array([0.4, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0])
SEEN = {"ee_pose": HOME, "joint_states": np.zeros(2)}
DELTA = ActionSpec("ee_delta", (7,), np.full(7, -0.05), np.full(7, 0.05), 10.0)
POSE = ActionSpec("ee_pose", (8,), control_hz=10.0)
JOINTS = ActionSpec("joint_position", (3,), control_hz=10.0)
SPEED = ActionSpec("joint_velocity", (3,), control_hz=10.0)


def made(given, dim, *specs, **said):
    return choose_conversion(given, dim, specs, SEEN, said)


def test_the_same_representation_passes_as_it_is():
    action = np.arange(7) / 10
    np.testing.assert_allclose(made("ee_delta", 7, POSE, DELTA)(action, SEEN), action)


def test_a_base_has_no_gripper_and_its_three_numbers_pass_as_they_are():
    base = ActionSpec("base_velocity", (3,), control_hz=10.0)
    action = np.array([0.3, -0.1, 0.7])
    np.testing.assert_allclose(made("base_velocity", 3, base)(action, SEEN), action)
    np.testing.assert_allclose(made("", 3, base, binary_gripper=True)(action, SEEN), action)


def test_numbers_without_a_name_are_what_alone_has_so_many():
    assert made("", 7, DELTA, JOINTS).source == "ee_delta"
    assert made("", 3, DELTA, JOINTS).source == "joint_position"
    with pytest.raises(
        NoConversion, match="3 numbers without a representation; the target accepts joint_position of 3"
    ):
        made("", 3, JOINTS, SPEED)


def test_changes_of_the_hand_add_up_over_a_chunk_and_begin_anew_with_the_next():
    over = made("ee_delta", 7, POSE)
    step = np.array([0.01, 0, 0, 0, 0, np.pi / 2, 1.0])
    over.begin()
    first, second = over(step, SEEN), over(step, SEEN)
    np.testing.assert_allclose(first[:3], [0.41, 0, 0.3])
    np.testing.assert_allclose(second[:3], [0.42, 0, 0.3])
    np.testing.assert_allclose(axis_angle(second[3:7]), [0, 0, np.pi], atol=1e-9)
    assert first[7] == 1.0 and over(np.array([0, 0, 0, 0, 0, 0, -1.0]), SEEN)[7] == 0.0
    over.begin()
    np.testing.assert_allclose(over(step, SEEN)[:3], [0.41, 0, 0.3])


def test_a_pose_becomes_the_way_there_cut_with_its_direction_kept():
    over = made("ee_pose", 8, DELTA)
    goal = np.array([0.5, 0.2, 0.3, *quaternion(np.array([0, 0, 0.02])), 1.0])
    way = over(goal, SEEN)
    np.testing.assert_allclose(way, [0.025, 0.05, 0, 0, 0, 0.02, 1.0], atol=1e-9)


def test_an_axis_that_the_target_does_not_have_hinders_no_cut_of_the_others():
    """No change along a locked axis is no number divided by nothing: the other axes keep their limit."""
    high = np.array([0.05, 0.05, 0.0, 0.2, 0.2, 0.2, 1.0])
    locked = ActionSpec("ee_delta", (7,), -high, high)
    goal = np.array([1.4, 0.0, 0.3, *quaternion(np.zeros(3)), 1.0])
    np.testing.assert_allclose(made("ee_pose", 8, locked)(goal, SEEN)[:3], [0.05, 0, 0], atol=1e-9)


def test_speeds_of_joints_become_positions_and_back():
    over = made("joint_velocity", 3, JOINTS)
    over.begin()
    over(np.array([1.0, -1.0, 0.5]), SEEN)
    np.testing.assert_allclose(over(np.array([1.0, -1.0, 0.5]), SEEN), [0.2, -0.2, 0.5])
    np.testing.assert_allclose(made("joint_position", 3, SPEED)(np.array([0.1, 0.0, 1.0]), SEEN), [1.0, 0.0, 1.0])


def test_grippers_mean_what_the_skill_says():
    openvla = made("ee_delta", 7, DELTA, gripper={"closed": 0.0, "open": 1.0})
    libero = made("ee_delta", 7, DELTA, gripper={"closed": 1.0, "open": -1.0})
    half = made("ee_delta", 7, DELTA, binary_gripper=True, clip=True)
    for given, first, second, third in ((0.0, -1.0, 0.0, 1.0), (1.0, 1.0, -1.0, 1.0), (-0.1, -1.2, 0.1, -1.0)):
        action = np.array([2.0, 0, 0, 0, 0, 0, given])
        assert openvla(action, SEEN)[-1] == pytest.approx(first)
        assert libero(action, SEEN)[-1] == pytest.approx(second)
        assert half(action, SEEN)[-1] == third and half(action, SEEN)[0] == 1.0
    with pytest.raises(NoConversion, match="closed and open"):
        made("ee_delta", 7, DELTA, gripper={"closed": 1, "open": 1})


@pytest.mark.parametrize(
    ("given", "dim", "specs"),
    [
        ("ee_delta", 7, (JOINTS, SPEED)),
        ("joint_position", 3, (DELTA, POSE)),
        ("ee_delta", 6, (DELTA,)),
        ("joint_position", 8, (JOINTS,)),
        ("flying", 7, (DELTA,)),
        ("ee_delta", 7, ()),
    ],
)
def test_what_has_no_bridge_says_what_is_accepted(given, dim, specs):
    with pytest.raises(NoConversion) as refused:
        made(given, dim, *specs)
    for spec in specs if given != "flying" else ():
        assert f"{spec.representation} of {spec.shape[0]}" in str(refused.value)


def test_what_a_bridge_needs_must_be_seen():
    with pytest.raises(NoConversion):
        choose_conversion("ee_delta", 7, (POSE,), {}, {})


def test_an_action_of_another_size_later_is_refused():
    with pytest.raises(NoConversion, match="5 numbers"):
        made("ee_delta", 7, DELTA)(np.zeros(5), SEEN)


def test_rotations_turn_there_and_back():
    rng = np.random.default_rng(0)
    for _ in range(50):
        rotation = rng.normal(size=3)
        rotation *= rng.uniform(0, np.pi) / np.linalg.norm(rotation)
        turned = quaternion(rotation)
        np.testing.assert_allclose(axis_angle(turned), rotation, atol=1e-9)
        np.testing.assert_allclose(axis_angle(-turned), rotation, atol=1e-9)
        np.testing.assert_allclose(multiply(turned, inverse(turned)), [1, 0, 0, 0], atol=1e-12)


def test_an_action_of_another_size_than_its_kind_has_is_refused_with_the_size_and_not_with_what_fits() -> None:
    three = ActionSpec("ee_delta", (3,), -np.ones(3), np.ones(3), 20.0)
    with pytest.raises(NoConversion, match=r"ee_delta of 3 numbers; expected 7: .*rotation vector"):
        choose_conversion("ee_delta", 3, (three,), SEEN, {})
