"""The port below a POSIX view: the verbs of one actor's tree by path, in this process or behind a socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from worldfs.tree.verb_values import Stat, Written


class FileLook(NamedTuple):
    """What is at a path at one moment.

    `data`: the bytes of a computed file, whose size they are; None: a directory, and a file that is read when it is
    opened. `waits`: a read of it may wait, so its size is not known before. `unchanged`: says on the event loop whether
    this look still holds; None: look again.
    """

    stat: Stat
    data: bytes | None = None
    waits: bool = False
    unchanged: Callable[[], bool] | None = None


class FileTree(Protocol):
    """Every verb raises `WorldError`. Cancelling a call ends a wait and never a change."""

    @property
    def eager(self) -> bool:
        """Whether a call may begin outside a task (`namespace.suspended_coroutine`)."""
        ...

    async def look(self, path: str) -> FileLook: ...
    async def names(self, path: str) -> Sequence[tuple[str, bool]]:
        """The names in a directory with whether each is a directory, sorted by bytes."""
        ...

    async def entries(self, path: str) -> Sequence[Stat]:
        """What is in a directory, by name. Sizes may be missing (0): `look` has them."""
        ...

    async def read(self, path: str) -> tuple[bytes, str]:
        """The present bytes and their revision ("": not known). Never waits."""
        ...

    async def read_when_ready(self, path: str) -> bytes:
        """The bytes, once the file has them; the present ones when its own time limit is over."""
        ...

    async def ready(self, path: str) -> bool:
        """Whether `read_when_ready` would return at once."""
        ...

    async def write(self, path: str, data: bytes) -> Written:
        """One order, one line of a Log, one message: exactly these bytes. Durable when it returns."""
        ...

    async def replace(self, path: str, data: bytes) -> Written:
        """The whole content of a file, atomically; a file that is not there is made where the actor may."""
        ...

    async def may_create(self, path: str) -> bool:
        """Ask for a new file. True: it is there now, empty; False: its first write makes it. Raises where it may not
        be."""
        ...

    async def mkdir(self, path: str) -> None: ...
    async def remove(self, path: str) -> None: ...
    async def rename(self, old: str, new: str) -> None:
        """Nothing may be at `new`."""
        ...

    async def touch(self, path: str, mtime_ms: int) -> None: ...
    def changes(self, path: str) -> AbstractAsyncContextManager[Callable[[], Awaitable[None]]]:
        """Yields what waits until something at the path, or above or below it, may have changed since the beginning,
        or since the last wait began to return: look between two waits, and no change is missed."""
        ...

    def stale(self, path: str) -> str:
        """When what is served of a path was read, if its server cannot be reached now; "": it is the present."""
        ...

    async def close(self) -> None: ...
