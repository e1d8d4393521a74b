"""Run by LeRobot's own environment: opens a dataset with LeRobot's loader and prints what it found as JSON.

torchvision of the registry is built for GPUs, and torchcodec wants FFmpeg's libraries: neither decodes on a plain CPU
machine. So the operators that torchvision declares are declared empty, and frames come from PyAV by the times that
LeRobot asks for; all else is LeRobot's own code.
"""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import torch


def with_torchvision() -> None:
    declared = torch.library.Library("torchvision", "DEF")
    for _ in range(40):
        try:
            import torchvision  # noqa: F401  # the question is whether it can be

            return
        except RuntimeError as error:
            missing = re.search(r"torchvision::(\w+)", str(error))
            if missing is None:
                raise
            declared.define(f"{missing[1]}(Tensor a) -> Tensor")
            for name in [name for name in sys.modules if name.startswith("torchvision")]:
                del sys.modules[name]


def frames(path, timestamps, tolerance_s, backend=None):
    """As LeRobot's: the frame nearest to each time, none farther than the tolerance; (n, 3, H, W), 0…1."""
    import av

    with av.open(str(path)) as box:
        decoded = [(float(frame.time), frame) for frame in box.decode(video=0)]
    times = np.array([at for at, _ in decoded])
    chosen = [int(np.argmin(np.abs(times - at))) for at in timestamps]
    for at, i in zip(timestamps, chosen, strict=True):
        assert abs(times[i] - at) < tolerance_s, (at, times[i])
    shots = [decoded[i][1].to_ndarray(format="rgb24") for i in chosen]
    return torch.from_numpy(np.stack(shots)).permute(0, 3, 1, 2).float() / 255


def main(root: str) -> None:
    with_torchvision()
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
