"""Several mounts as one: a row names its mount."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded
from worldfs.storage.store_interface import Store
from worldfs.tree.row_table import FileRow
from worldfs.tree.virtual_file import Names

from ..tree import Mounts


class JoinedMounts:
    """A row whose mount is not among them does not exist."""

    def __init__(self, mounts: Mapping[str, Mounts]) -> None:
        self.mounts = mounts

    def store(self, row: FileRow, names: Names) -> Store:
        return self.mounts[row.mount].store(row, names)

    def key(self, row: FileRow, names: Names) -> str:
        return self.mounts[row.mount].key(row, names)

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        found = self.mounts.get(mount)
        return found.names(mount, variable, names) if found is not None else []

    def holds(self, mount: str, names: Names) -> bool:
        found = self.mounts.get(mount)
        return found is not None and found.holds(mount, names)

    def exists(self, row: FileRow, names: Names) -> bool:
        """A link, a FIFO or a broken disk in the file's place is there too: its read says what is wrong."""
        try:
            return self.mounts[row.mount].exists(row, names)
        except NotFound:
            raise
        except WorldError:
            return True


class StaticMount:
    """Files that always exist and are in no store."""

    def store(self, row: FileRow, names: Names) -> Store:
        raise NotFound(coded("tree.in_no_store"), path=row.pattern)

    def key(self, row: FileRow, names: Names) -> str:
        return ""

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        return []

    def holds(self, mount: str, names: Names) -> bool:
        return True

    def exists(self, row: FileRow, names: Names) -> bool:
        return True
