"""`paos up`: the kernel and the bodies, and a line for each event."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from .command_context import CommandContext
from .signals import stop_on
from .status_command import alert_line
from .status_diff import job_line

if TYPE_CHECKING:
    from worldfs.ground.model import Finding, Job
    from worldfs.world.world import World

PRINTED_EVENTS = {"running", "ended", "retry", "lost"}  # to people; programs are told everything


def run(call: CommandContext) -> int:
    """Exit 0 when asked to stop, or idle with --until-idle. Raises `Busy` when another kernel holds the workspace."""
    stop = threading.Event()
    with ExitStack() as stack:
        teller = JobEventPrinter(call)
        world = stack.enter_context(call.open(serve=True, log=teller))

        def ask() -> None:
            stop.set()
            world.wake()

        stack.enter_context(stop_on(ask, signal.SIGINT, signal.SIGTERM))
        _greet(call, world)
        world.hear_alerts(teller.alert)
        if call["serve"]:
            from .serve import serve_beside

            stack.enter_context(serve_beside(call, world))
        world.run(until_idle=call["until_idle"], stop=stop)
    call.voice.say("kernel stopped", {"event": "kernel", "state": "stopped"})
    return 0


class JobEventPrinter:
    """Tells each event of a job. A closed pipe silences it: the kernel works on."""

    def __init__(self, call: CommandContext) -> None:
        self._voice = call.voice
        self._heard = True

    def __call__(self, what: str, job: Job) -> None:
        if not self._heard:
            return
        from worldfs.world.status_report import job_value

        value = job_value(job)
        with self._silenced():
            if what in PRINTED_EVENTS:
                state = str(value["state"])
                self._voice.line(job_line(value), {"succeeded": "good", "failed": "bad"}.get(state, ""))
            self._voice.value({"event": what, **value})

    def alert(self, finding: Finding) -> None:
        """What is wrong from now on: a document that cannot be read, an entry that is refused."""
        from dataclasses import asdict

        if not self._heard:
            return
        value = asdict(finding)
        with self._silenced():
            self._voice.say(f"alert: {alert_line(value)}", {"event": "alert", "alert": value}, "warn")

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._heard = False


def _greet(call: CommandContext, world: World) -> None:
    status = world.status()
    given = call["driver"]
    bodies = {
        spec.id: f"{given}, in place of {spec.driver}" if given and given != spec.driver else spec.driver
        for spec in world.specs
    }
    targets = world.targets.targets() if world.targets is not None else {}
    bodies |= {id: f"target{'' if target.enabled else ', off'}" for id, target in targets.items() if id not in bodies}
    nodes = ", ".join(f"{id} ({body})" for id, body in bodies.items()) or "no robots"
    call.voice.say(
        f"kernel running on {world.root}: {nodes}" + ("" if call["until_idle"] else "; Ctrl-C stops it"),
        {"event": "kernel", "state": "started", "workspace": str(world.root), "nodes": status["nodes"]},
    )
    from worldfs.roles.message_translation import localise

    for item in world.kernel.alert.now().values() if world.kernel is not None else ():
        call.voice.aside(f"paos: {localise(item, world.language())}")
