"""The port of whatever carries out jobs: an arm, a target, a chat backend, a tool of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from worldfs.base.driver import Run
from worldfs.base.model import Finding, Json, Order, Outcome


class Worker(Protocol):
    """Called from the threads of its lanes; from one at a time in each lane."""

    @property
    def noun(self) -> str:
        """What messages call it: "the driver"."""
        ...

    @property
    def source(self) -> str:
        """Whose code it is, for messages about a wrong value: "arm: their_package.Arm"."""
        ...

    @property
    def body(self) -> tuple[str, bool]:
        """The driver that carries its orders out, and whether its body moves only while this process steps it; "": it
        has none."""
        ...

    @property
    def artifacts(self) -> Path | None:
        """The directory for what an attempt leaves behind; None: it keeps nothing."""
        ...

    @property
    def counts_reviews(self) -> bool:
        """Whether a review runs programs and files of others, in which a kernel may end."""
        ...

    def review(self, order: Order, run: Run) -> Sequence[Finding]:
        """Every finding against the order, and every warning; nothing is durable yet, and nothing moves.

        It may end early when `run.stop` says so.
        """
        ...

    def execute(self, order: Order, run: Run) -> Outcome:
        """Do it until it is done, cancelled or at its deadline. Success is measured, never claimed."""
        ...

    def observe(self) -> None:
        """Record what the world looks like now; durable when this returns."""
        ...

    def measured(self, order: Order, outcome: Outcome) -> Outcome:
        """A success held against what was observed since: itself, or the failure that it was."""
        ...

    def stop_confirmation(self) -> Json:
        """The evidence that a stopped worker stands still."""
        ...
