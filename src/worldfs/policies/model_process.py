"""The other side of `process_policy`: a model in a process of its own. Run by a Python that has torch.

Nothing of worldfs is imported here. Messages are [4 bytes length][JSON][arrays as .npy]; what a library prints goes to
standard error.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
    del sys.path[0]  # modules beside this file have names of libraries

import io
import json
import struct
import time
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Model(Protocol):
    info: dict[str, object]

    def reset(self) -> None: ...

    def infer(self, arrays: dict[str, Array], words: str) -> Array: ...


def main(kind: str, path: str, settings: str = "{}") -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not spoil the line
    source = sys.stdin.buffer
    try:
        model = KINDS[kind](path, json.loads(settings))
        send(out, {"ok": True, "info": model.info})
    except ImportError as error:
        send(out, {"ok": False, "missing": error.name or str(error), "error": str(error)})
        return
    except Exception as error:  # whatever a library raises is reported, and this process ends
        send(out, {"ok": False, "error": f"{type(error).__name__}: {error}"})
        return
    while (request := receive(source)) is not None:
        head, arrays = request
        try:
            if head["op"] == "reset":
                model.reset()
                send(out, {"ok": True})
                continue
            began = time.perf_counter()
            actions = np.asarray(model.infer(arrays, str(head.get("words", ""))), dtype=np.float32)
            send(out, {"ok": True, "ms": 1000 * (time.perf_counter() - began)}, {"actions": actions})
        except Exception as error:  # the next question may fare better
            send(out, {"ok": False, "error": f"{type(error).__name__}: {error}"})


def send(out: BinaryIO, head: dict[str, object], arrays: dict[str, Array] | None = None) -> None:
    blobs = []
    for array in (arrays or {}).values():
        blob = io.BytesIO()
        np.save(blob, array, allow_pickle=False)
        blobs.append(blob.getvalue())
    header = json.dumps(
        {**head, "arrays": [[name, len(blob)] for name, blob in zip(arrays or {}, blobs, strict=True)]}
    ).encode()
    out.write(struct.pack(">I", len(header)) + header + b"".join(blobs))
    out.flush()


def receive(source: BinaryIO) -> tuple[dict[str, object], dict[str, Array]] | None:
    size = source.read(4)
    if len(size) < 4:
        return None
    head = json.loads(source.read(struct.unpack(">I", size)[0]))
    arrays = {name: np.load(io.BytesIO(source.read(length)), allow_pickle=False) for name, length in head["arrays"]}
    return head, arrays


class TorchScript:
    """`forward` takes the observations that the file's `worldfs.policy` names, in that order, with a batch of 1."""

    def __init__(self, path: str, settings: dict[str, object]) -> None:
        import torch

        header = {"worldfs.policy": ""}
        self._torch, self._model = torch, torch.jit.load(path, map_location="cpu", _extra_files=header)
        text = header["worldfs.policy"]
        self.info: dict[str, object] = json.loads(text) if text else {}
        described = self.info.get("observations")
        self._wanted = list(described) if isinstance(described, dict) else []
        self._model.eval()

    def reset(self) -> None:
        if hasattr(self._model, "reset"):
            self._model.reset()

    def infer(self, arrays: dict[str, Array], words: str) -> Array:
        names = list(self._wanted or arrays)
        absent = [name for name in names if name not in arrays]
        if absent:
            raise KeyError(f"it needs {', '.join(absent)}; the observation has {', '.join(sorted(arrays))}")
        tensors = [self._torch.from_numpy(_small(arrays[name])).unsqueeze(0) for name in names]
        with self._torch.inference_mode():
            found = self._model(*tensors)
        actions: Array = found.detach().cpu().numpy()
        return _first(actions)


class LeRobotCheckpoint:
    """A checkpoint directory as LeRobot saves it; observations under LeRobot's names, pictures (H, W, 3) uint8."""

    def __init__(self, path: str, settings: dict[str, object]) -> None:
        import torch
        from lerobot.configs.policies import PreTrainedConfig
        from lerobot.policies.factory import get_policy_class, make_pre_post_processors

        self._torch = torch
        config = PreTrainedConfig.from_pretrained(path)
        config.device = "cpu"
        self._policy = get_policy_class(config.type).from_pretrained(path, config=config)
        self._policy.eval()
        self._before = self._after = None
        if os.path.exists(os.path.join(path, "policy_preprocessor.json")):
            self._before, self._after = make_pre_post_processors(
                config, path, preprocessor_overrides={"device_processor": {"device": "cpu"}}
            )
        self._one_step = getattr(config, "n_obs_steps", 1) > 1  # it keeps past observations: called step by step
        self._wants = {name: list(feature.shape) for name, feature in config.input_features.items()}
        shapes = {
            name: {"shape": [*shape[1:], shape[0]] if "image" in name else shape,
                   "dtype": "uint8" if "image" in name else "float32"}
            for name, shape in self._wants.items()
        }  # fmt: skip
        horizon = 1 if self._one_step else getattr(config, "n_action_steps", 0)
        dim = config.output_features["action"].shape[0]
        self.info = {"name": config.type, "observations": shapes, "action": {"dim": dim, "horizon": horizon}}

    def reset(self) -> None:
        self._policy.reset()

    def infer(self, arrays: dict[str, Array], words: str) -> Array:
        torch, batch = self._torch, {}
        for name, shape in self._wants.items():
            if name not in arrays:
                raise KeyError(f"it needs {name}; the observation has {', '.join(sorted(arrays))}")
            value = arrays[name]
            if value.ndim == 3:
                value = np.ascontiguousarray(value.transpose(2, 0, 1), dtype=np.float32) / 255
            if list(value.shape) != shape:
                raise ValueError(f"{name} of shape {list(value.shape)}, it needs {shape} (policy_client.image.size)")
            batch[name] = torch.from_numpy(_small(value))
        if self._before is not None:
            batch = self._before({**batch, "task": words})
        else:
            batch = {name: value.unsqueeze(0) for name, value in batch.items()} | {"task": [words]}
        with torch.inference_mode():
            ask = self._policy.select_action if self._one_step else self._policy.predict_action_chunk
            actions = ask(batch)
            if self._after is not None:
                actions = self._after(actions)
        found: Array = actions.detach().cpu().numpy()
        return _first(found)


class OpenVlaCheckpoint:
    """A directory as OpenVLA's are published: its own code, a picture and words in, one action of 7 numbers out.

    `settings`: unnorm_key (needed where the checkpoint knows several data sets), device (cpu, or cuda:0 where it is).
    """

    def __init__(self, path: str, settings: dict[str, object]) -> None:
        import torch
        from transformers import AutoModelForVision2Seq, AutoProcessor

        self._torch = torch
        self._device = str(settings.get("device") or ("cuda:0" if torch.cuda.is_available() else "cpu"))
        self._kind = torch.float32 if self._device == "cpu" else torch.bfloat16
        own = {"trust_remote_code": True, "local_files_only": True}  # its code runs here, in a process of its own
        self._processor = AutoProcessor.from_pretrained(path, **own)
        model = AutoModelForVision2Seq.from_pretrained(path, torch_dtype=self._kind, **own)
        self._model = model.to(self._device).eval()
        stats = getattr(self._model, "norm_stats", None) or getattr(self._model.config, "norm_stats", None)
        known = sorted(stats or {})
        self._key = settings.get("unnorm_key") or (known[0] if len(known) == 1 else None)
        if self._key not in known:
            raise KeyError(f"unnorm_key {self._key}; this checkpoint knows {', '.join(known)}")
        self.info: dict[str, object] = {
            "name": "openvla", "action": {"representation": "ee_delta", "dim": 7, "horizon": 1},
        }  # fmt: skip

    def reset(self) -> None:
        """It keeps nothing between two pictures."""

    def infer(self, arrays: dict[str, Array], words: str) -> Array:
        from PIL import Image

        pictures = {name: value for name, value in arrays.items() if value.ndim == 3 and value.dtype == np.uint8}
        front = [name for name in pictures if name == "image" or "front" in name] or list(pictures)
        if len(front) != 1:
            raise KeyError(f"one picture; the observation has {', '.join(sorted(pictures)) or 'none'}")
        prompt = f"In: What action should the robot take to {words.lower().rstrip('.')}?\nOut:"
        inputs = self._processor(prompt, Image.fromarray(pictures[front[0]]))
        inputs = inputs.to(self._device, dtype=self._kind)
        with self._torch.inference_mode():
            action = self._model.predict_action(**inputs, unnorm_key=self._key, do_sample=False)
        one: Array = np.asarray(action, np.float32).reshape(1, -1)
        one[:, 6] = 2 * one[:, 6] - 1  # 0 closed … 1 open, as its data has it; ee_delta: −1 … 1
        return one


def _first(actions: Array) -> Array:
    """Without the batch of 1."""
    first: Array = actions[0] if actions.ndim == 3 else actions
    return first


def _small(value: Array) -> Array:
    """As float32, unless it is a picture or counts something."""
    return np.ascontiguousarray(value, dtype=np.float32) if value.dtype.kind == "f" else np.ascontiguousarray(value)


KINDS: dict[str, Callable[[str, dict[str, object]], Model]] = {
    "torchscript": TorchScript, "lerobot": LeRobotCheckpoint, "openvla": OpenVlaCheckpoint,
}  # fmt: skip

if __name__ == "__main__":
    main(*sys.argv[1:])
