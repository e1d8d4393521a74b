"""The files of a run in the private directory of its session, for the next session.

.paos/sessions/<id>/run.json      the runner and its processes: durable before the command begins
                   /output.log    its output (output_log.py)
                   /outcome.json  what it reports about itself, written by the command (outcome_report.py)
                   /exit.json     how it ended; without it the runner was killed
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Final

from worldfs.base.dir_reader import check_path
from worldfs.base.durable import Root
from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.model import Json
from worldfs.formats.agent.redact import redact_value
from worldfs.storage.revision import PRIVATE_DIR

HOME: Final = f"{PRIVATE_DIR}/sessions"
RUN: Final = "run.json"
EXIT: Final = "exit.json"
OUTCOME: Final = "outcome.json"
KEEP: Final = 50  # sessions whose files stay; at most 3 MiB each


class SessionFiles:
    """The directory of one session, made when it is first needed, readable by its owner only."""

    def __init__(self, root: Root, id: str) -> None:
        self.root, self.id = root, id
        self.folder = f"{HOME}/{id}"
        check_path(self.folder, op="run")

    def path(self, name: str) -> str:
        """The path of one of its files, for other programs."""
        return os.path.join(os.path.realpath(self.root.path), self.folder, name)

    def write(self, name: str, value: Json) -> None:
        """Durable when it returns; without secrets: a command line may hold some."""

        text = json.dumps(redact_value(value), ensure_ascii=False, indent=2) + "\n"
        self.root.replace(f"{self.folder}/{name}", text.encode("utf-8", "replace"), private=True)

    def read(self, name: str) -> Json | None:
        """None if there is none, or none that can be read."""
        try:
            data = self.root.read(f"{self.folder}/{name}")
            value: object = None if data is None else parse_json(data)
        except (WorldError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def has(self, name: str) -> bool:
        place = self.root.locate(f"{self.folder}/{name}")
        return place is not None and self.root.lstat(place) is not None

    def drop(self) -> None:
        """Remove it all; never a failure."""
        place = self.root.locate(f"{self.folder}/x")
        if place is None:
            return
        with suppress(OSError):
            for name in place.folder.names():
                self.root.disk.unlink(place.folder.fd, name, f"{self.folder}/{name}")
            above = self.root.folder(HOME)
            os.rmdir(self.id, dir_fd=above.fd)


def session_ids(root: Root) -> list[str]:
    """Sessions with traces, sorted: ids begin with their time."""
    try:
        return sorted(root.folder(HOME).names())
    except FileNotFoundError:
        return []


def prune(root: Root, keep: int = KEEP) -> None:
    """Removes files of old sessions whose end is recorded; the newest `keep` stay."""
    for id in session_ids(root)[:-keep]:
        trace = SessionFiles(root, id)
        if trace.has(EXIT):
            trace.drop()
