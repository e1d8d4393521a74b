"""A session that kept its pictures, as an episode of a LeRobot dataset: led by hand or by a policy, on any target.

`execution: {record: true}` in SESSIONS.md keeps the pictures of each step beside the session's trace. A frame here is
what was observed before an action, and that action; so the first step, of which only the observation after it was kept,
is the observation of the first frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_list
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.robots.targets.target_adapter import Array

from . import stats
from .lerobot_dataset import EncodedEpisode, camera_key
from .video import encode

OWN: Final = ("joint_states", "gripper", "ee_pose", "base_pose", "base_velocity", "state")  # a robot's own readings
PICTURES: Final = "frames"


@dataclass(frozen=True, slots=True)
class SessionRecipe:
    """Of the first session of a dataset; those that follow must agree."""

    target: str
    skill: str
    state: tuple[tuple[str, int], ...]  # observation → its numbers
    action: int
    cameras: tuple[str, ...]
    fps: int

    @property
    def robot_type(self) -> str:
        return self.target

    def columns(self) -> dict[str, list[str]]:
        return {
            "observation.state": [f"{name}.{i}" for name, size in self.state for i in range(size)],
            "action": [f"action.{i}" for i in range(self.action)],
        }

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "state": [list(part) for part in self.state], "cameras": list(self.cameras)}


def session_recipe(folder: Path) -> SessionRecipe:
    """Raises `NotFound` for a folder without a session's trace, `BadInput` for one without pictures or steps."""
    episode, lines = read_session(folder)
    cameras = tuple(sorted(item.name for item in (folder / PICTURES).iterdir())) if (folder / PICTURES).is_dir() else ()
    if len(lines) < 2 or "action" not in lines[1]:
        raise BadInput(coded("plugin.short_session", n=len(lines)), path=str(folder), op="robot record")
    if not episode.get("recorded"):
        raise BadInput(
            coded("plugin.not_recorded"), path=str(folder), op="robot record", fix=coded("plugin.record_it")
        )  # fmt: skip
    state = tuple((name, len(as_list(lines[0][name]))) for name in OWN if name in lines[0])
    evidence = episode.get("evidence")
    hz = as_float(evidence.get("control_hz")) if isinstance(evidence, dict) else 0.0
    action = len(as_list(lines[1]["action"]))
    return SessionRecipe(
        str(episode.get("target")), str(episode.get("skill")), state, action, cameras, max(1, round(hz or 20))
    )  # fmt: skip


def session_episode(folder: Path, recipe: SessionRecipe, trial: int) -> EncodedEpisode:
    """Raises `BadInput` where a step lacks a number or a picture that the first one has."""
    episode, lines = read_session(folder)
    pairs = list(pairwise(lines))  # the observation after one step is what the next one acts on
    state = [[as_float(n) for name, _ in recipe.state for n in as_list(before.get(name))] for before, _ in pairs]
    action = [[as_float(n) for n in as_list(after.get("action"))] for _, after in pairs]
    sizes = {name: len(names) for name, names in recipe.columns().items()}
    for rows, size in ((state, sizes["observation.state"]), (action, sizes["action"])):
        if bad := next((i for i, row in enumerate(rows) if len(row) != size), None):
            raise BadInput(coded("plugin.other_numbers", step=bad + 1, n=len(rows[bad]), size=size), path=str(folder))
    columns = {"observation.state": np.array(state, np.float32), "action": np.array(action, np.float32)}
    pictures = {camera: _pictures(folder, camera, len(pairs)) for camera in recipe.cameras}
    found = {name: stats.column_stats(values) for name, values in columns.items()}
    found |= {camera_key(camera): stats.image_stats(frames) for camera, frames in pictures.items()}
    words = str(episode.get("words") or episode.get("skill"))
    return EncodedEpisode(
        trial, folder.name, 0, words, columns, {name: encode(frames, recipe.fps) for name, frames in pictures.items()},
        found, success=episode.get("success") is True,
    )  # fmt: skip


def _pictures(folder: Path, camera: str, count: int) -> Array:
    from PIL import Image

    files = [folder / PICTURES / camera / f"{step:06d}.jpg" for step in range(1, count + 1)]
    if absent := [file for file in files if not file.exists()]:
        raise BadInput(coded("plugin.no_frame", file=str(absent[0])), path=str(folder), op="robot record")
    return np.stack([np.asarray(Image.open(BytesIO(read_given_file(file, op="robot record")))) for file in files])


def read_session(folder: Path) -> tuple[Json, Sequence[Json]]:
    """episode.json and the lines of its trace. Raises `NotFound` where they are not there, or broken."""
    try:
        episode = parse_json(read_given_file(folder / "episode.json", op="robot record"))
        lines = [parse_json(line) for line in read_given_file(folder / "trace.jsonl", op="robot record").splitlines()]
    except (WorldError, ValueError) as error:
        raise NotFound(
            coded("plugin.no_session", why=str(error)), path=str(folder), op="robot record",
            fix=coded("plugin.record_it"),
        ) from None  # fmt: skip
    return episode, lines
