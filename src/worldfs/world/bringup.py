"""Bring-up: opens the drivers of a kernel's nodes, each on its own lane.

A driver that cannot be opened (it is unknown, its scene is unreadable or impossible to build) stops no other
driver and no kernel: an alert reports the error, and every order to that node is refused with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from worldfs.base.driver import Driver, Run, Simulated
from worldfs.base.errors import MissingRequirement, StorageError, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, Scene
from worldfs.robots.displacements import STAND, built_elsewhere
from worldfs.runtime.kernel import Kernel

from .world_job_hooks import WorldJobHooks

ENVIRONMENT = "ENVIRONMENT.md"


class UnavailableDriver:
    """Replaces a driver that could not be opened: refuses every order with the reason, and moves nothing."""

    operations: tuple[Operation, ...] = ()

    def __init__(self, error: Exception, place: str, code: str = "") -> None:
        self.error = error
        self.elsewhere = code == "DRIVER_MISSING" or isinstance(
            error, MissingRequirement
        )  # another machine may have it
        self.finding = error_finding(error, place, coded("file.driver_to_open"), code)

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


class BringUp:
    """Used by the kernel's own thread only."""

    def __init__(self, kernel: Kernel, hooks: WorldJobHooks) -> None:
        self._kernel, self._hooks = kernel, hooks
        self._shut: dict[str, Driver] = {}  # drivers that could not be opened; tried again when the scene changes
        self._joining: set[str] = set()  # of those, what `reopen` is to open first

    def open(self, node: str, scene: Callable[[], Scene], *, joins: bool = False) -> None:
        """Open the driver of a node on `scene` (raises where ENVIRONMENT.md is unreadable), and let it observe.

        `joins`: where that fails now, the caller will `reopen` it with others, and no alert says so before.
        """
        body, place = self._shut.pop(node, self._hooks.drivers[node]), f"/nodes/{node}"
        if isinstance(body, UnavailableDriver):
            self._kernel.alert(place, body.finding)
            return
        try:
            told = scene()
            self._kernel.lanes[node].call(partial(body.open, told))
        except StorageError:
            raise
        except Exception as error:  # a driver may raise anything for an impossible scene
            absent = UnavailableDriver(error, ENVIRONMENT)
            self._shut[node] = body
            self._use(node, absent)
            if joins:
                self._joining.add(node)
            else:
                self._kernel.alert(place, absent.finding)
            return
        self._use(node, body)
        self._kernel.stopping.opened(node)
        self._kernel.alert(place, None)
        self._compare(node, told, body)
        self._kernel.lanes[node].call(partial(self._observe, node))

    def _compare(self, node: str, told: Scene, body: Driver) -> None:
        """What a simulation did not build as the document has it is named by an alert. The document stays its writer's:
        an order that moves such a thing writes where it is."""
        try:
            built = body.assumed() if isinstance(body, Simulated) else None
        except Exception:  # of a package; the observation says so
            return
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
        for node in nodes:
            if node not in self._shut:
                with suppress(Exception):  # a driver that does not close is opened again all the same
                    self._kernel.lanes[node].call(self._hooks.drivers[node].close)
        for node in nodes:
            self.open(node, scene)

    def forget(self, node: str) -> None:
        """The node has been removed."""
        self._shut.pop(node, None)
        self._joining.discard(node)
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
        for node in self._shut.keys() - self._joining:
            self.open(node, lambda: read.scene)
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
            expected = coded("file.writable_document")
            self._kernel.alert(f"/nodes/{node}", error_finding(error, ENVIRONMENT, expected))
            self._kernel.wake()

    def _use(self, node: str, body: Driver) -> None:
        self._hooks.drivers[node] = body
        self._kernel.nodes[node].driver = body


def error_finding(error: Exception, place: str, expected: str, code: str = "") -> Finding:
    """An error as a finding."""
    if not isinstance(error, UserError):
        said = f"{type(error).__name__}: {error}"
        return Finding(code or "BODY_UNAVAILABLE", place, expected, said, coded("file.correct_numbers", path=place))
    field = error.path or place
    return Finding(
        code or error.code,
        field,
        error.expected or expected,
        error.found,
        error.fix or coded("file.correct_or_fix", path=field),
    )
