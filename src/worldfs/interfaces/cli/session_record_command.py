"""`paos robot record`: sessions that kept their pictures, as a LeRobot dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from .command_context import CommandContext


def run(context: CommandContext) -> int:
    """Each session is durable in the dataset before the next is read. Raises `BadInput` for one of another kind."""
    from worldfs.plugins.recording.dataset import Dataset
    from worldfs.plugins.recording.session_episode import session_episode, session_recipe
    from worldfs.sessions.episode_trace import FOLDER

    with context.open() as world:
        artifacts = world.root / "artifacts" / FOLDER
    folders = [artifacts / name for name in context["sessions"]]
    recipe = session_recipe(folders[0])
    for folder in folders[1:]:
        if (other := session_recipe(folder)) != recipe:
            raise BadInput(
                coded("plugin.other_session", found=str(other.as_json())), path=folder.name, op="robot record",
                expected=str(recipe.as_json()),
            )  # fmt: skip
    dataset = Dataset(Path(context["directory"]).expanduser(), recipe)
    try:
        for folder in folders:
            dataset.add(session_episode(folder, recipe, dataset.next_trial))
        dataset.commit()
        facts = {"episodes": dataset.episodes, "frames": dataset.edition.frames}
    finally:
        dataset.close()
    said = coded("command.recorded", path=context["directory"], failed=0, **facts)
    context.output.report(said, {"event": "result", **facts}, "good")
    return 0
