"""The recording: trials in turn until so many episodes are kept, each durable before the next begins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from worldfs.base.errors import MissingRequirement
from worldfs.base.extras import require
from worldfs.base.messages import coded
from worldfs.robots.mujoco.gl import gl_status

from .dataset import Dataset
from .episode import Episode, RecordingRecipe, record_episode
from .episode_queue import encode_episode


class RecordingProgress(NamedTuple):
    """A recording's progress: `failed` are trials of this run that the expert did not manage; they are not kept."""

    episodes: int
    frames: int
    failed: int
    last: Episode | None = None


def record(
    directory: Path,
    recipe: RecordingRecipe,
    episodes: int,
    stop: threading.Event,
    tell: Callable[[RecordingProgress], None],
) -> RecordingProgress:
    """Goes on where an earlier recording ended. Raises `MissingRequirement` for what is not installed."""
    check_installed(recipe)
    from worldfs.robots.mujoco.env import TabletopEnv

    dataset = Dataset(directory, recipe)
    try:
        env = TabletopEnv(
            objects=recipe.objects, control_hz=recipe.fps, pictures=recipe.cameras,
            picture_sizes=dict.fromkeys(recipe.cameras, recipe.picture_size),
        )  # fmt: skip
        try:
            failed, trial = 0, dataset.next_trial
            while dataset.episodes < episodes and not stop.is_set():
                made = record_episode(env, recipe, trial)
                trial += 1
                if made.success:
                    dataset.add(encode_episode(made, recipe.fps))
                else:
                    failed += 1
                tell(RecordingProgress(dataset.episodes, dataset.edition.frames, failed, made))
        finally:
            env.close()
        dataset.commit()
        return RecordingProgress(dataset.episodes, dataset.edition.frames, failed)
    finally:
        dataset.close()


def check_installed(recipe: RecordingRecipe) -> None:
    """Called before a world is built for nothing."""
    require("sim", "record", op="record")
    if recipe.cameras:
        status = gl_status()
        if not status.backend:
            raise MissingRequirement(
                coded("plugin.no_pictures", status=str(status)), op="--cameras", fix=coded("plugin.without_cameras")
            )
