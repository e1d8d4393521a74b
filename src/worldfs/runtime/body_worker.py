"""A node's driver as a worker: reviewed by the critic, observed after each job."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from worldfs.base.driver import Driver, NamesItsCall, Run, Sourced
from worldfs.base.messages import coded
from worldfs.base.model import MAY_MOVE, ApprovalRule, Finding, Json, Operation, Order, Outcome, Scene
from worldfs.base.plugin_calls import CheckedPlugin, plugin_name
from worldfs.base.unknown_effect import STOP_CONFIRMED


def call_name(driver: Driver, call: str) -> str:
    """This call of a driver, by the name of the package whose code it is."""
    body: object = driver
    named = body.calling if isinstance(body, NamesItsCall) else ""
    return named or f"{plugin_name(body)} {call}"


class JobHooks(Protocol):
    """What the kernel asks of the world around a job: review it, record the observation, record a lesson."""

    def review(self, order: Order, run: Run) -> Sequence[Finding]: ...

    def observe(self, node: str) -> Scene:
        """The node's driver observes this; ENVIRONMENT.md is durable when it is returned."""
        ...

    def look(self, node: str) -> None:
        """The same of a node without a job, where its robot reports by itself that it is elsewhere than was written."""
        ...

    def measured(self, order: Order, outcome: Outcome) -> Outcome:
        """The outcome of an attempt, held against the observation that followed it."""
        ...

    def remember(self, order: Order, outcome: Outcome) -> None:
        """Record a lesson; durable when this returns."""
        ...

    def stop_confirmation(self, node: str) -> Json:
        """The robot's state by its own sensors: the evidence that it stopped."""
        ...

    def control(self, node: str, text: str) -> None:
        """A command to the node's driver that is no job, as written; called on its lane, between jobs."""
        ...

    def localise(self, outcome: Outcome) -> Outcome:
        """The outcome with its message in the workspace's language."""
        ...


@dataclass(slots=True)
class KernelNode:
    """A node that the kernel dispatches jobs to."""

    id: str
    driver: Driver
    artifacts: Path | None = None
    enabled: bool = True  # False: its jobs wait; the world changes it and wakes the kernel
    approval: ApprovalRule = MAY_MOVE  # which of its jobs wait for an answer
    opening: bool = False  # its driver is being opened, and not late yet: its jobs wait for that
    refuses: bool = False  # its driver is not there: what is in its place refuses each order, and moves nothing
    named: str = ""  # its driver, as the configuration names it
    simulated: bool = False  # its body moves only while this process steps it
    remote: bool = False  # another kernel carries out its orders
    sessions: bool = False  # a target of sessions: a robot that had its id is another thing
    measured: Callable[[], bool] = lambda: True  # False: its driver cannot measure what it has now
    outdated: Finding | None = None  # why its orders are refused until the next start

    @property
    def is_open(self) -> bool:
        return self.enabled and not self.opening

    def operation(self, name: str) -> Operation | None:
        """What its driver declares; None: no such operation. A driver that answers with no operations can do the worst:
        its review refuses the order."""
        try:
            return next((one for one in self.driver.operations if one.name == name), None)
        except Exception:  # whatever a package raises
            return Operation(name)

    def sources(self, order: Order) -> Json:
        """What decides, beside the order, what its driver does."""
        try:
            return self.driver.sources(order) if isinstance(self.driver, Sourced) else {}
        except Exception as error:  # whatever a package raises: no approval holds for it
            return {"driver": type(error).__name__}


@dataclass(frozen=True, slots=True)
class BodyWorker:
    """The `Worker` of one node. The node's driver may be replaced while no job of it runs."""

    node: KernelNode
    hooks: JobHooks

    @property
    def noun(self) -> str:
        return coded("runtime.the_driver")

    @property
    def source(self) -> str:
        return f"{self.node.id}: {plugin_name(self.node.driver)}"

    @property
    def body(self) -> tuple[str, bool]:
        return self.node.named or plugin_name(self.node.driver), self.node.simulated

    @property
    def artifacts(self) -> Path | None:
        return self.node.artifacts

    @property
    def counts_reviews(self) -> bool:
        return isinstance(self.node.driver, Sourced)

    def review(self, order: Order, run: Run) -> Sequence[Finding]:
        """The findings of the hooks, else whether the driver has the op at all."""
        if self.node.outdated is not None:
            return (replace(self.node.outdated, job=order.id),)
        findings, ops = self.hooks.review(order, run), {op.name for op in self.node.driver.operations}
        if isinstance(self.node.driver, CheckedPlugin) and isinstance(self.node.driver, Sourced):
            self.node.driver.sources(order)  # the gate took a wrong answer for "unknown": here it ends the job
        if order.op not in ops and all(item.warning for item in findings):
            return [*findings, _no_such_op(order, ops)]
        return findings

    def execute(self, order: Order, run: Run) -> Outcome:
        outcome = self.node.driver.execute(order, run)
        if isinstance(self.node.driver, CheckedPlugin) and outcome.evidence.get(STOP_CONFIRMED):
            evidence = {name: value for name, value in outcome.evidence.items() if name != STOP_CONFIRMED}
            outcome = replace(outcome, evidence=evidence)  # a package's word that its robot stands measures nothing
        return outcome

    def observe(self) -> None:
        self.hooks.observe(self.node.id)

    def measured(self, order: Order, outcome: Outcome) -> Outcome:
        return self.hooks.measured(order, outcome)

    def stop_confirmation(self) -> Json:
        return self.hooks.stop_confirmation(self.node.id)


def _no_such_op(order: Order, ops: Collection[str]) -> Finding:
    return Finding(
        "OP_NOT_IN_DRIVER",
        f"{order.sheet} {order.id}",
        coded("runtime.one_op", known=sorted(ops) or coded("runtime.no_ops")),
        order.op,
        coded("runtime.use_op", op=order.op),
        order.id,
    )
