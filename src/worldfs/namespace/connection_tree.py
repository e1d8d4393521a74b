"""The tree of one connection: the shared namespace, except the connection's own events and jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Content, Stat, Wait, Written

    from .namespace import Namespace

_OWN = ("/agents/self/events", "/agents/self/jobs")  # delivered events, and the wait of a job's end


class ConnectionTree:
    """Thousands of connections may have the same binding: their common part exists once."""

    __slots__ = ("_make", "_own", "shared")

    def __init__(self, shared: Namespace, own: Callable[[], Namespace]) -> None:
        self.shared = shared
        self._make = own
        self._own: Namespace | None = None

    def _of(self, path: str) -> Namespace:
        if not path.startswith(_OWN):
            return self.shared
        if self._own is None:
            self._own = self._make()
        return self._own

    def stat(self, path: str) -> Stat:
        return self._of(path).stat(path)

    def list(self, path: str) -> list[str]:
        return self._of(path).list(path)

    def entries(self, path: str) -> Sequence[Stat]:
        return self._of(path).entries(path)

    def read(self, path: str) -> Content:
        return self._of(path).read(path)

    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written:
        return self._of(path).write(path, data, offset=offset, correlation=correlation)

    def light(self, path: str, *, write: bool = False) -> bool:
        return self._of(path).light(path, write=write)

    def waits(self, path: str) -> Wait | None:
        return self._of(path).waits(path)

    def replace(self, path: str, data: bytes, *, correlation: str = "") -> Written:
        return self._of(path).replace(path, data, correlation=correlation)

    def truncate(self, path: str, size: int) -> None:
        self._of(path).truncate(path, size)

    def touch(self, path: str, mtime_ms: int | None) -> bool:
        return self._of(path).touch(path, mtime_ms)

    def create(self, path: str, *, directory: bool = False) -> Stat:
        return self.shared.create(path, directory=directory)

    def promise(self, path: str) -> Stat | None:
        return self.shared.promise(path)

    def rename(self, old: str, new: str) -> None:
        self.shared.rename(old, new)

    def remove(self, path: str) -> None:
        self.shared.remove(path)
