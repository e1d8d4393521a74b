"""The model of the arm is the published arm."""

import mujoco
import numpy as np
import pytest

from worldfs.robots.mujoco import panda

BASE = (0.3, -0.2, 0.1)


@pytest.fixture
def arm():
    spec = mujoco.MjSpec()
    panda.add(spec, BASE, (1, 0, 0, 0))
    model = spec.compile()
    return model, mujoco.MjData(model)


def test_its_hand_is_where_the_published_chain_says(arm):
    model, data = arm
    rng = np.random.default_rng(4)
    low, high = np.array(panda.LIMITS).T
    for _ in range(100):
        data.qpos[: panda.ARM] = rng.uniform(low, high)
        mujoco.mj_kinematics(model, data)
        frame = panda.forward(data.qpos[: panda.ARM])
        site = data.site("tcp")
        assert np.abs(site.xpos - BASE - frame[:3, 3]).max() < 1e-6
        assert np.abs(site.xmat.reshape(3, 3) - frame[:3, :3]).max() < 1e-6


def test_the_straight_arm_has_the_published_height(arm):
    # all joints zero: 0.333 + 0.316 + 0.384 up, 0.107 + 0.1034 down again at 0.088 out
    frame = panda.forward(np.zeros(7))
    assert frame[:3, 3] == pytest.approx([0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107 - 0.1034])


def test_its_joints_stop_at_the_published_limits(arm):
    model, _ = arm
    assert np.allclose(model.jnt_range[: panda.ARM], panda.LIMITS)
    assert np.allclose(model.actuator_forcerange[: panda.ARM, 1], panda.TORQUE)


def test_it_weighs_what_was_identified(arm):
    model, _ = arm
    published = [0.629769, 4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522]
    found = [float(model.body(f"link{i}").mass[0]) for i in range(8)]
    assert found == pytest.approx(published)
    assert model.body("hand").mass[0] == pytest.approx(0.73)


def test_it_stands_free_of_itself_at_home(arm):
    model, data = arm
    data.qpos[: panda.ARM] = panda.HOME
    mujoco.mj_forward(model, data)
    assert data.ncon == 0
