"""The exports of one node as paths, for threads: the mounts of the tree read and write through it.

A path is `<export>/<name>/…`; only the list of exports is kept between two calls, so what is read is what
the node has. Errors are `WorldError`s; `code` is "runtime_unavailable" where the node does not answer.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from worldfs.base.errors import NotFound, WorldError
from worldfs.tree.verb_values import Stat

from .export_source import DIRECTORY, LINK, MAX_READ, FileAttr, FsCapacity
from .fs_errors import UNREACHABLE, FsError, Unreachable, to_world_error
from .invocation import InvocationResult, invoke
from .reply_parsing import Export, ListingEntry

if TYPE_CHECKING:
    from .node_tunnel import Tunnel
    from .tunnel_hub import TunnelHub

UNANSWERED: Final = 8  # unanswered requests at once; a node with so many gets no further ones meanwhile
SLACK: Final = 5.0  # s beyond the tunnel's own timeout before a thread gives up
PIECE: Final = 1 << 20  # bytes of one write
WHOLE_MAX: Final = 64 << 20  # bytes of a file that is read whole; larger ones are read in ranges
DRAFT: Final = ".paos-tmp-"
SERVICE: Final = "service:"  # prefix of a service's export: only `invoke` uses it
_NOTHING: Final = (UNREACHABLE, "enotdir", "invalid", "eperm")  # a link that leaves its export is dangling
T = TypeVar("T")


class RemoteFs:
    """Not to be called in the hub's own loop: it blocks on it."""

    def __init__(self, hub: TunnelHub, node: str) -> None:
        self._hub, self.node = hub, node
        self._exports: tuple[Tunnel, dict[str, Export]] | None = None
        self._turns: dict[str, asyncio.Lock] = {}
        self._open: dict[object, float] = {}  # requests without an answer, and since when

    # -- reading ---------------------------------------------------------------------------------------------------

    def exports(self) -> tuple[Export, ...]:
        """In the node's order, services (`service:<id>`) among them."""
        return tuple(self._do(self._roots, "", "exports").values())

    def lookup(self, path: str) -> FileAttr:
        """The attributes of what lies at `path`; links are followed while they stay in their export."""
        return self._do(lambda tunnel: self._find(tunnel, path), path, "stat")

    stat = lookup

    def entries(self, path: str) -> Sequence[ListingEntry]:
        """The children of a directory with their attributes; `""`: the exports."""

        async def work(tunnel: Tunnel) -> Sequence[ListingEntry]:
            if not path:
                roots = (one for one in (await self._roots(tunnel)).values() if not one.name.startswith(SERVICE))
                return [ListingEntry(one.name, await tunnel.calls.getattr(one.root)) for one in roots]
            return await tunnel.calls.listing((await self._find(tunnel, path)).id)

        return self._do(work, path, "list")

    def dir_entry(self, path: str) -> Stat | None:
        """The directory entry at a path; None where nothing is, or the node does not answer."""
        try:
            attr = self.lookup(path)
        except NotFound:
            return None
        except WorldError as error:
            if error.code in _NOTHING:
                return None
            raise
        return self._dir_entry(path, attr)

    def _dir_entry(self, path: str, attr: FileAttr) -> Stat:
        if attr.k == DIRECTORY:
            return Stat(True, mtime_ms=attr.mt // 1_000_000)
        found = self._exports
        ro = found is None or found[1][path.partition("/")[0]].ro
        return Stat(False, attr.sz, not ro and bool(attr.m & 0o222), f"{attr.gen:x}", attr.mt // 1_000_000)

    def list(self, path: str) -> list[str]:
        """The names in a directory, sorted; empty for a node that does not answer."""
        return sorted(self.dir_entries(path))

    def dir_entries(self, path: str) -> dict[str, Stat]:
        """The directory entries by name, without dangling links."""
        try:
            entries = self.entries(path)
        except WorldError as error:
            if error.code != UNREACHABLE:
                raise
            return {}
        base = f"{path}/" if path else ""
        found = {
            one.name: self.dir_entry(base + one.name)
            if one.attr.k == LINK
            else self._dir_entry(base + one.name, one.attr)
            for one in entries
        }
        return {name: spot for name, spot in found.items() if spot is not None}

    def read(self, path: str, offset: int = 0, count: int | None = None) -> bytes:
        """`count` bytes from `offset`, fewer only at the end; None: all of them, of at most `WHOLE_MAX`."""

        async def work(tunnel: Tunnel) -> bytes:
            attr = await self._find(tunnel, path)
            if attr.k == DIRECTORY:
                raise FsError(errno.EISDIR)
            if count is None and attr.sz - offset > WHOLE_MAX:
                raise FsError(errno.EFBIG, f"{attr.sz} bytes; more than {WHOLE_MAX} are read in ranges only")
            h = await tunnel.calls.open(attr.id)
            try:
                return await _read(tunnel, h, offset, _most(attr.sz, offset) if count is None else count)
            finally:
                await _closed(tunnel, h)

        return self._do(work, path, "read")

    def statfs(self, path: str) -> FsCapacity:
        async def work(tunnel: Tunnel) -> FsCapacity:
            return await tunnel.calls.statfs((await self._find(tunnel, path)).id)

        return self._do(work, path, "statfs")

    # -- writing: durable on the node when it returns --------------------------------------------------------------

    def write(self, path: str, data: bytes, offset: int = 0) -> int:
        """Write into an existing file; bytes before `offset` and behind the data stay."""

        async def work(tunnel: Tunnel) -> int:
            attr = await self._find(tunnel, path)
            if attr.k == DIRECTORY:
                raise FsError(errno.EISDIR)
            h = await tunnel.calls.open(attr.id, 1)
            try:
                await _write(tunnel, h, offset, data)
            except BaseException:
                await _closed(tunnel, h)
                raise
            await tunnel.calls.close_handle(h)
            return len(data)

        return self._do(work, path, "write")

    def create(self, path: str, data: bytes = b"", mode: int = 0o644) -> FileAttr:
        """A new file; `Exists` if the path exists."""

        async def work(tunnel: Tunnel) -> FileAttr:
            parent, name = await self._place(tunnel, path)
            await _create(tunnel, parent, name, data, mode)
            return await self._find(tunnel, path)

        return self._do(work, path, "create")

    def replace(self, path: str, data: bytes) -> None:
        """Replace the content atomically: a reader there sees the old or the new one."""

        async def work(tunnel: Tunnel) -> None:
            parent, name = await self._place(tunnel, path)
            mode = 0o644
            with suppress(FsError):
                mode = (await tunnel.calls.lookup(parent, name)).m & 0o777
            draft = f"{DRAFT}{secrets.token_hex(8)}"
            try:
                await _create(tunnel, parent, draft, data, mode)
                await tunnel.calls.rename(parent, draft, parent, name)
            except BaseException:
                with suppress(FsError):
                    await tunnel.calls.unlink(parent, draft)
                raise

        self._do(work, path, "replace")

    def truncate(self, path: str, size: int) -> None:
        async def work(tunnel: Tunnel) -> None:
            await tunnel.calls.truncate((await self._find(tunnel, path)).id, size)

        self._do(work, path, "truncate")

    def mkdir(self, path: str) -> None:
        async def work(tunnel: Tunnel) -> None:
            await tunnel.calls.mkdir(*await self._place(tunnel, path))

        self._do(work, path, "mkdir")

    def remove(self, path: str) -> None:
        """A file, a link (itself), or an empty directory."""

        async def work(tunnel: Tunnel) -> None:
            parent, name = await self._place(tunnel, path)
            try:
                await tunnel.calls.unlink(parent, name)
            except FsError as error:
                if error.number not in (errno.EISDIR, errno.EPERM):
                    raise
                await tunnel.calls.rmdir(parent, name)

        self._do(work, path, "remove")

    def rename(self, old: str, new: str) -> None:
        """Over what is there, as rename(2); within one export."""

        async def work(tunnel: Tunnel) -> None:
            await tunnel.calls.rename(*await self._place(tunnel, old), *await self._place(tunnel, new))

        self._do(work, old, "rename")

    # -- services --------------------------------------------------------------------------------------------------

    def services(self) -> tuple[str, ...]:
        """Ids of the services that can be invoked here."""
        return tuple(one.name.removeprefix(SERVICE) for one in self.exports() if one.name.startswith(SERVICE))

    def invoke(self, service: str, payload: bytes, timeout: float = 30.0) -> InvocationResult:
        """Run a service with this payload (JSON) and wait for its end, `timeout` s at most.

        A failed run is a value. Raises `Busy` while another run is active, `NotFound` for an unknown service.
        """

        async def work(tunnel: Tunnel) -> InvocationResult:
            export = (await self._roots(tunnel)).get(SERVICE + service)
            if export is None:
                raise FsError(errno.ENOENT)
            async with self._turns.setdefault(service, asyncio.Lock()):
                return await invoke(tunnel, export, payload, timeout)

        return self._do(work, SERVICE + service, "invoke", timeout + self._hub.limit)

    # -- how -------------------------------------------------------------------------------------------------------

    def _do(
        self,
        work: Callable[[Tunnel], Coroutine[object, object, T]],
        path: str,
        op: str,
        limit: float | None = None,
    ) -> T:
        with suppress(RuntimeError):
            assert asyncio.get_running_loop() is not self._hub.loop, "would wait for itself"

        async def within() -> T:
            return await work(self._hub.require_tunnel(self.node))

        now = self._hub.loop.time()
        if sum(now - since >= self._hub.patience for since in list(self._open.values())) >= UNANSWERED:
            # Each holds a thread of the server: a silent node must not hold them all.
            raise to_world_error(Unreachable(f"node {self.node} has {UNANSWERED} unanswered requests"), path, op)
        if limit is None:  # an invocation takes its own time
            self._open[within] = now
        try:
            future = asyncio.run_coroutine_threadsafe(within(), self._hub.loop)
        except RuntimeError:  # the loop has ended
            self._open.pop(within, None)
            raise to_world_error(Unreachable("the server stops"), path, op) from None
        try:
            return future.result((self._hub.limit if limit is None else limit) + SLACK)
        except FsError as error:
            raise to_world_error(error, f"{self.node}:{path}", op) from None
        except (TimeoutError, CancelledError):
            future.cancel()
            raise to_world_error(Unreachable(f"no answer of node {self.node} in time"), path, op) from None
        finally:
            self._open.pop(within, None)
            del future  # break the reference cycle: future, error, frame

    async def _roots(self, tunnel: Tunnel) -> dict[str, Export]:
        """The exports by name; requested once per tunnel."""
        if self._exports is None or self._exports[0] is not tunnel:
            self._exports = tunnel, {one.name: one for one in await tunnel.calls.exports()}
        return self._exports[1]

    async def _find(self, tunnel: Tunnel, path: str) -> FileAttr:
        name, *rest = path.split("/")
        export = (await self._roots(tunnel)).get(name)
        if export is None or name.startswith(SERVICE):
            raise FsError(errno.ENOENT)
        if not rest:
            return await tunnel.calls.getattr(export.root)
        try:
            return await tunnel.calls.find(export.root, rest)
        except FsError as error:
            if error.number != errno.EINVAL or "a.name" not in error.message:
                raise
        node = export.root  # a node that takes one step at a time
        for step in rest:
            attr = await tunnel.calls.lookup(node, step)
            node = attr.id
        return attr

    async def _place(self, tunnel: Tunnel, path: str) -> tuple[int, str]:
        above, _, name = path.rpartition("/")
        if not above:
            raise FsError(errno.EACCES, "exports are the node's own")
        return (await self._find(tunnel, above)).id, name


def _most(size: int, offset: int) -> int:
    """The number of bytes to request for a whole file: its reported size, or one chunk of a file whose
    size is not known before it is read (0). Bytes beyond it are ignored."""
    return max(size - offset, 0) if size else MAX_READ


async def _read(tunnel: Tunnel, h: int, offset: int, most: int) -> bytes:
    parts = []
    while most > 0:
        data, end = await tunnel.calls.read(h, offset, min(most, MAX_READ))
        parts.append(data)
        offset += len(data)
        most -= len(data)
        if end or not data:
            break
    return b"".join(parts)


async def _write(tunnel: Tunnel, h: int, offset: int, data: bytes) -> None:
    done = 0
    while done < len(data):
        n = await tunnel.calls.write(h, offset + done, data[done : done + PIECE])
        if n <= 0:
            raise FsError(errno.EIO, "the node wrote no more bytes")
        done += n


async def _create(tunnel: Tunnel, parent: int, name: str, data: bytes, mode: int) -> None:
    _, h = await tunnel.calls.create(parent, name, mode, 1)
    try:
        await _write(tunnel, h, 0, data)
    except BaseException:
        await _closed(tunnel, h)
        raise
    await tunnel.calls.close_handle(h)


async def _closed(tunnel: Tunnel, h: int) -> None:
    with suppress(FsError):
        await tunnel.calls.close_handle(h)
