"""The table of the commands that make demonstrations and compare who carries tasks out."""

from __future__ import annotations

from .command import Argument, Command

LAB: tuple[Command, ...] = (
    Command(
        "record",
        "make demonstrations of the table with the scripted expert, as a LeRobot dataset",
        "record:run",
        (
            Argument(("directory",), "the dataset; one that is there already goes on", "DIR", completes="file"),
            Argument(("--episodes",), "keep so many in all (default: 50)", "N", takes="count", default=50),
            Argument(("--families",), "what is shown, in turn (default: pick,place)", "NAMES", default="pick,place"),
            Argument(("--seed",), "the world of the first trial; the next has the next (default: 0)", "N", "count"),
            Argument(("--objects",), "things on the table (default: 3)", "N", takes="count", default=3),
            Argument(
                ("--noise",), "metres that the hand is pushed aside at each step (default: 0.002)", "M", "number",
                default=0.002,
            ),
            Argument(("--cameras",), "film it, too: front, wrist or front,wrist", "NAMES"),
        ),
        "LeRobotDataset v3.0, with a flight log (MCAP) of each episode in DIR/flight. Only what succeeded is kept. "
        "Ctrl-C ends it after the present episode; killed at any moment, DIR holds whole episodes and goes on next "
        "time.",
    ),
)  # fmt: skip
