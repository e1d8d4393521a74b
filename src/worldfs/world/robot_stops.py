"""How every interface stops robots: the drivers first, by this process's kernel or this machine's; then the log."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.access.standing import shown_actor, standing_of
from worldfs.base.clock import stamp
from worldfs.base.errors import UserError, WorldError
from worldfs.base.json_values import as_int, as_text
from worldfs.base.messages import coded, parts, render
from worldfs.base.messages.message_rendering import error_message
from worldfs.runtime.grace import TOLD_S
from worldfs.runtime.kernel_addresses import kernel_addresses
from worldfs.runtime.stop_call import StopCall
from worldfs.runtime.stop_log import STOPS, MayMove, PendingStop, left_text, stop_keys
from worldfs.runtime.stop_report import RobotStop, StopReport
from worldfs.storage.lease import KERNEL_LEASE

from .computed_files import current_alerts
from .earlier_workspaces import EarlierRobots, EarlierWorkspaces
from .left_robots import left_robots
from .node_specs import simulated_nodes
from .robot_liveness import robot_liveness

if TYPE_CHECKING:
    from .world import World

ANSWER_S: Final = 1.0  # for a kernel to say that it is there
_UNTOLD: Final = ("stop.robot_not_delivered", "stop.left", "stop.left_idle")
STORED_S: Final = 1.0  # for the kernel of this process to write the log, where its caller waits for nothing else


class KernelSilent(WorldError):
    """The kernel lives and does not answer: what the robots do is not known."""

    code = "KERNEL_SILENT"


class KernelsHeard(NamedTuple):
    """`every`: each kernel of this machine has said that it is there. `pids`: of those that have."""

    every: bool
    pids: frozenset[int] = frozenset()

    def includes(self, server: Mapping[str, object]) -> bool:
        """Whether that process has, as a lease names it."""
        return self.every or as_int(server.get("pid")) in self.pids


class RobotStops:
    """Of one world, whether it serves or not."""

    def __init__(self, world: World) -> None:
        self._world = world

    def stop(
        self,
        nodes: Sequence[str],
        name: str,
        *,
        every: bool = False,
        confirm_s: float = 0.0,
        sent: StopCall | None = None,
    ) -> StopReport:
        """`name`: of the actor (access/standing.py). `every`: future robots too; `nodes` are those of now. `confirm_s`:
        how long to wait until their drivers have confirmed that they stand. `sent`: the same stop, sent before.

        Raises `WorldError` where no kernel has heard of it, and it cannot be stored.
        """
        kernel, end = self._world.kernel, self._world.clock.monotonic() + confirm_s
        if kernel is not None:
            by, standing = shown_actor(name), standing_of(name)
            ticket = kernel.stopping.stop(nodes, by, standing=standing, every=every)
            own = kernel.stopping.wait(ticket, confirm_s) if confirm_s else kernel.stopping.report(ticket)
            if own.unstored:
                own = kernel.stopping.wait_stored(ticket, STORED_S)
            return self._complete(nodes, [own], own.unstored, end, silent=False)
        left, clock = self._own_left(), self._world.clock
        with sent or StopCall([self._world.root], clock, None if every else nodes, name, home=self._home()) as call:
            call.wait_told(TOLD_S)
            unstored = self._store(call, nodes, name, every=every)
            with suppress(WorldError):  # their orders say it, too: a resume ends this
                lacking = left.keys() & {*nodes} - self._world.stops.moving().keys()
                self._world.stops.note_moves({id: left[id] for id in lacking})
            call.wait(end - self._world.clock.monotonic())
            reports, silent = call.reports(), call.silent
        if any(report.robots and not report.unstored for report in reports):
            unstored = ""  # a kernel could write it
        elif unstored:  # what a kernel says of it tells where it has kept it
            unstored = next((report.unstored for report in reports if report.unstored), unstored)
        return self._complete(nodes, reports, unstored, end, silent=silent)

    def resume(self, nodes: Collection[str], name: str, others: Collection[str] = ()) -> None:
        """As `StopLog.resume`, also of robots that an earlier workspace of the home left moving. Raises what keeps that
        workspace from being told, once the rest is done."""
        earlier = self.earlier()
        failed = earlier.take_over(self._world.stops, nodes)
        self._world.stops.resume(nodes, name, others)
        if failed and not earlier.look().moving.keys().isdisjoint(nodes):
            raise next(iter(failed.values()))

    def confirmed(self, node: str, *, silent: bool = False) -> RobotStop:
        """Whether the driver of a stopped robot has confirmed that it stands, by what is known now. `silent`: as far as
        is known, a kernel of this machine does not answer."""
        kernel = self._world.kernel
        known = kernel.stopping.answer(node) if kernel is not None else None
        if known is not None:
            return known
        if silence := self._silence(node, silent=silent):  # also where it was measured: nobody measures on
            if (left := self.left().get(node)) is not None and not silent:
                return RobotStop(node, False, left_text(left), self._was_told(node))
            simulated = not silent and node in self.simulated()
            why = coded("stop.simulated", node=node) if simulated else silence
            return RobotStop(node, simulated, why, self._was_told(node))
        if self._world.stops.state(node).confirmed:
            return RobotStop(node, True)
        said = self._alerted(node)
        return RobotStop(node, False, _why(said) or coded("stop.elsewhere"), told=not _is_undelivered(said))

    def await_confirmed(self, node: str, seconds: float) -> RobotStop:
        """The same after at most so many seconds, for a stop that was told."""
        kernel = self._world.kernel
        known = kernel.stopping.wait_standing(node, seconds) if kernel is not None else None
        if known is not None:
            return known
        end, silent = self._world.clock.monotonic() + seconds, bool(self.silent_server(node, self.heard()))
        return self._by_log([node], end, silent=silent)[node]

    def state_value(self, node: str) -> dict[str, object]:
        """The stop state of a robot. `delivered` is false where no driver was told, `confirmed` true where its driver
        says that it stands since the stop, `stored` where the next start will hold it stopped."""
        found = self._world.stops.state(node)
        robot = RobotStop(node, False)
        if found.stopped:
            robot = self.confirmed(node, silent=bool(self.silent_server(node, self.heard())))
        return {
            "node": node, "stopped": found.stopped, "delivered": found.stopped and robot.told,
            "confirmed": robot.confirmed, "by": found.by, "at": found.at, "stops": found.number,
            "stored": not self._world.stops.pending.of(node),
            "standing": found.standing.word if found.stopped else "",
            "why": "" if robot.confirmed else render(robot.why, self._world.language()),
        }  # fmt: skip

    def heard(self) -> KernelsHeard:
        """Which kernels of this machine say that they are there."""
        if self._world.kernel is not None:
            return KernelsHeard(True)
        with StopCall([self._world.root], self._world.clock, [], "") as call:  # it stops no robot
            every = not call.sent or call.wait(ANSWER_S)
            return KernelsHeard(every, frozenset(answer.pid for answer in call.answers.values()))

    def server(self, node: str) -> Mapping[str, object]:
        """The process that serves a robot, by its lease; {}: not known."""
        return robot_liveness(self._world, node).by or self._world.store.lease(KERNEL_LEASE).holder() or {}

    def silent_server(self, node: str, heard: KernelsHeard) -> str:
        """The process that serves a robot and does not answer, by its number; "": it answers."""
        if heard.every:
            return ""
        server = self.server(node)
        return "" if heard.includes(server) else str(server.get("pid", "?"))

    def demand_answer(self, job: str) -> None:
        """Raises `KernelSilent` where a kernel of this machine does not answer, for the client that has cancelled a
        job and waits for its end."""
        heard, node = self.heard(), ""
        if heard.every:
            return
        with suppress(WorldError):
            node = self._world.jobs.load(job).order.node
        if pid := self.silent_server(node, heard):
            raise KernelSilent(coded("stop.job_unknown", job=job, pid=pid), op="wait", fix=coded("stop.hardware"))

    def _store(self, call: StopCall, nodes: Sequence[str], name: str, *, every: bool) -> str:
        """Write it to the log, as a kernel that has heard of it does too: it may end before that. Why that failed, and
        where it is kept until it can be; raises where nothing keeps it and no kernel has heard of it."""
        by, standing = shown_actor(name), standing_of(name)
        try:
            self._world.stops.stop(nodes, by, standing=standing, every=every, id=call.id)
        except WorldError as error:
            why = error_message(error)
            if call.told:  # the kernel keeps it until it is stored
                return why
            keys = frozenset(stop_keys(nodes, every=every))
            stop = PendingStop(call.id, by, standing, stamp(self._world.clock.now()), keys)
            if place := self._world.stops.put_aside(stop):
                return coded("stop.kept_aside", why=why, place=place)
            raise
        return ""

    def _complete(
        self, nodes: Sequence[str], reports: Iterable[StopReport], unstored: str, end: float, *, silent: bool
    ) -> StopReport:
        """With the robots of which no kernel of this machine has said anything."""
        known: dict[str, RobotStop] = {}
        for robot in (robot for report in reports for robot in report.robots):
            if robot.node not in known or robot.confirmed:
                known[robot.node] = robot
        missing = [node for node in nodes if node not in known]
        if missing:
            known |= self._by_log(missing, end, silent=silent)
        there = dict.fromkeys((*nodes, *known))  # a store that is cut off names none of those that a kernel has told
        return StopReport(tuple(known[node] for node in there), unstored)

    def _by_log(self, nodes: Sequence[str], end: float, *, silent: bool) -> Mapping[str, RobotStop]:
        """Robots that another host serves, or none: what their own kernels have written of it."""
        silents = {node: why for node in nodes if (why := self._silence(node, silent=silent))}
        moving = self.left() if silents and not silent else {}
        waiting, log = {node for node in nodes if node not in silents}, self._world.stops
        with suppress(WorldError), self._world.store.watch(STOPS) as watch:
            while waiting := {node for node in waiting if not log.state(node).confirmed}:
                left = end - self._world.clock.monotonic()
                if left <= 0:
                    break
                watch.read(left)
        simulated = self.simulated() if silents else frozenset()
        found: dict[str, RobotStop] = {}
        for node in nodes:
            if node in silents and node in moving:
                found[node] = RobotStop(node, False, left_text(moving[node]), told=False)
            elif node in silents and not silent and node in simulated:
                found[node] = RobotStop(node, True, coded("stop.simulated", node=node), told=False)
            elif node in silents:
                found[node] = RobotStop(node, False, silents[node], told=False)
            elif node in waiting:
                found[node] = RobotStop(node, False, coded("stop.elsewhere"))
            else:
                found[node] = RobotStop(node, True)
        return found

    def _alerted(self, node: str) -> str:
        """What the kernel that serves it, or served it last, says of its stop; "" for no alert."""
        return as_text(current_alerts(self._world.store, self._world.language()).get(f"stop {node}", {}).get("found"))

    def _was_told(self, node: str) -> bool:
        """Whether a kernel that has ended since has told its driver of the latest stop."""
        told = any(text.code == "stop.unconfirmed" for text in parts(self._alerted(node)))
        return told or self._world.stops.state(node).confirmed

    def left(self, earlier: EarlierRobots | None = None) -> dict[str, MayMove]:
        """The robots that may still move since a kernel that serves them no more had them, by what is written, here
        and in the earlier workspaces of the home. `earlier`: what those say, if it is at hand."""
        return {**(earlier or self.earlier().look()).moving, **self._own_left()}

    def earlier(self) -> EarlierWorkspaces:
        return EarlierWorkspaces(self._home(), self._world.root, self._world.clock)

    def _home(self) -> str:
        return self._world.config.home if self._world.config is not None else ""

    def _own_left(self) -> dict[str, MayMove]:
        world = self._world
        unserved = world.kernel is None
        return left_robots(
            world.jobs, world.stops, self.simulated, lambda node: unserved and not robot_liveness(world, node).served
        )

    def simulated(self) -> frozenset[str]:
        """The robots that move only while their kernel runs."""
        try:
            targets = self._world.targets
            return simulated_nodes(self._world.specs, targets.targets() if targets is not None else {})
        except UserError:  # an unreadable TARGETS.md: any of them may be real
            return frozenset()

    def _silence(self, node: str, *, silent: bool) -> str:
        """Why no kernel will say anything of that robot; "": one that serves it may, by the log."""
        alive = robot_liveness(self._world, node)
        if not silent:
            return "" if alive.served else coded("stop.no_kernel")
        holder = alive.by or self._world.store.lease(KERNEL_LEASE).holder()
        if holder is None:  # one that was started for this path, whose directory was replaced
            others = kernel_addresses(self._world.root, {0, os.geteuid()}).values()
            holder = {"pid": ", ".join(str(other.pid) for other in others) or "?"}
        return coded("stop.kernel_silent", pid=holder.get("pid", "?"))


def _why(said: str) -> str:
    """Why a stop is not confirmed, by its alert."""
    return next((as_text(text.args["why"]) for text in parts(said) if "why" in text.args), "")


def _is_undelivered(said: str) -> bool:
    return any(text.code in _UNTOLD for text in (*parts(said), *parts(_why(said))))
