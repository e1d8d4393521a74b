"""Run by LeRobot's own environment: opens a dataset with LeRobot's loader and prints what it found as JSON.

Its decoders (torchvision's, built for GPUs; torchcodec, which wants FFmpeg's libraries) do not load on a plain
machine. So frames come from PyAV by the times that LeRobot asks for; all else is LeRobot's own code.
"""

from __future__ import annotations

import json
import sys
from functools import cache

import numpy as np
import torch


def frames(path, timestamps, tolerance_s, backend=None):
    """As LeRobot's: the frame nearest to each time, none farther than the tolerance; (n, 3, H, W), 0…1."""
    times, decoded = film(str(path))
    chosen = [int(np.argmin(np.abs(times - at))) for at in timestamps]
    for at, i in zip(timestamps, chosen, strict=True):
        assert abs(times[i] - at) < tolerance_s, (at, times[i])
    return torch.from_numpy(np.stack([decoded[i] for i in chosen])).permute(0, 3, 1, 2).float() / 255


@cache
def film(path):
    import av

    with av.open(path) as box:
        decoded = [(float(frame.time), frame.to_ndarray(format="rgb24")) for frame in box.decode(video=0)]
    return np.array([at for at, _ in decoded]), [shot for _, shot in decoded]


def main(root: str) -> None:
    import lerobot.datasets.lerobot_dataset as loader
    from lerobot import __version__

    loader.decode_video_frames = frames
    step = 0.05
    dataset = loader.LeRobotDataset(
        "local/tabletop", root=root, video_backend="pyav", delta_timestamps={"action": [0, step, 2 * step]}
    )
    first, last = dataset[0], dataset[len(dataset) - 1]
    batch = next(iter(torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True)))
    from lerobot.datasets.utils import dataset_to_policy_features

    kinds = {name: str(kind.type) for name, kind in dataset_to_policy_features(dataset.meta.features).items()}
    pictures = {
        name: [round(float(first[name].mean()), 4), list(first[name].shape)] for name in dataset.meta.video_keys
    }
    print(json.dumps({
        "version": __version__, "episodes": dataset.num_episodes, "frames": dataset.num_frames, "fps": dataset.fps,
        "task": first["task"], "state": first["observation.state"].tolist(), "action": first["action"].tolist(),
        "last_index": int(last["index"]), "done": bool(last["next.done"]), "batch": list(batch["action"].shape),
        "kinds": kinds, "stats": sorted(dataset.meta.stats["action"]), "pictures": pictures,
        "mean": dataset.meta.stats["observation.state"]["mean"].tolist(),
        "all": [int(dataset[i]["episode_index"]) for i in range(0, len(dataset), 17)],
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
