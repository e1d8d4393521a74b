"""The transaction of one call: its caller, its time, and its changes. Nothing is altered until it is committed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Container
from typing import Final, NamedTuple

from worldfs.access.caller import Caller, PlaneConfig
from worldfs.formats.wire.frames import Json

from .control_operations import OpRow
from .event_history import ServiceEvent
from .plane_records import Project
from .plane_state import PlaneState, StateChange
from .reconciler import Reconciler

Reply = Json | Callable[[], Json]
"""The payload of the answer; a function where it shows what the change made of the state."""
Operation = Callable[["Transaction", Json], Reply]

NODES: Final = "/nodes"
PAIRING: Final = "/debug/pairing"


class PlaneContext(NamedTuple):
    """The shared state of all calls. `seen`: when a node was last seen since its last refresh; memory only."""

    state: PlaneState
    reconcile: Reconciler
    config: PlaneConfig
    seen: dict[str, int]


class Transaction:
    """`topics`: of the feed; `projects`: whose workspaces changed; `event`: for the watchers of services."""

    def __init__(self, context: PlaneContext, row: OpRow, caller: Caller, now_ms: int) -> None:
        self.state, self.reconcile, self.config, self.seen = context
        self.row, self.caller, self.now = row, caller, now_ms
        self.change = StateChange()
        self.topics: list[str] = []
        self.projects: list[str] = []
        self.event: ServiceEvent | None = None

    # -- changing --------------------------------------------------------------------------------------------------

    def put(self, table: str, key: str, record: object) -> None:
        """Put a record, or (None) drop it."""
        self.change.puts.append((table, key, record))

    def count(self, name: str, by: int = 1) -> int:
        """Increase a durable counter; returns its value after this change."""
        counts = self.change.counts
        counts[name] = counts.get(name, self.state.counts.get(name, 0)) + by
        return counts[name]

    def fresh(self, kind: str, counter: str, taken: Container[str]) -> str:
        """The next free id of a kind; the realm may have used one of that form."""
        while (name := f"{kind}-{self.count(counter)}") in taken:
            pass
        return name

    def touch(self, *topics: str) -> None:
        self.topics.extend(topics)

    def touch_node(self, node_id: str, *, mounts: bool = True) -> None:
        """Mark a node as changed; `mounts`: also the workspaces that mount it."""
        self.touch(NODES, f"{NODES}/{node_id}")
        if mounts:
            for project_id in self.state.dependent_projects(node_id):
                self.touch_project(project_id)

    def touch_project(self, project_id: str) -> None:
        self.touch(f"/projects/{project_id}")
        self.projects.append(project_id)

    def put_project(self, project: Project) -> None:
        self.put("projects", project.project_id, project)
        self.touch_project(project.project_id)


def new_secret(kind: str) -> str:
    """A secret of 128 bits: `inv-…`, `secret-…`, `lease-…`, `proj-…`."""
    return f"{kind}-{secrets.token_hex(16)}"
