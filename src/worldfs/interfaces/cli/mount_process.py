"""The process that serves a mount when the command has returned."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.errors import StorageError, UserError
from worldfs.base.json_values import as_int, as_object
from worldfs.base.model import Json
from worldfs.interfaces.mount.mount_life import MountOptions, serve_mount
from worldfs.supervisor.caller_socket import CallerSocket
from worldfs.supervisor.detached_process import DetachedProcess

from .command_context import CommandContext
from .command_output import CommandOutput
from .posix_tree import posix_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from worldfs.interfaces.mount.fuse_server import FuseServer


def serve(context: CommandContext, options: MountOptions, on_mounted: Callable[[FuseServer], None]) -> None:
    asyncio.run(serve_mount(posix_tree(context, offline=context["offline"]), options, SystemClock(), on_mounted))


def serve_in_background(command: Json, options: MountOptions) -> None:
    """`command`: the options of the command line. Returns once it is mounted; raises what kept it from that."""
    with DetachedProcess(__name__) as process:
        process.order({"command": command, **options._asdict(), "directory": str(options.directory)})
        said = process.answer()
    if not said:
        return
    kind = UserError if said.get("user") else StorageError
    raise kind(
        str(said.get("found", "")), path=str(said.get("field", "")), op="mount", expected=str(said.get("expected", "")),
        fix=str(said.get("fix", "")),
    )  # fmt: skip


def serve_caller(descriptor: int) -> None:
    caller = CallerSocket(descriptor)
    order, _ = caller.order()
    if not order:
        return
    options = MountOptions(
        Path(str(order["directory"])), as_int(order["uid"]), as_int(order["gid"]), order["allow_other"] is True,
        order["read_only"] is True,
    )  # fmt: skip
    try:
        serve(CommandContext(as_object(order["command"]), CommandOutput()), options, lambda server: caller.answer({}))
    except UserError as error:
        caller.answer({"user": True, **error.as_dict()})
    except BaseException as error:
        caller.answer({"found": str(error) or type(error).__name__})
