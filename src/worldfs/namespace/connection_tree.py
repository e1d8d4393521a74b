"""The tree of one connection: the shared namespace, except the connection's own events and jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .path_verbs import PathVerbs

if TYPE_CHECKING:
    from .binding_namespace import BindingNamespace
    from .node import Node

_OWN = ("/agents/self/events", "/agents/self/jobs")  # delivered events, and the wait of a job's end


class ConnectionTree(PathVerbs):
    """Thousands of connections may have the same binding: their common part exists once."""

    __slots__ = ("_make", "_own", "shared")

    def __init__(self, shared: BindingNamespace, own: Callable[[], BindingNamespace]) -> None:
        self.shared = shared
        self._make = own
        self._own: BindingNamespace | None = None

    def _of(self, path: str) -> BindingNamespace:
        if not path.startswith(_OWN):
            return self.shared
        if self._own is None:
            self._own = self._make()
        return self._own

    def walk(self, path: str) -> Node:
        return self._of(path).walk(path)

    def target(self, path: str) -> Node:
        return self._of(path).target(path)

    def light(self, path: str) -> bool:
        return self._of(path).light(path)
