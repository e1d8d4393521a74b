"""A tree that takes writes away from the one below it, before a model that obeys what it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from worldfs.access.binding import Binding
from worldfs.tree.verb_values import Content, Stat, Written
from worldfs.world.layout.controls import Control, control_at

from . import places
from .actor_tree import ActorTree, Changes


class GuardedTree(ABC):
    """An `ActorTree`. Rights are judged below it; what `check` refuses is not written.

    `check` judges where the links of a written path lead to, and that path is written.
    """

    def __init__(self, tree: ActorTree) -> None:
        self._tree = tree

    @abstractmethod
    async def check(self, path: str, control: Control, data: bytes) -> Written | None:
        """Raises `BadInput` for what may not be written this way. Returns what was written in its place; None: the
        tree below is to write it. `path`: behind every link."""

    @property
    def binding(self) -> Binding:
        return self._tree.binding

    @property
    def person(self) -> str:
        return self._tree.person

    async def real(self, path: str) -> str:
        return await self._tree.real(places.absolute(path))

    async def stat(self, path: str) -> Stat:
        return await self._tree.stat(path)

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._tree.entries(path)

    async def read(self, path: str) -> Content:
        return await self._tree.read(path)

    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        path = await self.real(path)
        done = await self.check(path, control_at(path), data)
        return await self._tree.write(path, data, expect=expect) if done is None else done

    async def answer(self, path: str, data: bytes) -> None:
        """Nothing that a model writes comes here."""
        await self._tree.answer(path, data)

    def changes(self, path: str) -> Changes:
        return self._tree.changes(path)
