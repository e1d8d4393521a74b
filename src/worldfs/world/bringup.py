"""Bring-up: opens the drivers of a kernel's nodes, each on its own lane.

A driver that cannot be opened (it is unknown, its scene is unreadable or impossible to build) stops no other
driver and no kernel: an alert reports the error, and every order to that node is refused with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

from worldfs.base.driver import Driver, MeasuresStandstill, NamesItsCall, Run, Standstill, Stoppable
from worldfs.base.errors import BadInput, MissingRequirement, StorageError, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, RobotState, Scene
from worldfs.base.plugin_calls import CheckedPlugin
from worldfs.base.plugin_faults import error_line, is_ours
from worldfs.robots.displacements import STAND, built_elsewhere
from worldfs.runtime.kernel import Kernel
from worldfs.runtime.worker_threads import WorkerThreads

from .driver_opening import LIMIT_S, WAIT_S, DriverOpening
from .world_job_hooks import WorldJobHooks

ENVIRONMENT = "ENVIRONMENT.md"


class UnavailableDriver:
    """Replaces a driver that could not be opened: refuses every order with the reason, and moves nothing."""

    operations: tuple[Operation, ...] = ()

    def __init__(self, error: Exception, place: str, code: str = "", call: str = "") -> None:
        self.error = error
        self.elsewhere = code == "DRIVER_MISSING" or isinstance(
            error, MissingRequirement
        )  # another machine may have it
        self.finding = error_finding(error, place, coded("file.driver_to_open"), code, call)

    def open(self, scene: Scene) -> None:
        return

    def observe(self) -> Scene:
        return Scene()

    def review(self, order: Order) -> Sequence[Finding]:
        return (self.finding,)

    def execute(self, order: Order, run: Run) -> Outcome:
        return Outcome.failure(Cause.REJECTED, self.finding.code, str(self.finding))

    def record(self, path: Path, fps: int) -> None:
        raise self.error

    def stop_recording(self) -> int:
        return 0

    def close(self) -> None:
        return


class HungDriver(UnavailableDriver):
    """Replaces a driver while a call of it has not returned: it refuses as any that is not there, and its robot is told
    to stop all the same."""

    def __init__(self, opening: DriverOpening, s: float) -> None:
        place, fix = f"/nodes/{opening.node}", coded("world.see_silent")
        found = coded("world.driver_silent", call=opening.calling, s=s)
        error = BadInput(found, path=place, expected=coded("plugin.an_answer"), fix=fix, code="DRIVER_SILENT")
        super().__init__(error, place)
        self._opening = opening

    def stop(self) -> None:
        body: object = self._opening.body
        if isinstance(body, Stoppable):
            body.stop()

    def standstill(self, since: float) -> Standstill:
        body: object = self._opening.body
        if isinstance(body, MeasuresStandstill):
            return body.standstill(since)
        return Standstill(False, coded("stop.no_measure"))

    def close(self) -> None:
        self._opening.close()


class BringUp:
    """Used by the kernel's own thread only. The drivers are called in their lanes, and no call is waited for long."""

    def __init__(self, kernel: Kernel, hooks: WorldJobHooks) -> None:
        self._kernel, self._hooks = kernel, hooks
        self._shut: dict[str, Driver] = {}  # drivers that could not be opened; tried again when the scene changes
        self._joining: set[str] = set()  # of those, what `reopen` is to open first
        self._openings: dict[str, DriverOpening] = {}  # of drivers that have not answered yet
        kernel.timed.append(self)
        kernel.hung = self.set_aside

    def make(self, makers: Mapping[str, tuple[str, Callable[[], Driver], bool]]) -> None:
        """Make the drivers of these nodes. `makers`: a name for each, what makes it, and whether that is ours."""
        until = self._kernel.clock.monotonic() + WAIT_S
        for node, (name, maker, ours) in makers.items():
            opening = self._begin(node)
            self._use(node, HungDriver(opening, WAIT_S))
            opening.lane.submit(partial(opening.make, name, maker))
            self._wait(opening.made, inf if ours else until)
            if opening.made.is_set() and opening.body is not None:
                self._use(node, opening.body)

    def open(self, node: str, scene: Callable[[], Scene], *, joins: bool = False) -> None:
        """As `open_all`, of one node."""
        self.open_all((node,), scene, joins=joins)

    def open_all(self, nodes: Iterable[str], scene: Callable[[], Scene], *, joins: bool = False) -> None:
        """Open the drivers of nodes on `scene` (raises where ENVIRONMENT.md is unreadable), and let them observe.

        One after the other, each as soon as the one before has answered or is late. What does not answer in time is
        taken up when it does. `joins`: where one fails now, the caller will `reopen` it with others, and no alert says
        so before.
        """
        until = self._kernel.clock.monotonic() + WAIT_S
        for node in nodes:
            body, opening = self._shut.pop(node, self._hooks.drivers[node]), self._openings.get(node)
            if isinstance(body, UnavailableDriver) and not isinstance(body, HungDriver):
                self._drop(node)
                self._kernel.alert(f"/nodes/{node}", body.finding)
                continue
            opening = opening or self._begin(node, body)
            if opening.asked:
                continue  # a call has not returned: nothing else is asked of it
            opening.asked, opening.joins = True, joins
            try:
                opening.told = scene()
            except StorageError:
                raise
            except Exception as error:  # an unreadable document
                opening.error = error
            tell, observe = partial(self._kernel.stopping.opened, node), partial(self._hooks.observe, node)
            opening.lane.submit(partial(opening.open, tell, observe, self._kernel.wake))
            self._wait(opening.done, inf if _is_ours(opening.body) else until)
            if opening.done.is_set():
                self._settle(opening)
            else:
                slow = HungDriver(opening, WAIT_S)
                self._use(node, slow)
                said = replace(
                    slow.finding, code="DRIVER_SLOW", fix=coded("world.orders_wait", s=LIMIT_S), warning=True
                )
                self._kernel.alert(f"/nodes/{node}", said)

    def begin(self) -> None:
        """Take up the drivers that have answered, and set aside those that are late."""
        for opening in tuple(self._openings.values()):
            if opening.done.is_set():
                self._settle(opening)
            elif not opening.aside and self._kernel.clock.monotonic() >= opening.since + LIMIT_S:
                self._put_aside(opening, LIMIT_S)

    def patience(self) -> float | None:
        """Seconds until a driver is late; None: none is awaited."""
        waits = [one.since + LIMIT_S for one in self._openings.values() if not one.aside]
        return max(0.0, min(waits) - self._kernel.clock.monotonic()) if waits else None

    def set_aside(self, node: str, s: float) -> str:
        """A review of this node has not returned within `s` seconds, and its job has ended: further orders are refused
        until it returns. The name of the call."""
        opening = self._openings.get(node)
        if opening is None:
            opening = self._begin(node, self._hooks.drivers[node])
            opening.call, opening.asked = "review", True
            opening.lane.submit(partial(opening.finish, self._kernel.wake))
            self._put_aside(opening, s)
        return opening.calling

    def _begin(self, node: str, body: Driver | None = None) -> DriverOpening:
        kernel = self._kernel
        opening = self._openings[node] = DriverOpening(node, kernel.clock.monotonic(), kernel.lanes[node], body)
        kernel.nodes[node].opening = True
        return opening

    def _drop(self, node: str) -> None:
        """Its driver is needed no more."""
        if (opening := self._openings.pop(node, None)) is not None:
            opening.close()
            self._kernel.nodes[node].opening = False

    def _put_aside(self, opening: DriverOpening, s: float) -> None:
        opening.aside, node = True, opening.node
        self._kernel.lanes[node] = WorkerThreads(opening.lane.name, opening.lane.size)
        absent = HungDriver(opening, s)
        self._use(node, absent)
        self._kernel.nodes[node].opening = False
        self._kernel.alert(f"/nodes/{node}", absent.finding)

    def _wait(self, event: threading.Event, until: float) -> None:
        """Of the machine's time: another clock may stand still while a driver works."""
        event.wait(None if until == inf else max(0.0, until - self._kernel.clock.monotonic()))

    def _settle(self, opening: DriverOpening) -> None:
        """The driver has answered: it is used from now on, or its error is."""
        node, body, error, kernel = opening.node, opening.body, opening.error, self._kernel
        if opening.aside:
            if node in kernel.open.running:
                return  # it is being refused; at its end
            kernel.lanes[node].close(0.0)
            kernel.lanes[node] = opening.lane
        del self._openings[node]
        kernel.nodes[node].opening, place = False, f"/nodes/{node}"
        if isinstance(error, StorageError) or not isinstance(error, Exception | None) or (error and body is None):
            raise error
        assert body is not None, "it was made, or raised why not"
        if isinstance(body, UnavailableDriver):
            self._use(node, body)
            kernel.alert(place, body.finding)
            return
        if error is not None:  # a driver may raise anything for an impossible scene
            where = place if opening.theirs else ENVIRONMENT
            absent = UnavailableDriver(error, where, call=opening.theirs)
            self._shut[node] = body
            self._use(node, absent)
            if opening.joins:
                self._joining.add(node)
            else:
                kernel.alert(place, absent.finding)
            return
        self._use(node, body)
        kernel.alert(place, None)
        self._compare(node, opening.told, opening.built)
        if opening.unseen is not None:
            self._say_unseen(node, opening.unseen, opening.theirs)

    def _compare(self, node: str, told: Scene, built: Scene | None) -> None:
        """What a simulation did not build as the document has it is named by an alert. The document stays its writer's:
        an order that moves such a thing writes where it is."""
        if built is None:
            return
        moved = built_elsewhere(told, built)
        stands = [piece.id for piece in built.furniture if piece.category == STAND and told.thing(piece.id) is None]
        if not moved and not stands:
            return
        found = [coded("robot.moved_by", id=line["id"], mm=1000 * line["moved_m"]) for line in moved]
        found += [coded("world.stand_added", id=id) for id in stands]
        expected, fix = coded("world.at_rest"), coded("world.look_built")
        place = f"{ENVIRONMENT} objects"
        said = coded("world.built_elsewhere", moved=found)
        self._kernel.alert(place, Finding("BUILT_ELSEWHERE", place, expected, said, fix, warning=True))

    def is_shut(self, node: str) -> bool:
        """Whether its driver is known and could not be opened."""
        return node in self._shut

    def reopen(self, nodes: Sequence[str], scene: Callable[[], Scene]) -> None:
        """Close these drivers, then open them again: bodies that share a world build it for all of them. None works."""
        self._joining.difference_update(nodes)
        until = self._kernel.clock.monotonic() + WAIT_S
        nodes = [node for node in nodes if node not in self._openings]
        for node in nodes:
            if node not in self._shut:
                closed, body = threading.Event(), self._hooks.drivers[node]
                self._kernel.lanes[node].submit(partial(_close, body, closed))
                self._wait(closed, inf if _is_ours(body) else until)
        self.open_all(nodes, scene)

    def forget(self, node: str) -> None:
        """The node has been removed."""
        self._shut.pop(node, None)
        self._joining.discard(node)
        if (opening := self._openings.pop(node, None)) is not None:
            opening.close()
        self._hooks.forget(node)

    def demand_runnable(self) -> None:
        """Raises `UserError` where nothing can run on this machine: no robot has its driver, and there is no target.

        A kernel would otherwise refuse orders that wait for the right machine.
        """
        bodies = self._hooks.drivers.values()
        absent = [body.error for body in bodies if isinstance(body, UnavailableDriver) and body.elsewhere]
        if absent and len(absent) == len(bodies):
            raise absent[0]

    def refresh(self) -> bool:
        """ENVIRONMENT.md changed: report its errors, write it again if it is gone, retry drivers that failed to open.

        False: not now. While a job runs the document is about to change again.
        """
        try:
            gone = not self._hooks.environment.fetch().revision
            if gone:
                for node, body in self._hooks.drivers.items():
                    if not isinstance(body, UnavailableDriver):
                        self._kernel.lanes[node].submit(partial(self._write_again, node))
            if self._kernel.busy:
                return False
            read = self._hooks.judged.get()
        except UserError as error:
            found = error_finding(error, ENVIRONMENT, coded("file.readable_document"))
            self._kernel.alert.document(ENVIRONMENT, (replace(found, field=ENVIRONMENT),))
            return True
        self._kernel.alert.document(ENVIRONMENT, read.findings)
        self.open_all(self._shut.keys() - self._joining, lambda: read.scene)
        return True

    def _write_again(self, node: str) -> None:
        with suppress(StorageError):  # the lane survives a broken disk; the kernel fails at its own next write
            self._observe(node)

    def _observe(self, node: str) -> None:
        """Observe; a failure to write the observation becomes an alert, and the lane goes on."""
        try:
            self._hooks.observe(node)
        except StorageError:
            raise
        except Exception as error:
            self._say_unseen(node, error)
            self._kernel.wake()

    def _say_unseen(self, node: str, error: Exception, call: str = "") -> None:
        place, expected = f"/nodes/{node}", coded("file.writable_document")
        self._kernel.alert(place, error_finding(error, place if call else ENVIRONMENT, expected, call=call))

    def _use(self, node: str, body: Driver) -> None:
        self._hooks.drivers[node] = body
        self._kernel.nodes[node].driver = body


def _is_ours(body: Driver | None) -> bool:
    """Whether no code of a package runs in it: it ends by itself, and a simulation of ours may load for minutes."""
    return is_ours(body) and not isinstance(body, CheckedPlugin | NamesItsCall)


def _close(body: Driver, closed: threading.Event) -> None:
    with suppress(Exception):  # a driver that does not close is opened again all the same
        body.close()
    closed.set()


def unreachable_robot(node: str, why: str, robot: RobotState | None) -> Finding:
    """What an alert says of a robot that cannot be heard. `robot`: its entry of ENVIRONMENT.md."""
    place = robot.pose[:2] if robot is not None and len(robot.pose) >= 2 else ()
    found = (
        coded("mission.away_at", why=why, x=place[0], y=place[1]) if place else coded("mission.away_unplaced", why=why)
    )
    return Finding("ROBOT_UNREACHABLE", node, coded("vehicle.reports"), found, coded("mission.see_where", robot=node))


def error_finding(error: Exception, place: str, expected: str, code: str = "", call: str = "") -> Finding:
    """An error as a finding. `call`: the call of a package's code that raised it; "": our own code did."""
    if not isinstance(error, UserError):
        said, fix = error_line(error), coded("file.correct_numbers", path=place)
        if call:
            said, fix = f"{call}: {said}", coded("plugin.correct")
        return Finding(code or "BODY_UNAVAILABLE", place, expected, said, fix)
    field = error.path or place
    return Finding(
        code or error.code,
        field,
        error.expected or expected,
        error.found,
        error.fix or coded("file.correct_or_fix", path=field),
    )
