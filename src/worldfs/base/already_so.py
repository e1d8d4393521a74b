"""An order that asks for what is there already is refused. That is no failure, and no lesson follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .model import Cause, Finding, Outcome

ALREADY_SO: Final = "ALREADY_SO"  # a finding's code: what the order asks for was measured to be so


def says_already_so(findings: Iterable[Finding]) -> bool:
    """Whether that alone refuses the order."""
    codes = {finding.code for finding in findings if not finding.warning}
    return codes == {ALREADY_SO}


def was_already_so(outcome: Outcome) -> bool:
    return outcome.cause is Cause.REJECTED and says_already_so(outcome.findings)
