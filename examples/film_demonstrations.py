"""Demonstrations with pictures, read back from what `paos record --cameras` wrote (LeRobotDataset v3.0)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
import pyarrow.parquet as pq

from worldfs.plugins.recording.episode import slices
from worldfs.plugins.recording.lerobot_dataset import VIDEO, tasks_of

CHUNK = 4  # actions in one answer
POOL = 2  # pictures are averaged over so many pixels a side: the film's colours are no finer
SCALE = np.array([0.01, 0.01, 0.01, 0.05, 0.05, 0.05, 1.0], np.float32)  # an action of usual size
OWN = {"ee_pose": 7, "gripper": 1}  # what the policy is shown of its own body


class Demonstrations(NamedTuple):
    """All frames of some datasets. `pictures`: camera → (n, H, W, 3) uint8, averaged over POOL pixels."""

    pictures: Mapping[str, np.ndarray]
    own: np.ndarray  # (n, 8), as OWN
    thing: np.ndarray  # (n, 3): where the thing is; for the auxiliary loss alone
    wanted: np.ndarray  # (n, CHUNK · 7), in units of SCALE
    words: np.ndarray  # (n,): which of `vocabulary`
    vocabulary: Sequence[str]
    size: tuple[int, int]  # width, height of the pictures as they were recorded
    fps: int
    episodes: int


def read(roots: Sequence[Path], cameras: Sequence[str] = ()) -> Demonstrations:
    """`cameras`: the ones to see by; all that were recorded, if none is named.

    Raises `SystemExit` for recordings without pictures, or with pictures of several sizes.
    """
    infos = [json.loads((root / "meta/info.json").read_text()) for root in roots]
    keys = sorted(key for key, kind in infos[0]["features"].items() if kind["dtype"] == "video")
    keys = [key for key in keys if not cameras or key.rpartition(".")[2] in cameras]
    sizes = {tuple(info["features"][key]["shape"]) for info in infos for key in keys if key in info["features"]}
    if not keys or len(sizes) != 1:
        raise SystemExit("record with --cameras front,wrist, all in one --picture-size")
    height, width, _ = sizes.pop()
    parts = [_read(root, info, keys) for root, info in zip(roots, infos, strict=True)]
    vocabulary = sorted({words for part in parts for words in part[2]})
    said = np.concatenate([[vocabulary.index(part[2][i]) for i in part[1]["task_index"]] for part in parts])
    column = {name: np.concatenate([part[1][name] for part in parts]) for name in ("own", "thing", "wanted")}
    films = {key.rpartition(".")[2]: np.concatenate([part[0][key] for part in parts]) for key in keys}
    return Demonstrations(
        films, column["own"], column["thing"], column["wanted"], said, vocabulary, (width, height), infos[0]["fps"],
        sum(info["total_episodes"] for info in infos),
    )  # fmt: skip


def _read(root: Path, info: dict, keys: Sequence[str]) -> tuple[dict, dict, list[str]]:
    """One dataset: its films by key, its columns, its sentences."""
    tables = [pq.read_table(path) for path in sorted((root / "data").glob("*/*.parquet"))]
    names = ("observation.state", "observation.environment_state", "intended_action", "episode_index", "task_index")
    raw = {name: np.concatenate([np.array(t.column(name).to_pylist(), np.float32) for t in tables]) for name in names}
    where = {
        part: raw[name][:, at]
        for name in names[:2]
        for part, at in slices(info["features"][name]["names"]).items()
    }  # fmt: skip
    column = {
        "own": np.concatenate([where[name] for name in OWN], axis=1), "thing": where["object_position"],
        "wanted": chunks(raw["intended_action"] / SCALE, raw["episode_index"]),
        "task_index": raw["task_index"].astype(int),
    }  # fmt: skip
    films = {key: np.concatenate([_film(path) for path in _paths(root, key)]) for key in keys}
    if any(len(film) != len(column["own"]) for film in films.values()):
        raise SystemExit(f"{root}: the films do not have a picture for each row")
    return films, column, tasks_of((root / "meta/tasks.parquet").read_bytes())


def _paths(root: Path, key: str) -> list[Path]:
    return sorted((root / VIDEO.partition("/")[0] / key).glob("*/*.mp4"))


def _film(path: Path) -> np.ndarray:
    """(n, H / POOL, W / POOL, 3) uint8, in the order of the dataset's rows."""
    with av.open(str(path)) as box:
        return np.stack([pooled(frame.to_ndarray(format="rgb24")) for frame in box.decode(video=0)])


def pooled(picture: np.ndarray) -> np.ndarray:
    height, width = (side // POOL * POOL for side in picture.shape[:2])
    corners = [(row, column) for row in range(POOL) for column in range(POOL)]
    added = sum(picture[row:height:POOL, column:width:POOL].astype(np.uint16) for row, column in corners)
    return ((added + POOL * POOL // 2) // (POOL * POOL)).astype(np.uint8)


def chunks(actions: np.ndarray, episode: np.ndarray) -> np.ndarray:
    """(n, CHUNK · 7): each action with those that follow it; beyond the end of an episode its last one goes on."""
    last = np.searchsorted(episode, episode, side="right") - 1
    ahead = [actions[np.minimum(np.arange(len(actions)) + step, last)] for step in range(CHUNK)]
    return np.concatenate(ahead, axis=1).astype(np.float32)
