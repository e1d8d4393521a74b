"""`paos mount` and `paos unmount`: the tree of --as, or of --connect, as a directory of this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, StorageError, UserError
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded

from .command_context import CommandContext
from .posix_tree import posix_tree, require_home

if TYPE_CHECKING:
    from worldfs.interfaces.mount.fuse_server import FuseServer
    from worldfs.interfaces.mount.mount_life import MountOptions


def run(context: CommandContext) -> int:
    """Return once it is mounted; a process of its own serves it until `paos unmount`. With --foreground: when it is
    unmounted, or at Ctrl-C."""
    from worldfs.interfaces.mount import mount_point
    from worldfs.interfaces.mount.mount_life import MountOptions

    directory = Path(os.path.abspath(context["directory"]))
    _check_place(context, directory)
    mount_point.prepare(directory)
    options = MountOptions(
        directory, os.geteuid(), os.getegid(), allow_other=_everybody(context), read_only=context["read_only"]
    )
    said = coded("command.tree_mounted", directory=str(directory), role=_whose(context))
    facts = {"event": "mount", "state": "mounted", "directory": str(directory)}
    if context["foreground"]:
        _serve(context, options, lambda server: context.output.report(said, facts))
        context.output.report(
            coded("command.tree_unmounted", directory=str(directory)), {**facts, "state": "unmounted"}
        )
        return 0
    _serve_in_background(context, options)
    context.output.report(said, facts)
    return 0


def unmount(context: CommandContext) -> int:
    """Raises `Busy` while a process uses the directory; --lazy detaches it all the same."""
    from worldfs.interfaces.mount import mount_point

    directory = Path(os.path.abspath(context["directory"]))
    mount_point.unmount(directory, lazy=context["lazy"])
    facts = {"event": "mount", "state": "unmounted", "directory": str(directory)}
    context.output.report(coded("command.tree_unmounted", directory=str(directory)), facts)
    return 0


def _whose(context: CommandContext) -> str:
    return context["connect"] or context.actor


def _everybody(context: CommandContext) -> bool:
    """Every user of the machine gets the rights of the mount: the role must be repeated, so that this is meant."""
    said, needed = context["allow_other"], _whose(context)
    if said and said != needed:
        expected = coded("command.allow_other_means", role=needed)
        raise BadInput(coded("command.allow_other", said=said), op="mount", expected=expected, code="USAGE")
    return bool(said)


def _check_place(context: CommandContext, directory: Path) -> None:
    if context["connect"]:
        return
    real = Path(os.path.realpath(require_home(context)))
    there = Path(os.path.realpath(directory.parent)) / directory.name
    if there == real or real in there.parents or there in real.parents:
        raise BadInput(
            coded("command.mount_in_home"), path=str(directory), op="mount", expected=coded("command.mount_outside")
        )


def _serve(context: CommandContext, options: MountOptions, on_mounted: Callable[[FuseServer], None]) -> None:
    import asyncio

    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.mount.mount_life import serve_mount

    asyncio.run(serve_mount(posix_tree(context, offline=context["offline"]), options, SystemClock(), on_mounted))


def _serve_in_background(context: CommandContext, options: MountOptions) -> None:
    """A child that outlives the command says through a pipe that it has mounted, or why it could not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # it never returns to the caller
        try:
            os.close(reading)
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            try:
                _serve(context, options, lambda server: _say(writing, {}))
            except UserError as error:
                _say(writing, {"user": True, **error.as_dict()})
            except BaseException as error:
                _say(writing, {"found": str(error) or type(error).__name__})
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.readline()
    if text.strip() == b"{}":
        return
    said = as_object(json.loads(text or b'{"found": "it ended"}'))
    kind = UserError if said.get("user") else StorageError
    raise kind(
        str(said.get("found", "")), path=str(said.get("field", "")), op="mount", expected=str(said.get("expected", "")),
        fix=str(said.get("fix", "")),
    )  # fmt: skip


def _say(pipe: int, facts: dict[str, object]) -> None:
    try:
        os.write(pipe, json.dumps(facts).encode() + b"\n")
        os.close(pipe)
    except OSError:  # the command has gone, or it was said already
        return
