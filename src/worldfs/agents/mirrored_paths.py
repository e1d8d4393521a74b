"""Which files of an agent's directory hosts share, and which are one host's, or the engine's, alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from worldfs.base.durable import DRAFT, Root
from worldfs.storage.revision import PRIVATE_DIR

MAIL: Final = "mail"  # of the engine: letters that the agent's host has not taken in yet
VISIBLE: Final = ("report.json", "tasks.json", "session.json", "memory.md", "metrics.json", "journal.jsonl")
_OWN: Final = (
    "displaced", "drafts", "heartbeat", "home.json", "host.json", "inbox.lock", "index", "kernel.lock", "state.lock",
    "store.lock", "trash",
)  # fmt: skip
_NOT_SHARED: Final = (MAIL, *(f"{PRIVATE_DIR}/{name}" for name in _OWN))
_BELOW: Final = tuple(f"{path}/" for path in _NOT_SHARED)


def is_shared(path: str) -> bool:
    return path not in _NOT_SHARED and not path.startswith(_BELOW) and DRAFT not in path


def shared_files(files: Root, folder: str = "") -> Iterator[str]:
    """Every shared file of a directory, in no order. Links and odd files are left out."""
    with suppress(FileNotFoundError), files.folder(folder).scan() as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not is_shared(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from shared_files(files, path)
            elif entry.is_file(follow_symlinks=False):
                yield path
