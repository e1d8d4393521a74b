"""The next version of a dataset: its contents, and which files become new when episodes are added. Writes nothing.

Only the last file of a kind grows, and only to its limit; all others stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_int

from . import lerobot_dataset, stats, video
from .dataset_recipe import DatasetRecipe
from .lerobot_dataset import CHUNK, EncodedEpisode

if TYPE_CHECKING:
    import pyarrow as pa

OURS: Final = "meta/worldfs.json"  # the recipe, and how many trials are behind it
FLIGHT: Final = "flight/chunk-{chunk_index:03d}/episode-{file_index:03d}.mcap"
ROW_BYTES = 8192  # of an episode's row, roughly

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """A dataset's contents. `last`: the row of its last episode, which locates the next one."""

    episodes: int = 0
    frames: int = 0
    trials: int = 0  # trials behind it, failed ones too
    tasks: tuple[str, ...] = ()
    stats: Mapping[str, stats.Stats] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # camera → height, width
    last: Mapping[str, object] = field(default_factory=dict)


def read_contents(read: Read, document: Mapping[str, object]) -> DatasetContents:
    """From its own files; `document`: meta/worldfs.json."""
    info = parse_json(read(lerobot_dataset.INFO) or b"{}")
    tasks = lerobot_dataset.tasks_of(read(lerobot_dataset.TASKS) or b"")
    folded = stats.stats_from_json(parse_json(read(lerobot_dataset.STATS) or b"{}"))
    rows = lerobot_dataset.table_of(read(str(document["last_episodes_file"])) or b"")
    sizes = {
        name.removeprefix(lerobot_dataset.camera_key("")): (feature["shape"][0], feature["shape"][1])
        for name, feature in info["features"].items() if feature["dtype"] == "video"
    }  # fmt: skip
    last = rows.slice(rows.num_rows - 1).to_pylist()[0]
    return DatasetContents(
        info["total_episodes"], info["total_frames"], as_int(document["trials"]), tuple(tasks), folded, sizes, last
    )


def add_episodes(
    before: DatasetContents, recipe: DatasetRecipe, taken: Sequence[EncodedEpisode], read: Read
) -> tuple[dict[str, bytes], DatasetContents]:
    """The files that are new or change, by path, and the edition that they make."""
    import pyarrow as pa

    data = _FileSeries(lerobot_dataset.DATA, "", "data/", most_mb=lerobot_dataset.DATA_MB, last=before.last, read=read)
    listed = _FileSeries(
        lerobot_dataset.EPISODES, "", "meta/episodes/", most_mb=lerobot_dataset.DATA_MB, last=before.last, read=read
    )
    films = {
        camera: _FileSeries(
            lerobot_dataset.VIDEO, key, f"videos/{key}/", most_mb=lerobot_dataset.VIDEO_MB, last=before.last, read=read
        )
        for camera, key in ((camera, lerobot_dataset.camera_key(camera)) for camera in recipe.cameras)
    }
    files: dict[str, bytes] = {}
    rows: dict[int, list[dict[str, object]]] = {}
    now = before
    for kept in taken:
        now = replace(now, tasks=(*now.tasks, *({kept.words} - {*now.tasks})), trials=kept.trial + 1)
        task = now.tasks.index(kept.words)
        table = lerobot_dataset.frames(kept, recipe, now.episodes, now.frames, task)
        known = {**kept.stats, **_scalar_stats(kept, now, task, recipe.fps)}
        row: dict[str, object] = {
            "episode_index": now.episodes, "tasks": [kept.words], "length": kept.length,
            "dataset_from_index": now.frames, "dataset_to_index": now.frames + kept.length,
            "worldfs/family": kept.family, "worldfs/seed": kept.seed, "worldfs/trial": kept.trial,
        }  # fmt: skip
        row |= data.add(lerobot_dataset.parquet(table))
        sizes = dict(now.sizes)
        for camera, film in kept.films.items():
            sizes.setdefault(camera, video.size(film))
            row |= films[camera].add(film, kept.length / recipe.fps)
        row |= listed.add(b"", size=ROW_BYTES)
        row |= {f"stats/{name}/{key}": v for name, one in stats.stats_to_json(known).items() for key, v in one.items()}
        rows.setdefault(listed.number, []).append(row)
        if kept.flight:
            files[lerobot_dataset.file_path(FLIGHT, now.episodes)] = kept.flight
        now = replace(
            now, episodes=now.episodes + 1, frames=now.frames + kept.length, sizes=sizes, last=row,
            stats=stats.merge_stats(now.stats, known),
        )  # fmt: skip
    for number, parts in data.touched.items():
        files[data.path(number)] = lerobot_dataset.parquet(
            pa.concat_tables([lerobot_dataset.table_of(part) for part in parts])
        )
    for growing in films.values():
        files |= {growing.path(number): video.join(parts, recipe.fps) for number, parts in growing.touched.items()}
    for number, parts in listed.touched.items():
        files[listed.path(number)] = lerobot_dataset.parquet(_longer([part for part in parts if part], rows[number]))
    files |= {
        lerobot_dataset.INFO: lerobot_dataset.info(recipe, now.sizes, now.episodes, now.frames, len(now.tasks)),
        lerobot_dataset.STATS: _json(stats.stats_to_json(now.stats)),
        lerobot_dataset.TASKS: lerobot_dataset.tasks_file(now.tasks),
        OURS: _json({
            "recipe": recipe.as_json(), "trials": now.trials, "last_episodes_file": listed.path(listed.number)
        }),
    }  # fmt: skip
    return files, now


class _FileSeries:
    """The last file of a kind and those that follow it. `touched`: number → the parts that it is made of."""

    def __init__(
        self, pattern: str, key: str, prefix: str, *, most_mb: float, last: Mapping[str, object], read: Read
    ) -> None:
        self.touched: dict[int, list[bytes]] = {}
        self._pattern, self._key, self._prefix, self._most = pattern, key, prefix, most_mb * 1024**2
        self.number = as_int(last.get(f"{prefix}chunk_index")) * CHUNK + as_int(last.get(f"{prefix}file_index"))
        self._at = as_float(last.get(f"{prefix}to_timestamp"))
        before = read(self.path(self.number)) if last else None
        self._before = [] if before is None else [before]
        self._size = len(before or b"")

    def path(self, number: int) -> str:
        return lerobot_dataset.file_path(self._pattern, number, self._key)

    def add(self, part: bytes, seconds: float = 0.0, *, size: int = 0) -> dict[str, object]:
        """The fields of an episode's row about it."""
        size = size or len(part)
        if self._size and self._size + size > self._most:
            self.number, self._size, self._at, self._before = self.number + 1, 0, 0.0, []
        self.touched.setdefault(self.number, self._before).append(part)
        self._size += size
        document: dict[str, object] = {
            f"{self._prefix}chunk_index": self.number // CHUNK, f"{self._prefix}file_index": self.number % CHUNK
        }  # fmt: skip
        if seconds:
            document |= {f"{self._prefix}from_timestamp": self._at, f"{self._prefix}to_timestamp": self._at + seconds}
            self._at += seconds
        return document


def _scalar_stats(kept: EncodedEpisode, now: DatasetContents, task: int, fps: int) -> dict[str, stats.Stats]:
    found = lerobot_dataset.scalars(kept, now.episodes, now.frames, task, fps)
    return {name: stats.column_stats(values) for name, values in found.items()}


def _longer(before: Sequence[bytes], rows: Sequence[Mapping[str, object]]) -> pa.Table:
    import pyarrow as pa

    tables = [lerobot_dataset.table_of(part) for part in before]
    made = pa.Table.from_pylist([dict(row) for row in rows])
    return pa.concat_tables([*tables, made.cast(tables[0].schema) if tables else made])


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
