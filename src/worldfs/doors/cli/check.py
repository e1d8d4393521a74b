"""`paos check`: every file read, every finding in the five words of a refusal."""

from __future__ import annotations

from .call import Call


def run(call: Call) -> int:
    """Exit 1 if anything but a warning was found (and not mended)."""
    from dataclasses import asdict

    from worldfs.world.check import check

    findings = check(call.workspace if call["workspace"] else call.home, fix=call["fix"])
    wrong = [finding for finding in findings if not finding.warning]
    call.voice.value({"ok": not wrong, "findings": [asdict(finding) for finding in findings]})
    for finding in findings:
        call.voice.line(("warning: " if finding.warning else "wrong:   ") + finding.field, _mood(finding.warning))
        for label, text in (
            ("found", finding.found),
            ("expected", finding.expected),
            ("mend", finding.fix),
            ("code", finding.code),
        ):
            if text:
                call.voice.line(f"  {label:9} {text}")
    if not findings:
        call.voice.line("every file reads well", "good")
    return 1 if wrong else 0


def _mood(warning: bool) -> str:
    return "warn" if warning else "bad"
