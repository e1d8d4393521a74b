"""examples/train_pixels.py: it reads the films of a recording, and a policy that is shown pictures is shown no more."""

from __future__ import annotations

import json
import sys
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="recording is an extra")
pytest.importorskip("av", reason="recording is an extra")
pytest.importorskip("onnxruntime", reason="local policies are an extra")
pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.model import PolicySpec
from worldfs.interfaces.cli.record_command import _size
from worldfs.plugins.benchmark import benchmark_methods, trial
from worldfs.plugins.benchmark.benchmark_methods import BenchmarkMethod
from worldfs.plugins.recording.episode import RecordingRecipe
from worldfs.plugins.recording.recording import record
from worldfs.policies.local import client
from worldfs.policies.policy_client import PolicyError
from worldfs.robots.mujoco.camera import CameraRenderer
from worldfs.robots.mujoco.gl import gl_status
from worldfs.skills.observation_mapping import ObservationMapping

ROOT = Path(__file__).resolve().parents[2]
SMALL = (64, 48)
CAMERAS = ("front", "wrist")


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(ROOT / "examples"))  # as for a script, beside which the other file lies
    spec = spec_from_file_location("train_pixels", ROOT / "examples/train_pixels.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(ROOT / "examples"))
    return module


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    if not gl_status().backend:
        pytest.skip("no OpenGL on this machine")
    place = tmp_path_factory.mktemp("recorded") / "set"
    recipe = RecordingRecipe(("pick",), objects=1, noise=0.0, cameras=CAMERAS, picture_size=SMALL)
    seen = {}
    record(place, recipe, 1, threading.Event(), lambda tally: seen.update(tally.last.pictures))
    return place, seen


@pytest.fixture(scope="module")
def policy(example, recorded, tmp_path_factory):
    """A file with the weights that a training begins with: it does nothing well."""
    shown = example.read([recorded[0]])
    file = tmp_path_factory.mktemp("policy") / "pixels.onnx"
    weights = example.drawn(example.shapes(CAMERAS, len(shown.vocabulary)), 0)
    normal = shown.own.mean(0), np.maximum(shown.own.std(0), 0.03)
    file.write_bytes(example.exported(weights, shown, normal, example.described(file, shown)))
    return file, shown


def test_a_recording_in_a_small_size_is_read_back_with_its_pictures(example, recorded):
    place, seen = recorded
    shown = example.read([place])
    info = json.loads((place / "meta/info.json").read_text())
    assert info["features"]["observation.images.wrist"]["shape"] == [48, 64, 3]
    assert shown.size == SMALL and shown.episodes == 1 and len(shown.vocabulary) == 1
    assert shown.wanted.shape == (len(shown.own), example.CHUNK * 7)
    assert np.array_equal(shown.wanted[:-1, 7:14], shown.wanted[1:, :7]), "a chunk is what was done next"
    for camera in CAMERAS:
        taken = np.stack([sys.modules["film_demonstrations"].pooled(picture) for picture in seen[camera]]).astype(int)
        assert shown.pictures[camera].shape == (len(shown.own), 24, 32, 3)
        own, other = (np.abs(shown.pictures[camera] - frames).mean() for frames in (taken, taken[::-1]))
        assert own < other / 2, "the film of another camera, or its frames in another order"


def test_the_place_that_a_training_is_told_is_where_the_picture_shows_the_thing(example, recorded):
    shown = example.read([recorded[0]], ["wrist"])
    assert list(shown.pictures) == ["wrist"]
    places = example.in_wrist_picture(shown.own, shown.thing)
    picture, (x, y) = shown.pictures["wrist"][0].astype(int), places[0]
    height, width = picture.shape[:2]
    red, green, blue = picture[round((y + 1) / 2 * (height - 1)), round((x + 1) / 2 * (width - 1))]
    assert red > 1.5 * max(green, blue), "the apple is there"
    redder = picture[..., 0] > 1.5 * picture[..., 1:].max(2)
    assert redder.mean() < 0.1, "and hardly anything else is red"


def test_a_policy_of_pictures_is_shown_its_cameras_and_its_own_body_and_nothing_else(policy, monkeypatch):
    file, shown = policy
    asked = []
    real = benchmark_methods.BenchmarkMethod.ready

    def ready(method, clock):
        runtime, local = real(method, clock)
        infer = local.infer
        local.infer = lambda seen, words, timeout: asked.append((seen, words)) or infer(seen, words, timeout)
        return runtime, local

    monkeypatch.setattr(benchmark_methods.BenchmarkMethod, "ready", ready)
    monkeypatch.setattr(benchmark_methods, "STEPS", 8)
    monkeypatch.setattr(benchmark_methods.TrialGoal, "words", lambda goal, scene: shown.vocabulary[0])
    done = trial.run(trial.Trial(BenchmarkMethod("mine", str(file)), "pick", 1))
    assert not done.ok and "MAX_STEPS_EXCEEDED" in done.why
    for seen, _ in asked:
        assert seen.keys() == {"rgb.front", "rgb.wrist", "ee_pose", "gripper"}
        assert {seen[f"rgb.{camera}"].shape for camera in CAMERAS} == {(48, 64, 3)}
    first, second = asked[0][0], asked[1][0]
    assert np.ptp(first["rgb.wrist"]) > 50 and not np.array_equal(first["rgb.wrist"], second["rgb.wrist"])
    source = ObservationMapping(PolicySpec("local"), dict.fromkeys(first)).source(first, real=False)
    assert source == "camera"


def test_a_camera_that_shows_black_moves_nothing(policy, monkeypatch):
    file, shown = policy
    real = CameraRenderer._draw

    def black(self, *given):
        rgb, depth = real(self, *given)
        return np.zeros_like(rgb), depth

    monkeypatch.setattr(CameraRenderer, "_draw", black)
    monkeypatch.setattr(benchmark_methods.TrialGoal, "words", lambda goal, scene: shown.vocabulary[0])
    done = trial.run(trial.Trial(BenchmarkMethod("mine", str(file)), "pick", 1))
    assert not done.ok and "POLICY_PROTOCOL" in done.why and done.sim_s < 1.0


def seen_by(shown) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    pictures = {f"rgb.{camera}": rng.integers(0, 255, (48, 64, 3)).astype(np.uint8) for camera in CAMERAS}
    return {**pictures, "ee_pose": shown.own[0, :7], "gripper": shown.own[0, 7:]}


def test_what_it_cannot_know_is_refused_and_not_guessed(policy):
    file, shown = policy
    local = client(PolicySpec("local", checkpoint=str(file)), SystemClock())
    words, seen = shown.vocabulary[0], seen_by(shown)
    assert local.infer(seen, words, 5.0).actions.shape == (4, 7)
    grey = {**seen, "rgb.wrist": np.full((48, 64, 3), 127, np.uint8)}
    for given, said, code in (
        (grey, words, "POLICY_PROTOCOL"), (seen, "tidy up", "POLICY_PROTOCOL"),
        ({name: value for name, value in seen.items() if name != "rgb.front"}, words, "POLICY_CLIENT"),
    ):  # fmt: skip
        with pytest.raises(PolicyError) as refused:
            local.infer(given, said, 5.0)
        assert refused.value.code == code


def test_a_picture_is_made_as_large_as_the_file_says(policy):
    file, _ = policy
    local = client(PolicySpec("local", checkpoint=str(file)), SystemClock())
    info = local.connect(1.0)
    assert info.picture_sizes == {"rgb.front": (48, 64), "rgb.wrist": (48, 64)}
    large = {name: np.zeros((480, 640, 3), np.uint8) for name in info.picture_sizes}
    mapping = ObservationMapping(local.spec, dict.fromkeys(large), info.picture_sizes)
    assert {picture.shape for picture in mapping(large).values()} == {(48, 64, 3)}


def test_a_size_that_no_camera_has_is_refused_and_an_old_recording_goes_on():
    assert _size("256x192") == (256, 192)
    for text in ("256", "x", "-1x2", "1.5x2"):
        with pytest.raises(BadInput, match="WIDTHxHEIGHT"):
            _size(text)
    for size in ((800, 600), (640, 4)):
        with pytest.raises(BadInput):
            RecordingRecipe(picture_size=size)
    assert "picture_size" not in RecordingRecipe().as_json()
    assert RecordingRecipe(picture_size=SMALL).as_json()["picture_size"] == [64, 48]
