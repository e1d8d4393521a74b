"""Chains against the simulator's own arm, and against robot descriptions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.robots.mujoco import panda
from worldfs.robots.targets.kinematics import (
    Chain,
    from_dh,
    from_urdf,
    of_quaternion,
    of_vector,
    quaternion,
    rotation_vector,
)

LOW, HIGH = np.array(panda.LIMITS).T
TOOL = np.eye(4)
TOOL[:2, :2] = [[math.cos(-math.pi / 4), math.sin(math.pi / 4)], [-math.sin(math.pi / 4), math.cos(math.pi / 4)]]
TOOL[2, 3] = panda.FLANGE + panda.TCP
ARM = from_dh(list(zip(panda.DH_A, panda.DH_D, panda.DH_ALPHA, strict=True)), TOOL)
ANGLES = st.tuples(*(st.floats(low, high) for low, high in panda.LIMITS)).map(np.array)
URDF = """<robot name="two">
  <link name="base"/><link name="a"/><link name="b"/><link name="tool"/>
  <joint name="lift" type="revolute"><parent link="base"/><child link="a"/>
    <origin xyz="0 0 0.1" rpy="0 0 1.5707963"/><axis xyz="0 0 1"/></joint>
  <joint name="bend" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0.2 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="end" type="fixed"><parent link="b"/><child link="tool"/><origin xyz="0.3 0 0"/></joint>
</robot>"""


@given(ANGLES)
def test_the_chain_is_the_makers(q):
    assert np.allclose(ARM.forward(q), panda.forward(q), atol=1e-9)


@given(ANGLES)
def test_its_jacobian_is_the_difference_of_near_poses(q):
    tool, J = ARM.jacobian(q)
    for i in range(7):
        step = np.zeros(7)
        step[i] = 1e-6
        then = ARM.forward(q + step)
        assert np.allclose((then[:3, 3] - tool[:3, 3]) / 1e-6, J[:3, i], atol=1e-4)
        assert np.allclose(rotation_vector(then[:3, :3] @ tool[:3, :3].T) / 1e-6, J[3:, i], atol=1e-4)


@settings(deadline=None)
@given(ANGLES, st.tuples(*[st.floats(-0.02, 0.02)] * 3), st.tuples(*[st.floats(-0.05, 0.05)] * 3))
def test_a_pose_near_by_is_found_or_said_not_to_be(q, way, turned):
    wanted = ARM.forward(q)
    wanted[:3, 3] += way
    wanted[:3, :3] = of_vector(np.array(turned)) @ wanted[:3, :3]
    found = ARM.near(q, wanted, LOW, HIGH)
    if found is not None:
        assert (found >= LOW).all() and (found <= HIGH).all()
        assert np.allclose(ARM.forward(found)[:3, 3], wanted[:3, 3], atol=3e-4)


@given(st.tuples(*[st.floats(-3, 3)] * 3))
def test_quaternions_and_rotations_are_the_same_turn(vector):
    rotation = of_vector(np.array(vector))
    assert np.allclose(of_quaternion(np.array(quaternion(rotation))), rotation, atol=1e-9)
    assert np.allclose(of_vector(rotation_vector(rotation)), rotation, atol=1e-6)


def test_a_robot_description_is_read_as_it_is_meant():
    chain = from_urdf(URDF, ["lift", "bend"])
    assert isinstance(chain, Chain)
    # turned left by the origin: the arm points along y, 0.2 m of it to the bend, and the tool's link is not asked for
    assert np.allclose(chain.forward(np.zeros(2))[:3, 3], [0, 0.2, 0.1], atol=1e-6)
    tip = from_urdf(URDF, ["lift", "bend"], "tool")
    assert np.allclose(tip.forward(np.array([0, math.pi / 2]))[:3, 3], [0, 0.2, -0.2], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "joints", "says"),
    [
        ("<robot", ["lift"], "no XML"),
        (URDF, ["lift", "twist"], "no joint twist"),
        (URDF, ["bend"], "lift on the way"),
        (URDF, ["bend", "lift"], "bend on the way|chain"),
    ],
)
def test_a_description_that_is_no_chain_is_refused(text, joints, says):
    with pytest.raises(BadInput, match=says):
        from_urdf(text, joints)
