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

from worldfs.base.driver import Driver, MeasuresStandstill, NamesItsCall, Run, Standstill, Stoppable, StopUndelivered
from worldfs.base.errors import BadInput, MissingRequirement, StorageError, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, RobotState, Scene, Thing
from worldfs.base.plugin_calls import CheckedPlugin
from worldfs.base.plugin_faults import contained, error_line, is_ours
from worldfs.robots.displacements import STAND, Displacement, built_elsewhere, moved_by
from worldfs.runtime.grace import SILENT
from worldfs.runtime.kernel import Kernel
from worldfs.runtime.worker_threads import WorkerThreads

from .driver_opening import LIMIT_S, WAIT_S, DriverOpening
from .edited_things import EDITED, edited_text
from .start_marks import START_FATAL, StartMarks
from .world_job_hooks import WorldJobHooks

ENVIRONMENT = "ENVIRONMENT.md"
MAKE, OPEN = "__init__", "open"  # the calls of a start
DriverMaker = tuple[str, Callable[[], Callable[[], Driver]], bool]
"""The name of what makes a driver, what prepares its maker, and whether no package's code is called."""
BUILT = f"{ENVIRONMENT} objects"  # where the alert names what is elsewhere


class UnavailableDriver:
    """Replaces a driver that could not be opened: refuses every order with the reason, and moves nothing."""

    operations: tuple[Operation, ...] = ()

    def __init__(self, error: Exception, place: str, code: str = "", call: str = "") -> None:
        self.error = error
        self.elsewhere = code == "DRIVER_MISSING" or isinstance(
            error, MissingRequirement
        )  # another machine may have it
        self.finding = error_finding(error, place, coded("file.driver_to_open"), code, call)
        self.why = coded("stop.no_driver", why=self.finding.found)

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

    def stop(self) -> None:
        raise StopUndelivered(self.why)

    def standstill(self, since: float) -> Standstill:
        return Standstill(False, self.why)

    def close(self) -> None:
        return


class ShutDriver(UnavailableDriver):
    """Replaces a driver whose `open` failed: it refuses every order, and the driver hears each stop all the same."""

    def __init__(self, body: Driver, error: Exception, place: str, call: str = "") -> None:
        super().__init__(error, place, call=call)
        self._body: object = body

    def stop(self) -> None:
        if not isinstance(self._body, Stoppable):
            raise StopUndelivered(self.why)
        try:
            self._body.stop()
        except Exception as error:  # a library's own: the driver may need what its `open` was to make
            raise StopUndelivered(coded("stop.unopened", why=self.why, said=error_line(error))) from error

    def standstill(self, since: float) -> Standstill:
        if not isinstance(self._body, MeasuresStandstill):
            return Standstill(False, self.why)
        found = self._body.standstill(since)
        return found if found.stands else replace(found, why=coded("stop.unopened", why=self.why, said=found.why))


class UnmadeDriver(UnavailableDriver):
    """Replaces a driver that its package failed to make: it is made again when the scene changes."""


class BarredDriver(UnavailableDriver):
    """Replaces a driver whose package's code ended start after start: it is not made, and its package not imported."""


class HungDriver(UnavailableDriver):
    """Replaces a driver while a call of it has not returned: it refuses as any that is not there, and its robot is told
    to stop all the same."""

    def __init__(self, opening: DriverOpening, s: float) -> None:
        place, fix = f"/nodes/{opening.node}", coded("world.see_silent")
        found = coded("plugin.silent", call=opening.calling, s=s)
        error = BadInput(found, path=place, expected=coded("plugin.an_answer"), fix=fix, code=SILENT)
        super().__init__(error, place)
        self._opening, self.why = opening, found

    def stop(self) -> None:
        body: object = self._opening.body
        if not isinstance(body, Stoppable):
            raise StopUndelivered(self.why)
        body.stop()

    def standstill(self, since: float) -> Standstill:
        body: object = self._opening.body
        if isinstance(body, MeasuresStandstill):
            return body.standstill(since)
        return Standstill(False, self.why)

    def close(self) -> None:
        self._opening.close()


class BringUp:
    """Used by the kernel's own thread only. The drivers are called in their lanes, and no call is waited for long."""

    def __init__(self, kernel: Kernel, hooks: WorldJobHooks, marks: StartMarks) -> None:
        self._kernel, self._hooks, self._marks = kernel, hooks, marks
        self._shut: dict[str, Driver] = {}  # drivers that could not be opened; tried again when the scene changes
        self._makers: dict[str, DriverMaker] = {}  # as `make` was given them
        self._joining: set[str] = set()  # of those, what `reopen` is to open first
        self._rewriting: set[str] = set()  # nodes that were asked to write ENVIRONMENT.md again, and have not
        self._built: dict[str, str] = {}  # thing → where a simulation has it, if elsewhere than the document had it
        self._openings: dict[str, DriverOpening] = {}  # of drivers that have not answered yet
        kernel.timed.append(self)
        kernel.hung = self.set_aside

    def make(self, makers: Mapping[str, DriverMaker]) -> None:
        """Make the drivers of these nodes."""
        until = self._kernel.clock.monotonic() + WAIT_S
        self._makers |= makers
        for node, (name, prepare, ours) in makers.items():
            if (fatal := self._mark(node, MAKE)) is not None:
                self._use(node, BarredDriver(fatal, f"/nodes/{node}"))
                self._kernel.nodes[node].opening = False
                self._kernel.stopping.made(node)
                continue
            maker = prepare()
            opening = self._begin(node)
            self._use(node, HungDriver(opening, WAIT_S))
            opening.lane.submit(partial(opening.make, name, maker))
            self._wait(opening.made, inf if ours else until)
            if opening.made.is_set():
                self._marks.end(node, MAKE)
                if opening.body is not None:
                    self._use(node, opening.body)
            self._kernel.stopping.made(node)  # before anything else of a start, which may fail

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
            if (opening is None or not opening.asked) and (fatal := self._mark(node, OPEN)) is not None:
                self._drop(node)
                shut = ShutDriver(body, fatal, f"/nodes/{node}")
                self._use(node, shut)
                self._kernel.alert(f"/nodes/{node}", shut.finding)
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

    def open_to_stop(self, nodes: Iterable[str], scene: Callable[[], Scene]) -> None:
        """The start has failed, and no order follows: the drivers of these nodes that were not asked to open are
        opened, for they may need that to stop. Nothing is observed."""
        until, opened, begun = self._kernel.clock.monotonic() + WAIT_S, self._kernel.stopping.opened, []
        for node in nodes:
            opening = self._openings.get(node)
            if opening is None or opening.asked or opening.body is None or self._mark(node, OPEN) is not None:
                continue
            with suppress(Exception):  # an unreadable document: the driver is told as it is
                opening.told = scene()
                opening.asked, self._kernel.nodes[node].opening = True, False
                opening.lane.submit(partial(opening.open, partial(opened, node), lambda body: Scene(), lambda: None))
                begun.append(opening)
        for opening in begun:
            self._wait(opening.done, until)
            self._kernel.nodes[opening.node].opening = not opening.done.is_set()

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

    def _mark(self, node: str, call: str) -> BadInput | None:
        """Mark the call. An error where it must not be made; where an earlier start died in it, an alert says so."""
        error = self._marks.begin(node, call)
        if error is None or error.code == START_FATAL:
            return error
        place = f"/nodes/{node}"
        self._kernel.alert(f"{place} {call}", replace(error_finding(error, place, error.expected), warning=True))
        self._kernel.alert.publish()  # before the call: this start may end in it, too
        return None

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
        self._marks.end(node, MAKE, OPEN)
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
            absent = ShutDriver(body, error, where, opening.theirs)
            self._shut[node] = body
            self._use(node, absent)
            kernel.stopping.opened(node)
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
        """What a simulation did not build as the document has it is named by an alert. The observation has written what
        came to rest elsewhere, but not of a simulated target beside a real robot."""
        if built is None:
            return
        stands = [piece.id for piece in built.furniture if piece.category == STAND and told.thing(piece.id) is None]
        self._built |= _named(built_elsewhere(told, built)) | {id: coded("world.stand_added", id=id) for id in stands}
        if not self._built:
            return
        try:
            is_written = not stands and not built_elsewhere(self._hooks.judged.get().scene, built)
        except UserError:
            is_written = False
        fix = coded("world.built_written") if is_written else coded("world.look_built")
        said = coded("world.built_elsewhere", moved=[*self._built.values()])
        self._alert_elsewhere("BUILT_ELSEWHERE", BUILT, said, fix)

    def _alert_elsewhere(self, code: str, place: str, said: str, fix: str) -> None:
        self._kernel.alert(place, Finding(code, place, coded("world.at_rest"), said, fix, warning=True))

    def is_shut(self, node: str) -> bool:
        """Whether its driver is known and could not be opened."""
        return node in self._shut

    def reopen(self, nodes: Sequence[str], scene: Callable[[], Scene]) -> None:
        """Close these drivers, then open them again: bodies that share a world build it for all of them. None works."""
        self._joining.difference_update(nodes)
        self._built.clear()
        self._kernel.alert(BUILT, None)
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
        self._rewriting.discard(node)
        self._makers.pop(node, None)
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
        """ENVIRONMENT.md changed: report its errors, write it again if it is gone, retry drivers that failed.

        False: not now. While a job runs the document is about to change again.
        """
        try:
            if self._hooks.environment.fetch().revision:
                self._rewriting.clear()
            else:
                self._ask_to_write_again()
            if self._kernel.busy:
                return False
            read = self._hooks.judged.get()
        except UserError as error:
            found = error_finding(error, ENVIRONMENT, coded("file.readable_document"))
            self._kernel.alert.document(ENVIRONMENT, (replace(found, field=ENVIRONMENT),))
            return True
        self._kernel.alert.document(ENVIRONMENT, read.findings)
        if edits := self._hooks.edited(read.scene):
            self._alert_elsewhere("EDITED_ELSEWHERE", EDITED, edited_text(edits), coded("world.start_edited"))
        else:
            self._kernel.alert(EDITED, None)
        unmade = [node for node, body in self._hooks.drivers.items() if isinstance(body, UnmadeDriver)]
        self.make({node: self._makers[node] for node in unmade})
        self.open_all([*unmade, *(self._shut.keys() - self._joining)], lambda: read.scene)
        return True

    def _ask_to_write_again(self) -> None:
        """Each driver once, until the document is there: a driver that observes nothing would be asked without end."""
        for node, body in self._hooks.drivers.items():
            if node not in self._rewriting and not isinstance(body, UnavailableDriver):
                self._rewriting.add(node)
                self._kernel.lanes[node].submit(partial(self._write_again, node))

    def _write_again(self, node: str) -> None:
        with suppress(StorageError):  # the lane survives a broken disk; the kernel fails at its own next write
            self._observe(node)

    def _observe(self, node: str) -> None:
        """Observe; a failure to write the observation becomes an alert, and the lane goes on."""
        try:
            seen = contained(partial(self._hooks.observe, node), f"{node} observe")
            if seen != Scene() and node in self._rewriting:
                self._rewriting.discard(node)
                self._kernel.look_again(ENVIRONMENT)  # it may have been deleted while this node still counted as asked
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
        self._kernel.nodes[node].refuses = isinstance(body, UnavailableDriver)


def _is_ours(body: Driver | None) -> bool:
    """Whether no code of a package runs in it: it ends by itself, and a simulation of ours may load for minutes."""
    return is_ours(body) and not isinstance(body, CheckedPlugin | NamesItsCall)


def _named(moved: Iterable[Displacement]) -> dict[str, str]:
    return {line["id"]: moved_by(line) for line in moved}


def _close(body: Driver, closed: threading.Event) -> None:
    with suppress(Exception):  # a driver that does not close is opened again all the same
        contained(body.close, "close")
    closed.set()


def unreachable_robot(node: str, why: str, robot: RobotState | None) -> Finding:
    """What an alert says of a robot that cannot be heard. `robot`: its entry of ENVIRONMENT.md."""
    place = robot.pose[:2] if robot is not None and len(robot.pose) >= 2 else ()
    found = (
        coded("mission.away_at", why=why, x=place[0], y=place[1]) if place else coded("mission.away_unplaced", why=why)
    )
    return Finding("ROBOT_UNREACHABLE", node, coded("vehicle.reports"), found, coded("mission.see_where", robot=node))


def dropped_thing(node: str, id: str, thing: Thing | None) -> Finding:
    """What an alert says of a thing that left a gripper without an order. `thing`: as it was measured then."""
    at = list(thing.position) if thing is not None else coded("common.nothing")
    found = coded("robot.dropped", robot=node, id=id, at=at)
    return Finding("OBJECT_LOST", f"{ENVIRONMENT} robots / {node}", coded("robot.hand_keeps", id=id), found,
                   coded("robot.pick_again", id=id), warning=True)  # fmt: skip


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
