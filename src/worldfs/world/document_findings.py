"""What a document's own reader finds in it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Profile
from worldfs.formats import action, embodied, environment, lessons_file, orchestrator, task
from worldfs.formats.runtime import sessions, skills, targets
from worldfs.planning.refusals import unread_limit
from worldfs.runtime.stop_log import ALL, StopStates, node_of
from worldfs.storage.store_interface import Store


def document_findings(document: str, data: bytes) -> tuple[Finding, ...]:
    """The findings of a document's parser. Raises `BadInput` when it is unreadable."""
    match document:
        case "environment":
            return environment.read(data).findings
        case "action":
            return _sheet(action.read(data))
        case "sessions":
            return _sheet(sessions.read(data))
        case "targets":
            return targets.read(data).findings
        case "skills":
            return skills.read(data).findings
        case "embodied":
            return tuple(_profile(embodied.read(data), bool(data.strip())))
        case "task":
            task.read(data)
            return tuple(_unread_table(header) for header in task.unread_tables(data))
        case "orchestrator":
            return tuple(finding for _, finding in orchestrator.read(data).refused)
        case "lessons":
            lessons_file.read(data)
    return ()


def _profile(profile: Profile, written: bool) -> Iterator[Finding]:
    """Warnings for the actions that a profile does not list as supported, and that are therefore refused."""
    yield from (unread_limit(line) for line in profile.unread)
    field, expected = "EMBODIED.md Supported Actions", coded("file.supported_heading")
    fix = coded("file.list_action")
    for line in profile.odd:
        yield Finding("ACTION_NOT_LISTED", field, expected, line, fix, warning=True)
    if written and not profile.ops:
        fix = coded("file.write_actions")
        yield Finding("ACTION_NOT_LISTED", field, expected, coded("file.no_action"), fix, warning=True)


def _unread_table(header: str) -> Finding:
    expected, fix = coded("file.task_columns"), coded("file.name_columns")
    return Finding("TASK_TABLE_UNREAD", "TASK.md", expected, header[:200], fix, warning=True)


def _sheet(sheet: action.ParsedSheet) -> tuple[Finding, ...]:
    """The findings of a sheet without those of ended entries."""
    over = {entry.finding for entry in sheet.entries if entry.state == "terminal"}
    return tuple(replace(item, warning=item.warning or item in over) for item in sheet.findings)


def unread_stops(store: Store) -> Iterator[Finding]:
    """A finding for each log of stops that keeps robots stopped because a part of it cannot be read."""
    states = StopStates(store)
    for key in sorted(states.known_keys()):
        states.read(key)
        if states.is_unread(key):
            resume = "paos resume --all" if key == ALL else f"paos resume --node {shlex.quote(node_of(key))}"
            yield Finding("STOP_UNREAD", key, coded("stop.readable"), coded("stop.unread"), resume)
