"""Findings, outcomes and errors in the reader's language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from .coded_text import CodedText, coded, render

if TYPE_CHECKING:  # their modules would be loaded for every command, to say an error
    from worldfs.base.errors import WorldError
    from worldfs.base.model import Finding, Outcome


def render_finding(finding: Finding, language: str) -> Finding:
    """The finding with its four texts in `language`."""
    texts = (finding.field, finding.expected, finding.found, finding.fix)
    field, expected, found, fix = said = tuple(render(text, language) for text in texts)
    if said == texts:
        return finding
    from dataclasses import replace  # here: commands should start fast

    return replace(finding, field=field, expected=expected, found=found, fix=fix)


def render_outcome(outcome: Outcome, language: str) -> Outcome:
    """The outcome with its message and its findings in `language`; cause, code and evidence are for machines."""
    said = render(outcome.message, language)
    findings = tuple(render_finding(finding, language) for finding in outcome.findings)
    if said == outcome.message and findings == outcome.findings:
        return outcome
    from dataclasses import replace

    return replace(outcome, message=said, findings=findings)


def finding_message(finding: Finding) -> CodedText:
    """The finding in one text, as `str(finding)`, with the codes of its parts."""
    texts = {name: getattr(finding, name) for name in ("code", "field", "expected", "found", "fix")}
    return coded("world.finding", **texts)


def either(names: Sequence[str]) -> str:
    """`a or b`; "" for none."""
    return reduce(lambda one, other: coded("runtime.or", one=one, other=other), names) if names else ""


def error_message(error: WorldError) -> str:
    """The error in one text, as `str(error)`, with the codes of its parts."""
    said = error.found
    if error.path:
        said = coded("runtime.error_at", path=error.path, said=said)
    if error.expected:
        said = coded("runtime.error_expected", said=said, expected=error.expected)
    if error.fix:
        said = coded("runtime.error_fix", said=said, fix=error.fix)
    return said
