"""The namespace: the whole tree of one binding, as every interface serves it. Synchronous and thread-safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.access.decision import FIXED_NAMES
from worldfs.base.errors import Exists, NotFound, UserError

from .node import Node, may_promise
from .path_resolver import NamespaceSources, PathResolver
from .path_verbs import PathVerbs

if TYPE_CHECKING:
    from worldfs.access.binding import Binding
    from worldfs.access.binding_rights import BindingRights

    from .binding_context import BindingContext


class Namespace(PathVerbs, PathResolver):
    """`walk` binds a node, and the node answers."""

    def __init__(self, binding: Binding, sources: NamespaceSources, context: BindingContext) -> None:
        super().__init__(binding, sources, context)
        context.readable = self.readable

    def walk(self, path: str) -> Node:
        return Node(self, self.resolve(path))

    def promise(self, path: str) -> Node:
        """The node of a file that is there with its first write. Raises `NotPermitted`, `Exists`."""
        try:
            at = self.place(path, "create")
        except NotFound:
            at = None
        row = at.row if at is not None else None
        if at is None or row is None or not may_promise(at) or not self.writable(row, at.names, at.role):
            raise FIXED_NAMES.error(path=path, op="create", actor=self.binding.role)
        if self.exists(row, at.names):
            raise Exists("it already exists", path=path, op="create", actor=self.binding.role)
        return Node(self, at, promised=True)

    def target(self, path: str) -> Node:
        try:
            return self.walk(path)
        except NotFound:
            return Node(self, self.place(path, "write"), promised=True)

    # -- what it sees -------------------------------------------------------------------------------------------------

    def readable(self, path: str) -> bool:
        """Whether this binding sees it, as a file or a directory."""
        try:
            self.resolve(path)
        except UserError:
            return False
        return True

    @property
    def rights(self) -> BindingRights:
        """The present rights of this binding."""
        return self.context.refresh()
