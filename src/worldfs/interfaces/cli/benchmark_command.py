"""`paos bench tabletop`: how many of the tabletop tasks each candidate carries out, in a Markdown table and JSON."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.model.profile import CAMERA, PERCEPTIONS

from .command_context import CommandContext
from .signals import stop_on

if TYPE_CHECKING:
    from worldfs.base.model import Json


def run(context: CommandContext) -> int:
    """Exit 0 when every trial is finished, however it ended; 1 when it was stopped before."""

    with needs("sim", op="bench tabletop"):
        from worldfs.plugins.benchmark.benchmark_methods import parse_method
        from worldfs.plugins.benchmark.benchmark_run import run_benchmark
        from worldfs.plugins.benchmark.honest_world import parse_ranges
        from worldfs.plugins.benchmark.task_families import FAMILIES
    families = [word.strip() for word in (context["families"] or ",".join(FAMILIES)).split(",") if word.strip()]
    odd = [name for name in families if name not in FAMILIES]
    if odd or not families:
        expected = coded("common.some_of", names=list(FAMILIES))
        raise BadInput(", ".join(odd) or coded("common.none"), path="--families", expected=expected, code="USAGE")
    contestants = [parse_method(text) for text in context["contestant"] or ["skills"]]
    if len({one.name for one in contestants}) < len(contestants):
        expected = coded("command.contestant")
        raise BadInput(coded("command.two_names"), path="--contestant", expected=expected, code="USAGE")
    perception = context["perception"]
    if perception not in PERCEPTIONS:
        expected = coded("common.either_of", names=list(PERCEPTIONS))
        raise BadInput(perception, path="--perception", expected=expected, code="USAGE")
    ranges = parse_ranges(context["world"] or (), every=context["disturb"], cameras=perception == CAMERA)
    seeds = range(context["seed"], context["seed"] + context["seeds"])
    place = Path(context["out"]).expanduser().absolute()
    stop = threading.Event()

    def ask() -> None:
        stop.set()
        context.output.notice(coded("command.after_trials"))

    def told(line: Json, finished: int, of: int) -> None:
        count = f"{line['attempts']} attempt{'s' * (line['attempts'] != 1)} at {line['goals']}"
        again = "" if not line["ok"] or line["first"] else ", not at the first"
        word = f"done{again} ({count})" if line["ok"] else f"not done ({count}): {line['why']}"
        world = ", drawn world" if line.get("world") else ""
        context.output.report(
            f"{finished:5}/{of}  {line['contestant']}  {line['family']} {line['seed']}{world}: {word}",
            {"event": "trial", "finished": finished, "of": of, **line}, "" if line["ok"] else "warn",
        )  # fmt: skip

    with stop_on(ask):
        found = run_benchmark(
            place, contestants, families, seeds, workers=context["workers"], stop=stop, on_trial=told,
            perception=perception, ranges=ranges,
        )  # fmt: skip
    context.output.lines((place / "results.md").read_text("utf-8"))
    context.output.value({"event": "result", "directory": str(place), **found})
    return 0 if found["finished"] == found["trials"] else 1
