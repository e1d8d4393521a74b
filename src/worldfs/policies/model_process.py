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


def main(kind: str, path: str) -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not spoil the line
    source = sys.stdin.buffer
    try:
        model = KINDS[kind](path)
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

    def __init__(self, path: str) -> None:
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

    def __init__(self, path: str) -> None:
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


def _first(actions: Array) -> Array:
    """Without the batch of 1."""
    first: Array = actions[0] if actions.ndim == 3 else actions
    return first


def _small(value: Array) -> Array:
    """As float32, unless it is a picture or counts something."""
    return np.ascontiguousarray(value, dtype=np.float32) if value.dtype.kind == "f" else np.ascontiguousarray(value)


KINDS: dict[str, Callable[[str], Model]] = {"torchscript": TorchScript, "lerobot": LeRobotCheckpoint}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
