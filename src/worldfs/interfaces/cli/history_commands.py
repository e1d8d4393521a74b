"""`paos log` and `paos diff`: when a file was changed, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.messages import coded

from .command_output import columns
from .command_tree import open_tree
from .exits import DONE, REFUSED

if TYPE_CHECKING:
    from .command_context import CommandContext


def past_path(path: str, time: str) -> str:
    """Where a file is as it was at a time."""
    return f"/at/{time}{path}"


def log(context: CommandContext) -> int:
    with open_tree(context) as tree:
        path = tree.path_of(context["path"])
        home = f"/versions{path}"
        names = sorted(tree.names(home), reverse=True)[: int(context["number"])]
        found = [tree.stat(f"{home}/{name.rpartition('/')[2]}") for name in names]
    versions = [{"time": one.name, "bytes": one.size, "revision": one.revision, "path": one.path} for one in found]
    context.output.value({"path": path, "versions": versions})
    for line in columns([(one.name, str(one.size), one.revision) for one in found]):
        context.output.line(line)
    return DONE


def diff(context: CommandContext) -> int:
    """Exit 0: the same at both times; 1: not."""
    first, second = context["time"], context["other"]
    with open_tree(context) as tree:
        path = tree.path_of(context["path"])
        before = tree.read(past_path(path, first))
        after = tree.read(past_path(path, second) if second else path)
    try:
        old, new = (data.decode("utf-8").splitlines(keepends=True) for data in (before, after))
    except UnicodeDecodeError:
        if before != after:
            context.output.report(coded("command.bytes_differ", path=path), {"path": path, "same": False})
        return DONE if before == after else REFUSED
    from difflib import unified_diff

    lines = list(unified_diff(old, new, f"{path} {first}", f"{path} {second or 'now'}"))
    context.output.value({"path": path, "same": before == after, "diff": "".join(lines)})
    for line in lines:
        context.output.line(line.rstrip("\n"), _mood(line))
    return DONE if before == after else REFUSED


def _mood(line: str) -> str:
    return {"+": "good", "-": "bad", "@": "dim"}.get(line[:1], "")
