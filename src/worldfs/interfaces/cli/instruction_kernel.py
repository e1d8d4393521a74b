"""The kernel that carries out an instruction of `paos do`: one that runs, or one started for its orders alone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

from worldfs.base.errors import Busy
from worldfs.base.messages import coded, render
from worldfs.base.stop_signal import StopSignal
from worldfs.storage.lease import KERNEL_LEASE, RELEASE_S
from worldfs.world.mission_files import open_missions
from worldfs.world.workspace_leases import OWN_ORDERS

from .command_context import CommandContext
from .kernel_thread import KernelThread

if TYPE_CHECKING:
    from worldfs.world.world import World


class InstructionKernel:
    """`world`: of the workspace; from `start` on the served one, where that is served here, until `stack` is closed."""

    def __init__(self, context: CommandContext, world: World, stack: ExitStack, language: str) -> None:
        self._context, self._stack, self._language = context, stack, language
        self.world = world
        self.is_own = False
        self._lease = world.store.lease(KERNEL_LEASE)

    def join_running(self) -> bool:
        """Whether a kernel runs that begins the orders of others. The options of one of our own then count for nothing,
        and are named."""
        running = self._begins_all(self._lease.holder())
        if running:
            context = self._context
            ignored = [f"--{name}" for name in ("driver", "seed") if context[name] is not None]
            if context["no_cameras"]:
                ignored.append("--no-cameras")
            if ignored:
                context.output.notice(coded("command.kernel_has_robot", options=ignored))
        return running

    def start(self, stop: StopSignal) -> None:
        """Start one, unless another process has by now. The kernel of another instruction begins no order of this one:
        its end is waited for, or `stop`. Raises `Busy` where another process has a robot and no kernel runs."""
        said = refused = False
        with self.world.store.watch(KERNEL_LEASE) as watch, stop.calling(watch.wake):
            changes = False
            while not stop.is_set() and not self.join_running():
                holder = self._lease.holder()
                if holder is None:
                    try:
                        self._serve()
                    except Busy:
                        if refused:
                            raise
                        refused = True
                        continue
                    return
                if holder and not said and not self._begins_all(holder):
                    said, text = True, coded("command.waiting_kernel", pid=holder.get("pid"))
                    line = render(text, self._language)
                    self._context.output.report(line, {"event": "progress", "message": line})
                changes = bool(watch.read(RELEASE_S if not holder or changes else None))

    def report_left(self) -> None:
        """What others have ordered, and this kernel does not begin."""
        kernel, own, context = self.world.kernel, self.world.own_orders, self._context
        if kernel is None or own is None:
            return
        orders = [job.id for job in kernel.open_jobs() if job.id not in own]
        missions = [mission.id for mission in open_missions(self.world.missions)]
        for kind, ids, said in (
            ("orders", orders, "command.orders_left"),
            ("missions", missions, "command.missions_left"),
        ):
            if ids:
                text = render(coded(said, name=context.name, n=len(ids)), self._language)
                context.output.report(text, {"event": "waiting", kind: ids}, "dim")

    @staticmethod
    def _begins_all(holder: Mapping[str, object] | None) -> bool:
        """Of an unreadable holder, which takes the lease at this moment, nothing is known."""
        return bool(holder) and holder is not None and holder.get("purpose") != OWN_ORDERS

    def _serve(self) -> None:
        self.world = self._stack.enter_context(self._context.open(serve=True, own_orders=True))
        self._stack.enter_context(KernelThread(self.world))
        self.is_own = True
