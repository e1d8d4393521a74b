"""Reset of a workspace: the scene, orders and plans are removed; lessons and declarations stay.

The documents are copied below `.paos/before/STAMP/` before the first of them changes; `undo_reset` puts the newest copy
back. Each step can be repeated: the next reset completes an interrupted one, whose copies stay.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from worldfs.access.roles import OPERATOR
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.errors import NotFound
from worldfs.base.messages import coded
from worldfs.runtime.job_store import JobStore
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.store_interface import Store

from .layout.versioned_rows import VERSIONED
from .templates import template
from .workspace_engine import open_engine

BEFORE = ".paos/before"
FRESH = {
    "ENVIRONMENT.md": template("environment", ""),
    "ACTION.md": template("action", ""),
    "TASK.md": template("task", ""),
    "SESSIONS.md": None,
}


class ResetLosses(NamedTuple):
    """What a reset would remove: documents with content, and jobs that have not ended."""

    documents: tuple[str, ...]
    jobs: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.documents or self.jobs)


def reset_losses(workspace: Path) -> ResetLosses:
    """What a reset would remove. Read only."""
    with closing(open_engine(workspace, versioned=VERSIONED)) as store:
        return _before(store)


def reset(workspace: Path, clock: Clock | None = None) -> str:
    """Reset; the copies' directory, relative to the workspace ("": no change). Raises `Busy` while a kernel runs."""
    with closing(open_engine(workspace, versioned=VERSIONED)) as store, store.lease(KERNEL_LEASE, "reset"):
        found = _before(store)
        if not found:
            return ""
        kept = f"{BEFORE}/{(clock or SystemClock()).now():%Y%m%dT%H%M%S.%f}"
        for name in found.documents:
            if stored := store.get(name):
                store.put(f"{kept}/{name}", stored.data)
        jobs = JobStore(store, clock or SystemClock())
        for id in found.jobs:  # the next kernel ends them as cancelled, before anything moves
            jobs.request_cancel(id, OPERATOR)
        for name in found.documents:
            if (fresh := FRESH[name]) is None:
                store.delete(name)
            else:
                store.put(name, fresh)
        return kept if found.documents else ""


def undo_reset(workspace: Path) -> tuple[str, ...]:
    """Put the documents of the newest reset back; their names. Jobs that it cancelled stay so. Raises `NotFound`."""
    with closing(open_engine(workspace, versioned=VERSIONED)) as store, store.lease(KERNEL_LEASE, "reset"):
        copies = [f"{BEFORE}/{stamp.rstrip('/')}" for stamp in store.list(BEFORE)]
        kept = next((copy for copy in reversed(copies) if store.list(copy)), None)
        if kept is None:
            raise NotFound(coded("world.no_reset"), path=str(workspace), op="reset --undo")
        names = store.list(kept)
        for name in names:
            if stored := store.get(f"{kept}/{name}"):
                store.put(name, stored.data)
        for name in names:
            store.delete(f"{kept}/{name}")
        return tuple(names)


def _before(store: Store) -> ResetLosses:
    documents = [
        name for name, fresh in FRESH.items() if (stored := store.get(name)) is not None and stored.data != fresh
    ]
    jobs = JobStore(store, SystemClock())
    return ResetLosses(tuple(documents), tuple(id for id in jobs.open_ids() if not jobs.load(id).status.state.terminal))
