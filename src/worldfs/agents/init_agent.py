"""The beginning of an agent: its directory, and those of its seven files that are missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.base.agent_names import check_new_name
from worldfs.base.clock import SystemClock, stamp
from worldfs.base.durable import Disk, Root
from worldfs.base.errors import Exists
from worldfs.base.model import AgentReport
from worldfs.base.model.agent import SessionRecord

from . import metrics, task_file
from .metrics_reducer import MetricsReducer

if TYPE_CHECKING:
    from worldfs.base.clock import Clock

IGNORE: Final = b"# State is operational and stays out of version control; what an agent makes goes in.\n*\n"


def create_agent(
    root: Path,
    name: str,
    *,
    clock: Clock | None = None,
    disk: Disk | None = None,
    language: str = "en",
    checked: bool = False,
) -> list[str]:
    """Create what is missing below `root`/`name`, durable; the names of the files that are new. Nothing is replaced.

    `checked`: the caller has compared the name with those below the root (`check_new_names`, of many at once).
    """
    from worldfs.formats.agent import documents, memory

    if not checked:
        check_new_name(root, name)
    moment = (clock or SystemClock()).now().replace(microsecond=0)
    now = stamp(moment)
    fresh = Root.build(root, 0o700)
    root_dir = Root(root, disk)
    try:
        if fresh or not os.listdir(root):
            _create(root_dir, ".gitignore", IGNORE)
        first = {
            "report.json": documents.report_write(AgentReport(name, now, summary="No session yet")),
            "tasks.json": task_file.empty_tasks(name, now),
            "session.json": documents.session_write(SessionRecord(name, "", now, now, status="completed")),  # no id yet
            "memory.md": memory.template(name, language),
            "metrics.json": documents.metrics_write(metrics.project(MetricsReducer(), name, moment)),
            "journal.jsonl": b"",
        }
        made = [file for file, data in first.items() if _create(root_dir, f"{name}/{file}", data)]
        root_dir.ensure_parent(f"{name}/inbox/x")
        return made
    finally:
        root_dir.close()


def _create(root_dir: Root, path: str, data: bytes) -> bool:
    try:
        root_dir.create(path, data)
    except Exists:
        return False
    return True
