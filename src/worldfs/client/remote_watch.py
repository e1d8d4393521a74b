"""Watches of a remote world: a selector in events/control/wait.json, and blocking reads of events/next.json."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.json_values import as_int
from worldfs.base.messages import coded

from .remote_jobs import CHAT, parse
from .remote_tree import RemoteTree
from .remote_types import Json, WatchEvent

if TYPE_CHECKING:
    from .remote_world import RemoteWorld

WAIT: Final = "/agents/self/events/control/wait.json"
NEXT: Final = "/agents/self/events/next.json"
_POLL_S: Final = 0.5  # s between two reads, where a server cannot push changes
_LOOK_S: Final = 30.0


async def watch(
    world: RemoteWorld, paths: Sequence[str], kind: str, since: str | int, timeout: float
) -> AsyncIterator[WatchEvent]:
    if kind not in ("ends", "changes"):
        raise BadInput(coded("access.kind", kind=kind), op="watch", expected=coded("access.watch_kinds"))
    async with world.borrow_connection() as tree:
        await _select(tree, paths or (CHAT,), kind, since, timeout, patience=world.timeout)
        while True:
            event = await _next(tree)
            if event is not None:
                yield event


@asynccontextmanager
async def changes(world: RemoteWorld, path: str) -> AsyncIterator[Callable[[float], Awaitable[None]]]:
    """Yields a function that waits until `path` has changed since its last call, or so many seconds."""
    async with world.borrow_connection() as tree:
        try:
            await _select(tree, (path,), "changes", "now", _LOOK_S, patience=world.timeout)
            told = True
        except BadInput:
            told = False  # this server reports only the ends of jobs

        async def until_next(seconds: float) -> None:
            if told:
                await _next(tree, min(seconds, _LOOK_S))
            else:
                await asyncio.sleep(min(seconds, _POLL_S))

        yield until_next


async def wait(
    world: RemoteWorld, path: str, until: Callable[[bytes], bool] | str, timeout: float | None
) -> bytes | None:
    """See `RemoteWorld.wait`. The selector is set before the first read, so no change is missed."""
    now = asyncio.get_running_loop().time
    deadline = None if timeout is None else now() + timeout
    first: bytes | None = None
    looked = False

    def happened(found: bytes | None) -> bool:
        nonlocal first, looked
        if isinstance(until, str) and until:
            return found is not None and until.encode() in found
        if not isinstance(until, str):
            return found is not None and until(found)
        if not looked:
            first, looked = found, True
            return False
        return found != first

    async with changes(world, path) as until_next:
        while True:
            found = await _look(world, path)
            if happened(found):
                return found or b""
            left = _LOOK_S if deadline is None else deadline - now()
            if left <= 0:
                return None
            await until_next(left)


async def each(world: RemoteWorld, path: str) -> AsyncIterator[bytes]:
    before: bytes | None = None
    async with changes(world, path) as until_next:
        while True:
            found = await world.read(path, wait=0)
            if found != before:
                yield found
            before = found
            await until_next(_LOOK_S)


async def _look(world: RemoteWorld, path: str) -> bytes | None:
    try:
        return await world.read(path, wait=0)
    except NotFound:
        return None
    except WorldError as error:
        if error.code == "eisdir":
            return "\n".join(await world.list(path)).encode()
        raise


async def _select(
    tree: RemoteTree, paths: Sequence[str], kind: str, since: str | int, timeout: float, *, patience: float
) -> None:
    asked: Json = {"paths": list(paths), "timeout_ms": int(timeout * 1000)}
    asked |= {"kind": "changes"} if kind == "changes" else {}
    asked |= {"since": since} if since != "last" else {}
    data = json.dumps(asked, ensure_ascii=False).encode()
    await tree.write(WAIT, data, offset=0, correlation="", split=False, timeout=patience)


async def _next(tree: RemoteTree, wait: float | None = None) -> WatchEvent | None:
    """The next event; None: nothing happened during one blocking read."""
    found = parse(await tree.read(NEXT, offset=0, count=None, wait=wait, timeout=None, directory=False), NEXT)
    if not found.get("configured", True):
        raise WorldError(coded("access.selector_gone"), path=NEXT, op="watch", code=str(found.get("error", "")))
    if found.get("waiting"):
        return None
    job, change = found.get("job"), found.get("change")
    return WatchEvent(
        as_int(found.get("seq")) or as_int(found.get("event_id")),
        str(found.get("source_path", "")),
        str(found.get("event_path", "")),
        job if isinstance(job, dict) else {},
        change if isinstance(change, dict) else {},
    )
