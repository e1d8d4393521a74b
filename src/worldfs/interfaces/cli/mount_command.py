"""`paos mount` and `paos unmount`: the tree of --as, or of --connect, as a directory of this machine."""

from __future__ import annotations

import os
from pathlib import Path

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .command_context import CommandContext
from .posix_tree import require_home


def run(context: CommandContext) -> int:
    """Return once it is mounted; a process of its own serves it until `paos unmount`. With --foreground: when it is
    unmounted, or at Ctrl-C."""
    from worldfs.interfaces.mount import mount_point
    from worldfs.interfaces.mount.mount_life import MountOptions

    from .mount_process import serve, serve_in_background

    directory = Path(os.path.abspath(context["directory"]))
    _check_place(context, directory)
    mount_point.prepare(directory)
    options = MountOptions(
        directory, os.geteuid(), os.getegid(), allow_other=_everybody(context), read_only=context["read_only"]
    )
    said = coded("command.tree_mounted", directory=str(directory), role=_whose(context))
    facts = {"event": "mount", "state": "mounted", "directory": str(directory)}
    if context["foreground"]:
        serve(context, options, lambda server: context.output.report(said, facts))
        context.output.report(
            coded("command.tree_unmounted", directory=str(directory)), {**facts, "state": "unmounted"}
        )
        return 0
    serve_in_background(context.options(), options)
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
