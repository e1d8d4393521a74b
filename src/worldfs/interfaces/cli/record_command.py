"""`paos record`: demonstrations of the table by the scripted expert, as a LeRobot dataset."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from .command_context import CommandContext
from .signals import stop_on

if TYPE_CHECKING:
    from worldfs.plugins.recording.recording import RecordingProgress


def run(context: CommandContext) -> int:
    """Exit 0 when all requested episodes exist; 1 when it was stopped before."""
    from worldfs.plugins.recording.episode import RecordingRecipe
    from worldfs.plugins.recording.recording import record

    recipe = RecordingRecipe(
        families=_words(context["families"]), seed=context["seed"] or 0,
        objects=context["objects"], noise=context["noise"],
        cameras=_words(context["cameras"] or ""),
    )  # fmt: skip
    stop = threading.Event()

    def ask() -> None:
        context.output.notice("paos: ends after this episode …")
        stop.set()

    def tell(tally: RecordingProgress) -> None:
        made = tally.last
        if made is None:
            return
        value = {"event": "episode", "trial": made.trial, "family": made.family, "seed": made.seed,
                 "success": made.success, "frames": made.length, "episodes": tally.episodes}  # fmt: skip
        word = "kept" if made.success else "not kept: the expert failed"
        context.output.report(f"{tally.episodes:5}  seed {made.seed}  {made.words}: {made.length} steps, {word}", value)

    with stop_on(ask, signal.SIGINT, signal.SIGTERM):
        tally = record(Path(context["directory"]).expanduser(), recipe, context["episodes"], stop, tell)
    context.output.report(
        f"{tally.episodes} episodes, {tally.frames} frames in {context['directory']}; {tally.failed} trials failed",
        {"event": "result", "episodes": tally.episodes, "frames": tally.frames, "failed": tally.failed},
        "good" if tally.episodes >= context["episodes"] else "warn",
    )
    return 0 if tally.episodes >= context["episodes"] else 1


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
