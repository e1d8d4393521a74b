#!/usr/bin/env python3
"""A small policy, cloned from demonstrations of the table: `train_tabletop.py DATASET OUT.onnx`.

DATASET is what `paos record` writes (LeRobotDataset v3.0). The policy sees where hand, thing and goal are, and gives
the next few motions of the hand. numpy alone trains it, in a minute on one core: a network of three layers by Adam.
Everything between an observation and an action is inside the ONNX file, the normalisation too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices this small are slower on two

import numpy as np
import pyarrow.parquet as pq

from worldfs.plugins.recording.episode import slices
from worldfs.plugins.recording.expert import SEES
from worldfs.policies.onnx_write import OnnxGraph, model

CHUNK = 4  # actions in one answer
WIDTH = 192  # of both hidden layers
BATCH = 256
RATE = 2e-3
SCALE = np.array([0.01, 0.01, 0.01, 0.05, 0.05, 0.05, 1.0])  # an action of usual size, so that each part counts alike

# -- what the policy makes of its observation: fixed, and the same in numpy and in the file -------------------------

ORDER = [f"{name}.{i}" for name, size in SEES.items() for i in range(size)]


class Layer:
    """y = [x, x[a]·x[b]] M: sums of numbers and of products of two, by name. Angles need no more than that."""

    def __init__(self, takes: list[str]) -> None:
        self.takes, self.gives = takes, []
        self.products: list[tuple[int, int]] = []
        self.columns: list[dict[int, float]] = []

    def add(self, name: str, **terms: float) -> None:
        """`terms`: "a" or "a__b" (dots written as _DOT_) → factor."""
        column: dict[int, float] = {}
        for term, factor in terms.items():
            parts = [self.takes.index(part.replace("_DOT_", ".")) for part in term.split("__")]
            if len(parts) == 1:
                column[parts[0]] = factor
            else:
                self.products.append((parts[0], parts[1]))
                column[len(self.takes) + len(self.products) - 1] = factor
        self.gives.append(name)
        self.columns.append(column)

    def keep(self, *names: str) -> None:
        for name in names:
            self.gives.append(name)
            self.columns.append({self.takes.index(name): 1.0})

    @property
    def matrix(self) -> np.ndarray:
        found = np.zeros((len(self.takes) + len(self.products), len(self.columns)), np.float32)
        for j, column in enumerate(self.columns):
            for i, factor in column.items():
                found[i, j] = factor
        return found


def layers() -> list[Layer]:
    """Ways from hand to thing and from thing to goal, and how far the hand is turned against the thing."""
    first = Layer(ORDER)
    for axis in "012":
        first.add(f"off{axis}", **{f"object_position_DOT_{axis}": 1, f"ee_pose_DOT_{axis}": -1})
        first.add(f"left{axis}", **{f"goal_position_DOT_{axis}": 1, f"object_position_DOT_{axis}": -1})
    for body, quat in (("hand", [f"ee_pose_DOT_{i}" for i in (3, 4, 5, 6)]),
                       ("thing", [f"object_orientation_DOT_{i}" for i in range(4)])):  # fmt: skip
        w, x, y, z = quat
        first.add(f"{body}_c", **{f"{w}__{w}": 1, f"{x}__{x}": 1, f"{y}__{y}": -1, f"{z}__{z}": -1})
        first.add(f"{body}_s", **{f"{x}__{y}": 2, f"{w}__{z}": 2})
    # the grip: how far the hand is over where it takes a high thing, how wide the fingers are beside each side
    first.add("over", **{"ee_pose_DOT_2": 1, "object_position_DOT_2": -1, "object_size_DOT_2": -0.5})
    first.add("wide0", **{"gripper_DOT_0": 1, "object_size_DOT_0": -1})
    first.add("wide1", **{"gripper_DOT_0": 1, "object_size_DOT_1": -1})
    first.add("longer", **{"object_size_DOT_0": 1, "object_size_DOT_1": -1})
    rest = ["off0", "off1", "off2", "left0", "left1", "left2", "over", "wide0", "wide1", "longer"]
    kept = ["gripper.0", "object_size.0", "object_size.1", "object_size.2", "object_position.0", "object_position.1",
            "object_position.2", "ee_pose.2", "goal_position.2"]  # fmt: skip
    first.keep(*kept)
    second = Layer(first.gives)  # twice the angles: a thing turned by half a turn is the same thing
    for body in ("hand", "thing"):
        second.add(f"{body}_c2", **{f"{body}_c__{body}_c": 1, f"{body}_s__{body}_s": -1})
        second.add(f"{body}_s2", **{f"{body}_c__{body}_s": 2})
    second.keep(*rest, *kept)
    third = Layer(second.gives)  # and their difference
    third.add("c2", hand_c2__thing_c2=1, hand_s2__thing_s2=1)
    third.add("s2", hand_c2__thing_s2=1, hand_s2__thing_c2=-1)
    third.keep(*rest, *kept)
    fourth = Layer(third.gives)  # four times it, for cubes; by which side is longer
    fourth.add("c4", c2__c2=1, s2__s2=-1)
    fourth.add("s4", c2__s2=2)
    fourth.add("longer_c2", longer__c2=20)
    fourth.add("longer_s2", longer__s2=20)
    fourth.keep("c2", "s2", *rest, *kept)
    return [first, second, third, fourth]


def near(names: list[str]) -> tuple[list[int], np.ndarray]:
    """Numbers looked at again from close by: tanh(x / scale). Which, and the factors."""
    found: list[tuple[int, float]] = []
    for name, scales in (("off0", (0.01, 0.05)), ("off1", (0.01, 0.05)), ("off2", (0.01, 0.05)), ("over", (0.02,)),
                         ("left0", (0.02, 0.1)), ("left1", (0.02, 0.1)), ("left2", (0.01, 0.05)),
                         ("wide0", (0.005,)), ("wide1", (0.005,)), ("longer", (0.005,))):  # fmt: skip
        found += [(names.index(name), 1 / scale) for scale in scales]
    return [i for i, _ in found], np.array([factor for _, factor in found], np.float32)


def features(seen: np.ndarray) -> np.ndarray:
    """(n, 21) observations as (n, m) features."""
    made = layers()
    for layer in made:
        a, b = (list(side) for side in zip(*layer.products, strict=True))
        seen = np.concatenate([seen, seen[:, a] * seen[:, b]], axis=1) @ layer.matrix
    which, factors = near(made[-1].gives)
    return np.concatenate([seen, np.tanh(seen[:, which] * factors)], axis=1)


# -- demonstrations ---------------------------------------------------------------------------------------------------


def read(root: Path) -> tuple[np.ndarray, np.ndarray, dict]:
    """Observations (n, 21), the chunk of actions that follows each (n, CHUNK · 7), what info.json says."""
    info = json.loads((root / "meta/info.json").read_text())
    tables = [pq.read_table(path) for path in sorted((root / "data").glob("*/*.parquet"))]
    column = {
        name: np.concatenate([np.array(table.column(name).to_pylist(), np.float32) for table in tables])
        for name in ("observation.state", "observation.environment_state", "intended_action", "episode_index")
    }
    where = {}
    for name in ("observation.state", "observation.environment_state"):
        where |= {part: column[name][:, at] for part, at in slices(info["features"][name]["names"]).items()}
    seen = np.concatenate([where[name] for name in SEES], axis=1)
    wanted, episode = column["intended_action"] / SCALE.astype(np.float32), column["episode_index"]
    chunks = []
    for step in range(CHUNK):  # beyond the end of an episode its last action goes on
        ahead = np.minimum(np.arange(len(wanted)) + step, np.searchsorted(episode, episode, side="right") - 1)
        chunks.append(wanted[ahead])
    return seen, np.concatenate(chunks, axis=1), info


# -- the network ------------------------------------------------------------------------------------------------------


def train(x: np.ndarray, y: np.ndarray, *, epochs: int, seconds: float, seed: int, told) -> list[np.ndarray]:
    """Weights and biases. Adam with a cosine of the learning rate, to the end of the epochs or of the time."""
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], WIDTH, WIDTH, y.shape[1]]
    kept = []
    for n, m in pairwise(sizes):
        kept += [rng.normal(0, np.sqrt(2 / n), (n, m)).astype(np.float32), np.zeros(m, np.float32)]
    slow, fast = [np.zeros_like(w) for w in kept], [np.zeros_like(w) for w in kept]
    began, step, loss = time.monotonic(), 0, 0.0
    for epoch in range(epochs):
        order, losses = rng.permutation(len(x)), []
        done = max(epoch / epochs, (time.monotonic() - began) / seconds)
        if done >= 1:
            break
        rate = RATE * 0.5 * (1 + np.cos(np.pi * done))
        size = min(BATCH, len(x))
        for at in range(0, len(x) - size + 1, size):
            rows = order[at : at + size]
            loss, slopes = slope(kept, x[rows], y[rows])
            losses.append(loss)
            step += 1
            for i, g in enumerate(slopes):
                slow[i] += 0.1 * (g - slow[i])
                fast[i] += 0.001 * (g * g - fast[i])
                kept[i] -= (rate / (1 - 0.9**step)) * slow[i] / (np.sqrt(fast[i] / (1 - 0.999**step)) + 1e-8)
        if epoch % 10 == 0:
            told(epoch, float(np.mean(losses)), time.monotonic() - began)
    told(epoch, float(np.mean(losses)) if losses else loss, time.monotonic() - began)
    return kept


def slope(w: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> tuple[float, list[np.ndarray]]:
    """Smooth absolute error (Huber, 1) and its derivative by each weight."""
    h1 = np.maximum(x @ w[0] + w[1], 0)
    h2 = np.maximum(h1 @ w[2] + w[3], 0)
    off = h2 @ w[4] + w[5] - y
    loss = float(np.where(np.abs(off) < 1, off**2 / 2, np.abs(off) - 0.5).mean())
    d = np.clip(off, -1, 1) / off.size * y.shape[1]
    d2 = (d @ w[4].T) * (h2 > 0)
    d1 = (d2 @ w[2].T) * (h1 > 0)
    return loss, [x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d, d.sum(0)]


def exported(weights: list[np.ndarray], normal: tuple, bounds: tuple, about: dict) -> bytes:
    """The whole policy as an ONNX file: an input for each observation, by the target's names; actions (CHUNK, 7).

    `normal`: mean and spread of the features; `bounds`: it never does what no demonstration did.
    """
    mean, spread = normal
    graph = OnnxGraph()
    value = graph.op("Concat", *SEES, axis=0)
    value = graph.op("Reshape", value, graph.constant(np.array([1, len(ORDER)], np.int64)))
    made = layers()
    for layer in made:
        sides = [graph.op("Gather", value, graph.constant(np.array(side, np.int64)), axis=1)
                 for side in zip(*layer.products, strict=True)]  # fmt: skip
        value = graph.op("Concat", value, graph.op("Mul", *sides), axis=1)
        value = graph.op("MatMul", value, graph.constant(layer.matrix))
    which, factors = near(made[-1].gives)
    close = graph.op("Gather", value, graph.constant(np.array(which, np.int64)), axis=1)
    close = graph.op("Tanh", graph.op("Mul", close, graph.constant(factors)))
    value = graph.op("Concat", value, close, axis=1)
    value = graph.op("Sub", value, graph.constant(mean.astype(np.float32)))
    value = graph.op("Div", value, graph.constant(spread.astype(np.float32)))
    for i in (0, 2, 4):
        value = graph.op("Gemm", value, graph.constant(weights[i]), graph.constant(weights[i + 1]))
        if i < 4:
            value = graph.op("Relu", value)
    value = graph.op("Reshape", value, graph.constant(np.array([CHUNK, 7], np.int64)))
    value = graph.op("Mul", value, graph.constant(SCALE.astype(np.float32)))
    value = graph.op("Max", value, graph.constant(bounds[0].astype(np.float32)))
    graph.op("Min", value, graph.constant(bounds[1].astype(np.float32)), gives="actions")
    text = {"worldfs.policy": json.dumps(about)}
    return model(graph, {name: (size,) for name, size in SEES.items()}, {"actions": (CHUNK, 7)}, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=180, help="at most so long (default: 180)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    seen, wanted, info = read(given.dataset)
    x = features(seen)
    mean, spread = x.mean(0), np.maximum(x.std(0), 0.03)  # what hardly varied must not shout when it does
    parts = wanted.reshape(-1, 7)
    bounds = parts.min(0) * SCALE, parts.max(0) * SCALE

    def told(epoch: int, loss: float, seconds: float) -> None:
        print(f"epoch {epoch:3}  loss {loss:.4f}  {seconds:5.1f} s", flush=True)

    print(f"{info['total_episodes']} episodes, {len(x)} frames, {x.shape[1]} features", flush=True)
    normal = ((x - mean) / spread).astype(np.float32)
    weights = train(normal, wanted, epochs=given.epochs, seconds=given.seconds, seed=given.seed, told=told)
    about = {
        "name": given.out.stem, "version": "1",
        "observations": {name: {"shape": [size], "dtype": "float64"} for name, size in SEES.items()},
        "action": {"representation": "ee_delta", "dim": 7, "horizon": CHUNK}, "dt": 1 / info["fps"],
        "trained_on": {"episodes": info["total_episodes"], "frames": len(x)},
    }  # fmt: skip
    given.out.write_bytes(exported(weights, (mean, spread), bounds, about))
    print(f"{given.out}: {given.out.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
