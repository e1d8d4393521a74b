"""`policy_client: local` on a directory as OpenVLA's are published: a tiny one, with random weights, by transformers.

The model code in it is ours; it has the interface that OpenVLA's has (`predict_action`, `norm_stats`, a processor).
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.policies.local import client
from worldfs.policies.policy_client import PolicyError

from .test_robot_libraries import ROOT

pytestmark = pytest.mark.proof
PYTHON = ROOT / "build/openvla/bin/python"
CONFIGURATION = """
from transformers import PretrainedConfig
class OpenVLAConfig(PretrainedConfig):
    model_type = "openvla"
    def __init__(self, norm_stats=None, **more):
        self.norm_stats = norm_stats or {}
        super().__init__(**more)
"""
MODELING = """
import numpy as np, torch
from torch import nn
from transformers import PreTrainedModel
from .configuration_tiny import OpenVLAConfig
class TinyForActionPrediction(PreTrainedModel):
    config_class = OpenVLAConfig
    def __init__(self, config):
        super().__init__(config)
        self.norm_stats, self.words, self.head = config.norm_stats, nn.Embedding(256, 8), nn.Linear(8 + 3, 7)
        self.post_init()
    def _init_weights(self, module):
        pass
    def predict_action(self, input_ids=None, unnorm_key=None, do_sample=True, pixel_values=None, **more):
        assert do_sample is False
        seen = torch.cat([self.words(input_ids).mean(1), pixel_values.mean((2, 3))], dim=1)
        found = torch.tanh(self.head(seen))[0].float().cpu().numpy()
        stats = self.norm_stats[unnorm_key]["action"]
        low, high, mask = (np.array(stats[name]) for name in ("q01", "q99", "mask"))
        return np.where(mask, 0.5 * (found + 1) * (high - low) + low, (found > 0).astype(float))
"""
PROCESSING = """
import numpy as np, torch
from transformers import BatchFeature, ProcessorMixin
class TinyProcessor(ProcessorMixin):
    attributes = []
    def __init__(self, **more):
        super().__init__()
    def __call__(self, text, image, **more):
        ids = torch.tensor([[ord(letter) % 256 for letter in text]])
        pixels = torch.tensor(np.asarray(image)).permute(2, 0, 1)[None].float() / 255
        return BatchFeature({"input_ids": ids, "pixel_values": pixels})
"""
MAKE = """
import sys; from pathlib import Path
sys.path.insert(0, sys.argv[1]); path = Path(sys.argv[1])
import torch; torch.manual_seed(0)
sys.path.insert(0, str(path.parent))
import importlib
module = importlib.import_module(path.name + ".modeling_tiny")
action = {"q01": [-0.02] * 7, "q99": [0.02] * 7, "mask": [True] * 6 + [False]}
stats = {name: {"action": action} for name in sys.argv[2:]}
config = module.OpenVLAConfig(norm_stats=stats)
config.auto_map = {"AutoConfig": "configuration_tiny.OpenVLAConfig",
                   "AutoModelForVision2Seq": "modeling_tiny.TinyForActionPrediction"}
module.TinyForActionPrediction(config).save_pretrained(path)
"""


@pytest.fixture(scope="module", autouse=True)
def environment():
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import transformers"], check=False).returncode:
        subprocess.run([sys.executable, "-m", "venv", PYTHON.parents[1]], check=True)
        wanted = ["torch==2.13.0", "transformers>=4.40,<5", "pillow"]
        done = subprocess.run(
            [PYTHON, "-m", "pip", "install", "-q", *wanted], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"transformers cannot be installed here: {done.stderr[-300:]}")


def directory(place, *keys):
    place.mkdir()
    for name, text in (("__init__", ""), ("configuration_tiny", CONFIGURATION), ("modeling_tiny", MODELING),
                       ("processing_tiny", PROCESSING)):  # fmt: skip
        (place / f"{name}.py").write_text(text)
    subprocess.run([PYTHON, "-c", MAKE, place, *keys], check=True)
    about = {"processor_class": "TinyProcessor", "auto_map": {"AutoProcessor": "processing_tiny.TinyProcessor"}}
    (place / "processor_config.json").write_text(json.dumps(about))
    (place / "preprocessor_config.json").write_text(json.dumps(about))
    assert json.loads((place / "config.json").read_text())["model_type"] == "openvla"
    return place


def local(path, **extra):
    spec = PolicySpec("local", checkpoint=str(path), extra={"python": str(PYTHON), **extra})
    return client(spec, SystemClock())


def test_a_picture_and_words_give_an_action_in_our_terms_and_the_same_twice(tmp_path):
    policy = local(directory(tmp_path / "tiny_vla", "bridge_orig"))
    try:
        info = policy.connect(300)
        assert (info.name, info.representation, info.action_dim, info.horizon) == ("openvla", "ee_delta", 7, 1)
        picture = np.random.default_rng(0).integers(0, 255, (32, 32, 3)).astype(np.uint8)
        seen = {"rgb.front": picture, "ee_pose": np.zeros(7)}
        one, again, other = (policy.infer(seen, words, 60).actions for words in ("Lift it.", "Lift it.", "drop"))
        assert one.shape == (1, 7) and np.array_equal(one, again) and not np.array_equal(one, other)
        assert np.abs(one[0, :6]).max() <= 0.02 and one[0, 6] in (-1.0, 1.0)
        with pytest.raises(PolicyError, match="one picture"):
            policy.infer({"rgb.left": picture, "rgb.right": picture}, "lift", 60)
    finally:
        policy.close()


def test_a_checkpoint_of_several_data_sets_asks_for_the_key(tmp_path):
    place = directory(tmp_path / "two_keys", "bridge_orig", "libero")
    with pytest.raises(PolicyError, match="bridge_orig, libero"):
        local(place).connect(300)
    chosen = local(place, unnorm_key="libero")
    try:
        assert chosen.connect(300).action_dim == 7
    finally:
        chosen.close()
