"""A walk of a remote tree: parents before children, many requests in flight, ordered by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound, NotPermitted, WorldError
from worldfs.tree.verb_values import Stat

from .remote_errors import ConnectionLost

if TYPE_CHECKING:
    from .remote_world import RemoteWorld

WalkedEntry = tuple[Stat, tuple[str, ...]]
_DEEPEST = 64  # links are followed: a deeper path is a cycle
_AHEAD = 32  # directories that are listed ahead


Trouble = Callable[[str, WorldError], None]


async def walk(
    world: RemoteWorld, path: str, depth: int | None, at_once: int, trouble: Trouble | None = None
) -> AsyncIterator[WalkedEntry]:
    """A directory that cannot be listed goes to `trouble`, and the rest goes on; without `trouble` it raises."""
    gate = asyncio.Semaphore(at_once)
    top = await world.stat(path)
    if not top.directory:
        yield top, ()
        return
    running: set[asyncio.Task[_Inside]] = set()

    def look(place: Stat) -> asyncio.Task[_Inside]:
        task = asyncio.create_task(_inside(world, place.path, gate))
        running.add(task)
        return task

    # A stack of what comes next, and for the directories near its top the listing that is already in flight.
    stack: list[tuple[Stat, int]] = [(top, 0)]
    ahead: dict[str, asyncio.Task[_Inside]] = {}
    try:
        while stack:
            place, level = stack.pop()
            if not place.directory:
                yield place, ()
                continue
            if level > (_DEEPEST if depth is None else min(depth, _DEEPEST)):
                yield place, ()
                continue
            task = ahead.pop(place.path, None) or look(place)
            for later, its_level in reversed(stack[-4 * _AHEAD :]):
                if len(ahead) >= _AHEAD:
                    break
                if later.directory and later.path not in ahead and (depth is None or its_level <= depth):
                    ahead[later.path] = look(later)
            try:
                list_directory = await task
            except ConnectionLost:
                raise
            except WorldError as error:
                if trouble is None:
                    raise
                trouble(place.path, error)
                list_directory = ()
            running.discard(task)
            if list_directory is None:
                continue
            yield place, tuple(child.name for child in list_directory)
            stack += [(child, level + 1) for child in reversed(list_directory)]
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


_Inside = Sequence[Stat] | None


async def _inside(world: RemoteWorld, path: str, gate: asyncio.Semaphore) -> _Inside:
    """The entries of a directory; None where it is gone by now, or not readable."""
    try:
        return await list_directory(world, path, gate)
    except (NotFound, NotPermitted):
        return None
    except WorldError as error:
        if error.code == "enotdir":  # it was a directory a moment ago
            return None
        raise


async def list_directory(world: RemoteWorld, path: str, gate: asyncio.Semaphore) -> Sequence[Stat]:
    """The entries of a directory: in one request, where the server has the extension."""
    async with gate:
        told = await world.bulk_entries(path)
        names = await world.list(path) if told is None else []
    if told is not None:
        return told
    root = path.rstrip("/")

    async def one(name: str) -> Stat | None:
        async with gate:
            try:
                return (await world.stat(f"{root}/{name}"))._replace(name=name)
            except (NotFound, NotPermitted):  # an entry that may not be read is skipped
                return None

    return [place for place in await asyncio.gather(*map(one, names)) if place is not None]
