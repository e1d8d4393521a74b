"""Policies on this machine: ONNX here, what wants an environment of its own in a process of it."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import MissingRequirement
from worldfs.base.model import PolicySpec
from worldfs.policies.local import client
from worldfs.policies.onnx_write import OnnxGraph, model
from worldfs.policies.policy_client import PolicyError
from worldfs.testing.waiting import PATIENCE_S

from .peers import close_once

SAID = {
    "name": "two", "version": "3", "observations": {"ee_pose": {"shape": [7], "dtype": "float64"}},
    "action": {"representation": "ee_delta", "dim": 7, "horizon": 2},
}  # fmt: skip


def local(path: Path | str, **extra) -> object:
    return client(PolicySpec("local", checkpoint=str(path), extra=extra), SystemClock())


def onnx(path: Path, *, said: object = SAID, shape: tuple[int, ...] = (7,), dim: int = 7) -> Path:
    """actions (2, 7): the pose twice, times 2."""
    graph = OnnxGraph()
    row = graph.op("Reshape", "ee_pose", graph.constant(np.array([1, 7], np.int64)))
    both = graph.op("Concat", row, row, axis=0)
    graph.op("Mul", both, graph.constant(np.full(dim, 2, np.float32)[None, :]), gives="actions")
    about = {} if said is None else {"worldfs.policy": said if isinstance(said, str) else json.dumps(said)}
    path.write_bytes(model(graph, {"ee_pose": shape}, {"actions": (2, 7)}, about))
    return path


@pytest.fixture
def two(tmp_path):
    pytest.importorskip("onnxruntime", reason="local policies are an extra")
    return onnx(tmp_path / "two.onnx")


def test_an_onnx_file_says_what_it_is_and_answers(two):
    policy = local(two)
    info = policy.connect(PATIENCE_S)
    assert (info.name, info.version, info.representation, info.action_dim, info.horizon) == (
        "two", "3", "ee_delta", 7, 2
    )  # fmt: skip
    assert info.observations == {"ee_pose": ((7,), "float64")}
    pose = np.arange(7.0)
    chunk = policy.infer({"ee_pose": pose, "gripper": np.ones(1)}, "any", PATIENCE_S)
    assert chunk.actions.dtype == np.float32 and np.allclose(chunk.actions, [2 * pose] * 2)
    assert chunk.server_ms > 0
    policy.close()
    assert np.allclose(policy.infer({"ee_pose": pose}, "", PATIENCE_S).actions[0], 2 * pose)  # it comes back


def test_without_metadata_its_shapes_speak_and_a_batch_is_added(tmp_path):
    pytest.importorskip("onnxruntime", reason="local policies are an extra")
    policy = local(onnx(tmp_path / "plain.onnx", said=None, shape=(1, 7)))
    info = policy.connect(PATIENCE_S)
    assert info.observations == {"ee_pose": ((7,), "float32")} and (info.action_dim, info.horizon) == (7, 2)
    assert np.allclose(policy.infer({"ee_pose": np.ones(7)}, "", PATIENCE_S).actions, 2)


def test_the_skills_names_are_those_of_the_target(two):
    info = local(two, observations={"hand": "ee_pose"}, action={"representation": "ee_pose"}).connect(PATIENCE_S)
    assert list(info.observations) == ["hand"] and info.representation == "ee_pose"


@pytest.mark.parametrize(
    ("shown", "words"),
    [({"gripper": np.ones(1)}, "needs ee_pose"), ({"ee_pose": np.ones(6)}, "shape"), ({}, "needs ee_pose")],
)
def test_what_it_is_not_shown_or_shown_wrongly_is_named(two, shown, words):
    with pytest.raises(PolicyError, match=words) as caught:
        local(two).infer(shown, "", PATIENCE_S)
    assert caught.value.code == "POLICY_CLIENT"


def test_answers_that_are_no_actions_are_refused(tmp_path):
    pytest.importorskip("onnxruntime", reason="local policies are an extra")
    eight = {**SAID, "action": {"representation": "ee_pose", "dim": 8}}
    with pytest.raises(PolicyError, match="8") as caught:
        local(onnx(tmp_path / "eight.onnx", said=eight)).infer({"ee_pose": np.ones(7)}, "", PATIENCE_S)
    assert caught.value.code == "POLICY_PROTOCOL"
    with pytest.raises(PolicyError, match="NaN"):
        local(onnx(tmp_path / "nan.onnx")).infer({"ee_pose": np.full(7, np.nan)}, "", PATIENCE_S)


def test_a_model_that_never_ends_is_ended_by_the_clock(tmp_path):
    pytest.importorskip("onnxruntime", reason="local policies are an extra")
    graph = OnnxGraph()
    row = graph.op("Reshape", "ee_pose", graph.constant(np.array([1, 7], np.int64)))
    value = graph.op("Tile", row, graph.constant(np.array([700, 100], np.int64)))
    for _ in range(1000):  # some 20 ms each
        value = graph.op("Tanh", graph.op("MatMul", value, value))
    graph.op("MatMul", value, graph.constant(np.ones((700, 7), np.float32)), gives="actions")
    path = tmp_path / "slow.onnx"
    path.write_bytes(model(graph, {"ee_pose": (7,)}, {"actions": (700, 7)}, {}))
    policy = local(path)
    policy.connect(PATIENCE_S)
    with pytest.raises(PolicyError) as caught:
        policy.infer({"ee_pose": np.ones(7)}, "", 0.3)
    assert caught.value.code == "POLICY_TIMEOUT"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("gone.onnx", None, "no such checkpoint"), ("policy.pkl", b"x", "ending in .pkl"), ("torn.onnx", b"\x08\x08", "."),
     ("said.onnx", "metadata", "no JSON")],
)  # fmt: skip
def test_a_checkpoint_that_nobody_reads_is_told_with_what_could_be(tmp_path, name, content, words):
    pytest.importorskip("onnxruntime", reason="local policies are an extra")
    path = tmp_path / name
    if content == "metadata":
        onnx(path, said="{")
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyError, match=words) as caught:
        local(path).connect(PATIENCE_S)
    assert caught.value.path == str(path) and caught.value.expected and caught.value.code == "POLICY_CLIENT"


def test_a_directory_that_is_no_checkpoint_is_told(tmp_path):
    with pytest.raises(PolicyError, match=r"config\.json"):
        local(tmp_path)


# -- in a process of its own: our side of the line is real, the model behind it a stand-in -----------------------------

TORCH = '''
"""A stand-in for torch: enough for a scripted model that doubles what it sees."""
import contextlib, os, time
import numpy as np

class Tensor(np.ndarray):
    def unsqueeze(self, axis): return np.expand_dims(self, axis).view(Tensor)
    def detach(self): return self
    def cpu(self): return self
    def numpy(self): return np.asarray(self)

def from_numpy(array): return array.view(Tensor)
inference_mode = contextlib.nullcontext

class Model:
    def __init__(self, path): self.path, self.words, self.count = path, open(path).read().strip(), 0
    def eval(self): pass
    def reset(self): self.count = 0
    def hang(self):
        open(self.path + ".asked", "w").close()
        time.sleep(600)
    def __call__(self, *tensors):
        self.count += 1
        if self.words == "die": os._exit(3)
        if self.words == "sleep": self.hang()
        if self.words == "hold":  # what it leaves behind has its pipes open and is in no group of it
            import subprocess
            for fd in map(int, os.listdir("/proc/self/fd")):
                with contextlib.suppress(OSError): os.set_inheritable(fd, True)
            subprocess.Popen(["setsid", "sleep", "20"], close_fds=False)
            self.hang()
        if self.words == "raise": raise RuntimeError("sizes do not match")
        if self.words == "chatty": print("loading shards: 100%")
        if self.words == "environ": raise RuntimeError(" ".join(sorted(os.environ)))
        return np.concatenate([2 * tensors[0], np.full_like(tensors[0], self.count)])[None].view(Tensor)

class jit:
    @staticmethod
    def load(path, map_location, _extra_files):
        words = open(path).read().strip()
        if words == "slow": time.sleep(600)
        if words == "broken": raise ValueError("not a script module")
        _extra_files["worldfs.policy"] = SAID
        return Model(path)
'''
LEROBOT = {
    "lerobot/configs/policies.py": """
import json, types
class PreTrainedConfig:
    @staticmethod
    def from_pretrained(path):
        said = json.load(open(path + "/config.json"))
        feature = lambda shape: types.SimpleNamespace(shape=tuple(shape))
        wants = {name: feature(shape) for name, shape in said["input_features"].items()}
        return types.SimpleNamespace(type=said["type"], n_obs_steps=1, n_action_steps=5, input_features=wants,
                                     output_features={"action": feature([7])})
""",
    "lerobot/policies/factory.py": """
import numpy as np, torch
class Act:
    @staticmethod
    def from_pretrained(path, config): return Act()
    def eval(self): pass
    def reset(self): pass
    def predict_action_chunk(self, batch):
        state, picture = batch["observation.state"], batch["observation.images.front"]
        assert picture.shape == (1, 3, 4, 6) and 0 <= picture.min() and picture.max() <= 1, picture.shape
        return np.tile(state[:, None, :7], (1, 5, 1)).view(torch.Tensor)
get_policy_class = {"act": Act}.__getitem__
def make_pre_post_processors(*args, **kwargs): raise AssertionError("this checkpoint has none")
""",
}


@pytest.fixture
def python(tmp_path):
    """Another Python: ours, with a torch and a lerobot that stand in."""
    packages = tmp_path / "packages"
    for name, text in {"torch.py": f"SAID = {json.dumps(SAID)!r}\n{TORCH}", **LEROBOT}.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text)
        if "/" in name:
            (packages / "lerobot/__init__.py").touch()
            (packages / name).with_name("__init__.py").touch()
    return script(tmp_path / "python", f'PYTHONPATH="{packages}" exec "{sys.executable}" "$@"')


def script(path: Path, line: str) -> str:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def scripted(tmp_path: Path, words: str) -> Path:
    path = tmp_path / "model.pt"
    path.write_text(words)
    return path


def test_a_torchscript_file_is_asked_in_its_own_process(tmp_path, python):
    policy = local(scripted(tmp_path, "chatty"), python=python)
    try:
        info = policy.connect(PATIENCE_S)
        assert info.name == "two" and info.observations == {"ee_pose": ((7,), "float64")}
        pose = np.arange(7.0)
        for asked in (1, 2):
            actions = policy.infer(
                {"ee_pose": pose, "rgb.front": np.zeros((480, 640, 3), np.uint8)}, "", PATIENCE_S
            ).actions
            assert np.allclose(actions, [2 * pose, np.full(7, asked)])
        policy.reset()
        assert policy.infer({"ee_pose": pose}, "", PATIENCE_S).actions[1, 0] == 1
    finally:
        policy.close()


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    ("words", "seconds", "code", "told"),
    [("die", PATIENCE_S, "POLICY_CONNECTION", "ended"), ("sleep", 0.5, "POLICY_TIMEOUT", "0.5 s"),
     ("raise", PATIENCE_S, "POLICY_CLIENT", "sizes do not match")],
)  # fmt: skip
def test_a_process_that_fails_is_told_apart_and_the_next_one_is_fresh(tmp_path, python, words, seconds, code, told):
    path = scripted(tmp_path, words)
    policy = local(path, python=python)
    try:
        policy.connect(PATIENCE_S)
        with pytest.raises(PolicyError, match=told) as caught:
            policy.infer({"ee_pose": np.ones(7)}, "", seconds)
        assert caught.value.code == code
        path.write_text("well")
        if words != "raise":  # that one has its model still
            assert policy.infer({"ee_pose": np.ones(7)}, "", PATIENCE_S).actions.shape == (2, 7)
    finally:
        policy.close()


def test_loading_has_a_time_of_its_own(tmp_path, python):
    policy = local(scripted(tmp_path, "slow"), python=python, load_s=0.5)
    with pytest.raises(PolicyError, match=r"not loaded within 0\.5 s"):
        policy.connect(0.1)
    with pytest.raises(PolicyError, match="not a script module"):
        local(scripted(tmp_path, "broken"), python=python).connect(0.1)


@pytest.mark.slice(2)
@pytest.mark.parametrize("words", ["sleep", "hold"])
def test_closing_ends_what_waits_and_leaves_no_process(tmp_path, python, words):
    path = scripted(tmp_path, words)
    policy = local(path, python=python)
    policy.connect(PATIENCE_S)
    number = policy._process.pid
    closing = close_once(policy, path.with_name(f"{path.name}.asked").exists)
    with pytest.raises(PolicyError) as caught:
        policy.infer({"ee_pose": np.ones(7)}, "", 120.0)
    assert caught.value.code != "POLICY_TIMEOUT"
    closing.join()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_our_secrets_are_not_in_its_environment(tmp_path, python, monkeypatch):
    for name in ("PAOS_TOKEN", "OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD"):
        monkeypatch.setenv(name, "secret")
    policy = local(scripted(tmp_path, "environ"), python=python)
    try:
        with pytest.raises(PolicyError) as caught:
            policy.infer({"ee_pose": np.ones(7)}, "", PATIENCE_S)
        assert "HF_HUB_OFFLINE" in caught.value.found
        assert not {"PAOS_TOKEN", "OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD"} & set(caught.value.found.split())
    finally:
        policy.close()


def test_a_python_without_the_library_says_which_and_where(tmp_path):
    path = scripted(tmp_path, "well")
    (tmp_path / "hidden.py").write_text("import sys, runpy\nsys.modules['torch'] = None\nsys.argv = sys.argv[1:]\n"
                                        "runpy.run_path(sys.argv[0], run_name='__main__')\n")  # fmt: skip
    bare = script(tmp_path / "bare", f'exec "{sys.executable}" "{tmp_path}/hidden.py" "$@"')
    with pytest.raises(MissingRequirement, match="torch is not in") as caught:
        local(path, python=bare).connect(PATIENCE_S)
    assert "policy_client.python" in caught.value.fix
    with pytest.raises(MissingRequirement, match="no Python at"):
        local(path, python=str(tmp_path / "nowhere")).connect(PATIENCE_S)


@pytest.mark.parametrize("said", ["cat /dev/zero", "echo hello, I am no model", "printf '\\000\\000\\000\\002[]'"])
def test_a_process_that_speaks_otherwise_is_ended(tmp_path, said):
    policy = local(scripted(tmp_path, ""), python=script(tmp_path / "odd", said), max_bytes=1000)
    with pytest.raises(PolicyError) as caught:
        policy.connect(PATIENCE_S)
    assert caught.value.code in ("POLICY_PROTOCOL", "POLICY_CONNECTION", "POLICY_CLIENT")
    policy.close()


def test_a_lerobot_directory_is_shown_what_its_config_names(tmp_path, python):
    run = tmp_path / "outputs/last/pretrained_model"
    run.mkdir(parents=True)
    wants = {"observation.state": [8], "observation.images.front": [3, 4, 6]}
    (run / "config.json").write_text(json.dumps({"type": "act", "input_features": wants}))
    names = {"joint_states+gripper": "observation.state", "rgb.front": "observation.images.front"}
    policy = local(tmp_path / "outputs/last", python=python, observations=names, action="joint_position")
    try:
        info = policy.connect(PATIENCE_S)
        assert (info.name, info.action_dim, info.horizon, info.representation) == ("act", 7, 5, "joint_position")
        assert info.observations == {"rgb.front": ((0, 0, 3), "uint8")}
        shown = {"observation.state": np.arange(8.0), "observation.images.front": np.full((4, 6, 3), 255, np.uint8)}
        assert np.allclose(policy.infer(shown, "pick", PATIENCE_S).actions, [np.arange(7)] * 5)
        with pytest.raises(PolicyError, match=r"image\.size"):
            policy.infer({**shown, "observation.images.front": np.zeros((8, 8, 3), np.uint8)}, "", PATIENCE_S)
    finally:
        policy.close()
