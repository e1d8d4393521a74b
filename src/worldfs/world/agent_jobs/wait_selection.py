"""The selection that a write to `events/control/wait.json` configures, parsed strictly (acheron D42 and D43)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json

REFUSAL: Final = "wait.json payload must include non-empty paths[] and optional timeout_ms"
TIMEOUT_MS: Final = 60_000
LONGEST_MS: Final = 86_400_000
INPUT: Final = "/agents/self/chat/control/input"
STARTS: Final = ("last", "now", "start")
_JOB: Final = re.compile(r"(?:.*/)?agents/self/jobs/([A-Za-z0-9._-]{1,128})/(?:status\.json|result\.txt)\Z")


class WaitSource(NamedTuple):
    """One path of a selection: the chat's ends, one job's end, or any change below it."""

    path: str
    job: str = ""
    chat: bool = False


class WaitSelection(NamedTuple):
    """`since`: one of `STARTS`, or the number of a change."""

    sources: tuple[WaitSource, ...] = ()
    timeout_ms: int = TIMEOUT_MS
    since: str | int = "last"
    changes: bool = False  # any readable path, and the answer carries the change

    @property
    def configured(self) -> bool:
        return bool(self.sources)


def parse_selection(text: str) -> WaitSelection:
    """Raises `BadInput` with the recorded message; blank text selects nothing."""
    if not text:
        return WaitSelection()
    try:
        asked = parse_json(text)
    except ValueError:
        raise bad_selection("no JSON") from None
    if not isinstance(asked, dict):
        raise bad_selection("no JSON object")
    paths, timeout, since = asked.get("paths"), asked.get("timeout_ms", TIMEOUT_MS), asked.get("since", "last")
    kind = asked.get("kind", "ends")
    if not isinstance(paths, list) or not paths or not all(isinstance(path, str) and path for path in paths):
        raise bad_selection("no paths")
    if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
        raise bad_selection("timeout_ms is no number of milliseconds")
    if isinstance(since, bool) or not ((isinstance(since, int) and since >= 0) or since in STARTS):
        raise bad_selection("since is neither last, now, start nor a number")
    if kind not in ("ends", "changes"):
        raise bad_selection("kind is neither ends nor changes")
    changes = kind == "changes"
    sources = tuple(WaitSource(path) if changes else _source(path) for path in paths)
    return WaitSelection(sources, min(timeout, LONGEST_MS), since, changes)


def bad_selection(found: str) -> BadInput:
    return BadInput(REFUSAL, path="/agents/self/events/control/wait.json", op="write", expected=found, code="invalid")


def _source(path: str) -> WaitSource:
    if path.endswith(INPUT):
        return WaitSource(path, chat=True)
    if (found := _JOB.match(path)) is not None:
        return WaitSource(path, job=found[1])
    raise bad_selection(f"{path[:80]!r} cannot be waited for")
