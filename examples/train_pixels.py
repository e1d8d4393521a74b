#!/usr/bin/env python3
"""A small policy that sees pictures, cloned from demonstrations: `train_pixels.py DATASET... --out OUT.onnx`.

DATASET is what `paos record --cameras front,wrist --picture-size 256x192` writes (LeRobotDataset v3.0). When it runs,
the policy is given the pictures of its cameras, the pose of its own hand, how far its own fingers are open, and the
words of the instruction: nothing of where a thing is. While it is trained it is also asked where the thing is, since
the recording knows, and which place of the wrist's picture shows it: that teaches the network what to look at
(auxiliary losses), and is no input.

Each picture goes through a small convolutional network whose last layer says where in the picture something is
(spatial softmax, Finn et al. 2016); the words scale its features (FiLM, Perez et al. 2018). It needs torch
(`pip install torch`) for the training alone; the file that it writes is run by onnxruntime.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from film_demonstrations import CHUNK, OWN, POOL, SCALE, Demonstrations, read

from worldfs.plugins.recording.expert import matrix
from worldfs.policies.onnx_write import OnnxGraph, model

CHANNELS, WIDTH, KEYPOINTS = (16, 24, 32), 192, 16
BATCH, RATE, DECAY = 64, 1.5e-3, 1e-4
AVERAGE = 0.995  # of the weights, step by step: what is kept is their running mean
CONTRAST = 8.0  # of 255, between the brightest and the darkest of a picture: with less it shows nothing
WHERE = 0.02  # m: an error of the auxiliary guess of usual size
CLOSE = (0.01, 0.04)  # m: the guess is looked at again from close by, as tanh(x / scale)
TURNS = ((3, 3), (4, 4), (5, 5), (6, 6), (4, 5), (3, 6))  # products of the hand's quaternion, w x y z from 3 on
OWN_FEATURES = sum(OWN.values()) + 2
ANGLE = np.array([[1, 0], [1, 0], [-1, 0], [-1, 0], [0, 2], [0, 2]], np.float32)  # … that make cos and sin of its yaw
HEIGHT_AT = 2  # of `own`: how high the hand is. The nearer a camera is, the more metres less is a pixel
# the guess, made in the hand's frame, turned into the base's: [x, y, x, y, z] · [cos, sin, sin, cos, 1], added up
TURNED = ((0, 1, 0, 1, 2), (0, 1, 1, 0, 2))
ADDED = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FAR, CLOSED = 0.05, -0.004  # m: so far from the thing nothing can be held; how far closed fingers are open
EYE = (0.07, 0.0, -0.1034)  # m: where the wrist's camera sits in the frame of the tool, as it was calibrated
HALF_FIELD = float(np.tan(np.radians(75 / 2)))  # of its picture's height, at a distance of 1
EXTREMES = ("ReduceMax", "ReduceMin")  # of a picture: what its contrast is between


# -- the network: its weights by name, used in the same order by torch and by the file --------------------------------


def shapes(cameras: Sequence[str], words: int) -> dict[str, tuple[int, ...]]:
    """Every weight's shape; a name that ends in `.b` is a bias."""
    a, b, c = CHANNELS
    found: dict[str, tuple[int, ...]] = {}
    for camera in cameras:
        for layer, shape in (("1", (a, 3, 5, 5)), ("2", (b, a, 3, 3)), ("3", (c, b, 3, 3)), ("4", (c, c, 3, 3)),
                             ("heat", (KEYPOINTS, c, 1, 1))):  # fmt: skip
            found |= {f"{camera}.{layer}": shape, f"{camera}.{layer}.b": shape[:1]}
        found |= {f"{camera}.gain": (words, c), f"{camera}.shift": (words, c)}
    seen = len(cameras) * 5 * KEYPOINTS + OWN_FEATURES + words
    for layer, shape in (("where1", (seen, WIDTH)), ("where2", (WIDTH, 3)),
                         ("act1", (seen + 3 * (1 + len(CLOSE)), WIDTH)), ("act2", (WIDTH, WIDTH)),
                         ("act3", (WIDTH, CHUNK * 7))):  # fmt: skip
        found |= {layer: shape, f"{layer}.b": shape[1:]}
    return found


def drawn(sizes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, np.ndarray]:
    """Weights to begin with (He et al. 2015); biases, and what the words change, at 0."""
    rng, found = np.random.default_rng(seed), {}
    for name, shape in sizes.items():
        fan = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        zero = name.endswith((".b", ".gain", ".shift"))
        found[name] = np.zeros(shape, np.float32) if zero else rng.normal(0, np.sqrt(2 / fan), shape)
    return {name: values.astype(np.float32) for name, values in found.items()}


def grid(height: int, width: int) -> np.ndarray:
    """(H · W, 2): x and y of each place of a heat map, −1 … 1."""
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)


def in_wrist_picture(own: np.ndarray, thing: np.ndarray) -> np.ndarray:
    """(n, 2): where the wrist's picture shows the thing, as `grid` has it; (9, 9) behind the camera."""
    turns = np.stack([matrix(quat) for quat in own[:, 3:7]])
    x, y, depth = (np.einsum("nij,ni->nj", turns, thing - own[:, :3]) - EYE).T
    wide = np.maximum(depth, 1e-3) * HALF_FIELD
    return np.where(depth[:, None] > 0.02, np.stack([y / wide * 3 / 4, -x / wide], axis=1), 9.0).astype(np.float32)


def pointed(places, height: int, width: int):
    """(n, H · W): how much of a heat map belongs to each of its places; 0 for what is not in the picture."""
    import torch

    sides = [
        torch.relu(1 - torch.abs((places[:, at : at + 1] + 1) / 2 * (size - 1) - torch.arange(size)))
        for at, size in ((1, height), (0, width))
    ]
    return (sides[0][:, :, None] * sides[1][:, None, :]).flatten(1)


def forward(w, pictures, own, words, normal):  # of torch's tensors; as `exported` does it
    """Actions (n, CHUNK · 7) in units of SCALE; where the thing is seen against the hand (n, 3) in units of WHERE; and
    each camera's heat maps (n, KEYPOINTS, H, W), of which the wrist's first one shows the thing.
    """
    import torch
    from torch.nn import functional as f

    found, heats = [], {}
    for camera, picture in pictures.items():
        h = f.relu(f.conv2d(picture, w[f"{camera}.1"], w[f"{camera}.1.b"], 2, 2))
        h = f.relu(f.conv2d(h, w[f"{camera}.2"], w[f"{camera}.2.b"], 2, 1))
        h = f.relu(f.conv2d(h, w[f"{camera}.3"], w[f"{camera}.3.b"], 1, 1))
        h = h * (1 + words @ w[f"{camera}.gain"])[:, :, None, None] + (words @ w[f"{camera}.shift"])[:, :, None, None]
        h = f.relu(f.conv2d(h, w[f"{camera}.4"], w[f"{camera}.4.b"], 1, 1))
        heat = f.conv2d(h, w[f"{camera}.heat"], w[f"{camera}.heat.b"])
        heats[camera] = heat
        places = torch.softmax(heat.flatten(2), dim=2) @ torch.from_numpy(grid(*heat.shape[2:]))
        places = places.flatten(1)
        found += [places, places * own[:, HEIGHT_AT : HEIGHT_AT + 1], heat.amax((2, 3)) * 0.1]
    products = torch.stack([own[:, a] * own[:, b] for a, b in TURNS], dim=1)
    angle = products @ torch.from_numpy(ANGLE)
    seen = torch.cat([*found, (own - normal[0]) / normal[1], angle, words], dim=1)
    guess = f.relu(seen @ w["where1"] + w["where1.b"]) @ w["where2"] + w["where2.b"]
    turn = torch.cat([angle, torch.ones_like(angle[:, :1])], dim=1)
    guess = (guess[:, TURNED[0]] * turn[:, TURNED[1]]) @ torch.from_numpy(ADDED)
    near = [torch.tanh(guess * (WHERE / scale)) for scale in CLOSE]
    h = f.relu(torch.cat([seen, guess, *near], dim=1) @ w["act1"] + w["act1.b"])
    h = f.relu(h @ w["act2"] + w["act2.b"])
    return h @ w["act3"] + w["act3.b"], guess, heats


def train(shown: Demonstrations, weights: dict, normal: tuple, *, seconds: float, epochs: int, seed: int, told) -> dict:
    """Weights; to the end of the epochs, or of the CPU seconds. AdamW with a cosine of the learning rate."""
    import torch
    from torch.nn import functional as f

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    w = {name: torch.from_numpy(values.copy()).requires_grad_() for name, values in weights.items()}
    mean = {name: values.detach().clone() for name, values in w.items()}
    adam = torch.optim.AdamW(w.values(), lr=RATE, weight_decay=DECAY)
    own, wanted = torch.from_numpy(shown.own), torch.from_numpy(shown.wanted)
    offset = torch.from_numpy((shown.thing - shown.own[:, :3]) / WHERE)
    places = torch.from_numpy(in_wrist_picture(shown.own, shown.thing))
    words = torch.eye(len(shown.vocabulary))[torch.from_numpy(shown.words)]
    norm = tuple(torch.from_numpy(values) for values in normal)
    began, done, step, size = time.process_time(), 0.0, 0, min(BATCH, len(own))
    for epoch in range(epochs):
        order, losses = rng.permutation(len(own)), []
        for at in range(0, len(own) - size + 1, size):
            rows = np.sort(order[at : at + size])
            done = max((epoch + at / len(own)) / epochs, (time.process_time() - began) / seconds)
            if done >= 1:
                break
            for group in adam.param_groups:
                group["lr"] = RATE * min(1, (step + 1) / 100) * 0.5 * (1 + np.cos(np.pi * done))
            pictures = {camera: jittered(torch.from_numpy(film[rows])) for camera, film in shown.pictures.items()}
            held = loosened(own[rows], wanted[rows], offset[rows])
            actions, guess, heats = forward(w, pictures, held, words[rows], norm)
            parts = [f.smooth_l1_loss(actions, wanted[rows]), f.smooth_l1_loss(guess, offset[rows]), torch.zeros(())]
            if "wrist" in heats:
                heat = heats["wrist"][:, 0]
                share = pointed(places[rows], *heat.shape[1:])
                parts[2] = -(share * torch.log_softmax(heat.flatten(1), dim=1)).sum() / len(rows)
            adam.zero_grad()
            (parts[0] + 0.5 * parts[1] + 0.1 * parts[2]).backward()
            torch.nn.utils.clip_grad_norm_(w.values(), 5.0)
            adam.step()
            step += 1
            keep = min(AVERAGE, step / (step + 10))
            with torch.no_grad():
                for name, values in w.items():
                    mean[name].lerp_(values, 1 - keep)
            losses.append([float(part.detach()) for part in parts])
        if losses:
            told(epoch, np.mean(losses, axis=0), time.process_time() - began, mean)
        if done >= 1:
            break
    return {name: values.numpy() for name, values in mean.items()}


def loosened(own, wanted, offset):
    """`own` with fingers that are closed, or less open, in some of the rows in which the expert would do the same then.

    Far from the thing it opens them whatever they are like. The demonstrations hardly show that with empty closed
    fingers, since the expert does not miss: a policy that has missed would go on as if it held the thing.
    """
    import torch

    n = len(own)
    far = (offset.norm(dim=1) * WHERE > FAR) & (wanted[:, 6::7] > 0).all(dim=1)
    chosen = far & (torch.rand(n) < 0.3)
    opening = torch.where(torch.rand(n) < 0.5, torch.tensor(CLOSED), CLOSED + torch.rand(n) * 0.08)
    return torch.cat([own[:, :7], torch.where(chosen, opening, own[:, 7])[:, None]], dim=1)


def jittered(pictures):
    """(n, H, W, 3) uint8 as the network takes it, (n, 3, H, W) about 0; each a little brighter, or other in colour."""
    import torch

    n = len(pictures)
    x = pictures.permute(0, 3, 1, 2).float().mul_(1 / 255).sub_(0.5)
    return x.mul_(1 + 0.15 * (2 * torch.rand(n, 3, 1, 1) - 1)).add_(0.05 * (2 * torch.rand(n, 3, 1, 1) - 1))


# -- the file ---------------------------------------------------------------------------------------------------------


def exported(w: Mapping[str, np.ndarray], shown: Demonstrations, normal: tuple, about: dict) -> bytes:
    """The whole policy as an ONNX file: an input for each observation, by the target's names; actions (CHUNK, 7).

    For words that no demonstration had, and for a picture that is all black or all of one colour, its actions are NaN,
    which the runtime refuses: nothing moves.
    """
    graph = OnnxGraph()

    def const(values: object) -> str:
        return graph.constant(np.asarray(values))

    def dense(value: str, layer: str) -> str:
        return graph.op("Gemm", value, const(w[layer]), const(w[f"{layer}.b"]))

    def by_words(value: str, camera: str) -> str:
        gain = graph.op("Add", graph.op("MatMul", words, const(w[f"{camera}.gain"])), const(np.float32(1)))
        shift = graph.op("MatMul", words, const(w[f"{camera}.shift"]))
        form = const(np.array([1, CHANNELS[2], 1, 1]))
        scaled = graph.op("Mul", value, graph.op("Reshape", gain, form))
        return graph.op("Add", scaled, graph.op("Reshape", shift, form))

    width, height = shown.size
    vocabulary = np.array([list(shown.vocabulary)], dtype=object)
    words = graph.op("Cast", graph.op("Equal", "words", graph.constant(vocabulary)), to=1)
    raw = {camera: graph.op("Cast", f"rgb.{camera}", to=1) for camera in shown.pictures}
    valid = graph.op("ReduceMax", words, const(np.array([1])), keepdims=1)
    for h in raw.values():
        spread = graph.op("Sub", *(graph.op(kind, h, const(np.arange(3)), keepdims=0) for kind in EXTREMES))
        valid = graph.op("Mul", valid, graph.op("Cast", graph.op("Greater", spread, const(np.float32(CONTRAST))), to=1))
    words = graph.op("Div", words, valid)  # 0 / 0 for a sentence that is not known, or a picture of nothing
    own = graph.op("Reshape", graph.op("Concat", *OWN, axis=0), const(np.array([1, -1])))
    high = graph.op("Gather", own, const(np.array([HEIGHT_AT])), axis=1)
    found = []
    for camera, picture in raw.items():
        form = const(np.array([1, 3, height, width]))
        h = graph.op("Reshape", graph.op("Transpose", picture, perm=(2, 0, 1)), form)
        h = graph.op("AveragePool", h, kernel_shape=(POOL, POOL), strides=(POOL, POOL))
        h = graph.op("Sub", graph.op("Mul", h, const(np.float32(1 / 255))), const(np.float32(0.5)))
        for layer, stride, pad in (("1", 2, 2), ("2", 2, 1), ("3", 1, 1), ("4", 1, 1)):
            if layer == "4":
                h = by_words(h, camera)
            kernel = w[f"{camera}.{layer}"]
            h = graph.op("Conv", h, const(kernel), const(w[f"{camera}.{layer}.b"]), strides=(stride, stride),
                         pads=(pad,) * 4, kernel_shape=kernel.shape[2:])  # fmt: skip
            h = graph.op("Relu", h)
        heat = graph.op("Conv", h, const(w[f"{camera}.heat"]), const(w[f"{camera}.heat.b"]), kernel_shape=(1, 1))
        flat = graph.op("Reshape", heat, const(np.array([KEYPOINTS, -1])))
        places = graph.op("MatMul", graph.op("Softmax", flat, axis=1), const(grid(*heat_size(shown.size))))
        top = graph.op("ReduceMax", flat, const(np.array([1])), keepdims=1)
        places = graph.op("Reshape", places, const(np.array([1, -1])))
        top = graph.op("Mul", graph.op("Reshape", top, const(np.array([1, -1]))), const(np.float32(0.1)))
        found += [places, graph.op("Mul", places, high), top]
    sides = [graph.op("Gather", own, const(np.array(side)), axis=1) for side in zip(*TURNS, strict=True)]
    angle = graph.op("MatMul", graph.op("Mul", *sides), const(ANGLE))
    scaled = graph.op("Div", graph.op("Sub", own, const(normal[0])), const(normal[1]))
    seen = graph.op("Concat", *found, scaled, angle, words, axis=1)
    guess = dense(graph.op("Relu", dense(seen, "where1")), "where2")
    turn = graph.op("Concat", angle, const(np.ones((1, 1), np.float32)), axis=1)
    both = [graph.op("Gather", v, const(np.array(at)), axis=1) for v, at in zip((guess, turn), TURNED, strict=True)]
    guess = graph.op("MatMul", graph.op("Mul", *both), const(ADDED))
    near = [graph.op("Tanh", graph.op("Mul", guess, const(np.float32(WHERE / scale)))) for scale in CLOSE]
    h = graph.op("Relu", dense(graph.op("Concat", seen, guess, *near, axis=1), "act1"))
    h = dense(graph.op("Relu", dense(h, "act2")), "act3")
    h = graph.op("Mul", graph.op("Reshape", h, const(np.array([CHUNK, 7]))), const(SCALE))
    parts = shown.wanted.reshape(-1, 7) * SCALE  # it never does what no demonstration did
    h = graph.op("Min", graph.op("Max", h, const(parts.min(0))), const(parts.max(0)))
    graph.op("Identity", h, gives="actions")
    inputs = {f"rgb.{camera}": (height, width, 3) for camera in shown.pictures} | {n: (s,) for n, s in OWN.items()}
    kinds = {f"rgb.{camera}": "uint8" for camera in shown.pictures} | {"words": "string"}
    text = {"worldfs.policy": json.dumps(about)}
    return model(graph, {**inputs, "words": (1, 1)}, {"actions": (CHUNK, 7)}, text, kinds)


def heat_size(size: tuple[int, int]) -> tuple[int, int]:
    """Height and width of a heat map, of pictures of this width and height."""
    sides = [side // POOL for side in size]
    for kernel, pad in ((5, 2), (3, 1)):
        sides = [(side + 2 * pad - kernel) // 2 + 1 for side in sides]
    return sides[1], sides[0]


def described(out: Path, shown: Demonstrations) -> dict:
    """What the file says of itself."""
    width, height = shown.size
    pictures = {f"rgb.{camera}": {"shape": [height, width, 3], "dtype": "uint8"} for camera in shown.pictures}
    return {
        "name": out.stem, "version": "1", "dt": 1 / shown.fps,
        "observations": {**pictures, **{name: {"shape": [size], "dtype": "float64"} for name, size in OWN.items()}},
        "action": {"representation": "ee_delta", "dim": 7, "horizon": CHUNK},
        "trained_on": {"episodes": shown.episodes, "frames": len(shown.own), "words": list(shown.vocabulary)},
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cameras", default="", help="the ones to see by, as front,wrist (default: all recorded)")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1500, help="of CPU, at most (default: 1500)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    shown = read(given.datasets, [name for name in given.cameras.split(",") if name])
    print(f"{shown.episodes} episodes, {len(shown.own)} frames, pictures of {', '.join(shown.pictures)}", flush=True)

    def told(epoch: int, losses: np.ndarray, seconds: float, mean: dict) -> None:
        named = zip(("actions", "where", "place"), losses, strict=True)
        parts = "  ".join(f"{name} {loss:.4f}" for name, loss in named)
        print(f"epoch {epoch:3}  {parts}  {seconds:5.1f} CPU-s", flush=True)
        write({name: values.numpy() for name, values in mean.items()})  # a training that is stopped leaves a file

    def write(weights: dict) -> None:
        given.out.write_bytes(exported(weights, shown, normal, described(given.out, shown)))

    normal = shown.own.mean(0), np.maximum(shown.own.std(0), 0.03)  # what hardly varied must not shout when it does
    weights = drawn(shapes(list(shown.pictures), len(shown.vocabulary)), given.seed)
    weights = train(shown, weights, normal, seconds=given.seconds, epochs=given.epochs, seed=given.seed, told=told)
    write(weights)
    print(f"{given.out}: {given.out.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
