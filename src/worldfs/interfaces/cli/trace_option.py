"""`paos up --traces URL`: each ended job as a trace of OpenTelemetry."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

from .command_context import CommandContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from worldfs.base.model import Finding, Job
    from worldfs.world.world import World

    Log = Callable[[str, Job], None]


class TraceOption:
    """The exporter that the option, or the standard's variable, asks for; without one, nothing is loaded."""

    def __init__(self, context: CommandContext, stack: ExitStack) -> None:
        """Raises `MissingRequirement` where the option was given; for a variable, which may be meant for other
        programs, a notice is printed."""
        self._world: World | None = None
        self._export: Log | None = None
        if not (context["traces"] or any(name.startswith("OTEL_EXPORTER_OTLP") for name in context.environ)):
            return
        from worldfs.plugins.traces import TraceExporter, trace_address

        if not (url := trace_address(context["traces"] or "", context.environ)):
            return
        try:
            self._export = stack.enter_context(TraceExporter(url, context.workspace, SystemClock(), self._alert))
        except MissingRequirement as error:
            if context["traces"]:
                raise
            context.output.notice(coded("command.no_traces", found=error.found, fix=error.fix))

    def beside(self, log: Log) -> Log:
        """`log`, and the exporter after it."""
        export = self._export
        if export is None:
            return log

        def both(what: str, job: Job) -> None:
            log(what, job)
            export(what, job)

        return both

    def report_to(self, world: World) -> None:
        """From now on an alert is one of this world."""
        self._world = world

    def _alert(self, where: str, finding: Finding | None) -> None:
        """From the exporter's thread."""
        world = self._world
        if world is not None and world.kernel is not None:
            world.kernel.alert(where, finding)
            world.wake()
