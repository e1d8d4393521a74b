"""The async client of the node FS protocol: a connection after its hello, and a method for each operation."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from worldfs.formats.wire.frames import Frame, Json, encode_base64

from . import reply_parsing
from .export_source import MAX_READ, FileAttr, FsCapacity
from .fs_errors import FsError, MalformedReply
from .fs_rpc_client import LIMIT, FsRpcClient
from .fs_server import FRAME_MAX, PROTO, PROTOCOL, WebSocketConnection
from .reply_parsing import Export, ListingEntry, ListingPage

T = TypeVar("T")
PAGE: Final = 1_024  # entries per page of a listing


class FsCalls:
    """Every operation over a `FsRpcClient`. All raise `FsError`: `Unreachable` when the server is gone,
    `MalformedReply` when it violates the protocol.

    `on_malformed` receives a message for every such answer, and for names that are dropped because no directory can
    hold them.
    """

    def __init__(self, rpc: FsRpcClient, on_malformed: Callable[[str], None] | None = None) -> None:
        self.rpc = rpc
        self._on_malformed = on_malformed or (lambda words: None)

    async def hello(self, token: str, *, subscribe: bool = False, limit: float = LIMIT, **more: object) -> Json:
        said: dict[str, object] = {"subscribe_invalidations": True} if subscribe else {}
        said |= {"protocol": PROTOCOL, "proto": PROTO, "auth_token": token, **more}
        return await self.rpc.send("hello", said, limit=limit)

    async def exports(self, limit: float = LIMIT) -> list[Export]:
        found, dropped = await self._ask(reply_parsing.exports, "exports", limit=limit)
        self._count(dropped)
        return found

    async def lookup(self, node: int, name: str) -> FileAttr:
        return await self._ask(reply_parsing.attr, "lookup", node=node, name=name)

    async def find(self, node: int, names: list[str]) -> FileAttr:
        """Several steps at once. `FsError` 22 ("a.name") from a node that takes one at a time."""
        return await self._ask(reply_parsing.attr, "lookup", node=node, path=names)

    async def getattr(self, node: int) -> FileAttr:
        return await self._ask(reply_parsing.attr, "getattr", node=node)

    async def readdirp(self, node: int, cookie: int = 0, most: int = PAGE) -> ListingPage:
        def parse(payload: Json) -> ListingPage:
            return reply_parsing.page(payload, cookie, most)

        page = await self._ask(parse, "readdirp", node=node, cookie=cookie, max=most)
        self._count(page.dropped)
        return page

    async def listing(self, node: int) -> list[ListingEntry]:
        """All pages, without `.` and `..`; a repeated name is listed once."""
        found: dict[str, ListingEntry] = {}
        cookie = seen = 0
        while True:
            page = await self.readdirp(node, cookie)
            found |= {one.name: one for one in page.entries}
            seen += max(
                len(page.entries) + len(page.dropped), PAGE // 16
            )  # an empty page counts as one entry, which bounds the loop
            if page.end:
                return list(found.values())
            if seen >= reply_parsing.LISTED_MAX:
                raise FsError(errno.EFBIG, f"a directory of more than {reply_parsing.LISTED_MAX} names")
            cookie = page.next

    async def open(self, node: int, flags: int = 0) -> int:
        return await self._ask(reply_parsing.handle, "open", node=node, flags=flags)

    async def create(self, node: int, name: str, mode: int = 0o644, flags: int = 2) -> tuple[FileAttr, int]:
        def parse(payload: Json) -> tuple[FileAttr, int]:
            return reply_parsing.attr(payload), reply_parsing.handle(payload)

        return await self._ask(parse, "create", node=node, name=name, mode=mode, flags=flags)

    async def read(self, h: int, offset: int, size: int = MAX_READ) -> tuple[bytes, bool]:
        """At most `size` bytes (a node may give fewer), and whether they reach the end."""

        def parse(payload: Json) -> tuple[bytes, bool]:
            return reply_parsing.read_reply(payload, size)

        return await self._ask(parse, "read", h=h, off=offset, len=size)

    async def write(self, h: int, offset: int, data: bytes) -> int:
        def parse(payload: Json) -> int:
            return reply_parsing.write_reply(payload, len(data))

        return await self._ask(parse, "write", h=h, off=offset, data_b64=encode_base64(data))

    async def close_handle(self, h: int) -> None:
        await self.rpc.call("close", h=h)

    async def truncate(self, node: int, size: int) -> None:
        await self.rpc.call("truncate", node=node, sz=size)

    async def unlink(self, node: int, name: str) -> None:
        await self.rpc.call("unlink", node=node, name=name)

    async def mkdir(self, node: int, name: str) -> None:
        await self.rpc.call("mkdir", node=node, name=name)

    async def rmdir(self, node: int, name: str) -> None:
        await self.rpc.call("rmdir", node=node, name=name)

    async def symlink(self, node: int, name: str, target: str) -> None:
        await self.rpc.call("symlink", node=node, name=name, target=target)

    async def rename(self, old_parent: int, old_name: str, new_parent: int, new_name: str) -> None:
        await self.rpc.call(
            "rename", old_parent=old_parent, old_name=old_name, new_parent=new_parent, new_name=new_name
        )

    async def lock(self, h: int, kind: str, *, wait: bool = False) -> None:
        """`kind`: shared, exclusive or unlock. Without `wait`: `FsError` 11 if another holder has it."""
        await self.rpc.call("lock", h=h, kind=kind, wait=wait)

    async def setxattr(self, node: int, name: str, value: bytes, flags: int = 0) -> None:
        await self.rpc.call("setxattr", node=node, name=name, value_b64=encode_base64(value), flags=flags)

    async def getxattr(self, node: int, name: str) -> bytes:
        return await self._ask(reply_parsing.value, "getxattr", node=node, name=name)

    async def listxattr(self, node: int) -> list[str]:
        return await self._ask(reply_parsing.names, "listxattr", node=node)

    async def removexattr(self, node: int, name: str) -> None:
        await self.rpc.call("removexattr", node=node, name=name)

    async def statfs(self, node: int) -> FsCapacity:
        return await self._ask(reply_parsing.capacity, "statfs", node=node)

    async def _ask(
        self,
        parse: Callable[[Json], T],
        op: str,
        *,
        node: int | None = None,
        h: int | None = None,
        limit: float = LIMIT,
        **args: object,
    ) -> T:
        try:
            return parse(await self.rpc.send(op, args, node=node, h=h, limit=limit))
        except MalformedReply as error:
            words = f"the node answered {op} with {error.message}"
        # Raised out here it keeps no reference to the answer, which may be large.
        self._on_malformed(words)
        raise MalformedReply(words)

    def _count(self, dropped: list[str]) -> None:
        if dropped:
            self._on_malformed(f"the node named what no directory can hold: {reply_parsing.dropped_names(dropped)}")


class FsClient(FsCalls):
    """`FsCalls` over a connection of its own: `async with await FsClient.over(wire, token) as fs: …`."""

    def __init__(self, wire: WebSocketConnection, push: Callable[[Frame], None] | None = None) -> None:
        super().__init__(FsRpcClient(wire, push))
        self._wire = wire
        self._reader = asyncio.create_task(self.rpc.run())

    @classmethod
    async def over(
        cls,
        wire: WebSocketConnection,
        token: str,
        *,
        subscribe: bool = False,
        push: Callable[[Frame], None] | None = None,
    ) -> FsClient:
        """A client that has said hello; the connection is closed if the hello was refused."""
        client = cls(wire, push)
        try:
            await client.hello(token, subscribe=subscribe)
        except BaseException:
            await client.close()
            raise
        return client

    @classmethod
    async def connect(
        cls, url: str, token: str, *, subscribe: bool = False, push: Callable[[Frame], None] | None = None
    ) -> FsClient:
        """`url`: ws://host:port/v2/fs or …/v2/fs/node/<id>."""
        from websockets.asyncio.client import connect

        wire = await connect(url, compression=None, max_size=FRAME_MAX, proxy=None)
        return await cls.over(wire, token, subscribe=subscribe, push=push)

    async def close(self) -> None:
        await self._wire.close()
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader

    async def __aenter__(self) -> FsClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
