"""LeRobotDataset v3.0 as bytes: its tables, info and tasks. Reads and writes no disk.

Facts from LeRobot 0.4.4 (Apache-2.0): several episodes share a file of at most so many MB; an episode's row in
meta/episodes has each episode's file and offset; a film's episode begins at `from_timestamp`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from . import stats, video
from .dataset_recipe import DatasetRecipe

if TYPE_CHECKING:
    import pyarrow as pa

VERSION: Final = "v3.0"
CHUNK: Final = 1000  # files in a folder
DATA_MB, VIDEO_MB = 100, 200  # a file that would grow beyond is followed by a new one
INFO, STATS, TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
_FILE: Final = "chunk-{chunk_index:03d}/file-{file_index:03d}"
EPISODES: Final = f"meta/episodes/{_FILE}.parquet"
DATA: Final = f"data/{_FILE}.parquet"
VIDEO: Final = f"videos/{{video_key}}/{_FILE}.mp4"
SCALARS: Final = {
    "next.reward": "float32", "next.done": "bool", "timestamp": "float32", "frame_index": "int64",
    "episode_index": "int64", "index": "int64", "task_index": "int64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EncodedEpisode:
    """An episode as it waits to be put into the dataset: its columns, its films as .mp4, its flight log."""

    trial: int
    family: str
    seed: int
    words: str
    columns: Mapping[str, NDArray[np.generic]]
    films: Mapping[str, bytes] = field(default_factory=dict)  # camera → .mp4
    stats: Mapping[str, stats.Stats] = field(default_factory=dict)
    flight: bytes = b""
    success: bool = True

    @property
    def length(self) -> int:
        return len(self.columns["action"])


def camera_key(camera: str) -> str:
    return f"observation.images.{camera}"


def file_path(pattern: str, number: int, key: str = "") -> str:
    """The path of the `number`-th file of its kind."""
    return pattern.format(chunk_index=number // CHUNK, file_index=number % CHUNK, video_key=key)


def info(recipe: DatasetRecipe, sizes: Mapping[str, tuple[int, int]], episodes: int, frames: int, tasks: int) -> bytes:
    """meta/info.json. `sizes`: camera → height, width."""
    features: dict[str, object] = {
        name: {"dtype": "float32", "shape": [len(names)], "names": names} for name, names in recipe.columns().items()
    }
    for camera, (height, width) in sizes.items():
        features[camera_key(camera)] = {
            "dtype": "video", "shape": [height, width, 3], "names": ["height", "width", "channels"],
            "info": video.video_info(height, width, recipe.fps),
        }  # fmt: skip
    features |= {name: {"dtype": kind, "shape": [1], "names": None} for name, kind in SCALARS.items()}
    return _json({
        "codebase_version": VERSION, "robot_type": recipe.robot_type, "total_episodes": episodes,
        "total_frames": frames, "total_tasks": tasks, "chunks_size": CHUNK, "data_files_size_in_mb": DATA_MB,
        "video_files_size_in_mb": VIDEO_MB, "fps": recipe.fps, "splits": {"train": f"0:{episodes}"},
        "data_path": DATA, "video_path": VIDEO if sizes else None, "features": features,
    })  # fmt: skip


def frames(kept: EncodedEpisode, recipe: DatasetRecipe, episode: int, first: int, task: int) -> pa.Table:
    """The rows of one episode; `first`: the index of its first frame among all."""
    import pyarrow as pa

    arrays: dict[str, pa.Array] = {}
    for name, names in recipe.columns().items():
        flat = np.ascontiguousarray(kept.columns[name], dtype=np.float32).ravel()
        arrays[name] = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), len(names))
    arrays |= {name: pa.array(values) for name, values in scalars(kept, episode, first, task, recipe.fps).items()}
    return pa.table(arrays)


def scalars(kept: EncodedEpisode, episode: int, first: int, task: int, fps: int) -> dict[str, NDArray[np.generic]]:
    """The columns of one number a frame; the last one has the reward of an episode that ended with success."""
    count = kept.length
    last = np.arange(count) == count - 1
    return {
        "next.reward": (last & kept.success).astype(np.float32), "next.done": last,
        "timestamp": (np.arange(count) / fps).astype(np.float32), "frame_index": np.arange(count, dtype=np.int64),
        "episode_index": np.full(count, episode, dtype=np.int64),
        "index": np.arange(first, first + count, dtype=np.int64), "task_index": np.full(count, task, dtype=np.int64),
    }  # fmt: skip


def tasks_file(words: Sequence[str]) -> bytes:
    """meta/tasks.parquet: the words are the index of a pandas frame whose one column is `task_index`."""
    import pyarrow as pa

    index = "__index_level_0__"
    table = pa.table({"task_index": pa.array(range(len(words)), pa.int64()), index: pa.array(words, pa.string())})
    about = {
        "index_columns": [index], "column_indexes": [], "pandas_version": "2.2.0",
        "columns": [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64",
             "metadata": None},
            {"name": None, "field_name": index, "pandas_type": "unicode", "numpy_type": "object", "metadata": None},
        ],
    }  # fmt: skip
    return parquet(table.replace_schema_metadata({"pandas": json.dumps(about)}))


def tasks_of(data: bytes) -> list[str]:
    return [str(words) for words in table_of(data).column("__index_level_0__").to_pylist()]


def parquet(table: pa.Table) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out, compression="snappy")
    return out.getvalue()


def table_of(data: bytes) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(data))


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=4, ensure_ascii=False) + "\n").encode()
