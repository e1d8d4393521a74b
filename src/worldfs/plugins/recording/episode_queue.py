"""Episodes that wait beside a dataset: one file each, whole and durable by its name."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from worldfs.base.durable import Root
from worldfs.base.errors import NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded

from . import stats
from .episode import Episode
from .flight_log import encode_flight_log
from .lerobot_dataset import EncodedEpisode, camera_key
from .video import encode

_NAME = re.compile(r"(\d{9})\.npz")


def encode_episode(episode: Episode, fps: int) -> EncodedEpisode:
    """Films encoded, statistics taken, the flight log written: what the dataset needs of it."""
    found = {name: stats.column_stats(values) for name, values in episode.columns.items()}
    found |= {camera_key(camera): stats.image_stats(frames) for camera, frames in episode.pictures.items()}
    films = {camera: encode(frames, fps) for camera, frames in episode.pictures.items()}
    return EncodedEpisode(
        episode.trial, episode.family, episode.seed, episode.words, episode.columns, films, found,
        encode_flight_log(episode, fps),
    )  # fmt: skip


class EpisodeQueue:
    """The directory `place` below `root`. One writer."""

    def __init__(self, root: Root, place: str) -> None:
        self._root, self._place = root, place

    def add(self, kept: EncodedEpisode) -> None:
        """Durable when this returns."""
        header = {
            "trial": kept.trial, "family": kept.family, "seed": kept.seed, "words": kept.words,
            "stats": stats.stats_to_json(kept.stats), "films": list(kept.films), "success": kept.success,
        }  # fmt: skip
        parts: dict[str, Any] = {f"column.{name}": values for name, values in kept.columns.items()}
        parts |= {f"film.{camera}": np.frombuffer(film, np.uint8) for camera, film in kept.films.items()}
        parts |= {"flight": np.frombuffer(kept.flight, np.uint8), "said": np.frombuffer(_json(header), np.uint8)}
        out = io.BytesIO()
        np.savez(out, **parts)
        self._root.replace(f"{self._place}/{kept.trial:09d}.npz", out.getvalue())

    def trials(self) -> list[int]:
        """In order."""
        try:
            names = self._root.folder(self._place).names()
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))

    def remove(self, trial: int) -> None:
        self._root.remove(f"{self._place}/{trial:09d}.npz")

    def take(self) -> Iterator[EncodedEpisode]:
        for trial in self.trials():
            data = self._root.read(f"{self._place}/{trial:09d}.npz")
            if data is None:
                raise NotFound(coded("plugin.episode_gone"), path=f"{self._place}/{trial:09d}.npz", op="record")
            with np.load(io.BytesIO(data), allow_pickle=False) as parts:
                header = parse_json(parts["said"].tobytes())
                yield EncodedEpisode(
                    header["trial"], header["family"], header["seed"], header["words"],
                    {name.removeprefix("column."): parts[name] for name in parts.files if name.startswith("column.")},
                    {camera: parts[f"film.{camera}"].tobytes() for camera in header["films"]},
                    stats.stats_from_json(header["stats"]), parts["flight"].tobytes(), header.get("success", True),
                )  # fmt: skip


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
