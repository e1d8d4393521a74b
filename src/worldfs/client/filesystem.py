"""The served tree as an fsspec file system: acheron://HOST:PORT/agents/self/…

    fsspec.open("acheron://127.0.0.1:18790/meta/protocol.json", token=…)
    pandas.read_json("acheron:///agents/self/jobs/job-1/result.txt", storage_options={"server": "ws://…"})

The token comes from `token=`, $PAOS_TOKEN or the home of this machine's own server, and is never part of a URL. Files
and directories can be created where the server allows it (exports of nodes, messages); removed and renamed in exports
of nodes.
"""

from __future__ import annotations

import asyncio
import errno
import os
import weakref
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import ClassVar, Final, TypeVar
from urllib.parse import urlsplit

from worldfs.base.errors import BadInput, NotPermitted, WorldError
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.formats.wire.error_codes import errno_of
from worldfs.tree.verb_values import Stat

from .address import PORT
from .connection import connect
from .remote_errors import ConnectionLost
from .remote_tree import RemoteFile, is_control
from .remote_types import RetryPolicy
from .remote_world import RemoteWorld

with needs("fs", op="acheron://"):
    from fsspec.asyn import AsyncFileSystem, sync
    from fsspec.spec import AbstractBufferedFile
    from fsspec.utils import tokenize

T = TypeVar("T")
_BLOCK: Final = 512 * 1024


class AcheronFileSystem(AsyncFileSystem):  # type: ignore[misc] # fsspec ships no types
    """One connection for each set of options, opened at the first request, reopened when it was lost."""

    protocol: ClassVar[tuple[str, ...]] = ("acheron", "acherons")
    root_marker: ClassVar[str] = "/"

    def __init__(
        self,
        server: str = f"ws://127.0.0.1:{PORT}",
        *,
        url: str = "",
        token: str | None = None,
        agent: str = "",
        project: str = "",
        project_token: str | None = None,
        timeout: float = 30.0,
        wait: float | None = None,
        **more: object,
    ) -> None:
        """`server` (or `url`, which `fsspec.url_to_fs` cannot pass on): the address, unless the path's own URL has one;
        `token`, `agent`, `project`, `project_token`, `timeout`: as of `worldfs.client.connect`.

        `wait`: how long, in seconds, a blocking file may block (None: as the server has it; 0: not at all).
        """
        super().__init__(**more)
        self.server, self.agent, self.project, self.timeout, self.wait = url or server, agent, project, timeout, wait
        self._token, self._project_token = token, project_token
        self._world: RemoteWorld | None = None
        self._making: asyncio.Lock | None = None
        if not self.asynchronous:
            weakref.finalize(self, _close, self.loop, found := list[RemoteWorld]())
            self._made: list[RemoteWorld] = found
        else:
            self._made = []

    @classmethod
    def _strip_protocol(cls, path: object) -> str | list[str]:
        return [_place(one) for one in path] if isinstance(path, list) else _place(path)

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, object]:
        found = urlsplit(path) if "://" in path else None
        if found is None or not found.netloc:
            return {}
        return {"server": f"{'wss' if found.scheme == 'acherons' else 'ws'}://{found.netloc}"}

    async def world(self) -> RemoteWorld:
        """The connection itself, for operations beyond a file system's (chat, invoke, control)."""
        if self._making is None:
            self._making = asyncio.Lock()
        async with self._making:
            if self._world is None:
                self._world = await _run_or_os_error(
                    connect(
                        self.server,
                        token=self._token,
                        agent=self.agent,
                        project=self.project,
                        project_token=self._project_token,
                        timeout=self.timeout,
                        retry=RetryPolicy(),
                    )
                )
                self._made.append(self._world)
        return self._world

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._world is not None:
            sync(self.loop, self._world.close)
            self._world = None

    async def _info(self, path: str, **more: object) -> dict[str, object]:
        return _info(await _run_or_os_error((await self.world()).stat(_place(path))))

    async def _ls(self, path: str, detail: bool = True, **more: object) -> list[object]:
        place = _place(path)
        world = await self.world()
        try:
            if detail:
                return [_info(one) for one in await _run_or_os_error(world.entries(place))]
            return [f"{place.rstrip('/')}/{name}" for name in await _run_or_os_error(world.list(place))]
        except NotADirectoryError:
            return [await self._info(place)] if detail else [place]

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **more: object) -> bytes:
        place, world = _place(path), await self.world()
        given = more.get("wait", self.wait)
        wait = float(given) if isinstance(given, int | float) else None
        if (start or 0) >= 0 and (end is None or end >= 0):
            first = start or 0
            count = None if end is None else max(0, end - first)
            return (
                b"" if count == 0 else await _run_or_os_error(world.read(place, offset=first, count=count, wait=wait))
            )
        return (await _run_or_os_error(world.read(place, wait=wait)))[start:end]

    async def _pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: object) -> None:
        place, world = _place(path), await self.world()
        if mode == "create" and await world.exists(place):
            raise FileExistsError(place)
        await _run_or_os_error(world.write(place, bytes(value), replace=True, create=True))

    async def _append(self, path: str, value: bytes) -> None:
        world = await self.world()
        if is_control(path):
            raise _os_error(BadInput(coded("access.no_append"), path=path, op="append"))
        if not await _run_or_os_error(world.exists(path)):
            await self._pipe_file(path, value)
            return
        await _run_or_os_error(world.write(path, value, offset=(await _run_or_os_error(world.stat(path))).size))

    async def _rm_file(self, path: str, **more: object) -> None:
        await _run_or_os_error((await self.world()).remove(_place(path)))

    async def _rm(self, path: object, recursive: bool = False, batch_size: int | None = None, **more: object) -> None:
        """Children before their directory; a directory without `recursive` only when it is empty."""
        for place in reversed(await self._expand_path(path, recursive=recursive)):
            await self._rm_file(place)

    async def _rmdir(self, path: str) -> None:
        if (await self._info(path))["type"] != "directory":
            raise NotADirectoryError(path)
        await self._rm_file(path)

    def rmdir(self, path: str) -> None:
        sync(self.loop, self._rmdir, path)

    async def _mv_file(self, path1: str, path2: str, **more: object) -> None:
        await _run_or_os_error((await self.world()).rename(_place(path1), _place(path2)))

    def mv(self, path1: str, path2: str, recursive: bool = False, maxdepth: int | None = None, **more: object) -> None:
        """One rename; into an existing directory under the old name."""
        old, new = _place(path1), _place(path2)
        if self.exists(new) and self.isdir(new):
            new = f"{new.rstrip('/')}/{old.rpartition('/')[2]}"
        sync(self.loop, self._mv_file, old, new)

    def modified(self, path: str) -> datetime:
        """When it was last changed. Raises `NotImplementedError` for files without a time (most computed ones)."""
        moment = self.info(path)["mtime"]
        if moment is None:
            raise NotImplementedError(f"{path} has no modification time")
        return datetime.fromtimestamp(moment, UTC)

    async def _cp_file(self, path1: str, path2: str, **more: object) -> None:
        await self._pipe_file(path2, await self._cat_file(path1))

    async def _get_file(self, rpath: str, lpath: str, **more: object) -> None:
        if (await self._info(rpath))["type"] == "directory":
            os.makedirs(lpath, exist_ok=True)
            return
        data = await self._cat_file(rpath)
        with open(lpath, "wb") as file:
            file.write(data)

    async def _put_file(self, lpath: str, rpath: str, mode: str = "overwrite", **more: object) -> None:
        with open(lpath, "rb") as file:
            data = file.read()
        await self._pipe_file(rpath, data, mode)

    async def _mkdir(self, path: str, create_parents: bool = True, **more: object) -> None:
        place, world = _place(path), await self.world()
        above = place.rpartition("/")[0]
        if create_parents and above and not await _run_or_os_error(world.exists(above)):
            await self._mkdir(above)
        await _run_or_os_error(world.mkdir(place))

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        if not exist_ok or not await _run_or_os_error((await self.world()).exists(_place(path))):
            await self._mkdir(path)

    def ukey(self, path: str) -> str:
        """A hash of the bytes: most files are rendered when they are read, and have no version on the wire."""

        return str(tokenize(self.cat_file(path, wait=0)))

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **more: object) -> AcheronFile:
        return AcheronFile(self, _place(path), mode, block_size or _BLOCK, **more)


class AcheronFile(AbstractBufferedFile):  # type: ignore[misc] # fsspec ships no types
    """An open file: reads see the bytes at opening; the data are written once, as a whole, on close."""

    def __init__(self, fs: AcheronFileSystem, path: str, mode: str, block_size: int, **more: object) -> None:
        self._file: RemoteFile | None = None
        self._wait = more.pop("wait", fs.wait)
        if mode == "rb":
            size = more.pop("size", None) or self._begin(fs, path, block_size)
            super().__init__(fs, path, mode, block_size, size=size, **more)
        elif mode in {"wb", "ab"}:
            place = sync(fs.loop, _stat, fs, path)
            if place is not None and not place.writable:
                raise _os_error(NotPermitted(coded("tree.read_only"), path=path, op="open", code="eperm"))
            super().__init__(fs, path, mode, block_size, **more)
        else:
            raise _no_word(f"open mode {mode}", path)

    def _begin(self, fs: AcheronFileSystem, path: str, block: int) -> int:
        """The first block fixes the content for this fid; a shorter block is the whole content."""
        size: int
        self._file, self._first, size = sync(fs.loop, _first_block, fs, path, block, self._wait)
        return size

    def _fetch_range(self, start: int, end: int) -> bytes:
        if end <= len(self._first) or self._file is None:
            return bytes(self._first[start:end])
        data: bytes = sync(self.fs.loop, _range, self._file, start, end)
        return data

    def _upload_chunk(self, final: bool = False) -> bool:
        """Buffer until the end: a Control acts on each frame by itself."""
        if not final:
            return False
        self.buffer.seek(0)
        data = self.buffer.read()
        if self.mode == "ab":
            sync(self.fs.loop, self.fs._append, self.path, data)
        else:
            sync(self.fs.loop, self.fs._pipe_file, self.path, data)
        return True

    def _initiate_upload(self) -> None:
        """Nothing is sent before the last byte."""

    def close(self) -> None:
        super().close()
        if self._file is not None:
            self.fs.loop.call_soon_threadsafe(self._file.close)
            self._file = None


async def _stat(fs: AcheronFileSystem, path: str) -> Stat | None:
    """The entry; None: it does not exist yet."""
    try:
        return await _run_or_os_error((await fs.world()).stat(path))
    except FileNotFoundError:
        return None


async def _first_block(
    fs: AcheronFileSystem, path: str, block: int, wait: float | None
) -> tuple[RemoteFile | None, bytes, int]:
    file = await _run_or_os_error((await fs.world()).open(path))
    try:
        place = await _run_or_os_error(file.stat())
        if place.directory:
            raise IsADirectoryError(path)
        first = await _run_or_os_error(file.read(block, wait=wait))
        if len(first) < block:
            file.close()
            return None, first, len(first)
        return file, first, max(len(first), (await _run_or_os_error(file.stat())).size)
    except BaseException:
        file.close()
        raise


async def _range(file: RemoteFile, start: int, end: int) -> bytes:
    return await _run_or_os_error(file.read(end - start, start))


def _close(loop: asyncio.AbstractEventLoop, worlds: list[RemoteWorld]) -> None:
    for world in worlds:
        if loop.is_running():
            asyncio.run_coroutine_threadsafe(world.close(), loop)


def _place(path: object) -> str:
    """The absolute path within the tree of a path or a URL."""
    text = str(path)
    if "://" in text:
        text = text.partition("://")[2].partition("/")[2]
    return "/" + "/".join(name for name in text.split("/") if name)


def _info(place: Stat) -> dict[str, object]:
    return {
        "name": place.path,
        "size": place.size,
        "type": "directory" if place.directory else "file",
        "ino": place.id,
        "mode": place.mode,
        "writable": place.writable,
        "mtime": place.mtime_ms / 1000 if place.mtime_ms else None,
    }


async def _run_or_os_error(answer: Awaitable[T]) -> T:
    """Await the answer; a `WorldError` becomes the `OSError` that callers of a file system expect, with it as the
    cause."""
    try:
        return await answer
    except WorldError as error:
        raise _os_error(error) from error


_NUMBERS: Final = {
    errno.ENOENT,
    errno.EACCES,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EROFS,
    errno.EINVAL,
    errno.EOPNOTSUPP,
}


def _os_error(error: WorldError) -> OSError:
    if isinstance(error, TimeoutError):
        return TimeoutError(errno.ETIMEDOUT, str(error))
    if isinstance(error, ConnectionLost):
        return ConnectionError(errno.ECONNRESET, str(error))
    number = errno_of(error)
    return OSError(number if number in _NUMBERS else errno.EIO, error.found, error.path or None)


def _no_word(what: str, path: str) -> OSError:
    return OSError(errno.EOPNOTSUPP, f"the protocol does not support {what}", path)
