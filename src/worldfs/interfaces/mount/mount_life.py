"""The life of one mount: opened, announced, served until it is unmounted or asked to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from worldfs.base.clock import Clock
from worldfs.base.ending_signals import ending_signals
from worldfs.base.errors import WorldError
from worldfs.interfaces.posix.file_tree import FileTree
from worldfs.interfaces.posix.posix_files import PosixFiles

from . import mount_point
from .fuse_server import FuseServer


class MountOptions(NamedTuple):
    directory: Path
    uid: int
    gid: int
    allow_other: bool = False
    read_only: bool = False


async def serve_mount(
    tree: AbstractAsyncContextManager[FileTree],
    options: MountOptions,
    clock: Clock,
    on_mounted: Callable[[FuseServer], None],
    *,
    signals: bool = True,
) -> None:
    """Serve a tree until it is unmounted, or until a signal asks it to end where `signals`. Nothing stays mounted; a
    program with an open file there gets ENOTCONN."""
    async with tree as opened:
        files = PosixFiles(opened, clock, read_only=options.read_only)
        root = await files.look("/")
        fd = mount_point.mount(
            options.directory,
            uid=options.uid,
            gid=options.gid,
            allow_other=options.allow_other,
            read_only=options.read_only,
        )
        server = FuseServer(files, root, fd, uid=options.uid, gid=options.gid)
        for number in ending_signals() if signals else ():
            asyncio.get_running_loop().add_signal_handler(number, server.ended.set)
        try:
            on_mounted(server)
            await server.ended.wait()
        finally:
            with suppress(WorldError):
                # In a thread: the kernel asks this server while it unmounts.
                await asyncio.to_thread(mount_point.unmount, options.directory, lazy=True)
            server.close()
