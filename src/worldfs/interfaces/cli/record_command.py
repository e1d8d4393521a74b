"""`paos record`: demonstrations of the table by the scripted expert, as a LeRobot dataset."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

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
        cameras=_words(context["cameras"] or ""), picture_size=_size(context["picture_size"]),
    )  # fmt: skip
    stop = threading.Event()

    def ask() -> None:
        stop.set()
        context.output.notice(coded("command.after_episode"))

    def tell(tally: RecordingProgress) -> None:
        made = tally.last
        if made is None:
            return
        value = {"event": "episode", "trial": made.trial, "family": made.family, "seed": made.seed,
                 "success": made.success, "frames": made.length, "episodes": tally.episodes}  # fmt: skip
        code = "command.episode_kept" if made.success else "command.episode_dropped"
        said = coded(code, n=tally.episodes, seed=made.seed, task=made.words, steps=made.length)
        context.output.report(said, value)

    with stop_on(ask):
        tally = record(Path(context["directory"]).expanduser(), recipe, context["episodes"], stop, tell)
    facts = {"episodes": tally.episodes, "frames": tally.frames, "failed": tally.failed}
    context.output.report(
        coded("command.recorded", path=context["directory"], **facts),
        {"event": "result", **facts},
        "good" if tally.episodes >= context["episodes"] else "warn",
    )
    return 0 if tally.episodes >= context["episodes"] else 1


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise BadInput(text, path="--picture-size", expected="WIDTHxHEIGHT", code="USAGE")
    return int(width), int(height)
