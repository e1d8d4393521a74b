"""The beginning of an agent: its directory, and those of its seven files that are missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.ground.durable import Disk, Root
from worldfs.ground.errors import Exists

if TYPE_CHECKING:
    from worldfs.ground.clock import Clock

IGNORE: Final = b"# State is operational and stays out of version control; what an agent makes goes in.\n*\n"


def make(
    root: Path, name: str, *, clock: Clock | None = None, disk: Disk | None = None, language: str = "en"
) -> list[str]:
    """Create what is missing below `root`/`name`, durable; the names of the files that are new. Nothing is replaced."""
    from worldfs.formats.agent import documents, memory
    from worldfs.ground.clock import SystemClock, stamp
    from worldfs.ground.model import Report
    from worldfs.ground.model.agent import SessionRecord

    from . import metrics, todo
    from .fold import Fold
    from .names import new_name

    new_name(root, name)
    moment = (clock or SystemClock()).now().replace(microsecond=0)
    now = stamp(moment)
    fresh = Root.build(root, 0o700)
    house = Root(root, disk)
    try:
        if fresh or not os.listdir(root):
            _create(house, ".gitignore", IGNORE)
        first = {
            "report.json": documents.report_write(Report(name, now, summary="No session yet")),
            "tasks.json": todo.empty(name, now),
            "session.json": documents.session_write(SessionRecord(name, "", now, now, status="completed")),  # no id yet
            "memory.md": memory.template(name, language),
            "metrics.json": documents.metrics_write(metrics.project(Fold(), name, moment)),
            "journal.jsonl": b"",
        }
        made = [file for file, data in first.items() if _create(house, f"{name}/{file}", data)]
        house.room(f"{name}/inbox/x")
        return made
    finally:
        house.close()


def _create(house: Root, path: str, data: bytes) -> bool:
    try:
        house.create(path, data)
    except Exists:
        return False
    return True
