"""The table as an environment and as a target: Gymnasium's own checker, limits that bite, success that is measured."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
gymnasium = pytest.importorskip("gymnasium", reason="the simulation is an extra")

from gymnasium.utils.env_checker import check_env  # noqa: E402  # after the question whether it is there

from worldfs.base.clock import SystemClock  # noqa: E402  # same
from worldfs.base.driver import PluginContext  # noqa: E402  # same
from worldfs.base.errors import BadInput, MissingRequirement  # noqa: E402  # same
from worldfs.base.model import CameraSpec, Target  # noqa: E402  # same
from worldfs.robots.mujoco import panda  # noqa: E402  # same
from worldfs.robots.mujoco.env import ID, REPRESENTATIONS, TabletopEnv, register  # noqa: E402  # same
from worldfs.robots.targets.sim_target import adapter  # noqa: E402  # same
from worldfs.robots.targets.target_adapter import ACTIONS  # noqa: E402  # same


def target(**more):
    config = more.pop("config", {})
    return Target("sim", "sim", adapter="SimTargetAdapter", config={"seed": 3, "objects": 3, **config}, **more)


@pytest.fixture
def table():
    made = adapter(target(backend="mujoco"), PluginContext(SystemClock()))
    made.open()
    yield made
    made.close()


@pytest.mark.slice(3)
@pytest.mark.parametrize("representation", sorted(REPRESENTATIONS))
def test_gymnasiums_own_checker_has_nothing_to_say(representation):
    register()
    env = gymnasium.make(ID, representation=representation)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Box observation space.*")  # positions have no natural bound
        warnings.filterwarnings("ignore", message=".*not in.*the range.*|.*symmetric.*|.*normalized.*")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_the_same_seed_and_actions_give_the_same_world():
    def run():
        env = TabletopEnv("pick")
        env.reset(seed=11)
        rng = np.random.default_rng(0)
        seen = [env.step(rng.uniform(-0.02, 0.02, 7).astype(np.float32))[0] for _ in range(20)]
        env.close()
        return np.concatenate([value.ravel() for value in seen[-1].values()])

    assert np.array_equal(run(), run())


def test_a_hand_led_by_small_motions_picks_a_thing_and_the_predicate_says_so(table):
    look = table.reset(options={"task": "pick", "thing": "apple_01"})
    done = False
    for step in range(200):
        off = look["object_position"] - look["ee_pose"][:3]
        above = np.array([0, 0, 0.12 if step < 60 else 0.0])
        lead = (off + above) * 0.3 if step < 110 else np.array([0, 0, 0.01 if step >= 130 else 0.0])
        result = table.step(np.array([*np.clip(lead, -0.03, 0.03), 0, 0, 0, 1 if step < 110 else -1]), "ee_delta")
        assert result.success is result.terminated
        look, done = result.observation, result.success
        if done:
            break
    assert done and table.env.body.arm.rig.held() == "apple_01"


def test_no_motion_is_faster_than_the_data_sheet_and_the_target_says_what_it_changed(table):
    table.reset()
    far = np.array([*np.full(7, 2.0), 1.0])
    before = table.observe()["joint_states"]
    result = table.step(far, "joint_position")
    assert "joint speed" in result.clamped
    moved = np.abs(table.env._command - before)
    assert np.all(moved <= np.array(panda.SPEED) / 20 + 1e-9)
    for _ in range(60):
        result = table.step(np.array([0.0, 0, -0.5, 0, 0, 0, 1]), "ee_delta")
    assert "step" in result.clamped and np.isfinite(table.observe()["joint_states"]).all()
    low, high = np.array(panda.LIMITS).T
    assert np.all(table.observe()["joint_states"] > low - 0.05) and np.all(
        table.observe()["joint_states"] < high + 0.05
    )


@pytest.mark.parametrize("action", [np.zeros(3), np.full(7, np.nan), np.zeros((2, 7)), np.full(7, np.inf)])
def test_an_action_that_is_none_is_refused(table, action):
    table.reset()
    with pytest.raises(BadInput, match="finite numbers"):
        table.step(action, "ee_delta")


def test_a_stopped_target_holds_still_until_it_is_reset(table):
    table.reset()
    table.stop()
    before = table.observe()["joint_states"]
    for _ in range(10):
        assert table.step(np.array([0.03, 0, 0, 0, 0, 0, 1.0]), "ee_delta").clamped == ("stopped",)
    assert np.allclose(table.observe()["joint_states"], before, atol=0.02)
    table.reset()
    assert "stopped" not in table.step(np.array([0.03, 0, 0, 0, 0, 0, 1.0]), "ee_delta").clamped


def test_what_it_accepts_and_shows_is_what_the_ports_words_say(table):
    assert {spec.representation for spec in table.actions()} <= set(ACTIONS)
    shown = table.observe()
    for name, (shape, kind) in table.observations().items():
        assert shown[name].shape == shape and str(shown[name].dtype) == kind


def test_pictures_are_there_where_cameras_are_declared_and_the_machine_can_draw():
    from worldfs.base.model import CameraSpec
    from worldfs.robots.mujoco.gl import gl_status

    if not gl_status().backend:
        pytest.skip("no OpenGL on this machine")
    made = adapter(target(cameras=(CameraSpec("front"), CameraSpec("wrist"))), PluginContext(SystemClock()))
    made.open()
    try:
        assert {"rgb_camera", "depth_camera", "joint_states"} <= made.sensors()
        look = made.observe()
        assert look["rgb.front"].shape == (480, 640, 3) and look["rgb.front"].std() > 1
        assert look["depth.wrist"].dtype == np.float32
    finally:
        made.close()


def test_a_target_without_cameras_has_no_pictures(table):
    assert table.sensors() == {"joint_states"}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"config": {"control_hz": 0}}, "control_hz"), ({"config": {"objects": 200}}, "objects"),
        ({"config": {"scene_xml": __file__}}, "scene_xml"), ({"backend": "unreal"}, "backend"),
        ({"config": {"scene_xml": "/no/such.xml"}}, "scene_xml"), ({"config": {"control_mode": "torque"}}, "mode"),
        ({"obs_format": "isaac"}, "obs_format"), ({"cameras": (CameraSpec("overhead"),)}, "cameras[0].name"),
        ({"cameras": (CameraSpec("front", (1280, 720)),)}, "cameras[0].resolution"),
    ],
)  # fmt: skip
def test_what_it_cannot_be_is_said_with_the_member_that_asks_for_it(bad, words):
    with pytest.raises((BadInput, MissingRequirement)) as caught:
        adapter(target(**bad), PluginContext(SystemClock())).open()
    assert words in caught.value.path


def test_a_control_mode_is_the_only_kind_of_action_that_is_taken():
    made = adapter(target(config={"control_mode": "joint_position"}), PluginContext(SystemClock()))
    made.open()
    try:
        assert [spec.representation for spec in made.actions()] == ["joint_position"]
        with pytest.raises(BadInput, match="joint_position"):
            made.step(np.zeros(7), "ee_delta")
        made.step(np.append(made.observe()["joint_states"], 1.0), "joint_position")
    finally:
        made.close()


def test_a_camera_gives_as_many_pictures_a_second_as_it_is_declared_with():
    cameras = (CameraSpec("front", fps=5.0), CameraSpec("wrist", fps=30.0))
    made = adapter(target(cameras=cameras, config={"control_hz": 20}), PluginContext(SystemClock()))
    made.open()
    try:
        if "rgb_camera" not in made.sensors():
            pytest.skip("no OpenGL here")
        slow, fast = [], []
        for _ in range(8):
            look = made.step(np.array([0.03, 0, 0, 0, 0, 0, 1]), "ee_delta").observation
            slow.append(look["rgb.front"].tobytes())
            fast.append(look["rgb.wrist"].tobytes())
        assert len(set(slow)) in (2, 3) and len(set(fast)) >= 7  # 0.4 s of the world's time
    finally:
        made.close()


def test_any_registered_environment_is_a_target():
    made = adapter(target(backend="gymnasium", config={"env_id": "CartPole-v1"}), PluginContext(SystemClock()))
    made.open()
    try:
        assert made.observations() == {"state": ((4,), "float32")}
        steps = 0
        while not made.step(np.zeros(1), "raw").terminated:
            steps += 1
        assert 3 < steps < 100
        assert made.scene().robots[0].extra == {"environment": "CartPole-v1"}
    finally:
        made.close()


def test_an_environment_that_nobody_registered_is_named():
    with pytest.raises(BadInput, match="Nowhere"):
        adapter(target(backend="gymnasium", config={"env_id": "Nowhere-v0"}), PluginContext(SystemClock())).open()


def test_the_declaration_may_say_what_the_target_is_for():
    made = adapter(target(config={"task": "stack", "thing": "cube_01"}), PluginContext(SystemClock()))
    made.open()
    try:
        assert made.env.goal[:2] == ("stack", "cube_01")
        made.reset(options={"thing": "apple_01"})
        assert made.env.goal[:2] == ("stack", "apple_01")
    finally:
        made.close()
