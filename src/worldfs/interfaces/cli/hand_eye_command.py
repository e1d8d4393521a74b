"""`paos robot hand-eye`: where a camera sits on the hand, from a recorded session that looked at a printed board."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.given_file import check_made_file, read_given_file
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from worldfs.plugins.teleoperation.hand_eye import Array
    from worldfs.plugins.teleoperation.marker_board import Picture

    from .command_context import CommandContext


def run(context: CommandContext) -> int:
    """Prints the board with `--print`. Raises `BadInput` for pictures that determine nothing."""
    from worldfs.plugins.teleoperation.hand_eye import solve, vector
    from worldfs.plugins.teleoperation.marker_board import MarkerBoard, camera_matrix, sights

    board = MarkerBoard(context["across"], context["down"], context["square"], context["marker"])
    if context["print"]:
        return _print(context, board.picture(200))
    if not context["session"]:
        raise BadInput(coded("common.nothing"), path="SESSION", expected=coded("plugin.session_or_print"))
    hands, pictures = _looks(context, context["session"], context["camera"])
    matrix = camera_matrix(board, pictures)
    found = solve(sights(board, pictures, hands, matrix), matrix)
    values = [round(float(n), 6) for n in vector(found.camera)]
    facts = {
        "position": values[3:], "rotation_vector": values[:3], "camera_matrix": matrix.round(3).tolist(),
        "pictures": found.pictures, "rms_px": round(found.rms_px, 3), "spread_mm": round(found.spread_mm, 2),
        "spread_deg": round(found.spread_deg, 3),
    }  # fmt: skip
    context.output.report(
        coded("plugin.hand_eye", camera=context["camera"], at=str(values[3:]), turn=str(values[:3]),
              px=found.rms_px, mm=found.spread_mm, deg=found.spread_deg, n=found.pictures), facts, "good",
    )  # fmt: skip
    return 0


def _print(context: CommandContext, picture: Picture) -> int:
    from PIL import Image

    check_made_file(context["print"], op="--print")
    Image.fromarray(picture).save(context["print"])
    context.output.report(coded("plugin.board_printed", path=context["print"]), {"board": context["print"]}, "good")
    return 0


def _looks(context: CommandContext, session: str, camera: str) -> tuple[list[Array], list[Picture]]:
    """The hand's pose and the camera's picture of each step of a recorded session, every so many."""
    import numpy as np
    from PIL import Image

    from worldfs.plugins.recording.session_episode import PICTURES, read_session
    from worldfs.robots import rotations
    from worldfs.sessions.episode_trace import FOLDER

    with context.open() as world:
        folder: Path = world.root / "artifacts" / FOLDER / session
    _, lines = read_session(folder)
    hands, pictures = [], []
    for line in lines[:: max(1, len(lines) // MOST)]:
        file = folder / PICTURES / camera / f"{line['step']:06d}.jpg"
        held = line.get("ee_pose")
        if not file.exists() or not isinstance(held, list):
            raise BadInput(
                coded("plugin.no_frame", file=file.name) if held else coded("plugin.no_hand"), path=str(folder)
            )  # fmt: skip
        hand = np.eye(4)
        hand[:3, :3], hand[:3, 3] = rotations.matrix(held[3:7]), held[:3]
        hands.append(hand)
        pictures.append(np.asarray(Image.open(BytesIO(read_given_file(file, op="robot hand-eye")))))
    return hands, pictures


MOST = 60  # pictures that are looked at
