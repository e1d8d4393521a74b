"""The async client of the node FS protocol: a connection that said hello, and a method for each operation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from worldfs.wire.frames import Frame, Json, pack, unpack

from .line import LIMIT, Line
from .serving import FRAME_MAX, PROTO, PROTOCOL, Wire
from .source import MAX_READ, Attr, Room


class Export(NamedTuple):
    """What a node shows, by name."""

    name: str
    root: int
    ro: bool
    source_id: str


class Entry(NamedTuple):
    name: str
    attr: Attr


class FsCalls:
    """Every operation over a `Line`. All raise `FsError`; `Unreachable` when the other end is gone."""

    def __init__(self, line: Line) -> None:
        self.line = line

    async def hello(self, token: str, *, subscribe: bool = False, limit: float = LIMIT, **more: object) -> Json:
        said: dict[str, object] = {"subscribe_invalidations": True} if subscribe else {}
        said |= {"protocol": PROTOCOL, "proto": PROTO, "auth_token": token, **more}
        return await self.line.say("hello", said, limit=limit)

    async def exports(self) -> list[Export]:
        found = (await self.line.call("exports"))["exports"]
        return [Export(one["name"], one["root"], bool(one["ro"]), one.get("source_id", "")) for one in found]

    async def lookup(self, node: int, name: str) -> Attr:
        return attr_in(await self.line.call("lookup", node=node, name=name))

    async def getattr(self, node: int) -> Attr:
        return attr_in(await self.line.call("getattr", node=node))

    async def readdirp(self, node: int, cookie: int = 0, most: int = 1024) -> Json:
        """`ents`, `next`, `eof`, `dir_gen`, as sent."""
        return await self.line.call("readdirp", node=node, cookie=cookie, max=most)

    async def listing(self, node: int) -> list[Entry]:
        """All pages, without `.` and `..`."""
        found: list[Entry] = []
        cookie = 0
        while True:
            page = await self.readdirp(node, cookie)
            for one in page["ents"]:
                if one["name"] not in (".", ".."):
                    found.append(Entry(one["name"], attr_in(one)))
            if page["eof"] or page["next"] <= cookie:
                return found
            cookie = page["next"]

    async def open(self, node: int, flags: int = 0) -> int:
        h: int = (await self.line.call("open", node=node, flags=flags))["h"]
        return h

    async def create(self, node: int, name: str, mode: int = 0o644, flags: int = 2) -> tuple[Attr, int]:
        made = await self.line.call("create", node=node, name=name, mode=mode, flags=flags)
        return attr_in(made), made["h"]

    async def read(self, h: int, offset: int, size: int = MAX_READ) -> tuple[bytes, bool]:
        """At most `size` bytes (a node may give fewer), and whether they reach the end."""
        got = await self.line.call("read", h=h, off=offset, len=size)
        return unpack(got["data_b64"]), bool(got["eof"])

    async def write(self, h: int, offset: int, data: bytes) -> int:
        n: int = (await self.line.call("write", h=h, off=offset, data_b64=pack(data)))["n"]
        return n

    async def close_handle(self, h: int) -> None:
        await self.line.call("close", h=h)

    async def truncate(self, node: int, size: int) -> None:
        await self.line.call("truncate", node=node, sz=size)

    async def unlink(self, node: int, name: str) -> None:
        await self.line.call("unlink", node=node, name=name)

    async def mkdir(self, node: int, name: str) -> None:
        await self.line.call("mkdir", node=node, name=name)

    async def rmdir(self, node: int, name: str) -> None:
        await self.line.call("rmdir", node=node, name=name)

    async def symlink(self, node: int, name: str, target: str) -> None:
        await self.line.call("symlink", node=node, name=name, target=target)

    async def rename(self, old_parent: int, old_name: str, new_parent: int, new_name: str) -> None:
        await self.line.call(
            "rename", old_parent=old_parent, old_name=old_name, new_parent=new_parent, new_name=new_name
        )

    async def lock(self, h: int, kind: str, *, wait: bool = False) -> None:
        """`kind`: shared, exclusive or unlock. Without `wait`: `FsError` 11 if somebody else has it."""
        await self.line.call("lock", h=h, kind=kind, wait=wait)

    async def setxattr(self, node: int, name: str, value: bytes, flags: int = 0) -> None:
        await self.line.call("setxattr", node=node, name=name, value_b64=pack(value), flags=flags)

    async def getxattr(self, node: int, name: str) -> bytes:
        return unpack((await self.line.call("getxattr", node=node, name=name))["value_b64"])

    async def listxattr(self, node: int) -> list[str]:
        names: list[str] = (await self.line.call("listxattr", node=node))["names"]
        return names

    async def removexattr(self, node: int, name: str) -> None:
        await self.line.call("removexattr", node=node, name=name)

    async def statfs(self, node: int) -> Room:
        said = await self.line.call("statfs", node=node)
        return Room(**{key: said[key] for key in Room._fields if key in said})


class FsClient(FsCalls):
    """`FsCalls` over a connection of its own: `async with await FsClient.over(wire, token) as fs: …`."""

    def __init__(self, wire: Wire, push: Callable[[Frame], None] | None = None) -> None:
        super().__init__(Line(wire, push))
        self._wire = wire
        self._reader = asyncio.create_task(self.line.run())

    @classmethod
    async def over(
        cls, wire: Wire, token: str, *, subscribe: bool = False, push: Callable[[Frame], None] | None = None
    ) -> FsClient:
        """Said hello; the connection is closed if it was refused."""
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


def attr_in(value: dict[str, Any]) -> Attr:
    said = value["attr"]
    return Attr(*(said.get(key, 0) for key in Attr._fields))
