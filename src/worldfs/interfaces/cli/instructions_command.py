"""`paos bench instructions`: what grammar and model make of 200 instructions, measured in the physics world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.stop_signal import StopSignal
from worldfs.world.instruction_model import PLANNER, planner_model

from .command_context import CommandContext
from .signals import stop_on

if TYPE_CHECKING:
    from worldfs.base.chat_model import RecordingModel
    from worldfs.plugins.benchmark.instruction_list import InstructionCase


def run(context: CommandContext) -> int:
    """Exit 0 when every instruction was tried, whatever came of it; 1 when it was stopped before."""
    with needs("sim", op="bench instructions"):
        from worldfs.plugins.benchmark.instruction_list import instruction_cases
        from worldfs.plugins.benchmark.instruction_run import CONTESTANTS, GOOD, GRAMMAR, run_instructions
        from worldfs.plugins.benchmark.instruction_score import instructions_summary, instructions_table
    clock, home = SystemClock(), context.home
    model = planner_model(home.config(context.environ), home.path, context.environ, clock)
    contestants = context["contestant"] or (CONTESTANTS if model is not None else (GRAMMAR,))
    if odd := [name for name in contestants if name not in CONTESTANTS]:
        some = coded("common.some_of", names=list(CONTESTANTS))
        raise BadInput(", ".join(odd), path="--contestant", expected=some, code="USAGE")
    if model is None and set(contestants) != {GRAMMAR}:
        fix = coded("command.name_model", path=home.config_path)
        raise BadInput(coded("command.no_model", name=PLANNER), op="bench instructions", fix=fix)
    cases = instruction_cases()[:: max(1, context["every"])]
    stop = StopSignal()

    def opened(case: InstructionCase) -> RecordingModel:
        assert model is not None
        return model.open()

    results = []
    with stop_on(stop.set):
        for found in run_instructions(cases, contestants, opened, clock, stop):
            results.append(found)
            context.output.report(
                f"{len(results):5}/{len(cases) * len(contestants)}  {found.contestant}  {found.case}: {found.outcome}",
                {"event": "instruction", **found.as_json()}, "" if found.outcome in GOOD else "warn",
            )  # fmt: skip
    context.output.lines(instructions_table(results))
    context.output.value({"event": "result", **instructions_summary(results)})
    return 0 if len(results) == len(cases) * len(contestants) else 1
