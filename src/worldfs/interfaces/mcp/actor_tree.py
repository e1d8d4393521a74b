"""The tree as the actor of an MCP connection sees it: the few verbs that every tool is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from worldfs.access.binding import Binding
from worldfs.tree.verb_values import Content, Stat, Written

Changes = AbstractAsyncContextManager[Callable[[float], Awaitable[None]]]


class ActorTree(Protocol):
    """Every verb raises `WorldError`. A read never waits; a write is durable when it returns."""

    @property
    def binding(self) -> Binding: ...
    @property
    def person(self) -> str:
        """The person at the client, by the name of an actor; "" for none."""
        ...

    async def real(self, path: str) -> str:
        """The path behind every link that this one walks through, as the tree resolves it. Raises `BadInput`."""
        ...

    async def stat(self, path: str) -> Stat: ...
    async def entries(self, path: str) -> Sequence[Stat]: ...
    async def read(self, path: str) -> Content: ...
    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        """The whole content of a file, or an order to a Control. `expect`: refused with `Conflict` unless the file has
        this revision."""
        ...

    async def answer(self, path: str, data: bytes) -> None:
        """Write what the person at the client has answered, as that person."""
        ...

    def changes(self, path: str) -> Changes:
        """Gives a function that waits until something at the path may have changed since its last call, at most so many
        seconds. Changes count from the moment of entering."""
        ...
