"""The workspace: a project and its nodes, in one directory or in several (000 "Workspace Topology")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from worldfs.runtime.job_store import JobStore
from worldfs.storage.store_interface import Store
from worldfs.tree.row_table import FileRow
from worldfs.tree.workspace_stores import WorkspaceStores

Names = Mapping[str, str]
AS_STORED = ("sessions",)  # they exist when their bytes do


class WorkspaceMount:
    """`/projects/<project>` and `/nodes/<node>`."""

    def __init__(
        self, project: str, nodes: Callable[[], Sequence[str]], stores: WorkspaceStores, jobs: JobStore
    ) -> None:
        self.project = project
        self.nodes = nodes
        self._stores = stores
        self._jobs = jobs

    def store(self, row: FileRow, names: Names) -> Store:
        return self._stores.of(row, names)

    def key(self, row: FileRow, names: Names) -> str:
        return row.fill(names)

    def holds(self, mount: str, names: Names) -> bool:
        project, node, job = names.get("project"), names.get("node"), names.get("job")
        if project is not None and project != self.project:
            return False
        if node is not None and node not in self.nodes():
            return False
        return job is None or self._jobs.known(job)

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        if variable == "project":
            return [self.project]
        if variable == "node":
            return list(self.nodes())
        if variable == "job":
            ids = [*self._jobs.open_ids(), *self._jobs.done_ids()]
            only = len(self.nodes()) == 1
            return [id for id in ids if only or self._jobs.load(id).order.node == names.get("node")]
        return []

    def exists(self, row: FileRow, names: Names) -> bool:
        if "job" in names:
            return self._jobs.known(names["job"])
        return bool(row.view and row.view not in AS_STORED) or self.store(row, names).probe(row.fill(names)) is not None
