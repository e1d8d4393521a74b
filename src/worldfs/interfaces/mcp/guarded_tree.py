"""A tree that takes writes away from the one below it, before a model that obeys what it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from worldfs.access.binding import Binding
from worldfs.tree.verb_values import Content, Stat, Written

from .actor_tree import ActorTree, Changes


class GuardedTree(ABC):
    """An `ActorTree`. Rights are judged below it; what `check` refuses is not written."""

    def __init__(self, tree: ActorTree) -> None:
        self._tree = tree

    @abstractmethod
    async def check(self, path: str, data: bytes) -> None:
        """Raises `BadInput` for what may not be written this way."""

    @property
    def binding(self) -> Binding:
        return self._tree.binding

    @property
    def person(self) -> str:
        return self._tree.person

    async def stat(self, path: str) -> Stat:
        return await self._tree.stat(path)

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._tree.entries(path)

    async def read(self, path: str) -> Content:
        return await self._tree.read(path)

    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        await self.check(path, data)
        return await self._tree.write(path, data, expect=expect)

    async def answer(self, path: str, data: bytes) -> None:
        """Nothing that a model writes comes here."""
        await self._tree.answer(path, data)

    def changes(self, path: str) -> Changes:
        return self._tree.changes(path)
