"""Which store holds a record of a workspace: the shared one, or a robot's own.

A single workspace is one store. A fleet has a shared one and one for each robot (000 "Workspace Topology"): `per_robot`
of a layout row says that its file lies in the robot's own. Jobs, stops and the turns at robots are in the shared store.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from worldfs.storage.joined_watch import JoinedWatch
from worldfs.storage.store_interface import Store, StoreWatch

from .row_table import FileRow
from .virtual_file import Names


def robot_key(node: str, key: str) -> str:
    """How a watch of several stores names a key of a robot's own store."""
    return f"@{node}/{key}"


class WorkspaceStores(NamedTuple):
    """`robots`: by node; they come and go. A node without an own store has its files in the shared one."""

    shared: Store
    robots: dict[str, Store]

    def robot(self, node: str) -> Store:
        """The store of the rows that are `per_robot`; of no node: the shared one."""
        return self.robots.get(node, self.shared)

    def of(self, row: FileRow, names: Names) -> Store:
        return self.robot(names.get("node", "")) if row.per_robot else self.shared

    def all(self) -> tuple[Store, ...]:
        return self.shared, *self.robots.values()

    def watch(self, *prefixes: str, arrivals: Collection[str] = ()) -> StoreWatch:
        """A watch of prefixes of the shared store and, as `robot_key` names them, of robots' own ones."""
        robots = {robot_key(node, ""): store for node, store in tuple(self.robots.items())}
        own = {at: list[str]() for at in robots}
        shared: list[str] = []
        for prefix in prefixes:
            at = prefix[: prefix.find("/") + 1]
            own.get(at, shared).append(prefix[len(at) :] if at in own else prefix)
        first = self.shared.watch(*shared, arrivals=arrivals)
        if not own:
            return first
        return JoinedWatch(first, {at: robots[at].watch(*keys) for at, keys in own.items()})

    def close(self) -> None:
        for store in self.all():
            store.close()
