"""`paos up`: the kernel and the drivers, and a line for each event."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import partial, reduce
from typing import TYPE_CHECKING

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.stop_signal import StopSignal
from worldfs.world.fleet_share import FleetShare, read_share
from worldfs.world.status_report import job_value

from .command_context import CommandContext
from .exits import DONE, REFUSED
from .serve import check_ports, serve_beside
from .signals import stop_on
from .standby import may_wait, wait_for_leases
from .status_diff import alert_text, job_line, job_mood
from .trace_option import TraceOption

if TYPE_CHECKING:
    from worldfs.base.model import Finding, Job
    from worldfs.runtime.kernel import Kernel
    from worldfs.world.world import World

PRINTED_EVENTS = {"running", "ended", "retry", "lost"}  # for people; programs receive every event


def run(context: CommandContext) -> int:
    """Exit 0 when asked to stop, or idle with --until-idle; 1 when that ends with jobs that no robot may begin, or
    with a sheet that cannot be read.

    Raises `Busy` when another kernel holds the workspace; with --standby it waits, and serves when that one has gone.
    """
    if context["serve"]:
        check_ports(context)
    stop = StopSignal()
    if not context["standby"]:
        return _serve(context, stop)
    heard = ""  # it is said once
    with stop_on(stop.set):
        while not stop.is_set():
            try:
                return _serve(context, stop)
            except WorldError as error:
                if not may_wait(error):
                    raise
                if error.found != heard:
                    heard, said = error.found, coded("command.standing_by", found=error.found)
                    value = {"event": "kernel", "state": "standby", "found": error.as_dict()}
                    context.output.report(said, value, "warn")
            names = _share(context).leases()
            wait_for_leases(context.workspace, context["store"] or "", names, stop)
    return DONE


def _share(context: CommandContext) -> FleetShare:
    return read_share(context["robot"], context.config, hub=context["no_robots"])


def _serve(context: CommandContext, stop: StopSignal) -> int:
    with ExitStack() as signals, ExitStack() as stack:  # signals are heard until all is closed
        teller, traces = JobEventPrinter(context), TraceOption(context, stack)
        world = stack.enter_context(
            context.open(serve=True, log=traces.beside(teller), engine=context["store"] or "", share=_share(context))
        )
        traces.report_to(world)
        stack.enter_context(stop.calling(world.wake))
        kernel = world.kernel
        signals.enter_context(stop_on(stop.set, partial(leave_at_once, context, kernel)))
        _greet(context, world)
        world.listen_alerts(teller.alert)
        if context["serve"]:
            stack.enter_context(serve_beside(context, world))
        gc.freeze()  # to look through all that is there would hold up a stop
        world.run(until_idle=context["until_idle"], stop=stop)
        held = context["until_idle"] and not stop.is_set() and _held(context, world)
    if kernel is not None and (moving := kernel.stopping.moving()):  # by now all that it asked has been answered
        value = {"event": "kernel", "state": "ending", "may_move": moving}
        context.output.report(coded("stop.start_failed", nodes=moving), value, "bad")
    context.output.report(coded("command.kernel_stopped"), {"event": "kernel", "state": "stopped"})
    return REFUSED if held else DONE


def leave_at_once(context: CommandContext, kernel: Kernel | None) -> None:
    """Tell the drivers to stop before this process ends without waiting for them, and say what is known."""
    moving = kernel.leave() if kernel is not None else []
    if moving:
        value = {"event": "kernel", "state": "leaving", "may_move": moving}
        with suppress(OSError):  # nothing reads its output any more
            context.output.report(coded("command.left_moving", nodes=moving), value, "bad")


class JobEventPrinter:
    """Prints each event of a job. A closed pipe silences it: the kernel goes on."""

    def __init__(self, context: CommandContext) -> None:
        self._output = context.output
        self._heard = True

    def __call__(self, what: str, job: Job) -> None:
        if not self._heard:
            return

        value = job_value(job)
        with self._silenced():
            if what in PRINTED_EVENTS:
                self._output.line(job_line(value), job_mood(value))
            self._output.value({"event": what, **value})

    def alert(self, finding: Finding) -> None:
        """Print a new problem: a document that cannot be read, an entry that is refused."""

        if not self._heard:
            return
        value = asdict(finding)
        with self._silenced():
            self._output.report(
                coded("command.alert", said=alert_text(value)), {"event": "alert", "alert": value}, "warn"
            )

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._heard = False
        except OSError:  # the disk is full on which its output is kept: this line is lost, and ends no kernel
            pass


def _held(context: CommandContext, world: World) -> bool:
    """Say which jobs wait for which robots, if none of them may begin; which missions wait; and which sheets could not
    be read."""
    return _held_missions(context, world) | _held_jobs(context, world) | _unread_sheets(context, world)


def _unread_sheets(context: CommandContext, world: World) -> bool:
    names = world.kernel.sheets.unread if world.kernel is not None else []
    if names:
        said = {"event": "kernel", "state": "unread", "files": names}
        context.output.report(coded("command.unread_sheets", names=names), said, "warn")
    return bool(names)


def _held_missions(context: CommandContext, world: World) -> bool:
    from worldfs.world.mission_files import open_missions

    waiting = [mission for mission in open_missions(world.missions) if mission.status.waits]
    for mission in waiting:
        title, why = mission.order.title or mission.order.text, mission.status.waits
        said = {"event": "mission", "state": "waiting", "mission": mission.id, "waits": why}
        context.output.report(coded("mission.held", mission=title, why=why), said, "warn")
    return bool(waiting)


def _held_jobs(context: CommandContext, world: World) -> bool:
    kernel = world.kernel
    nodes = kernel.held if kernel is not None else []
    if kernel is None or not nodes:
        return False
    jobs = [job.id for job in kernel.open_jobs()]
    stopped = [node for node in nodes if world.stops.state(node).stopped]
    resume = "--all" if len(stopped) > 1 else f"--node {stopped[0]}" if stopped else ""
    resumed = coded("command.stopped_resume", nodes=stopped, name=context.name, which=resume)
    reasons: list[str] = [resumed] if stopped else []
    asking = {item.node for item in world.approvals.requests() if item.answer is None}
    reasons += [
        coded("approval.held", node=node, name=context.name)
        if node in asking
        else kernel.silent.why(node) or coded("command.switched_off", node=node)
        for node in nodes
        if node not in stopped
    ]
    why = reduce(lambda one, more: coded("command.or_say", one=one, more=more), reasons)
    many = coded("command.jobs_wait", n=len(jobs), said=why)
    said = {"event": "kernel", "state": "held", "jobs": jobs, "nodes": nodes}
    context.output.report(many if len(jobs) > 1 else coded("command.job_waits", id=jobs[0], said=why), said, "warn")
    return True


def _greet(context: CommandContext, world: World) -> None:
    status = world.status()
    given = context["driver"]
    bodies: dict[str, str] = {
        spec.id: coded("command.in_place_of", given=given, driver=spec.driver)
        if given and given != spec.driver
        else spec.driver
        for spec in world.specs
    }
    targets = world.targets.targets() if world.targets is not None else {}
    for id, target in targets.items():
        bodies.setdefault(id, coded("common.target") if target.enabled else coded("command.target_off"))
    nodes = [coded("command.body", id=id, body=body) for id, body in bodies.items()] or coded("command.no_robots")
    context.output.report(
        coded(
            "command.kernel_on" if context["until_idle"] else "command.kernel_on_until", root=world.root, nodes=nodes
        ),
        {"event": "kernel", "state": "started", "workspace": str(world.root), "nodes": status["nodes"]},
    )
