"""A path with a verb in one call: it walks there, and asks the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.storage.store_interface import ANY, Expected

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Content, Stat, Written

    from .node import Node


class PathVerbs:
    """For a caller that has no fids. A caller that asks twice keeps the node."""

    __slots__ = ()

    def walk(self, path: str) -> Node:
        """Raises `NotFound` for what the binding does not see."""
        raise NotImplementedError

    def target(self, path: str) -> Node:
        """The node of a path to write at: the file need not be there yet."""
        raise NotImplementedError

    def stat(self, path: str) -> Stat:
        return self.walk(path).found()

    def list(self, path: str) -> list[str]:
        return self.walk(path).list()

    def read(self, path: str) -> Content:
        return self.walk(path).read()

    def write(
        self, path: str, data: bytes, *, offset: int = 0, correlation: str = "", expect: Expected = ANY
    ) -> Written:
        return self.target(path).write(data, offset=offset, correlation=correlation, expect=expect)
