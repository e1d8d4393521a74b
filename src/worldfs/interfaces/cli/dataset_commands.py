"""The table of the commands that record demonstrations and run benchmarks."""

from __future__ import annotations

from .command_spec import ArgumentSpec, CommandSpec

DATASET_COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "record",
        "record tabletop demonstrations of the scripted expert, as a LeRobot dataset",
        "record_command:run",
        (
            ArgumentSpec(("directory",), "the dataset; one that is there already goes on", "DIR", completes="file"),
            ArgumentSpec(("--episodes",), "keep so many in all (default: 50)", "N", takes="count", default=50),
            ArgumentSpec(("--families",), "task families in turn (default: pick,place)", "NAMES", default="pick,place"),
            ArgumentSpec(("--seed",), "the world of the first trial; the next has the next (default: 0)", "N", "count"),
            ArgumentSpec(("--objects",), "things on the table (default: 3)", "N", takes="count", default=3),
            ArgumentSpec(
                ("--noise",), "noise of the gripper position per step, in metres (default: 0.002)", "M", "number",
                default=0.002,
            ),
            ArgumentSpec(("--cameras",), "also record cameras: front, wrist or front,wrist", "NAMES"),
        ),
        "LeRobotDataset v3.0, with a flight log (MCAP) of each episode in DIR/flight. Only successful ones are kept. "
        "Ctrl-C ends it after the present episode; killed at any moment, DIR holds whole episodes and goes on next "
        "time.",
    ),
    CommandSpec(
        "bench tabletop",
        "benchmark skills and policies on six task families",
        "benchmark_command:run",
        (
            ArgumentSpec(
                ("--contestant",),
                "skills, rekep, NAME=FILE.onnx or NAME=TYPE:ENDPOINT; may be repeated (default: skills)", "NAME",
                many="*",
            ),
            ArgumentSpec(
                ("--families",), "some of pick,place,stack,sort,clear,recover (default: all)", "NAMES"
            ),
            ArgumentSpec(("--seeds",), "seeds of each family (default: 20)", "N", takes="count", default=20),
            ArgumentSpec(("--seed",), "first seed (default: 5000)", "N", takes="count", default=5000),
            ArgumentSpec(("--workers",), "simulations at a time: 1 or 2 (default: 1)", "N", takes="count", default=1),
            ArgumentSpec(
                ("--out",), "directory of trials and results (default: bench-tabletop)", "DIR", completes="file",
                default="bench-tabletop",
            ),
        ),
        "results.md and results.json in DIR, with confidence intervals. A trial that is finished is in "
        "DIR/trials.jsonl and is never done again: stopped or killed, the same command goes on.",
    ),
    CommandSpec(
        "bench instructions",
        "benchmark the grammar and the configured model on 200 instructions in 20 scenes",
        "instructions_command:run",
        (
            ArgumentSpec(
                ("--contestant",),
                "grammar, grammar+model or model; may be repeated (default: all, without a model the grammar)", "NAME",
                many="*",
            ),
            ArgumentSpec(("--every",), "only every Nth instruction (default: 1, all)", "N", takes="count", default=1),
        ),
        "Each in a simulated world of its own, in memory; what is right is measured there. The model is "
        "`models.planner` of config.json.",
    ),
)  # fmt: skip
