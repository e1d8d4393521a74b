"""The table of the commands that record demonstrations and run benchmarks."""

from __future__ import annotations

from .command_spec import ArgumentSpec, CommandSpec

DATASET_COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "record",
        "help.record",
        "record_command:run",
        (
            ArgumentSpec(("directory",), "help.record_directory", "DIR", completes="file"),
            ArgumentSpec(("--episodes",), "help.record_episodes", "N", takes="count", default=50),
            ArgumentSpec(("--families",), "help.record_families", "NAMES", default="pick,place"),
            ArgumentSpec(("--seed",), "help.record_seed", "N", "count"),
            ArgumentSpec(("--objects",), "help.record_objects", "N", takes="count", default=3),
            ArgumentSpec(("--noise",), "help.record_noise", "M", "number", default=0.002),
            ArgumentSpec(("--cameras",), "help.record_cameras", "NAMES"),
            ArgumentSpec(("--picture-size",), "help.record_picture_size", "WIDTHxHEIGHT", default="640x480"),
        ),
        "help.record_more",
    ),
    CommandSpec(
        "bench tabletop",
        "help.bench_tabletop",
        "benchmark_command:run",
        (
            ArgumentSpec(("--contestant",), "help.bench_tabletop_contestant", "NAME", many="*"),
            ArgumentSpec(("--families",), "help.bench_tabletop_families", "NAMES"),
            ArgumentSpec(("--seeds",), "help.bench_tabletop_seeds", "N", takes="count", default=20),
            ArgumentSpec(("--seed",), "help.bench_tabletop_seed", "N", takes="count", default=5000),
            ArgumentSpec(("--perception",), "help.bench_tabletop_perception", "SOURCE", default="truth"),
            ArgumentSpec(("--world",), "help.bench_tabletop_world", "FACTOR=RANGE", many="*"),
            ArgumentSpec(("--disturb",), "help.bench_tabletop_disturb"),
            ArgumentSpec(("--workers",), "help.bench_tabletop_workers", "N", takes="count", default=1),
            ArgumentSpec(("--out",), "help.bench_tabletop_out", "DIR", completes="file", default="bench-tabletop"),
        ),
        "help.bench_tabletop_more",
    ),
    CommandSpec(
        "bench instructions",
        "help.bench_instructions",
        "instructions_command:run",
        (
            ArgumentSpec(("--contestant",), "help.bench_instructions_contestant", "NAME", many="*"),
            ArgumentSpec(("--every",), "help.bench_instructions_every", "N", takes="count", default=1),
        ),
        "help.bench_instructions_more",
    ),
)
