"""The remote tree of one connection: walk, open, read, write, stat, clunk, each in one round trip.

The requests of one operation are sent together: a server answers requests that do not wait in order (and
a strictly serial server all of them), so a stat costs one round trip, not three. Fid numbers are reused when the
server has answered their clunk.
"""

from __future__ import annotations

import asyncio
import heapq
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int
from worldfs.base.messages import coded
from worldfs.formats.wire import frames
from worldfs.tree.verb_values import Stat, Written

from .handshake import ROOT_FID, HandshakeResult
from .remote_errors import ConnectionLost, RequestTimeout
from .remote_types import Json
from .rpc_client import Reply, RpcClient

_ENVELOPE: Final = 1024  # bytes of a frame that are not data; a correlation id may be 128 of them
CONTROL_PLACE: Final = "control"  # every Control of the specification lies in a directory of this name


class RemoteTree:
    """Operations over one connection after its handshake. Any number may run at the same time."""

    def __init__(self, rpc: RpcClient, handshake: HandshakeResult) -> None:
        self.rpc, self.bound, self.extensions = rpc, handshake.bound, handshake.extensions
        msize = handshake.msize
        self.largest = max(1, (msize - _ENVELOPE) * 3 // 4)  # bytes of data in a frame
        self._free: list[int] = []
        self._next = ROOT_FID + 1

    async def stat(self, path: str, timeout: float | None) -> Stat:
        async with RemoteFid(self, path) as fid:
            walked = await fid.post_walk()
            posted = await fid.post("stat")
            await fid.walk_result(walked, timeout)
            found = await self.rpc.answer(*posted, "stat", path=path, timeout=timeout)
        return _stat(path, found)

    async def entries(self, path: str, timeout: float | None) -> list[Stat]:
        """What is in a directory, in one request. Only of a server with the extension "stats"."""
        data = await self.read(
            path, offset=0, count=None, wait=None, timeout=timeout, directory=True, more={"stats": True}
        )
        base = path.rstrip("/")
        found = [parse_json(line) for line in data.split(b"\n") if line]
        return [_stat(f"{base}/{one['name']}", one) for one in found]

    async def read(
        self,
        path: str,
        *,
        offset: int,
        count: int | None,
        wait: float | None,
        timeout: float | None,
        directory: bool,
        more: Json | None = None,
    ) -> bytes:
        """The bytes of a file, or the names in a directory, joined by newlines. See `RemoteWorld.read`."""
        async with RemoteFid(self, path) as fid:
            walked = await fid.post_walk()
            opened = await fid.post("open", {"mode": "r"})
            first = await fid.post("read", {**self.asking(fid.number, offset, count, wait), **(more or {})})
            qid = await fid.walk_result(walked, timeout)
            if (qid.get("type") == "dir") != directory:
                word = "enotdir" if directory else "eisdir"
                kinds = ("common.a_file", "access.read_it") if directory else ("common.directory", "access.list_it")
                what, fix = map(coded, kinds)
                raise BadInput(what, path=path, op="read", fix=fix, code=word)
            await self.rpc.answer(*opened, "open", path=path, timeout=timeout)
            found = await self.rpc.answer(*first, "read", path=path, timeout=timeout)
            pieces = [_data(found)]
            at = len(pieces[0])
            while not found.get("eof", at == 0) and pieces[-1] and (count is None or at < count):
                left = None if count is None else count - at
                asking = self.asking(fid.number, offset + at, left, None)
                found = await self.rpc.ask("read", asking, path=path, timeout=timeout)
                pieces.append(_data(found))
                at += len(pieces[-1])
        return b"".join(pieces)

    async def write(
        self,
        path: str,
        data: bytes,
        *,
        offset: int,
        correlation: str,
        split: bool,
        timeout: float | None,
        create: bool = False,
        stage: bool = False,
    ) -> Written:
        """See `RemoteWorld.write`. `create`: the file must not exist. `stage`: the data replace its content."""
        if len(data) > self.largest and not split:
            raise BadInput(
                coded("access.frame_bytes", n=len(data)),
                path=path,
                op="write",
                expected=coded("access.frame_most", n=self.largest),
                fix=coded("access.split"),
            )
        more: Json = {"correlation_id": correlation} if correlation else {}
        sent, total = Written(0), 0
        async with RemoteFid(self, path) as fid:
            walked = await (fid.post_create() if create else fid.post_walk())
            mode: Json = {"mode": "w", "stage": True} if stage else {"mode": "w"}
            opened = await fid.post("open", mode)
            await fid.walk_result(walked, timeout)
            await self.rpc.answer(*opened, "open", path=path, timeout=timeout)
            while total == 0 or total < len(data):
                piece = data[total : total + self.largest]
                fields = {"fid": fid.number, "offset": offset + total, "data_b64": frames.encode_base64(piece), **more}
                sent = _written(await self.rpc.ask("write", fields, path=path, timeout=timeout))
                total += len(piece)
                if not data:
                    break
                if sent.n < len(piece) and total < len(data):
                    raise WorldError(
                        coded("access.some_taken", n=sent.n, all=len(piece)), path=path, op="write", code="SHORT"
                    )
            if stage:
                await fid.commit(timeout)
        return sent._replace(n=sent.n if total <= self.largest else total)

    async def create(self, path: str, timeout: float | None, *, directory: bool = False) -> None:
        async with RemoteFid(self, path) as fid:
            await fid.walk_result(await fid.post_create(directory=directory), timeout)

    async def mkdir(self, path: str, timeout: float | None) -> None:
        await self.create(path, timeout, directory=True)

    async def remove(self, path: str, timeout: float | None) -> None:
        above, name = _parent(path)
        async with RemoteFid(self, above) as fid:
            walked = await fid.post_walk()
            posted = await fid.post("remove", {"path": [name]})
            await fid.walk_result(walked, timeout)
            await self.rpc.answer(*posted, "remove", path=path, timeout=timeout)

    async def rename(self, old: str, new: str, timeout: float | None) -> None:
        (above, name), (target, other) = _parent(old), _parent(new)
        async with RemoteFid(self, above) as fid, RemoteFid(self, target) as to:
            walked, there = await fid.post_walk(), await to.post_walk()
            posted = await fid.post("rename", {"newfid": to.number, "path": [name, other]})
            await fid.walk_result(walked, timeout)
            await to.walk_result(there, timeout)
            await self.rpc.answer(*posted, "rename", path=old, timeout=timeout)

    async def truncate(self, path: str, size: int, timeout: float | None) -> None:
        async with RemoteFid(self, path) as fid:
            walked = await fid.post_walk()
            posted = await fid.post("setattr", {"payload": {"size": size}})
            await fid.walk_result(walked, timeout)
            await self.rpc.answer(*posted, "truncate", path=path, timeout=timeout)

    async def open(self, path: str, mode: str, timeout: float | None) -> RemoteFile:
        """Open a file: its bytes are those of the first read. Close it."""
        async with AsyncExitStack() as stack:
            fid = await stack.enter_async_context(RemoteFid(self, path))
            walked = await fid.post_walk()
            opened = await fid.post("open", {"mode": mode})
            await fid.walk_result(walked, timeout)
            await self.rpc.answer(*opened, "open", path=path, timeout=timeout)
            stack.pop_all()
        return RemoteFile(self, fid, timeout)

    def asking(self, fid: int, offset: int, count: int | None, wait: float | None) -> Json:
        asked = self.largest if count is None else min(count, self.largest)
        fields: Json = {"fid": fid, "offset": offset, "count": asked}
        return fields if wait is None else {**fields, "wait_ms": max(0, int(wait * 1000))}

    def take_number(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._next += 1
        return self._next - 1

    async def clunk(self, number: int) -> None:
        try:
            await self.rpc.ask("clunk", {"fid": number})
        except ConnectionLost:
            return  # the fids went with the connection
        except WorldError:
            pass  # not expected of a clunk; the number is free all the same
        self.free(number)

    def free(self, number: int) -> None:
        """Release a number that the server has clunked."""
        heapq.heappush(self._free, number)


class RemoteFid:
    """A fid on the server, from the walk to the clunk. What its caller gives up is flushed, not only what it awaits."""

    def __init__(self, tree: RemoteTree, path: str) -> None:
        self._tree, self.path = tree, path
        self._names = path_names(path)
        self.number = tree.take_number()
        self._walked = False
        self._posted: list[int] = []

    async def post(self, op: str, fields: Json | None = None) -> tuple[int, Reply]:
        """Send a request about this fid; its tag, and the reply to come."""
        posted = await self._tree.rpc.post(op, {"fid": self.number, **(fields or {})})
        self._posted.append(posted[0])
        return posted

    async def post_walk(self) -> tuple[int, Reply]:
        self._walked = True
        return await self.post("walk", {"fid": ROOT_FID, "newfid": self.number, "path": self._names})

    async def post_create(self, *, directory: bool = False) -> tuple[int, Reply]:
        """Create the file instead of a walk. In two steps, because the directory needs a fid as well."""
        above, name = self._names[:-1], self._names[-1:]
        posted = await self.post("walk", {"fid": ROOT_FID, "newfid": self.number, "path": above})
        self._walked = True
        await self._tree.rpc.answer(*posted, "walk", path=self.path, timeout=None)
        fields = {"newfid": self.number, "path": name, "mode": "dir" if directory else "file"}
        return await self.post("create", fields)

    async def commit(self, timeout: float | None) -> None:
        """Clunk the fid; the reply says whether the staged data became the file's content."""
        self._walked = False
        posted = await self.post("clunk")
        try:
            await self._tree.rpc.answer(*posted, "write", path=self.path, timeout=timeout)
        finally:
            self._tree.free(self.number)

    async def walk_result(self, posted: tuple[int, Reply], timeout: float | None) -> Json:
        """The result of the walk: {"path": id, "type": "dir" or "file"}."""
        found = await self._tree.rpc.answer(*posted, "walk", path=self.path, timeout=timeout)
        qid = found.get("qid")
        return qid if isinstance(qid, dict) else {}

    def close(self) -> None:
        if self._walked:
            self._tree.rpc.run_in_background(self._tree.clunk(self.number))
        self._walked = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if isinstance(error, (asyncio.CancelledError, RequestTimeout)):
            for tag in self._posted:
                self._tree.rpc.flush(tag)
        self.close()


class RemoteFile:
    """An open file: the bytes stay those of the first read at offset 0, however the file goes on (acheron D11)."""

    def __init__(self, tree: RemoteTree, fid: RemoteFid, timeout: float | None) -> None:
        self._tree, self._fid, self._timeout = tree, fid, timeout
        self.path = fid.path

    async def read(self, count: int | None = None, offset: int = 0, *, wait: float | None = None) -> bytes:
        """Up to `count` bytes from `offset`; fewer only at the end. None: all that follow."""
        pieces: list[bytes] = []
        at = 0
        while count is None or at < count:
            asking = self._tree.asking(self._fid.number, offset + at, None if count is None else count - at, wait)
            found = await self._tree.rpc.ask("read", asking, path=self.path)
            pieces.append(_data(found))
            at += len(pieces[-1])
            if found.get("eof", not pieces[-1]) or not pieces[-1]:
                break
        return b"".join(pieces)

    async def write(self, data: bytes, offset: int = 0) -> Written:
        """One frame, one action. Raises `BadInput` where the data do not fit."""
        if len(data) > self._tree.largest:
            found, expected = coded("file.n_bytes", n=len(data)), coded("common.at_most", n=self._tree.largest)
            raise BadInput(found, path=self.path, op="write", expected=expected)
        fields = {"fid": self._fid.number, "offset": offset, "data_b64": frames.encode_base64(data)}
        return _written(await self._tree.rpc.ask("write", fields, path=self.path, timeout=self._timeout))

    async def stat(self) -> Stat:
        found = await self._tree.rpc.ask("stat", {"fid": self._fid.number}, path=self.path, timeout=self._timeout)
        return _stat(self.path, found)

    def close(self) -> None:
        """Clunk the fid without waiting. Closing twice does no harm."""
        self._fid.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


def path_names(path: str) -> list[str]:
    """The names on the way from the root. Raises `BadInput` for an invalid name."""
    names = [name for name in path.split("/") if name]
    if any("\0" in name for name in names):
        raise BadInput(coded("file.nul_in_path"), path=path.replace("\0", "\\0"), op="walk")
    return names


def _parent(path: str) -> tuple[str, str]:
    """The directory that a name is in, and the name. Raises `BadInput` for the root and for an invalid name."""
    names = path_names(path)
    if not names or names[-1] in (".", ".."):
        raise BadInput(coded("access.no_name"), path=path, expected=coded("access.path_with_name"), code="invalid")
    return "/" + "/".join(names[:-1]), names[-1]


def is_control(path: str) -> bool:
    return CONTROL_PLACE in path_names(path)[:-1]


def _data(found: Json) -> bytes:
    try:
        return frames.decode_base64(str(found.get("data_b64", "")))
    except frames.BadFrame:
        raise WorldError(coded("access.no_base64"), op="read", code="PROTOCOL") from None


def _written(found: Json) -> Written:
    return Written(as_int(found.get("n")), {key: value for key, value in found.items() if key != "n"})


def _stat(path: str, found: Json) -> Stat:
    return Stat(
        found.get("kind") == "dir",
        as_int(found.get("size")),
        bool(found.get("writable", False)),
        mtime_ms=as_int(found.get("mtime_ms")),
        id=as_int(found.get("id")),
        name=str(found.get("name", "")),
        path="/" + "/".join(path_names(path)),
        real=str(found.get("real", "")),
    )
