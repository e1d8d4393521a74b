"""An arm led by hand: the leader's joints pass the follower's limits, and what is wrong with a leader is said."""

import os
import subprocess
import sys

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.plugins.teleoperation.device_scan import user_of
from worldfs.plugins.teleoperation.leader_arm import LeaderArm, client
from worldfs.policies.policy_client import PolicyError
from worldfs.sessions.plugins import POLICIES

from .conftest import let_pass


@pytest.fixture
def hand(timed):
    """The leader's simulated arm: a person sets its joints."""
    with timed.Plant("servo", (0.0,) * 5) as plant:
        yield plant


def leader(port: str, **more: object) -> LeaderArm:
    settings = {"type": "so101_leader", "port": port, "id": "hand"}
    return client(PolicySpec("leader", extra={"teleoperator": settings, "units": "degrees", **more}), SystemClock())


def held(hand, joints: tuple[float, ...], opening: float) -> None:
    hand.q[:], hand.goal[:], hand.opening, hand.asked = joints, joints, opening, opening


def refused(made: LeaderArm) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        made.connect(1.0)
    return caught.value


def test_the_follower_goes_where_the_leader_is_held_and_no_faster_than_it_may(take, hand):
    target, plant = take("lerobot", {"safety": {"joint_speed": 1.0}})
    arm = leader(hand.address)
    info = arm.connect(1.0)
    assert (info.representation, info.action_dim, info.name) == ("joint_position", 6, "so101_leader")
    held(hand, (0.4, -0.3, 0.2, 0.0, 9.0), 0.25)  # the last is past the follower's limit
    words: set[str] = set()
    for _ in range(120):
        words |= set(target.step(arm.infer({}, "", 1.0).actions[0], "joint_position").clamped)
        let_pass(target, 0.05)
    assert plant.q[:4] == pytest.approx([0.4, -0.3, 0.2, 0.0], abs=0.02) and plant.q[4] <= target.limits.joint_high[4]
    assert {"joint speed", "joint limit wrist_roll"} <= words
    told = np.array(plant.told)
    assert np.abs(np.diff(told, axis=0)).max() <= 1.0 / 20 + 1e-6
    assert plant.opening == pytest.approx(0.25, abs=0.02)
    arm.close()


def test_joints_are_given_in_the_followers_order(hand):
    arm = leader(hand.address, joints=["wrist_roll", "shoulder_pan"])
    held(hand, (0.1, 0.2, 0.3, 0.4, 0.5), 1.0)
    assert arm.infer({}, "", 1.0).actions[0] == pytest.approx([0.5, 0.1, 1.0], abs=1e-6)
    arm.close()


@pytest.mark.parametrize("joints", [["elbow"], ["wrist_roll", "wrist_roll"], "wrist_roll"])
def test_joints_that_it_has_not_are_named(hand, joints):
    error = refused(leader(hand.address, joints=joints))
    assert error.path == "SKILLS.md policy_client.joints" and "wrist_flex" in error.expected


def test_what_is_wrong_with_a_leader_is_said_with_the_fix(timed, hand):
    assert "lerobot-find-port" in refused(leader("127.0.0.1:1")).fix
    hand.calibrated = False
    assert refused(leader(hand.address)).fix.startswith("lerobot-calibrate --teleop.type=so101_leader")
    with pytest.raises(PolicyError) as caught:
        client(PolicySpec("leader"), SystemClock())
    assert caught.value.path == "SKILLS.md policy_client.teleoperator"
    octopus = PolicySpec("leader", extra={"teleoperator": {"type": "octopus"}})
    assert "so101_leader" in refused(client(octopus, SystemClock())).expected


def test_a_leader_that_is_gone_in_the_middle_is_an_error_and_no_motion(hand):
    arm = leader(hand.address)
    arm.connect(1.0)

    def cut(said):
        raise ConnectionResetError("the wire was cut")

    hand.lie = cut
    with pytest.raises(PolicyError) as caught:
        arm.infer({}, "", 1.0)
    assert caught.value.code == "POLICY_CONNECTION"


def test_skills_find_it_by_its_type():
    assert POLICIES["leader"] is client


def test_a_port_that_another_process_has_open_is_known(tmp_path):
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    os.close(theirs)
    code = f"import os; os.open({name!r}, os.O_RDWR); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "open\n"
        assert user_of(name) == other.pid
        other.communicate("\n")
    assert user_of(name) == 0
    os.close(ours)
